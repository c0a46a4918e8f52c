//! What a `?` is by where it stands. An operand of one operation that is nothing but parameters is *open*: it
//! is what the other operands are, and where all are open, what the operation around them makes of it. The
//! grid of contexts is recorded in `tests/mysql/parameter_types.test`.

use turnstile_syntax::ast::{self, BinaryOp, UnaryOp};
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::{Derivation, Repertoire, Traits};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, equal_null_safe};

use super::build::Builder;
use super::parameter::{Hold, ParameterKind, is_misfit_moment};
use super::{ArithmeticOp, Call, EvalContext, Expr, Typed};

/// Whether the context of an expression decides what the parameters in it are.
pub(super) fn is_open(expr: &ast::Expr) -> bool {
    let mut none = true;
    let open = each_open(expr, false, &mut |_, _| none = false);
    open && !none
}

/// Visits the parameters that an open expression gives, with whether it gives them as numbers; false for one
/// that is not open.
fn each_open(expr: &ast::Expr, number: bool, visit: &mut dyn FnMut(u32, bool)) -> bool {
    match expr {
        ast::Expr::Parameter(at) => {
            visit(*at, number);
            true
        }
        ast::Expr::Unary { op: UnaryOp::Negate, operand } => each_open(operand, true, visit),
        ast::Expr::Binary { op, left, right } if is_arithmetic(*op) => {
            each_open(left, number, visit) && each_open(right, number, visit)
        }
        ast::Expr::Case { branches, otherwise, .. } => {
            let outputs = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
            all_open(outputs, number, visit)
        }
        ast::Expr::Function(call) => match (&*call.name, &call.arguments[..]) {
            ("coalesce" | "ifnull" | "nullif", arguments) => all_open(arguments.iter(), number, visit),
            ("if", [_, outputs @ ..]) => all_open(outputs.iter(), number, visit),
            ("abs" | "ceil" | "ceiling" | "floor", arguments) => all_open(arguments.iter(), true, visit),
            ("mod", arguments) => all_open(arguments.iter(), number, visit),
            _ => false,
        },
        _ => false,
    }
}

fn all_open<'e>(
    mut parts: impl Iterator<Item = &'e ast::Expr>,
    number: bool,
    visit: &mut dyn FnMut(u32, bool),
) -> bool {
    parts.all(|part| each_open(part, number, visit))
}

fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::IntegerDivide
            | BinaryOp::Modulo
    )
}

impl Builder<'_> {
    /// Open expressions are of a kind, whatever stands beside them.
    pub fn settle_all(&self, written: &[&ast::Expr], hold: Hold, kind: ParameterKind) {
        if !self.resolver.derives() {
            return;
        }
        let temporal = matches!(kind, ParameterKind::Date | ParameterKind::Time | ParameterKind::DateTime);
        let given = temporal && matches!(hold, Hold::Beside | Hold::Bounds | Hold::Output);
        for one in written.iter().filter(|one| is_open(one)) {
            each_open(one, false, &mut |at, number| {
                // What has lost its sign or its fraction is computed with as the DOUBLE that it is.
                if number && hold.computes() {
                    if hold == Hold::Computed {
                        let time = kind == ParameterKind::Time;
                        let hold = if time { Hold::RealOfTime } else { Hold::RealOfDay };
                        self.resolver.derive(at, hold, ParameterKind::Double);
                    }
                    return;
                }
                let hold = if number && given { Hold::Computed } else { hold };
                self.resolver.derive(at, hold, kind);
            });
        }
    }

    /// A value of a query, or one of several, whose rows a column of this type is given: a text that says a
    /// date or a time is that.
    pub fn settle_selected(&self, written: &ast::Expr, column: &ColumnType, joined: bool) {
        match column.is_temporal() {
            true => self.settle_all(&[written], Hold::Read, ParameterKind::of_column(column)),
            false if joined && matches!(written, ast::Expr::Parameter(_)) => {
                self.settle_all(&[written], Hold::Joined, ParameterKind::of_column(column))
            }
            false => settle_given(self, written, column),
        }
    }
}

