//! How operators group: each expression's tree as a Lisp-like text.

use super::*;
use crate::ast::{BinaryOp, Expr, IsTest, Literal, QueryBody, SelectItem, UnaryOp};

fn tree(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(tree).collect::<Vec<_>>().join(" ");
    let not = |negated: &bool| if *negated { "not-" } else { "" };
    match expr {
        Expr::Literal(Literal::Int(value)) => value.to_string(),
        Expr::Literal(Literal::String(string)) => {
            let introducer = string.introducer.as_deref().map(|name| format!("_{name}")).unwrap_or_default();
            format!("{introducer}'{}'", String::from_utf8_lossy(&string.bytes))
        }
        Expr::Literal(other) => format!("{other:?}"),
        Expr::Column(column) => match &column.table {
            Some(table) => format!("{table}.{}", column.column),
            None => column.column.to_string(),
        },
        Expr::Parameter(index) => format!("?{index}"),
        Expr::UserVariable(name) => format!("@{name}"),
        Expr::Unary { op, operand } => {
            let op = match op {
                UnaryOp::Negate => "neg",
                UnaryOp::BitNot => "~",
                UnaryOp::Not => "not",
                UnaryOp::Binary => "binary",
            };
            format!("({op} {})", tree(operand))
        }
        Expr::Binary { op, left, right } => format!("({} {} {})", symbol(*op), tree(left), tree(right)),
        Expr::And(terms) => format!("(and {})", list(terms)),
        Expr::Or(terms) => format!("(or {})", list(terms)),
        Expr::Is { operand, test, negated } => {
            let test = match test {
                IsTest::Null => "null",
                IsTest::True => "true",
                IsTest::False => "false",
                IsTest::Unknown => "unknown",
            };
            format!("({}is-{test} {})", not(negated), tree(operand))
        }
        Expr::Between { operand, low, high, negated } => {
            format!("({}between {} {} {})", not(negated), tree(operand), tree(low), tree(high))
        }
        Expr::InList { operand, list: items, negated } => {
            format!("({}in {} {})", not(negated), tree(operand), list(items))
        }
        Expr::InSubquery { operand, negated, .. } => format!("({}in-query {})", not(negated), tree(operand)),
        Expr::Like { operand, pattern, negated, .. } => {
            format!("({}like {} {})", not(negated), tree(operand), tree(pattern))
        }
        Expr::Regexp { operand, pattern, negated } => {
            format!("({}regexp {} {})", not(negated), tree(operand), tree(pattern))
        }
        Expr::Collate { operand, collation } => format!("(collate {} {collation})", tree(operand)),
        Expr::DateArithmetic { date, amount, unit, subtract } => {
            let sign = if *subtract { "-" } else { "+" };
            format!("(date{sign} {} {} {unit:?})", tree(date), tree(amount))
        }
        Expr::Assign { variable, value } => format!("(@{variable} := {})", tree(value)),
        Expr::Row(items) => format!("(row {})", list(items)),
        Expr::Function(function) => format!("({}() {})", function.name, list(&function.arguments)),
        Expr::Subquery(_) => "(query)".into(),
        Expr::Exists(_) => "(exists)".into(),
        Expr::Quantified { operand, op, quantifier, .. } => {
            format!("({} {quantifier:?} {})", symbol(*op), tree(operand))
        }
        other => format!("{other:?}"),
    }
}

fn symbol(op: BinaryOp) -> &'static str {
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
        BinaryOp::IntegerDivide => "div",
        BinaryOp::Modulo => "mod",
        BinaryOp::Concat => "||",
    }
}

fn first_item(text: &str, options: ParseOptions) -> Expr {
    let sql = format!("SELECT {text}");
    let parsed = parse(sql.as_bytes(), options).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let Statement::Select(query) = parsed.statement else { panic!("{sql}") };
    let QueryBody::Select(mut select) = query.body else { panic!("{sql}") };
    let SelectItem::Expr { expr, .. } = select.items.remove(0) else { panic!("{sql}") };
    expr
}

