//! The text of an expression in a message: `BIGINT value is out of range in '(`shop`.`item`.`stock` - 2)'`.
//!
//! It is made from the syntax tree when the expression is bound, and kept beside the operators and calls that
//! may have to tell of themselves; what evaluates them reads it only when there is a message. The literals of
//! a template have their values put in then. It says what MySQL says, which prints an expression its own way:
//! every operator in parentheses, columns with database and table, functions by the first of their names, and
//! `0 <> x` for a number that is a condition.

mod writer;

use turnstile_syntax::ast::{BinaryOp, Expr, UnaryOp};
use turnstile_values::error::{ErrorKind, SqlError};
use turnstile_values::value::{Value, to_text};

use super::{EvalContext, Resolver};
use writer::Writer;

/// No message of MySQL is longer.
const MESSAGE_BYTES_MAX: usize = 511;

/// The text of an expression, with holes for the values of a template's literals.
#[derive(Debug, Clone)]
pub struct Source {
    text: Box<str>,
    /// Where in the text which parameter's value goes.
    holes: Box<[(usize, usize)]>,
}

impl Source {
    /// Of an expression.
    pub(super) fn of(expr: &Expr, resolver: &dyn Resolver) -> Source {
        Self::written(resolver, |writer| writer.expr(expr))
    }

    /// Of a column, whose name messages show alone, or any other expression.
    pub(super) fn named(expr: &Expr, resolver: &dyn Resolver) -> Source {
        match expr {
            Expr::Column(name) => Source { text: name.column.to_string().into(), holes: [].into() },
            other => Self::of(other, resolver),
        }
    }

    /// Of an operator with two operands.
    pub(super) fn of_pair(op: BinaryOp, left: &Expr, right: &Expr, resolver: &dyn Resolver) -> Source {
        Self::written(resolver, |writer| writer.pair(left, operator(op), right))
    }

    /// Of a unary minus.
    pub(super) fn of_negative(operand: &Expr, resolver: &dyn Resolver) -> Source {
        Self::written(resolver, |writer| writer.call("-", &[operand]))
    }

    fn written(resolver: &dyn Resolver, write: impl FnOnce(&mut Writer<'_>)) -> Source {
        let mut writer = Writer { resolver, text: String::new(), holes: Vec::new() };
        write(&mut writer);
        Source { text: writer.text.into(), holes: writer.holes.into() }
    }

    /// The text without the values of parameters.
    pub(super) fn plain_text(&self) -> String {
        self.text.to_string()
    }

    /// The text, for whoever evaluates the expression.
    pub fn text(&self, context: &EvalContext<'_>) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for (at, parameter) in &self.holes {
            text.push_str(&self.text[from..*at]);
            from = *at;
            text.push_str(&context.parameters.get(*parameter).map_or_else(String::new, literal_value));
        }
        text + &self.text[from..]
    }
}

/// Error 1690 about an expression: what was raised where only its operands are known, with its text.
pub(super) fn in_source(error: SqlError, text: impl FnOnce() -> Option<String>) -> SqlError {
    let (ErrorKind::OutOfRange, Some(text)) = (error.kind(), text()) else { return error };
    let kind = error.message.split(" value is").next().unwrap_or_default();
    let mut named = SqlError::value_out_of_range(kind, text);
    let end = (0..=named.message.len().min(MESSAGE_BYTES_MAX)).rev();
    let end = end.into_iter().find(|at| named.message.is_char_boundary(*at)).unwrap_or(0);
    named.message.truncate(end);
    named
}

/// As much of a text as a message can show: the operators around a long literal do not keep it each for
/// themselves.
fn within_message(text: &str) -> &str {
    &text[..text.floor_char_boundary(MESSAGE_BYTES_MAX)]
}

/// A value as the literal that it was.
fn literal_value(value: &Value) -> String {
    match value {
        Value::Str(text) => quoted(text),
        other => signed(&to_text(other)),
    }
}

fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(digits) => format!("-({digits})"),
        None => number.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let text = within_message(text);
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('\'');
    for character in text.chars() {
        match character {
            '\\' => shown.push_str("\\\\"),
            '\'' => shown.push_str("\\'"),
            '\0' => shown.push_str("\\0"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\u{1a}' => shown.push_str("\\Z"),
            other => shown.push(other),
        }
    }
    shown + "'"
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Xor => " xor ",
        BinaryOp::Equal => " = ",
        BinaryOp::NullSafeEqual => " <=> ",
        BinaryOp::NotEqual => " <> ",
        BinaryOp::Less => " < ",
        BinaryOp::LessOrEqual => " <= ",
        BinaryOp::Greater => " > ",
        BinaryOp::GreaterOrEqual => " >= ",
        BinaryOp::BitOr => " | ",
        BinaryOp::BitAnd => " & ",
        BinaryOp::BitXor => " ^ ",
        BinaryOp::ShiftLeft => " << ",
        BinaryOp::ShiftRight => " >> ",
        BinaryOp::Add => " + ",
        BinaryOp::Subtract => " - ",
        BinaryOp::Multiply => " * ",
        BinaryOp::Divide => " / ",
        BinaryOp::IntegerDivide => " DIV ",
        BinaryOp::Modulo => " % ",
        BinaryOp::Concat => ",",
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterOrEqual,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessOrEqual,
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// Whether it is a condition by itself, and no number that is asked whether it is 0.
fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Binary { op, .. } => {
            *op == BinaryOp::Xor || *op == BinaryOp::NullSafeEqual || opposite(*op).is_some()
        }
        Expr::Function(call) => matches!(&*call.name, "isnull" | "regexp_like"),
        other => matches!(
            other,
            Expr::And(_)
                | Expr::Or(_)
                | Expr::Is { .. }
                | Expr::Between { .. }
                | Expr::InList { .. }
                | Expr::Like { .. }
                | Expr::Regexp { .. }
                | Expr::Exists(_)
                | Expr::InSubquery { .. }
                | Expr::Quantified { .. }
                | Expr::Unary { op: UnaryOp::Not, .. }
        ),
    }
}

/// The name that MySQL prints a function by.
pub fn printed_name(name: &str) -> &str {
    match name {
        "substring" => "substr",
        "power" => "pow",
        "ceil" => "ceiling",
        "lcase" => "lower",
        "ucase" => "upper",
        "day" => "dayofmonth",
        "octet_length" => "length",
        "character_length" => "char_length",
        "stddev" | "stddev_pop" => "std",
        other => other,
    }
}
