//! Whom the console refuses, and that nobody can hold it up.

use std::net::Shutdown;
use std::time::Instant;

use super::*;

#[test]
fn only_the_consoles_own_names_reach_it() {
    let site = Site::open("console-names", &["--console-host=Db.Example, other.example"]);
    let asked =
        |path: &str, host: &str| site.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).status;
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8090", "[::1]:8090"] {
        assert_eq!(asked("/metrics", host), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "db.example.evil"] {
        for path in ["/metrics", "/healthz", "/readyz", "/nothing"] {
            assert_eq!(asked(path, host), 421, "{host}{path}");
        }
    }
    // A name that is the console's, or an address of elsewhere, shows nothing without an account.
    for host in ["db.example", "other.example:80", "192.0.2.1"] {
        assert_eq!((asked("/healthz", host), asked("/metrics", host)), (200, 401), "{host}");
    }
    // Balancers that speak HTTP/1.0 name no host. They learn nothing but health.
    let old = |path: &str| site.send(&format!("GET {path} HTTP/1.0\r\n\r\n")).status;
    assert_eq!(["/healthz", "/readyz", "/metrics", "/"].map(old), [200, 200, 400, 400]);
    for hosts in ["Host: localhost\r\nHost: localhost\r\n", "Host: a:b\r\n", "Host:\r\n"] {
        assert_eq!(site.send(&format!("GET /healthz HTTP/1.1\r\n{hosts}\r\n")).status, 400, "{hosts}");
    }
    // Somebody passes it on for another.
    for forwarded in ["X-Forwarded-For: 192.0.2.1\r\n", "Forwarded: for=192.0.2.1\r\n", "Via: 1.1 x\r\n"] {
        assert_eq!(site.get_with("/metrics", forwarded).status, 401, "{forwarded}");
    }
    site.server.terminate().unwrap();
}

#[test]
fn pages_of_others_get_nothing() {
    let site = Site::open("console-origin", &[]);
    let own = format!("Origin: http://localhost:{}\r\n", site.port);
    assert_eq!(site.get_with("/nothing", &own).status, 404);
    assert_eq!(site.get_with("/nothing", "Sec-Fetch-Site: same-origin\r\n").status, 404);
    for other in [
        "Origin: null\r\n",
        "Origin: http://localhost\r\n",
        "Origin: http://evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
    ] {
        assert_eq!(site.get_with("/nothing", other).status, 403, "{other}");
    }
    site.server.terminate().unwrap();
}

#[test]
fn metrics_for_others_take_an_account_and_hot_rows_a_right() {
    use base64_of as code;
    let site = Site::open("console-basic", &[]);
    let mut root = site.root();
    for statement in [
        "CREATE USER plain IDENTIFIED BY 'one'",
        "CREATE USER watcher IDENTIFIED BY 'two'",
        "GRANT PROCESS ON *.* TO watcher",
        "CREATE USER closed IDENTIFIED BY 'three' ACCOUNT LOCK",
        "CREATE USER safe IDENTIFIED BY 'four' REQUIRE SSL",
    ] {
        root.query(statement).unwrap();
    }
    let get = |user: &str, password: &str| {
        let header = format!("Authorization: Basic {}\r\n", code(&format!("{user}:{password}")));
        site.send(&format!("GET /metrics HTTP/1.1\r\nHost: 192.0.2.1\r\n{header}\r\n"))
    };
    let (plain, watcher) = (get("plain", "one"), get("watcher", "two"));
    assert_eq!((plain.status, watcher.status), (200, 200));
    let tells = |answer: &Answer| answer.body.contains("turnstile_hot_index_rows");
    assert!(!tells(&plain) && tells(&watcher));
    let tells = |answer: &Answer| answer.body.contains("mysql_perf_schema_events_statements_total{");
    assert!(!tells(&plain) && !tells(&watcher));
    root.query("GRANT SELECT ON performance_schema.* TO watcher").unwrap();
    assert!(!tells(&get("plain", "one")) && tells(&get("watcher", "two")));
    assert_eq!(
        get("closed", "three").body.trim(),
        "ERROR 3118 (HY000): Access denied for user 'closed'@'127.0.0.1'. Account is locked."
    );
    assert_eq!(get("safe", "four").status, 403);
    let denied = get("nobody", "x");
    let text = "ERROR 1045 (28000): Access denied for user 'nobody'@'127.0.0.1' (using password: YES)";
    assert_eq!((denied.status, denied.body.trim()), (403, text));
    let bare = site.send("GET /metrics HTTP/1.1\r\nHost: 192.0.2.1\r\nAuthorization: Basic !!\r\n\r\n");
    assert!(bare.status == 401 && bare.header("www-authenticate").unwrap().starts_with("Basic "));
    // Whoever guesses has to wait, and the right password does not help meanwhile; others go on.
    let statuses: Vec<u16> = (0..6).map(|_| get("watcher", "wrong").status).collect();
    assert_eq!(statuses, [403, 403, 403, 403, 429, 429]);
    assert_eq!((get("watcher", "two").status, get("plain", "one").status), (429, 200));
    root.query("SET GLOBAL require_secure_transport = ON").unwrap();
    assert!(get("plain", "one").body.contains("3159"));
    site.server.terminate().unwrap();
}

