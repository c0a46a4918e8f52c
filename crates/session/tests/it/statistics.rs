//! Statistics of tables: what a change locks when the key of few rows is known, before and after a restart,
//! and who has them estimated.

use std::time::{Duration, Instant};

use turnstile_engine::{Config, Engine};
use turnstile_session::Database;

use super::{block_on, run, session};

/// 20,000 orders: 5 kinds of status, 1,000 users with 20 orders each. The key of the status comes first, and
/// its users are in no key together with it.
const ORDERS: [&str; 5] = [
    // All leaves are looked at: what is estimated is exact.
    "SET GLOBAL innodb_stats_persistent_sample_pages = 1000",
    "CREATE TABLE orders (id INT PRIMARY KEY, status TINYINT NOT NULL, user_id INT NOT NULL, note VARCHAR(40), \
     KEY by_status (status), KEY by_user (user_id), KEY by_both (status, note))",
    "CREATE TABLE n (i INT)",
    "INSERT INTO n WITH RECURSIVE c AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 199) SELECT i FROM c",
    "INSERT INTO orders SELECT a.i * 100 + b.i, (a.i * 100 + b.i) % 5, (a.i * 100 + b.i) * 7 % 1000, b.i \
     FROM n AS a JOIN n AS b ON b.i < 100",
];

const CHANGE: &str = "UPDATE orders SET note = 'x' WHERE status = 4 AND user_id = 28";
const LOCKED: &str = "SELECT trx_rows_locked FROM information_schema.innodb_trx WHERE trx_rows_modified > 0";
const CARDINALITY: &str = "SELECT index_name, seq_in_index, cardinality FROM information_schema.statistics \
                           WHERE table_name = 'orders' ORDER BY 1, 2";

/// Rows that the change locks.
fn locked(session: &mut turnstile_session::Session) -> u64 {
    run(session, "BEGIN");
    run(session, CHANGE);
    let locked = run(session, LOCKED).trim().parse().unwrap();
    run(session, "ROLLBACK");
    locked
}

fn wait_for_cardinality(session: &mut turnstile_session::Session) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let seen = run(session, CARDINALITY);
        if seen.contains("by_user | 1 | 1000\n") || Instant::now() > until {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_change_locks_the_rows_of_the_better_key() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let first = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&first);
    ORDERS.iter().for_each(|text| assert!(run(&mut shop, text).starts_with("ok"), "{text}"));
    assert!(run(&mut shop, "ANALYZE TABLE orders").contains("status | OK"));
    let seen = run(&mut shop, CARDINALITY);
    assert_eq!(
        seen,
        "by_both | 1 | 5\nby_both | 2 | 100\nby_status | 1 | 5\nby_user | 1 | 1000\nPRIMARY | 1 | 20000\n"
    );
    let known = run(
        &mut shop,
        "SELECT table_name, n_rows, clustered_index_size > 10, last_update > NOW() - INTERVAL 1 DAY \
         FROM mysql.innodb_table_stats WHERE database_name = 'test'",
    );
    assert_eq!(known, "orders | 20000 | 1 | 1\n");
    let known = run(
        &mut shop,
        "SELECT index_name, stat_name, stat_value, stat_description FROM mysql.innodb_index_stats \
         WHERE table_name = 'orders' AND index_name = 'by_both' AND stat_name LIKE 'n\\_diff%'",
    );
    assert_eq!(known, "by_both | n_diff_pfx01 | 5 | status\nby_both | n_diff_pfx02 | 100 | status,note\n");
    assert!(run(&mut shop, "DELETE FROM mysql.innodb_index_stats").starts_with("error "));
    // 20 rows of the user, entries of their key and the gap behind them.
    let now = locked(&mut shop);
    assert!((20..=45).contains(&now), "{now} rows locked");
    // In the next life, and without a look at the table.
    let second = block_on(Database::open(engine)).unwrap();
    let mut later = session(&second);
    assert_eq!(run(&mut later, CARDINALITY), seen);
    // The entries that the first change made and took back may be met again.
    let again = locked(&mut later);
    assert!((20..=65).contains(&again), "{again} rows locked");
    // What is dropped leaves nothing that another table could take for its own.
    run(&mut later, "TRUNCATE TABLE orders");
    assert!(run(&mut later, CARDINALITY).contains("by_user | 1 | 0\n"));
}

#[test]
fn a_tenth_of_a_table_has_it_looked_at() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let mut shop = session(&db);
    run(&mut shop, "SET GLOBAL innodb_stats_auto_recalc = OFF");
    ORDERS.iter().for_each(|text| assert!(run(&mut shop, text).starts_with("ok"), "{text}"));
    assert!(run(&mut shop, CARDINALITY).contains("by_user | 1 | NULL"));
    run(&mut shop, "SET GLOBAL innodb_stats_auto_recalc = ON");
    // No key is moved: nothing that is known of the keys has become untrue.
    run(&mut shop, "CREATE TABLE plain (a INT, b INT)");
    run(&mut shop, "UPDATE orders SET id = id + 100000 WHERE id < 300");
    let seen = wait_for_cardinality(&mut shop);
    assert!(seen.contains("by_user | 1 | 1000\n"), "{seen}");
    let now = locked(&mut shop);
    assert!((20..=45).contains(&now), "{now} rows locked");
}

/// A plan that was kept from before is made anew.
#[test]
fn a_prepared_statement_takes_the_better_key_once_it_is_known() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let mut shop = session(&db);
    run(&mut shop, "SET GLOBAL innodb_stats_auto_recalc = OFF");
    ORDERS.iter().for_each(|text| assert!(run(&mut shop, text).starts_with("ok"), "{text}"));
    // The values come from another table's row, so that only statistics can tell how many rows they find.
    run(
        &mut shop,
        "PREPARE s FROM 'UPDATE n JOIN orders AS o ON o.status = n.i - 24 AND o.user_id = n.i SET o.note = ? \
         WHERE n.i = ? AND n.i > ?'",
    );
    run(&mut shop, "SET @a = 'x', @b = 28, @c = 4");
    let mut changed = |text: &str| {
        run(&mut shop, text);
        run(&mut shop, "BEGIN");
        run(&mut shop, "EXECUTE s USING @a, @b, @c");
        let locked: u64 = run(&mut shop, LOCKED).trim().parse().unwrap();
        run(&mut shop, "ROLLBACK");
        locked
    };
    let before = changed("DO 0");
    assert!(before > 4000, "{before}: the key of the status comes first, and nothing is known of it");
    let after = changed("ANALYZE TABLE orders");
    // Those of the table without a key are among them.
    assert!(after <= 300, "{after} rows locked");
}
