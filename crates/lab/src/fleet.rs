//! Many connections, few threads: a closed loop of buyers.
//!
//! Each connection sends its script's statements one after another, each as soon as the previous one is answered, and
//! begins the script again. A thread owns its share of the connections and an epoll instance. Latency is the time from
//! sending the first statement of a script to the answer of the last. Packets are written into a buffer that is used
//! again, so that a transaction costs the driver two system calls and no allocation: what is measured is the server.

pub mod answer;
pub mod steps;

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::client::{Client, ClientError, Target};
use answer::{Answer, Reader};
pub use steps::{Parameter, Steps};

/// Makes the statements of a transaction: fills the steps for the given connection and turn.
pub type Script = Arc<dyn Fn(usize, u64, &mut Steps) + Send + Sync>;

/// What to run.
#[derive(Clone)]
pub struct Load {
    /// Where.
    pub target: Target,
    /// Statements every connection runs first.
    pub set_up: Vec<String>,
    /// Statements every connection prepares; the script executes them by their index.
    pub prepared: Vec<String>,
    /// The transaction.
    pub script: Script,
    /// How many connections.
    pub connections: usize,
    /// Driver threads.
    pub threads: usize,
    /// Longest time to run.
    pub duration: Duration,
    /// A connection leaves once its transaction affected no row: the shop is sold out.
    pub until_sold_out: bool,
}

/// Counters that a progress line reads while the load runs, and the switch that ends it early.
#[derive(Debug, Default)]
pub struct Live {
    /// Transactions acknowledged, every statement of them without an error.
    pub transactions: AtomicU64,
    /// Rows acknowledged as affected, summed over all statements of those transactions.
    pub affected: AtomicU64,
    /// Rows that came in results.
    pub rows: AtomicU64,
    /// Error packets.
    pub errors: AtomicU64,
    /// Connections that broke, or never came back.
    pub broken: AtomicU64,
    /// All connections are open and the clock runs.
    pub started: AtomicBool,
    /// Set by whoever has seen enough: no transaction begins after it.
    pub stop: AtomicBool,
    /// Which of the outcome's phases a transaction that ends now belongs to.
    pub phase: AtomicUsize,
}

/// What a run brought.
#[derive(Debug)]
pub struct Outcome {
    /// Wall time from the first statement to the last answer.
    pub elapsed: Duration,
    /// Transactions acknowledged.
    pub transactions: u64,
    /// Rows acknowledged as affected.
    pub affected: u64,
    /// Rows that came in results.
    pub rows: u64,
    /// Error packets.
    pub errors: u64,
    /// The first error's text.
    pub first_error: Option<String>,
    /// Connections that broke before the end, or were still waiting a minute after it.
    pub broken: u64,
    /// Fewest transactions of any connection: 0 means one starved.
    pub fewest: u64,
    /// Latency in microseconds.
    pub latency_us: Histogram<u64>,
    /// The same, one for each phase that [`Live::phase`] went through.
    pub phases: Vec<Histogram<u64>>,
}

struct Buyer {
    socket: TcpStream,
    number: usize,
    steps: Steps,
    step: usize,
    turn: u64,
    since: Instant,
    affected: u64,
    failed: bool,
    reader: Reader,
    open: bool,
}

struct Share {
    phases: Vec<Histogram<u64>>,
    fewest: u64,
    first_error: Option<String>,
}

/// Open connections that have run their set-up statements and wait for the start.
pub struct Fleet {
    load: Load,
    shares: Vec<Vec<Buyer>>,
}

/// Opens the connections, runs the load, closes them.
///
/// # Errors
/// When a connection cannot be opened or a set-up statement fails. Later trouble is counted in the outcome.
pub fn run(load: &Load, live: &Arc<Live>) -> Result<Outcome, ClientError> {
    Fleet::open(load)?.run(live)
}

impl Fleet {
    /// Opens the connections.
    ///
    /// # Errors
    /// When a connection cannot be opened or a set-up statement fails.
    pub fn open(load: &Load) -> Result<Fleet, ClientError> {
        let threads = load.threads.clamp(1, load.connections.max(1));
        Ok(Fleet { load: load.clone(), shares: open_all(load, threads)? })
    }

    /// Runs the load.
    ///
    /// # Errors
    /// When a driver fails; trouble with a server is counted in the outcome.
    pub fn run(self, live: &Arc<Live>) -> Result<Outcome, ClientError> {
        let load = self.load;
        live.started.store(true, Ordering::SeqCst);
        let begin = Instant::now();
        let drivers: Vec<_> = self
            .shares
            .into_iter()
            .map(|buyers| {
                let (load, live) = (load.clone(), live.clone());
                thread::spawn(move || drive(buyers, &load, &live, begin + load.duration))
            })
            .collect();
        let (mut latency_us, mut phases) = (new_histogram(), Vec::new());
        let (mut fewest, mut first_error) = (u64::MAX, None);
        for driver in drivers {
            let share = driver.join().map_err(|_| ClientError::Protocol("a driver thread failed"))??;
            for (phase, latency) in share.phases.iter().enumerate() {
                if phases.len() == phase {
                    phases.push(new_histogram());
                }
                let added = latency_us.add(latency).and_then(|()| phases[phase].add(latency));
                added.map_err(|_| ClientError::Protocol("histogram"))?;
            }
            fewest = fewest.min(share.fewest);
            first_error = first_error.or(share.first_error);
        }
        Ok(Outcome {
            elapsed: begin.elapsed(),
            transactions: live.transactions.load(Ordering::SeqCst),
            affected: live.affected.load(Ordering::SeqCst),
            rows: live.rows.load(Ordering::SeqCst),
            errors: live.errors.load(Ordering::SeqCst),
            first_error,
            broken: live.broken.load(Ordering::SeqCst),
            fewest,
            latency_us,
            phases,
        })
    }
}

