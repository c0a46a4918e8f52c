//! A connection's byte stream: a non-blocking socket, plain or under TLS, read and written in packets.
//!
//! One system call each way per statement: a read takes what the socket has, a short read marks the socket
//! drained (the sockets are edge-triggered), and answers gather in one output buffer that is sent when the
//! session is about to wait for its client, or when it has grown past [`FLUSH_BYTES`].

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags};
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::yield_now::yield_now;
use turnstile_session::error::{SqlError, SqlResult};
use turnstile_session::memory::Charge;
use turnstile_session::session::Session;
use turnstile_sys::relief;

use crate::deadline::Deadline;
use turnstile_scheduler::Readiness;
use turnstile_wire::write::PacketWriter;
use turnstile_wire::{HEADER_BYTES, PAYLOAD_BYTES_MAX};

/// Output beyond this many bytes is sent before more is produced.
pub const FLUSH_BYTES: usize = 16 << 10;
/// Patience with a client before its session says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes taken by one read.
const READ_BYTES: usize = 64 << 10;
/// Messages and answers of this length count as the session's memory.
const LONG_BYTES: usize = 256 << 10;
/// So many bytes are taken from a client that sends as fast as they are read before others are let in.
const BYTES_AT_ONCE: usize = 512 << 10;
/// Copying so much, or giving it back, takes a millisecond or more.
pub const LONG_COPY_BYTES: usize = 4 << 20;
/// Room beside the values of a long row: headers of packets and of values.
const SPLIT_BYTES: usize = 4 << 10;
/// How often a long message is in memory while its command runs: as it came, whole, as a statement's text or
/// values.
const MESSAGE_COPIES: usize = 3;
/// Buffers are given back when they have grown past this and are empty.
const KEEP_BYTES: usize = 16 << 10;

/// Why a packet could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The client has gone.
    #[error("the client closed the connection")]
    Closed,
    /// The socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The message is longer than `max_allowed_packet`.
    #[error("got a packet bigger than 'max_allowed_packet' bytes")]
    TooLarge,
    /// The message is more than the session's memory has room for.
    #[error("the message takes too much memory")]
    TooMuch(SqlError),
    /// Packets out of order.
    #[error("got packets out of order")]
    OutOfOrder,
    /// The client paused too long within a message.
    #[error("got timeout reading communication packets")]
    TooSlow,
}

