//! One name, given by four sessions at the same moment: one of them gives it, the others are told so, and
//! nothing is lost by it, now or after a restart.

use std::sync::Barrier;

use turnstile_lab::client::{Client, ClientError, Target};

use super::{Scratch, connect, start};

const ROUNDS: usize = 12;

/// What statements at the same moment gave: 0, or the number of an error.
fn at_once(clients: &mut [Client], statements: &[String]) -> Vec<u16> {
    let start = Barrier::new(statements.len());
    std::thread::scope(|scope| {
        let asked: Vec<_> = clients
            .iter_mut()
            .zip(statements)
            .map(|(client, statement)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    match client.query(statement) {
                        Ok(_) => 0,
                        Err(ClientError::Server { code, .. }) => code,
                        Err(other) => panic!("{statement}: {other}"),
                    }
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// One success, and this error for all others.
fn one_and(error: u16, codes: &[u16], what: &str) {
    let mut sorted = codes.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, error, error, error], "{what}");
}

fn clients(target: &Target) -> Vec<Client> {
    (0..4).map(|_| connect(target)).collect()
}

fn each(statement: &str) -> Vec<String> {
    ["a", "b", "c", "d"].iter().map(|table| statement.replace('%', table)).collect()
}

#[test]
fn one_of_several_makes_the_table() {
    let scratch = Scratch::new("names-create");
    let (server, target) = start(&scratch, &[]);
    let mut clients = clients(&target);
    let mut owner = connect(&target);
    for round in 0..ROUNDS {
        one_and(1007, &at_once(&mut clients, &vec!["CREATE DATABASE d".into(); 4]), "CREATE DATABASE");
        one_and(1050, &at_once(&mut clients, &vec!["CREATE TABLE d.t (a INT)".into(); 4]), "CREATE TABLE");
        let forgiving = "CREATE TABLE IF NOT EXISTS d.u (a INT)";
        assert_eq!(at_once(&mut clients, &vec![forgiving.into(); 4]), [0; 4]);
        one_and(
            1050,
            &at_once(&mut clients, &each("CREATE TABLE d.v SELECT 1 AS %")),
            "CREATE TABLE ... SELECT",
        );
        let named = each("CREATE TABLE d.% (a INT, CONSTRAINT one CHECK (a > 0))");
        one_and(3822, &at_once(&mut clients, &named), "CHECK of one name");
        // Whoever finds the database gone makes no table in it that comes back with it.
        let going = ["DROP DATABASE d".into(), "CREATE TABLE d.w (a INT)".into()];
        let codes = at_once(&mut clients, &going);
        assert!(codes == [0, 0] || codes == [0, 1049], "round {round}: {codes:?}");
        owner.query("CREATE DATABASE d").unwrap();
        let left = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'";
        assert_eq!(owner.number(left).unwrap(), 0, "round {round}");
        owner.query("DROP DATABASE d").unwrap();
    }
    server.terminate().unwrap();
}

#[test]
fn tables_that_want_one_name_are_all_there_afterwards() {
    let scratch = Scratch::new("names-rename");
    let (server, target) = start(&scratch, &[]);
    let mut owner = connect(&target);
    {
        let mut clients = clients(&target);
        for round in 0..ROUNDS {
            for (way, statement) in [
                ("RENAME TABLE", "RENAME TABLE d%.% TO d%.x"),
                ("ALTER TABLE ... RENAME", "ALTER TABLE d%.% ADD COLUMN b INT, RENAME TO d%.x"),
            ] {
                let database = format!("{}{round}", if way == "RENAME TABLE" { "r" } else { "a" });
                owner.query(&format!("CREATE DATABASE d{database}")).unwrap();
                for (nth, table) in ["a", "b", "c", "d"].iter().enumerate() {
                    owner.query(&format!("CREATE TABLE d{database}.{table} (k INT PRIMARY KEY)")).unwrap();
                    owner.query(&format!("INSERT INTO d{database}.{table} VALUES ({nth})")).unwrap();
                }
                let each = each(&statement.replace("d%", &format!("d{database}")));
                one_and(1050, &at_once(&mut clients, &each), way);
            }
        }
    }
    server.kill().unwrap();
    let (server, target) = start(&scratch, &[]);
    let mut owner = connect(&target);
    for round in 0..ROUNDS {
        for way in ["r", "a"] {
            let database = format!("d{way}{round}");
            let count =
                format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{database}'");
            assert_eq!(owner.number(&count).unwrap(), 4, "{database}");
            let mut rows = 0;
            let mut sum = 0;
            for table in ["a", "b", "c", "d", "x"] {
                // One of them has another name now.
                if let Ok(row) = owner.number(&format!("SELECT k FROM {database}.{table}")) {
                    (rows, sum) = (rows + 1, sum + row);
                }
            }
            assert_eq!((rows, sum), (4, 6), "{database}");
        }
    }
    server.terminate().unwrap();
}
