//! Statements of a shop and of a queue: how many rows they lock and read, counted, while nobody has analyzed
//! a table, after ANALYZE, and after a restart.

use turnstile_engine::{Config, Engine};
use turnstile_session::{Database, Session};

use super::{block_on, run, session};

/// 20,000 orders, oldest first. Some 18,000 wait (status 4), the last five are
/// returned (7), the others are done; each of 1,000 users has 20.
/// Stock is kept by warehouse and item; of each text of a page there is one.
const SHOP: [&str; 15] = [
    "CREATE TABLE n (i INT PRIMARY KEY)",
    "INSERT INTO n WITH RECURSIVE c AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 199) SELECT i FROM c",
    "CREATE TABLE orders (id INT PRIMARY KEY, status TINYINT NOT NULL, user_id INT NOT NULL, created DATETIME NOT NULL, \
     note VARCHAR(40), KEY by_status (status), KEY by_user (user_id), KEY by_created (created))",
    "INSERT INTO orders SELECT a.i * 100 + b.i, IF(a.i * 100 + b.i > 19994, 7, IF(b.i % 10 = 3, b.i % 4, 4)), (a.i * 100 + b.i) * 7 % 1000, \
     '2026-01-01' + INTERVAL a.i * 100 + b.i MINUTE, b.i FROM n AS a JOIN n AS b ON b.i < 100",
    "CREATE TABLE stock (w INT, i INT, quantity INT NOT NULL, PRIMARY KEY (w, i))",
    "INSERT INTO stock SELECT a.i, b.i, 100 FROM n AS a JOIN n AS b ON a.i < 10",
    "CREATE TABLE posts (id INT PRIMARY KEY, kind INT NOT NULL, at INT NOT NULL, title VARCHAR(40), KEY (kind, at))",
    "INSERT INTO posts SELECT a.i * 100 + b.i, b.i % 3, a.i * 100 + b.i, CONCAT('post ', a.i) FROM n AS a JOIN n AS b \
     ON a.i < 100 AND b.i < 100",
    "CREATE TABLE titled (id INT PRIMARY KEY, kind INT, title VARCHAR(40), KEY (kind, title), KEY (title(6)))",
    "INSERT INTO titled SELECT id, kind, title FROM posts",
    "CREATE VIEW waiting AS SELECT id, user_id, note, created, id + 1 AS next FROM orders WHERE status = 4",
    "CREATE VIEW by_user AS SELECT user_id, COUNT(*) AS n, MAX(created) AS last FROM orders GROUP BY user_id",
    "CREATE VIEW kinds AS SELECT DISTINCT kind, at FROM posts",
    "CREATE VIEW queue AS SELECT id, user_id FROM orders WHERE status = 4 ORDER BY created",
    "CREATE VIEW told AS SELECT w.id, w.note, p.title FROM waiting AS w JOIN posts AS p ON p.id = w.id",
];

/// A change, and how many rows it may lock.
const CHANGES: [(&str, u64); 18] = [
    // Few rows have the user, most have the status.
    ("UPDATE orders SET note = 'x' WHERE status = 4 AND user_id = 28", 45),
    ("DELETE FROM orders WHERE status = 4 AND user_id = 35", 65),
    // Few are done, of a user or not.
    ("UPDATE orders SET note = 'x' WHERE status = 1 AND created > '2020-01-01'", 4100),
    (
        "UPDATE orders SET note = 'y' WHERE created BETWEEN '2026-01-01 00:00:00' AND '2026-01-01 00:09:00' AND status = 4",
        30,
    ),
    // A line of an order: several rows of the stock by both parts of its key.
    ("UPDATE stock SET quantity = quantity - 1 WHERE (w, i) IN ((1, 2), (3, 4), (5, 6))", 3),
    ("UPDATE stock SET quantity = quantity - 1 WHERE (w = 1 AND i = 2) OR (i = 4 AND w = 3)", 2),
    ("UPDATE stock SET quantity = quantity - 1 WHERE w IN (1, 2) AND i IN (7, 8, 9)", 6),
    ("DELETE FROM stock WHERE (i, w) IN ((100, 1))", 1),
    // The oldest that waits.
    ("UPDATE orders SET note = 'taken' WHERE status = 4 ORDER BY created LIMIT 1", 4),
    ("DELETE FROM posts WHERE (kind = 1 AND at > 9990) OR kind > 7", 12),
    // Rows that a query finds; those that it reads are locked as well.
    ("UPDATE orders SET note = 'z' WHERE user_id IN (SELECT i FROM n WHERE i BETWEEN 3 AND 4)", 100),
    ("DELETE FROM stock WHERE (w, i) IN (SELECT kind, id FROM posts WHERE kind = 2 AND at < 9)", 20),
    // One key or the other.
    ("UPDATE orders SET note = 'u' WHERE user_id = 28 OR id = 5", 46),
    (
        "DELETE FROM orders WHERE (user_id = 29 AND status = 4) OR created < '2026-01-01 00:03:00' OR id IN (7, 28)",
        75,
    ),
    // Through views.
    ("UPDATE waiting SET note = 'v' WHERE user_id = 30", 45),
    ("UPDATE told SET note = 'w' WHERE id = 17", 3),
    ("DELETE FROM waiting WHERE id = 17", 2),
    ("UPDATE orders AS o JOIN n ON n.i = o.user_id SET o.note = 'n' WHERE n.i = 5", 45),
];

