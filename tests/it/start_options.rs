//! Options that act when a server starts, stops or takes a client in: `init_file`, `init_connect`,
//! `pid_file`, `log_error`; and what FLUSH of little-known kinds and `max_connect_errors` answer.

use std::fs;

use turnstile_lab::client::{Client, Target};

use super::{Scratch, connect, start};

fn as_user(target: &Target, user: &str) -> Target {
    Target { user: user.into(), ..target.clone() }
}

#[test]
fn the_first_statements_the_log_and_the_number_of_the_process() {
    let scratch = Scratch::new("start-options");
    fs::create_dir_all(scratch.data()).unwrap();
    let script = "CREATE DATABASE made; CREATE TABLE made.t (id INT PRIMARY KEY);\nINSERT INTO made.t VALUES (7); CREATE USER 'made'@'%';";
    fs::write(scratch.data().join("first.sql"), script).unwrap();
    let options = ["--init-file=first.sql", "--pid-file=server.pid", "--log-error=server.log"];
    let (server, target) = start(&scratch, &options);
    assert_eq!(connect(&target).number("SELECT id FROM made.t").unwrap(), 7);
    let number = fs::read_to_string(scratch.data().join("server.pid")).unwrap();
    assert_eq!(number.trim(), server.id().to_string());
    let log = fs::read_to_string(scratch.data().join("server.log")).unwrap();
    assert!(log.contains("init_file 'first.sql' ended"), "{log}");
    server.terminate().unwrap();
    assert!(!scratch.data().join("server.pid").exists(), "the file goes with the server");
    // A statement that fails keeps the server from starting, and the log says why.
    let output = std::process::Command::new(super::binary())
        .args(["serve", "--no-defaults", "--port=0", "--init-file=first.sql", "--log-error=server.log"])
        .arg(format!("--datadir={}", scratch.data().display()))
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = fs::read_to_string(scratch.data().join("server.log")).unwrap()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("init_file 'first.sql': 1007"), "{told}");
}

#[test]
fn a_client_begins_with_init_connect_unless_it_administers() {
    let scratch = Scratch::new("init-connect");
    let (server, target) =
        start(&scratch, &["--init-connect=SET @here = 'set', @also = 2", "--log-error=server.log"]);
    let mut root = connect(&target);
    for statement in [
        "CREATE USER plain",
        "CREATE USER boss",
        "GRANT CONNECTION_ADMIN ON *.* TO boss",
        "CREATE ROLE admin",
        "GRANT CONNECTION_ADMIN ON *.* TO admin",
        "CREATE USER by_role DEFAULT ROLE admin",
    ] {
        root.query(statement).unwrap();
    }
    let here =
        |user: &str| Client::connect(&as_user(&target, user)).unwrap().value("SELECT @here", 0).unwrap();
    assert_eq!(here("plain").as_deref(), Some("set"));
    for user in ["root", "boss", "by_role"] {
        assert_eq!(here(user), None, "{user}");
    }
    root.query("SET GLOBAL init_connect = 'SELECT * FROM nothing.there'").unwrap();
    let mut plain = Client::connect(&as_user(&target, "plain")).unwrap();
    assert_eq!(plain.query("SELECT 1").unwrap_err().code(), Some(1184));
    assert!(plain.query("SELECT 1").is_err(), "the connection has ended");
    assert!(Client::connect(&as_user(&target, "boss")).unwrap().query("SELECT 1").is_ok());
    let log = fs::read_to_string(scratch.data().join("server.log")).unwrap();
    assert!(log.contains("init_connect failed") && log.contains("'plain'"), "{log}");
    server.terminate().unwrap();
}

#[test]
fn flush_and_what_has_no_effect() {
    let scratch = Scratch::new("flush-kinds");
    let (server, target) = start(&scratch, &[]);
    let mut root = connect(&target);
    root.query("CREATE USER plain").unwrap();
    let mut plain = Client::connect(&as_user(&target, "plain")).unwrap();
    for kind in ["STATUS", "OPTIMIZER_COSTS", "USER_RESOURCES"] {
        root.query(&format!("FLUSH {kind}")).unwrap();
        assert_eq!(plain.query(&format!("FLUSH {kind}")).unwrap_err().code(), Some(1227), "{kind}");
    }
    assert_eq!(root.query("FLUSH HOSTS").unwrap_err().code(), Some(1064), "MySQL 8.4 has no FLUSH HOSTS");
    root.query("SET GLOBAL max_connect_errors = 7").unwrap();
    let warning = root.value("SHOW WARNINGS", 2).unwrap().unwrap_or_default();
    assert!(warning.contains("'max_connect_errors' is kept and has no effect"), "{warning}");
    server.terminate().unwrap();
}
