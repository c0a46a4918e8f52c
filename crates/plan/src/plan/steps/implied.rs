//! Conditions that follow from equalities between columns: `a.x = b.y AND a.x = 5` says `b.y = 5`, and
//! `a.x = b.y AND b.y = c.z` says `a.x = c.z`. They find rows by keys and are not tested themselves.

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_values::collation::Collation;

use super::super::block::Block;
use super::{Condition, hash};

/// Most conditions that are made.
const IMPLIED_MAX: usize = 200;

/// Columns that are equal.
struct Class {
    places: Vec<usize>,
    /// By which they are, where they are texts.
    collation: Option<Collation>,
}

/// What follows from conditions that all hold.
pub(super) fn implied(block: &Block<'_, '_>, conditions: &[Condition]) -> Vec<Expr> {
    let classes = classes(block, conditions);
    let mut found = Vec::new();
    for class in &classes {
        for condition in conditions.iter().filter(|one| one.filter.subqueries.is_empty()) {
            let Some((place, by, make)) = bounded(&condition.filter.expr) else { continue };
            // Texts that are equal by one collation are not by another.
            if class.places.contains(&place) && class.collation.is_none_or(|own| own == by) {
                found.extend(class.places.iter().filter(|other| **other != place).map(|other| make(*other)));
            }
        }
        if class.places.len() > 2 {
            for (nth, one) in class.places.iter().enumerate() {
                found.extend(
                    class.places[..nth]
                        .iter()
                        .map(|other| equal(*one, *other, class.collation.unwrap_or(Collation::Binary))),
                );
            }
        }
        if found.len() > IMPLIED_MAX {
            found.truncate(IMPLIED_MAX);
            break;
        }
    }
    found
}

fn equal(one: usize, other: usize, collation: Collation) -> Expr {
    let (left, right) = (Box::new(Expr::Column(one)), Box::new(Expr::Column(other)));
    Expr::Compare { op: CompareOp::Equal, left, right, collation }
}

fn classes(block: &Block<'_, '_>, conditions: &[Condition]) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let kind = |place: usize| block.scope.column_at(place).map(|(_, column)| &column.kind);
    for condition in conditions {
        let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &condition.filter.expr else {
            continue;
        };
        let (Expr::Column(one), Expr::Column(other)) = (&**left, &**right) else { continue };
        let (Some(first), Some(second)) = (kind(*one), kind(*other)) else { continue };
        if !hash::hashable(first, second) || first.collation().is_some_and(|own| own != *collation) {
            continue;
        }
        let mut places = vec![*one, *other];
        // Of one kind throughout: 1 = '1' = '01' is no circle.
        let (joined, rest): (Vec<Class>, Vec<Class>) =
            classes.into_iter().partition(|class| class.places.contains(one) || class.places.contains(other));
        classes = rest;
        joined.into_iter().for_each(|class| places.extend(class.places));
        places.sort_unstable();
        places.dedup();
        classes.push(Class { places, collation: first.collation() });
    }
    classes
}

type Make<'e> = Box<dyn Fn(usize) -> Expr + 'e>;

/// The column that a condition bounds by constants, the collation it compares by, and the same condition of
/// another column.
fn bounded(condition: &Expr) -> Option<(usize, Collation, Make<'_>)> {
    let column = |expr: &Expr| match expr {
        Expr::Column(place) => Some(*place),
        _ => None,
    };
    match condition {
        Expr::Compare { op, left, right, collation } if *op != CompareOp::NotEqual => {
            let (op, collation) = (*op, *collation);
            if let Some(place) = column(left).filter(|_| right.is_constant()) {
                let make = move |other| {
                    let (left, right) = (Box::new(Expr::Column(other)), right.clone());
                    Expr::Compare { op, left, right, collation }
                };
                return Some((place, collation, Box::new(make)));
            }
            let place = column(right).filter(|_| left.is_constant())?;
            let make = move |other| {
                let (left, right) = (left.clone(), Box::new(Expr::Column(other)));
                Expr::Compare { op, left, right, collation }
            };
            Some((place, collation, Box::new(make)))
        }
        Expr::InList { operand, list, collation, negated: false } if list.iter().all(Expr::is_constant) => {
            let make = move |other| Expr::InList {
                operand: Box::new(Expr::Column(other)),
                list: list.clone(),
                collation: *collation,
                negated: false,
            };
            Some((column(operand)?, *collation, Box::new(make)))
        }
        Expr::Between { operand, low, high, collation, negated: false }
            if low.is_constant() && high.is_constant() =>
        {
            let make = move |other| Expr::Between {
                operand: Box::new(Expr::Column(other)),
                low: low.clone(),
                high: high.clone(),
                collation: *collation,
                negated: false,
            };
            Some((column(operand)?, *collation, Box::new(make)))
        }
        _ => None,
    }
}
