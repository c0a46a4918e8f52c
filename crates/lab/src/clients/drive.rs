//! One driver thread: its share of the connections, turned by epoll.
//!
//! Packets are written into a buffer that is used again, so that a transaction costs the driver two system
//! calls and no allocation: what is measured is the server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::answer::{Answer, Reader};
use super::pace::Pace;
use super::{Live, Load, Script, Steps, new_histogram};
use crate::client::ClientError;

/// Answers that were asked for before the end are waited for so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest sleep: whether the load is to stop is looked at as often.
const NAP: Duration = Duration::from_millis(100);

/// One connection and the transaction it has under way.
pub struct Connection {
    socket: TcpStream,
    number: usize,
    steps: Steps,
    step: usize,
    turn: u64,
    since: Instant,
    /// How many transactions of all had been acknowledged when this one began.
    done_before: u64,
    affected: u64,
    failed: bool,
    reader: Reader,
    open: bool,
    /// Whether a transaction is under way.
    busy: bool,
}

/// What one thread brought.
pub struct Share {
    /// Latency, one histogram for each phase.
    pub phases: Vec<Histogram<u64>>,
    /// Transactions of others during each wait.
    pub overtaken: Histogram<u64>,
    /// Transactions of each connection.
    pub turns: Vec<u64>,
    /// Due and never begun.
    pub unsent: u64,
    /// The first error's text.
    pub first_error: Option<String>,
}

/// What becomes of a connection after its answers were read.
enum Next {
    /// It waits for another answer.
    Waits,
    /// Its transaction is over, the next one is not due.
    Rests,
    /// It is done.
    Leaves,
}

impl Connection {
    /// A connection that has run its set-up statements.
    ///
    /// # Errors
    /// When the socket cannot be made non-blocking.
    pub fn new(socket: TcpStream, number: usize, steps: Steps) -> io::Result<Connection> {
        socket.set_nonblocking(true)?;
        Ok(Connection {
            socket,
            number,
            steps,
            step: 0,
            turn: 0,
            since: Instant::now(),
            done_before: 0,
            affected: 0,
            failed: false,
            reader: Reader::default(),
            open: true,
            busy: false,
        })
    }

