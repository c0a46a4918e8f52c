//! Questions about one table put to information_schema: the same rows as when all tables are looked at,
//! without looking at all of them.

use turnstile_session::Session;

use super::{database, run, session};

const TABLES: [(&str, &str, &str); 8] = [
    ("COLUMNS", "TABLE_SCHEMA", "TABLE_NAME, COLUMN_NAME"),
    ("TABLES", "TABLE_SCHEMA", "TABLE_NAME, TABLE_TYPE"),
    ("STATISTICS", "TABLE_SCHEMA", "TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"),
    ("KEY_COLUMN_USAGE", "TABLE_SCHEMA", "TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION"),
    ("TABLE_CONSTRAINTS", "TABLE_SCHEMA", "TABLE_NAME, CONSTRAINT_NAME"),
    ("VIEWS", "TABLE_SCHEMA", "TABLE_NAME, VIEW_DEFINITION"),
    ("PARTITIONS", "TABLE_SCHEMA", "TABLE_NAME, PARTITION_NAME"),
    ("REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA", "TABLE_NAME, CONSTRAINT_NAME"),
];

#[test]
fn what_is_asked_for_is_found_as_among_all() {
    let db = database();
    let mut one = session(&db);
    for text in [
        "CREATE DATABASE shop",
        "CREATE DATABASE `SHOP`",
        "CREATE TABLE shop.orders (a INT PRIMARY KEY, b INT UNIQUE, CHECK (b > 0))",
        "CREATE TABLE shop.Orders (c INT, KEY (c))",
        "CREATE TABLE SHOP.orders (d INT)",
        "CREATE TABLE shop.`é` (e INT)",
        "CREATE TABLE shop.`e` (f INT)",
        "CREATE TABLE shop.`a b` (g INT)",
        "CREATE TABLE shop.child (h INT, FOREIGN KEY (h) REFERENCES orders (a))",
        "CREATE VIEW shop.v AS SELECT a FROM shop.orders",
    ] {
        assert!(run(&mut one, text).starts_with("ok"), "{text}");
    }
    let schemas = ["shop", "SHOP", "Shop", "shop ", "information_schema", "nope", ""];
    let names =
        ["orders", "Orders", "ORDERS", "e", "é", "É", "a b", "child", "v", "columns", "COLUMNS", "nope "];
    let mut found = 0;
    for (table, column, shown) in TABLES {
        for (schema, name) in schemas.iter().flat_map(|schema| names.iter().map(move |name| (schema, name))) {
            let from = format!("SELECT {column}, {shown} FROM information_schema.{table} WHERE");
            let order = format!("ORDER BY {column}, {shown}");
            let asked = format!("{from} {column} = '{schema}' AND '{name}' = TABLE_NAME {order}");
            // Conditions that do not say it so.
            let all =
                format!("{from} {column} IN ('{schema}', 'x') AND TABLE_NAME IN ('{name}', 'x') {order}");
            let rows = run(&mut one, &asked);
            assert_eq!(rows, run(&mut one, &all), "{asked}");
            found += rows.lines().count();
        }
    }
    assert!(found > 20, "{found}");
    // An outer join keeps what has no partner, whatever its ON asks for.
    let joined = "SELECT t.TABLE_NAME, c.COLUMN_NAME FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
                  ON c.TABLE_NAME = t.TABLE_NAME AND c.TABLE_SCHEMA = 'shop' AND c.TABLE_NAME = 'e' \
                  WHERE t.TABLE_SCHEMA = 'shop' AND t.TABLE_NAME IN ('e', 'v') ORDER BY 1";
    assert_eq!(run(&mut one, joined), "e | f\nv | NULL\n");
    let without = "SELECT t.TABLE_NAME FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
                   ON c.TABLE_NAME = t.TABLE_NAME AND c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.COLUMN_NAME = 'f' \
                   WHERE t.TABLE_SCHEMA = 'shop' AND c.TABLE_NAME IS NULL ORDER BY 1";
    assert_eq!(run(&mut one, without).lines().count(), 6, "{}", run(&mut one, without));
}

/// Pages that are asked for while a statement runs.
fn pages(session: &mut Session, text: &str) -> u64 {
    let read = |session: &mut Session| -> u64 {
        let status = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                      WHERE VARIABLE_NAME = 'Innodb_buffer_pool_read_requests'";
        run(session, status).trim().parse().unwrap()
    };
    let before = read(session);
    let rows = run(session, text);
    assert!(!rows.contains("error"), "{rows}");
    read(session) - before
}

#[test]
fn others_are_not_looked_at() {
    let db = database();
    let mut one = session(&db);
    for nth in 0..200 {
        assert_eq!(run(&mut one, &format!("CREATE TABLE t{nth} (a INT PRIMARY KEY)")), "ok\n");
    }
    let all = pages(&mut one, "SELECT SUM(TABLE_ROWS) FROM information_schema.TABLES");
    let few = pages(
        &mut one,
        "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test' AND TABLE_NAME = 't7'",
    );
    assert!(all >= 200 && few < all / 20, "{few} of {all} pages");
}
