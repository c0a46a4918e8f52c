//! What an experiment leaves: a table on standard output and a JSON file with its manifest.

use std::error::Error;
use std::fs;

use serde_json::{Map, Value, json};

use crate::contest::{Contestant, Kind};
use crate::manifest::manifest;
use crate::measure::Measurement;
use crate::options::Options;

/// A table with right-aligned columns.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head.
    pub fn new(head: &[&str]) -> Table {
        Table { rows: vec![head.iter().map(|text| text.to_string()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it, under a line of text.
    pub fn print(&self, title: &str) {
        println!("\n{title}");
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(text, width)| format!("{text:>width$}")).collect();
            println!("{}", cells.join("  "));
        }
    }
}

/// A figure in a table: so many digits behind the point, or "n/a".
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "n/a".into(), |value| format!("{value:.digits$}"))
}

/// A quotient, if both are known and the divisor is not 0.
pub fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b.filter(|b| *b != 0.0)?)
}

/// Collects the results of an experiment.
pub struct Report {
    experiment: &'static str,
    cells: Vec<Value>,
    summary: Map<String, Value>,
    published: Value,
    faults: Vec<String>,
}

impl Report {
    /// An empty one; `published` are the figures that the table shows beside ours.
    pub fn new(experiment: &'static str, published: Value) -> Report {
        println!("{experiment}");
        Report { experiment, cells: Vec::new(), summary: Map::new(), published, faults: Vec::new() }
    }

    /// Keeps a cell; what is wrong with one of our own makes the whole run fail in the end.
    pub fn cell(&mut self, contestant: &Contestant, cell: &Measurement, head: Value) {
        let what = cell.json(head);
        if let Some(fault) = cell.fault() {
            self.fault(contestant, format!("{fault}: {what}"));
        }
        self.cells.push(what);
    }

    /// Keeps a result that is not a [`Measurement`].
    pub fn value(&mut self, value: Value) {
        self.cells.push(value);
    }

    /// Notes trouble; with one of our own servers it makes the run fail in the end.
    pub fn fault(&mut self, contestant: &Contestant, text: String) {
        eprintln!("{}: {text}", contestant.label);
        if contestant.kind != Kind::Given {
            self.faults.push(format!("{}: {text}", contestant.label));
        }
    }

    /// Keeps one of the figures that the experiment is about.
    pub fn sum(&mut self, name: &str, value: Value) {
        self.summary.insert(name.into(), value);
    }

    /// Writes the JSON file and ends the servers.
    ///
    /// # Errors
    /// When the file cannot be written, a server does not end well, or something was lost.
    pub fn finish(self, options: &Options, contestants: Vec<Contestant>) -> Result<(), Box<dyn Error>> {
        if let Some(path) = &options.output {
            let result = json!({
                "experiment": self.experiment,
                "manifest": manifest(),
                "settings": options.json(),
                "servers": contestants.iter().map(Contestant::json).collect::<Vec<_>>(),
                "cells": self.cells,
                "summary": self.summary,
                "published": self.published,
                "faults": self.faults,
            });
            fs::write(path, serde_json::to_string_pretty(&result)? + "\n")?;
            println!("\nfigures and manifest: {}", path.display());
        }
        for contestant in contestants {
            contestant.end()?;
        }
        match self.faults.first() {
            Some(fault) => Err(fault.clone().into()),
            None => Ok(()),
        }
    }
}
