//! Keys that a statement adds to a table's, and which of all of them are superfluous.
//!
//! Every foreign key brings a key of its child with it, which serves it. Such an implicit key goes when
//! another one begins with its columns, the newer of two implicit ones staying, so that it has the name of
//! the foreign key that came last.

use super::{add_key, functional};
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, Key};
use turnstile_expr::expr::EvalContext;
use turnstile_syntax::ast::{ColumnDef, KeyDef, KeyKind, KeyPart, KeyTarget};
use turnstile_values::error::{SqlError, SqlResult};

/// What of a key says whether another one makes it superfluous.
struct Shape {
    /// Name, prefix, DESC.
    parts: Vec<(String, Option<u64>, bool)>,
    implicit: bool,
}

impl Shape {
    fn of(key: &Key, columns: &[Column]) -> Shape {
        let parts = key.parts.iter().map(|part| {
            (columns[part.column].name.to_lowercase(), part.prefix.map(u64::from), part.descending)
        });
        Shape { parts: parts.collect(), implicit: key.implicit }
    }

    fn written(key: &KeyDef) -> Shape {
        let name = |part: &KeyPart| match &part.target {
            KeyTarget::Column(name) => name.to_lowercase(),
            _ => String::new(),
        };
        let parts = key.parts.iter().map(|part| (name(part), part.length, part.descending));
        Shape { parts: parts.collect(), implicit: matches!(key.kind, KeyKind::Foreign(_)) }
    }

    fn begins(&self, other: &Shape) -> bool {
        other.parts.starts_with(&self.parts)
    }
}

/// Which of the keys are made superfluous by others.
fn superfluous(shapes: &[Shape]) -> Vec<bool> {
    let mut gone = vec![false; shapes.len()];
    for at in 1..shapes.len() {
        let new = &shapes[at];
        for before in 0..at {
            let old = &shapes[before];
            let shorter = new.parts.len() < old.parts.len();
            let same = match (new.implicit, old.implicit) {
                _ if gone[before] => false,
                (true, true) if !shorter => old.begins(new),
                (true, _) => new.begins(old),
                (false, true) => old.begins(new),
                (false, false) => false,
            };
            if same {
                let loser = if !old.implicit || new.implicit && shorter { at } else { before };
                gone[loser] = true;
                break;
            }
        }
    }
    gone
}

/// Adds keys in the order written, those that foreign keys bring among them. `look`: what else is wrong with
/// one of them.
pub fn add_keys(
    definition: &mut Definition,
    written: &[KeyDef],
    look: &dyn Fn(&KeyDef) -> SqlResult<()>,
    eval: &EvalContext<'_>,
) -> SqlResult<()> {
    let old = std::mem::take(&mut definition.keys);
    let known = old.len();
    let shapes = old.iter().map(|key| Shape::of(key, &definition.columns));
    let shapes: Vec<Shape> = shapes.chain(written.iter().map(Shape::written)).collect();
    let gone = superfluous(&shapes);
    for (key, _) in old.into_iter().zip(&gone).filter(|(_, gone)| !**gone) {
        if definition.keys.iter().any(|other| other.name.eq_ignore_ascii_case(&key.name)) {
            return Err(SqlError::duplicate_key_name(&key.name));
        }
        definition.keys.push(key);
    }
    let named = functional::named(written, &definition.keys);
    for (key, _) in named.iter().zip(&gone[known..]).filter(|(_, gone)| !**gone) {
        if key.kind == KeyKind::Primary && definition.keys.iter().any(|other| other.primary) {
            return Err(SqlError::multiple_primary_key());
        }
        look(key)?;
        if !matches!(key.kind, KeyKind::Foreign(_)) {
            add_key(definition, key, eval)?;
            continue;
        }
        let index = KeyDef { kind: KeyKind::Index, ..key.clone() };
        add_key(definition, &index, eval)?;
        if let Some(made) = definition.keys.last_mut() {
            made.implicit = true;
        }
    }
    Ok(())
}

/// PRIMARY KEY and UNIQUE written at a column.
pub fn of_column(written: &ColumnDef) -> Vec<KeyDef> {
    let kinds = [(written.primary_key, KeyKind::Primary), (written.unique, KeyKind::Unique)];
    let key = |kind: KeyKind| {
        let target = KeyTarget::Column(written.name.clone());
        let part = KeyPart { target, length: None, descending: false };
        KeyDef { kind, name: None, parts: vec![part], options: Default::default() }
    };
    kinds.into_iter().filter(|(wanted, _)| *wanted).map(|(_, kind)| key(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Shape, superfluous};

    fn gone(keys: &[(&str, bool)]) -> Vec<bool> {
        let shape = |(columns, implicit): &(&str, bool)| Shape {
            parts: columns.chars().map(|one| (one.to_string(), None, false)).collect(),
            implicit: *implicit,
        };
        superfluous(&keys.iter().map(shape).collect::<Vec<_>>())
    }

    #[test]
    fn implicit_keys_give_way() {
        assert_eq!(gone(&[("a", true), ("a", true)]), [true, false]);
        assert_eq!(gone(&[("ab", true), ("a", true)]), [false, true]);
        assert_eq!(gone(&[("a", true), ("ab", true)]), [true, false]);
        assert_eq!(gone(&[("a", false), ("a", true)]), [false, true]);
        assert_eq!(gone(&[("a", true), ("ab", false)]), [true, false]);
        assert_eq!(gone(&[("ab", true), ("a", false)]), [false, false]);
        assert_eq!(gone(&[("a", false), ("a", false)]), [false, false]);
    }
}
