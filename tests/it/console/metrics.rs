//! What /metrics, /healthz and /readyz tell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use turnstile_console::{Console, Settings};
use turnstile_engine::{Config, Engine};
use turnstile_server::visits::Visits;
use turnstile_session::database::Database;
use turnstile_sys::block_on::block_on;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::super::Scratch;
use super::*;

/// The labels of a sample and what is behind them; a fault of the text is a panic.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let Some(mut rest) = text.strip_prefix('{') else { return (labels, text) };
    loop {
        let (name, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {text}"));
        assert!(is_name(name), "{text}");
        let mut end = None;
        let mut escaped = false;
        for (at, letter) in value.char_indices() {
            match (escaped, letter) {
                (true, '\\' | '"' | 'n') => escaped = false,
                (true, _) => panic!("an escape that is none: {text}"),
                (false, '\\') => escaped = true,
                (false, '"') => {
                    end = Some(at);
                    break;
                }
                (false, _) => {}
            }
        }
        let end = end.unwrap_or_else(|| panic!("no end: {text}"));
        assert!(labels.insert(name.to_string(), value[..end].to_string()).is_none(), "twice: {text}");
        rest = &value[end + 1..];
        if let Some(behind) = rest.strip_prefix('}') {
            return (labels, behind);
        }
        rest = rest.strip_prefix(',').unwrap_or_else(|| panic!("neither , nor }}: {text}"));
    }
}

fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// Reads OpenMetrics line by line, as strictly as the format is, and gives the samples by name and labels.
fn check(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    let mut lines = text.lines();
    assert!(text.ends_with("\n# EOF\n"), "no end: {text}");
    for line in lines.by_ref().take_while(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, of) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && families.insert(name.to_string()), "{line}");
            assert!(["counter", "gauge", "unknown", "info", "stateset", "histogram"].contains(&of), "{line}");
            assert!(of != "unknown" || !name.ends_with("_total"), "{line}");
            (family, kind) = (name.to_string(), of.to_string());
            continue;
        }
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert_eq!(rest.split(' ').next(), Some(family.as_str()), "{line}");
            continue;
        }
        assert!(!line.starts_with('#') && !line.is_empty(), "{line:?}");
        let end = line.find(['{', ' ']).unwrap();
        let ending = match kind.as_str() {
            "counter" => "_total",
            "info" => "_info",
            "histogram" => {
                ["_bucket", "_count", "_sum"].into_iter().find(|part| line[..end].ends_with(part)).unwrap()
            }
            _ => "",
        };
        assert_eq!(line[..end], format!("{family}{ending}"), "a sample of another family");
        let (labels, value) = labels(&line[end..]);
        let value: f64 = value.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(kind == "gauge" || kind == "unknown" || value >= 0.0, "{line}");
        let name = line[..line.rfind(' ').unwrap()].to_string();
        assert!(labels.len() <= 3 && samples.insert(name, value).is_none(), "twice: {line}");
    }
    assert_eq!(lines.next(), None, "something behind the end");
    samples
}

#[test]
fn metrics_are_open_metrics_under_the_names_of_the_exporter() {
    let site = Site::open("console-metrics", &["--innodb-deadlock-detect=OFF"]);
    let mut root = site.root();
    root.query("CREATE DATABASE d").unwrap();
    root.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    root.query("INSERT INTO d.t VALUES (1, 0)").unwrap();
    let answer = site.get("/metrics");
    assert_eq!(answer.status, 200);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(kind));
    let before = check(&answer.body);
    let of = |samples: &BTreeMap<String, f64>, name: &str| {
        *samples.get(name).unwrap_or_else(|| panic!("no {name} in {samples:#?}"))
    };
    assert_eq!(of(&before, "mysql_up"), 1.0);
    assert_eq!(of(&before, "mysql_global_variables_innodb_deadlock_detect"), 0.0);
    assert_eq!(of(&before, "turnstile_hot_row{turnstile_hot_row=\"OFF\"}"), 1.0);
    assert_eq!(of(&before, "mysql_global_status_commands_total{command=\"insert\"}"), 1.0);
    assert!(of(&before, "mysql_global_status_buffer_pool_pages{state=\"free\"}") > 0.0);
    for _ in 0..3 {
        root.query("UPDATE d.t SET v = v + 1").unwrap();
    }
    let after = check(&site.get("/metrics").body);
    for name in [
        "mysql_global_status_commands_total{command=\"update\"}",
        "mysql_global_status_innodb_row_ops_total{operation=\"updated\"}",
        "mysql_global_status_queries",
    ] {
        assert_eq!(of(&after, name) - of(&before, name), 3.0, "{name}");
    }
    // Who wants the head only gets that, with the length of what would follow.
    let head = site.send("HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 1000);
    site.server.terminate().unwrap();
}

