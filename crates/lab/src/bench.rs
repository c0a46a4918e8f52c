//! `turnstile bench NAME`: reads the command line and runs an experiment.

use std::error::Error;
use std::fs;
use std::path::Path;

use crate::curve;
use crate::experiment::{
    adaptive_hash, beside_scans, deadlock_prone, deadlock_switch, flash_sale, purge_lag, stock_order,
    tickets, update_key, watching,
};
use crate::options::Options;
use crate::process::raise_descriptor_limit;

/// Every experiment.
const ALL: &str = "all";
/// No experiment but the picture of one.
const CURVE: &str = "curve";

/// Name and one line about each experiment.
pub const EXPERIMENTS: [(&str, &str); 12] = [
    ("flash-sale", "E1: one row, 8 to 4,096 buyers"),
    ("deadlock-switch", "E1, E2: deadlock detection on and off; a cycle planted among 4,000 waiters"),
    ("purge-lag", "E2: a hot row under an open snapshot, second by second"),
    ("adaptive-hash", "E3: dbSTRESS with the adaptive hash index on and off, 1 to 256 sessions"),
    ("tickets", "E4: scans and point selects under innodb_thread_concurrency=1"),
    ("update-key", "E5: updates of an indexed column, 1 to 64 threads"),
    (
        "stock-order",
        "E6: a line in the log and one hot row, four statements an order; turnstile_hot_row off and on",
    ),
    ("deadlock-prone", "two of ten rows in random order, deadlock detection off and on"),
    ("beside-scans", "point selects beside four COUNT(*) scans, two workers"),
    ("watching", "E1 with every view read ten times a second, and without"),
    (CURVE, "draws the result --from as the picture --output (SVG)"),
    (ALL, "one after the other, a JSON file of each in the folder --output"),
];

/// Whether a file of results can be written where it is to be: asked before the run, not after it. Leaves
/// things as they were.
///
/// # Errors
/// A text that says why not.
pub fn check_output(path: &Path) -> Result<(), String> {
    let is_new = !path.exists();
    let opened = fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| format!("--output={} cannot be written: {error}", path.display()))?;
    if is_new {
        // Whoever took it away meanwhile has done what was to be done.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Runs the experiment of that name.
///
/// # Errors
/// When a server of our own cannot be started or reached, or loses something.
pub fn run(name: &str, options: &Options) -> Result<(), Box<dyn Error>> {
    raise_descriptor_limit();
    match &options.output {
        Some(path) if name != ALL => check_output(path)?,
        _ => {}
    }
    match name {
        "flash-sale" => flash_sale::run(options),
        "deadlock-switch" => deadlock_switch::run(options),
        "purge-lag" => purge_lag::run(options),
        "adaptive-hash" => adaptive_hash::run(options),
        "tickets" => tickets::run(options),
        "update-key" => update_key::run(options),
        "stock-order" => stock_order::run(options),
        "deadlock-prone" => deadlock_prone::run(options),
        "beside-scans" => beside_scans::run(options),
        "watching" => watching::run(options),
        CURVE => curve::run(options),
        ALL => run_all(options),
        _ => Err(format!("no experiment {name:?}").into()),
    }
}

/// Every experiment with the same options; one that fails does not keep the others from running.
fn run_all(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = &options.output {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| format!("--output={} cannot be made: {error}", folder.display()))?;
        check_output(&folder.join("all.json"))?;
    }
    let mut failed = Vec::new();
    for (name, _) in EXPERIMENTS.iter().filter(|(name, _)| ![ALL, CURVE].contains(name)) {
        println!("\n== {name}");
        let output = options.output.as_ref().map(|folder| folder.join(format!("{name}.json")));
        if let Err(error) = run(name, &Options { output, ..options.clone() }) {
            eprintln!("{name}: {error}");
            failed.push(*name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}
