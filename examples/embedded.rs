//! Turnstile in process, without a server: creates a table, sells from several threads with the flash sale's
//! UPDATE, closes, opens again and reads the stock back.
//!
//! ```text
//! cargo run --release --example embedded [DATADIR]
//! ```
//! A session is driven by whoever owns it: here each thread polls its own session's futures to the end.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use turnstile_engine::{Config, Engine};
use turnstile_session::accounts::AccountName;
use turnstile_session::database::Database;
use turnstile_session::error::SqlError;
use turnstile_session::session::{Session, SessionInit};
use turnstile_session::sink::{ColumnMeta, ResultSink};
use turnstile_session::value::Value;
use turnstile_sys::disk::RealDisk;

const THREADS: u64 = 4;
const SALES_PER_THREAD: u64 = 500;
const STOCK: i64 = 500_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("turnstile-embedded-{}", std::process::id())),
        PathBuf::from,
    );
    let database = open(&folder)?;
    let mut session = session(&database)?;
    run(&mut session, "CREATE DATABASE IF NOT EXISTS shop")?;
    run(&mut session, "DROP TABLE IF EXISTS shop.test_update")?;
    run(
        &mut session,
        "CREATE TABLE shop.test_update (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, stock INT)",
    )?;
    run(&mut session, &format!("INSERT INTO shop.test_update (id, stock) VALUES (1, {STOCK})"))?;
    let sold = sell(&database)?;
    println!("{sold} pieces sold by {THREADS} threads");
    drop(session);
    close(database)?;

    let database = open(&folder)?;
    let mut session = self::session(&database)?;
    let answer = run(&mut session, "SELECT stock FROM shop.test_update WHERE id = 1")?;
    let Some(Value::Int(stock)) = answer.rows.first().and_then(|row| row.first()) else {
        return Err("the row is gone".into());
    };
    println!("stock after reopening: {stock}");
    if *stock != STOCK - sold as i64 {
        return Err(format!("expected {}", STOCK - sold as i64).into());
    }
    drop(session);
    close(database)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn open(folder: &Path) -> Result<Arc<Database>, Failure> {
    let engine = Engine::open(Arc::new(RealDisk::open(folder)?), Config::default())?;
    Ok(block_on(&engine.clone(), Database::open(engine))?)
}

fn close(database: Arc<Database>) -> Result<(), Failure> {
    Ok(database.engine().close()?)
}

fn session(database: &Arc<Database>) -> Result<Session, Failure> {
    let init = SessionInit {
        connection_id: database.registry().next_id(),
        user: "root".into(),
        host: "embedded".into(),
        account: AccountName::new("root", "localhost"),
        database: None,
        collation: 255,
        found_rows: false,
        multi_statements: false,
    };
    Ok(Session::new(database.clone(), init)?)
}

/// Sells from several threads at once; returns how many pieces were acknowledged.
fn sell(database: &Arc<Database>) -> Result<u64, Failure> {
    let buyers: Vec<_> = (0..THREADS)
        .map(|_| {
            let database = database.clone();
            thread::spawn(move || -> Result<u64, Failure> {
                let mut session = session(&database)?;
                let mut sold = 0;
                for _ in 0..SALES_PER_THREAD {
                    let text = "UPDATE shop.test_update SET stock = stock - 1 WHERE id = 1 AND stock > 3";
                    sold += run(&mut session, text)?.affected;
                }
                Ok(sold)
            })
        })
        .collect();
    let mut sold = 0;
    for buyer in buyers {
        sold += buyer.join().map_err(|_| "a buyer failed")??;
    }
    Ok(sold)
}

/// Keeps a result in memory.
#[derive(Default)]
struct Answer {
    rows: Vec<Vec<Value>>,
    affected: u64,
}

impl ResultSink for Answer {
    fn columns(&mut self, _columns: &[ColumnMeta]) -> Result<(), SqlError> {
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.rows.push(row.to_vec());
        Ok(())
    }
    fn end(&mut self, _warnings: u16, _status: u16) {}
    fn ok(&mut self, affected: u64, _last_insert_id: u64, _warnings: u16, _info: &str, _status: u16) {
        self.affected += affected;
    }
}

fn run(session: &mut Session, text: &str) -> Result<Answer, Failure> {
    let engine = session.database().engine().clone();
    let mut answer = Answer::default();
    block_on(&engine, session.query(text.as_bytes(), &mut answer))?;
    Ok(answer)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs one future to its end on this thread. Before it sleeps it lets the engine sync what this thread waits
/// for: that is what a worker does at the end of its turn.
fn block_on<F: Future>(engine: &Engine, future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => {
                while engine.turn_end() {}
                thread::park();
            }
        }
    }
}
