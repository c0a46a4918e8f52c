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
use turnstile_values::value::{StoreContext, Value, store};

/// A recursive query under way.
struct Growing<'p> {
    plan: &'p RecursivePlan,
    /// Rows of all rounds but the last, of those that LIMIT wants.
    all: Kept,
    /// Rows of these rounds.
    before: u64,
    /// Rows of all rounds.
    count: u64,
    /// LIMIT: rows that are left out, and up to which more are wanted.
    offset: u64,
    most: u64,
    /// With UNION DISTINCT: the rows that are there.
    seen: KeyIndex,
    /// Memory for the key of a row in `seen`.
    key: Vec<u8>,
    /// What the keys hold of the session's memory.
    charge: Charge,
}

/// A query that ends early leaves millions of keys behind.
impl Drop for Growing<'_> {
    fn drop(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let count = seen.len();
        discard(seen, count, std::mem::take(&mut self.charge));
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
            self.charge.add(key.len() + KEY_OVERHEAD)?;
        }
        self.count += 1;
        Ok(true)
    }

    /// Adds a round that nobody reads any more.
    async fn append(&mut self, exec: &mut Exec<'_>, round: List) -> SqlResult<()> {
        let mut rows = round.read();
        while let Some(row) = rows.next()? {
            exec.pace().await?;
            if (self.offset..self.most).contains(&self.before) {
                self.all.add(exec, row).await?;
            }
            self.before += 1;
        }
        Ok(())
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
        CommonBody::Recursive(plan) => Box::pin(rounds(exec, plan)).await,
    }
}

/// Makes rounds until one is empty, or there are as many rows as LIMIT wants.
async fn rounds(exec: &mut Exec<'_>, plan: &RecursivePlan) -> SqlResult<List> {
    let (count, offset) = limits(&plan.limit, exec.eval)?;
    let mut growing = Growing {
        plan,
        all: Kept::growing(exec),
        before: 0,
        count: 0,
        offset,
        most: count.saturating_add(offset),
        seen: KeyIndex::default(),
        key: Vec::new(),
        charge: exec.eval.charge(),
    };
    let name = Arc::as_ptr(&plan.round) as usize;
    let mut last = Kept::growing(exec);
    block_of_round(exec, &mut growing, None, &mut last).await?;
    let mut rounds = 0;
    loop {
        // What the round holds is held until it is added to the others.
        let (round, _held) = last.into_list(exec)?;
        if round.len() == 0 || growing.is_full() {
            growing.append(exec, round).await?;
            break;
        }
        rounds += 1;
        if rounds > exec.eval.settings.recursion_rounds_max {
            return Err(SqlError::recursion_too_deep(rounds));
        }
        let keeping = exec.keeping();
        keeping.common.insert(name, round.clone());
        keeping.stored_sources.retain(|_, stored| !stored.passes);
        last = Kept::growing(exec);
        for nth in 0..plan.blocks.len() {
            block_of_round(exec, &mut growing, Some(nth), &mut last).await?;
        }
        let keeping = exec.keeping();
        keeping.common.remove(&name);
        keeping.stored_sources.retain(|_, stored| !stored.passes);
        growing.append(exec, round).await?;
    }
    let (all, charge) = std::mem::replace(&mut growing.all, Kept::growing(exec)).into_list(exec)?;
    exec.keeping().charge.absorb(charge);
    Ok(all)
}

/// Adds what a block (None: the seed) makes to a round.
async fn block_of_round(
    exec: &mut Exec<'_>,
    growing: &mut Growing<'_>,
    block: Option<usize>,
    round: &mut Kept,
) -> SqlResult<()> {
    let plan = growing.plan;
    let left = growing.most.saturating_sub(growing.count);
    let most = usize::try_from(left).ok().filter(|_| !plan.distinct);
    if left == 0 {
        return Ok(());
    }
    let unheard = Warnings::new();
    let mut kept = Kept::growing_to(exec, most);
    exec.query(block.map_or(&plan.seed, |nth| &plan.blocks[nth]), &[], &mut kept).await?;
    let (rows, _held) = kept.into_list(exec)?;
    let mut rows = rows.read();
    while let Some(mut row) = rows.next()? {
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
            round.add(exec, row).await?;
        }
    }
    Ok(())
}
