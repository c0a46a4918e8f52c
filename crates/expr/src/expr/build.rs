//! From syntax to bound expressions. Names, aggregates and subqueries are the resolver's; types, collations
//! and functions are settled here.

use turnstile_syntax::ast::{self, BinaryOp, UnaryOp};
use turnstile_values::collation::Collation;
use turnstile_values::context::{self, VariableKind};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;
use turnstile_values::pulse;
use turnstile_values::types::{BlobSize, ColumnType, ExprType, IntWidth};
use turnstile_values::value::{Value, parse_integer_prefix, shown};

use super::class::with_all_digits;
use super::condition::exactly;
use super::infer::{arithmetic_op, arithmetic_type, counted};
use super::literal::{
    as_absolute, as_real, bind_literal, negated_integer, negated_literal, number_of_hex, rounds_hex,
    with_numbers_of_hex,
};
use super::long_text::read_silently;
use super::misfit::{told_once, untold_text};
use super::own_digits::{self, with_all_of_average};
use super::parameter::{Hold, ParameterKind};
use super::{ArithmeticOp, CompareOp, EvalSettings, Expr, IsTest, Meeting, Source, SqlMode, Typed};
use crate::expr::{bits, choice, class, condition, conversion, field, open};
use crate::functions::{self, Wanted};

/// What the builder cannot know: where columns are, and how aggregates and subqueries are computed.
pub trait Resolver {
    /// Position and type of a column in the input row. Errors 1054, 1052.
    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)>;

    /// A whole expression the executor already computes (a GROUP BY expression, a select alias): asked first
    /// for every node.
    fn known(&mut self, _expr: &ast::Expr) -> Option<Typed> {
        None
    }

    /// The error of a call that cannot be bound, with the function's name as it was written.
    fn unbound(&self, error: SqlError, call: &ast::FunctionCall) -> SqlError {
        functions::as_written(error, call, None)
    }

    /// An aggregate call; normally a column behind the input row.
    fn aggregate(&mut self, _call: &ast::FunctionCall) -> SqlResult<Typed> {
        Err(SqlError::invalid_group_function_use())
    }

    /// GROUPING(): which keys of GROUP BY a row sums over.
    fn grouping(&mut self, _call: &ast::FunctionCall) -> SqlResult<Typed> {
        Err(SqlError::invalid_group_function_use())
    }

    /// `(SELECT ..)`, EXISTS, IN (SELECT ..), ANY and ALL: the whole node.
    fn subquery(&mut self, _expr: &ast::Expr) -> SqlResult<Typed> {
        Err(SqlError::not_supported_yet("a subquery in this place"))
    }

    /// The values of `(SELECT a, b ..)` where a row may stand; one of them if it has one column.
    fn row_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Typed>> {
        self.subquery(expr).map(|one| vec![one])
    }

    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    fn inserted_value(&mut self, name: &ast::ColumnName) -> SqlResult<Typed> {
        Err(SqlError::unknown_column(&name.column, "field list"))
    }

    /// Whether it is looked for what the `?` of a statement are.
    fn derives(&self) -> bool {
        false
    }

    /// What a `?` is by where it stands.
    fn derive(&self, _at: u32, _hold: Hold, _kind: ParameterKind) {}

    /// Operands are about to be compared, as they are written.
    fn compare(&self, _meeting: Meeting, _operands: &[&Typed]) {}

    /// Whether texts beside dates are read as days, where both differ from row to row.
    fn reads_days(&self) -> bool {
        false
    }

    /// `DEFAULT` or `DEFAULT(column)`.
    fn default_value(&mut self, _name: Option<&ast::ColumnName>) -> SqlResult<Typed> {
        Err(SqlError::not_supported_yet("DEFAULT in this place"))
    }

    /// Whether a place of the row is a column of a stored table, and not what something was computed into.
    fn is_stored(&self, _position: usize) -> bool {
        true
    }

    /// Whether a place of the row is a column of some table, or one of the table that groups are collected
    /// in.
    fn is_kept(&self, _position: usize) -> bool {
        true
    }

    /// Whether the parameters are those of a prepared statement, not literals.
    fn is_prepared(&self) -> bool {
        false
    }

    /// A column as messages write it: with its table and database, where they are known.
    fn named(&self, name: &ast::ColumnName) -> String {
        turnstile_syntax::ast::quote_name(&name.column)
    }

    /// The clause of a condition on rows, if one is bound.
    fn condition_clause(&self) -> Option<&'static str> {
        None
    }

    /// Tells of something that is known once the expression is bound.
    fn warn(&self, _warning: SqlError) {}

    /// Type of a user or system variable's value, if known; a long string otherwise.
    fn variable_type(&mut self, _expr: &ast::Expr) -> Option<ColumnType> {
        None
    }
}

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
    parts.iter().map(|part| condition(builder, part).map(told_once)).collect()
}

