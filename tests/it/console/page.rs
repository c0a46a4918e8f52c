//! The page, who may log in to it, and the stream of samples.

use std::io::{BufRead, BufReader};
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::*;

impl Site {
    /// `more`: header lines, each with its end.
    fn post(&self, path: &str, body: &Json, more: &str) -> Answer {
        let (port, body) = (self.port, body.to_string());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n{body}",
            body.len()
        ))
    }

    fn log_in(&self, user: &str, password: &str) -> Login {
        let answer = self.post("/login", &json!({"user": user, "password": password}), "");
        assert_eq!(answer.status, 200, "{answer:?}");
        Login::of(&answer)
    }

    /// Begins to watch.
    fn watch(&self, more: &str) -> Samples {
        let mut socket = self.dial();
        let port = self.port;
        socket
            .write_all(format!("GET /events HTTP/1.1\r\nHost: localhost:{port}\r\n{more}\r\n").as_bytes())
            .unwrap();
        Samples(BufReader::new(socket))
    }
}

/// What a login gave.
struct Login {
    /// A header line.
    cookie: String,
    page_token: String,
}

impl Login {
    fn of(answer: &Answer) -> Login {
        let set = answer.header("set-cookie").unwrap();
        assert!(set.contains("; HttpOnly; SameSite=Strict; Path=/; Max-Age="), "{set}");
        let told: Json = serde_json::from_str(&answer.body).unwrap();
        Login {
            cookie: format!("Cookie: other=1; {}\r\n", set.split(';').next().unwrap()),
            page_token: format!("X-Page-Token: {}\r\n", told["page_token"].as_str().unwrap()),
        }
    }
}

/// A stream that is open.
struct Samples(BufReader<TcpStream>);

impl Iterator for Samples {
    type Item = Json;

    fn next(&mut self) -> Option<Json> {
        let mut line = String::new();
        while self.0.read_line(&mut line).is_ok_and(|count| count > 0) {
            if let Some(text) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(text).unwrap());
            }
            line.clear();
        }
        None
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let site = Site::open("console-page", &[]);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/console.css", "text/css; charset=utf-8"),
        ("/console.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let answer = site.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        // Nothing inline, which the policy would not run, and nothing from another place.
        let text = answer.body.replace("http://www.w3.org/", "");
        for banned in
            ["onclick=", "onload=", "style=\"", "<style", "innerHTML", "eval(", "http://", "https://"]
        {
            assert!(!text.contains(banned), "{path} has {banned}");
        }
        assert_eq!(site.post(path, &json!({}), "").status, 405, "{path}");
    }
    // A link that somebody follows may show it; a page of somebody else may not ask for it.
    let followed = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    assert_eq!(site.get_with("/", followed).status, 200);
    assert_eq!(site.get_with("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\n").status, 403);
    site.server.terminate().unwrap();
}

