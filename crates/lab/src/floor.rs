//! The protocol's floor: a server that completes the handshake and answers OK to everything.
//!
//! What the driver reaches against it is the most that client, loopback and protocol allow on this machine in
//! this minute; a server's figure is read as a share of it. It runs in a process of its own
//! (`turnstile bench-floor`), so that its CPU time is told apart from the driver's. One thread a core, each
//! with an epoll instance; logins are done by the thread that accepts.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::client::packet;
use crate::process::raise_descriptor_limit;

/// OK, one row affected, autocommit.
const OK: [u8; 7] = [0, 1, 0, 2, 0, 0, 0];
const QUIT: u8 = 1;
const PREPARE: u8 = 0x16;

struct Worker {
    poller: OwnedFd,
    /// Connections that were accepted for this thread and that it has not seen yet.
    arrived: Mutex<Vec<TcpStream>>,
}

struct Connection {
    socket: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// Serves on loopback until the process is ended.
///
/// # Errors
/// When the port cannot be used.
pub fn serve(port: u16) -> io::Result<()> {
    raise_descriptor_limit();
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut workers = Vec::new();
    for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
        let worker = Arc::new(Worker {
            poller: epoll::create(CreateFlags::CLOEXEC)?,
            arrived: Mutex::new(Vec::new()),
        });
        workers.push(worker.clone());
        thread::spawn(move || work(&worker));
    }
    for (number, socket) in listener.incoming().enumerate() {
        let Ok(socket) = socket else { continue };
        // A client that fails to log in is its own trouble.
        if log_in(&socket, number as u32).is_err() || socket.set_nonblocking(true).is_err() {
            continue;
        }
        let worker = &workers[number % workers.len()];
        let token = EventData::new_u64(socket.as_raw_fd() as u64);
        let mut arrived = worker.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        if epoll::add(&worker.poller, &socket, token, EventFlags::IN).is_ok() {
            arrived.push(socket);
        }
    }
    Ok(())
}

/// The server's side of a login; anybody is let in.
pub(crate) fn log_in(mut socket: &TcpStream, number: u32) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut greeting = b"\x0a8.0.0-floor\0".to_vec();
    greeting.extend_from_slice(&number.to_le_bytes());
    greeting.extend_from_slice(b"01234567\0");
    let capabilities = 1u32 | 1 << 1 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;
    greeting.extend_from_slice(&capabilities.to_le_bytes()[..2]);
    greeting.push(45);
    greeting.extend_from_slice(&2u16.to_le_bytes());
    greeting.extend_from_slice(&capabilities.to_le_bytes()[2..]);
    greeting.push(21);
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"890123456789\0mysql_native_password\0");
    socket.write_all(&packet(&greeting, 0))?;
    let mut header = [0; 4];
    socket.read_exact(&mut header)?;
    let mut login = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut login)?;
    socket.write_all(&packet(&[0, 0, 0, 2, 0, 0, 0], 2))
}

fn work(worker: &Worker) {
    let mut connections: HashMap<u64, Connection> = HashMap::new();
    let mut events = Vec::with_capacity(1024);
    let mut landing = vec![0; 16 << 10];
    loop {
        events.clear();
        if epoll::wait(&worker.poller, spare_capacity(&mut events), None).is_err() {
            continue;
        }
        for event in &events {
            let token = event.data.u64();
            if !connections.contains_key(&token) {
                let mut arrived = worker.arrived.lock().unwrap_or_else(PoisonError::into_inner);
                for socket in arrived.drain(..) {
                    let connection = Connection { socket, input: Vec::new(), output: Vec::new() };
                    connections.insert(connection.socket.as_raw_fd() as u64, connection);
                }
            }
            let Some(connection) = connections.get_mut(&token) else { continue };
            if answer(connection, &mut landing).is_err() {
                connections.remove(&token);
            }
        }
    }
}

/// Answers every whole command that has come; an error when the connection is to be closed.
fn answer(connection: &mut Connection, landing: &mut [u8]) -> io::Result<()> {
    match connection.socket.read(landing) {
        Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
        Ok(len) => connection.input.extend_from_slice(&landing[..len]),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
        Err(error) => return Err(error),
    }
    connection.output.clear();
    let mut at = 0;
    while let Some(header) = connection.input[at..].first_chunk::<4>() {
        let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let Some(command) = connection.input.get(at + 4..at + 4 + len) else { break };
        match command.first() {
            Some(&QUIT) | None => return Err(ErrorKind::UnexpectedEof.into()),
            Some(&PREPARE) => {
                let definition = prepared(command);
                connection.output.extend_from_slice(&definition);
            }
            Some(_) => {
                connection.output.extend_from_slice(&[OK.len() as u8, 0, 0, 1]);
                connection.output.extend_from_slice(&OK);
            }
        }
        at += 4 + len;
    }
    connection.input.drain(..at);
    connection.socket.write_all(&connection.output)
}

/// Statement 1, no columns, a parameter for every question mark.
fn prepared(command: &[u8]) -> Vec<u8> {
    let parameters = command.iter().filter(|&&byte| byte == b'?').count() as u16;
    let mut head = vec![0, 1, 0, 0, 0, 0, 0];
    head.extend_from_slice(&parameters.to_le_bytes());
    head.extend_from_slice(&[0, 0, 0]);
    let mut bytes = packet(&head, 1);
    for number in 0..parameters {
        let mut definition = b"\x03def\0\0\0\x01?\0\x0c".to_vec();
        definition.extend_from_slice(&[63, 0, 0, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
        bytes.extend(packet(&definition, 2 + number as u8));
    }
    if parameters > 0 {
        bytes.extend(packet(&[0xfe, 0, 0, 2, 0], 2 + parameters as u8));
    }
    bytes
}

#[cfg(test)]
mod tests;