thread_local! {
    /// Where a read lands first, so that idle connections own no buffer.
    static LANDING: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

/// The socket alone: `std::io` over `recv` and `send`, as rustls wants it.
struct Socket {
    fd: Arc<OwnedFd>,
    readiness: Arc<Readiness>,
    /// Bytes since the last [`Stream::take_traffic`].
    received: u64,
    sent: u64,
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let room = buf.len();
        let len = self.readiness.read(room, || {
            Ok(rustix::net::recv(&self.fd, &mut *buf, RecvFlags::DONTWAIT).map(|(len, _)| len)?)
        })?;
        self.received += len as u64;
        Ok(len)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match rustix::net::send(&self.fd, buf, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(len) => {
                self.sent += len as u64;
                Ok(len)
            }
            Err(rustix::io::Errno::AGAIN) => Err(ErrorKind::WouldBlock.into()),
            Err(error) => Err(error.into()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Packets in and out.
pub struct Stream {
    socket: Socket,
    tls: Option<Box<rustls::ServerConnection>>,
    input: Vec<u8>,
    read_to: usize,
    /// Bytes read since it last waited or yielded.
    at_once: usize,
    sent: usize,
    /// When the client must have taken more of the answer, while the socket is full.
    write_deadline: Option<Deadline>,
    /// Longest pause of the client within a message.
    pub read_patience: Duration,
    /// Longest pause of the client while it should take its answer.
    pub write_patience: Duration,
    /// Ends a wait for the client.
    pub interrupt: Option<Arc<Interrupt>>,
    /// Where answers are written.
    pub writer: PacketWriter,
    /// What a long message, and what is made of it, holds of the session's memory.
    message_charge: Charge,
    /// What a long answer holds that the client has not taken yet.
    output_charge: Charge,
    /// The answer's length when that was charged.
    output_charged: usize,
}

impl Stream {
    /// Bytes received and sent since the last call.
    pub fn take_traffic(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.socket.received), std::mem::take(&mut self.socket.sent))
    }

    /// A plain stream over a non-blocking socket.
    pub fn new(fd: Arc<OwnedFd>, readiness: Arc<Readiness>) -> Self {
        Stream {
            socket: Socket { fd, readiness, received: 0, sent: 0 },
            tls: None,
            input: Vec::new(),
            read_to: 0,
            at_once: 0,
            sent: 0,
            write_deadline: None,
            read_patience: PATIENCE,
            write_patience: PATIENCE,
            interrupt: None,
            writer: PacketWriter::default(),
            message_charge: Charge::default(),
            output_charge: Charge::default(),
            output_charged: 0,
        }
    }

    /// Long messages and answers count as the session's memory from now on.
    pub fn keep_account(&mut self, session: &Session) {
        self.message_charge = session.charge();
        self.output_charge = session.charge();
    }

    /// Counts a long row before it is written, and makes room for it; errors 4081 and 4082.
    ///
    /// # Errors
    /// The answer would be more than the session's memory has room for.
    #[inline]
    pub fn make_room(&mut self, bytes: usize) -> SqlResult<()> {
        if bytes < LONG_BYTES {
            return Ok(());
        }
        let length = self.writer.output.len() + bytes;
        if length > self.output_charged {
            self.charge_output(length)?;
        }
        self.writer.output.reserve_exact(bytes + bytes / SPLIT_BYTES + SPLIT_BYTES);
        Ok(())
    }

    /// Counts what the answer has grown by; errors 4081 and 4082.
    ///
    /// # Errors
    /// The answer is more than the session's memory has room for.
    #[inline]
    pub fn note_output(&mut self) -> SqlResult<()> {
        let length = self.writer.output.len();
        if length < LONG_BYTES || length <= self.output_charged { Ok(()) } else { self.charge_output(length) }
    }

    #[cold]
    fn charge_output(&mut self, length: usize) -> SqlResult<()> {
        self.output_charge.add(length - self.output_charged)?;
        self.output_charged = length;
        Ok(())
    }

    /// Continues under TLS. What the client sent already belongs to the TLS stream.
    ///
    /// # Errors
    /// When the configuration is unusable or the first bytes are not TLS.
    pub fn start_tls(&mut self, config: Arc<rustls::ServerConfig>) -> io::Result<()> {
        let mut tls = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
        let mut early = &self.input[self.read_to..];
        while !early.is_empty() {
            tls.read_tls(&mut early)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
        self.input.clear();
        self.read_to = 0;
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Whether the connection is under TLS.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Reads one message into `payload` (cleared first) and takes over its sequence number.
    ///
    /// # Errors
    /// [`ReadError`]; after any of them only an error packet may still be sent.
    pub async fn read_packet(&mut self, payload: &mut Vec<u8>, len_max: usize) -> Result<(), ReadError> {
        payload.clear();
        self.message_charge.clear();
        let mut charged = 0;
        loop {
            let waiting = &self.input[self.read_to..];
            if let Some(header) = waiting.first_chunk::<HEADER_BYTES>() {
                let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                if payload.len() + len > len_max {
                    // A client reads no answer before it has sent its message.
                    self.skip_message().await?;
                    return Err(ReadError::TooLarge);
                }
                let known = payload.len() + len;
                if len >= LONG_BYTES && known > charged {
                    let more = (known - charged) * MESSAGE_COPIES;
                    if let Err(error) = self.message_charge.add(more) {
                        self.skip_message().await?;
                        return Err(ReadError::TooMuch(error));
                    }
                    charged = known;
                }
                if let Some(piece) = waiting.get(HEADER_BYTES..HEADER_BYTES + len) {
                    if !payload.is_empty() && header[3] != self.writer.sequence {
                        return Err(ReadError::OutOfOrder);
                    }
                    if len >= LONG_COPY_BYTES {
                        relief::ahead();
                    }
                    payload.extend_from_slice(piece);
                    self.writer.sequence = header[3].wrapping_add(1);
                    self.read_to += HEADER_BYTES + len;
                    self.tidy_input();
                    if len < PAYLOAD_BYTES_MAX {
                        return Ok(());
                    }
                    continue;
                }
            }
            let within = !waiting.is_empty() || !payload.is_empty();
            self.fill(within).await?;
        }
    }

    /// Reads the rest of a message, throws it away and takes over its sequence number.
    async fn skip_message(&mut self) -> Result<(), ReadError> {
        loop {
            while self.input.len() - self.read_to < HEADER_BYTES {
                self.fill(true).await?;
            }
            let header = &self.input[self.read_to..self.read_to + HEADER_BYTES];
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            self.writer.sequence = header[3].wrapping_add(1);
            self.read_to += HEADER_BYTES;
            let mut left = len;
            loop {
                let have = (self.input.len() - self.read_to).min(left);
                self.read_to += have;
                left -= have;
                self.tidy_input();
                if left == 0 {
                    break;
                }
                self.fill(true).await?;
            }
            if len < PAYLOAD_BYTES_MAX {
                return Ok(());
            }
        }
    }

    /// Sends all output, says that no more will come, and waits until the client has closed its side or
    /// `patience` is over: a socket that is closed with unread input tells the client of a broken connection
    /// in place of the answer.
    pub async fn close_gently(&mut self, patience: Duration) {
        if self.flush().await.is_err() {
            return;
        }
        if rustix::net::shutdown(&self.socket.fd, rustix::net::Shutdown::Write).is_err() {
            return;
        }
        let mut deadline = Deadline::after(patience);
        poll_fn(|context| {
            let mut at_once = 0;
            loop {
                self.input.clear();
                self.read_to = 0;
                match self.try_fill() {
                    Ok(len) if len > 0 => {
                        at_once += len;
                        if at_once >= BYTES_AT_ONCE {
                            context.waker().wake_by_ref();
                            return deadline.poll(context);
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return deadline.poll(context),
                    _ => return Poll::Ready(()),
                }
            }
        })
        .await;
    }

    fn tidy_input(&mut self) {
        if self.read_to == self.input.len() {
            self.input.clear();
            self.read_to = 0;
            if self.input.capacity() > KEEP_BYTES {
                self.input = Vec::new();
            }
        }
    }

    /// Waits for more input.
    async fn fill(&mut self, within_message: bool) -> Result<(), ReadError> {
        let mut deadline: Option<Deadline> = None;
        let filled = poll_fn(|context| match self.try_fill() {
            Ok(0) => Poll::Ready(Err(ReadError::Closed)),
            Ok(len) => {
                self.at_once += len;
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.at_once = 0;
                if !within_message {
                    return Poll::Pending;
                }
                self.socket.readiness.within_message(true);
                let deadline = deadline.get_or_insert_with(|| Deadline::after(self.read_patience));
                deadline.poll(context).map(|()| Err(ReadError::TooSlow))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error.into())),
        })
        .await;
        if within_message {
            self.socket.readiness.within_message(false);
        }
        if self.at_once >= BYTES_AT_ONCE {
            self.at_once = 0;
            yield_now().await;
        }
        filled
    }

    fn try_fill(&mut self) -> io::Result<usize> {
        if self.read_to > 0 && self.read_to * 2 >= self.input.len() {
            self.input.drain(..self.read_to);
            self.read_to = 0;
        }
        LANDING.with_borrow_mut(|landing| {
            let Some(tls) = &mut self.tls else {
                let len = self.socket.read(landing)?;
                self.input.extend_from_slice(&landing[..len]);
                return Ok(len);
            };
            loop {
                match tls.reader().read(landing) {
                    Ok(len) => {
                        self.input.extend_from_slice(&landing[..len]);
                        return Ok(len);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
                while tls.wants_write() {
                    tls.write_tls(&mut self.socket)?;
                }
                if tls.read_tls(&mut self.socket)? == 0 {
                    return Ok(0);
                }
                if let Err(error) = tls.process_new_packets() {
                    // The alert that tells the client why; it may not fit, and the connection ends anyway.
                    let _ = tls.write_tls(&mut self.socket);
                    return Err(io::Error::other(error));
                }
            }
        })
    }

    /// Whether the output should be sent before more is produced.
    pub fn should_flush(&self) -> bool {
        self.writer.output.len() - self.sent >= FLUSH_BYTES
    }

    /// Sends all output.
    ///
    /// # Errors
    /// When the client has gone.
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// One attempt to send all output; `Pending` until the socket takes more. The client's patience and a
    /// kill of the connection end the wait.
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let before = self.socket.sent;
        let done = match self.try_flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.poll_full(self.socket.sent > before, context).map(Err)
            }
            other => Poll::Ready(other),
        };
        if done.is_ready() && self.write_deadline.is_some() {
            self.write_deadline = None;
        }
        done
    }

    /// The socket is full: how long still?
    fn poll_full(&mut self, progress: bool, context: &mut Context<'_>) -> Poll<io::Error> {
        if progress || self.write_deadline.is_none() {
            self.write_deadline = Some(Deadline::after(self.write_patience));
        }
        if let Some(interrupt) = &self.interrupt {
            // KILL QUERY is the statement's to notice, if it still runs.
            if interrupt.poll_killed(context).is_ready() && interrupt.is_connection_killed() {
                return Poll::Ready(ErrorKind::ConnectionAborted.into());
            }
        }
        let deadline = self.write_deadline.as_mut().expect("set above if it was not");
        deadline.poll(context).map(|()| ErrorKind::TimedOut.into())
    }

    fn try_flush(&mut self) -> io::Result<()> {
        while self.sent < self.writer.output.len() {
            let rest = &self.writer.output[self.sent..];
            if rest.len() >= LONG_COPY_BYTES {
                relief::ahead();
            }
            self.sent += match &mut self.tls {
                None => self.socket.write(rest)?,
                Some(tls) => {
                    while tls.wants_write() {
                        tls.write_tls(&mut self.socket)?;
                    }
                    tls.writer().write(&rest[..rest.len().min(FLUSH_BYTES)])?
                }
            };
        }
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut self.socket)?;
            }
        }
        self.writer.output.clear();
        self.sent = 0;
        if self.output_charged > 0 {
            self.output_charged = 0;
            self.output_charge.clear();
        }
        if self.writer.output.capacity() > KEEP_BYTES * 4 {
            self.writer.output = Vec::new();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
