//! One query block while it is planned: binds expressions, planning sub-queries and aggregates it meets on the way.

use std::cell::RefCell;
use std::sync::Arc;

use crate::ast::{self, FunctionCall, Quantifier};
use crate::collation::Collation;
use crate::database::Database;
use crate::dictionary::{DefaultValue, Table};
use crate::error::{SqlError, SqlResult};
use crate::expr::{self, CompareOp, EvalContext, Expr, Resolver, Typed};
use crate::types::{ColumnType, ExprType};

use super::aggregate;
use super::query::{Aggregate, CommonPlan, Filter, QueryPlan, Subquery, SubqueryKind};
use super::scope::Scope;
use super::with::Named;

/// What planning needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Dictionary and the rest.
    pub db: &'a Database,
    /// The current database.
    pub schema: Option<&'a str>,
    /// Literals' collation.
    pub collation: Collation,
    /// ONLY_FULL_GROUP_BY
    pub full_group_by: bool,
    /// Settings, session and parameters.
    pub eval: &'a EvalContext<'a>,
    /// The isolation level turns plain reads into shared locking ones.
    pub serializable: bool,
    /// Parameters stand for literals: each has the type of its value.
    pub literals: bool,
    /// Queries that a name in FROM can mean, the nearest last.
    pub common: &'a [Named],
    /// Where it is noted which of them are read.
    pub reads: Option<&'a RefCell<Vec<Arc<CommonPlan>>>>,
    /// Queries around.
    pub depth: u32,
}

/// A block being planned.
pub struct Block<'a, 'p> {
    /// Surroundings.
    pub context: &'a PlanContext<'a>,
    /// Names.
    pub scope: Scope<'p>,
    /// Sub-queries met so far.
    pub subqueries: Vec<Subquery>,
    /// Aggregates met so far.
    pub aggregates: Vec<Aggregate>,
    /// The clause being bound may have aggregates.
    pub aggregates_allowed: bool,
    /// The table that INSERT fills: what DEFAULT(column) and VALUES(column) speak of.
    pub target: Option<Arc<Table>>,
    /// Frame position of the new row, where ON DUPLICATE KEY UPDATE may read it.
    pub inserted_base: Option<usize>,
    seen_subqueries: Vec<(ast::Expr, Typed)>,
    seen_aggregates: Vec<(FunctionCall, Typed)>,
}

impl<'a, 'p> Block<'a, 'p> {
    /// An empty block inside `parent`.
    pub fn new(context: &'a PlanContext<'a>, parent: Option<&'p Scope<'p>>) -> Block<'a, 'p> {
        Block {
            context,
            scope: Scope::new(parent),
            subqueries: Vec::new(),
            aggregates: Vec::new(),
            aggregates_allowed: false,
            target: None,
            inserted_base: None,
            seen_subqueries: Vec::new(),
            seen_aggregates: Vec::new(),
        }
    }

    /// Binds an expression of `clause`.
    pub fn bind(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        expr::bind(expr, self, &settings)
    }

