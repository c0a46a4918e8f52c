//! Queries of WITH: run once a statement, when the first block reads them, and kept; recursive ones in
//! rounds.

use std::sync::Arc;

use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::measure::Part;
use super::spill::list::List;
use super::tail::{Kept, limits};
use super::{Exec, hash_key};
use turnstile_expr::expr::{EvalContext, Warnings, coerce_value};
use turnstile_plan::plan::query::{CommonBody, CommonPlan, CommonRows, RecursivePlan};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, discard};
use turnstile_values::value::Rows;
use turnstile_values::value::{StoreContext, Value, store};

/// What a round takes besides its rows, of which there may be one: the list with room for four, its counts,
/// its place in the list of rounds, and what the allocator needs for each.
const ROUND_OVERHEAD: usize = 4 * size_of::<Vec<Value>>() + size_of::<Rows>() + size_of::<[usize; 8]>();

/// A recursive query under way.
struct Growing<'p> {
    plan: &'p RecursivePlan,
    /// All rounds but the last.
    before: Vec<Arc<Rows>>,
    /// Rows of all rounds.
    count: u64,
    /// More are not wanted.
    most: u64,
    /// With UNION DISTINCT: the rows that are there.
    seen: KeyIndex,
    /// Memory for the key of a row in `seen`.
    key: Vec<u8>,
    /// What all of it holds of the session's memory.
    charge: Charge,
}

/// A query that ends early leaves millions of rounds behind.
impl Drop for Growing<'_> {
    fn drop(&mut self) {
        let count = self.before.len() + self.seen.len();
        let left = (std::mem::take(&mut self.before), std::mem::take(&mut self.seen));
        discard(left, count, std::mem::take(&mut self.charge));
    }
}

impl Growing<'_> {
    fn is_full(&self) -> bool {
        self.count >= self.most
    }

    /// Whether the row is wanted.
    fn takes(&mut self, row: &[Value], context: &EvalContext<'_>) -> SqlResult<bool> {
        if self.plan.distinct {
            let key = &mut self.key;
            hash_key::clear(key);
            for (value, (_, kind)) in row.iter().zip(&self.plan.columns) {
                hash_key::append_of(value, kind, Collation::Binary, context, key)?;
            }
            if !self.seen.insert(key) {
                return Ok(false);
            }
        }
        self.count += 1;
        Ok(true)
    }
}

/// The rows of a query of WITH.
pub(super) async fn common_rows(exec: &mut Exec<'_>, rows: &CommonRows) -> SqlResult<List> {
    let plan = match rows {
        // Its round is there while its blocks run.
        CommonRows::Previous(round) => {
            return Ok(exec
                .keeping()
                .common
                .get(&(Arc::as_ptr(round) as usize))
                .cloned()
                .unwrap_or_default());
        }
        CommonRows::Of(plan) => plan,
    };
    let mut waiting: Vec<&Arc<CommonPlan>> = vec![plan];
    while let Some(plan) = waiting.last() {
        let common = &exec.keeping().common;
        let missing = |plan: &&Arc<CommonPlan>| !common.contains_key(&(Arc::as_ptr(plan) as usize));
        if let Some(first) = plan.reads.iter().find(missing) {
            waiting.push(first);
            continue;
        }
        if missing(plan) {
            let began = exec.clock();
            let rows = run_common(exec, plan).await;
            exec.note_since(
                began,
                Arc::as_ptr(plan) as usize,
                Part::Kept,
                rows.as_ref().map_or(0, List::len),
            );
            let rows = rows?;
            exec.keeping().common.insert(Arc::as_ptr(plan) as usize, rows);
        }
        waiting.pop();
    }
    Ok(exec.keeping().common.get(&(Arc::as_ptr(plan) as usize)).cloned().unwrap_or_default())
}

async fn run_common(exec: &mut Exec<'_>, plan: &CommonPlan) -> SqlResult<List> {
    match &plan.body {
        CommonBody::Query(query) => {
            let mut kept = Kept::growing(exec);
            exec.query(query, &[], &mut kept).await?;
            let (list, charge) = kept.into_list(exec)?;
            exec.keeping().charge.absorb(charge);
            Ok(list)
        }
        CommonBody::Recursive(plan) => Ok(List::Memory(Arc::new(Box::pin(rounds(exec, plan)).await?))),
    }
}

