//! A switch of the server in both positions, one cell behind the other, and what their pairs say.
//!
//! For loads whose transactions last too long to flip a switch under them ([`crate::sliced`] does that), or
//! whose sessions need other settings with it. The cells of a pair are neighbours in time; the figure is the
//! median, over the rounds, of the quotients within the pairs. A server that lacks the switch has one cell in
//! the place of two, and so has the floor.

use serde_json::{Value, json};

use crate::client::ClientError;
use crate::contest::Contestant;
use crate::measure::{Measurement, Measurements, median, merged};
use crate::report::{Report, ratio};
use crate::switch::Switch;

/// Connections, and the switch's position; None where there is none.
pub type Key = (usize, Option<bool>);

/// The positions in which a server may have been measured, in the order of a table's lines.
pub const POSITIONS: [Option<bool>; 3] = [None, Some(false), Some(true)];

/// A cell and what is wrong with it beside what it can say itself.
pub type Checked = (Measurement, Option<String>);

/// Runs one: server, connections, position.
pub type Cell<'a> = dyn Fn(&Contestant, usize, Option<bool>) -> Result<Checked, ClientError> + 'a;

/// What is measured in turn.
pub struct InTurn<'a> {
    /// The global variable, ON or OFF.
    pub switch: &'static str,
    /// Its name in the JSON file.
    pub member: &'static str,
    /// What runs a cell.
    pub cell: &'a Cell<'a>,
}

/// The cells, and the quotients of the pairs.
#[derive(Default)]
pub struct Results {
    /// By server and key.
    pub cells: Measurements<Key>,
    /// Server, connections; ON over OFF of transactions a second, and of server CPU per transaction.
    pairs: Vec<(usize, usize, Option<f64>, Option<f64>)>,
}

/// ON over OFF, medians over the rounds; None where there are no pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOverOff {
    /// Of transactions a second.
    pub rate: Option<f64>,
    /// Of server CPU per transaction.
    pub cpu: Option<f64>,
}

impl Results {
    /// Keeps the cells of one server at one number of connections, of one round.
    fn add(&mut self, who: usize, connections: usize, cells: Vec<(Option<bool>, Measurement)>) {
        let at = |wanted| cells.iter().find(|(position, _)| *position == Some(wanted)).map(|(_, cell)| cell);
        if let (Some(on), Some(off)) = (at(true), at(false)) {
            let rate = ratio(Some(on.tps()), Some(off.tps()));
            let cpu = ratio(on.cpu_per_transaction_us(), off.cpu_per_transaction_us());
            self.pairs.push((who, connections, rate, cpu));
        }
        for (position, cell) in cells {
            self.cells.add(who, (connections, position), cell);
        }
    }

    /// ON over OFF of a server at a number of connections.
    pub fn on_over_off(&self, who: usize, connections: usize) -> OnOverOff {
        let pairs =
            || self.pairs.iter().filter(|(server, count, ..)| (*server, *count) == (who, connections));
        OnOverOff {
            rate: median(pairs().filter_map(|(_, _, rate, _)| *rate).collect()),
            cpu: median(pairs().filter_map(|(.., cpu)| *cpu).collect()),
        }
    }

    /// The lines of a table: connections, server, position, where something was measured.
    pub fn lines(&self, connections: &[usize], servers: usize) -> Vec<(usize, usize, Option<bool>)> {
        let all = connections.iter().flat_map(|&count| {
            (0..servers).flat_map(move |who| POSITIONS.map(|position| (count, who, position)))
        });
        all.filter(|&(count, who, position)| self.cells.tps(who, (count, position)).is_some()).collect()
    }

    /// A figure of the line over the floor's at as many connections.
    pub fn of_floor(
        &self,
        contestants: &[Contestant],
        (count, who, position): (usize, usize, Option<bool>),
    ) -> Option<f64> {
        let floor = contestants.iter().position(|contestant| !contestant.has_tables())?;
        ratio(self.cells.tps(who, (count, position)), self.cells.tps(floor, (count, None)))
    }

    /// Keeps the figures that the experiment is about.
    pub fn sum_up(&self, contestants: &[Contestant], connections: &[usize], report: &mut Report) {
        for &count in connections {
            for (who, contestant) in contestants.iter().enumerate() {
                let tps = |position| self.cells.tps(who, (count, position));
                let OnOverOff { rate, cpu } = self.on_over_off(who, count);
                let figures = match (tps(None), tps(Some(true))) {
                    (Some(tps), _) => json!({ "tps": tps }),
                    (None, Some(on)) => {
                        json!({ "on_tps": on, "off_tps": tps(Some(false)), "on_over_off": { "rate": rate, "cpu": cpu } })
                    }
                    (None, None) => Value::Null,
                };
                report.sum(&format!("{} at {count}", contestant.label), figures);
            }
        }
    }
}

