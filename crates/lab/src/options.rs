//! What the command line of `turnstile bench` says: what to run, how large, and against whom.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Target;
use crate::secret::mask;

/// Networks are faster, and a load that has ended is waited for no longer than a minute.
const LONGEST_RTT: Duration = Duration::from_secs(1);

/// What to run, and against whom. What is not said is left to the experiment.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's binary.
    pub binary: PathBuf,
    /// Servers of our own to start: label, options.
    pub own: Vec<(String, Vec<String>)>,
    /// Servers to compare: label, place, process id if the caller knows it.
    pub targets: Vec<(String, Target, Option<u32>)>,
    /// Whether the floor takes part.
    pub floor: bool,
    /// Numbers of connections.
    pub connections: Option<Vec<usize>>,
    /// Seconds a cell.
    pub seconds: Option<f64>,
    /// Rounds; servers take turns within each.
    pub rounds: Option<usize>,
    /// Rows of the table.
    pub rows: Option<u64>,
    /// Transactions a second of an open loop.
    pub rate: Option<f64>,
    /// How much later than it could every statement goes out.
    pub rtt: Duration,
    /// Share of transactions that end in ROLLBACK, in per cent.
    pub rollbacks: f64,
    /// Small numbers everywhere: shows that it works, not how fast.
    pub quick: bool,
    /// A file of results that is read, not made.
    pub from: Option<PathBuf>,
    /// Where the JSON goes.
    pub output: Option<PathBuf>,
}

impl Options {
    /// Reads `--name=value` and `--name value` words.
    ///
    /// # Errors
    /// A text that says which word cannot be used.
    pub fn read(binary: PathBuf, arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            binary,
            own: Vec::new(),
            targets: Vec::new(),
            floor: false,
            connections: None,
            seconds: None,
            rounds: None,
            rows: None,
            rate: None,
            rtt: Duration::ZERO,
            rollbacks: 0.0,
            quick: false,
            from: None,
            output: None,
        };
        let mut with_own = true;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--floor" => options.floor = true,
                "--quick" => options.quick = true,
                "--no-own" => with_own = false,
                _ => {
                    let (name, value) = match word.split_once('=') {
                        Some((name, value)) => (name, value),
                        None => (word.as_str(), words.next().map_or("", String::as_str)),
                    };
                    options.set(name, value).ok_or_else(|| cannot_use(name, value))?;
                }
            }
        }
        if with_own && options.own.is_empty() {
            options.own.push(("turnstile".into(), Vec::new()));
        }
        if !with_own && options.targets.is_empty() {
            return Err("--no-own leaves no server: name a --target".into());
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--target" => self.targets.push(parse_target(value)?),
            "--own" => {
                let mut words = value.split_whitespace().map(str::to_string);
                self.own.push((words.next()?, words.collect()));
            }
            "--connections" => {
                let numbers: Vec<usize> =
                    value.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
                self.connections = Some(numbers).filter(|numbers| numbers.iter().all(|&count| count > 0));
                self.connections.as_ref()?;
            }
            "--seconds" => {
                self.seconds = Some(value.parse().ok().filter(|&s: &f64| s > 0.0 && s < 86_400.0)?);
            }
            "--rounds" => self.rounds = Some(value.parse().ok().filter(|&rounds| rounds > 0)?),
            "--rows" => self.rows = Some(value.parse().ok().filter(|&rows| rows > 0)?),
            "--rate" => self.rate = Some(value.parse().ok().filter(|rate| (1.0..1e7).contains(rate))?),
            "--rtt" => self.rtt = parse_time(value).filter(|&time| time <= LONGEST_RTT)?,
            "--rollbacks" => {
                let percent = value.strip_suffix('%').unwrap_or(value);
                self.rollbacks = percent.parse().ok().filter(|percent| (0.0..100.0).contains(percent))?;
            }
            "--from" if !value.is_empty() => self.from = Some(PathBuf::from(value)),
            "--output" if !value.is_empty() => self.output = Some(PathBuf::from(value)),
            _ => return None,
        }
        Some(())
    }

    /// Time of a cell: as asked for, or `full`, or `quick`.
    pub fn duration(&self, full: f64, quick: f64) -> Duration {
        Duration::from_secs_f64(self.seconds.unwrap_or(if self.quick { quick } else { full }))
    }

    /// Numbers of connections: as asked for, or `full`, or `quick`.
    pub fn connections(&self, full: &[usize], quick: &[usize]) -> Vec<usize> {
        self.connections.clone().unwrap_or_else(|| if self.quick { quick.to_vec() } else { full.to_vec() })
    }

    /// Rounds: as asked for, or `full`, or one.
    pub fn rounds(&self, full: usize) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { full })
    }

    /// Rows: as asked for, or `full`, or `quick`.
    pub fn rows(&self, full: u64, quick: u64) -> u64 {
        self.rows.unwrap_or(if self.quick { quick } else { full })
    }

    /// What the command line said, for the JSON file.
    pub fn json(&self) -> Value {
        json!({
            "connections": self.connections,
            "seconds": self.seconds,
            "rounds": self.rounds,
            "rows": self.rows,
            "rate": self.rate,
            "rtt_us": self.rtt.as_micros() as u64,
            "rollbacks_percent": self.rollbacks,
            "floor": self.floor,
            "quick": self.quick,
        })
    }
}

/// A time with its unit: `us`, `ms` or `s`; 0 needs none.
fn parse_time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    // Digits and a point: no sign, no exponent.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Duration::try_from_secs_f64(number.parse::<f64>().ok().filter(|_| is_plain)? * seconds).ok()
}

/// What is not understood of a target may be a password.
fn cannot_use(name: &str, value: &str) -> String {
    match name {
        "--target" => format!("cannot use {name}: it is [LABEL@[PID@]]mysql://USER[:PASSWORD]@HOST:PORT"),
        _ => format!("cannot use {name}={}", mask(value)),
    }
}

/// The largest of the numbers.
pub fn largest(numbers: &[usize]) -> usize {
    numbers.iter().copied().max().unwrap_or(0)
}

/// `label@pid@mysql://user@host:port`; label and pid may be left out.
fn parse_target(text: &str) -> Option<(String, Target, Option<u32>)> {
    let at = text.find("mysql://")?;
    let target = Target::parse(&text[at..])?;
    let mut label = text[..at].split('@').filter(|part| !part.is_empty());
    let name = label.next().map_or_else(|| format!("{}:{}", target.host, target.port), str::to_string);
    Some((name, target, label.next().and_then(|pid| pid.parse().ok())))
}

#[cfg(test)]
mod tests;
