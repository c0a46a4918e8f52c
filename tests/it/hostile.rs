//! Statements that work for long inside one row, against a server with one worker whose watch is asleep: while one runs, others are answered,
//! also about rows of the same page, and KILL and `max_execution_time` end it.

use std::sync::mpsc;
use std::time::Duration;

use turnstile_lab::client::{Client, ClientError};

use super::{Scratch, connect, start};

/// Nothing here takes a tenth of it, unless it takes for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a play on a thread of its own; fails if it does not come to its end.
fn in_time(what: &str, play: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let player = std::thread::spawn(move || {
        play();
        let _ = done.send(());
    });
    match ended.recv_timeout(PATIENCE) {
        Ok(()) => player.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            if let Err(panic) = player.join() {
                std::panic::resume_unwind(panic);
            }
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: nobody is answered"),
    }
}

fn code(answer: Result<impl Sized, ClientError>) -> Option<u16> {
    answer.err().and_then(|error| error.code())
}

/// A value of one row that takes minutes: thousands of calls, none of which is long.
fn long_value(call: impl Fn(usize) -> String) -> String {
    let calls: Vec<String> = (0..4000).map(call).collect();
    format!("LENGTH(CONCAT({}))", calls.join(","))
}

/// Heavy values, by what is slow about them.
fn long_values() -> Vec<(&'static str, String)> {
    let text = "REPEAT('a',400000)";
    vec![
        ("instr", long_value(|nth| format!("INSTR({text},CONCAT(REPEAT('a',9999),'b{nth}'))"))),
        ("like", long_value(|nth| format!("({text} LIKE '%a_{nth}_b%')"))),
        ("replace", long_value(|nth| format!("LENGTH(REPLACE({text},'a','b{nth}'))"))),
        ("regexp", long_value(|nth| format!("LENGTH(REGEXP_REPLACE({text},'a','{nth}'))"))),
        ("md5", long_value(|nth| format!("(MD5(CONCAT({text},{nth}))='x')"))),
        ("json", long_value(|nth| format!("JSON_LENGTH(CONCAT('[',REPEAT('1,',50000),'{nth}]'))"))),
        ("hex", long_value(|nth| format!("LENGTH(UNHEX(HEX(CONCAT({text},{nth}))))"))),
        ("compare", long_value(|nth| format!("(UPPER({text})=CONCAT({text},{nth}))"))),
        ("small calls", {
            let list: Vec<String> = (0..300).map(|nth| format!("LENGTH(CONCAT(a.i,b.i,{nth}))")).collect();
            let chain = format!("CONCAT({})", list.join(","));
            format!("(SELECT COUNT(*) FROM d.n a, d.n b, d.n c WHERE {chain} = '')")
        }),
    ]
}

fn stage(client: &mut Client) {
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    client.query("INSERT INTO d.t VALUES (1, 1), (2, 2)").unwrap();
    client.query("CREATE TABLE d.n (i INT PRIMARY KEY)").unwrap();
    let rows: Vec<String> = (0..1000).map(|i| format!("({i})")).collect();
    client.query(&format!("INSERT INTO d.n VALUES {}", rows.join(","))).unwrap();
}

/// One worker that nobody relieves but itself.
const ALONE: &[&str] = &["--thread-pool-size=1", "--thread-pool-stall-limit=1000000"];

/// Sends a statement and, while it runs, changes a row beside the one that it looks at; then KILL QUERY ends it.
fn lets_others_in(hostile: &mut Client, other: &mut Client, what: &str, statement: &str) {
    let id = hostile.number("SELECT CONNECTION_ID()").unwrap();
    hostile.send(statement).unwrap();
    let running =
        format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id} AND command = 'Query'");
    while other.number(&running).unwrap() == 0 {}
    for _ in 0..5 {
        other.query("UPDATE d.t SET v = v + 1 WHERE id = 2").unwrap();
        assert_eq!(other.number("SELECT 1").unwrap(), 1);
    }
    assert_eq!(other.number(&running).unwrap(), 1, "{what} was too short for this test");
    other.query(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(code(hostile.receive()), Some(1317), "{what}");
}

#[test]
fn one_long_row_lets_others_in_and_can_be_ended() {
    let scratch = Scratch::new("long-row");
    let (server, target) = start(&scratch, ALONE);
    stage(&mut connect(&target));
    for (name, value) in long_values() {
        let target = target.clone();
        in_time(name, move || {
            let (mut hostile, mut other) = (connect(&target), connect(&target));
            lets_others_in(&mut hostile, &mut other, name, &format!("SELECT {value}"));
            hostile.query("SET SESSION max_execution_time = 200").unwrap();
            assert_eq!(code(hostile.query(&format!("SELECT {value}"))), Some(3024), "{name}");
            hostile.query("SET SESSION max_execution_time = 0").unwrap();
            let hinted = format!("SELECT /*+ MAX_EXECUTION_TIME(200) */ {value}");
            assert_eq!(code(hostile.query(&hinted)), Some(3024), "{name}");
            assert_eq!(hostile.number("SELECT 2").unwrap(), 2);
        });
    }
    server.terminate().unwrap();
}

#[test]
fn no_statement_keeps_a_page_while_it_computes() {
    let scratch = Scratch::new("long-latch");
    let (server, target) = start(&scratch, ALONE);
    stage(&mut connect(&target));
    let value = long_value(|nth| format!("INSTR(REPEAT('a',400000),CONCAT(REPEAT('a',9999),v,'{nth}b'))"));
    let statements = [
        format!("SELECT v FROM d.t WHERE id = 1 AND {value} > 0"),
        format!("SELECT {value} FROM d.t WHERE id = 1"),
        format!("SELECT COUNT(*) FROM d.t WHERE {value} > 0"),
        format!("SELECT MAX({value}) FROM d.t"),
        format!("SELECT v FROM d.t ORDER BY {value}"),
        format!("SELECT 1 FROM d.n WHERE i < (SELECT {value} FROM d.t WHERE id = n.i)"),
        format!("SELECT v FROM d.t WHERE id = 1 AND {value} > 0 FOR UPDATE"),
        format!("UPDATE d.t SET v = 0 WHERE id = 1 AND {value} > 0"),
        format!("UPDATE d.t SET v = {value} WHERE id = 1"),
        format!("UPDATE d.t SET v = {value} WHERE id = 1 AND v > 0"),
        format!("DELETE FROM d.t WHERE id = 1 AND {value} > 0"),
        format!("UPDATE d.t, d.n SET v = {value} WHERE id = i AND i = 1"),
        format!("INSERT INTO d.t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = {value}"),
        format!("SET @a = (SELECT {value} FROM d.t WHERE id = 1)"),
    ];
    for statement in statements {
        let target = target.clone();
        let what: String = statement.chars().take(60).collect();
        in_time(&what.clone(), move || {
            let (mut hostile, mut other) = (connect(&target), connect(&target));
            lets_others_in(&mut hostile, &mut other, &what, &statement);
        });
    }
    assert_eq!(connect(&target).number("SELECT v FROM d.t WHERE id = 1").unwrap(), 1);
    server.terminate().unwrap();
}
