//! Answers, and the headers that every one of them has.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::patience::Timed;

/// How long a client may take to read an answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long, and how much, what a refused client still sends is read, so that it gets to read its answer.
const FAREWELL: Duration = Duration::from_millis(500);
const FAREWELL_BYTES: usize = 64 << 10;

/// What every answer says: nothing of it is kept, guessed at, framed, or taken from elsewhere. The page has
/// its scripts and styles in files of their own.
const ALWAYS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Connection: close\r\n";

/// Statuses that are answered, with the words that go with them.
pub mod status {
    /// A status line's number and words.
    pub type Status = (u16, &'static str);
    /// Here it is.
    pub const OK: Status = (200, "OK");
    /// Cannot be read.
    pub const BAD_REQUEST: Status = (400, "Bad Request");
    /// Needs an account.
    pub const UNAUTHORIZED: Status = (401, "Unauthorized");
    /// Not from there, or not with this account.
    pub const FORBIDDEN: Status = (403, "Forbidden");
    /// There is nothing of this name.
    pub const NOT_FOUND: Status = (404, "Not Found");
    /// Not with this method.
    pub const NOT_ALLOWED: Status = (405, "Method Not Allowed");
    /// Too slow.
    pub const TIMEOUT: Status = (408, "Request Timeout");
    /// The body is too long.
    pub const TOO_LARGE: Status = (413, "Content Too Large");
    /// The body is of another kind.
    pub const WRONG_KIND: Status = (415, "Unsupported Media Type");
    /// Asked for by a name that is not the console's.
    pub const MISDIRECTED: Status = (421, "Misdirected Request");
    /// Too many wrong passwords.
    pub const TOO_MANY: Status = (429, "Too Many Requests");
    /// The head is too long.
    pub const HEADERS_TOO_LARGE: Status = (431, "Request Header Fields Too Large");
    /// A way to send a body that is not taken.
    pub const NOT_IMPLEMENTED: Status = (501, "Not Implemented");
    /// Not now.
    pub const UNAVAILABLE: Status = (503, "Service Unavailable");
}

/// Content types.
pub mod kind {
    /// Words.
    pub const TEXT: &str = "text/plain; charset=utf-8";
    /// Data.
    pub const JSON: &str = "application/json";
    /// Samples, one after the other.
    pub const EVENTS: &str = "text/event-stream";
    /// Metrics.
    pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    words: &'static str,
    kind: &'static str,
    body: Cow<'static, [u8]>,
    /// Further headers, each a whole line.
    lines: String,
}

impl Response {
    /// An answer with this body.
    pub fn new((status, words): status::Status, kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status, words, kind, body: Cow::Owned(body.into()), lines: String::new() }
    }

    /// A file that is part of the program.
    pub fn file(kind: &'static str, body: &'static str) -> Response {
        let (status, words) = status::OK;
        Response { status, words, kind, body: Cow::Borrowed(body.as_bytes()), lines: String::new() }
    }

    /// Nothing but a status.
    pub fn refusal(status: status::Status) -> Response {
        Response::new(status, kind::TEXT, format!("{}\n", status.1))
    }

    /// A status and why.
    pub fn because(status: status::Status, why: &str) -> Response {
        Response::new(status, kind::TEXT, format!("{why}\n"))
    }

    /// 405, with what is allowed.
    pub fn not_allowed(methods: &'static str) -> Response {
        Response::refusal(status::NOT_ALLOWED).with("Allow", methods)
    }

    /// With one more header. The value is the server's own: no line ends.
    pub fn with(mut self, name: &str, value: &str) -> Response {
        debug_assert!(!value.contains(['\r', '\n']));
        // Writing into a text cannot fail.
        let _ = write!(self.lines, "{name}: {value}\r\n");
        self
    }

    /// Sends it, without the body if nobody wants that.
    ///
    /// # Errors
    /// Those of the socket: the client has gone, or is too slow.
    pub fn send(&self, socket: &TcpStream, without_body: bool) -> io::Result<()> {
        let Response { status, words, kind, body, lines } = self;
        let length = body.len();
        let mut message = format!(
            "HTTP/1.1 {status} {words}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{ALWAYS}{lines}\r\n"
        )
        .into_bytes();
        if !without_body {
            message.extend_from_slice(body);
        }
        Timed::new(socket, PATIENCE).write_all(&message)
    }
}

/// Begins an answer whose end nobody knows yet.
///
/// # Errors
/// Those of the socket.
pub fn begin_stream(socket: &TcpStream) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nX-Accel-Buffering: no\r\n{ALWAYS}\r\n", kind::EVENTS);
    Timed::new(socket, PATIENCE).write_all(head.as_bytes())
}

/// Sends one event of a stream: a line of JSON.
///
/// # Errors
/// Those of the socket: the client has gone, or is too slow.
pub fn send_event(socket: &TcpStream, line: &str) -> io::Result<()> {
    Timed::new(socket, PATIENCE).write_all(format!("data: {line}\n\n").as_bytes())
}

/// Ends a connection so that its client gets to read what it was answered, whatever it still sends.
pub fn close_gently(socket: &TcpStream) {
    if socket.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let (mut from, mut seen) = (Timed::new(socket, FAREWELL), 0);
    let mut chunk = [0; 2048];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        seen += count;
        if seen > FAREWELL_BYTES {
            return;
        }
    }
}
