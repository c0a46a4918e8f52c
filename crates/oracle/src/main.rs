//! What MySQL answers, as a test. `record` asks a MySQL server and keeps its answers in scripts; `replay` puts the same
//! statements to Turnstile and compares.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use turnstile_lab::client::{ClientError, Target};
use turnstile_lab::process::{ServerProcess, free_port, scratch_folder};

mod answer;
mod script;

const USAGE: &str = "\
usage: oracle record mysql://USER@HOST:PORT FILE...       writes the answers of that server into the scripts
       oracle replay BINARY|mysql://USER@HOST:PORT [--differs] [FILE...]
                                            compares answers with the recorded ones; --differs writes the lists of differences anew
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", target, files @ ..] if !files.is_empty() => record(target, files),
        ["replay", server, rest @ ..] => replay(server, rest),
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
