//! Prepared statements through the session's own calls.

use turnstile_session::datetime::{Date, DateTime, Time};
use turnstile_session::{Session, Value};

use super::{Text, block_on, database, run, session};

fn execute(session: &mut Session, id: u32, params: &[Value]) -> String {
    let mut out = Text::default();
    match block_on(session.execute(id, params, &mut out)) {
        Ok(()) => out.text,
        Err(error) => format!("error {}\n", error.code),
    }
}

fn prepare(session: &mut Session, text: &str) -> (u32, usize, usize) {
    let prepared = block_on(session.prepare(text.as_bytes())).unwrap();
    (prepared.id, prepared.params.len(), prepared.columns.len())
}

#[test]
fn a_session_can_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let db = database();
    let mut session = session(&db);
    assert_send(&session);
    let mut out = Text::default();
    assert_send(&session.query(b"SELECT 1", &mut out));
}

#[test]
fn point_statements() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, k INT, c CHAR(20), KEY (k))");
    let (insert, params, columns) = prepare(&mut session, "INSERT INTO t (id, k, c) VALUES (?, ?, ?)");
    assert_eq!((params, columns), (3, 0));
    for id in 1..=5 {
        let values = [Value::Int(id), Value::Int(id * 10), Value::from(format!("row {id}"))];
        assert_eq!(execute(&mut session, insert, &values), "ok 1\n");
    }
    let duplicate = [Value::Int(1), Value::Int(1), Value::Null];
    assert_eq!(execute(&mut session, insert, &duplicate), "error 1062\n");
    let (select, params, columns) = prepare(&mut session, "SELECT c FROM t WHERE id = ?");
    assert_eq!((params, columns), (1, 1));
    assert_eq!(execute(&mut session, select, &[Value::Int(3)]), "row 3\n");
    assert_eq!(execute(&mut session, select, &[Value::Int(9)]), "");
    assert_eq!(execute(&mut session, select, &[]), "error 1210\n");
    let (update, ..) = prepare(&mut session, "UPDATE t SET k = k + 1 WHERE id = ?");
    assert_eq!(
        execute(&mut session, update, &[Value::Int(3)]),
        "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n"
    );
    let (range, ..) = prepare(&mut session, "SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?");
    assert_eq!(execute(&mut session, range, &[Value::Int(2), Value::Int(4)]), "91\n");
    let (delete, ..) = prepare(&mut session, "DELETE FROM t WHERE id = ?");
    assert_eq!(execute(&mut session, delete, &[Value::Int(3)]), "ok 1\n");
    assert_eq!(execute(&mut session, select, &[Value::Int(3)]), "");
    run(&mut session, "ALTER TABLE t ADD COLUMN extra INT");
    assert_eq!(execute(&mut session, select, &[Value::Int(2)]), "row 2\n");
    session.close(select);
    assert_eq!(execute(&mut session, select, &[Value::Int(2)]), "error 1243\n");
}

/// Drivers send what is no number as a double; it equals no row's value, and is stored nowhere.
#[test]
fn a_parameter_that_is_no_number_finds_no_row() {
    let db = database();
    let mut session = session(&db);
    run(
        &mut session,
        "CREATE TABLE t (id INT PRIMARY KEY, b BIGINT, d DOUBLE, e DECIMAL(10,2), v VARCHAR(9), KEY (b), KEY (d))",
    );
    run(&mut session, "INSERT INTO t VALUES (0, 0, 0, 0, '0'), (1, 1, 1, 1, '1'), (2, 2, 2, 2, '2')");
    let nothing = f64::NAN;
    for column in ["id", "b", "d", "e", "v", "b + 0"] {
        for condition in ["= ?", "IN (?, 77)", "BETWEEN ? AND ?", "< ?", "<=> ?"] {
            let (id, params, _) = prepare(&mut session, &format!("DELETE FROM t WHERE {column} {condition}"));
            assert_eq!(
                execute(&mut session, id, &vec![Value::Double(nothing); params]),
                "ok\n",
                "{column} {condition}"
            );
        }
        let (id, ..) = prepare(&mut session, &format!("SELECT COUNT(*) FROM t WHERE {column} <> ?"));
        assert_eq!(execute(&mut session, id, &[Value::Double(nothing)]), "3\n", "{column}");
    }
    for column in ["id", "b", "d", "e"] {
        let (id, ..) = prepare(&mut session, &format!("UPDATE t SET {column} = ? WHERE id = 2"));
        assert_eq!(execute(&mut session, id, &[Value::Double(nothing)]), "error 1264\n", "{column}");
    }
}

