//! CHECK constraints as CREATE TABLE and ALTER TABLE write them: which conditions are allowed, and how they
//! are named.
//!
//! A condition may read the columns of its table and nothing else, so that it is true or false for a row for
//! good: no variables, no sub-queries, no functions whose result another moment, session or row may change. A
//! constraint without a name is called `TABLE_chk_N`, N above all that the table has; such a name follows the
//! table when that is renamed.

use rustc_hash::FxHashSet;

use super::allowed::{self, Refusals};
use super::phase::Faults;
use crate::dictionary::Action;
use crate::dictionary::check::{Check, bind_expression};
use crate::dictionary::table::Definition;
use crate::expression_text::{canonical, columns_of};
use turnstile_syntax::ast::{self, BinaryOp, CheckDef, Expr, Literal, UnaryOp};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

const REFUSALS: Refusals = Refusals {
    variable: |name| SqlError::check_variable(name),
    subquery: |name| SqlError::check_function(name),
    row_value: |name| SqlError::check_row_value(name),
    default: |name| SqlError::check_named_function(name, "default"),
    function: |name, function| SqlError::check_named_function(name, function),
    settled: true,
};

/// Adds constraints in the order written. `taken`: whether another table of the database has a constraint of
/// this name.
pub fn add(
    definition: &mut Definition,
    written: &[CheckDef],
    taken: &dyn Fn(&str) -> bool,
    faults: &mut Faults,
) {
    let mut held = Held::of(&definition.checks);
    for (name, one) in names(definition, written) {
        faults.take_check(held.claim(&name, taken));
        let Some(expr) = faults.take_check(condition(&name, one)) else { continue };
        let check = Check { expr, name, enforced: one.enforced };
        let missing = |name: &str, column: &ast::Name| SqlError::check_unknown_column(name, column);
        faults.take_check(resolve(definition, &check, missing));
        held.add(&check);
        definition.checks.push(check);
    }
    sort(definition);
    faults.take_check(against_actions(definition));
}

/// Adds constraints to a table that has not got its columns yet; [`resolve`] looks at these.
pub fn add_unresolved(
    definition: &mut Definition,
    written: &[CheckDef],
    taken: &dyn Fn(&str) -> bool,
) -> SqlResult<Vec<Check>> {
    let mut added = Vec::with_capacity(written.len());
    let held = Held::of(&definition.checks);
    for (name, one) in names(definition, written) {
        held.claim(&name, taken)?;
        added.push(Check { expr: condition(&name, one)?, name, enforced: one.enforced });
    }
    definition.checks.extend(added.iter().cloned());
    sort(definition);
    Ok(added)
}

/// Error 3822 for new constraints of one name.
pub fn distinct(added: &[Check]) -> SqlResult<()> {
    let mut held = Held::default();
    for check in added {
        held.claim(&check.name, &|_| false)?;
        held.add(check);
    }
    Ok(())
}

/// What constraints are called, by what is written or by the table's name and a number.
fn names<'w>(definition: &Definition, written: &'w [CheckDef]) -> Vec<(Box<str>, &'w CheckDef)> {
    let mut number = highest_number(definition);
    let mut name = |one: &CheckDef| {
        one.name.clone().unwrap_or_else(|| {
            number += 1;
            generated_name(&definition.name, number)
        })
    };
    written.iter().map(|one| (name(one), one)).collect()
}

/// Error 3823 for a constraint over a column that a foreign key's action writes: those rows are changed with
/// their parents, and nobody tests them.
pub fn against_actions(definition: &Definition) -> SqlResult<()> {
    for key in &definition.foreign_keys {
        if !key.on_update.changes_children() && key.on_delete != Action::SetNull {
            continue;
        }
        for check in &definition.checks {
            let written = |name: &ast::Name| key.columns.iter().any(|own| own.eq_ignore_ascii_case(name));
            if let Some(column) = columns_of(&check.expr).iter().find(|name| written(name)) {
                return Err(SqlError::check_on_action_column(column, &check.name, &key.name));
            }
        }
    }
    Ok(())
}

fn generated_name(table: &str, number: u64) -> Box<str> {
    format!("{table}_chk_{number}").into()
}

