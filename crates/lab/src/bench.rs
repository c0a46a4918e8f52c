//! `turnstile bench flash-sale`: the curve of E1 against our own server, or against any MySQL-protocol servers, in turn.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::client::{Client, Target};
use crate::flash_sale::{self, CONNECTIONS, Cell};
use crate::manifest::manifest;
use crate::process::{ServerProcess, free_port, raise_descriptor_limit, scratch_folder};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's binary, for the run without targets.
    pub binary: PathBuf,
    /// Servers to compare: label, place, process id if it is on this machine.
    pub targets: Vec<(String, Target, Option<u32>)>,
    /// Numbers of buyers.
    pub connections: Vec<usize>,
    /// Seconds a cell.
    pub seconds: u64,
    /// Rounds; servers take turns within each.
    pub rounds: usize,
    /// Where the JSON goes.
    pub output: Option<PathBuf>,
}

impl Options {
    /// Reads `--name=value` words.
    ///
    /// # Errors
    /// A text that says which word cannot be used.
    pub fn read(binary: PathBuf, arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            binary,
            targets: Vec::new(),
            connections: CONNECTIONS.to_vec(),
            seconds: 5,
            rounds: 1,
            output: None,
        };
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            let unusable = || format!("cannot use {argument:?}");
            match name {
                "--target" => options.targets.push(parse_target(value).ok_or_else(unusable)?),
                "--connections" => {
                    let numbers =
                        value.split(',').map(|number| number.trim().parse().map_err(|_| unusable()));
                    options.connections = numbers.collect::<Result<_, _>>()?;
                }
                "--seconds" => options.seconds = value.parse().map_err(|_| unusable())?,
                "--rounds" => options.rounds = value.parse().map_err(|_| unusable())?,
                "--output" if !value.is_empty() => options.output = Some(PathBuf::from(value)),
                _ => return Err(unusable()),
            }
        }
        Ok(options)
    }
}

/// `label@pid@mysql://user@host:port`; label and pid may be left out.
fn parse_target(text: &str) -> Option<(String, Target, Option<u32>)> {
    let at = text.find("mysql://")?;
    let target = Target::parse(&text[at..])?;
    let mut label = text[..at].split('@').filter(|part| !part.is_empty());
    let name = label.next().map_or_else(|| format!("{}:{}", target.host, target.port), str::to_string);
    Some((name, target, label.next().and_then(|pid| pid.parse().ok())))
}

/// Runs the curve and prints a table for each server.
///
/// # Errors
/// When a server cannot be started or reached, or loses something.
pub fn flash_sale(options: &Options) -> Result<(), Box<dyn Error>> {
    raise_descriptor_limit();
    let mut targets = options.targets.clone();
    let mut own = None;
    if targets.is_empty() {
        let datadir = scratch_folder("bench")?.join("data");
        let port = free_port()?;
        let server =
            ServerProcess::start(&options.binary, &datadir, port, &["--max-connections=5000".to_string()])?;
        targets.push(("turnstile".into(), Target::local(port), Some(server.id())));
        own = Some((server, datadir));
    }
    for (_, target, _) in &targets {
        flash_sale::prepare(&mut Client::connect(target)?, 2_000_000_000)?;
    }
    let mut results: Vec<Vec<Cell>> = targets.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for &connections in &options.connections {
            for ((_, target, pid), cells) in targets.iter().zip(&mut results) {
                cells.push(flash_sale::cell(target, *pid, connections, options.seconds)?);
            }
        }
    }
    for ((label, ..), cells) in targets.iter().zip(&results) {
        println!("\n{label}");
        flash_sale::print_table(cells);
    }
    if let Some(path) = &options.output {
        let servers: Vec<_> = targets
            .iter()
            .zip(&results)
            .map(|((label, ..), cells)| json!({ "server": label, "cells": cells.iter().map(Cell::json).collect::<Vec<_>>() }))
            .collect();
        let result = json!({ "experiment": "E1 flash sale", "manifest": manifest(), "servers": servers });
        fs::write(path, serde_json::to_string_pretty(&result)? + "\n")?;
    }
    if let Some((server, datadir)) = own {
        server.terminate()?;
        if let Some(folder) = datadir.parent() {
            fs::remove_dir_all(folder)?;
        }
    }
    let lost = results.iter().flatten().find(|cell| cell.lost != 0 || cell.outcome.errors != 0);
    match lost {
        Some(cell) => Err(format!("{} connections: {}", cell.connections, cell.json()).into()),
        None => Ok(()),
    }
}
