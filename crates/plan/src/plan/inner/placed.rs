//! Aggregates that a block meets: its own, and those of a block around it.

use turnstile_expr::expr::{AggregateKind, Expr, Typed};
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

use super::super::aggregate;
use super::super::block::Block;
use super::super::query::SubqueryKind;
use super::super::scope::{AggregateUse, Resolved};
use super::query::as_shown;

impl Block<'_, '_> {
    /// An aggregate: of this block, or of one around it whose columns alone it reads.
    pub(crate) fn place_aggregate(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        if let ("count", true, [ast::Expr::Function(wait)]) =
            (&*call.name, call.distinct, &call.arguments[..])
            && (&*wait.name, wait.arguments.len()) == ("sleep", 1)
        {
            // All its values are one, and nobody waits for them. What it is given has to be right all the
            // same.
            let operand = Box::new(call.arguments[0].clone());
            let arguments = vec![ast::Expr::Is { operand, test: ast::IsTest::Null, negated: false }];
            return self.place_aggregate(&FunctionCall { arguments, ..call.clone() });
        }
        let before = (self.subqueries.len(), self.seen_subqueries.len());
        let asks = |one: &ast::Expr| walk::any(one, &|part| part.is_query());
        let level = match call.arguments.iter().any(asks) {
            true => self.level_by_binding(call)?,
            false => self.scope.aggregate_level(call),
        };
        // It belongs to the block of the innermost column it reads; if none may stand there, to the nearest
        // one around this block that may have it, else to this block. COUNT(*) belongs to the nearest block
        // that may have it.
        let levels: Vec<usize> = match level {
            Some(level) => (level > 0).then_some(level).into_iter().chain(1..level).collect(),
            None if self.scope.aggregates.get() == AggregateUse::Refused => (1..=self.scope.level).collect(),
            None => Vec::new(),
        };
        for level in levels {
            if let Some(found) = self.scope.outer_aggregate(call, level)? {
                let place = Typed { expr: Expr::Column(found.position), kind: found.kind };
                return Ok(as_shown(place, AggregateKind::of(call)));
            }
        }
        self.own_aggregate(call, before)
    }

    /// How many blocks out the innermost column is that an aggregate reads whose arguments have sub-queries.
    /// What aggregates inside these read is theirs. None if it reads no column.
    pub(super) fn level_by_binding(&mut self, call: &FunctionCall) -> SqlResult<Option<usize>> {
        let before = self.scope.aggregates.replace(AggregateUse::Nested);
        let arguments = self.scope.arguments.replace(Some(None));
        let (outer, subqueries) = (self.scope.outer_places().len(), self.subqueries.len());
        let seen = self.seen_subqueries.len();
        let built = aggregate::build(self, call);
        self.scope.aggregates.set(before);
        let level = self.scope.arguments.replace(arguments).flatten();
        built?;
        let level = level.map(|level| self.scope.level - level);
        let own = level.map_or(before != AggregateUse::Refused, |level| level == 0);
        if !own {
            // This block reads nothing of it itself.
            self.scope.forget_outer(outer);
            self.subqueries.truncate(subqueries);
            self.seen_subqueries.truncate(seen);
        }
        Ok(level)
    }

    /// An aggregate of this block. `before`: how many sub-queries there were, placed and seen, before its
    /// own.
    pub(super) fn own_aggregate(&mut self, call: &FunctionCall, before: (usize, usize)) -> SqlResult<Typed> {
        if self.scope.aggregates.get() != AggregateUse::Allowed {
            return Err(SqlError::invalid_group_function_use());
        }
        if let Some(place) = self.seen_aggregates.alike(call).next() {
            return Ok(place.clone());
        }
        self.scope.aggregates.set(AggregateUse::Nested);
        let arguments = self.scope.arguments.replace(Some(None));
        let built = aggregate::build(self, call);
        self.scope.arguments.set(arguments);
        self.scope.aggregates.set(AggregateUse::Allowed);
        let (mut built, kind) = built?;
        if aggregate::counts_all(&mut built, &|at| self.scope.column_at(at).is_some()) {
            // An alias keeps its place: others read it.
            let mut nth = 0;
            self.subqueries.retain(|one| {
                nth += 1;
                nth <= before.0 || matches!(one.kind, SubqueryKind::Value(_))
            });
            self.seen_subqueries.truncate(before.1);
        }
        let position = self.scope.reserve(1);
        built.position = position;
        let place = Typed { expr: Expr::Column(position), kind: kind.clone() };
        let place = if built.own_digits { as_shown(place, Some(built.kind)) } else { place };
        self.aggregates.push(built);
        self.seen_aggregates.push(call.clone(), place.clone());
        self.scope.known_aggregates.borrow_mut().push((call.clone(), Resolved { position, kind }));
        Ok(place)
    }
}