/// The number in a generated name.
fn number_in(name: &str, table: &str) -> Option<u64> {
    let digits =
        name.get(..table.len()).filter(|start| start.eq_ignore_ascii_case(table)).and_then(|_| {
            let rest = &name[table.len()..];
            rest.get(..5).filter(|middle| middle.eq_ignore_ascii_case("_chk_")).map(|_| &rest[5..])
        })?;
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

fn highest_number(definition: &Definition) -> u64 {
    let numbers = definition.checks.iter().filter_map(|check| number_in(&check.name, &definition.name));
    numbers.max().unwrap_or(0)
}

/// Names that a table's constraints have, in lower case (ASCII).
#[derive(Default)]
struct Held(FxHashSet<String>);

impl Held {
    fn of(checks: &[Check]) -> Held {
        let mut held = Held::default();
        checks.iter().for_each(|check| held.add(check));
        held
    }

    fn add(&mut self, check: &Check) {
        self.0.insert(check.name.to_ascii_lowercase());
    }

    /// Error 3822 if the name is given.
    fn claim(&self, name: &str, taken: &dyn Fn(&str) -> bool) -> SqlResult<()> {
        super::limit::name_length(name)?;
        if self.0.contains(&name.to_ascii_lowercase()) || taken(name) {
            return Err(SqlError::duplicate_check_name(name));
        }
        Ok(())
    }
}

/// By name, as they are shown and tested.
fn sort(definition: &mut Definition) {
    definition.checks.sort_by_cached_key(|check| check.name.to_lowercase());
}

/// Gives the constraints of a table that is now called otherwise the names that they would have been
/// generated with. `all`: also those that were written (CREATE TABLE ... LIKE).
pub fn rename(
    definition: &mut Definition,
    old_table: &str,
    all: bool,
    taken: &dyn Fn(&str) -> bool,
) -> SqlResult<()> {
    let mut checks = std::mem::take(&mut definition.checks);
    let mut held = Held::default();
    for (nth, check) in checks.iter_mut().enumerate() {
        let number = if all { Some(nth as u64 + 1) } else { number_in(&check.name, old_table) };
        if let Some(number) = number {
            check.name = generated_name(&definition.name, number);
        }
        held.claim(&check.name, taken)?;
        held.add(check);
        definition.checks.push(check.clone());
    }
    sort(definition);
    Ok(())
}

/// Takes away what speaks of a dropped column alone; error 3959 if another constraint speaks of it.
pub fn drop_column(definition: &mut Definition, dropped: &str) -> SqlResult<()> {
    definition.checks.retain(|check| {
        let columns = columns_of(&check.expr);
        !matches!(columns.as_slice(), [one] if one.eq_ignore_ascii_case(dropped))
    });
    keep_column(definition, dropped)
}

/// Error 3959 if a constraint speaks of a column that is dropped or gets another name.
pub fn keep_column(definition: &Definition, gone: &str) -> SqlResult<()> {
    for check in &definition.checks {
        if let Some(column) = columns_of(&check.expr).iter().find(|column| column.eq_ignore_ascii_case(gone))
        {
            return Err(SqlError::column_used_by_check(&check.name, column));
        }
    }
    Ok(())
}

/// The condition of a constraint, canonical and found to be allowed.
fn condition(name: &str, written: &CheckDef) -> SqlResult<Expr> {
    if !is_boolean(&written.expr) {
        return Err(SqlError::check_not_boolean(name));
    }
    allowed::check(&written.expr, name, &REFUSALS)?;
    for column in columns_of(&written.expr) {
        if written.column.as_ref().is_some_and(|own| !own.eq_ignore_ascii_case(&column)) {
            return Err(SqlError::column_check_other_column(name));
        }
    }
    canonical(&written.expr)
}

/// Whether a constraint reads columns that are there and may be read. `missing`: what is said of a constraint
/// and a column that is not there.
pub fn resolve(
    definition: &Definition,
    check: &Check,
    missing: impl Fn(&str, &ast::Name) -> SqlError,
) -> SqlResult<()> {
    let name = &check.name;
    for column in columns_of(&check.expr) {
        let found = definition.columns.iter().find(|known| known.goes_by(&column));
        if found.ok_or_else(|| missing(name, &column))?.auto_increment {
            return Err(SqlError::check_auto_increment(name));
        }
    }
    match bind_expression(&check.expr, definition) {
        Err(error) if error.kind() == ErrorKind::UnknownFunction => {
            Err(SqlError::check_named_function(name, unknown(&error)))
        }
        bound => bound.map(drop),
    }
}

/// The function that error 1305 speaks of, as refusals of definitions show it.
pub fn unknown(error: &SqlError) -> String {
    let name = error.message.trim_start_matches("FUNCTION ").trim_end_matches(" does not exist");
    format!("`{name}`")
}

/// Functions that say yes or no.
const BOOLEAN: &[&str] = &[
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "member of",
    "regexp_like",
];

/// Whether MySQL takes an expression for a condition.
fn is_boolean(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Bool(_))
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Exists(_)
        | Expr::Quantified { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. }
        | Expr::Unary { op: UnaryOp::Not, .. } => true,
        Expr::Binary { op, .. } => *op == BinaryOp::Xor || op.is_comparison(),
        Expr::Function(call) => BOOLEAN.contains(&&*call.name),
        _ => false,
    }
}

/// Finds a constraint.
pub fn position(definition: &Definition, name: &str) -> Option<usize> {
    definition.checks.iter().position(|check| check.name.eq_ignore_ascii_case(name))
}

/// What SHOW CREATE TABLE says of a constraint.
pub fn line(check: &Check) -> String {
    let enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
    let (name, expr) = (
        turnstile_syntax::ast::quote_name(&check.name),
        crate::expression_text::expression_text(&check.expr),
    );
    format!("  CONSTRAINT {name} CHECK ({expr}){enforced}")
}

#[cfg(test)]
mod tests {
    use super::number_in;

    #[test]
    fn generated_names_are_known() {
        assert_eq!(number_in("t_chk_12", "t"), Some(12));
        assert_eq!(number_in("T_CHK_1", "t"), Some(1));
        assert_eq!(number_in("ü_chk_1", "ü"), Some(1));
        for other in ["t_chk_", "t_chk_x", "t_chk_+1", "tt_chk_1", "t", "", "t_ch", "u_chk_1"] {
            assert_eq!(number_in(other, "t"), None, "{other}");
        }
        assert_eq!(number_in("ü", "ab"), None);
    }
}
