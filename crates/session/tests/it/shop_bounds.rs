//! What applications send (a shop, a queue, a CMS, an ORM), each statement with how many rows it may read
//! and how many records it may lock: `shop_bounds/statements.txt`. Counted on a fresh server, after a
//! restart, and both again with histograms.

use std::sync::Arc;

use turnstile_engine::{Config, Engine};
use turnstile_session::{Database, Session};
use turnstile_sys::fault_disk::FaultDisk;

use super::{block_on, run, session};

const TABLES: &str = include_str!("shop_bounds/tables.sql");
const STATEMENTS: &str = include_str!("shop_bounds/statements.txt");

/// Columns that conditions compare and no key begins with.
const HISTOGRAMS: [&str; 8] = [
    "customers UPDATE HISTOGRAM ON tier, deleted_at",
    "products UPDATE HISTOGRAM ON active, stock, price",
    "orders UPDATE HISTOGRAM ON status, total",
    "jobs UPDATE HISTOGRAM ON state, run_at, worker",
    "outbox UPDATE HISTOGRAM ON sent",
    "articles UPDATE HISTOGRAM ON status, at",
    "comments UPDATE HISTOGRAM ON approved",
    "meta UPDATE HISTOGRAM ON name",
];

/// Rows read and records locked.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counts {
    rows: u64,
    locks: u64,
}

impl Counts {
    fn of(text: &str) -> Self {
        let (rows, locks) = text.trim().split_once(' ').expect("two numbers");
        Self { rows: rows.parse().unwrap(), locks: locks.trim().parse().unwrap() }
    }

    fn within(self, most: Self) -> bool {
        self.rows <= most.rows && self.locks <= most.locks
    }
}

/// A line of the file.
struct Bounded {
    /// It is known to go beyond what is promised.
    marked: bool,
    most: Counts,
    mysql: Counts,
    text: &'static str,
}

fn statements() -> impl Iterator<Item = Bounded> {
    STATEMENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let mut parts = line.trim_start_matches('!').splitn(3, '|');
        let mut part = || parts.next().expect("bounds | what MySQL counts | statement");
        let (most, mysql) = (Counts::of(part()), Counts::of(part()));
        Bounded { marked: line.starts_with('!'), most, mysql, text: part().trim() }
    })
}

fn number(shop: &mut Session, text: &str) -> u64 {
    let answer = run(shop, text);
    answer.trim().rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{text}: {answer}"))
}

/// A server that does nothing by itself, so that no count depends on how far purge is.
struct Shop {
    engine: Arc<Engine>,
    session: Session,
}

impl Shop {
    fn start(disk: &Arc<FaultDisk>) -> Shop {
        let engine = Engine::open_quiet(disk.clone(), Config::default()).unwrap();
        let db = block_on(Database::open(engine.clone())).unwrap();
        let mut session = session(&db);
        run(&mut session, "SET GLOBAL innodb_stats_auto_recalc = OFF");
        Shop { engine, session }
    }
}

/// What a statement reads and locks; its changes are taken back.
fn counted(Shop { engine, session: shop }: &mut Shop, text: &str) -> Counts {
    const READ: &str = "SHOW STATUS LIKE 'Innodb_rows_read'";
    const LOCKED: &str = "SELECT COUNT(*) FROM performance_schema.data_locks WHERE LOCK_TYPE = 'RECORD'";
    run(shop, "BEGIN");
    let before = number(shop, READ);
    let answer = run(shop, text);
    assert!(!answer.lines().any(|line| line.starts_with("error ")), "{text}: {answer}");
    let counts = Counts { rows: number(shop, READ) - before, locks: number(shop, LOCKED) };
    run(shop, "ROLLBACK");
    if counts.locks > 0 {
        engine.purge_all().unwrap();
    }
    counts
}

/// Writes down what goes beyond its bounds.
fn look(shop: &mut Shop, when: &str, beyond: &mut Vec<String>) {
    for one in statements() {
        let counts = counted(shop, one.text);
        if !counts.within(one.most) {
            beyond.push(format!("{when}: {} rows, {} locks: {}", counts.rows, counts.locks, one.text));
        }
    }
}

#[test]
fn what_applications_send_reads_and_locks_what_it_must() {
    let mut disk = Arc::new(FaultDisk::new(1));
    let mut shop = Shop::start(&disk);
    let mut tables = Vec::new();
    for text in TABLES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        assert!(run(&mut shop.session, text).starts_with("ok"), "{text}");
        tables.extend(text.strip_prefix("CREATE TABLE ").and_then(|rest| rest.split(' ').next()));
    }
    run(&mut shop.session, &format!("ANALYZE TABLE {}", tables.join(", ")));
    let mut beyond = Vec::new();
    look(&mut shop, "fresh", &mut beyond);
    drop(shop);
    disk = Arc::new(disk.crash());
    look(&mut Shop::start(&disk), "after a restart", &mut beyond);
    let mut shop = Shop::start(&disk);
    for histogram in HISTOGRAMS {
        let answer = run(&mut shop.session, &format!("ANALYZE TABLE {histogram}"));
        assert!(!answer.to_lowercase().contains("error"), "{answer}");
    }
    look(&mut shop, "with histograms", &mut beyond);
    drop(shop);
    disk = Arc::new(disk.crash());
    look(&mut Shop::start(&disk), "with histograms, after a restart", &mut beyond);
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// What the file promises: a hundred statements, and no bound beyond twice what MySQL reads or locks.
#[test]
fn bounds_are_within_twice_what_mysql_does() {
    assert!(statements().filter(|one| !one.marked).count() >= 100);
    for one in statements() {
        let most = Counts { rows: one.mysql.rows * 2, locks: one.mysql.locks * 2 };
        assert_eq!(one.most.within(most), !one.marked, "{}", one.text);
    }
}