/// A read, and how many rows it may look at.
const READS: [(&str, u64); 30] = [
    // What was found for the same values is not looked for again.
    (
        "SELECT COUNT(*) FROM posts AS p WHERE (SELECT COUNT(*) FROM orders AS o WHERE o.user_id = p.kind) > 5",
        10_100,
    ),
    (
        "SELECT id FROM posts AS p WHERE EXISTS (SELECT * FROM orders AS o WHERE o.user_id = p.kind AND o.id > p.kind * 99)",
        10_010,
    ),
    ("SELECT id FROM orders WHERE status = 4 ORDER BY created LIMIT 5", 10),
    ("SELECT note FROM orders WHERE status = 4 AND user_id = 28", 21),
    ("SELECT quantity FROM stock WHERE (w, i) IN ((1, 2), (3, 4), (5, 6))", 6),
    ("SELECT id FROM posts WHERE (kind, at) > (1, 9990) ORDER BY kind, at LIMIT 3", 8),
    (
        "SELECT title FROM posts WHERE kind = 1 AND at > 5000 OR kind = 2 AND at < 10 ORDER BY id LIMIT 3",
        1700,
    ),
    ("SELECT COUNT(*) FROM orders WHERE created < '2026-01-01 01:00:00' AND status = 4", 61),
    ("SELECT id FROM orders WHERE user_id IN (1, 2, 3)", 64),
    // A search box.
    ("SELECT id FROM titled WHERE title LIKE 'POST 42%' AND kind = 1", 40),
    ("SELECT COUNT(*) FROM titled WHERE title LIKE 'post 7'", 1101),
    // Views.
    ("SELECT note FROM waiting WHERE user_id = 28", 21),
    ("SELECT w.id, w.next FROM n JOIN waiting AS w ON w.user_id = n.i WHERE n.i = 9", 45),
    ("SELECT title FROM told WHERE id = 17", 3),
    ("SELECT id FROM queue WHERE user_id = 28", 21),
    ("SELECT id FROM queue LIMIT 3", 10),
    ("SELECT n FROM by_user WHERE user_id = 28", 22),
    ("SELECT d.n FROM by_user AS d JOIN n ON n.i = d.user_id WHERE d.user_id IN (28, 29)", 70),
    ("SELECT at FROM kinds WHERE kind = 1 AND at > 9990", 10),
    (
        "SELECT n FROM (SELECT user_id AS u, COUNT(*) AS n FROM orders GROUP BY user_id HAVING n > 1) AS d WHERE u = 28",
        22,
    ),
    // Queries in queries.
    ("SELECT note FROM orders WHERE user_id IN (SELECT i FROM n WHERE i < 3)", 130),
    ("SELECT d.note FROM (SELECT * FROM orders) AS d WHERE d.user_id = 28 AND d.status = 4", 21),
    (
        "SELECT x FROM (SELECT o.id AS x, o.user_id AS y FROM orders AS o JOIN n ON n.i = o.user_id) AS d WHERE y = 7",
        45,
    ),
    // Outer joins, one of two tables among them.
    ("SELECT n.i, o.id FROM n LEFT JOIN orders AS o ON o.user_id = n.i WHERE n.i = 9", 22),
    (
        "SELECT n.i, o.id FROM n LEFT JOIN (orders AS o JOIN posts AS p ON p.id = o.id) ON o.user_id = n.i WHERE n.i = 9",
        45,
    ),
    ("SELECT o.id FROM n LEFT JOIN orders AS o ON o.user_id = n.i WHERE o.id = 700", 3),
    // Derived tables among the tables of a join.
    (
        "SELECT o.id, d.title FROM orders AS o JOIN (SELECT id AS post, title, kind + 1 AS k FROM posts) AS d ON d.post = o.id \
         WHERE o.user_id = 28 AND d.k > 1",
        45,
    ),
    (
        "WITH waiting AS (SELECT * FROM orders WHERE status = 4) SELECT note FROM waiting WHERE user_id = 28",
        21,
    ),
    (
        "SELECT n.i, d.id FROM n LEFT JOIN (SELECT id, user_id FROM orders WHERE status = 4) AS d ON d.user_id = n.i WHERE n.i = 9",
        22,
    ),
    // Each of both tables once.
    (
        "SELECT COUNT(*) FROM posts AS p WHERE NOT EXISTS (SELECT 1 FROM stock AS s WHERE s.quantity = p.at)",
        12_010,
    ),
];

