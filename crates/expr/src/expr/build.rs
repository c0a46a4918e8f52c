//! From syntax to bound expressions. Names, aggregates and subqueries are the resolver's; types, collations
//! and functions are settled here.

mod call;
mod operator;
mod resolver;
mod wanted;

use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::context::{self, VariableKind};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;
use turnstile_values::pulse;
use turnstile_values::types::{BlobSize, ColumnType, ExprType, IntWidth};

use super::literal::{bind_literal, number_of_hex};
use super::misfit::told_once;
use super::own_digits::with_all_of_average;
use super::parameter::{Hold, ParameterKind};
use super::{EvalSettings, Expr, SqlMode, Typed};
use crate::expr::{choice, condition, conversion, open};
use crate::functions;

pub(super) use call::arguments;
pub use call::document_holds;
use call::function;
pub(crate) use call::source_of;
pub(super) use operator::unary;
use operator::{binary, date_expression};
pub use resolver::Resolver;
use wanted::build_for;
pub(super) use wanted::{bound_as_number, hex_number, number, number_for, plain, temporal, whole_number};

/// Binds an expression.
pub fn bind(expr: &ast::Expr, resolver: &mut dyn Resolver, settings: &EvalSettings) -> SqlResult<Typed> {
    Builder { resolver, settings }.build(expr)
}

/// Binds what a column of this type is to hold, or an aggregate over values of this type is fed.
pub fn bind_for(
    expr: &ast::Expr,
    kind: &ColumnType,
    resolver: &mut dyn Resolver,
    settings: &EvalSettings,
) -> SqlResult<Typed> {
    build_for(&mut Builder { resolver, settings }, expr, kind)
}

/// Binds a value that is put into a column of this type.
pub fn bind_given(
    expr: &ast::Expr,
    kind: &ColumnType,
    resolver: &mut dyn Resolver,
    settings: &EvalSettings,
) -> SqlResult<Typed> {
    let mut builder = Builder { resolver, settings };
    open::settle_given(&builder, expr, kind);
    let typed = super::given(builder.build(expr)?, expr, kind, settings);
    let typed = if turnstile_values::value::takes_shown(kind) { functions::as_shown(typed) } else { typed };
    let is_text = kind.is_string() && *kind != ColumnType::Json;
    Ok(if is_text { super::with_own_digits(typed) } else { with_all_of_average(typed) })
}

/// Binds expressions against one resolver.
pub struct Builder<'a> {
    /// Names and everything that needs the executor.
    pub resolver: &'a mut dyn Resolver,
    /// Settings of the session at the time of binding.
    pub settings: &'a EvalSettings,
}

/// BIGINT of width 1: truth values.
pub fn truth_type(nullable: bool) -> ExprType {
    ExprType::new(
        ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false },
        nullable,
    )
}

/// Whether the value of one of them may be NULL.
pub(super) fn any_nullable(parts: &[Typed]) -> bool {
    parts.iter().any(|part| part.kind.nullable)
}

/// A truth value.
pub(super) fn truth(expr: Expr, nullable: bool) -> Typed {
    Typed { expr, kind: truth_type(nullable) }
}

pub(super) fn boxed(typed: Typed) -> Box<Expr> {
    Box::new(typed.expr)
}

impl Builder<'_> {
    /// Binds one expression that yields a single value.
    pub fn build(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        pulse::step()?;
        if let Some(known) = self.resolver.known(expr) {
            return Ok(known);
        }
        match expr {
            ast::Expr::Literal(literal) => bind_literal(literal, self.settings),
            ast::Expr::Column(name) => column(self, name),
            ast::Expr::Parameter(position) => Ok(open::parameter(self, *position)),
            ast::Expr::UserVariable(name) => {
                variable(self, expr, Expr::UserVariable(name.to_lowercase().into_boxed_str()))
            }
            ast::Expr::SystemVariable { scope, name } => {
                variable(self, expr, Expr::SystemVariable { scope: *scope, name: name.clone() })
            }
            ast::Expr::Assign { variable, value } => {
                let value = super::with_own_digits(self.build(value)?);
                let name = variable.to_lowercase().into_boxed_str();
                let connection = self.settings.connection_collation;
                let result = context::of_assignment(&value.kind, connection);
                let kind = VariableKind::assigned(&value.kind.column, connection);
                let expr = Expr::AssignVariable { name, value: Box::new(value.expr), kind };
                Ok(Typed { expr, kind: result })
            }
            ast::Expr::Unary { op, operand } => condition::unary_turned(self, *op, operand),
            ast::Expr::Binary { op, left, right } => binary(self, *op, left, right),
            ast::Expr::And(parts) => {
                let parts = conditions(self, parts)?;
                let nullable = any_nullable(&parts);
                Ok(truth(Expr::And(parts.into_iter().map(|part| part.expr).collect()), nullable))
            }
            ast::Expr::Or(parts) => {
                let parts = conditions(self, parts)?;
                let nullable = any_nullable(&parts);
                Ok(truth(Expr::Or(parts.into_iter().map(|part| part.expr).collect()), nullable))
            }
            ast::Expr::Is { operand, test, negated } => condition::is_test(self, operand, *test, *negated),
            ast::Expr::Between { .. }
            | ast::Expr::InList { .. }
            | ast::Expr::Like { .. }
            | ast::Expr::Regexp { .. } => condition::predicate(self, expr),
            ast::Expr::Case { operand, branches, otherwise } => {
                choice::case(self, "case", operand.as_deref(), branches, otherwise.as_deref())
            }
            ast::Expr::Cast { .. } | ast::Expr::ConvertUsing { .. } | ast::Expr::Collate { .. } => {
                conversion::conversion(self, expr)
            }
            ast::Expr::Function(call) => function(self, call),
            ast::Expr::DateArithmetic { .. }
            | ast::Expr::TimestampDiff { .. }
            | ast::Expr::Extract { .. } => date_expression(self, expr),
            ast::Expr::Trim { side, remove, operand } => trim(self, *side, remove.as_deref(), operand),
            ast::Expr::Subquery(_)
            | ast::Expr::Exists(_)
            | ast::Expr::InSubquery { .. }
            | ast::Expr::Quantified { .. } => self.resolver.subquery(expr),
            ast::Expr::Row(_) => Err(SqlError::operand_columns(1)),
            ast::Expr::InsertedValue(name) => self.resolver.inserted_value(name),
            ast::Expr::Default(name) => self.resolver.default_value(name.as_deref()),
        }
    }

    /// Binds several expressions.
    pub fn build_all(&mut self, parts: &[ast::Expr]) -> SqlResult<Vec<Typed>> {
        parts.iter().map(|part| self.build(part)).collect()
    }
}