/// Binds what is true or false: a document is true unless it is the number 0.
pub(super) fn condition(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
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

/// A hex literal as the number that it is among numbers, also one that NULLIF gives.
pub(super) fn hex_number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Option<Typed>> {
    if let ast::Expr::Function(call) = expr
        && &*call.name == "nullif"
        && let [first, _] = call.arguments.as_slice()
        && let Some(number) = hex_number(builder, first)?
    {
        let operand = boxed(builder.build(expr)?);
        let absent = Expr::Is { operand, test: IsTest::Null, negated: false };
        let kind = ExprType { nullable: true, ..number.kind.clone() };
        let expr = Expr::Case {
            branches: vec![(absent, Expr::Literal(Value::Null))],
            otherwise: Some(boxed(number)),
            kind: kind.column.clone(),
        };
        return Ok(Some(Typed { expr, kind }));
    }
    Ok(number_of_hex(expr))
}

/// Binds what is no operand of arithmetic: hex literals are numbers here, documents documents.
pub(super) fn plain(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    match hex_number(builder, expr)? {
        Some(number) => Ok(number),
        None => builder.build(expr),
    }
}

/// Binds an operand of arithmetic: hex literals are numbers here, documents doubles.
pub(super) fn number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    number_for(builder, expr, Wanted::Double)
}

pub(super) fn number_for(builder: &mut Builder<'_>, expr: &ast::Expr, wanted: Wanted) -> SqlResult<Typed> {
    if let Some(number) = hex_number(builder, expr)? {
        return Ok(number);
    }
    if let Some(chosen) = with_numbers_of_hex(expr) {
        let typed = super::class::of_branch_taken(builder.build(&chosen)?);
        return Ok(super::class::coerced(typed, ColumnType::DOUBLE));
    }
    let typed = builder.build(expr)?;
    Ok(bound_as_number(builder, expr, typed, wanted))
}

/// The same of an operand that is bound.
pub(super) fn bound_as_number(
    builder: &Builder<'_>,
    expr: &ast::Expr,
    typed: Typed,
    wanted: Wanted,
) -> Typed {
    let typed = super::choice::of_full_width(typed, builder.resolver);
    let mut typed = super::class::of_branch_taken(typed);
    if wanted != Wanted::Double {
        typed = super::moment_text::with_all_digits(typed);
    }
    if let ast::Expr::Function(call) = expr
        && matches!(&*call.name, "max" | "min" | "any_value")
    {
        typed = untold_text(typed);
    }
    if matches!(typed.expr, Expr::Column(at) if !builder.resolver.is_kept(at)) {
        return functions::as_number(typed, wanted, source_of(expr));
    }
    read_silently(functions::as_number(typed, wanted, source_of(expr)), wanted)
}

/// Binds what is cast to a whole number: of a text, the one that it begins with.
pub(super) fn whole_number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    if let Some(number) = hex_number(builder, expr)? {
        return Ok(number);
    }
    let typed = builder.build(expr)?;
    let typed = if typed.kind.column.is_string() { typed } else { super::class::of_branch_taken(typed) };
    Ok(functions::as_number(typed, Wanted::Integer, source_of(expr)))
}

/// Binds what is read as a date or a time: documents are its text.
pub(super) fn temporal(
    builder: &mut Builder<'_>,
    expr: &ast::Expr,
    wanted: &'static str,
) -> SqlResult<Typed> {
    Ok(functions::as_temporal(builder.build(expr)?, wanted, source_of(expr)))
}