/// An empty histogram of microseconds, up to ten minutes.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constants that fit")
}

fn open_all(load: &Load, threads: usize) -> Result<Vec<Vec<Buyer>>, ClientError> {
    let openers: Vec<_> = (0..threads)
        .map(|thread| {
            let load = load.clone();
            thread::spawn(move || {
                (thread..load.connections).step_by(threads).map(|number| open(&load, number)).collect()
            })
        })
        .collect();
    openers
        .into_iter()
        .map(|opener| opener.join().map_err(|_| ClientError::Protocol("a driver thread failed"))?)
        .collect()
}

fn open(load: &Load, number: usize) -> Result<Buyer, ClientError> {
    let mut client = Client::connect(&load.target)?;
    for text in &load.set_up {
        client.query(text)?;
    }
    let statements = load.prepared.iter().map(|text| client.prepare(text)).collect::<Result<_, _>>()?;
    let socket = client.into_socket();
    socket.set_nonblocking(true)?;
    Ok(Buyer {
        socket,
        number,
        steps: Steps::new(statements),
        step: 0,
        turn: 0,
        since: Instant::now(),
        affected: 0,
        failed: false,
        reader: Reader::default(),
        open: true,
    })
}

impl Buyer {
    fn begin(&mut self, script: &Script, now: Instant) -> io::Result<()> {
        self.steps.clear();
        script(self.number, self.turn, &mut self.steps);
        self.step = 0;
        self.affected = 0;
        self.failed = false;
        self.since = now;
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        // A statement is far smaller than a socket buffer that the previous answer has just emptied.
        self.socket.write_all(self.steps.packet(self.step))
    }

    /// Reads what there is; an error when the connection is gone.
    fn fill(&mut self, landing: &mut [u8]) -> io::Result<()> {
        loop {
            match self.socket.read(landing) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => {
                    self.reader.feed(&landing[..len]);
                    if len < landing.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

fn drive(mut buyers: Vec<Buyer>, load: &Load, live: &Live, deadline: Instant) -> Result<Share, ClientError> {
    let poller = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut share = Share { phases: vec![new_histogram()], fewest: 0, first_error: None };
    let mut active = 0;
    for (index, buyer) in buyers.iter_mut().enumerate() {
        let token = EventData::new_u64(index as u64);
        epoll::add(&poller, &buyer.socket, token, EventFlags::IN | EventFlags::ET)
            .map_err(io::Error::from)?;
        buyer.begin(&load.script, Instant::now())?;
        active += 1;
    }
    let mut events = Vec::with_capacity(1024);
    let mut landing = vec![0; 16 << 10];
    // Statements under way at the deadline are waited for: they count, and the table must agree with the count.
    while active > 0 && Instant::now() < deadline + Duration::from_secs(60) {
        events.clear();
        let timeout = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let _ = epoll::wait(&poller, spare_capacity(&mut events), Some(&timeout));
        for event in &events {
            let buyer = &mut buyers[event.data.u64() as usize];
            if !buyer.open {
                continue;
            }
            let stays = buyer
                .fill(&mut landing)
                .and_then(|()| turn(buyer, load, live, &mut share, deadline))
                .unwrap_or_else(|_| {
                    live.broken.fetch_add(1, Ordering::Relaxed);
                    false
                });
            if !stays {
                buyer.open = false;
                active -= 1;
            }
        }
    }
    live.broken.fetch_add(active, Ordering::Relaxed);
    share.fewest = buyers.iter().map(|buyer| buyer.turn).min().unwrap_or(0);
    Ok(share)
}

/// Handles the answers that came; false when this buyer is done, an error when its connection is gone.
fn turn(
    buyer: &mut Buyer,
    load: &Load,
    live: &Live,
    share: &mut Share,
    deadline: Instant,
) -> io::Result<bool> {
    while let Some(answer) = buyer.reader.take() {
        match answer {
            Answer::Done(affected) => buyer.affected += affected,
            Answer::Rows(rows) => {
                live.rows.fetch_add(rows, Ordering::Relaxed);
            }
            Answer::Failed(text) => {
                live.errors.fetch_add(1, Ordering::Relaxed);
                share.first_error.get_or_insert(text);
                buyer.failed = true;
            }
        }
        buyer.step += 1;
        if buyer.step < buyer.steps.count() {
            buyer.send()?;
            continue;
        }
        let now = Instant::now();
        buyer.turn += 1;
        if !buyer.failed {
            let waited = now.duration_since(buyer.since).as_micros();
            let phase = live.phase.load(Ordering::Relaxed);
            while share.phases.len() <= phase {
                share.phases.push(new_histogram());
            }
            share.phases[phase].saturating_record(u64::try_from(waited).unwrap_or(u64::MAX));
            live.transactions.fetch_add(1, Ordering::Relaxed);
            live.affected.fetch_add(buyer.affected, Ordering::Relaxed);
        }
        let enough = now >= deadline || live.stop.load(Ordering::Relaxed);
        if enough || (load.until_sold_out && buyer.affected == 0) {
            return Ok(false);
        }
        buyer.begin(&load.script, now)?;
    }
    Ok(true)
}
