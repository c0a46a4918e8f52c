//! The corpus parses; and for statements where details matter, the details.

use super::corpus::STATEMENTS;
use super::*;
use crate::ast::*;

#[test]
fn the_corpus_parses() {
    let mut failed = Vec::new();
    for text in STATEMENTS {
        match parse(text.as_bytes(), ParseOptions::default()) {
            Ok(parsed) => assert_eq!(parsed.next, text.len(), "{text}"),
            Err(error) => failed.push(format!("{text}\n    {error}")),
        }
    }
    assert!(STATEMENTS.len() > 200);
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

fn select(text: &str) -> (Query, Select) {
    let Statement::Select(query) = parse_text(text) else { panic!("{text}") };
    let QueryBody::Select(select) = query.body.clone() else { panic!("{text}") };
    (*query, *select)
}

fn column_names(text: &str) -> Vec<String> {
    let name = |item: &SelectItem| match item {
        SelectItem::Wildcard { .. } => "*".to_string(),
        SelectItem::Expr { name, .. } => name.to_string(),
    };
    select(text).1.items.iter().map(name).collect()
}

#[test]
fn result_columns_are_named_after_their_text() {
    assert_eq!(
        column_names("SELECT a.b, 'x', NULL, 1 +  2 , @@version_comment, count( * ), c AS d, e 'f', -1"),
        ["b", "x", "NULL", "1 +  2", "@@version_comment", "count( * )", "d", "f", "-1"]
    );
}

#[test]
fn tails_belong_where_they_stand() {
    let (query, _) = select("SELECT a FROM t LIMIT 5, 10");
    let limit = query.limit.unwrap();
    assert_eq!(limit.count, Expr::Literal(Literal::Int(10)));
    assert_eq!(limit.offset, Some(Expr::Literal(Literal::Int(5))));
    let Statement::Select(query) = parse_text("SELECT 1 UNION SELECT 2 ORDER BY 1") else { panic!() };
    assert_eq!(query.order_by.len(), 1);
    let QueryBody::SetOperation { first, rest } = query.body else { panic!() };
    assert!(first.order_by.is_empty() && rest[0].1.order_by.is_empty());
    assert_eq!(rest[0].0, SetOperator::UnionDistinct);
    let (query, _) = select("SELECT 1 FROM t, u FOR SHARE OF t NOWAIT FOR UPDATE OF u SKIP LOCKED");
    assert_eq!(query.locking.len(), 2);
    assert_eq!((query.locking[0].strength, query.locking[0].wait), (LockStrength::Share, LockWait::NoWait));
    assert_eq!(
        (query.locking[1].strength, query.locking[1].wait),
        (LockStrength::Update, LockWait::SkipLocked)
    );
    let Statement::Select(query) = parse_text("(SELECT a FROM t LIMIT 1) LIMIT 2") else { panic!() };
    assert!(matches!(query.body, QueryBody::SetOperation { .. }));
}

fn joins(table: &TableRef) -> String {
    match table {
        TableRef::Table(factor) => factor.name.table.to_string(),
        TableRef::Derived { alias, .. } => format!("<{alias}>"),
        TableRef::Join(join) => {
            let on = match &join.condition {
                JoinCondition::None => "",
                JoinCondition::On(_) => " on",
                JoinCondition::Using(_) => " using",
                JoinCondition::Natural => " natural",
            };
            format!("({} {:?}{on} {})", joins(&join.left), join.kind, joins(&join.right))
        }
    }
}

#[test]
fn joins_group_as_their_conditions_say() {
    let cases = [
        ("a JOIN b ON 1 LEFT JOIN c ON 1", "((a Inner on b) Left on c)"),
        ("a LEFT JOIN b JOIN c ON 1 ON 1", "(a Left on (b Inner on c))"),
        ("a JOIN b JOIN c ON 1", "((a Inner b) Inner on c)"),
        ("a JOIN b JOIN c", "((a Inner b) Inner c)"),
        ("a NATURAL JOIN b LEFT JOIN c USING (x)", "((a Inner natural b) Left using c)"),
        ("a LEFT JOIN (b, c) ON 1", "(a Left on (b Inner c))"),
        ("((SELECT 1) d JOIN t)", "(<d> Inner t)"),
        ("((SELECT 1) UNION SELECT 2) d", "<d>"),
    ];
    for (text, expected) in cases {
        let (_, select) = select(&format!("SELECT * FROM {text}"));
        assert_eq!(joins(&select.from[0]), expected, "{text}");
    }
    assert!(parse(b"SELECT * FROM a LEFT JOIN b", ParseOptions::default()).is_err());
}

#[test]
fn set_keeps_scopes_apart() {
    let Statement::Set(items) = parse_text(
        "SET @a = 1, GLOBAL b = ON, c = utf8mb4, @@session.d = DEFAULT, PERSIST e = 'x', NAMES latin1, session = 1",
    ) else {
        panic!()
    };
    let scopes: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            SetItem::SystemVariable { scope, name, value } => Some((*scope, &**name, value.is_some())),
            _ => None,
        })
        .collect();
    use VariableScope as Scope;
    assert_eq!(
        scopes,
        [
            (Scope::Global, "b", true),
            (Scope::Default, "c", true),
            (Scope::Session, "d", false),
            (Scope::Persist, "e", true),
            (Scope::Default, "session", true)
        ]
    );
    let scope = |text: &str| match parse_text(text) {
        Statement::Set(items) => match items[0] {
            SetItem::Transaction { scope, .. } => scope,
            _ => panic!("{text}"),
        },
        _ => panic!("{text}"),
    };
    assert_eq!(scope("SET TRANSACTION READ ONLY"), TransactionScope::Next);
    assert_eq!(scope("SET SESSION TRANSACTION READ ONLY"), TransactionScope::Session);
    assert_eq!(scope("SET LOCAL TRANSACTION READ ONLY"), TransactionScope::Session);
    assert_eq!(scope("SET GLOBAL TRANSACTION READ ONLY"), TransactionScope::Global);
}

