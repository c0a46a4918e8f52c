//! The floor against the clients.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::client::{Client, Target};
use crate::clients::{self, Live, Load, Parameter};
use crate::process::free_port;

#[test]
fn clients_get_ok_for_everything() {
    let port = free_port().unwrap();
    thread::spawn(move || super::serve(port));
    let target = Target::local(port);
    while Client::connect(&target).is_err() {
        thread::yield_now();
    }
    let load = Load {
        target,
        set_up: vec!["SET anything = 1".into()],
        prepared: vec!["UPDATE t SET a = ? WHERE b = ?".into()],
        script: Arc::new(|_, turn, steps| {
            steps.say("BEGIN");
            steps.execute(0, &[Parameter::Number(turn as i64), Parameter::Text("b")]);
        }),
        connections: 16,
        threads: 1,
        duration: Duration::from_millis(50),
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    };
    let outcome = clients::run(&load, &Arc::new(Live::default())).unwrap();
    assert_eq!((outcome.errors, outcome.broken), (0, 0), "{:?}", outcome.first_error);
    assert!(outcome.progress.least > 0);
    assert_eq!(outcome.affected, outcome.transactions * 2);
}
