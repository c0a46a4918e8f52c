//! IN: the operand is looked for among the candidates.

use smallvec::{SmallVec, smallvec};
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::lookup::{Candidates, LOOKED_UP_MIN, Lookup};
use turnstile_values::value::Value;

use super::super::{Expr, Row, predicate};
use super::constant;
use crate::expr::EvalContext;

impl Expr {
    pub(super) fn eval_in(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        let found = match self {
            Expr::Between { operand, low, high, collation, negated } => {
                let mut held = context.held();
                let operand = operand.operand(row, context)?;
                if operand.is_null() {
                    return Ok(None);
                }
                held.add(&*operand)?;
                let low = low.operand(row, context)?;
                held.add(&*low)?;
                let high = high.operand(row, context)?;
                let truth = predicate::between(&operand, &low, &high, *collation, context)?;
                (truth, negated)
            }
            Expr::InList { operand, list, collation, negated } => {
                let operand = operand.eval(row, context)?;
                if operand.is_null() {
                    for candidate in list.iter().filter(|candidate| !matches!(candidate, Expr::Literal(_))) {
                        context.step()?;
                        candidate.eval(row, context)?;
                    }
                    return Ok(None);
                }
                let mut held = context.held();
                held.add(&operand)?;
                let compare = |nth: usize| {
                    let candidate = list[nth].eval(row, context)?;
                    let order = predicate::compare_checked(&operand, &candidate, *collation, context)?;
                    Ok(order.map(std::cmp::Ordering::is_eq))
                };
                let candidate = |nth: usize| constant(&list[nth], context).map(|value| smallvec![value]);
                (self.find_in(&[&operand], *collation, list.len(), candidate, compare, context)?, negated)
            }
            Expr::InRows { operand, list, collation, negated } => {
                let operand =
                    operand.iter().map(|part| part.eval(row, context)).collect::<SqlResult<Vec<_>>>()?;
                let mut held = context.held();
                operand.iter().try_for_each(|part| held.add(part))?;
                let compare = |nth: usize| {
                    let mut all = Some(true);
                    for (left, right) in operand.iter().zip(&list[nth]) {
                        let right = right.eval(row, context)?;
                        let order = predicate::compare_checked(left, &right, *collation, context)?;
                        all = predicate::and(all, order.map(std::cmp::Ordering::is_eq));
                    }
                    Ok(all)
                };
                let candidate = |nth: usize| list[nth].iter().map(|part| constant(part, context)).collect();
                let parts: Candidates<'_> = operand.iter().collect();
                (self.find_in(&parts, *collation, list.len(), candidate, compare, context)?, negated)
            }
            _ => return Ok(None),
        };
        Ok(found.0.map(|truth| truth != *found.1))
    }

    /// Three-valued: whether one of so many candidates is equal to the operands. Many are looked up.
    pub(super) fn find_in<'v>(
        &self,
        operands: &[&Value],
        collation: Collation,
        count: usize,
        candidate: impl Fn(usize) -> Option<Candidates<'v>>,
        mut compare: impl FnMut(usize) -> SqlResult<Option<bool>>,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<bool>> {
        if count >= LOOKED_UP_MIN && context.session.keeps_lookups() {
            let place = std::ptr::from_ref(self) as usize;
            let collations: SmallVec<[Collation; 4]> = operands.iter().map(|_| collation).collect();
            // What is kept at the place of an IN is its list.
            let kept = context.session.lookup(place).and_then(|kept| kept.downcast::<Lookup>().ok());
            let lookup = match kept {
                Some(lookup) => lookup,
                None => {
                    let lookup = Lookup::build(operands, &collations, count, candidate, context)?;
                    let lookup = std::sync::Arc::new(lookup);
                    context.session.keep_lookup(place, lookup.clone());
                    lookup
                }
            };
            if lookup.fits(operands) {
                return lookup.contains(operands, &collations, context, compare);
            }
        }
        let mut unknown = false;
        for nth in 0..count {
            context.step()?;
            match compare(nth)? {
                Some(true) => return Ok(Some(true)),
                None => unknown = true,
                Some(false) => {}
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }
}
