//! Writes an expression in its canonical text.

use std::fmt::Write;

use turnstile_syntax::ast::{
    BinaryOp, CastType, Expr, IsTest, Literal, TrimSide, UnaryOp, quote_name, unit_text,
};

use super::output::Output;
use super::query::{write_asked, write_function};
use super::quote_in_expression;

pub(super) fn write_list(list: &[Expr], between: &str, out: &mut Output) {
    for (nth, one) in list.iter().enumerate() {
        if nth > 0 {
            out.push_str(between);
        }
        write_expr(one, out);
    }
}

/// `(one between next between last)`
pub(super) fn write_group(list: &[Expr], between: &str, out: &mut Output) {
    out.push('(');
    write_list(list, between, out);
    out.push(')');
}

fn write_call(name: &str, arguments: &[&Expr], out: &mut Output) {
    out.push_str(name);
    out.push('(');
    for (nth, one) in arguments.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write_expr(one, out);
    }
    out.push(')');
}

/// `(left middle right)`
fn write_pair(left: &Expr, middle: &str, right: &Expr, out: &mut Output) {
    out.push('(');
    write_expr(left, out);
    out.push_str(middle);
    write_expr(right, out);
    out.push(')');
}

pub(super) fn write_expr(expr: &Expr, out: &mut Output) {
    match expr {
        Expr::Literal(literal) => write_literal(literal, out),
        Expr::Column(name) => out.column(name),
        Expr::Unary { op, operand } => write_unary(*op, operand, out),
        Expr::Binary { op: BinaryOp::Concat, left, right } => write_call("concat", &[left, right], out),
        Expr::Binary { op, left, right } if write_rows(*op, left, right, out) => {}
        Expr::Binary { op, left, right } => write_pair(left, &format!(" {} ", operator(*op)), right, out),
        Expr::And(list) => write_group(list, " and ", out),
        Expr::Or(list) => write_group(list, " or ", out),
        Expr::Row(list) => write_group(list, ",", out),
        Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. } => write_predicate(expr, out),
        Expr::Case { operand, branches, otherwise } => {
            write_case(operand.as_deref(), branches, otherwise.as_deref(), out);
        }
        Expr::Cast { operand, target } if write_json_value(operand, target, out) => {}
        Expr::Cast { operand, target } => {
            out.push_str("cast(");
            write_expr(operand, out);
            let _ = write!(out, " as {})", cast_text(target));
        }
        Expr::ConvertUsing { operand, charset } => {
            out.push_str("convert(");
            write_expr(operand, out);
            let _ = write!(out, " using {charset})");
        }
        Expr::Collate { operand, collation } => {
            out.push('(');
            write_expr(operand, out);
            let _ = write!(out, " collate {collation})");
        }
        Expr::Function(call) if *call.name == *"member of" && call.arguments.len() == 2 => {
            out.push('(');
            write_expr(&call.arguments[0], out);
            out.push_str(" member of (");
            write_expr(&call.arguments[1], out);
            out.push_str("))");
        }
        Expr::Function(call) => write_function(call, out),
        Expr::DateArithmetic { .. }
        | Expr::TimestampDiff { .. }
        | Expr::Extract { .. }
        | Expr::Trim { .. } => write_special(expr, out),
        Expr::InSubquery { .. } | Expr::Quantified { .. } | Expr::Subquery(_) | Expr::Exists(_) => {
            write_asked(expr, out);
        }
        // Refused before anything is printed: they have no meaning in a definition.
        Expr::Parameter(_)
        | Expr::UserVariable(_)
        | Expr::SystemVariable { .. }
        | Expr::InsertedValue(_)
        | Expr::Assign { .. }
        | Expr::Default(None) => out.push('?'),
        Expr::Default(Some(name)) => {
            let _ = write!(out, "default({})", quote_name(&name.column));
        }
    }
}

/// An equality of rows, or its contrary, as that of their parts; false for any other comparison.
fn write_rows(op: BinaryOp, left: &Expr, right: &Expr, out: &mut Output) -> bool {
    let (Expr::Row(left), Expr::Row(right)) = (left, right) else { return false };
    let between = match op {
        BinaryOp::Equal | BinaryOp::NullSafeEqual => " and ",
        BinaryOp::NotEqual => " or ",
        _ => return false,
    };
    if left.len() != right.len() {
        return false;
    }
    out.push('(');
    for (nth, (left, right)) in left.iter().zip(right).enumerate() {
        if nth > 0 {
            out.push_str(between);
        }
        if !write_rows(op, left, right, out) {
            write_pair(left, &format!(" {} ", operator(op)), right, out);
        }
    }
    out.push(')');
    true
}