#[test]
fn everybody_here_sees_counters_and_an_account_sees_rows() {
    let site = Site::open("console-samples", &[]);
    let mut root = site.root();
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.stock (sku BIGINT PRIMARY KEY, v INT)",
        "INSERT INTO shop.stock VALUES (471147114711, 0)",
        "CREATE USER plain IDENTIFIED BY 'one'",
        "CREATE USER watcher IDENTIFIED BY 'two'",
        "GRANT PROCESS ON *.* TO watcher",
        "GRANT SELECT ON sys.* TO watcher",
        "GRANT SELECT ON performance_schema.* TO watcher",
    ] {
        root.query(statement).unwrap();
    }
    let plain = site.log_in("plain", "one");
    let watcher = site.log_in("watcher", "two");
    root.query("BEGIN").unwrap();
    root.query("UPDATE shop.stock SET v = 1").unwrap();
    let id = root.number("SELECT CONNECTION_ID()").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..24 {
            let mut client = site.root();
            scope.spawn(move || client.query("UPDATE shop.stock SET v = v + 1").unwrap());
        }
        let waits = |sample: &Json| sample["status"]["Innodb_row_lock_current_waits"] == 24;
        let open = site.watch("").find(waits).unwrap();
        assert!(open["account"].is_null() && !open.to_string().contains("4711471147"), "{open}");
        assert_eq!(open["hot_indexes"][0]["table"], "stock");
        // One without rights is told so where the rows would be.
        let sample = site.watch(&plain.cookie).find(waits).unwrap();
        assert!(!sample.to_string().contains("4711471147"), "{sample}");
        for (list, code) in
            [("hot_rows", "1227"), ("waits", "1142"), ("lock_waits", "1142"), ("digests", "1142")]
        {
            let told = sample["account"][list]["error"].as_str().unwrap_or_default();
            assert!(told.contains(code), "{list}: {sample}");
        }
        let sample = site.watch(&watcher.cookie).find(waits).unwrap();
        let seen = &sample["account"];
        assert_eq!(seen["hot_rows"][0]["LOCK_DATA"], "471147114711", "{seen}");
        assert_eq!(seen["hot_rows"][0]["WAITING"], 24, "{seen}");
        assert_eq!(seen["waits"][0]["blocking_pid"], id, "{seen}");
        assert_eq!(seen["lock_waits"][0]["blocking_pid"], id, "{seen}");
        // Its own session's statements are some of those that end each second.
        let ended = |sample: &Json| sample["latency"]["statements"].as_u64() > Some(0);
        let latency = &site.watch(&watcher.cookie).find(ended).unwrap()["latency"];
        let [p50, p99, p999] = ["p50", "p99", "p999"].map(|name| latency[name].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p999 && p999 < 60.0, "{latency}");
        root.query("COMMIT").unwrap();
    });
    // They have waited longer than anything else took.
    let update = "UPDATE `shop` . `stock` SET `v` = `v` + ?";
    let slowest = |sample: &Json| sample["account"]["digests"][0]["DIGEST_TEXT"] == update;
    site.watch(&watcher.cookie).find(slowest).unwrap();
    // Samples are a second apart, and all who watch see the same ones.
    let (mut one, mut other) = (site.watch(""), site.watch(""));
    let moments = |samples: &mut Samples| -> Vec<i64> {
        samples.take(3).map(|sample| sample["at_us"].as_i64().unwrap()).collect()
    };
    let (first, second) = (moments(&mut one), moments(&mut other));
    assert!(first.iter().filter(|at| second.contains(at)).count() >= 2, "{first:?} {second:?}");
    assert!(first.windows(2).all(|two| two[1] - two[0] > 900_000), "{first:?}");
    // A session that is watched with goes with its watcher, and an account's login with the account.
    let mut samples = site.watch(&watcher.cookie);
    samples.next().unwrap();
    assert_eq!(
        root.number("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'watcher'").unwrap(),
        1
    );
    root.query("DROP USER watcher").unwrap();
    assert!(samples.by_ref().take(4).count() < 4, "samples for an account that is gone");
    let begin = Instant::now();
    while root.number("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'watcher'").unwrap()
        > 0
    {
        assert!(begin.elapsed() < SOON, "the session stays");
    }
    // The end waits for nobody who watches.
    let (mut open, begin) = (site.watch(""), Instant::now());
    open.next().unwrap();
    let begin_of_end = begin.elapsed();
    site.server.terminate().unwrap();
    assert!(begin.elapsed() - begin_of_end < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(open.next().is_none());
}