/// What a parameter is decides how exactly is computed: drivers send decimals as decimals or as texts.
#[test]
fn exact_numbers_stay_exact_beside_parameters() {
    let db = database();
    let mut session = session(&db);
    run(
        &mut session,
        "CREATE TABLE m (id INT PRIMARY KEY, price DECIMAL(10,2), tax DECIMAL(10,2), big DECIMAL(30,10), n BIGINT)",
    );
    run(&mut session, "INSERT INTO m VALUES (1, 1.15, 0, 12345678901234567890.1234567890, 9007199254740993)");
    let decimal = |text| Value::Decimal(turnstile_session::decimal::Decimal::parse(text).unwrap());
    for (tenth, tiny) in
        [(decimal("0.1"), decimal("0.0000000001")), (Value::text("0.1"), Value::text("0.0000000001"))]
    {
        let (id, ..) = prepare(&mut session, "UPDATE m SET tax = price * ?, big = big + ? WHERE id = 1");
        execute(&mut session, id, &[tenth, tiny]);
    }
    assert_eq!(run(&mut session, "SELECT tax, big FROM m"), "0.12 | 12345678901234567890.1234567892\n");
    let (id, ..) = prepare(&mut session, "SELECT COUNT(*) FROM m WHERE big = ?");
    assert_eq!(execute(&mut session, id, &[Value::text("12345678901234567890.1234567893")]), "0\n");
    assert_eq!(execute(&mut session, id, &[Value::text("12345678901234567890.1234567892")]), "1\n");
    let large = Value::Int(9_007_199_254_740_993);
    for (text, values, wanted) in [
        ("SELECT n + ? FROM m", vec![Value::Int(2)], "9007199254740995\n"),
        ("SELECT COALESCE(?, n) + 1 FROM m", vec![large.clone()], "9007199254740994\n"),
        ("SELECT COALESCE(?, n) + 1 FROM m", vec![Value::text("9007199254740993")], "9007199254740994\n"),
        // Nothing but a function of doubles says what it is.
        ("SELECT ABS(?)", vec![large.clone()], "9.007199254740992e15\n"),
        ("SELECT a + 1 FROM (SELECT ? AS a) AS d", vec![large.clone()], "9007199254740994\n"),
        ("SELECT COUNT(*) FROM m WHERE n = ?", vec![Value::text("9007199254740992")], "0\n"),
        ("SELECT COUNT(*) FROM m WHERE n IN (1, ?)", vec![Value::text("9007199254740993")], "1\n"),
        ("SELECT GREATEST(?, ?)", vec![Value::Int(10), Value::Int(9)], "10\n"),
        ("SELECT 0.3 = 0.1 + ?", vec![Value::text("0.2")], "1\n"),
        ("SELECT CONCAT(?, 'x')", vec![Value::text("01.50")], "01.50x\n"),
    ] {
        let (id, ..) = prepare(&mut session, text);
        for _ in 0..2 {
            assert_eq!(execute(&mut session, id, &values), wanted, "{text}");
        }
    }
}

/// A statement serves values of changing kinds, each by a plan for it, and NULL by any of them.
#[test]
fn parameters_may_change_their_kinds() {
    let db = database();
    let mut session = session(&db);
    let (id, ..) = prepare(&mut session, "SELECT ? + 1, GREATEST(?, 9)");
    for _ in 0..3 {
        for (value, wanted) in [
            (Value::Int(10), "11 | 10\n"),
            (Value::Double(10.5), "11.5 | 10.5\n"),
            (Value::Null, "NULL | NULL\n"),
            (Value::UInt(u64::MAX - 1), "18446744073709551615 | 18446744073709551614\n"),
            (Value::text("10"), "11 | 10\n"),
            (Value::text("abc"), "1 | 9\n(2 warnings)\n"),
        ] {
            assert_eq!(execute(&mut session, id, &[value.clone(), value]), wanted);
        }
    }
}

/// A parameter yields to the collation of what it meets, whatever the connection's is.
#[test]
fn parameters_have_no_collation_of_their_own() {
    let db = database();
    let mut session = session(&db);
    run(
        &mut session,
        "CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, b VARCHAR(9) COLLATE utf8mb4_bin, KEY (a))",
    );
    run(&mut session, "INSERT INTO t VALUES ('x', 'x')");
    run(&mut session, "SET collation_connection = utf8mb4_general_ci");
    for condition in [
        "a = ?",
        "b = ?",
        "a IN (?, 'y')",
        "? BETWEEN a AND b COLLATE utf8mb4_0900_ai_ci",
        "CONCAT(a, ?) = 'xx'",
        "a LIKE ?",
    ] {
        let (id, ..) = prepare(&mut session, &format!("SELECT COUNT(*) FROM t WHERE {condition}"));
        for value in [Value::text("x"), Value::Null, Value::text("x")] {
            let wanted = if value.is_null() { "0\n" } else { "1\n" };
            assert_eq!(execute(&mut session, id, &[value]), wanted, "{condition}");
        }
    }
}