#[test]
fn create_table_keeps_everything() {
    let Statement::CreateTable(table) = parse_text(
        "CREATE TABLE s.t (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'c', a VARCHAR(10) CHARACTER SET Latin1 \
         BINARY DEFAULT 'x' ON UPDATE CURRENT_TIMESTAMP(3), b SERIAL, CONSTRAINT n UNIQUE KEY (a(3) DESC), PRIMARY KEY \
         (id)) ENGINE=InnoDB, AUTO_INCREMENT 7 MAX_ROWS = 5",
    ) else {
        panic!()
    };
    let id = &table.columns[0];
    assert!(id.column_type.unsigned && id.auto_increment && id.nullable == Some(false));
    assert_eq!(id.column_type.kind, TypeKind::BigInt);
    let a = &table.columns[1];
    assert_eq!((a.column_type.length, a.column_type.charset.as_deref()), (Some(10), Some("latin1")));
    assert!(a.column_type.binary_collation && a.default.is_some() && a.on_update == Some(3));
    let serial = &table.columns[2];
    assert!(serial.unique && serial.auto_increment && serial.column_type.unsigned);
    assert_eq!(table.keys[0].kind, KeyKind::Unique);
    assert_eq!(table.keys[0].name.as_deref(), Some("n"));
    assert_eq!((table.keys[0].parts[0].length, table.keys[0].parts[0].descending), (Some(3), true));
    assert_eq!(
        table.options,
        [
            TableOption::Engine("InnoDB".into()),
            TableOption::AutoIncrement(7),
            TableOption::Other("MAX_ROWS".into(), "5".into())
        ]
    );
}

#[test]
fn accounts() {
    let Statement::Grant(grant) = parse_text("GRANT SELECT (a), show view ON `d`.* TO 'u'@'H', CURRENT_USER")
    else {
        panic!()
    };
    assert_eq!(grant.level, PrivilegeLevel::Schema("d".into()));
    assert_eq!(&*grant.privileges[1].name, "SHOW VIEW");
    assert_eq!((&*grant.users[0].user, &*grant.users[0].host), ("u", "h"));
    assert!(grant.users[1].is_current());
    let Statement::DropUser { users, .. } = parse_text("DROP USER a, b@c, 'd' @ 'e'") else { panic!() };
    assert_eq!(users.iter().map(|user| &*user.host).collect::<Vec<_>>(), ["%", "c", "e"]);
}

