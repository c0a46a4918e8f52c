//! Point selects while scans go on and on: what a short statement waits for when long ones are about.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::sbtest;
use crate::client::{Client, ClientError};
use crate::clients::{Load, Parameter};
use crate::contest::Contestant;
use crate::dice::dice;
use crate::hot_row::DATABASE;
use crate::measure::{Measurement, measure};
use crate::sliced::Others;

/// What a cell is about.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Sessions that select one row after another.
    pub sessions: usize,
    /// Sessions that count all rows again and again.
    pub scans: usize,
    /// Rows of the table.
    pub rows: u64,
    /// How long.
    pub duration: Duration,
}

/// A cell of point selects, and what went on beside it.
pub struct Selected {
    /// The point selects; CPU includes the scans'.
    pub cell: Measurement,
    /// Scans that ended while it lasted.
    pub scans_done: u64,
    /// Share of the processors that neither the server nor the laboratory used.
    pub outside: Option<f64>,
}

/// Counts all rows of the table.
///
/// # Errors
/// Any [`ClientError`], also when the count is not `rows`.
pub fn scan(session: &mut Client, rows: u64) -> Result<(), ClientError> {
    let count = session.number(&format!("SELECT COUNT(*) FROM {DATABASE}.{}", sbtest::TABLE))?;
    if count == rows as i64 {
        Ok(())
    } else {
        Err(ClientError::Protocol("COUNT(*) gave another number of rows"))
    }
}

/// Runs the cell; the floor, which has no tables, answers OK to the selects and gets no scans.
///
/// # Errors
/// When a connection fails or a scan miscounts.
pub fn select_beside(
    contestant: &Contestant,
    beside: Beside,
    label: &str,
) -> Result<Selected, Box<dyn Error>> {
    let rows = beside.rows;
    let load = Load {
        target: contestant.target.clone(),
        set_up: vec![format!("USE {DATABASE}")],
        prepared: vec![format!("SELECT c FROM {} WHERE id = ?", sbtest::TABLE)],
        script: Arc::new(move |connection, turn, steps| {
            steps.execute(0, &[Parameter::Number((dice(connection, turn, 3) % rows + 1) as i64)]);
        }),
        connections: beside.sessions,
        threads: 1,
        duration: beside.duration,
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    };
    if !contestant.has_tables() {
        return Ok(Selected { cell: measure(contestant, &load, label)?, scans_done: 0, outside: None });
    }
    let stop = Arc::new(AtomicBool::new(false));
    let scanners: Vec<_> = (0..beside.scans)
        .map(|_| {
            let (mut session, stop) = (contestant.client()?, stop.clone());
            Ok(thread::spawn(move || {
                let mut done = 0u64;
                while !stop.load(Ordering::SeqCst) {
                    scan(&mut session, rows).map_err(|error| error.to_string())?;
                    done += 1;
                }
                Ok::<u64, String>(done)
            }))
        })
        .collect::<Result<_, ClientError>>()?;
    let others = Others::now(contestant);
    let cell = measure(contestant, &load, label);
    let outside = others.and_then(|others| others.share(contestant));
    stop.store(true, Ordering::SeqCst);
    let mut scans_done = 0;
    for scanner in scanners {
        scans_done += scanner.join().map_err(|_| "a scan failed")??;
    }
    let mut cell = cell?;
    cell.lost = Some(cell.outcome.transactions as i64 - cell.outcome.rows as i64);
    Ok(Selected { cell, scans_done, outside })
}