/// The operands of one operation: the open ones are what the first of the others is, and `alone` where
/// there is no other.
pub(super) fn settle(
    builder: &Builder<'_>,
    hold: Hold,
    written: &[&ast::Expr],
    bound: &[Typed],
    alone: Option<ParameterKind>,
) {
    if !builder.resolver.derives() {
        return;
    }
    let closed = written.iter().zip(bound).find(|(one, _)| !is_open(one));
    match (closed, alone) {
        (Some((_, typed)), _) => {
            let of_null = typed.kind.traits.derivation == Derivation::Ignorable;
            let own = ParameterKind::of_column(&typed.kind.column);
            builder.settle_all(written, hold, if of_null { ParameterKind::OfNull } else { own })
        }
        (None, Some(kind)) => builder.settle_all(written, Hold::Weak, kind),
        (None, None) => {}
    }
}

/// The operand of `-` or `~`.
pub(super) fn settle_unary(builder: &Builder<'_>, op: UnaryOp, operand: &ast::Expr) {
    match op {
        UnaryOp::Negate => builder.settle_all(&[operand], Hold::Weak, ParameterKind::Double),
        UnaryOp::BitNot => builder.settle_all(&[operand], Hold::Beside, ParameterKind::Bytes),
        UnaryOp::Not | UnaryOp::Binary => {}
    }
}

/// The operands of an operator of arithmetic or of bits.
pub(super) fn settle_operation(
    builder: &Builder<'_>,
    op: ArithmeticOp,
    written: [&ast::Expr; 2],
    bound: &[Typed],
) {
    match op {
        ArithmeticOp::ShiftLeft | ArithmeticOp::ShiftRight => {
            builder.settle_all(&written[..1], Hold::Beside, ParameterKind::Bytes);
            builder.settle_all(&written[1..], Hold::Beside, ParameterKind::Int);
        }
        // A date is divided as a moment is: the divisor keeps what is behind its point.
        ArithmeticOp::IntegerDivide if written.iter().all(|one| is_open(one)) => {
            builder.settle_all(&written, Hold::Weak, ParameterKind::Int);
        }
        ArithmeticOp::IntegerDivide if bound.iter().any(|one| one.kind.column == ColumnType::Date) => {
            builder.settle_all(&written, Hold::Computed, ParameterKind::DateTime);
        }
        _ if bound.iter().any(|one| one.kind.column.is_temporal()) => {
            let hold = if op.is_of_bits() { Hold::Bits } else { Hold::Computed };
            settle(builder, hold, &written, bound, Some(ParameterKind::Double));
        }
        op if op.is_of_bits() => settle(builder, Hold::Beside, &written, bound, Some(ParameterKind::Bytes)),
        _ => settle(builder, Hold::Beside, &written, bound, Some(ParameterKind::Double)),
    }
}

/// A value that a column of this type is given.
pub(super) fn settle_given(builder: &Builder<'_>, written: &ast::Expr, column: &ColumnType) {
    let kind = ParameterKind::of_column(column);
    let direct = matches!(written, ast::Expr::Parameter(_));
    builder.settle_all(&[written], if direct { Hold::Stored } else { Hold::Output }, kind);
}

/// The arguments of a function of the table.
pub(super) fn settle_arguments(builder: &Builder<'_>, name: &str, written: &[ast::Expr], bound: &[Typed]) {
    if !builder.resolver.derives() {
        return;
    }
    let parts: Vec<&ast::Expr> = written.iter().collect();
    match name {
        "mod" => settle(builder, Hold::Beside, &parts, bound, Some(ParameterKind::Double)),
        "greatest" | "least" => settle(builder, Hold::Output, &parts, bound, Some(ParameterKind::Text)),
        "round" | "truncate" => {
            let (number, places) = parts.split_at(parts.len().min(1));
            builder.settle_all(number, Hold::Beside, ParameterKind::Decimal);
            builder.settle_all(places, Hold::Pinned, ParameterKind::Int);
        }
        "timediff" => {
            let temporal = bound.iter().any(|one| one.kind.column.is_temporal());
            let hold = if temporal { Hold::Argument } else { Hold::Beside };
            settle(builder, hold, &parts, bound, Some(ParameterKind::Text));
        }
        "abs" | "ceil" | "ceiling" | "floor" => builder.settle_all(&parts, Hold::Weak, ParameterKind::Double),
        "sign" | "sqrt" | "exp" | "ln" | "log" | "log2" | "log10" | "pow" | "power" | "sin" | "cos"
        | "tan" | "cot" | "asin" | "acos" | "atan" | "atan2" | "radians" | "degrees" => {
            builder.settle_all(&parts, Hold::Beside, ParameterKind::Double)
        }
        "bit_count" => builder.settle_all(&parts, Hold::Beside, ParameterKind::Bytes),
        _ => {
            for (nth, part) in parts.iter().enumerate() {
                builder.settle_argument(name, nth, part);
            }
        }
    }
}