#[test]
fn statements_are_told_by_digest_and_how_long_they_took() {
    let site = Site::open("console-statements", &[]);
    let mut root = site.root();
    root.query("CREATE DATABASE d").unwrap();
    root.query("CREATE TABLE d.t (id INT PRIMARY KEY, secret VARCHAR(20))").unwrap();
    root.query("INSERT INTO d.t VALUES (1, 'whisper')").unwrap();
    let before = check(&site.get("/metrics").body);
    for _ in 0..7 {
        root.query("SELECT * FROM d.t WHERE secret = 'whisper'").unwrap();
    }
    root.query("SELECT nothing FROM d.t").unwrap_err();
    // More digests than are told of.
    for nth in 0..70 {
        root.query(&format!("SELECT 1 AS c{nth}")).unwrap();
    }
    root.query("SELECT SLEEP(0.3) FROM d.t WHERE id = 1").unwrap();
    let text = site.get("/metrics").body;
    assert!(!text.contains("whisper"), "{text}");
    let after = check(&text);
    let name = |family: &str, text: &str| {
        let begin = format!("mysql_perf_schema_events_statements{family}_total{{schema=\"NONE\",");
        let end = format!("digest_text=\"{text}\"}}");
        after.keys().find(|name| name.starts_with(&begin) && name.ends_with(&end)).cloned()
    };
    let sleeps = "SELECT `SLEEP` (?) FROM `d` . `t` WHERE `id` = ?";
    assert_eq!(after[&name("", sleeps).unwrap()], 1.0);
    assert_eq!(after[&name("_rows_sent", sleeps).unwrap()], 1.0);
    let took = after[&name("_seconds", sleeps).unwrap()];
    assert!((0.3..10.0).contains(&took), "{took}");
    let told = after.keys().filter(|name| name.starts_with("mysql_perf_schema_events_statements_total{"));
    assert_eq!(told.count(), 50);
    // The histogram: buckets that only grow, and as many in all as there are statements.
    let count = |samples: &BTreeMap<String, f64>, le: &str| {
        samples[&format!("turnstile_statement_seconds_bucket{{le=\"{le}\"}}")]
    };
    assert_eq!(count(&after, "+Inf"), after["turnstile_statement_seconds_count"]);
    assert_eq!(count(&after, "+Inf") - count(&before, "+Inf"), 79.0);
    let quick = count(&after, "0.1") - count(&before, "0.1");
    assert!(quick <= 78.0, "{quick}");
    assert!(after["turnstile_statement_seconds_sum"] >= took);
    site.server.terminate().unwrap();
}

#[test]
fn hot_rows_are_told_by_index_and_never_by_key() {
    let site = Site::open("console-hot", &[]);
    let mut root = site.root();
    root.query("CREATE DATABASE shop").unwrap();
    root.query("CREATE TABLE shop.stock (sku BIGINT PRIMARY KEY, v INT)").unwrap();
    root.query("INSERT INTO shop.stock VALUES (471147114711, 0), (471147114712, 0)").unwrap();
    root.query("BEGIN").unwrap();
    root.query("UPDATE shop.stock SET v = 1").unwrap();
    std::thread::scope(|scope| {
        for nth in 0..24 {
            let mut client = site.root();
            let sku = if nth % 2 == 0 { "471147114711" } else { "471147114712" };
            scope.spawn(move || {
                client.query(&format!("UPDATE shop.stock SET v = v + 1 WHERE sku = {sku}")).unwrap();
            });
        }
        let name = "turnstile_hot_index_waiting{schema=\"shop\",table=\"stock\",index=\"PRIMARY\"}";
        let begin = std::time::Instant::now();
        let samples = loop {
            let text = site.get("/metrics").body;
            assert!(!text.contains("4711471147"), "{text}");
            let samples = check(&text);
            if samples.get(name) == Some(&24.0) {
                break samples;
            }
            assert!(begin.elapsed() < SOON, "{text}");
        };
        assert_eq!(samples[&name.replace("waiting", "rows")], 2.0);
        assert_eq!(samples["mysql_global_status_innodb_row_lock_current_waits"], 24.0);
        root.query("COMMIT").unwrap();
    });
    site.server.terminate().unwrap();
}

#[test]
fn an_engine_that_has_stopped_is_alive_and_not_ready() {
    let disk = FaultDisk::new(1);
    let engine = Engine::open(Arc::new(disk.clone()), Config::default()).unwrap();
    let database = block_on(Database::open(engine)).unwrap();
    let port = free_port().unwrap();
    let settings = Settings::parse(&port.to_string(), "").unwrap().unwrap();
    let console =
        Console::start(database.observed().clone(), Arc::new(Visits(database.clone())), settings).unwrap();
    let get = |path: &str| send(port, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_eq!(["/healthz", "/readyz", "/metrics"].map(|path| get(path).status), [200, 200, 200]);
    disk.fail_from(1, FaultKind::InputOutput);
    let engine = database.engine();
    engine.storage().wal.stop("planted");
    disk.heal();
    assert_eq!(["/healthz", "/readyz", "/metrics"].map(|path| get(path).status), [200, 503, 200]);
    assert_eq!(check(&get("/metrics").body)["turnstile_engine_running"], 0.0);
    console.stop();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn there_is_no_console_unless_it_is_asked_for() {
    let scratch = Scratch::new("console-none");
    let (server, target) = start(&scratch, &["--console"]);
    assert_eq!(connect(&target).value("SELECT @@turnstile_console", 0).unwrap().as_deref(), Some(""));
    server.terminate().unwrap();
    for (option, told) in [("--console=no", "[ADDRESS:]PORT"), ("--console=203.0.113.1:1", "203.0.113.1")] {
        let output = std::process::Command::new(super::super::binary())
            .args(["serve", "--no-defaults", "--port=0", option])
            .arg(format!("--datadir={}", scratch.data().display()))
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && log.contains(told), "{log}");
    }
}
