//! Many connections, few threads: a closed loop of buyers.
//!
//! Each connection sends its script's statements one after another, each as soon as the previous one is answered, and
//! begins the script again. A thread owns its share of the connections and an epoll instance. Latency is the time from
//! sending the first statement of a script to the answer of the last.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::client::{Client, ClientError, Target, lenenc, packet, server_error};

/// Makes the statements of a transaction: fills `texts` for the given connection and turn.
pub type Script = Arc<dyn Fn(usize, u64, &mut Vec<String>) + Send + Sync>;

/// What to run.
#[derive(Clone)]
pub struct Load {
    /// Where.
    pub target: Target,
    /// Statements every connection runs first.
    pub set_up: Vec<String>,
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

/// Counters that a progress line reads while the load runs.
#[derive(Debug, Default)]
pub struct Live {
    /// Transactions acknowledged.
    pub transactions: AtomicU64,
    /// Rows acknowledged as affected by the script's last statement... summed over all its statements.
    pub affected: AtomicU64,
    /// Error packets.
    pub errors: AtomicU64,
    /// Connections that broke.
    pub broken: AtomicU64,
    /// All connections are open and the clock runs.
    pub started: AtomicBool,
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
    /// Error packets.
    pub errors: u64,
    /// The first error's text.
    pub first_error: Option<String>,
    /// Connections that broke before the end.
    pub broken: u64,
    /// Fewest transactions of any connection: 0 means one starved.
    pub fewest: u64,
    /// Latency in microseconds.
    pub latency_us: Histogram<u64>,
}

struct Buyer {
    socket: TcpStream,
    number: usize,
    texts: Vec<String>,
    step: usize,
    turn: u64,
    since: Instant,
    affected: u64,
    input: Vec<u8>,
    open: bool,
}

struct Share {
    latency_us: Histogram<u64>,
    fewest: u64,
    first_error: Option<String>,
}

/// Opens the connections, runs the load, closes them.
///
/// # Errors
/// When a connection cannot be opened or a set-up statement fails. Later trouble is counted in the outcome.
pub fn run(load: &Load, live: &Arc<Live>) -> Result<Outcome, ClientError> {
    let threads = load.threads.clamp(1, load.connections.max(1));
    let shares = open_all(load, threads)?;
    live.started.store(true, Ordering::SeqCst);
    let begin = Instant::now();
    let drivers: Vec<_> = shares
        .into_iter()
        .map(|buyers| {
            let (load, live) = (load.clone(), live.clone());
            thread::spawn(move || drive(buyers, &load, &live, begin + load.duration))
        })
        .collect();
    let mut latency_us = new_histogram();
    let (mut fewest, mut first_error) = (u64::MAX, None);
    for driver in drivers {
        let share = driver.join().map_err(|_| ClientError::Protocol("a driver thread failed"))??;
        latency_us.add(&share.latency_us).map_err(|_| ClientError::Protocol("histogram"))?;
        fewest = fewest.min(share.fewest);
        first_error = first_error.or(share.first_error);
    }
    Ok(Outcome {
        elapsed: begin.elapsed(),
        transactions: live.transactions.load(Ordering::SeqCst),
        affected: live.affected.load(Ordering::SeqCst),
        errors: live.errors.load(Ordering::SeqCst),
        first_error,
        broken: live.broken.load(Ordering::SeqCst),
        fewest,
        latency_us,
    })
}

fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constants that fit")
}

fn open_all(load: &Load, threads: usize) -> Result<Vec<Vec<Buyer>>, ClientError> {
    let openers: Vec<_> = (0..threads)
        .map(|thread| {
            let load = load.clone();
            thread::spawn(move || -> Result<Vec<Buyer>, ClientError> {
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
    let socket = client.into_socket();
    socket.set_nonblocking(true)?;
    let now = Instant::now();
    Ok(Buyer {
        socket,
        number,
        texts: Vec::new(),
        step: 0,
        turn: 0,
        since: now,
        affected: 0,
        input: Vec::new(),
        open: true,
    })
}

impl Buyer {
    fn begin(&mut self, script: &Script) -> io::Result<()> {
        self.texts.clear();
        script(self.number, self.turn, &mut self.texts);
        self.step = 0;
        self.affected = 0;
        self.since = Instant::now();
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        let mut payload = Vec::with_capacity(self.texts[self.step].len() + 1);
        payload.push(3);
        payload.extend_from_slice(self.texts[self.step].as_bytes());
        // A statement is far smaller than a socket buffer that the previous answer has just emptied.
        self.socket.write_all(&packet(&payload, 0))
    }

    /// Takes one answer out of the input: affected rows, or the error's text.
    fn answer(&mut self) -> Option<Result<u64, String>> {
        let header = self.input.first_chunk::<4>()?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let payload = self.input.get(4..4 + len)?;
        let answer = match payload.first() {
            Some(0) => Ok(lenenc(payload, 1).map_or(0, |(affected, _)| affected)),
            Some(0xff) => Err(server_error(payload).to_string()),
            _ => Err("the fleet runs statements without results only".to_string()),
        };
        self.input.drain(..4 + len);
        Some(answer)
    }
}

fn drive(mut buyers: Vec<Buyer>, load: &Load, live: &Live, deadline: Instant) -> Result<Share, ClientError> {
    let poller = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut share = Share { latency_us: new_histogram(), fewest: 0, first_error: None };
    let mut active = 0;
    for (index, buyer) in buyers.iter_mut().enumerate() {
        let token = EventData::new_u64(index as u64);
        epoll::add(&poller, &buyer.socket, token, EventFlags::IN | EventFlags::ET)
            .map_err(io::Error::from)?;
        buyer.begin(&load.script)?;
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
            if buyer.open && !turn(buyer, load, live, &mut share, &mut landing, deadline) {
                buyer.open = false;
                active -= 1;
            }
        }
    }
    share.fewest = buyers.iter().map(|buyer| buyer.turn).min().unwrap_or(0);
    Ok(share)
}

/// Handles what a socket brought; false when this buyer is done.
fn turn(
    buyer: &mut Buyer,
    load: &Load,
    live: &Live,
    share: &mut Share,
    landing: &mut [u8],
    deadline: Instant,
) -> bool {
    loop {
        match buyer.socket.read(landing) {
            Ok(0) => {
                live.broken.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            Ok(len) => {
                buyer.input.extend_from_slice(&landing[..len]);
                if len < landing.len() {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => {
                live.broken.fetch_add(1, Ordering::Relaxed);
                return false;
            }
        }
    }
    while let Some(answer) = buyer.answer() {
        match answer {
            Ok(affected) => buyer.affected += affected,
            Err(text) => {
                live.errors.fetch_add(1, Ordering::Relaxed);
                share.first_error.get_or_insert(text);
            }
        }
        buyer.step += 1;
        let sent = if buyer.step < buyer.texts.len() {
            buyer.send()
        } else {
            let waited = u64::try_from(buyer.since.elapsed().as_micros()).unwrap_or(u64::MAX);
            share.latency_us.saturating_record(waited);
            live.transactions.fetch_add(1, Ordering::Relaxed);
            live.affected.fetch_add(buyer.affected, Ordering::Relaxed);
            buyer.turn += 1;
            if Instant::now() >= deadline || (load.until_sold_out && buyer.affected == 0) {
                return false;
            }
            buyer.begin(&load.script)
        };
        if sent.is_err() {
            live.broken.fetch_add(1, Ordering::Relaxed);
            return false;
        }
    }
    true
}