/// Binds a value for a column of this type: hex literals are numbers for numeric columns.
fn build_for(builder: &mut Builder<'_>, expr: &ast::Expr, kind: &ColumnType) -> SqlResult<Typed> {
    if kind.is_numeric() && !matches!(kind, ColumnType::Bit { .. }) {
        if let Some(number) = number_of_hex(expr) {
            return Ok(number);
        }
        let typed = super::choice::of_full_width(builder.build(expr)?, builder.resolver);
        let wanted = match kind {
            ColumnType::Float { .. } | ColumnType::Double { .. } => Wanted::Double,
            ColumnType::Decimal { .. } => Wanted::Decimal,
            // A year is read from the document's text.
            ColumnType::Year if typed.kind.column == ColumnType::Json => {
                return Ok(class::as_text(builder, typed));
            }
            _ => Wanted::Integer,
        };
        Ok(functions::as_number(typed, wanted, source_of(expr)))
    } else {
        let typed = functions::as_given_to(builder.build(expr)?, kind, source_of(expr), false);
        Ok(if turnstile_values::value::takes_shown(kind) { functions::as_shown(typed) } else { typed })
    }
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

pub(super) fn unary(builder: &mut Builder<'_>, op: UnaryOp, operand: &ast::Expr) -> SqlResult<Typed> {
    if op == UnaryOp::Negate
        && let ast::Expr::Literal(ast::Literal::Int(number)) = operand
        && *number <= 1 << 63
    {
        let value = (*number as i64).wrapping_neg();
        let mut typed = bind_literal(&ast::Literal::Int(*number), builder.settings)?;
        typed.expr = Expr::int(value);
        if let ColumnType::Int { unsigned, .. } = &mut typed.kind.column {
            *unsigned = false;
        }
        return Ok(typed);
    }
    open::settle_unary(builder, op, operand);
    let written = operand;
    let operand = match op {
        UnaryOp::Binary => builder.build(operand)?,
        UnaryOp::Not => told_once(condition(builder, operand)?),
        UnaryOp::BitNot => number_for(builder, operand, Wanted::Integer)?,
        UnaryOp::Negate => match number_of_hex(operand) {
            Some(number) => as_real(number),
            None => number(builder, operand)?,
        },
    };
    let operand = if op == UnaryOp::Negate { with_all_digits(operand) } else { operand };
    if op == UnaryOp::Negate
        && let Some(negated) = negated_literal(&operand)
    {
        return Ok(negated);
    }
    let nullable = operand.kind.nullable;
    Ok(match op {
        UnaryOp::Not => truth(Expr::Not(boxed(operand)), nullable),
        UnaryOp::BitNot => match bits::bytes_inverted(operand) {
            Ok(bytes) => bytes,
            Err(number) => Typed {
                expr: Expr::BitNot(number),
                kind: ExprType::new(functions::any_whole(true), nullable),
            },
        },
        UnaryOp::Binary => {
            let bytes = functions::bytes_of_text(&operand.kind.column);
            let operand = functions::in_own_bytes(operand);
            let to = functions::bytes_type(bytes);
            Typed {
                expr: Expr::Coerce { operand: Box::new(operand.expr), to: to.clone() },
                kind: ExprType::new(to, nullable),
            }
        }
        UnaryOp::Negate => {
            let column = match &operand.kind.column {
                ColumnType::Decimal { precision, scale, .. } => ColumnType::Decimal {
                    precision: *precision,
                    scale: *scale,
                    unsigned: false,
                    zerofill: false,
                },
                kind if kind.is_integer() => negated_integer(kind),
                kind if kind.is_temporal() || *kind == ColumnType::Null => super::moment_as_real(kind),
                kind => match arithmetic_type(ArithmeticOp::Subtract, &ColumnType::BIGINT, kind, 0) {
                    ColumnType::Double { digits: Some((_, scale)), .. } => super::double_of_scale(scale),
                    other => other,
                },
            };
            let source = Some(Box::new(Source::of_negative(written, &*builder.resolver)));
            let expr = Expr::Negate { operand: Box::new(operand.expr), source };
            Typed { expr, kind: ExprType::new(column, nullable) }
        }
    })
}

fn binary(
    builder: &mut Builder<'_>,
    written: BinaryOp,
    left: &ast::Expr,
    right: &ast::Expr,
) -> SqlResult<Typed> {
    if let Some(op) = arithmetic_op(written) {
        let source =
            (!op.is_of_bits()).then(|| Box::new(Source::of_pair(written, left, right, &*builder.resolver)));
        let wanted = match op {
            ArithmeticOp::IntegerDivide => Wanted::Decimal,
            op if op.is_of_bits() => Wanted::Integer,
            _ => Wanted::Double,
        };
        let mut parts = Vec::with_capacity(2);
        for side in [left, right] {
            parts.push(with_all_digits(number_for(builder, side, wanted)?));
        }
        // A text is read, and told of, before a document behind it is.
        if functions::reads_document(&parts[1].expr) && parts[0].kind.column.is_character() {
            let text = parts.swap_remove(0);
            parts.insert(0, functions::text_as_number(text, wanted));
        }
        open::settle_operation(builder, op, [left, right], &parts);
        let [left, right] = match op.is_of_bits() {
            false => exactly(parts),
            true => match bits::bits_of_bytes(builder, op, [left, right], exactly(parts))? {
                Ok(bytes) => return Ok(bytes),
                Err(numbers) => numbers,
            },
        };
        let digits = builder.settings.division_digits;
        let column = arithmetic_type(op, &counted(&left), &counted(&right), digits);
        let divides = matches!(op, ArithmeticOp::Divide | ArithmeticOp::IntegerDivide | ArithmeticOp::Modulo);
        let nullable = divides || left.kind.nullable || right.kind.nullable;
        let expr = own_digits::computed(op, (left, right), &column, source);
        return Ok(Typed { expr, kind: ExprType::new(column, nullable) });
    }
    match written {
        BinaryOp::Xor => {
            let (left, right) = (condition(builder, left)?, condition(builder, right)?);
            let nullable = left.kind.nullable || right.kind.nullable;
            Ok(truth(Expr::Xor(boxed(left), boxed(right)), nullable))
        }
        BinaryOp::Concat => {
            let arguments = vec![builder.build(left)?, builder.build(right)?];
            functions::bind_function("concat", arguments, builder.settings)
        }
        op => condition::comparison(builder, CompareOp::of(op), left, right),
    }
}

fn date_expression(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    let (expr, column) = match expr {
        ast::Expr::DateArithmetic { date, amount, unit, subtract } => {
            open::settle_summands(builder, date, amount, *unit);
            let date = functions::as_summand(builder.build(date)?, source_of(date));
            let amount = match functions::wanted_amount(*unit) {
                Some(wanted) => number_for(builder, amount, wanted)?,
                None => builder.build(amount)?,
            };
            let column = functions::date_arithmetic_type(&date.kind.column, &amount.kind.column, *unit);
            let finer = column.is_temporal() && column.wire_decimals() > date.kind.column.wire_decimals();
            let (date, amount) = (boxed(date), boxed(amount));
            // Of other results no more is told than that they are beyond every date.
            let named = matches!(column, ColumnType::Date | ColumnType::Time { .. });
            let source = named.then(|| Box::new(Source::of(expr, &*builder.resolver)));
            let expr = Expr::DateArithmetic { date, amount, unit: *unit, subtract: *subtract, source };
            let shown = |operand| Expr::Coerce { operand: Box::new(operand), to: column.clone() };
            (if finer { shown(expr) } else { expr }, column)
        }
        ast::Expr::TimestampDiff { unit, from, to } => {
            builder.settle_all(&[from, to], Hold::Argument, ParameterKind::DateTime);
            let from = boxed(temporal(builder, from, functions::MOMENT)?);
            let to = boxed(temporal(builder, to, functions::MOMENT)?);
            (Expr::TimestampDiff { unit: *unit, from, to }, functions::any_whole(false))
        }
        ast::Expr::Extract { unit, operand } => {
            open::settle_moments(builder, &[operand]);
            let wanted = if functions::is_clock_unit(*unit) { functions::TIME } else { functions::MOMENT };
            let operand = boxed(temporal(builder, operand, wanted)?);
            (Expr::Extract { unit: *unit, operand }, functions::extracted(*unit))
        }
        _ => return Err(SqlError::not_supported_yet("this date expression")),
    };
    let traits = if column.is_character() { Traits::ASCII } else { Traits::of(&column) };
    Ok(Typed { expr, kind: ExprType::nullable(column).with_traits(traits) })
}

fn function(builder: &mut Builder<'_>, call: &ast::FunctionCall) -> SqlResult<Typed> {
    if super::AggregateKind::of(call).is_some() {
        return builder.resolver.aggregate(call);
    }
    let count = |wanted: usize| {
        if call.arguments.len() == wanted {
            Ok(())
        } else {
            Err(SqlError::wrong_parameter_count(call.written()))
        }
    };
    match &*call.name {
        "if" => {
            count(3)?;
            let branch = (call.arguments[0].clone(), call.arguments[1].clone());
            choice::case(builder, "if", None, std::slice::from_ref(&branch), Some(&call.arguments[2]))
        }
        "ifnull" | "coalesce" => {
            if call.name.as_ref() == "ifnull" {
                count(2)?;
            }
            choice::coalesce(builder, &call.name, &call.arguments)
        }
        "nullif" => {
            count(2)?;
            choice::null_if(builder, &call.arguments[0], &call.arguments[1])
        }
        "grouping" => builder.resolver.grouping(call),
        // Its value is that of the first row of a group; only what ONLY_FULL_GROUP_BY refuses is
        // different.
        "any_value" => {
            count(1)?;
            let mut typed =
                super::infer::without_members(with_all_digits(builder.build(&call.arguments[0])?));
            typed.kind.column = super::infer::signed(typed.kind.column);
            Ok(typed)
        }
        "isnull" => {
            count(1)?;
            let operand = boxed(builder.build(&call.arguments[0])?);
            Ok(truth(Expr::Is { operand, test: ast::IsTest::Null, negated: false }, false))
        }
        "sleep" => {
            count(1)?;
            builder.settle_argument("sleep", 0, &call.arguments[0]);
            let expr = Expr::Sleep(boxed(builder.build(&call.arguments[0])?));
            Ok(Typed { expr, kind: truth_type(false) })
        }
        "benchmark" => {
            count(2)?;
            builder.settle_argument("benchmark", 0, &call.arguments[0]);
            let arguments = builder.build_all(&call.arguments)?.into_iter().map(|one| one.expr).collect();
            Ok(Typed { expr: Expr::Benchmark(arguments), kind: functions::benchmark_type() })
        }
        "name_const" => {
            count(2).and_then(|()| named_constant(builder, &call.arguments[0], &call.arguments[1]))
        }
        "get_lock" => count(2).and(Err(SqlError::not_supported_yet("GET_LOCK in this place"))),
        name => tabled(builder, name, call),
    }
}

/// A function of the table.
fn tabled(builder: &mut Builder<'_>, name: &str, call: &ast::FunctionCall) -> SqlResult<Typed> {
    if matches!(name, "greatest" | "least") {
        return choice::extreme(builder, call);
    }
    // What TRIM takes away is no argument of these.
    if matches!(name, "ltrim" | "rtrim") && call.arguments.len() != 1 {
        return Err(SqlError::wrong_parameter_count(call.written()));
    }
    let (mut arguments, field) = match name {
        "field" => field::field(builder, &call.arguments)?,
        _ => (arguments(builder, name, &call.arguments)?, None),
    };
    if name == "strcmp" {
        arguments = super::beside_column::kept_texts(arguments)?;
    }
    if matches!(name, "field" | "format" | "interval") {
        arguments = arguments.into_iter().map(with_all_of_average).collect();
    }
    open::settle_arguments(builder, name, &call.arguments, &arguments);
    let bits = name == "conv"
        && (call.arguments.first().is_some_and(|one| number_of_hex(one).is_some())
            || arguments.first().is_some_and(functions::is_bits));
    let of_average = matches!(name, "round" | "truncate") && own_digits::take_average(&mut arguments);
    let digits_by_row = of_average
        || matches!(name, "round" | "truncate")
            && arguments.get(1).is_some_and(|places| !matches!(places.expr, Expr::Literal(_)));
    let bound = functions::bind_function(name, arguments, builder.settings);
    let mut typed = bound.map_err(|error| builder.resolver.unbound(error, call))?;
    let other = if bits { Some(functions::CONV_OF_BITS) } else { field };
    if let (Some(function), Expr::Call(bound)) = (other, &mut typed.expr)
        && let Some(bound) = std::sync::Arc::get_mut(bound)
    {
        bound.function = function;
    }
    if functions::tells_of_arguments(name)
        && let Expr::Call(bound) = &mut typed.expr
        && let Some(bound) = std::sync::Arc::get_mut(bound)
    {
        let sources = call.arguments.iter().map(|one| Source::of(one, &*builder.resolver));
        bound.sources = Some(sources.collect());
    }
    if digits_by_row && let to @ ColumnType::Decimal { .. } = typed.kind.column.clone() {
        typed.expr = Expr::Coerce { operand: Box::new(typed.expr), to };
    }
    Ok(typed)
}

/// NAME_CONST(name, value): the value, which has to be a literal; the parser has taken its name for the
/// heading.
fn named_constant(builder: &mut Builder<'_>, name: &ast::Expr, value: &ast::Expr) -> SqlResult<Typed> {
    let name = builder.build(name)?;
    let is_literal = |expr: &ast::Expr| {
        let moment = |literal: &ast::Literal| {
            matches!(literal, ast::Literal::Date(_) | ast::Literal::Time(_) | ast::Literal::Timestamp(_))
        };
        matches!(expr, ast::Expr::Literal(literal) if !moment(literal))
            || matches!(expr, ast::Expr::Unary { op: UnaryOp::Negate, operand } if matches!(**operand, ast::Expr::Literal(_)))
    };
    let of_value = match value {
        ast::Expr::Collate { operand, .. } => is_literal(operand),
        other => is_literal(other),
    };
    match name.expr {
        Expr::Literal(Value::Null) => Err(SqlError::name_const_reserved()),
        Expr::Literal(_) if of_value => {
            let mut typed = builder.build(value)?;
            typed.kind.nullable = true;
            Ok(typed)
        }
        _ => Err(SqlError::wrong_arguments("NAME_CONST")),
    }
}

/// Binds the arguments of an ordinary function.
pub(super) fn arguments(builder: &mut Builder<'_>, name: &str, parts: &[ast::Expr]) -> SqlResult<Vec<Typed>> {
    let numeric = functions::takes_numbers(name);
    let mut arguments = Vec::new();
    for (nth, argument) in parts.iter().enumerate() {
        if let ast::Expr::Literal(ast::Literal::Bool(value)) = argument
            && functions::takes_document(name, nth)
        {
            arguments.push(functions::truth_document(*value));
            continue;
        }
        if argument.is_query()
            && !matches!(argument, ast::Expr::Subquery(_))
            && functions::takes_document(name, nth)
        {
            arguments.push(functions::truth_as_document(builder.build(argument)?));
            continue;
        }
        let bits = nth == 0 && functions::writes_digits(name) && number_of_hex(argument).is_some();
        let mut bound = match functions::wanted_number(name, nth, numeric || bits) {
            _ if open::counts_given_bits(name, argument) => open::given_bits(builder, argument)?,
            Some(wanted) if numeric || bits => {
                if let Some(number) = number_of_hex(argument).filter(|_| rounds_hex(name, nth)) {
                    arguments.push(if name == "abs" { as_absolute(number) } else { as_real(number) });
                    continue;
                }
                let number = with_all_digits(number_for(builder, argument, wanted)?);
                // These give a number of as many digits as they take.
                let rounds = matches!(name, "abs" | "round" | "truncate");
                let exact = matches!(name, "floor" | "ceil" | "ceiling" | "mod" | "sign");
                match (rounds, exact) {
                    (true, _) => number,
                    (_, true) => with_all_of_average(number),
                    _ => own_digits::as_double_of_average(number),
                }
            }
            Some(wanted) => number_for(builder, argument, wanted)?,
            None => super::choice::of_full_width(builder.build(argument)?, builder.resolver),
        };
        if functions::reads_count_twice(name, nth, arguments.first().map(|first: &Typed| &first.kind.column))
            && let Expr::Literal(Value::Str(text)) = &bound.expr
        {
            let (number, whole) = parse_integer_prefix(text.as_bytes());
            if !whole || i64::try_from(number).is_err() && u64::try_from(number).is_err() {
                builder.resolver.warn(SqlError::truncated_wrong_value("INTEGER", shown(text.as_bytes())));
            }
        }
        if let Some(wanted) = functions::temporal_argument(name, nth) {
            let document = (name == "unix_timestamp" && bound.kind.column == ColumnType::Json)
                .then(|| bound.expr.clone());
            bound = functions::as_temporal(bound, wanted, source_of(argument));
            if let Some(document) = document {
                bound = functions::or_beginning(bound, document);
            }
        }
        arguments.push(bound);
    }
    Ok(arguments)
}

/// What a warning about a document calls the expression it comes from.
pub(crate) fn source_of(expr: &ast::Expr) -> &str {
    match expr {
        ast::Expr::Column(name) => &name.column,
        ast::Expr::Cast { .. } => "cast_as_json",
        ast::Expr::Function(call) => &call.name,
        _ => "",
    }
}

/// A document as a condition: true unless it is the number 0. Anything else is its own condition, a long text
/// the number it begins with.
pub fn document_holds(typed: Typed) -> Typed {
    if typed.kind.column != ColumnType::Json {
        return read_silently(typed, Wanted::Double);
    }
    let nullable = typed.kind.nullable;
    let zero = Typed { expr: Expr::int(0), kind: ExprType::not_null(ColumnType::BIGINT) };
    let (left, right) = (boxed(functions::as_order(typed)), boxed(functions::as_order(zero)));
    truth(Expr::Compare { op: CompareOp::NotEqual, left, right, collation: Collation::Binary }, nullable)
}
