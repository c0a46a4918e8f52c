//! A step that looks whether a tuple has a partner: of a semi join it goes on with the first, of an anti join
//! where there is none. What was found for the same values is known again, as the rows of a sub-query are.

use std::sync::Arc;

use turnstile_engine::Visit;
use turnstile_plan::plan::query::{JoinStep, Partners, SelectPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::value::{Rows, Value};

use super::super::measure::{Watch, name_of};
use super::super::select::Boxed;
use super::super::source::{Opened, next_rows, open_source};
use super::super::subquery::repeated::Key;
use super::super::{Exec, Keeping};
use super::{End, apart, holds, run_step};

/// Runs step number `nth`, which looks for one partner, and those behind it for one tuple.
pub(super) fn ask<'a, W: Watch + 'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [JoinStep],
    nth: usize,
    tuple: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
    mut watch: W,
) -> Boxed<'a, Visit> {
    Box::pin(async move {
        let step = &steps[nth];
        let wanted = step.partners == Partners::First;
        let goes_on = match known(exec, step, tuple) {
            Ok(found) => found == wanted,
            Err(key) => {
                let mut source = open_source(exec, plan, step, tuple, Some(1)).await?;
                if let Opened::Apart = source {
                    watch.waits();
                    return apart::wait(exec, plan, steps, nth, tuple, end).await;
                }
                let found = look(exec, plan, step, tuple, &mut source, &mut watch).await?;
                keep(exec, step, key, found)?;
                // Where there are more rows to come, that there is none is found out behind the last.
                let is_alone = source.is_alone(found);
                if wanted { found } else { is_alone }
            }
        };
        // Nothing behind it reads what the partner has.
        tuple[step.base..step.base + step.columns].fill(Value::Null);
        if goes_on {
            watch.joined();
            if holds(exec, plan, &step.filters, tuple).await? {
                watch.passed();
                return run_step(exec, plan, steps, nth + 1, tuple, end).await;
            }
        }
        Ok(Visit::Continue)
    })
}

/// Whether a source has a partner for a tuple.
async fn look(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    step: &JoinStep,
    tuple: &mut [Value],
    source: &mut Opened<'_>,
    watch: &mut impl Watch,
) -> SqlResult<bool> {
    let columns = step.base..step.base + step.columns;
    loop {
        let (mut rows, more) = next_rows(exec, step, source, tuple, watch).await?;
        for at in 0..rows.len() {
            exec.pace().await?;
            rows.put(at, &mut tuple[columns.clone()]);
            if !matches!(source, Opened::Scan(..)) {
                watch.shown();
            }
            if holds(exec, plan, &step.matching, tuple).await? {
                watch.matched();
                return Ok(true);
            }
            watch.tested();
        }
        if !more {
            return Ok(false);
        }
    }
}

/// Whether a tuple has a partner, if that is known of the values it would be looked for by; else what to keep
/// by what is found.
fn known(exec: &mut Exec<'_>, step: &JoinStep, tuple: &[Value]) -> Result<bool, Option<Key>> {
    if step.asked_by.is_empty() || step.kept {
        return Err(None);
    }
    let repeated = exec.keeping().repeated.entry(name_of(step)).or_default();
    repeated.find(&step.asked_by, tuple).map(|rows| !rows.is_empty())
}

fn keep(exec: &mut Exec<'_>, step: &JoinStep, key: Option<Key>, found: bool) -> SqlResult<()> {
    let Some(key) = key else { return Ok(()) };
    let rows = Arc::new(if found { Rows::from(vec![Vec::new()]) } else { Rows::new() });
    let Keeping { repeated, charge, .. } = exec.keeping();
    repeated.entry(name_of(step)).or_default().keep(key, &rows, charge)
}