fn write_literal(literal: &Literal, out: &mut Output) {
    let hex = |bytes: &[u8], out: &mut Output| {
        let (before, behind) = out.around_bytes(bytes.is_empty());
        out.push_str(before);
        bytes.iter().for_each(|byte| {
            let _ = write!(out, "{byte:02x}");
        });
        out.push_str(behind);
    };
    let quoted = |word: &str, bytes: &[u8], out: &mut Output| {
        out.push_str(word);
        out.push_str(&quote_in_expression(&String::from_utf8_lossy(bytes)));
    };
    let _ = match literal {
        Literal::Null => write!(out, "NULL"),
        Literal::Bool(truth) => write!(out, "{truth}"),
        Literal::Int(number) => write!(out, "{number}"),
        Literal::Decimal(digits) => write!(out, "{digits}"),
        Literal::Double(number) => write!(out, "{number:e}"),
        Literal::String(string) if std::str::from_utf8(&string.bytes).is_err() => {
            hex(&string.bytes, out);
            Ok(())
        }
        Literal::String(string) => {
            let own = string.introducer.as_deref().or(out.introducer());
            quoted(&own.map_or(String::new(), |charset| format!("_{charset}")), &string.bytes, out);
            Ok(())
        }
        Literal::Hex(bytes) | Literal::Bit(bytes) => {
            hex(bytes, out);
            Ok(())
        }
        Literal::Date(text) => {
            quoted("DATE", text, out);
            Ok(())
        }
        Literal::Time(text) => {
            quoted("TIME", text, out);
            Ok(())
        }
        Literal::Timestamp(text) => {
            quoted("TIMESTAMP", text, out);
            Ok(())
        }
    };
}

fn write_unary(op: UnaryOp, operand: &Expr, out: &mut Output) {
    match (op, operand) {
        (UnaryOp::Negate, _) => write_call("-", &[operand], out),
        (UnaryOp::BitNot, _) => write_call("~", &[operand], out),
        (UnaryOp::Not, _) => {
            out.push('(');
            write_call("not", &[operand], out);
            out.push(')');
        }
        (UnaryOp::Binary, _) => {
            out.push_str("(binary ");
            write_expr(operand, out);
            out.push(')');
        }
    }
}

pub(super) fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Xor => "xor",
        BinaryOp::Equal => "=",
        BinaryOp::NullSafeEqual => "<=>",
        BinaryOp::NotEqual => "<>",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::BitOr => "|",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::IntegerDivide => "DIV",
        BinaryOp::Modulo => "%",
        BinaryOp::Concat => "||",
    }
}

fn write_predicate(expr: &Expr, out: &mut Output) {
    let not = |negated: bool| if negated { "not " } else { "" };
    match expr {
        Expr::Is { operand, test, negated } => {
            let test = match test {
                IsTest::Null => "null",
                IsTest::True => "true",
                IsTest::False => "false",
                IsTest::Unknown => "unknown",
            };
            out.push('(');
            write_expr(operand, out);
            let _ = write!(out, " is {}{test})", not(*negated));
        }
        Expr::Between { operand, low, high, negated } => {
            out.push('(');
            write_expr(operand, out);
            let _ = write!(out, " {}between ", not(*negated));
            write_expr(low, out);
            out.push_str(" and ");
            write_expr(high, out);
            out.push(')');
        }
        Expr::InList { operand, list, negated } => {
            out.push('(');
            write_expr(operand, out);
            let _ = write!(out, " {}in (", not(*negated));
            write_list(list, ",", out);
            out.push_str("))");
        }
        Expr::Like { operand, pattern, escape, negated } => {
            let (before, after) = if *negated { ("(not(", "))") } else { ("", "") };
            out.push_str(before);
            out.push('(');
            write_expr(operand, out);
            out.push_str(" like ");
            write_expr(pattern, out);
            if let Some(escape) = escape {
                out.push_str(" escape ");
                write_expr(escape, out);
            }
            out.push(')');
            out.push_str(after);
        }
        Expr::Regexp { operand, pattern, negated } => {
            let (before, after) = if *negated { ("(not(", "))") } else { ("", "") };
            out.push_str(before);
            write_call("regexp_like", &[operand, pattern], out);
            out.push_str(after);
        }
        _ => {}
    }
}

