//! What a block does about the sub-queries and aggregates in its expressions: each gets a place in the tuple,
//! which is filled before what reads it is evaluated.

pub mod exists;
mod placed;
mod query;

use turnstile_expr::expr::{CompareOp, Expr, Typed, shown_as_type, with_all_of_average};
use turnstile_syntax::ast::{self, FunctionCall, Quantifier};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Meeting, Party, Purpose};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, ExprType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::query::{QueryPlan, Subquery, SubqueryKind, placed_at};
use super::repeats::repeats;
use super::scope::{Outside, Reach, Resolved, Wanted};
use super::{hints, varying, windows};
pub(super) use query::{as_shown, no_query};
use query::{compare_documents, compare_op, is_value, value_type, with_value, without_star, without_varying};

impl Block<'_, '_> {
    /// Plans a query inside this block. Each time it gives up for something that this block can compute, that
    /// gets a place and the query is planned again.
    pub(super) fn plan_inner(&mut self, query: &ast::Query, reach: Reach) -> SqlResult<QueryPlan> {
        self.plan_inner_in(self.context, query, reach)
    }

    /// The same where other names of WITH are known.
    pub(super) fn plan_inner_in(
        &mut self,
        context: &PlanContext<'_>,
        query: &ast::Query,
        reach: Reach,
    ) -> SqlResult<QueryPlan> {
        let clause = self.scope.clause.get();
        loop {
            let planned = super::plan_query(context, query, Some(Outside { scope: &self.scope, reach }));
            self.scope.clause.set(clause);
            let wanted = self.scope.take_wanted();
            match (planned, wanted) {
                (Err(_), Some(Wanted::Aggregate(call))) => {
                    let before = (self.subqueries.len(), self.seen_subqueries.len());
                    self.own_aggregate(&call, before)?;
                }
                (Err(_), Some(Wanted::Alias(at))) => self.place_alias(at)?,
                (planned, _) => return planned,
            }
            self.scope.clause.set(clause);
        }
    }

    /// Gives an alias of the select list a place for inner blocks.
    fn place_alias(&mut self, at: usize) -> SqlResult<()> {
        let expr = self.scope.aliases.borrow()[at].expr.clone();
        if windows::has_window(&expr) {
            return Err(SqlError::window_alias_here(&self.scope.aliases.borrow()[at].name));
        }
        let typed = self.bind(&expr, self.scope.clause.get())?;
        let place = match typed.expr {
            Expr::Column(position) | Expr::TimestampColumn(position) => {
                Resolved { position, kind: typed.kind }
            }
            computed => {
                let position = self.scope.reserve(1);
                self.push_subquery(position, 1, SubqueryKind::Value(computed), no_query());
                Resolved { position, kind: ExprType { column: settled(&typed.kind.column), ..typed.kind } }
            }
        };
        self.scope.aliases.borrow_mut()[at].place = Some(place);
        Ok(())
    }

