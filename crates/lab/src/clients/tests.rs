//! The clients against servers whose order of answers is written down: who was overtaken, and when a
//! transaction was due.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Live, Load, Outcome, PerConnection, longest_over_median, run};
use crate::client::Target;
use crate::floor;
use crate::process::free_port;

const CONNECTIONS: usize = 8;
const ROUNDS: u64 = 400;

/// Reads the statement that a connection has under way and answers that so many rows were affected.
fn serve_one(socket: &mut TcpStream, affected: u8) {
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    let mut statement = vec![0; usize::from(header[0])];
    socket.read_exact(&mut statement).unwrap();
    socket.write_all(&[7, 0, 0, 1, 0, affected, 0, 2, 0, 0, 0]).unwrap();
}

/// Serves the connections round after round in the order of their coming; connection 0 only in every
/// `patience`-th round. In the last round there is nothing left for anybody.
fn shop(patience: u64) -> (Target, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::local(listener.local_addr().unwrap().port());
    let serving = thread::spawn(move || {
        let mut connections: Vec<TcpStream> = (0..CONNECTIONS)
            .map(|number| {
                let (socket, _) = listener.accept().unwrap();
                floor::log_in(&socket, number as u32).unwrap();
                socket
            })
            .collect();
        for round in 1..=ROUNDS {
            let skipped = usize::from(round % patience != 0 && round < ROUNDS);
            for connection in &mut connections[skipped..] {
                serve_one(connection, u8::from(round < ROUNDS));
            }
        }
    });
    (target, serving)
}

fn load(target: Target) -> Load {
    Load {
        target,
        set_up: Vec::new(),
        prepared: Vec::new(),
        script: Arc::new(|_, _, steps| steps.say("UPDATE")),
        connections: CONNECTIONS,
        threads: 1,
        duration: Duration::from_secs(600),
        until_sold_out: true,
        rate: None,
    }
}

fn sell(patience: u64) -> Outcome {
    let (target, serving) = shop(patience);
    let outcome = run(&load(target), &Arc::new(Live::default())).unwrap();
    serving.join().unwrap();
    assert_eq!((outcome.errors, outcome.broken), (0, 0), "{:?}", outcome.first_error);
    outcome
}

#[test]
fn who_is_served_in_turn_is_overtaken_by_each_of_the_others_once() {
    let outcome = sell(1);
    let overtaken = &outcome.overtaken;
    assert_eq!(overtaken.len(), CONNECTIONS as u64 * ROUNDS);
    assert_eq!(overtaken.value_at_quantile(0.5), CONNECTIONS as u64 - 1);
    assert!(longest_over_median(overtaken) <= 2.0, "{}", overtaken.max());
    assert_eq!(outcome.progress, PerConnection { least: ROUNDS, median: ROUNDS, most: ROUNDS });
}

#[test]
fn who_is_overtaken_too_often_is_found() {
    let outcome = sell(20);
    assert!(outcome.overtaken.max() >= 19 * (CONNECTIONS as u64 - 1), "{}", outcome.overtaken.max());
    assert!(longest_over_median(&outcome.overtaken) > 5.0);
    assert_eq!(outcome.progress, PerConnection { least: ROUNDS / 20, median: ROUNDS, most: ROUNDS });
    // Most waits are as short as ever: the 99th percentile alone would not tell.
    assert!(outcome.overtaken.value_at_quantile(0.99) < 5 * (CONNECTIONS as u64 - 1));
}

#[test]
fn by_the_clock_what_is_due_is_done_or_said() {
    let port = free_port().unwrap();
    thread::spawn(move || floor::serve(port));
    let target = Target::local(port);
    while crate::client::Client::connect(&target).is_err() {
        thread::yield_now();
    }
    // Powers of two, so that the count is exact.
    let paced = Load { duration: Duration::from_millis(250), rate: Some(2048.0), ..load(target) };
    let outcome = run(&paced, &Arc::new(Live::default())).unwrap();
    assert_eq!((outcome.errors, outcome.broken), (0, 0), "{:?}", outcome.first_error);
    assert_eq!(outcome.transactions + outcome.unsent, 512);
    assert_eq!(outcome.latency_us.len(), outcome.transactions);
}
