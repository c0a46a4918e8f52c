//! End-to-end tests over the wire against a real server process: kill -9 rounds, thousands of waiters, clean
//! restarts, and the laboratory's experiments in small.
//!
//! They use the laboratory's own client and process control; foreign clients are in `tests/wire`.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod console;
mod counters;
mod error_texts;
mod flip_switches;
mod four_waits;
mod handed_on;
mod history;
mod hostile;
mod hot_rows;
mod kill_rounds;
mod laboratory;
mod life_of_an_update;
mod login;
mod memory;
mod names;
mod patience;
mod pipelined;
mod restart;
mod seeing;
mod start_options;
mod threads;
mod tidying;
mod vanish;
mod waiters;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use turnstile_lab::client::{Client, Target};
use turnstile_lab::process::{ServerProcess, free_port};

/// The binary under test: the one that TURNSTILE_BINARY names, or the one built beside the tests.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("TURNSTILE_BINARY") {
        Some(named) => named.into(),
        None => env!("CARGO_BIN_EXE_turnstile").into(),
    })
}

/// A folder that is removed when the test ends well and kept for a look when it fails.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(turnstile_lab::process::scratch_folder(name).unwrap())
    }
    fn data(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
            return;
        }
        // What the servers said last: where the folder itself is out of reach it is all there is.
        for file in std::fs::read_dir(&self.0).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|kind| kind == "log") {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                println!("the end of {}:", file.display());
                let from = text.lines().count().saturating_sub(15);
                text.lines().skip(from).for_each(|line| println!("  {line}"));
            }
        }
    }
}

fn start(scratch: &Scratch, options: &[&str]) -> (ServerProcess, Target) {
    let port = free_port().unwrap();
    let mut all = vec!["--max-connections=5000".to_string()];
    all.extend(options.iter().map(|text| text.to_string()));
    let server = ServerProcess::start(binary(), &scratch.data(), port, &all).unwrap();
    (server, Target::local(port))
}

fn connect(target: &Target) -> Client {
    Client::connect(target).unwrap()
}