impl Builder<'_> {
    /// One argument of a function.
    pub fn settle_argument(&self, name: &str, nth: usize, part: &ast::Expr) {
        use ParameterKind as Kind;
        let (hold, kind) = match crate::functions::argument_kind(name, nth) {
            None => (Hold::Beside, Kind::Text),
            Some(kind @ Kind::DateTime) if name != "time_format" => (Hold::Read, kind),
            Some(kind @ (Kind::DateTime | Kind::Time)) => (Hold::Argument, kind),
            Some(kind) if matches!(name, "bin" | "oct" | "conv") && nth == 0 => (Hold::Taken, kind),
            Some(kind) => (Hold::Pinned, kind),
        };
        self.settle_all(&[part], hold, kind);
    }
}

/// A `?`: its type is the value's, announced as a long string.
pub(super) fn parameter(builder: &Builder<'_>, position: u32) -> Typed {
    let collation = builder.settings.connection_collation;
    Typed {
        expr: Expr::Parameter(position as usize),
        kind: ExprType::nullable(ColumnType::Varchar { length: 16_383, collation })
            .with_traits(Traits { derivation: Derivation::Coercible, repertoire: Repertoire::Unicode }),
    }
}

/// Whether it is the argument of BIT_COUNT, which counts the bits of bytes.
pub(super) fn counts_given_bits(name: &str, argument: &ast::Expr) -> bool {
    name == "bit_count" && matches!(argument, ast::Expr::Parameter(_))
}

/// That argument: a text is its bytes.
pub(super) fn given_bits(builder: &mut Builder<'_>, argument: &ast::Expr) -> SqlResult<Typed> {
    let given = builder.build(argument)?;
    let to = given.kind.column.clone();
    Ok(if to.is_binary_string() { super::class::coerced(given, to) } else { given })
}

/// A date or a moment, and the amount of units that is added to it.
pub(super) fn settle_summands(
    builder: &Builder<'_>,
    date: &ast::Expr,
    amount: &ast::Expr,
    unit: ast::IntervalUnit,
) {
    let kind = crate::functions::summand_kind(unit);
    builder.settle_all(&[date], Hold::Argument, kind);
    builder.settle_all(&[amount], Hold::Pinned, crate::functions::amount_kind(unit));
}

/// Moments that are read by what the grammar knows.
pub(super) fn settle_moments(builder: &Builder<'_>, written: &[&ast::Expr]) {
    builder.settle_all(written, Hold::Read, ParameterKind::DateTime);
}

/// `<=>` of a `?` that is read as a moment: what says none is NULL, but is not NULL's equal.
pub(super) fn equal_to_moment(left: &Typed, right: &Typed) -> Option<Expr> {
    let (given, read, other) = match (given_as_moment(&left.expr), given_as_moment(&right.expr)) {
        (Some(given), None) => (given, left, right),
        (None, Some(given)) => (given, right, left),
        _ => return None,
    };
    let arguments = vec![given.clone(), read.expr.clone(), other.expr.clone()];
    Some(Call::new("<=>", equal_unless_misfit, arguments, ColumnType::BIGINT).into_expr())
}

fn given_as_moment(expr: &Expr) -> Option<&Expr> {
    let given = match expr {
        Expr::Coerce { operand, to } if to.is_temporal() => operand,
        Expr::Call(call) if is_misfit_moment(call) => call.arguments.first()?,
        _ => return None,
    };
    matches!(given, Expr::Parameter(_)).then_some(given)
}

fn equal_unless_misfit(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let [given, read, other] = arguments else { return Ok(Value::Null) };
    let misfit = read.is_null() && !given.is_null();
    Ok(Value::boolean(!misfit && equal_null_safe(read, other, Collation::Binary)))
}