fn write_case(operand: Option<&Expr>, branches: &[(Expr, Expr)], otherwise: Option<&Expr>, out: &mut Output) {
    out.push_str("(case");
    let part = |word: &str, expr: &Expr, out: &mut Output| {
        out.push_str(word);
        write_expr(expr, out);
    };
    operand.iter().for_each(|one| part(" ", one, out));
    for (when, then) in branches {
        part(" when ", when, out);
        part(" then ", then, out);
    }
    otherwise.iter().for_each(|one| part(" else ", one, out));
    out.push_str(" end)");
}

/// JSON_VALUE, which is kept as a CAST; false for any other.
fn write_json_value(operand: &Expr, target: &CastType, out: &mut Output) -> bool {
    let Expr::Function(call) = operand else { return false };
    let ("json_value", [document, path, empty, empty_default, error, error_default]) =
        (&*call.name, &call.arguments[..])
    else {
        return false;
    };
    out.push_str("json_value(");
    write_expr(document, out);
    out.push_str(", ");
    // The path has no character set of its own.
    if let Expr::Literal(Literal::String(path)) = path {
        out.push_str(&quote_in_expression(&String::from_utf8_lossy(&path.bytes)));
    }
    let _ = write!(out, " returning {}", cast_text(target));
    for (mode, default, on) in [(empty, empty_default, "empty"), (error, error_default, "error")] {
        let Expr::Literal(Literal::String(mode)) = mode else { continue };
        match &*mode.bytes {
            b"default" => {
                out.push_str(" default ");
                write_bare_literal(default, out);
            }
            mode => out.push_str(&format!(" {}", String::from_utf8_lossy(mode))),
        }
        let _ = write!(out, " on {on}");
    }
    out.push(')');
    true
}

/// A literal without a character set of its own, after a sign.
fn write_bare_literal(expr: &Expr, out: &mut Output) {
    match expr {
        Expr::Literal(Literal::String(text)) => {
            out.push_str(&quote_in_expression(&String::from_utf8_lossy(&text.bytes)));
        }
        Expr::Unary { operand, .. } => {
            out.push('-');
            write_bare_literal(operand, out);
        }
        other => write_expr(other, out),
    }
}

fn cast_text(target: &CastType) -> String {
    let sized = |word: &str, size: &Option<u64>| match size {
        Some(size) => format!("{word}({size})"),
        None => word.to_string(),
    };
    match target {
        CastType::Binary(length) => sized("binary", length),
        CastType::Char { length, charset } => {
            let charset = charset.as_deref().map_or(String::new(), |name| format!(" charset {name}"));
            sized("char", length) + &charset
        }
        CastType::Signed => "signed".into(),
        CastType::Unsigned => "unsigned".into(),
        CastType::Date => "date".into(),
        CastType::Time(digits) => sized("time", digits),
        CastType::DateTime(digits) => sized("datetime", digits),
        CastType::Year => "year".into(),
        CastType::Decimal { precision: Some(precision), scale: Some(scale) } => {
            format!("decimal({precision},{scale})")
        }
        CastType::Decimal { precision, .. } => sized("decimal", precision),
        CastType::Float(bits) => sized("float", bits),
        CastType::Double => "double".into(),
        CastType::Json => "json".into(),
    }
}

/// MySQL prints some functions by another of their names.
pub(super) fn printed_name(name: &str) -> &str {
    match name {
        "substring" => "substr",
        other => other,
    }
}

/// What has a syntax of its own.
fn write_special(expr: &Expr, out: &mut Output) {
    match expr {
        Expr::DateArithmetic { date, amount, unit, subtract } => {
            out.push('(');
            write_expr(date, out);
            out.push_str(if *subtract { " - interval " } else { " + interval " });
            write_expr(amount, out);
            let _ = write!(out, " {})", unit_text(*unit));
        }
        Expr::TimestampDiff { unit, from, to } => {
            let _ = write!(out, "timestampdiff({},", unit_text(*unit));
            write_expr(from, out);
            out.push(',');
            write_expr(to, out);
            out.push(')');
        }
        Expr::Extract { unit, operand } => {
            let _ = write!(out, "extract({} from ", unit_text(*unit));
            write_expr(operand, out);
            out.push(')');
        }
        Expr::Trim { side, remove, operand } => {
            out.push_str(match (side, remove) {
                (TrimSide::Both, None) => "trim(",
                (TrimSide::Both, Some(_)) => "trim(both ",
                (TrimSide::Leading, _) => "trim(leading ",
                (TrimSide::Trailing, _) => "trim(trailing ",
            });
            if let Some(remove) = remove {
                write_expr(remove, out);
            }
            if remove.is_some() || *side != TrimSide::Both {
                out.push_str(" from ");
            }
            write_expr(operand, out);
            out.push(')');
        }
        _ => {}
    }
}
