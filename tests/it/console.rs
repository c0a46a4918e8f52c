//! The console over raw TCP: what it tells, whom it refuses, and that nobody can hold it up.

mod metrics;
mod page;
mod refused;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use turnstile_lab::client::{Client, Target};
use turnstile_lab::process::{ServerProcess, free_port};

use super::{Scratch, connect, start};

/// Patience with a console that is asked for something.
const SOON: Duration = Duration::from_secs(20);

/// An answer, taken apart.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn of(text: &str) -> Answer {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_string(), body: body.to_string() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A server with a console.
struct Site {
    server: ServerProcess,
    target: Target,
    port: u16,
    _scratch: Scratch,
}

impl Site {
    fn open(name: &str, options: &[&str]) -> Site {
        let (scratch, port) = (Scratch::new(name), free_port().unwrap());
        let mut all = vec![format!("--console={port}")];
        all.extend(options.iter().map(|option| option.to_string()));
        let (server, target) = start(&scratch, &all.iter().map(String::as_str).collect::<Vec<_>>());
        Site { server, target, port, _scratch: scratch }
    }

    fn root(&self) -> Client {
        connect(&self.target)
    }

    fn dial(&self) -> TcpStream {
        dial(self.port)
    }

    fn send(&self, request: &str) -> Answer {
        send(self.port, request)
    }

    fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    /// `more`: header lines, each with its end.
    fn get_with(&self, path: &str, more: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n{more}\r\n", self.port))
    }
}

fn dial(port: u16) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket
}

fn send(port: u16, request: &str) -> Answer {
    let mut socket = dial(port);
    socket.write_all(request.as_bytes()).unwrap();
    answer_of(&mut socket)
}

fn answer_of(socket: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    Answer::of(&String::from_utf8(bytes).unwrap())
}
