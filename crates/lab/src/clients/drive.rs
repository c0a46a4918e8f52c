//! One driver thread: its share of the connections, turned by epoll.
//!
//! Packets are written into a buffer that is used again, so that a transaction costs the driver two system
//! calls and no allocation: what is measured is the server.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::answer::Answer;
use super::connection::Connection;
use super::delay::Delay;
use super::pace::Pace;
use super::{DEADLOCK, LOCK_WAIT_TIMEOUT, Live, Load, new_histogram};
use crate::client::ClientError;

/// Answers that were asked for before the end are waited for so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest sleep: whether the load is to stop is looked at as often.
const NAP: Duration = Duration::from_millis(100);

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
    /// Sent to their end and never answered.
    pub in_doubt: u64,
    /// The first error's text.
    pub first_error: Option<String>,
}

/// What becomes of a connection.
enum Next {
    /// It waits for an answer.
    Waits,
    /// It has a statement to send.
    Sends,
    /// Its transaction is over, the next one is not due.
    Rests,
    /// It is done.
    Leaves,
}

/// The thread's connections and its clocks.
struct Driver<'a> {
    load: &'a Load,
    live: &'a Live,
    deadline: Instant,
    connections: Vec<Connection>,
    /// How many of them are open.
    active: u64,
    /// Where transactions come due by the clock.
    pace: Option<Pace>,
    /// Where statements go out late.
    delay: Option<Delay>,
    share: Share,
}

/// Drives one of `threads` shares from `begin` until the load's end.
///
/// # Errors
/// When epoll fails; trouble with a connection is counted.
pub fn drive(
    connections: Vec<Connection>,
    threads: usize,
    load: &Load,
    live: &Live,
    begin: Instant,
) -> Result<Share, ClientError> {
    let poller = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from)?;
    for (index, connection) in connections.iter().enumerate() {
        let token = EventData::new_u64(index as u64);
        epoll::add(&poller, &connection.socket, token, EventFlags::IN | EventFlags::ET)
            .map_err(io::Error::from)?;
    }
    let mut driver = Driver {
        load,
        live,
        deadline: begin + load.duration,
        active: connections.len() as u64,
        connections,
        pace: load.rate.map(|rate| Pace::new(begin, rate / threads as f64)),
        delay: Delay::of(load.rtt),
        share: Share {
            phases: vec![new_histogram()],
            overtaken: new_histogram(),
            turns: Vec::new(),
            unsent: 0,
            in_doubt: 0,
            first_error: None,
        },
    };
    driver.start();
    let mut events = Vec::with_capacity(1024);
    let mut landing = vec![0; 16 << 10];
    // Statements under way at the deadline are waited for: they count, and the table must agree with the
    // count.
    while driver.active > 0 && Instant::now() < driver.deadline + PATIENCE {
        let mut nap = NAP;
        if let Some(until_due) = driver.keep_time() {
            // epoll sleeps for whole milliseconds only.
            let _ = poll(&mut [PollFd::new(&poller, PollFlags::IN)], Some(&timespec(until_due)));
            nap = Duration::ZERO;
        }
        events.clear();
        let _ = epoll::wait(&poller, spare_capacity(&mut events), Some(&timespec(nap)));
        for event in &events {
            driver.read(event.data.u64() as usize, &mut landing);
        }
    }
    Ok(driver.end())
}

