//! What all alternatives of a condition have in common: `(a.x = b.y AND p) OR (a.x = b.y AND q)` joins by
//! `a.x = b.y`, and then asks for `p OR q`.

use turnstile_syntax::ast::{BinaryOp, Expr};
use turnstile_syntax::walk;

/// Most equalities that are looked for.
const COMMON_MAX: usize = 16;

/// Takes equalities between columns that stand in every alternative of an OR out of it.
pub fn take_out(conditions: Vec<Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(conditions.len());
    for condition in conditions {
        match condition {
            Expr::Or(list) => take_out_of(list, &mut all),
            other => all.push(other),
        }
    }
    all
}

fn take_out_of(list: Vec<Expr>, into: &mut Vec<Expr>) {
    let parts = |one: &Expr| {
        let mut parts = Vec::new();
        walk::conjuncts(one.clone(), &mut parts);
        parts
    };
    let Some((first, rest)) = list.split_first() else { return };
    let mut common: Vec<Expr> = equalities(first).take(COMMON_MAX).cloned().collect();
    for one in rest {
        common.retain(|known| equalities(one).any(|other| other == known));
    }
    if common.is_empty() {
        into.push(Expr::Or(list));
        return;
    }
    let mut left = Vec::with_capacity(list.len());
    for one in &list {
        let mut parts = parts(one);
        parts.retain(|part| !common.contains(part));
        left.push(parts);
    }
    into.append(&mut common);
    // An alternative that asks for nothing more holds with them.
    if left.iter().any(Vec::is_empty) {
        return;
    }
    let all = |mut parts: Vec<Expr>| if parts.len() == 1 { parts.remove(0) } else { Expr::And(parts) };
    into.push(Expr::Or(left.into_iter().map(all).collect()));
}

/// Equalities between columns that a condition asks for.
fn equalities(condition: &Expr) -> Box<dyn Iterator<Item = &Expr> + '_> {
    match condition {
        Expr::And(list) => Box::new(list.iter().flat_map(equalities)),
        Expr::Binary { op: BinaryOp::Equal, left, right }
            if matches!((&**left, &**right), (Expr::Column(_), Expr::Column(_))) =>
        {
            Box::new(std::iter::once(condition))
        }
        _ => Box::new(std::iter::empty()),
    }
}
