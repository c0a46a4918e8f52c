//! Result types, rows with columns.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod lookup;

use std::sync::Arc;

use turnstile_syntax::ast::{BinaryOp, ColumnName, Expr as Ast, FunctionCall, Literal};
use turnstile_values::collation::Collation;
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::*;

struct OneTable(Vec<(&'static str, ColumnType)>);

impl Resolver for OneTable {
    fn column(&mut self, name: &ColumnName) -> SqlResult<(usize, ExprType)> {
        let place = self.0.iter().position(|(column, _)| *column == &*name.column);
        let place = place.ok_or_else(|| SqlError::unknown_column(&name.column, "where clause"))?;
        Ok((place, ExprType::nullable(self.0[place].1.clone())))
    }
}

fn column(name: &str) -> Ast {
    Ast::Column(ColumnName { schema: None, table: None, column: name.into() })
}

fn binary(op: BinaryOp, left: Ast, right: Ast) -> Ast {
    Ast::Binary { op, left: Box::new(left), right: Box::new(right) }
}

fn text(text: &str) -> Ast {
    Ast::Literal(Literal::String(turnstile_syntax::ast::StringLiteral {
        bytes: text.as_bytes().into(),
        introducer: None,
    }))
}

#[test]
fn columns_types_and_collations() {
    let mut table = OneTable(vec![
        ("id", ColumnType::INT),
        ("price", ColumnType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false }),
        ("name", ColumnType::Varchar { length: 20, collation: Collation::Utf8mb4Bin }),
        ("at", ColumnType::Timestamp { fsp: 0 }),
    ]);
    let zone = turnstile_values::datetime::TimeZone::parse("+01:00").unwrap();
    let settings = EvalSettings { time_zone: zone, ..EvalSettings::default() };
    let warnings = Warnings::new();
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    let row = vec![
        Value::Int(7),
        Value::Decimal(Decimal::parse("1.50").unwrap()),
        Value::text("Ann"),
        Value::DateTime(turnstile_values::datetime::DateTime::from_unix_us(0, 0).unwrap()),
    ];
    let mut check = |expr: &Ast, value: &str, kind: &str| {
        let typed = bind(expr, &mut table, &settings).unwrap();
        let found = typed.expr.eval(&row, &context).unwrap();
        assert_eq!(
            (&*turnstile_values::value::to_text(&found), typed.kind.column.to_string().as_str()),
            (value, kind)
        );
    };
    check(&binary(BinaryOp::Add, column("id"), Ast::Literal(Literal::Int(1))), "8", "bigint");
    check(&binary(BinaryOp::Multiply, column("price"), column("id")), "10.50", "decimal(20,2)");
    check(&binary(BinaryOp::Divide, column("price"), column("id")), "0.214286", "decimal(14,6)");
    check(&binary(BinaryOp::Equal, column("name"), text("ann")), "0", "bigint");
    check(&column("at"), "1970-01-01 01:00:00", "timestamp");
    let upper = FunctionCall { arguments: vec![column("name")], ..FunctionCall::named("upper") };
    check(&Ast::Function(Box::new(upper)), "ANN", "varchar(20)");
    assert_eq!(bind(&column("nope"), &mut table, &settings).unwrap_err().code, 1054);
}

#[test]
fn trees_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let warnings = Warnings::new();
    let context = EvalContext {
        settings: EvalSettings::default(),
        parameters: &[],
        session: &NoSession,
        warnings: &warnings,
    };
    shared(&Arc::new(Expr::int(1)));
    shared(&context.warnings);
    assert!(Expr::int(1).is_constant());
    assert!(!Expr::Column(0).is_constant());
    assert!(std::mem::size_of::<Value>() <= 32);
}

/// Two hundred operators around a literal of megabytes keep no copies of it.
#[test]
fn texts_for_messages_are_short() {
    let table = OneTable(Vec::new());
    let long = "9".repeat(1 << 20);
    let literals = [
        text(&long),
        text(&"ä'\\".repeat(1 << 18)),
        Ast::Literal(Literal::Hex(vec![b'a'; 1 << 20].into())),
        Ast::Literal(Literal::Decimal(long.as_str().into())),
        Ast::Literal(Literal::Date(long.as_bytes().into())),
        Ast::Row(vec![Ast::Literal(Literal::Null); 100_000]),
    ];
    for literal in literals {
        let expr = binary(BinaryOp::Add, binary(BinaryOp::Add, literal, text("b")), text("c"));
        let source = super::source::Source::of(&expr, &table).plain_text();
        assert!((512..=4096).contains(&source.len()), "{}", source.len());
    }
}

#[test]
fn a_double_of_more_digits_behind_the_point_than_in_all_meets_a_float() {
    let float = ColumnType::Float { unsigned: false, digits: Some((10, 2)), zerofill: false };
    let double = ColumnType::Double { unsigned: false, digits: Some((22, 30)), zerofill: false };
    let common = ColumnType::Double { unsigned: false, digits: Some((38, 30)), zerofill: false };
    assert_eq!(unified_type(&double, &float), common);
}