/// Text and tree under the default `sql_mode`.
const CASES: &[(&str, &str)] = &[
    ("a or b and c", "(or a (and b c))"),
    ("a || b && c", "(or a (and b c))"),
    ("a or b xor c and d", "(or a (xor b (and c d)))"),
    ("a xor b xor c", "(xor (xor a b) c)"),
    ("a and b and c or d or e", "(or (and a b c) d e)"),
    ("not a = b and c", "(and (not (= a b)) c)"),
    ("not not a", "(not (not a))"),
    ("not a is null", "(not (is-null a))"),
    ("!a = b", "(= (not a) b)"),
    ("! a + b", "(+ (not a) b)"),
    ("a = b = c", "(= (= a b) c)"),
    ("a = b is null", "(is-null (= a b))"),
    ("a is null = 1", "(= (is-null a) 1)"),
    ("a is not true and b", "(and (not-is-true a) b)"),
    ("a < b between 1 and 2", "(< a (between b 1 2))"),
    ("a between 1 and 2 and c", "(and (between a 1 2) c)"),
    ("a between b + 1 and c between 1 and 2", "(between a (+ b 1) (between c 1 2))"),
    ("a not in (1, 2) = b", "(= (not-in a 1 2) b)"),
    ("a like 'x' and b not like 'y'", "(and (like a 'x') (not-like b 'y'))"),
    ("a = b like c", "(= a (like b c))"),
    ("a rlike b", "(regexp a b)"),
    ("a | b & c", "(| a (& b c))"),
    ("a & b << c", "(& a (<< b c))"),
    ("a << b + c", "(<< a (+ b c))"),
    ("a + b * c", "(+ a (* b c))"),
    ("a - b - c", "(- (- a b) c)"),
    ("a * b ^ c", "(* a (^ b c))"),
    ("a mod b div c % d", "(mod (div (mod a b) c) d)"),
    ("-a ^ b", "(^ (neg a) b)"),
    ("- a * b", "(* (neg a) b)"),
    ("~a + b", "(+ (~ a) b)"),
    ("binary a = b", "(= (binary a) b)"),
    ("binary a collate utf8mb4_bin", "(binary (collate a utf8mb4_bin))"),
    ("-a collate utf8mb4_bin", "(neg (collate a utf8mb4_bin))"),
    ("a + b collate utf8mb4_bin", "(+ a (collate b utf8mb4_bin))"),
    ("d + interval 1 day", "(date+ d 1 Day)"),
    ("d - interval a + 1 hour + interval 2 day", "(date+ (date- d (+ a 1) Hour) 2 Day)"),
    ("interval 1 day + d", "(date+ d 1 Day)"),
    ("a + interval(1, 2, 3) * 2", "(+ a (* (interval() 1 2 3) 2))"),
    ("d + interval (1) + 2 day", "(date+ d (+ 1 2) Day)"),
    ("date_sub(d, interval 1 year_month)", "(date- d 1 YearMonth)"),
    ("adddate(d, 3)", "(date+ d 3 Day)"),
    ("@a := b = c", "(@a := (= b c))"),
    ("mod(a, b)", "(mod a b)"),
    ("'a' 'b' \"c\"", "'abc'"),
    ("_utf8mb4'x' = N'y'", "(= _utf8mb4'x' _utf8mb3'y')"),
    ("_latin1 x'4142'", "_latin1'AB'"),
    ("(a, b) in ((1, 2), row(3, 4))", "(in (row a b) (row 1 2) (row 3 4))"),
    ("a in ((select 1))", "(in-query a)"),
    ("a in ((select 1), 2)", "(in a (query) 2)"),
    ("((select 1)) + 1", "(+ (query) 1)"),
    ("((select 1) union (select 2))", "(query)"),
    ("a > all (select 1)", "(> All a)"),
    ("not exists (select 1)", "(not (exists))"),
    ("a sounds like b", "(= (soundex() a) (soundex() b))"),
    ("c->'$.a' = 1", "(= (json_extract() c '$.a') 1)"),
    ("a.b.c", "b.c"),
    ("{fn concat(a, b)}", "(concat() a b)"),
    ("if(a, b, c)", "(if() a b c)"),
    ("left(a, 1)", "(left() a 1)"),
    ("current_timestamp", "(now() )"),
    ("substring(a from 2 for 3)", "(substring() a 2 3)"),
    ("position(a in b)", "(locate() a b)"),
    ("9223372036854775808", "9223372036854775808"),
];

#[test]
fn default_mode() {
    for (text, expected) in CASES {
        assert_eq!(tree(&first_item(text, ParseOptions::default())), *expected, "{text}");
    }
}

#[test]
fn other_modes() {
    let options = ParseOptions { pipes_as_concat: true, ..ParseOptions::default() };
    assert_eq!(tree(&first_item("a || b = c ^ d || e", options)), "(= (|| a b) (^ c (|| d e)))");
    let options = ParseOptions { high_not_precedence: true, ..ParseOptions::default() };
    assert_eq!(tree(&first_item("not a between 1 and 2", options)), "(between (not a) 1 2)");
    let options = ParseOptions { ansi_quotes: true, ..ParseOptions::default() };
    assert_eq!(tree(&first_item("\"a\" = 'b'", options)), "(= a 'b')");
    let options = ParseOptions { no_backslash_escapes: true, ..ParseOptions::default() };
    assert_eq!(tree(&first_item(r"'a\' ", options)), r"'a\'");
}

#[test]
fn predicates_do_not_chain() {
    for text in ["a like b like c", "a in (1) in (2)", "a = not b", "a is true is true", "a between 1 and"] {
        assert!(parse(format!("SELECT {text}").as_bytes(), ParseOptions::default()).is_err(), "{text}");
    }
}

#[test]
fn literals() {
    let literal = |text: &str| match first_item(text, ParseOptions::default()) {
        Expr::Literal(literal) => literal,
        other => panic!("{other:?}"),
    };
    assert_eq!(literal("0x4d"), Literal::Hex(Box::new([0x4D])));
    assert_eq!(literal("X'4D'"), Literal::Hex(Box::new([0x4D])));
    assert_eq!(literal("0b101"), Literal::Bit(Box::new([5])));
    assert_eq!(literal("b'101'"), Literal::Bit(Box::new([5])));
    assert_eq!(literal("1.50"), Literal::Decimal("1.50".into()));
    assert_eq!(literal("18446744073709551616"), Literal::Decimal("18446744073709551616".into()));
    assert_eq!(literal("1e3"), Literal::Double(1000.0));
    assert_eq!(literal("date'2026-01-31'"), Literal::Date((*b"2026-01-31").into()));
    assert_eq!(literal("{ts '2026-01-31 00:00:00'}"), Literal::Timestamp((*b"2026-01-31 00:00:00").into()));
    assert_eq!(literal("null"), Literal::Null);
    assert_eq!(literal("true"), Literal::Bool(true));
}
