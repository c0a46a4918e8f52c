//! What MySQL answers, as a test. `record` asks a MySQL server and keeps its answers in scripts; `replay`
//! puts the same statements to Turnstile and compares.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use turnstile_lab::client::{Client, ClientError, Target};
use turnstile_lab::process::{ServerProcess, free_port, scratch_folder};
use turnstile_sys::rng::Rng;

mod answer;
mod random;
mod script;

use random::compare::{Besides, Outcome, Pair};

const USAGE: &str = "\
usage: oracle record mysql://USER@HOST:PORT FILE...       writes the answers of that server into the scripts
       oracle replay BINARY|mysql://USER@HOST:PORT [--differs] [FILE...]
                                            compares answers with the recorded ones; --differs writes the lists of differences anew
       oracle compare BINARY|URL mysql://USER@HOST:PORT [N] [SEED]   N random statements at both
       oracle schema SEED                                  the tables of a seed
       oracle logic BINARY|URL [N] [SEED]        N random statements checked against each other
       oracle rules BINARY|URL [N] [SEED]        N random queries with every rule of the optimizer on, each off, all off
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", target, files @ ..] if !files.is_empty() => record(target, files),
        ["replay", server, rest @ ..] => replay(server, rest),
        ["compare", server, other, rest @ ..] => at_random(server, Some(other), rest, &words),
        ["schema", seed] => schema(seed),
        ["logic" | "rules", server, rest @ ..] => at_random(server, None, rest, &words),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oracle: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the statements that make the tables of a seed, to look at a difference by hand.
fn schema(seed: &str) -> Result<bool, ClientError> {
    let seed = seed.parse().map_err(|_| ClientError::Protocol("SEED is a number"))?;
    let schema = random::Schema::make(&mut Rng::new(seed));
    schema.statements().iter().for_each(|statement| println!("{statement};"));
    Ok(true)
}

fn record(target: &str, files: &[&str]) -> Result<bool, ClientError> {
    let target = Target::parse(target).ok_or(ClientError::Protocol("a target is mysql://USER@HOST:PORT"))?;
    for file in files {
        println!("{file}: {} statements", script::record(&target, Path::new(file))?);
    }
    Ok(true)
}

/// A server to ask: one that runs, or a fresh one of our own.
pub struct Server {
    /// Where it answers.
    pub target: Target,
    own: Option<(ServerProcess, PathBuf)>,
}

impl Server {
    /// The server at a URL, or one started from a binary over a fresh folder.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn open(server: &str) -> Result<Server, ClientError> {
        if let Some(target) = Target::parse(server) {
            return Ok(Server { target, own: None });
        }
        let folder = scratch_folder("oracle")?;
        let port = free_port()?;
        let process = ServerProcess::start(Path::new(server), &folder.join("data"), port, &[])?;
        Ok(Server { target: Target::local(port), own: Some((process, folder)) })
    }

    /// Ends a server of our own; a failed shutdown is an error.
    ///
    /// # Errors
    /// When it does not end cleanly or its folder cannot be removed.
    pub fn close(self) -> Result<(), ClientError> {
        if let Some((process, folder)) = self.own {
            process.terminate()?;
            std::fs::remove_dir_all(folder)?;
        }
        Ok(())
    }
}

fn replay(server: &str, rest: &[&str]) -> Result<bool, ClientError> {
    let rewrite = rest.contains(&"--differs");
    let mut files: Vec<PathBuf> =
        rest.iter().filter(|word| **word != "--differs").map(PathBuf::from).collect();
    if files.is_empty() {
        let paths = std::fs::read_dir("tests/mysql")?.map(|entry| entry.map(|entry| entry.path()));
        files = paths.collect::<Result<_, _>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "test"));
        files.sort();
    }
    let server = Server::open(server)?;
    let mut total = script::Found::default();
    for path in &files {
        let found = script::replay(&server.target, path, rewrite)?;
        found.faults.iter().for_each(|fault| println!("{fault}"));
        total.statements += found.statements;
        total.known += found.known;
        total.unexamined += found.unexamined;
        total.faults.extend(found.faults);
    }
    server.close()?;
    println!(
        "{} statements in {} scripts: {} differ as listed ({} of them not examined), {} faults",
        total.statements,
        files.len(),
        total.known,
        total.unexamined,
        total.faults.len()
    );
    Ok(total.faults.is_empty() && total.statements > 0)
}

/// Random statements, at two servers or checked against each other at one.
fn at_random(server: &str, other: Option<&str>, rest: &[&str], words: &[&str]) -> Result<bool, ClientError> {
    let besides = Besides { columns: words.contains(&"--columns"), warnings: words.contains(&"--warnings") };
    let rest: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with("--")).collect();
    let number = |at: usize, default: u64| rest.get(at).map_or(Some(default), |word| word.parse().ok());
    let (Some(count), Some(first)) = (number(0, 20_000), number(1, 1)) else {
        return Err(ClientError::Protocol("N and SEED are numbers"));
    };
    let other = match other.map(|url| Target::parse(url).ok_or(url)) {
        None => None,
        Some(Ok(target)) => Some(target),
        Some(Err(_)) => return Err(ClientError::Protocol("a target is mysql://USER@HOST:PORT")),
    };
    let server = Server::open(server)?;
    let mut outcome = Outcome::default();
    let mut shown = 0;
    let mut pair = other.map(|other| Pair::open(&server.target, &other, besides)).transpose()?;
    let mut client = Client::connect(&server.target)?;
    let mut seed = first;
    while outcome.statements < count {
        match &mut pair {
            Some(pair) => pair.seed(seed, &mut outcome)?,
            None if words.first() == Some(&"rules") => random::rules::seed(&mut client, seed, &mut outcome)?,
            None => random::logic::seed(&mut client, seed, &mut outcome)?,
        }
        outcome.differences[shown..].iter().for_each(|text| println!("{text}"));
        outcome.columns.drain(..).chain(outcome.warnings.drain(..)).for_each(|text| println!("{text}"));
        shown = outcome.differences.len();
        seed += 1;
    }
    client.query("DROP DATABASE IF EXISTS oracle")?;
    drop(client);
    server.close()?;
    println!(
        "{} statements of seeds {first} to {}: {} refused, {} left out for their order of evaluation, for ONLY_FULL_GROUP_BY {} refused, of {} the second server has two \
         answers, of {} two numbers of digits, {} by documents that it does not sort, {} differ",
        outcome.statements,
        seed - 1,
        outcome.refused,
        outcome.unordered,
        outcome.stricter,
        outcome.contradicted,
        outcome.digits,
        outcome.unsorted,
        outcome.differences.len()
    );
    if !outcome.plans.is_empty() {
        let told: Vec<String> = outcome.plans.iter().map(|(told, count)| format!("{count} {told}")).collect();
        println!("plans: {}", told.join(", "));
    }
    Ok(outcome.differences.is_empty())
}
