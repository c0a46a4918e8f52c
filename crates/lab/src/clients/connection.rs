//! One connection of a load and the transaction that it has under way.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::answer::Reader;
use super::{Live, Script, Steps};

/// One connection and the transaction it has under way.
pub struct Connection {
    pub(super) socket: TcpStream,
    number: usize,
    pub(super) steps: Steps,
    pub(super) step: usize,
    pub(super) turn: u64,
    /// When the transaction began, or was due: its first attempt, if it has begun again.
    pub(super) since: Instant,
    /// How many transactions of all had been acknowledged when this one began.
    pub(super) done_before: u64,
    pub(super) affected: u64,
    pub(super) failed: bool,
    pub(super) reader: Reader,
    pub(super) open: bool,
    /// Whether a transaction is under way.
    pub(super) busy: bool,
    /// Whether the statement that is next has gone out.
    sent: bool,
    /// The statement that is next takes the transaction back, which then begins again.
    pub(super) undoing: bool,
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
            sent: false,
            undoing: false,
        })
    }

    /// Begins a transaction whose wait counts from `since`; its first statement is next.
    pub(super) fn begin(&mut self, script: &Script, since: Instant, live: &Live) {
        self.since = since;
        self.done_before = live.transactions.load(Ordering::Relaxed);
        self.busy = true;
        self.begin_again(script);
    }

    /// Begins the same transaction from its first statement; its wait goes on.
    pub(super) fn begin_again(&mut self, script: &Script) {
        self.steps.clear();
        script(self.number, self.turn, &mut self.steps);
        self.step = 0;
        self.affected = 0;
        self.failed = false;
        self.undoing = false;
        self.sent = false;
    }

    /// Takes the transaction back: ROLLBACK is next.
    pub(super) fn undo(&mut self) {
        self.steps.clear();
        self.steps.say("ROLLBACK");
        self.step = 0;
        self.undoing = true;
        self.sent = false;
    }

    /// Goes on to the statement behind the one that was answered; false if there is none.
    pub(super) fn advance(&mut self) -> bool {
        self.step += 1;
        self.sent = false;
        self.step < self.steps.count()
    }

    /// Sends the statement that is next.
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.sent = true;
        // A statement is far smaller than a socket buffer that the previous answer has just emptied.
        self.socket.write_all(self.steps.packet(self.step))
    }

    /// Reads what there is; an error when the connection is gone.
    pub(super) fn fill(&mut self, landing: &mut [u8]) -> io::Result<()> {
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

    /// Whether the transaction's last statement went out and was not answered: it may have been applied.
    pub(super) fn is_in_doubt(&self) -> bool {
        let is_last = self.step + 1 == self.steps.count();
        self.busy && self.sent && is_last && !self.undoing && !self.steps.withdraws()
    }
}
