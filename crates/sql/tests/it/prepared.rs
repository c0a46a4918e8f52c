//! Prepared statements through the session's own calls.

use turnstile_sql::{Session, Value};

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
