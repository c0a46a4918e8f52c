//! One query block while it is planned: binds expressions. What it does about sub-queries and aggregates that
//! it meets on the way is in `inner`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Dictionary;
use turnstile_catalog::dictionary::{DefaultValue, Table};
use turnstile_expr::expr::{self, EvalContext, Expr, Hold, Meeting, ParameterKind, Resolver, Typed};
use turnstile_expr::functions;
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};

use super::parameters::Parameters;
use super::query::{Aggregate, CommonPlan, Filter, Subquery, placed_at};
use super::rollup;
use super::scope::{Outside, Scope};
use super::seen::Seen;
use super::uses::Uses;
use super::with::Named;

/// What planning needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Dictionary and the rest.
    pub dictionary: &'a Dictionary,
    /// The current database.
    pub schema: Option<&'a str>,
    /// Literals' collation.
    pub collation: Collation,
    /// ONLY_FULL_GROUP_BY
    pub full_group_by: bool,
    /// Settings, session and parameters.
    pub eval: &'a EvalContext<'a>,
    /// Plain reads are shared locking ones.
    pub locks_reads: bool,
    /// What its parameters are.
    pub parameters: &'a Parameters,
    /// Queries that a name in FROM can mean, the nearest last.
    pub common: &'a [Named],
    /// Where it is noted which of them are read.
    pub reads: Option<&'a RefCell<Vec<Arc<CommonPlan>>>>,
    /// Where it is noted which columns are used.
    pub uses: &'a Uses,
    /// Queries around.
    pub depth: u32,
    /// It is only asked whether what is written is right: EXISTS leaves nothing out.
    pub as_written: bool,
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
    /// The table that INSERT fills: what DEFAULT(column) and VALUES(column) speak of.
    pub target: Option<Arc<Table>>,
    /// Frame position of the new row, where ON DUPLICATE KEY UPDATE may read it.
    pub inserted_base: Option<usize>,
    /// Sub-queries that have their places, with what was seen where they stand.
    pub seen_subqueries: Seen<ast::Expr, (Sight, Vec<Typed>)>,
    /// Aggregates that have a place.
    pub seen_aggregates: Seen<FunctionCall, Typed>,
    /// Of an INSERT, or of an UPDATE or DELETE of one table: MySQL reads no texts beside dates as days there.
    pub changes_one_table: bool,
    /// Keys of GROUP BY, aliases and positions replaced.
    pub group_keys: Vec<ast::Expr>,
    /// The same under WITH ROLLUP.
    pub rollup: Vec<rollup::Key>,
}