/// Base 64 by the definition, so that the test does not believe the library that it tests.
fn base64_of(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let of = |three: &[u8]| {
        let bits =
            three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        (0..4)
            .map(move |nth| match nth <= three.len() {
                true => LETTERS[(bits >> (18 - 6 * nth) & 63) as usize] as char,
                false => '=',
            })
            .collect::<String>()
    };
    text.as_bytes().chunks(3).map(of).collect()
}

#[test]
fn what_cannot_be_read_is_refused_and_ends_nothing() {
    let site = Site::open("console-garbage", &[]);
    let host = "Host: localhost\r\n";
    for (request, status) in [
        (format!("POST /metrics HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("POST /healthz HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("DELETE /metrics HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("GET /nothing HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET /metrics/../metrics HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET /metrics HTTP/1.1\r\n{host}X: {}\r\n\r\n", "a".repeat(9000)), 431),
        (format!("GET /metrics HTTP/1.1\r\n{host}{}\r\n", "a: b\r\n".repeat(100)), 431),
        (format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(9000)), 431),
        (format!("GET /metrics HTTP/1.1\r\n{host}Content-Length: 1000000\r\n\r\n"), 413),
        (format!("GET /metrics HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n"), 501),
        ("GET /metrics HTTP/9.9\r\n\r\n".into(), 400),
        ("\u{16}\u{3}\u{1} no TLS here \r\n\r\n".into(), 400),
    ] {
        let short: String = request.chars().take(60).collect();
        assert_eq!(site.send(&request).status, status, "{short}");
    }
    // Half a request, and then the end.
    let mut socket = site.dial();
    socket.write_all(b"GET /met").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(answer_of(&mut socket).status, 400);
    // Bytes of every kind, from a generator with a seed.
    let mut state = 7u64;
    for _ in 0..50 {
        let bytes: Vec<u8> = (0..300)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        let mut socket = site.dial();
        // It may have been refused, and closed, after the first bytes.
        let _ = socket.write_all(&bytes).and_then(|()| socket.shutdown(Shutdown::Write));
        let _ = socket.read_to_end(&mut Vec::new());
    }
    assert_eq!(site.get("/readyz").status, 200);
    site.server.terminate().unwrap();
}

#[test]
fn who_sends_nothing_or_slowly_holds_nobody_up() {
    let site = Site::open("console-slow", &[]);
    let mut slow: Vec<TcpStream> = (0..100).map(|_| site.dial()).collect();
    for socket in &mut slow {
        // Those that have been shut out already do not take it.
        let _ = socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: local");
    }
    let begin = Instant::now();
    assert_eq!(site.get("/metrics").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    // Who has his answer and does not go is no better.
    let mut done: Vec<TcpStream> = (0..60).map(|_| site.dial()).collect();
    for socket in &mut done {
        let _ = socket.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    let begin = Instant::now();
    assert_eq!(site.get("/metrics").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let mut slow: Vec<TcpStream> = (0..100).map(|_| site.dial()).collect();
    for socket in &mut slow {
        let _ = socket.write_all(b"GET /met");
    }
    // Who is let be is told after five seconds.
    let mut last = slow.pop().unwrap();
    assert_eq!(answer_of(&mut last).status, 408);
    assert!(begin.elapsed() < SOON);
    // The end of the server waits for none of them.
    let _held: Vec<TcpStream> = (0..20).map(|_| site.dial()).collect();
    let begin = Instant::now();
    site.server.terminate().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
}