    /// Binds what a column of this type is to hold, or an aggregate over values of this type is fed.
    pub fn bind_for(
        &mut self,
        expr: &ast::Expr,
        kind: &ColumnType,
        clause: &'static str,
    ) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        expr::bind_for(expr, kind, self, &settings)
    }

    /// Binds a condition.
    pub fn filter(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Filter> {
        let typed = self.bind(expr, clause)?;
        Ok(self.with_subqueries(typed.expr))
    }

    /// A condition with the sub-queries it needs.
    pub fn with_subqueries(&self, expr: Expr) -> Filter {
        let subqueries = self.subqueries_of(&expr);
        Filter { expr, subqueries }
    }

    /// Positions of the correlated sub-queries that an expression reads.
    pub fn subqueries_of(&self, expr: &Expr) -> Vec<usize> {
        let read = expr.columns();
        let dependent = |sub: &Subquery| sub.correlated && read.binary_search(&sub.position).is_ok();
        (0..self.subqueries.len()).filter(|nth| dependent(&self.subqueries[*nth])).collect()
    }

    /// Frame positions of tables that an expression depends on, those of its sub-queries included.
    pub fn reads(&self, expr: &Expr) -> Vec<usize> {
        let mut all = Vec::new();
        for position in expr.columns() {
            match self.subqueries.iter().find(|sub| sub.position == position) {
                Some(sub) => all.extend(&sub.reads),
                None => all.push(position),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn place_aggregate(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        if !self.aggregates_allowed {
            return Err(SqlError::invalid_group_function_use());
        }
        if let Some((_, place)) = self.seen_aggregates.iter().find(|(seen, _)| seen == call) {
            return Ok(place.clone());
        }
        self.aggregates_allowed = false;
        let built = aggregate::build(self, call);
        self.aggregates_allowed = true;
        let (mut built, kind) = built?;
        built.position = self.scope.reserve(1);
        let place = Typed { expr: Expr::Column(built.position), kind };
        self.aggregates.push(built);
        self.seen_aggregates.push((call.clone(), place.clone()));
        Ok(place)
    }

    fn place_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        if let Some((_, place)) = self.seen_subqueries.iter().find(|(seen, _)| seen == expr) {
            return Ok(place.clone());
        }
        let clause = self.scope.clause.get();
        let (kind, query, result) = match expr {
            ast::Expr::Subquery(query) => (SubqueryKind::Scalar, query, None),
            ast::Expr::Exists(query) => (SubqueryKind::Exists, query, Some(false)),
            ast::Expr::InSubquery { operand, query, negated } => {
                let parts = match &**operand {
                    ast::Expr::Row(parts) => parts.clone(),
                    one => vec![one.clone()],
                };
                let bound = parts.iter().map(|part| {
                    let typed = self.bind(part, clause)?;
                    let collation = typed.kind.column.collation().unwrap_or(self.context.collation);
                    Ok((typed.expr, collation))
                });
                let operand = bound.collect::<SqlResult<Vec<_>>>()?;
                (SubqueryKind::In { operand, negated: *negated }, query, Some(true))
            }
            ast::Expr::Quantified { operand, op, quantifier, query } => {
                let typed = self.bind(operand, clause)?;
                let kind = SubqueryKind::Quantified {
                    collation: typed.kind.column.collation().unwrap_or(self.context.collation),
                    operand: typed.expr,
                    op: compare_op(*op)?,
                    all: *quantifier == Quantifier::All,
                };
                (kind, query, Some(true))
            }
            _ => return Err(SqlError::not_supported_yet("this kind of sub-query")),
        };
        let plan = super::plan_query(self.context, query, Some(&self.scope))?;
        self.scope.clause.set(clause);
        let width = plan.columns().len();
        let wanted = match &kind {
            SubqueryKind::In { operand, .. } => operand.len(),
            SubqueryKind::Exists => width,
            _ => 1,
        };
        if width != wanted {
            return Err(SqlError::operand_columns(wanted));
        }
        let result = match result {
            Some(nullable) => ExprType { column: ColumnType::BIGINT, nullable },
            None => ExprType::nullable(settled(&plan.columns()[0].column_type)),
        };
        let position = self.scope.reserve(1);
        let place = Typed { expr: Expr::Column(position), kind: result };
        let subquery = self.new_subquery(position, kind, plan);
        self.subqueries.push(subquery);
        self.seen_subqueries.push((expr.clone(), place.clone()));
        Ok(place)
    }

    /// A function that waits gets a place that is filled for each row after the wait.
    fn place_wait(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        let (name, count) = (&*call.name, if &*call.name == "sleep" { 1 } else { 2 });
        if call.arguments.len() != count {
            return Err(SqlError::wrong_parameter_count(name));
        }
        let clause = self.scope.clause.get();
        let mut arguments = Vec::with_capacity(count);
        for argument in &call.arguments {
            arguments.push(self.bind(argument, clause)?.expr);
        }
        let position = self.scope.reserve(1);
        let reads = arguments.iter().flat_map(|argument| self.reads(argument)).collect();
        let nothing = super::query::ValuesPlan {
            rows: Vec::new(),
            columns: Arc::from([]),
            order: Vec::new(),
            limit: super::query::LimitPlan { count: None, offset: None },
        };
        let plan = QueryPlan::Values(Box::new(nothing));
        let last = arguments.pop().expect("they were counted above");
        let (kind, nullable) = match arguments.pop() {
            None => (SubqueryKind::Sleep(last), false),
            Some(name) => (SubqueryKind::GetLock { name, seconds: last }, true),
        };
        self.subqueries.push(Subquery { position, kind, plan, correlated: true, reads });
        let kind = ExprType { column: ColumnType::BIGINT, nullable };
        Ok(Typed { expr: Expr::Column(position), kind })
    }

    fn new_subquery(&self, position: usize, kind: SubqueryKind, plan: QueryPlan) -> Subquery {
        let mut reads: Vec<usize> = plan.outer().iter().map(|(there, _)| *there).collect();
        match &kind {
            SubqueryKind::In { operand, .. } => {
                operand.iter().for_each(|(expr, _)| reads.extend(self.reads(expr)))
            }
            SubqueryKind::Quantified { operand, .. } => reads.extend(self.reads(operand)),
            SubqueryKind::Scalar
            | SubqueryKind::Exists
            | SubqueryKind::Sleep(_)
            | SubqueryKind::GetLock { .. } => {}
        }
        reads.sort_unstable();
        reads.dedup();
        Subquery { position, correlated: !reads.is_empty(), kind, plan, reads }
    }
}

impl Resolver for Block<'_, '_> {
    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)> {
        let found = self.scope.resolve(name)?;
        Ok((found.position, found.kind))
    }

    fn known(&mut self, expr: &ast::Expr) -> Option<Typed> {
        if let ast::Expr::Parameter(at) = expr
            && self.context.literals
        {
            return expr::literal_parameter(*at as usize, self.context.eval);
        }
        let ast::Expr::Function(call) = expr else { return None };
        // A wrong call is left to the builder, which has the error for it.
        let waits = matches!(&*call.name, "sleep" | "get_lock") && call.schema.is_none();
        if waits { self.place_wait(call).ok() } else { None }
    }

    fn aggregate(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        self.place_aggregate(call)
    }

    fn subquery(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        self.place_subquery(expr)
    }

    fn inserted_value(&mut self, name: &ast::ColumnName) -> SqlResult<Typed> {
        let missing = || SqlError::unknown_column(&name.column, self.scope.clause.get());
        let (Some(table), Some(base)) = (&self.target, self.inserted_base) else { return Err(missing()) };
        let at = table.column_position(&name.column).ok_or_else(missing)?;
        let kind = ExprType::nullable(table.columns()[at].kind.clone());
        let stored = matches!(kind.column, ColumnType::Timestamp { .. });
        let expr = if stored { Expr::TimestampColumn(base + at) } else { Expr::Column(base + at) };
        Ok(Typed { expr, kind })
    }

    fn default_value(&mut self, name: Option<&ast::ColumnName>) -> SqlResult<Typed> {
        let Some(name) = name else { return Err(SqlError::not_supported_yet("DEFAULT in this place")) };
        let found = self.scope.resolve(name)?;
        let place = self
            .scope
            .column_at(found.position)
            .map(|(table, column)| (&table.schema, &table.name, &column.name));
        let table = place.and_then(|(schema, table, _)| self.context.db.dictionary().find(schema, table));
        let default = table.and_then(|table| {
            let at = table.column_position(&name.column)?;
            Some(table.columns()[at].default.clone())
        });
        match default {
            Some(DefaultValue::Value(value)) => Ok(Typed { expr: Expr::Literal(value), kind: found.kind }),
            Some(DefaultValue::Computed(_)) => Err(SqlError::default_of_computed()),
            Some(DefaultValue::Now(_)) => {
                Err(SqlError::not_supported_yet("DEFAULT of a column with CURRENT_TIMESTAMP"))
            }
            _ => Err(SqlError::no_default_for_field(&name.column)),
        }
    }

    fn variable_type(&mut self, expr: &ast::Expr) -> Option<ColumnType> {
        super::variable::kind(expr, self.context.eval)
    }
}

/// The type of a value once it has left the block that computed it: TIMESTAMPs were turned into the session's zone.
pub fn settled(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Timestamp { fsp } => ColumnType::DateTime { fsp: *fsp },
        other => other.clone(),
    }
}

fn compare_op(op: ast::BinaryOp) -> SqlResult<CompareOp> {
    Ok(match op {
        ast::BinaryOp::Equal => CompareOp::Equal,
        ast::BinaryOp::NullSafeEqual => CompareOp::NullSafeEqual,
        ast::BinaryOp::NotEqual => CompareOp::NotEqual,
        ast::BinaryOp::Less => CompareOp::Less,
        ast::BinaryOp::LessOrEqual => CompareOp::LessOrEqual,
        ast::BinaryOp::Greater => CompareOp::Greater,
        ast::BinaryOp::GreaterOrEqual => CompareOp::GreaterOrEqual,
        _ => return Err(SqlError::not_supported_yet("this quantified comparison")),
    })
}