#[test]
fn insert_forms() {
    let Statement::Insert(insert) =
        parse_text("INSERT INTO t SET a = 1, t.b = 2 AS n ON DUPLICATE KEY UPDATE a = n.a")
    else {
        panic!()
    };
    assert_eq!(insert.columns, ["a".into(), "b".into()]);
    assert!(insert.row_alias.is_some() && insert.on_duplicate.len() == 1);
    assert!(matches!(&insert.source, InsertSource::Rows(rows) if rows.len() == 1 && rows[0].len() == 2));
}

/// Many rows of `row`, long enough to be read as literals.
fn many_rows(row: &str) -> String {
    format!(
        "INSERT INTO t VALUES {} ON DUPLICATE KEY UPDATE a = 1",
        vec![row; 20_000 / row.len() + 1].join(", ")
    )
}

#[test]
fn long_values_of_plain_literals_are_kept_as_text() {
    let row = r"(1, -22, NULL, 'it''s \\n', '')";
    let Statement::Insert(insert) = parse_text(&many_rows(row)) else { panic!() };
    let InsertSource::Literals(rows) = &insert.source else { panic!("a tree") };
    assert!(insert.on_duplicate.len() == 1 && rows.width() == 5 && rows.len() == 20_000 / row.len() + 1);
    let texts: Vec<_> = rows.row(rows.len() - 1).collect();
    assert_eq!(
        texts,
        [
            (LiteralKind::Integer, &b"1"[..]),
            (LiteralKind::NegativeInteger, b"22"),
            (LiteralKind::Null, b"NULL"),
            (LiteralKind::String, br"'it''s \\n'"),
            (LiteralKind::String, b"''"),
        ]
    );
}

#[test]
fn long_values_of_anything_else_are_a_tree() {
    let others =
        ["1 + 1", "1.5", "x'4D'", "'a' 'b'", "DEFAULT", "?", "1234567890123456789", "-'1'", "TRUE", "(1)"];
    for other in others {
        let Statement::Insert(insert) = parse_text(&many_rows(&format!("(1, {other})"))) else { panic!() };
        assert!(matches!(&insert.source, InsertSource::Rows(rows) if rows.len() > 500), "{other}");
    }
    let uneven = many_rows("(1, 2)").replacen("(1, 2) ON", "(1, 2, 3) ON", 1);
    let Statement::Insert(insert) = parse_text(&uneven) else { panic!() };
    assert!(matches!(&insert.source, InsertSource::Rows(rows) if rows[rows.len() - 1].len() == 3));
}

#[test]
fn bytes_in_strings_need_not_be_utf8() {
    let text = b"SELECT '\xFF\xFE', _binary'\x80' FROM `t`";
    let parsed = parse(text, ParseOptions::default()).unwrap();
    let Statement::Select(query) = parsed.statement else { panic!() };
    let QueryBody::Select(select) = query.body else { panic!() };
    let SelectItem::Expr { expr: Expr::Literal(Literal::String(string)), .. } = &select.items[0] else {
        panic!()
    };
    assert_eq!(&*string.bytes, b"\xFF\xFE");
    assert!(parse(b"SELECT \xFF\xFE", ParseOptions::default()).is_err());
    assert!(parse(b"SELECT `\xFF\xFE`", ParseOptions::default()).is_err());
}

/// Run in release: `cargo test --release -p turnstile-session --lib parse_speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn parse_speed() {
    let texts = [
        "SELECT c FROM sbtest1 WHERE id=5046",
        "UPDATE sbtest1 SET k=k+1 WHERE id=5046",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, '68487932199-96439406143', '22195207048-70116052123')",
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 100 AND 199 ORDER BY c",
        "BEGIN",
    ];
    for text in texts {
        let rounds = 200_000;
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = std::time::Instant::now();
            for _ in 0..rounds {
                std::hint::black_box(parse(std::hint::black_box(text.as_bytes()), ParseOptions::default()))
                    .unwrap();
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
        }
        println!("{best:7.0} ns  {text}");
    }
}