fn trim(
    builder: &mut Builder<'_>,
    side: ast::TrimSide,
    remove: Option<&ast::Expr>,
    operand: &ast::Expr,
) -> SqlResult<Typed> {
    let mut arguments = vec![builder.build(operand)?];
    if let Some(remove) = remove {
        arguments.push(builder.build(remove)?);
    }
    let name = match side {
        ast::TrimSide::Both => "trim",
        ast::TrimSide::Leading => "ltrim",
        ast::TrimSide::Trailing => "rtrim",
    };
    functions::bind_function(name, arguments, builder.settings)
}

/// What AND and OR join: constants among them are told of once.
fn conditions(builder: &mut Builder<'_>, parts: &[ast::Expr]) -> SqlResult<Vec<Typed>> {
    parts.iter().map(|part| bind_condition(builder, part).map(told_once)).collect()
}

/// Binds what is true or false: a document is true unless it is the number 0.
pub(super) fn bind_condition(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    builder.settle_all(&[expr], Hold::Beside, ParameterKind::Int);
    let typed = plain(builder, expr)?;
    if typed.kind.column == ColumnType::Json {
        builder.resolver.warn(SqlError::document_as_condition());
    }
    Ok(document_holds(super::class::held_by_branch(typed)))
}

/// Binds values that are compared with one another: hex literals are numbers beside numbers only, bytes
/// otherwise.
pub(super) fn build_alike(builder: &mut Builder<'_>, parts: &[&ast::Expr]) -> SqlResult<Vec<Typed>> {
    let mut bound = parts.iter().map(|part| builder.build(part)).collect::<SqlResult<Vec<_>>>()?;
    let is_hex = |part: &ast::Expr| number_of_hex(part).is_some();
    let mut others = parts.iter().zip(&bound).filter(|(part, _)| !is_hex(part)).peekable();
    if others.peek().is_some() && others.all(|(_, typed)| typed.kind.column.is_numeric()) {
        for (part, typed) in parts.iter().zip(&mut bound) {
            if let Some(number) = number_of_hex(part) {
                *typed = number;
            }
        }
    }
    Ok(bound)
}

fn column(builder: &mut Builder<'_>, name: &ast::ColumnName) -> SqlResult<Typed> {
    let (position, kind) = builder.resolver.column(name)?;
    if let ColumnType::Char { length, .. } = kind.column
        && builder.settings.sql_mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH)
    {
        return Ok(functions::padded(Typed { expr: Expr::Column(position), kind }, length));
    }
    let expr = if matches!(kind.column, ColumnType::Timestamp { .. }) {
        Expr::TimestampColumn(position)
    } else {
        Expr::Column(position)
    };
    Ok(Typed { expr, kind })
}

fn variable(builder: &mut Builder<'_>, source: &ast::Expr, expr: Expr) -> SqlResult<Typed> {
    let collation = builder.settings.connection_collation;
    let column = builder
        .resolver
        .variable_type(source)
        .unwrap_or(ColumnType::Text { size: BlobSize::Medium, collation });
    let kind = ExprType::nullable(column);
    Ok(match &expr {
        Expr::SystemVariable { .. } if kind.column.is_character() => {
            let column = kind.column.with_collation(Collation::Utf8mb3GeneralCi);
            Typed { expr, kind: ExprType::nullable(column).with_traits(Traits::SYSTEM) }
        }
        _ => Typed { expr, kind },
    })
}