const LOCKED: &str = "SELECT trx_rows_locked FROM information_schema.innodb_trx WHERE trx_rows_modified > 0";

fn locked(shop: &mut Session, text: &str) -> u64 {
    run(shop, "BEGIN");
    let answer = run(shop, text);
    assert!(answer.starts_with("ok"), "{text}: {answer}");
    let locked = run(shop, LOCKED).trim().parse();
    run(shop, "ROLLBACK");
    locked.unwrap_or_else(|_| panic!("{text} changed nothing"))
}

fn rows_read(shop: &mut Session) -> u64 {
    let seen = run(shop, "SHOW STATUS LIKE 'Innodb_rows_read'");
    seen.trim().rsplit(' ').next().unwrap().parse().unwrap()
}

fn check(shop: &mut Session, when: &str) {
    for (text, most) in CHANGES {
        let now = locked(shop, text);
        assert!(now <= most, "{when}: {text} locks {now} rows");
    }
    for (text, most) in READS {
        let before = rows_read(shop);
        let answer = run(shop, text);
        let read = rows_read(shop) - before;
        assert!(!answer.starts_with("error "), "{text}: {answer}");
        assert!(read <= most, "{when}: {text} reads {read} rows");
    }
}

#[test]
fn a_shop_reads_and_locks_what_it_must() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let first = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&first);
    run(&mut shop, "SET GLOBAL innodb_stats_auto_recalc = OFF");
    SHOP.iter().for_each(|text| assert!(run(&mut shop, text).starts_with("ok"), "{text}"));
    check(&mut shop, "before ANALYZE");
    run(&mut shop, "ANALYZE TABLE orders, stock, posts, titled");
    check(&mut shop, "after ANALYZE");
    let second = block_on(Database::open(engine)).unwrap();
    check(&mut session(&second), "after a restart");
}

/// A queue's statement is kept, and what it is kept for changes: first most rows wait, then hardly any.
#[test]
fn a_kept_plan_is_made_anew_for_other_values() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let mut shop = session(&db);
    SHOP.iter().for_each(|text| assert!(run(&mut shop, text).starts_with("ok"), "{text}"));
    for text in [
        "PREPARE next FROM 'UPDATE orders SET note = ''t'' WHERE status = ? ORDER BY created LIMIT 1'",
        "SET @many = 4, @few = 7",
    ] {
        assert!(!run(&mut shop, text).starts_with("error "), "{text}");
    }
    for _ in 0..3 {
        let many = locked(&mut shop, "EXECUTE next USING @many");
        assert!(many <= 4, "{many} rows locked");
        let few = locked(&mut shop, "EXECUTE next USING @few");
        assert!(few <= 30, "{few} rows locked");
    }
    // The same as literals, which are kept as a template.
    for _ in 0..3 {
        let many =
            locked(&mut shop, "UPDATE orders SET note = 't' WHERE status = 4 ORDER BY created LIMIT 1");
        assert!(many <= 4, "{many} rows locked");
        let few = locked(&mut shop, "UPDATE orders SET note = 't' WHERE status = 7 ORDER BY created LIMIT 1");
        assert!(few <= 30, "{few} rows locked");
    }
}

/// Mails by their lower case, orders by the year and by a sum, none of which is a column.
#[test]
fn keys_over_expressions_read_and_lock_few_rows() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let first = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&first);
    for text in [
        "CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(40), price INT, tax INT, UNIQUE ((LOWER(mail))), \
         KEY ((price + tax)), KEY ((id + 1)))",
        "INSERT INTO users WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) \
         SELECT i, CONCAT('User', i, '@Shop'), i, i FROM n",
    ] {
        assert!(run(&mut shop, text).starts_with("ok"), "{text}");
    }
    let look = |shop: &mut Session, when: &str| {
        // Texts that differ in their literals come to be a template at the second of them.
        for nth in 100..106 {
            for text in [
                format!("SELECT id FROM users WHERE price + tax = {}", 2 * nth),
                format!("SELECT id FROM users WHERE id + 1 = {nth}"),
                format!("SELECT id FROM users WHERE LOWER(mail) = 'user{nth}@shop'"),
                "SELECT id FROM users ORDER BY price + tax DESC LIMIT 1".into(),
            ] {
                let before = rows_read(shop);
                let answer = run(shop, &text);
                assert_eq!(answer.lines().count(), 1, "{when}: {text}: {answer}");
                let read = rows_read(shop) - before;
                assert!(read <= 4, "{when}: {text} reads {read} rows");
            }
            for text in [
                format!("UPDATE users SET tax = 0 WHERE price + tax = {}", 2 * nth),
                format!("DELETE FROM users WHERE LOWER(mail) = 'user{nth}@shop'"),
            ] {
                let locked = locked(shop, &text);
                assert!(locked <= 5, "{when}: {text} locks {locked} rows");
            }
        }
    };
    look(&mut shop, "before a restart");
    let second = block_on(Database::open(engine)).unwrap();
    look(&mut session(&second), "after a restart");
}
