//! Statements that work for long inside one row, against a server with one worker whose watch is asleep:
//! while one runs, others are answered, also about rows of the same page, and KILL and `max_execution_time`
//! end it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, ClientError, Target, packet};
use turnstile_lab::process::{ServerProcess, free_port};

use super::{Scratch, binary, connect, start};

/// Nothing here takes a tenth of it, unless it takes for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a scenario on a thread of its own; fails if it does not come to its end.
fn in_time(what: &str, scenario: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let player = std::thread::spawn(move || {
        scenario();
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

/// Sends a statement and, while it runs, changes a row beside the one that it looks at; then KILL QUERY ends
/// it.
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

/// One session sends huge texts until another has seen it at work; there is one worker for both.
#[test]
fn a_huge_text_lets_others_in_before_it_is_parsed() {
    let text = format!("DO LENGTH('{}')", "a".repeat(16 << 20));
    for command in [3_u8, 0x16] {
        let message = [&[command][..], text.as_bytes()].concat();
        in_time("a huge text", move || {
            let scratch = Scratch::new("huge-text");
            let (server, target) = start(&scratch, ALONE);
            let (mut hostile, mut other) = (connect(&target), connect(&target));
            let id = hostile.number("SELECT CONNECTION_ID()").unwrap();
            let ended = Arc::new(AtomicBool::new(false));
            let seen = ended.clone();
            let sender = std::thread::spawn(move || {
                let mut socket = hostile.into_socket();
                while !seen.load(Ordering::Relaxed) {
                    send(&mut socket, &message).unwrap();
                    let mut header = [0; 4];
                    socket.read_exact(&mut header).unwrap();
                    socket.read_exact(&mut vec![0; usize::from(header[0])]).unwrap();
                }
            });
            let running = format!(
                "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {id} AND command <> 'Sleep'"
            );
            while other.number(&running).unwrap() == 0 {}
            ended.store(true, Ordering::Relaxed);
            sender.join().unwrap();
            server.terminate().unwrap();
        });
    }
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

/// A server that may take so much address space and no more.
fn start_within(scratch: &Scratch, kib: u64, more: &[&str]) -> (ServerProcess, Target) {
    let script = scratch.0.join("within");
    let text = format!("#!/bin/sh\nulimit -v {kib}\nexec {} \"$@\"\n", binary().display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let port = free_port().unwrap();
    let options: Vec<String> = ["--thread-pool-size=2", "--innodb-buffer-pool-size=64M"]
        .iter()
        .chain(more)
        .map(ToString::to_string)
        .collect();
    let server = ServerProcess::start(&script, &scratch.data(), port, &options).unwrap();
    (server, Target::local(port))
}

fn send(socket: &mut TcpStream, command: &[u8]) -> std::io::Result<()> {
    for (nth, piece) in command.chunks(0xff_ffff).enumerate() {
        socket.write_all(&packet(piece, nth as u8))?;
    }
    Ok(())
}

/// Prepares a statement with one parameter again and again and gives each long data, which it never runs.
fn pile_up_long_data(client: Client) -> std::io::Result<()> {
    let mut socket = client.into_socket();
    let mut answer = vec![0; 1 << 16];
    for id in 1..=20_u32 {
        send(&mut socket, b"\x16SELECT ?")?;
        let _ = socket.read(&mut answer)?;
        let head = [&[0x18][..], &id.to_le_bytes(), &[0, 0]].concat();
        for _ in 0..4 {
            send(&mut socket, &[&head[..], &vec![b'a'; 4 << 20]].concat())?;
        }
    }
    // Everything has been taken in when this is answered.
    send(&mut socket, b"\x0e")?;
    socket.read(&mut answer).map(drop)
}

/// Asks for large answers and does not read them.
fn read_nothing(client: Client) -> std::io::Result<()> {
    let mut socket = client.into_socket();
    send(&mut socket, b"\x03SELECT REPEAT('a', 30000000), REPEAT('b', 30000000), REPEAT('c', 30000000)")?;
    std::thread::sleep(Duration::from_secs(2));
    Ok(())
}

/// What an account without rights can ask for that takes memory.
fn greedy_statements() -> Vec<String> {
    let wide = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    vec![
        format!("SELECT {}1", wide("1,", 3 << 20)),
        format!("SELECT 1 IN ({}1)", wide("1,", 3 << 20)),
        format!("SELECT 1 WHERE {}1", wide("1 OR ", 3 << 20)),
        format!("{}SELECT 1", wide("SELECT 1 UNION ALL ", 2 << 20)),
        format!("DO '{}'", wide("a", 14 << 20)),
        "WITH RECURSIVE r AS (SELECT 1 AS a, REPEAT('x', 1000) AS b UNION ALL SELECT a + 1, b FROM r WHERE a < 900000) \
         SELECT /*+ SET_VAR(cte_max_recursion_depth = 1000000) */ COUNT(DISTINCT CONCAT(a, REPEAT(b, 100))) FROM r"
            .into(),
        "WITH RECURSIVE r AS (SELECT REPEAT('x', 1000000) AS b, 1 AS a UNION ALL SELECT b, a + 1 FROM r WHERE a < 999) \
         SELECT GROUP_CONCAT(b ORDER BY a) FROM r"
            .into(),
        "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 900) \
         SELECT REPEAT(x.a, 3000) AS k FROM r AS x, r AS y ORDER BY k"
            .into(),
        "SELECT JSON_LENGTH(JSON_ARRAY(REPEAT('a', 60000000), REPEAT('b', 60000000), REPEAT('c', 60000000)))".into(),
        "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 900) \
         SELECT COUNT(*) FROM (SELECT REPEAT(k, 20) AS k FROM (SELECT REPEAT(x.a, 300) AS k FROM r AS x, r AS y) AS d) AS e"
            .into(),
        "SELECT JSON_LENGTH(CONCAT('[', REPEAT('[1,2],', 5000000), '0]'))".into(),
        "SET @a = REPEAT('a', 60000000), @b = REPEAT('b', 60000000), @c = REPEAT('c', 60000000), @d = REPEAT('d', 60000000)"
            .into(),
        "SELECT LENGTH(HEX(HEX(HEX(REPEAT('a', 8000000))))), LENGTH(REPLACE(REPEAT('a', 9000000), 'a', 'bbbbbb'))".into(),
        "SELECT REGEXP_REPLACE(REPEAT('a', 20000000), 'a', 'bb')".into(),
        "SELECT REPEAT('a', 9000000) LIKE CONCAT('%', REPEAT('a_', 9000000), 'b')".into(),
        "SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[', REPEAT('1,', 9000000), '1]'), '$[*]' COLUMNS (a INT PATH '$')) AS t".into(),
        "SELECT CAST(CONCAT('[', REPEAT('[],', 9000000), '1]') AS JSON) = CAST('1' AS JSON)".into(),
        "SELECT LENGTH(STATEMENT_DIGEST_TEXT(CONCAT('SELECT ', REPEAT('1,', 20000000), '1')))".into(),
        "SELECT MAX(REPEAT('a', 60000000)), MIN(REPEAT('b', 60000000)), MAX(REPEAT('c', 60000000)), MAX(REPEAT('d', 60000000))".into(),
        "SELECT LENGTH(CONCAT(REPEAT('a', 60000000), REPEAT('b', 60000000), REPEAT('c', 60000000)))".into(),
    ]
}

/// Forty clients of an account without rights ask for all they can at once, in three gigabytes of address
/// space. What takes long is ended: the test is about memory.
#[test]
fn greedy_clients_do_not_end_the_process() {
    let scratch = Scratch::new("greedy");
    let (server, target) = start_within(&scratch, 3_000_000, &[]);
    connect(&target).query("CREATE USER nobody").unwrap();
    let greedy = Target { user: "nobody".into(), ..target.clone() };
    let statements = greedy_statements();
    let mut codes = std::collections::BTreeMap::new();
    std::thread::scope(|scope| {
        let players: Vec<_> = (0..40)
            .map(|nth| {
                let (greedy, statements) = (&greedy, &statements);
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    let Ok(client) = Client::connect(greedy) else { return seen };
                    if nth % 8 == 0 {
                        let _ = pile_up_long_data(client);
                        return seen;
                    }
                    if nth % 8 == 1 {
                        let _ = read_nothing(client);
                        return seen;
                    }
                    let mut client = client;
                    let _ = client.query("SET SESSION max_execution_time = 4000");
                    for at in 0..4 {
                        let statement = &statements[(nth + at * 5) % statements.len()];
                        match client.query(statement) {
                            Ok(_) => seen.push(0),
                            Err(ClientError::Server { code, .. }) => seen.push(code),
                            Err(_) => match Client::connect(greedy) {
                                Ok(other) => client = other,
                                Err(_) => return seen,
                            },
                        }
                    }
                    seen
                })
            })
            .collect();
        for player in players {
            player.join().unwrap().into_iter().for_each(|code| *codes.entry(code).or_insert(0) += 1);
        }
    });
    println!("{codes:?}");
    let refused = codes.get(&4081).unwrap_or(&0) + codes.get(&4082).unwrap_or(&0);
    assert!(refused > 0, "nothing was too much: {codes:?}");
    let mut after = connect(&target);
    assert_eq!(after.number("SELECT 1").unwrap(), 1);
    // What they held is room for others again, a moment after the last of them.
    let begin = Instant::now();
    while let Err(error) = after.number("SELECT LENGTH(REPEAT('a', 60000000))") {
        assert!(begin.elapsed() < Duration::from_secs(30), "{error}");
        std::thread::sleep(Duration::from_millis(20));
    }
    after.query("CREATE DATABASE d").unwrap();
    server.terminate().unwrap();
}

/// Limits above what the address space holds, as an operator sets them who counts on other sessions being
/// idle: the statement for which there is no room is refused, and what the others hold stays.
#[test]
fn a_limit_above_the_address_space_does_not_end_the_process() {
    let scratch = Scratch::new("beyond");
    let limits = ["--global-connection-memory-limit=8G", "--connection-memory-limit=8G"];
    let (server, target) = start_within(&scratch, 1_200_000, &limits);
    let mut clients: Vec<Client> = (0..12).map(|_| connect(&target)).collect();
    let mut refused = 0;
    for name in ["a", "b", "c", "d"] {
        for client in &mut clients {
            match client.query(&format!("SET @{name} = REPEAT('{name}', 60000000)")) {
                Ok(_) => {}
                Err(ClientError::Server { code: 4081, .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(refused > 20, "{refused} of 48 were refused");
    clients.truncate(1);
    // The other sessions end a moment after their clients.
    let begin = Instant::now();
    while let Err(error) = clients[0].query("SET @e = REPEAT('e', 60000000)") {
        assert!(begin.elapsed() < Duration::from_secs(30), "{error}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(clients[0].number("SELECT LENGTH(@a)").unwrap(), 60_000_000);
    server.terminate().unwrap();
}
