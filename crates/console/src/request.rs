//! One request as it comes in: bounded in bytes, in headers and in time. What cannot be read is refused with
//! a status; nothing that is sent can make this code panic or wait beyond its patience.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::Duration;

use crate::patience::Timed;
use crate::response::{Response, status};

/// Bytes of the request line and the headers together.
const HEAD_BYTES_MAX: usize = 8 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// Bytes of a body: a name, a password, a value of a switch.
const BODY_BYTES_MAX: usize = 4 << 10;
/// How long a client may take to send its request.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Look at something.
    Get,
    /// The same without the body of the answer.
    Head,
    /// Do something.
    Post,
}

/// A request that has been read.
#[derive(Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// What the target names, without its query.
    pub path: String,
    /// Names in lower case, values as they are; in the order in which they came.
    headers: Vec<(String, String)>,
    /// The body of a POST.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header that comes once; None if it does not come, or comes again.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(known, _)| known == name);
        let value = named.next()?;
        named.next().is_none().then_some(value.1.as_str())
    }

    /// Whether a header comes at all.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let given = self.headers.iter().filter(|(known, _)| known == "cookie");
        let mut pairs = given.flat_map(|(_, value)| value.split(';')).filter_map(|pair| pair.split_once('='));
        pairs.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim())
    }
}

/// Reads a request. None: the client has gone, or has sent nothing in time.
///
/// # Errors
/// What is to be answered in its place.
pub fn read(socket: &TcpStream) -> Result<Option<Request>, Response> {
    let mut from = Timed::new(socket, PATIENCE);
    let mut bytes = Vec::new();
    loop {
        if !fill(&mut from, &mut bytes, HEAD_BYTES_MAX)? {
            return if bytes.is_empty() { Ok(None) } else { Err(Response::refusal(status::BAD_REQUEST)) };
        }
        if let Some((mut request, head)) = parse(&bytes)? {
            let length = body_length(&request)?;
            request.body = bytes.split_off(head);
            while request.body.len() < length {
                if !fill(&mut from, &mut request.body, length)? {
                    return Err(Response::refusal(status::BAD_REQUEST));
                }
            }
            request.body.truncate(length);
            return Ok(Some(request));
        }
        if bytes.len() >= HEAD_BYTES_MAX {
            return Err(Response::refusal(status::HEADERS_TOO_LARGE));
        }
    }
}

/// Reads what there is, up to `len_max` bytes in all; false at the end of what the client sends.
fn fill(from: &mut Timed<'_>, bytes: &mut Vec<u8>, len_max: usize) -> Result<bool, Response> {
    let mut chunk = [0; 2048];
    let room = len_max.saturating_sub(bytes.len()).min(chunk.len());
    loop {
        match from.read(&mut chunk[..room]) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                bytes.extend_from_slice(&chunk[..count]);
                return Ok(true);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                // Who connects ahead of time and has nothing to ask needs no answer.
                return match bytes.is_empty() {
                    true => Ok(false),
                    false => Err(Response::refusal(status::TIMEOUT)),
                };
            }
            Err(_) => return Err(Response::refusal(status::BAD_REQUEST)),
        }
    }
}

/// The request line and the headers, and how many bytes they are; None if more is to come.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Response> {
    let mut room = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut room);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Response::refusal(status::HEADERS_TOO_LARGE)),
        Err(_) => return Err(Response::refusal(status::BAD_REQUEST)),
    };
    let method = match parsed.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => return Err(Response::not_allowed("GET, HEAD, POST")),
    };
    let path = parsed.path.and_then(|target| target.split('?').next()).unwrap_or_default();
    if !path.starts_with('/') {
        return Err(Response::refusal(status::BAD_REQUEST));
    }
    let header = |header: &httparse::Header<'_>| {
        (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).trim().to_string())
    };
    let headers = parsed.headers.iter().map(header).collect();
    Ok(Some((Request { method, path: path.to_string(), headers, body: Vec::new() }, head)))
}

/// How long the body is, as the request says.
fn body_length(request: &Request) -> Result<usize, Response> {
    if request.has_header("transfer-encoding") {
        return Err(Response::refusal(status::NOT_IMPLEMENTED));
    }
    if !request.has_header("content-length") {
        return Ok(0);
    }
    // Digits only: `parse` would take a sign.
    let digits =
        request.header("content-length").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let length =
        digits.filter(|text| !text.is_empty()).ok_or_else(|| Response::refusal(status::BAD_REQUEST))?;
    match length.parse() {
        Ok(length) if length <= BODY_BYTES_MAX => Ok(length),
        _ => Err(Response::refusal(status::TOO_LARGE)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    fn request(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap().0
    }

    fn refused(text: &str) -> u16 {
        match parse(text.as_bytes()) {
            Err(answer) => answer.status,
            Ok(Some((request, _))) => body_length(&request).unwrap_err().status,
            Ok(None) => panic!("{text} is not whole"),
        }
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        let got =
            request("GET /metrics?x=1 HTTP/1.1\r\nHOST: a\r\nCookie: x=1; y=two\r\nCookie: z= 3\r\n\r\n");
        assert_eq!((got.method, &*got.path, got.header("host")), (Method::Get, "/metrics", Some("a")));
        assert_eq!([got.cookie("x"), got.cookie("y"), got.cookie("z")], [Some("1"), Some("two"), Some("3")]);
        assert_eq!((got.cookie("q"), got.header("cookie")), (None, None));
        assert!(parse(b"GET / HTTP/1.1\r\nHost: a\r\n").unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        for (text, status) in [
            ("DELETE / HTTP/1.1\r\n\r\n", 405),
            ("GET http://x/ HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\na b: c\r\n\r\n", 400),
            ("\u{0}\u{1}\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
        ] {
            assert_eq!(refused(text), status, "{text}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
        assert_eq!(refused(&many), 431);
    }
}