/// What a name can mean at some place: the clause, and the tables that ON sees.
pub type Sight = (&'static str, Option<(usize, usize)>);

impl<'a, 'p> Block<'a, 'p> {
    /// An empty block inside `parent`.
    pub fn new(context: &'a PlanContext<'a>, parent: Option<Outside<'p>>) -> Block<'a, 'p>
    where
        'a: 'p,
    {
        Block {
            context,
            scope: Scope::new(parent, context.uses),
            subqueries: Vec::new(),
            aggregates: Vec::new(),
            target: None,
            inserted_base: None,
            changes_one_table: false,
            seen_subqueries: Seen::default(),
            seen_aggregates: Seen::default(),
            group_keys: Vec::new(),
            rollup: Vec::new(),
        }
    }

    /// Binds an expression of `clause`.
    pub fn bind(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        let before = self.subqueries.len();
        let bound = expr::bind(expr, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// What the `?` of open expressions are, before these are bound.
    pub fn settle(&mut self, written: &[&ast::Expr], kind: ParameterKind) {
        let settings = self.context.eval.settings;
        expr::Builder { resolver: self, settings: &settings }.settle_all(written, Hold::Beside, kind);
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
        let before = self.subqueries.len();
        let bound = expr::bind_for(expr, kind, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// What a `?` is as an argument of a function that is bound here.
    pub fn settle_argument(&mut self, name: &str, nth: usize, written: &ast::Expr) {
        let settings = self.context.eval.settings;
        expr::Builder { resolver: self, settings: &settings }.settle_argument(name, nth, written);
    }

    /// What the `?` are that a query gives to columns, alone or joined with others.
    pub fn settle_selected(&mut self, query: &ast::Query, columns: &[&ColumnType], joined: bool) {
        if self.context.parameters.derivation().is_none() {
            return;
        }
        let settings = self.context.eval.settings;
        match &query.body {
            ast::QueryBody::Select(select) => {
                let plain = |item: &ast::SelectItem| matches!(item, ast::SelectItem::Expr { .. });
                if !select.items.iter().all(plain) {
                    return;
                }
                for (item, column) in select.items.iter().zip(columns) {
                    if let ast::SelectItem::Expr { expr, .. } = item {
                        let builder = expr::Builder { resolver: self, settings: &settings };
                        builder.settle_selected(expr, column, joined);
                    }
                }
            }
            ast::QueryBody::SetOperation { first, rest } => {
                self.settle_selected(first, columns, true);
                rest.iter().for_each(|(_, query)| self.settle_selected(query, columns, true));
            }
            ast::QueryBody::Values(_) | ast::QueryBody::Table(_) => {}
        }
    }

    /// Binds a value that is put into a column of this type.
    pub fn bind_given(
        &mut self,
        expr: &ast::Expr,
        kind: &ColumnType,
        clause: &'static str,
    ) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        let before = self.subqueries.len();
        let bound = expr::bind_given(expr, kind, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// Binds a condition.
    pub fn filter(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Filter> {
        let typed = self.bind(expr, clause)?;
        if typed.kind.column == ColumnType::Json {
            self.warn(SqlError::document_as_condition());
        }
        Ok(self.with_subqueries(expr::document_holds(expr::held_by_branch(typed)).expr))
    }

    /// A condition with the sub-queries it needs.
    pub fn with_subqueries(&self, expr: Expr) -> Filter {
        let subqueries = self.subqueries_of(&expr);
        Filter { expr, subqueries }
    }

    /// Positions of the correlated sub-queries that an expression reads, and of those that they read in turn,
    /// in the order in which they must run.
    pub fn subqueries_of(&self, expr: &Expr) -> Vec<usize> {
        self.subqueries_for(expr.columns())
    }

    /// The same for several frame positions.
    pub fn subqueries_for(&self, mut read: Vec<usize>) -> Vec<usize> {
        // A sub-query gets its place behind those that its operand reads.
        let mut found = BTreeSet::new();
        while let Some(position) = read.pop() {
            let correlated = |nth: &usize| self.subqueries[*nth].correlated;
            if let Some(nth) = placed_at(&self.subqueries, position).filter(correlated)
                && found.insert(nth)
            {
                read.extend(&self.subqueries[nth].inputs);
            }
        }
        found.into_iter().collect()
    }

    /// Frame positions of tables that an expression depends on, those of its sub-queries included.
    pub fn reads(&self, expr: &Expr) -> Vec<usize> {
        self.reads_of(expr.columns())
    }

    /// The same for several frame positions.
    pub fn reads_of(&self, positions: Vec<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        for position in positions {
            match placed_at(&self.subqueries, position) {
                Some(nth) => all.extend(&self.subqueries[nth].reads),
                None => all.push(position),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Resolver for Block<'_, '_> {
    fn unbound(&self, error: SqlError, call: &ast::FunctionCall) -> SqlError {
        match (error.code, self.context.schema, &call.schema) {
            // It could only be one of the current database.
            (1305, None, None) => SqlError::no_database_selected(),
            (_, schema, _) => functions::as_written(error, call, schema),
        }
    }

    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)> {
        let found = self.scope.resolve(name)?;
        Ok((found.position, found.kind))
    }

    fn named(&self, name: &ast::ColumnName) -> String {
        self.scope.named(name)
    }

    fn is_stored(&self, position: usize) -> bool {
        self.scope.column_at(position).is_some_and(|(table, _)| !table.name.is_empty())
    }

    fn is_kept(&self, position: usize) -> bool {
        self.scope.column_at(position).is_some() || !self.group_keys.is_empty()
    }

    fn known(&mut self, expr: &ast::Expr) -> Option<Typed> {
        if let ast::Expr::Parameter(at) = expr {
            let (at, parameters) = (*at as usize, self.context.parameters);
            return match parameters.are_literals() {
                true => expr::literal_parameter(at, self.context.eval, parameters.are_values()),
                false => Some(parameters.typed(at, self.context.eval.settings.connection_collation)),
            };
        }
        if let Some(meaning) = rollup::meaning(self, expr) {
            return Some(meaning);
        }
        let ast::Expr::Function(call) = expr else { return None };
        // A wrong call is left to the builder, which has the error for it.
        let waits = matches!(&*call.name, "sleep" | "get_lock") && call.schema.is_none();
        if waits { self.place_wait(call).ok() } else { None }
    }

    fn compare(&self, meeting: Meeting, operands: &[&Typed]) {
        let parameters = self.context.parameters;
        parameters.compare(meeting, operands);
        let name = |at| self.scope.column_at(at).map(|(_, column)| column.name.as_ref().into());
        let given = !parameters.are_literals();
        parameters.note_constants(expr::compared_constants(meeting, operands, given, &name));
    }

    fn reads_days(&self) -> bool {
        !self.changes_one_table
    }

    fn derives(&self) -> bool {
        self.context.parameters.derivation().is_some()
    }

    fn derive(&self, at: u32, hold: Hold, kind: ParameterKind) {
        if let Some(derivation) = self.context.parameters.derivation() {
            derivation.note(at, hold, kind);
        }
    }

    fn aggregate(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        self.place_aggregate(call)
    }

    fn grouping(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        rollup::grouping(self, call)
    }

    fn subquery(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        self.place_subquery(expr)
    }

    fn row_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Typed>> {
        self.place_row(expr)
    }

    fn inserted_value(&mut self, name: &ast::ColumnName) -> SqlResult<Typed> {
        let missing = || SqlError::unknown_column(&name.column, self.scope.clause.get());
        let (Some(table), Some(base)) = (&self.target, self.inserted_base) else {
            // Outside ON DUPLICATE KEY UPDATE it is NULL.
            self.scope.resolve(name)?;
            return Ok(Typed {
                expr: Expr::Literal(turnstile_values::value::Value::Null),
                kind: ExprType::nullable(ColumnType::Null),
            });
        };
        let at = table.column_position(&name.column).ok_or_else(missing)?;
        // The target is the block's first table.
        self.scope.note_use(0, at, Privileges::SELECT, false);
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
        let table = place.and_then(|(schema, table, _)| self.context.dictionary.find(schema, table));
        let default = table.as_ref().and_then(|table| {
            let at = table.column_position(&name.column)?;
            Some(table.columns()[at].default.clone())
        });
        match default {
            Some(DefaultValue::Value(value)) => Ok(Typed { expr: Expr::Literal(value), kind: found.kind }),
            Some(DefaultValue::Computed(_)) => Err(SqlError::default_of_computed()),
            Some(DefaultValue::Now(_)) => {
                Err(SqlError::not_supported_yet("DEFAULT of a column with CURRENT_TIMESTAMP"))
            }
            // What asks for a number.
            _ if table.is_some_and(|table| table.auto_column == table.column_position(&name.column)) => {
                Ok(Typed { expr: Expr::Literal(turnstile_values::value::Value::Int(0)), kind: found.kind })
            }
            _ => Err(SqlError::no_default_for_field(&name.column)),
        }
    }

    fn is_prepared(&self) -> bool {
        !self.context.parameters.are_literals()
    }

    fn condition_clause(&self) -> Option<&'static str> {
        let clause = self.scope.clause.get();
        matches!(clause, "where clause" | "on clause" | "having clause").then_some(clause)
    }

    fn warn(&self, warning: SqlError) {
        self.context.eval.note(warning);
    }

    fn variable_type(&mut self, expr: &ast::Expr) -> Option<ColumnType> {
        super::variable::kind(expr, self.context.eval, self.context.parameters)
    }
}

/// The type of a value once it has left the block that computed it: TIMESTAMPs were turned into the session's
/// zone.
pub fn settled(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Timestamp { fsp } => ColumnType::DateTime { fsp: *fsp },
        other => other.clone(),
    }
}