/// The position as the server spells it.
pub fn word(position: Option<bool>) -> &'static str {
    match position {
        Some(true) => "ON",
        Some(false) => "OFF",
        None => "n/a",
    }
}

impl InTurn<'_> {
    /// Runs every cell, round after round; trouble goes into the report.
    pub fn run(
        &self,
        contestants: &[Contestant],
        connections: &[usize],
        rounds: usize,
        report: &mut Report,
    ) -> Results {
        let mut results = Results::default();
        for round in 0..rounds {
            for &count in connections {
                for (who, contestant) in contestants.iter().enumerate() {
                    let mut keep = |position, (cell, fault): Checked| {
                        let mut head = json!({ "server": contestant.label, "round": round });
                        head[self.member] = word(position).into();
                        report.cell(contestant, &cell, merged(head, json!({ "check": fault })));
                        if let Some(fault) = fault {
                            report.fault(
                                contestant,
                                format!("{count} connections, {}: {fault}", word(position)),
                            );
                        }
                        cell
                    };
                    match self.both(contestant, count, &mut keep) {
                        Ok(cells) => results.add(who, count, cells),
                        Err(error) => report.fault(contestant, format!("{count} connections: {error}")),
                    }
                }
            }
        }
        results
    }

    /// OFF and ON, or the one position there is.
    fn both(
        &self,
        contestant: &Contestant,
        count: usize,
        keep: &mut dyn FnMut(Option<bool>, Checked) -> Measurement,
    ) -> Result<Vec<(Option<bool>, Measurement)>, ClientError> {
        let mut one = |position| Ok((position, keep(position, (self.cell)(contestant, count, position)?)));
        if !contestant.has_tables() {
            return Ok(vec![one(None)?]);
        }
        let mut client = contestant.side_client()?;
        let switch = Switch::find(&mut client, self.switch)?;
        if !(switch.set(&mut client, "ON")? && switch.set(&mut client, "OFF")?) {
            switch.restore(&mut client)?;
            return Ok(vec![one(None)?]);
        }
        let cells = [false, true].map(|position| {
            switch.set(&mut client, word(Some(position)))?;
            one(Some(position))
        });
        switch.restore(&mut client)?;
        cells.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{OnOverOff, Results, word};
    use crate::clients::{Outcome, PerConnection, new_histogram};
    use crate::measure::Measurement;

    /// So many transactions in a second, for so much CPU altogether.
    fn cell(transactions: u64, server_cpu_us: u64) -> Measurement {
        let outcome = Outcome {
            elapsed: Duration::from_secs(1),
            transactions,
            affected: 0,
            rows: 0,
            withdrawn: 0,
            deadlocks: 0,
            timeouts: 0,
            in_doubt: 0,
            errors: 0,
            first_error: None,
            broken: 0,
            progress: PerConnection::default(),
            unsent: 0,
            latency_us: new_histogram(),
            overtaken: new_histogram(),
            phases: Vec::new(),
        };
        Measurement {
            connections: 8,
            outcome,
            server_cpu_us: Some(server_cpu_us),
            client_cpu_us: None,
            server_threads: None,
            threads_running: None,
            lost: Some(0),
        }
    }

    #[test]
    fn neighbours_are_compared_and_not_the_medians_of_all() {
        let mut results = Results::default();
        // The machine grows slower: each pair says that ON is twice as fast.
        for rate in [1000, 600, 100] {
            results.add(0, 8, vec![(Some(false), cell(rate, 1000)), (Some(true), cell(2 * rate, 1000))]);
        }
        results.add(1, 8, vec![(None, cell(500, 1000))]);
        assert_eq!(results.on_over_off(0, 8), OnOverOff { rate: Some(2.0), cpu: Some(0.5) });
        assert_eq!(results.on_over_off(1, 8), OnOverOff { rate: None, cpu: None });
        let lines = results.lines(&[8, 16], 2);
        assert_eq!(lines, [(8, 0, Some(false)), (8, 0, Some(true)), (8, 1, None)]);
        assert_eq!([lines[0], lines[1], lines[2]].map(|(.., position)| word(position)), ["OFF", "ON", "n/a"]);
    }
}