#[test]
fn dates_and_times_have_their_types() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE d (id INT PRIMARY KEY, da DATE, dt DATETIME, ti TIME, c VARCHAR(40))");
    run(&mut session, "INSERT INTO d VALUES (1, '2024-01-01', '2024-01-01 10:11:12', '10:11:12', NULL)");
    let date = Date::from_parts(2024, 1, 1);
    let moment = Value::DateTime(DateTime::from_parts(date, 10, 11, 12, 250_000, 6));
    let date = Value::Date(date);
    let time = Value::Time(Time { us: 36_672_000_000, fsp: 6 });
    let cases = [
        ("SELECT ?", &date, "2024-01-01"),
        ("SELECT ? + 1", &date, "20240102"),
        ("SELECT ? + 1", &moment, "20240101101113.250000"),
        ("SELECT ? + 1", &time, "101113.000000"),
        ("SELECT CONCAT(?, '')", &time, "10:11:12.000000"),
        ("SELECT FORMAT(?, 0)", &date, "20,240,101"),
        ("SELECT YEAR(dt) = ? FROM d", &date, "0"),
        ("SELECT da = ? FROM d", &date, "1"),
        ("SELECT da < ? FROM d", &moment, "1"),
        ("SELECT ti = ? FROM d", &time, "1"),
        ("SELECT dt - ? FROM d", &moment, "-0.250000"),
        ("SELECT dt - ? FROM d", &date, "20240080861011.000000"),
        ("SELECT da - ? FROM d", &date, "0"),
        ("SELECT id FROM d WHERE da = ?", &date, "1"),
        ("SELECT DATEDIFF(dt, ?) FROM d", &date, "0"),
    ];
    for (text, value, wanted) in cases {
        let (id, ..) = prepare(&mut session, text);
        assert_eq!(
            execute(&mut session, id, std::slice::from_ref(value)),
            format!("{wanted}\n"),
            "{text} of {value:?}"
        );
    }
    let (id, ..) = prepare(&mut session, "UPDATE d SET c = ?");
    let half = Value::Time(Time { us: -500_000, fsp: 6 });
    let stored = [
        (&moment, "2024-01-01 10:11:12"),
        (&half, "-00:00:00.5"),
        (&time, "10:11:12"),
        (&date, "2024-01-01"),
    ];
    for (value, wanted) in stored {
        assert!(execute(&mut session, id, std::slice::from_ref(value)).starts_with("ok 1"));
        assert_eq!(run(&mut session, "SELECT c FROM d"), format!("{wanted}\n"));
    }
}

#[test]
fn moments_among_texts_of_a_set_operation_have_few_digits() {
    let db = database();
    let mut session = session(&db);
    let moment = Value::DateTime(DateTime::from_parts(Date::from_parts(2024, 1, 1), 10, 11, 12, 250_000, 6));
    let whole = Value::Time(Time { us: 36_672_000_000, fsp: 6 });
    let part = Value::Time(Time { us: -36_672_250_000, fsp: 6 });
    let cases = [(&moment, "2024-01-01 10:11:12"), (&whole, "10:11:12"), (&part, "-10:11:12.25")];
    for text in [
        "SELECT ? UNION ALL SELECT 'x' LIMIT 1",
        "SELECT DISTINCT ? UNION SELECT 1 LIMIT 1",
        "SELECT a FROM (SELECT 'x' AS a UNION ALL SELECT ?) AS d WHERE a <> 'x'",
    ] {
        for (value, wanted) in cases {
            let (id, ..) = prepare(&mut session, text);
            let shown = execute(&mut session, id, std::slice::from_ref(value));
            assert_eq!(shown, format!("{wanted}\n"), "{text} of {value:?}");
        }
    }
}

#[test]
fn a_text_that_is_no_date_is_told_of_by_the_parameter_beside_it() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE v (id INT PRIMARY KEY, c VARCHAR(40))");
    run(&mut session, "INSERT INTO v VALUES (1, '2024-01-01'), (2, 'x')");
    let day = Value::Date(Date::from_parts(2024, 1, 1));
    let moment = Value::DateTime(Date::from_parts(2024, 1, 1).at_midnight());
    for condition in ["c = ?", "c < ?", "? >= c", "c BETWEEN ? AND ?"] {
        for (value, kind) in [(&day, "date"), (&moment, "datetime")] {
            let (id, count, _) = prepare(&mut session, &format!("UPDATE v SET id = id WHERE {condition}"));
            let values = vec![value.clone(); count];
            let error = block_on(session.execute(id, &values, &mut Text::default())).unwrap_err();
            let wanted = format!("Incorrect {kind} value: 'x' for column '?' at row 1");
            assert_eq!(error.message, wanted, "{condition} of {value:?}");
        }
    }
}