#[test]
fn a_login_is_proved_kept_and_ended() {
    let site = Site::open("console-login", &["--console-host=db.example"]);
    let mut root = site.root();
    root.query("CREATE USER watcher IDENTIFIED BY 'two'").unwrap();
    let asks =
        |user: &str, password: &str| site.post("/login", &json!({"user": user, "password": password}), "");
    assert_eq!(asks("watcher", "wrong").status, 403);
    assert_eq!(asks("watcher", "").status, 403);
    assert_eq!(asks("nobody", "two").status, 403);
    let login = site.log_in("watcher", "two");
    let who = |more: &str| -> Json { serde_json::from_str(&site.get_with("/session", more).body).unwrap() };
    assert_eq!(who(&login.cookie)["user"], "watcher");
    assert!(who("")["user"].is_null() && who("Cookie: turnstile_console_1=x\r\n")["user"].is_null());
    // By a name that is not this machine's nothing is shown without a login, and everything with one.
    let from_outside =
        |path: &str, more: &str| site.send(&format!("GET {path} HTTP/1.1\r\nHost: db.example\r\n{more}\r\n"));
    assert_eq!((from_outside("/", "").status, from_outside("/events", "").status), (200, 401));
    assert_eq!(from_outside("/session", "").body.matches("\"may_watch\":false").count(), 1);
    assert!(from_outside("/session", &login.cookie).body.contains("\"may_watch\":true"));
    // What changes something takes the page's token, its origin and its type.
    let nothing = json!({});
    assert_eq!(site.post("/logout", &nothing, "").status, 401);
    assert_eq!(site.post("/logout", &nothing, &login.cookie).status, 403);
    let wrong = format!("{}X-Page-Token: 0\r\n", login.cookie);
    assert_eq!(site.post("/logout", &nothing, &wrong).status, 403);
    assert_eq!(site.get_with("/logout", &login.cookie).status, 405);
    let (port, both) = (site.port, format!("{}{}", login.cookie, login.page_token));
    for (origin, kind, status) in [
        ("", "application/json", 403),
        ("Origin: http://evil.example\r\n", "application/json", 403),
        ("own", "text/plain", 415),
        ("own", "application/x-www-form-urlencoded", 415),
    ] {
        let origin =
            if origin == "own" { format!("Origin: http://localhost:{port}\r\n") } else { origin.into() };
        let body = "{\"user\":\"watcher\",\"password\":\"two\"}";
        let length = body.len();
        let answer = site.send(&format!(
            "POST /login HTTP/1.1\r\nHost: localhost:{port}\r\n{origin}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        assert_eq!(answer.status, status, "{origin} {kind}");
    }
    for body in [json!([1]), json!({"user": 1, "password": "two"}), json!({"user": "watcher"})] {
        assert_eq!(site.post("/login", &body, "").status, 400, "{body}");
    }
    let out = site.post("/logout", &nothing, &both);
    assert!(out.status == 200 && out.header("set-cookie").unwrap().contains("Max-Age=0"), "{out:?}");
    assert!(who(&login.cookie)["user"].is_null());
    // Guesses have to wait, as for metrics; the log has no password.
    let statuses: Vec<u16> = (0..6).map(|_| asks("guessed", "secret-guess").status).collect();
    assert_eq!(statuses, [403, 403, 403, 403, 429, 429]);
    assert!(root.number("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Aborted_connects'").unwrap() >= 7);
    site.server.terminate().unwrap();
}

#[test]
fn those_who_watch_leave_places_for_others() {
    let site = Site::open("console-many", &[]);
    let mut watching: Vec<Samples> = (0..24).map(|_| site.watch("")).collect();
    for samples in &mut watching {
        samples.next().unwrap();
    }
    assert_eq!(site.get("/events").status, 503);
    let text = site.get("/metrics").body;
    assert!(text.contains("\nturnstile_console_streams 24\n"), "{text}");
    // Whoever leaves makes room, once his next sample has no reader.
    watching.pop();
    let begin = Instant::now();
    while site.watch("").next().is_none() {
        assert!(begin.elapsed() < SOON, "no room");
    }
    site.server.terminate().unwrap();
}

#[test]
fn switches_are_turned_by_who_may_set_them() {
    let site = Site::open("console-switches", &[]);
    let mut root = site.root();
    for statement in [
        "CREATE USER plain IDENTIFIED BY 'one'",
        "CREATE USER chief IDENTIFIED BY 'two'",
        "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO chief",
    ] {
        root.query(statement).unwrap();
    }
    let (plain, chief) = (site.log_in("plain", "one"), site.log_in("chief", "two"));
    let turn = |login: &Login, name: &str, value: &str| {
        let more = format!("{}{}", login.cookie, login.page_token);
        site.post("/switch", &json!({"name": name, "value": value}), &more)
    };
    let mut now = |name: &str| root.value(&format!("SELECT @@GLOBAL.{name}"), 0).unwrap().unwrap();
    assert_eq!(turn(&chief, "turnstile_hot_row", "ON").status, 200);
    assert_eq!(turn(&chief, "innodb_thread_concurrency", "8").status, 200);
    assert_eq!((now("turnstile_hot_row"), now("innodb_thread_concurrency")), ("ON".into(), "8".into()));
    let told = turn(&plain, "turnstile_hot_row", "OFF");
    assert!(told.status == 403 && told.body.starts_with("ERROR 1227 (42000)"), "{told:?}");
    for (name, value) in
        [("turnstile_hot_row", "MAYBE"), ("innodb_flush_log_at_trx_commit", "0"), ("port", "1")]
    {
        assert_eq!(turn(&chief, name, value).status, 400, "{name}");
    }
    // Neither the cookie nor the token alone is enough, nor are those of two logins.
    let body = json!({"name": "turnstile_hot_row", "value": "OFF"});
    assert_eq!(site.post("/switch", &body, &chief.cookie).status, 403);
    assert_eq!(site.post("/switch", &body, &chief.page_token).status, 401);
    assert_eq!(site.post("/switch", &body, &format!("{}{}", chief.cookie, plain.page_token)).status, 403);
    assert_eq!(site.get_with("/switch", &chief.cookie).status, 405);
    assert_eq!(now("turnstile_hot_row"), "ON");
    let sample = site.watch("").next().unwrap();
    let switches = sample["switches"].as_array().unwrap();
    assert!(
        switches.iter().any(|one| one["name"] == "turnstile_hot_row" && one["value"] == "ON"),
        "{sample}"
    );
    site.server.terminate().unwrap();
}