impl Driver<'_> {
    /// Begins on every connection, or lets it rest until something is due.
    fn start(&mut self) {
        for index in 0..self.connections.len() {
            let next = match &self.pace {
                Some(_) => Next::Rests,
                None => self.begin(index, Instant::now()),
            };
            self.settle(index, Ok(next));
        }
    }

    fn begin(&mut self, index: usize, since: Instant) -> Next {
        self.connections[index].begin(&self.load.script, since, self.live);
        Next::Sends
    }

    /// Does what is due by the clocks, if there are any; how long nothing will be, [`NAP`] at most.
    fn keep_time(&mut self) -> Option<Duration> {
        if self.pace.is_none() && self.delay.is_none() {
            return None;
        }
        let now = Instant::now();
        self.begin_due(now);
        while let Some(index) = self.delay.as_mut().and_then(|delay| delay.next(now)) {
            self.send(index);
        }
        let now = Instant::now();
        let begins = self.pace.as_ref().and_then(|pace| pace.until_due(now));
        let sends = self.delay.as_ref().and_then(|delay| delay.until_due(now));
        Some([begins, sends].into_iter().flatten().fold(NAP, Duration::min))
    }

    /// Begins what is due on connections that rest; after the end they leave instead.
    fn begin_due(&mut self, now: Instant) {
        let enough = self.is_enough(now);
        loop {
            let Some(pace) = &mut self.pace else { return };
            let (index, due) =
                match if enough { pace.dismiss().map(|index| (index, now)) } else { pace.next(now) } {
                    Some(next) => next,
                    None => return,
                };
            let next = if enough { Next::Leaves } else { self.begin(index, due) };
            self.settle(index, Ok(next));
        }
    }

    /// Whether no transaction begins any more.
    fn is_enough(&self, now: Instant) -> bool {
        now >= self.deadline || self.live.stop.load(Ordering::Relaxed)
    }

    /// Sends a connection's statement; who has gone meanwhile sends nothing.
    fn send(&mut self, index: usize) {
        if self.connections[index].open {
            let sent = self.connections[index].send().map(|()| Next::Waits);
            self.settle(index, sent);
        }
    }

    /// Handles what came on a connection.
    fn read(&mut self, index: usize, landing: &mut [u8]) {
        let connection = &mut self.connections[index];
        if !connection.open {
            return;
        }
        let next = match connection.fill(landing).map(|()| connection.reader.take()) {
            Ok(Some(answer)) => Ok(self.answered(index, answer)),
            Ok(None) => Ok(Next::Waits),
            Err(error) => Err(error),
        };
        self.settle(index, next);
    }

    /// Does what is next for a connection; an error when it is gone.
    fn settle(&mut self, index: usize, next: io::Result<Next>) {
        match next {
            Ok(Next::Waits) => {}
            Ok(Next::Sends) => match &mut self.delay {
                Some(delay) => delay.push(index, Instant::now()),
                None => self.send(index),
            },
            Ok(Next::Rests) => match &mut self.pace {
                Some(pace) => pace.rest(index),
                None => self.leave(index),
            },
            Ok(Next::Leaves) => self.leave(index),
            Err(_) => {
                self.live.broken.fetch_add(1, Ordering::Relaxed);
                self.share.in_doubt += u64::from(self.connections[index].is_in_doubt());
                self.leave(index);
            }
        }
    }

    fn leave(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        self.active -= u64::from(connection.open);
        connection.open = false;
    }

    /// What an answer leads to.
    fn answered(&mut self, index: usize, answer: Answer) -> Next {
        let connection = &mut self.connections[index];
        match answer {
            Answer::Done(affected) => connection.affected += affected,
            Answer::Rows(rows) => {
                self.live.rows.fetch_add(rows, Ordering::Relaxed);
            }
            Answer::Failed(DEADLOCK, _) if self.load.begins_again => {
                self.live.deadlocks.fetch_add(1, Ordering::Relaxed);
                return self.begin_again(index);
            }
            // The statement failed and its transaction is still there, with its locks: BEGIN would commit it.
            Answer::Failed(LOCK_WAIT_TIMEOUT, _) if self.load.begins_again => {
                self.live.timeouts.fetch_add(1, Ordering::Relaxed);
                connection.undo();
                return Next::Sends;
            }
            Answer::Failed(_, text) => {
                self.live.errors.fetch_add(1, Ordering::Relaxed);
                self.share.first_error.get_or_insert(text);
                connection.failed = true;
            }
        }
        if connection.undoing {
            return self.begin_again(index);
        }
        if connection.advance() { Next::Sends } else { self.completed(index) }
    }

    /// The transaction was undone: it begins again, but not after the end.
    fn begin_again(&mut self, index: usize) -> Next {
        if self.is_enough(Instant::now()) {
            self.connections[index].busy = false;
            return Next::Leaves;
        }
        self.connections[index].begin_again(&self.load.script);
        Next::Sends
    }

    /// The last statement was answered.
    fn completed(&mut self, index: usize) -> Next {
        let (connection, live, share) = (&mut self.connections[index], self.live, &mut self.share);
        let now = Instant::now();
        connection.turn += 1;
        connection.busy = false;
        if !connection.failed && connection.steps.withdraws() {
            live.withdrawn.fetch_add(1, Ordering::Relaxed);
        } else if !connection.failed {
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
        let sold_out = self.load.until_sold_out && connection.affected == 0;
        if sold_out || self.is_enough(now) {
            return Next::Leaves;
        }
        if self.pace.is_some() { Next::Rests } else { self.begin(index, now) }
    }

    /// Progress of every connection; who never came back is broken, and the waits that never ended count as
    /// long as they were looked at.
    fn end(mut self) -> Share {
        self.live.broken.fetch_add(self.active, Ordering::Relaxed);
        let done = self.live.transactions.load(Ordering::Relaxed);
        let share = &mut self.share;
        for connection in &self.connections {
            share.turns.push(connection.turn);
            if connection.open && connection.busy {
                share.overtaken.saturating_record(done.saturating_sub(connection.done_before));
                share.in_doubt += u64::from(connection.is_in_doubt());
            }
        }
        let end = self.deadline.min(Instant::now());
        share.unsent = self.pace.map_or(0, |pace| pace.unsent(end));
        self.share
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
