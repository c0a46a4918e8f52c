//! The clients against servers whose order of answers is written down: who was overtaken, and when a
//! transaction was due, what a transaction does that was undone, what a round trip costs.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{DEADLOCK, LOCK_WAIT_TIMEOUT, Live, Load, Outcome, PerConnection, longest_over_median, run};
use crate::client::{Target, packet};
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
        rtt: Duration::ZERO,
        begins_again: false,
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

const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];

fn error(code: u16) -> Vec<u8> {
    let mut payload = vec![0xff];
    payload.extend_from_slice(&code.to_le_bytes());
    payload.extend_from_slice(b"#HY000no");
    payload
}

/// Answers the statements of one connection as written, then closes it; gives what was asked.
fn answers(payloads: Vec<Vec<u8>>) -> (Target, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::local(listener.local_addr().unwrap().port());
    let serving = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        floor::log_in(&socket, 0).unwrap();
        let mut asked = Vec::new();
        for payload in payloads.iter().map(Some).chain([None]) {
            let mut header = [0; 4];
            if socket.read_exact(&mut header).is_err() {
                break;
            }
            let mut statement = vec![0; usize::from(header[0])];
            socket.read_exact(&mut statement).unwrap();
            asked.push(String::from_utf8(statement[1..].to_vec()).unwrap());
            if let Some(payload) = payload {
                socket.write_all(&packet(payload, 1)).unwrap();
            }
        }
        asked
    });
    (target, serving)
}

fn order(target: Target, begins_again: bool) -> Load {
    Load {
        script: Arc::new(|_, turn, steps| {
            steps.say("BEGIN");
            steps.push(format!("UPDATE {turn}"));
            if turn == 1 {
                steps.withdraw();
            }
            steps.say(if turn == 1 { "ROLLBACK" } else { "COMMIT" });
        }),
        connections: 1,
        until_sold_out: false,
        begins_again,
        ..load(target)
    }
}

#[test]
fn who_was_undone_begins_again_and_what_was_not_answered_is_in_doubt() {
    let (ok, no) = (OK.to_vec(), error);
    let mut script = vec![ok.clone(), no(DEADLOCK)];
    // The statement alone was undone: ROLLBACK, then from the beginning; the hot row's COMMIT is refused too.
    script.extend([ok.clone(), no(LOCK_WAIT_TIMEOUT), ok.clone()]);
    script.extend([ok.clone(), ok.clone(), no(DEADLOCK)]);
    script.extend(vec![ok; 8]);
    let (target, serving) = answers(script);
    let outcome = run(&order(target, true), &Arc::new(Live::default())).unwrap();
    let asked = serving.join().unwrap();
    let expected = "BEGIN|UPDATE 0|BEGIN|UPDATE 0|ROLLBACK|BEGIN|UPDATE 0|COMMIT|BEGIN|UPDATE 0|COMMIT\
        |BEGIN|UPDATE 1|ROLLBACK|BEGIN|UPDATE 2|COMMIT";
    assert_eq!(asked.join("|"), expected);
    assert_eq!((outcome.deadlocks, outcome.timeouts, outcome.errors), (2, 1, 0));
    assert_eq!((outcome.transactions, outcome.withdrawn), (1, 1));
    assert_eq!((outcome.broken, outcome.in_doubt), (1, 1), "the last COMMIT was not answered");
    assert_eq!((outcome.latency_us.len(), outcome.affected), (1, 3), "of the attempt that was kept");
}

#[test]
fn an_error_that_was_not_announced_is_a_failure() {
    for (begins_again, code) in [(false, DEADLOCK), (false, LOCK_WAIT_TIMEOUT), (true, 1064)] {
        let (target, serving) = answers(vec![OK.to_vec(), error(code), OK.to_vec(), OK.to_vec()]);
        let outcome = run(&order(target, begins_again), &Arc::new(Live::default())).unwrap();
        assert_eq!(serving.join().unwrap().join("|"), "BEGIN|UPDATE 0|COMMIT|BEGIN|UPDATE 1");
        assert_eq!((outcome.errors, outcome.transactions, outcome.deadlocks, outcome.timeouts), (1, 0, 0, 0));
        assert_eq!((outcome.broken, outcome.in_doubt), (1, 0), "cut off before its end");
    }
}

#[test]
fn after_the_end_who_was_undone_leaves() {
    let (target, serving) = answers(vec![OK.to_vec(), error(LOCK_WAIT_TIMEOUT), OK.to_vec(), OK.to_vec()]);
    let live = Arc::new(Live::default());
    live.stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let outcome = run(&order(target, true), &live).unwrap();
    assert_eq!(
        serving.join().unwrap().join("|"),
        "BEGIN|UPDATE 0|ROLLBACK",
        "its locks are given back first"
    );
    assert_eq!((outcome.transactions, outcome.timeouts, outcome.broken), (0, 1, 0));
}

#[test]
fn every_statement_takes_a_round_trip_and_many_take_theirs_at_once() {
    let port = free_port().unwrap();
    thread::spawn(move || floor::serve(port));
    let target = Target::local(port);
    while crate::client::Client::connect(&target).is_err() {
        thread::yield_now();
    }
    let rtt = Duration::from_millis(20);
    let far = Load { connections: 300, duration: Duration::from_millis(150), rtt, ..order(target, false) };
    let outcome = run(&far, &Arc::new(Live::default())).unwrap();
    assert_eq!((outcome.errors, outcome.broken, outcome.in_doubt), (0, 0, 0), "{:?}", outcome.first_error);
    assert!(outcome.latency_us.min() >= 3 * 20_000 - 100, "{} us", outcome.latency_us.min());
    // One after the other, 300 connections would take 18 s for one transaction each.
    assert!(outcome.progress.least >= 1 && outcome.elapsed < Duration::from_secs(9), "{:?}", outcome.elapsed);
}