    pub(super) fn place_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        if let Some(comparison) = with_value(expr) {
            return self.bind(&comparison, self.scope.clause.get());
        }
        let mut places = self.place(expr, false)?;
        Ok(places.swap_remove(0))
    }

    /// The values of a sub-query that stands for a row; one of them if it has one column.
    pub(super) fn place_row(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Typed>> {
        self.place(expr, true)
    }

    /// A statement's columns whose table such a sub-query of the select list reads are announced as nullable,
    /// as MySQL does.
    fn note_loosened(&self, plan: &QueryPlan) {
        let QueryPlan::Select(inner) = plan else { return };
        if self.context.depth > 1 || self.scope.clause.get() != "field list" || inner.group.is_none() {
            return;
        }
        let mut read = super::finish::tested_columns(inner);
        read.extend(inner.items.iter().flat_map(|item| item.expr.columns()));
        let outer = inner.outer.iter().filter(|(_, here)| read.contains(here)).map(|(there, _)| *there);
        self.scope.loosened.borrow_mut().extend(outer);
    }

    /// Plans a sub-query; of one that is asked for rows only, no more than that.
    fn plan_asked(&mut self, query: &ast::Query, exists: bool) -> SqlResult<QueryPlan> {
        if let Some(query) = exists.then(|| without_star(query)).flatten() {
            return self.plan_inner(&query, Reach::Inside);
        }
        let leaves_out = exists && !self.context.as_written;
        let Some(left) = leaves_out.then(|| without_varying(query)).flatten() else {
            return self.plan_inner(query, Reach::Inside);
        };
        // What is left out has to be right. Queries within are planned once for that: each level would
        // double the work.
        let written = PlanContext { as_written: true, ..*self.context };
        self.plan_inner_in(&written, query, Reach::Inside)?;
        self.plan_inner(&left, Reach::Inside)
    }

    fn place(&mut self, expr: &ast::Expr, row: bool) -> SqlResult<Vec<Typed>> {
        let sight = (self.scope.clause.get(), self.scope.sight.get());
        let varies = varying::varies(expr);
        let known = self.seen_subqueries.alike(expr).find(|(from, _)| *from == sight);
        if let Some((_, places)) = known.filter(|_| !varies) {
            let fits = row || places.len() == 1;
            return if fits { Ok(places.clone()) } else { Err(SqlError::operand_columns(1)) };
        }
        let (mut kind, query, operands) = self.kind_of_subquery(expr)?;
        let whole = matches!(expr, ast::Expr::InSubquery { .. } | ast::Expr::Quantified { .. });
        if whole && query.limit.is_some() {
            return Err(SqlError::limit_in_subquery());
        }
        let mut plan = self.plan_asked(query, matches!(kind, SubqueryKind::Exists))?;
        match is_value(query) {
            true => plan.keep_digits_but_of_parameters(),
            false => plan.keep_all_digits(),
        }
        if matches!(kind, SubqueryKind::Scalar) {
            self.note_loosened(&plan);
        }
        let width = plan.columns().len();
        let wanted = match &kind {
            SubqueryKind::In { operand, .. } => operand.len(),
            SubqueryKind::Exists => width,
            SubqueryKind::Scalar if row => width,
            _ => 1,
        };
        if width != wanted {
            return Err(SqlError::operand_columns(wanted));
        }
        let columns = plan.columns().clone();
        self.agree(&mut kind, &operands, &columns)?;
        compare_documents(&mut kind, &operands, &mut plan);
        let truth = |nullable| vec![turnstile_expr::expr::truth_type(nullable)];
        let kinds = match &kind {
            SubqueryKind::Scalar if is_value(query) => {
                let nullable = |one: &ColumnMeta| one.flags & column_flag::NOT_NULL == 0;
                columns.iter().map(|one| ExprType { nullable: nullable(one), ..value_type(one) }).collect()
            }
            SubqueryKind::Scalar => columns.iter().map(value_type).collect(),
            SubqueryKind::Exists => truth(false),
            SubqueryKind::In { .. } if is_value(query) => {
                let found = columns.iter().any(|one| one.flags & column_flag::NOT_NULL == 0);
                truth(found || operands.iter().any(|operand| operand.nullable))
            }
            _ => truth(true),
        };
        let position = self.scope.reserve(kinds.len());
        let own_digits = plan.take_own_digits();
        let typed = |(nth, kind)| {
            let place = Typed { expr: Expr::Column(position + nth), kind };
            if own_digits.contains(&nth) { shown_as_type(place) } else { place }
        };
        let places: Vec<Typed> = kinds.into_iter().enumerate().map(typed).collect();
        self.push_subquery(position, places.len(), kind, plan);
        if let Some(placed) = self.subqueries.last_mut() {
            placed.joins = hints::joins(query);
        }
        if varies && let Some(placed) = self.subqueries.last_mut() {
            placed.correlated = true;
            placed.repeats = false;
            let exists = matches!(placed.kind, SubqueryKind::Exists);
            let left = exists.then(|| without_varying(query)).flatten();
            placed.varies = varying::query_varies(left.as_ref().unwrap_or(query));
        }
        self.seen_subqueries.push(expr.clone(), (sight, places.clone()));
        Ok(places)
    }

    /// What is asked of a sub-query, its operand bound.
    fn kind_of_subquery<'q>(
        &mut self,
        expr: &'q ast::Expr,
    ) -> SqlResult<(SubqueryKind, &'q ast::Query, Vec<ExprType>)> {
        Ok(match expr {
            ast::Expr::Subquery(query) => (SubqueryKind::Scalar, query, Vec::new()),
            ast::Expr::Exists(query) => (SubqueryKind::Exists, query, Vec::new()),
            ast::Expr::InSubquery { operand, query, negated } => {
                let (operand, kinds) = self.operand(operand)?;
                (SubqueryKind::In { operand, negated: *negated }, query, kinds)
            }
            ast::Expr::Quantified { operand, op, quantifier, query } => {
                let op = compare_op(*op)?;
                let all = *quantifier == Quantifier::All;
                let (mut operand, kinds) = self.operand(operand)?;
                let kind = match (operand.len(), op, all) {
                    (1, ..) => {
                        let (operand, collation) = operand.swap_remove(0);
                        SubqueryKind::Quantified { collation, operand, op, all }
                    }
                    (_, CompareOp::Equal, false) => SubqueryKind::In { operand, negated: false },
                    (_, CompareOp::NotEqual, true) => SubqueryKind::In { operand, negated: true },
                    _ => return Err(SqlError::operand_columns(1)),
                };
                (kind, query, kinds)
            }
            _ => return Err(SqlError::not_supported_yet("this kind of sub-query")),
        })
    }

    /// What a sub-query's rows are compared with.
    fn operand(&mut self, operand: &ast::Expr) -> SqlResult<(Operands, Vec<ExprType>)> {
        let clause = self.scope.clause.get();
        let bound = match operand {
            ast::Expr::Row(parts) => {
                parts.iter().map(|part| self.bind(part, clause)).collect::<SqlResult<Vec<_>>>()?
            }
            ast::Expr::Subquery(_) => self.place_row(operand)?,
            one => vec![self.bind(one, clause)?],
        };
        let otherwise = self.context.collation;
        let part = |typed: Typed| {
            let typed = with_all_of_average(typed);
            let collation = typed.kind.column.collation().unwrap_or(otherwise);
            ((typed.expr, collation), typed.kind)
        };
        Ok(bound.into_iter().map(part).unzip())
    }

    /// Texts and the columns of the sub-query that they are compared with agree on collations.
    fn agree(&self, kind: &mut SubqueryKind, operands: &[ExprType], columns: &[ColumnMeta]) -> SqlResult<()> {
        let (operation, collations): (_, Vec<&mut Collation>) = match kind {
            SubqueryKind::In { operand, .. } => ("=", operand.iter_mut().map(|(_, own)| own).collect()),
            // ALL is refuted by what does not hold.
            SubqueryKind::Quantified { collation, op, all, .. } => {
                ((if *all { op.opposite() } else { *op }).symbol(), vec![collation])
            }
            _ => return Ok(()),
        };
        let connection = self.context.eval.settings.connection_collation;
        let meeting = Meeting { operation, purpose: Purpose::Operator, connection };
        for ((own, operand), column) in collations.into_iter().zip(operands).zip(columns) {
            if operand.column.is_string() && column.column_type.is_string() {
                *own = meeting.agree(&[Party::of(operand), Party::of(&value_type(column))])?.collation;
            }
        }
        Ok(())
    }

    /// An item of the select list that rows are ordered by as well: where it varies, it gets a place that is
    /// filled once for both.
    pub(super) fn place_item(&mut self, item: &mut Typed, written: &ast::Expr) {
        if matches!(item.expr, Expr::Column(_))
            || item.kind.column == ColumnType::Json
            || !varying::varies(written)
            || windows::has_window(written)
        {
            return;
        }
        let position = self.scope.reserve(1);
        let value = std::mem::replace(&mut item.expr, Expr::Column(position));
        self.push_subquery(position, 1, SubqueryKind::Value(value), no_query());
        if let Some(placed) = self.subqueries.last_mut() {
            placed.correlated = true;
        }
    }

    /// A function that waits gets a place that is filled for each row after the wait.
    pub(super) fn place_wait(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        let count = if &*call.name == "sleep" { 1 } else { 2 };
        if call.arguments.len() != count {
            return Err(SqlError::wrong_parameter_count(call.written()));
        }
        let clause = self.scope.clause.get();
        let mut arguments = Vec::with_capacity(count);
        let mut nullable = false;
        for (nth, argument) in call.arguments.iter().enumerate() {
            self.settle_argument(&call.name, nth, argument);
            let argument = self.bind(argument, clause)?;
            nullable = argument.kind.nullable;
            arguments.push(argument.expr);
        }
        let position = self.scope.reserve(1);
        let last = arguments.pop().expect("they were counted above");
        let (kind, nullable) = match arguments.pop() {
            None => (SubqueryKind::Sleep(last), nullable),
            Some(name) => (SubqueryKind::GetLock { name, seconds: last }, true),
        };
        self.push_subquery(position, 1, kind, no_query());
        if let Some(waiting) = self.subqueries.last_mut() {
            waiting.correlated = true;
        }
        let kind = ExprType::new(ColumnType::BIGINT, nullable);
        Ok(Typed { expr: Expr::Column(position), kind })
    }

    pub(super) fn push_subquery(
        &mut self,
        position: usize,
        width: usize,
        kind: SubqueryKind,
        plan: QueryPlan,
    ) {
        let mut inputs: Vec<usize> = plan.outer().iter().map(|(there, _)| *there).collect();
        kind.operands().iter().for_each(|operand| inputs.extend(operand.columns()));
        inputs.sort_unstable();
        inputs.dedup();
        let reads = self.reads_of(inputs.clone());
        // A value that changes from row to row without reading the row is computed for each of them, too.
        let changes = matches!(&kind, SubqueryKind::Value(value) if !value.is_constant());
        // So is what reads such a value.
        let is_computed = |place: &usize| {
            placed_at(&self.subqueries, *place).is_some_and(|nth| self.subqueries[nth].correlated)
        };
        let correlated = changes || !reads.is_empty() || inputs.iter().any(is_computed);
        debug_assert!(self.subqueries.last().is_none_or(|last| last.places().end <= position), "in order");
        self.subqueries.push(Subquery {
            position,
            width,
            correlated,
            varies: false,
            joins: None,
            repeats: repeats(&plan),
            kind,
            plan,
            reads,
            inputs,
            guards: Vec::new(),
        });
    }
}

/// What a sub-query's rows are compared with, and by which collations.
type Operands = Vec<(Expr, Collation)>;
