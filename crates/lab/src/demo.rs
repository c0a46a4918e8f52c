//! `turnstile demo`: the flash sale, the kill in the middle of it, and the table, in one go.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::check_output;
use crate::client::{Client, Target};
use crate::clients::{self, Live, Load};
use crate::contest::Contestant;
use crate::experiment::flash_sale::{self, CONNECTIONS};
use crate::hot_row::{self, ITEMS, PLENTY, Variant};
use crate::house::remove_folder;
use crate::manifest::manifest;
use crate::measure::Measurements;
use crate::process::{ServerProcess, free_port, scratch_folder};
use crate::progress::Progress;

/// What the demo is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's binary.
    pub binary: PathBuf,
    /// Buyers of the two sales.
    pub clients: usize,
    /// Seconds for each cell of the table; 0 leaves the table out.
    pub seconds: u64,
    /// Where the JSON goes, if anywhere.
    pub output: Option<PathBuf>,
}

/// Pieces that the UPDATE's `stock > 3` lets go.
const SELLABLE: i64 = ITEMS - 3;

/// Runs the demo.
///
/// # Errors
/// When anything that it is to prove does not hold, with a text that says what.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &options.output {
        check_output(path)?;
    }
    let datadir = scratch_folder("demo")?.join("data");
    let port = free_port()?;
    let settings = ["--max-connections=5000".to_string()];
    println!("starting a server over a fresh data directory, {}", datadir.display());
    let server = ServerProcess::start(&options.binary, &datadir, port, &settings)?;
    println!("first query answered {} ms after the start", server.first_answer.as_millis());
    let target = Target::local(port);
    let sale = first_sale(&target, options.clients)?;
    let (server, crash) = second_sale(server, &target, options, &datadir, &settings)?;
    let (cells, faults) = table(&target, server.id(), options.seconds)?;
    let result = json!({
        "experiment": "E1 flash sale",
        "manifest": manifest(),
        "sale": sale,
        "crash": crash,
        "cells": cells,
    });
    match &options.output {
        Some(path) => {
            fs::write(path, serde_json::to_string_pretty(&result)? + "\n")?;
            println!("figures and manifest: {}", path.display());
        }
        None => {
            println!("the figures are not kept; --output=FILE writes them, with what they were measured on")
        }
    }
    if let Some(fault) = faults.first() {
        return Err(fault.clone().into());
    }
    server.terminate()?;
    if let Some(folder) = datadir.parent() {
        remove_folder(folder)?;
    }
    Ok(())
}

/// The curve, if it is to take any time: its cells and what is wrong with them.
fn table(target: &Target, pid: u32, seconds: u64) -> Result<(Vec<Value>, Vec<String>), Box<dyn Error>> {
    let (mut cells, mut values, mut faults) = (Measurements::new(), Vec::new(), Vec::new());
    if seconds == 0 {
        return Ok((values, faults));
    }
    println!("\nE1, durable (every commit synced), deadlock detection on, {seconds} s a line:");
    hot_row::prepare(&mut Client::connect(target)?, PLENTY)?;
    let server = Contestant::given("turnstile", target, Some(pid));
    for connections in CONNECTIONS {
        let duration = Duration::from_secs(seconds);
        let cell = flash_sale::cell(&server, Variant::Plain, connections, duration)?;
        faults.extend(cell.fault().map(|fault| format!("the run with {connections} connections: {fault}")));
        values.push(cell.json(json!({})));
        cells.add(0, connections, cell);
    }
    flash_sale::table(&[server], &CONNECTIONS, &cells).print(flash_sale::LEGEND);
    Ok((values, faults))
}

/// The load of E1 until the shop is sold out.
fn sale(target: &Target, clients: usize) -> Load {
    let load = hot_row::load(target, Variant::Plain, clients, Duration::from_secs(600));
    Load { until_sold_out: true, ..load }
}

/// The whole stock is sold; every sold piece was acknowledged and every acknowledged piece is gone.
fn first_sale(target: &Target, clients: usize) -> Result<serde_json::Value, Box<dyn Error>> {
    let mut client = Client::connect(target)?;
    hot_row::prepare(&mut client, ITEMS)?;
    println!("\nthe sale: {ITEMS} pieces of one item, {clients} buyers");
    let live = Arc::new(Live::default());
    let progress = Progress::start("sold".into(), live.clone(), SELLABLE as u64);
    let outcome = clients::run(&sale(target, clients), &live)?;
    drop(progress);
    let left = hot_row::stock(&mut client)?;
    let seconds = outcome.elapsed.as_secs_f64();
    println!(
        "sold out in {seconds:.1} s, {:.0} sales a second; stock left {left}, acknowledged {}",
        outcome.affected as f64 / seconds,
        outcome.affected
    );
    if let Some(text) = &outcome.first_error {
        return Err(format!("{} statements failed, the first with {text}", outcome.errors).into());
    }
    if left != 3 || outcome.affected as i64 != SELLABLE || outcome.broken != 0 {
        return Err(format!(
            "expected stock 3 and {SELLABLE} acknowledged; broken connections {}",
            outcome.broken
        )
        .into());
    }
    println!("proved: exactly {SELLABLE} sold, stock is 3");
    Ok(json!({ "buyers": clients, "seconds": seconds, "acknowledged": outcome.affected, "stock_left": left }))
}

/// SIGKILL in the middle of a sale: after the restart every acknowledged piece is gone from stock, and at
/// most the statements under way are gone besides.
fn second_sale(
    server: ServerProcess,
    target: &Target,
    options: &Options,
    datadir: &Path,
    settings: &[String],
) -> Result<(ServerProcess, serde_json::Value), Box<dyn Error>> {
    let mut client = Client::connect(target)?;
    hot_row::prepare(&mut client, ITEMS)?;
    drop(client);
    println!("\nthe second sale, with SIGKILL in the middle");
    let live = Arc::new(Live::default());
    let (load, shared) = (sale(target, options.clients), live.clone());
    let running = thread::spawn(move || clients::run(&load, &shared).map_err(|error| error.to_string()));
    while live.affected.load(Ordering::SeqCst) < 100_000 && !running.is_finished() {
        thread::sleep(Duration::from_millis(2));
    }
    let port = server.port;
    server.kill()?;
    // Every connection is cut: the clients notices and ends.
    let outcome = running.join().map_err(|_| "the clients failed")??;
    let server = ServerProcess::start(&options.binary, datadir, port, settings)?;
    let mut client = Client::connect(target)?;
    let gone = ITEMS - hot_row::stock(&mut client)?;
    let acknowledged = outcome.affected as i64;
    let recovery_ms = server.first_answer.as_millis() as u64;
    println!(
        "killed after {acknowledged} acknowledged sales; restarted and answering after {recovery_ms} ms; {gone} pieces gone"
    );
    if gone < acknowledged {
        return Err(format!("{} acknowledged sales are missing", acknowledged - gone).into());
    }
    if gone > acknowledged + options.clients as i64 {
        return Err(format!("{gone} pieces are gone, more than were asked for").into());
    }
    println!(
        "proved: no acknowledged sale is missing ({} more were under way and committed)",
        gone - acknowledged
    );
    let crash = json!({ "acknowledged": acknowledged, "applied": gone, "restart_ms": recovery_ms });
    Ok((server, crash))
}