/// Makes rounds until one is empty, or there are as many rows as LIMIT wants.
async fn rounds(exec: &mut Exec<'_>, plan: &RecursivePlan) -> SqlResult<Rows> {
    let (count, offset) = limits(&plan.limit, exec.eval)?;
    let most = count.saturating_add(offset);
    let mut growing = Growing {
        plan,
        before: Vec::new(),
        count: 0,
        most,
        seen: KeyIndex::default(),
        key: Vec::new(),
        charge: exec.eval.charge(),
    };
    let name = Arc::as_ptr(&plan.round) as usize;
    let mut last = Rows::new();
    block_of_round(exec, &mut growing, None, &mut last).await?;
    let mut rounds = 0;
    while !last.is_empty() && !growing.is_full() {
        rounds += 1;
        if rounds > exec.eval.settings.recursion_rounds_max {
            return Err(SqlError::recursion_too_deep(rounds));
        }
        growing.charge.add(ROUND_OVERHEAD)?;
        let round = Arc::new(std::mem::take(&mut last));
        let keeping = exec.keeping();
        keeping.common.insert(name, List::Memory(round.clone()));
        keeping.stored_sources.retain(|_, stored| !stored.passes);
        growing.before.push(round);
        for nth in 0..plan.blocks.len() {
            block_of_round(exec, &mut growing, Some(nth), &mut last).await?;
        }
    }
    let keeping = exec.keeping();
    keeping.common.remove(&name);
    keeping.stored_sources.retain(|_, stored| !stored.passes);
    let most = usize::try_from(growing.count).unwrap_or(usize::MAX);
    growing.charge.add(most.saturating_mul(size_of::<Vec<Value>>()))?;
    let mut all = Rows::with_capacity(most);
    for round in std::mem::take(&mut growing.before).into_iter().chain([Arc::new(last)]) {
        exec.breathe().await;
        match Arc::try_unwrap(round) {
            Ok(mut rows) => all.append(&mut rows),
            Err(rows) => all.extend_from_slice(&rows),
        }
    }
    exec.keeping().charge.absorb(std::mem::take(&mut growing.charge));
    let wanted = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    all.keep(wanted(offset), wanted(count));
    Ok(all)
}

/// Adds what a block (None: the seed) makes to a round.
async fn block_of_round(
    exec: &mut Exec<'_>,
    growing: &mut Growing<'_>,
    block: Option<usize>,
    round: &mut Rows,
) -> SqlResult<()> {
    let plan = growing.plan;
    let left = growing.most.saturating_sub(growing.count);
    let most = usize::try_from(left).ok().filter(|_| !plan.distinct);
    if left == 0 {
        return Ok(());
    }
    let unheard = Warnings::new();
    let mut kept = Kept::new(exec.eval, most);
    exec.query(block.map_or(&plan.seed, |nth| &plan.blocks[nth]), &[], &mut kept).await?;
    for mut row in kept.rows {
        exec.pace().await?;
        for (value, (column, kind)) in row.iter_mut().zip(&plan.columns) {
            // What the seed's type cuts is an error in strict mode, and otherwise cut without a word.
            let strict = exec.eval.settings.sql_mode.is_strict();
            let eval =
                EvalContext { warnings: if strict { exec.eval.warnings } else { &unheard }, ..*exec.eval };
            let context = StoreContext { column, row: 1, nullable: true, strict, eval: &eval };
            *value = if kind.is_numeric() || kind.is_string() {
                store(value, kind, &context)?
            } else {
                coerce_value(std::mem::take(value), kind, exec.eval)?
            };
        }
        if growing.takes(&row, exec.eval)? {
            if plan.distinct {
                let bytes = growing.key.len() + KEY_OVERHEAD;
                growing.charge.add(bytes)?;
            }
            round.push(row);
        }
    }
    growing.charge.absorb(kept.charge);
    Ok(())
}