    /// Begins a transaction whose wait counts from `since`.
    fn begin(&mut self, script: &Script, since: Instant, live: &Live) -> io::Result<()> {
        self.steps.clear();
        script(self.number, self.turn, &mut self.steps);
        self.step = 0;
        self.affected = 0;
        self.failed = false;
        self.busy = true;
        self.since = since;
        self.done_before = live.transactions.load(Ordering::Relaxed);
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

/// Drives one of `threads` shares from `begin` until the load's end.
///
/// # Errors
/// When epoll or the first sends fail; later trouble is counted.
pub fn drive(
    mut connections: Vec<Connection>,
    threads: usize,
    load: &Load,
    live: &Live,
    begin: Instant,
) -> Result<Share, ClientError> {
    let deadline = begin + load.duration;
    let poller = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut pace = load.rate.map(|rate| Pace::new(begin, rate / threads as f64));
    let mut share = Share {
        phases: vec![new_histogram()],
        overtaken: new_histogram(),
        turns: Vec::new(),
        unsent: 0,
        first_error: None,
    };
    for (index, connection) in connections.iter_mut().enumerate() {
        let token = EventData::new_u64(index as u64);
        epoll::add(&poller, &connection.socket, token, EventFlags::IN | EventFlags::ET)
            .map_err(io::Error::from)?;
        match &mut pace {
            Some(pace) => pace.rest(index),
            None => connection.begin(&load.script, Instant::now(), live)?,
        }
    }
    let mut active = connections.len() as u64;
    let mut events = Vec::with_capacity(1024);
    let mut landing = vec![0; 16 << 10];
    // Statements under way at the deadline are waited for: they count, and the table must agree with the
    // count.
    while active > 0 && Instant::now() < deadline + PATIENCE {
        let mut nap = NAP;
        if let Some(pace) = &mut pace {
            active -= begin_due(pace, &mut connections, load, live, deadline);
            nap = pace.until_due(Instant::now()).unwrap_or(NAP).min(NAP);
            // epoll sleeps for whole milliseconds only.
            let _ = poll(&mut [PollFd::new(&poller, PollFlags::IN)], Some(&timespec(nap)));
            nap = Duration::ZERO;
        }
        events.clear();
        let _ = epoll::wait(&poller, spare_capacity(&mut events), Some(&timespec(nap)));
        for event in &events {
            let index = event.data.u64() as usize;
            let connection = &mut connections[index];
            if !connection.open {
                continue;
            }
            let next = connection
                .fill(&mut landing)
                .and_then(|()| turn(connection, load, live, &mut share, deadline));
            match (next, &mut pace) {
                (Ok(Next::Waits), _) => {}
                (Ok(Next::Rests), Some(pace)) => pace.rest(index),
                (Ok(Next::Rests | Next::Leaves), _) => {
                    connection.open = false;
                    active -= 1;
                }
                (Err(_), _) => {
                    live.broken.fetch_add(1, Ordering::Relaxed);
                    connection.open = false;
                    active -= 1;
                }
            }
        }
    }
    live.broken.fetch_add(active, Ordering::Relaxed);
    account(&connections, live, &mut share);
    share.unsent = pace.map_or(0, |pace| pace.unsent(deadline.min(Instant::now())));
    Ok(share)
}

/// Progress of every connection; the waits that never ended count as long as they were looked at.
fn account(connections: &[Connection], live: &Live, share: &mut Share) {
    let done = live.transactions.load(Ordering::Relaxed);
    for connection in connections {
        share.turns.push(connection.turn);
        if connection.open && connection.busy {
            share.overtaken.saturating_record(done.saturating_sub(connection.done_before));
        }
    }
}

/// Begins what is due on connections that rest; after the end they leave instead. How many left.
fn begin_due(
    pace: &mut Pace,
    connections: &mut [Connection],
    load: &Load,
    live: &Live,
    deadline: Instant,
) -> u64 {
    let now = Instant::now();
    let mut left = 0;
    if now >= deadline || live.stop.load(Ordering::Relaxed) {
        while let Some(index) = pace.dismiss() {
            connections[index].open = false;
            left += 1;
        }
        return left;
    }
    while let Some((index, due)) = pace.next(now) {
        if connections[index].begin(&load.script, due, live).is_err() {
            live.broken.fetch_add(1, Ordering::Relaxed);
            connections[index].open = false;
            left += 1;
        }
    }
    left
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}

/// Handles the answers that came; an error when the connection is gone.
fn turn(
    connection: &mut Connection,
    load: &Load,
    live: &Live,
    share: &mut Share,
    deadline: Instant,
) -> io::Result<Next> {
    while let Some(answer) = connection.reader.take() {
        match answer {
            Answer::Done(affected) => connection.affected += affected,
            Answer::Rows(rows) => {
                live.rows.fetch_add(rows, Ordering::Relaxed);
            }
            Answer::Failed(text) => {
                live.errors.fetch_add(1, Ordering::Relaxed);
                share.first_error.get_or_insert(text);
                connection.failed = true;
            }
        }
        connection.step += 1;
        if connection.step < connection.steps.count() {
            connection.send()?;
            continue;
        }
        let now = Instant::now();
        connection.turn += 1;
        connection.busy = false;
        if !connection.failed {
            let waited = now.saturating_duration_since(connection.since).as_micros();
            let phase = live.phase.load(Ordering::Relaxed);
            while share.phases.len() <= phase {
                share.phases.push(new_histogram());
            }
            share.phases[phase].saturating_record(u64::try_from(waited).unwrap_or(u64::MAX));
            let done = live.transactions.fetch_add(1, Ordering::Relaxed);
            share.overtaken.saturating_record(done.saturating_sub(connection.done_before));
            live.affected.fetch_add(connection.affected, Ordering::Relaxed);
        }
        let enough = now >= deadline || live.stop.load(Ordering::Relaxed);
        if enough || (load.until_sold_out && connection.affected == 0) {
            return Ok(Next::Leaves);
        }
        if load.rate.is_some() {
            return Ok(Next::Rests);
        }
        connection.begin(&load.script, now, live)?;
    }
    Ok(Next::Waits)
}
