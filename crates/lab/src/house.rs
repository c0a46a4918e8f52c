//! What must not outlive a run, however it ends: server processes, scratch folders, databases and changed
//! variables at servers of others.
//!
//! ```text
//!   spawn, folder, database, variable ──> the list ──┬── run ends, well or not, or panics ──┐
//!                                                    ├── SIGINT, SIGTERM, SIGHUP ───────────┼──> sweep: all of it goes
//!                                                    └── nobody reads standard output ──────┘
//! ```
//! A process is started under the list's mutex, and [`sweep`] closes the list, so nothing slips in beside it.
//! SIGKILL cannot be helped.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, panic, thread};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::client::{Client, ClientError, Target};

/// What a shell says of a program that SIGPIPE has ended.
const NOBODY_READS: u8 = 128 + 13;

/// The signal that ends the run; 0 while there was none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

#[derive(Default)]
struct House {
    /// Nothing more comes in.
    over: bool,
    processes: Vec<u32>,
    /// Ports of servers started here: what is made there goes with their folders.
    own_ports: Vec<u16>,
    folders: Vec<PathBuf>,
    databases: Vec<(Target, String)>,
    variables: Vec<(Target, &'static str, String)>,
}

static HOUSE: Mutex<House> = Mutex::new(House {
    over: false,
    processes: Vec::new(),
    own_ports: Vec::new(),
    folders: Vec::new(),
    databases: Vec::new(),
    variables: Vec::new(),
});

fn house() -> MutexGuard<'static, House> {
    // The lists are whole between any two of their operations.
    HOUSE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl House {
    fn is_own(&self, target: &Target) -> bool {
        target.host == "127.0.0.1" && self.own_ports.contains(&target.port)
    }
}

/// Starts a server that will listen on this port.
///
/// # Errors
/// When it cannot be started, or the run is over.
pub fn spawn(command: &mut Command, port: u16) -> io::Result<Child> {
    let mut house = house();
    if house.over {
        return Err(io::Error::other("the run is over"));
    }
    let child = command.spawn()?;
    house.processes.push(child.id());
    house.own_ports.push(port);
    Ok(child)
}

/// The process has ended and was waited for.
pub fn forget_process(pid: u32) {
    house().processes.retain(|known| *known != pid);
}

/// Notes a folder that was made for the run.
pub fn keep_folder(path: &Path) {
    house().folders.push(path.to_path_buf());
}

/// Removes such a folder now.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    house().folders.retain(|known| known != path);
    fs::remove_dir_all(path)
}

/// Notes a database that the run has made at a server.
pub fn keep_database(target: &Target, name: &str) {
    let mut house = house();
    if !house.is_own(target) {
        house.databases.push((target.clone(), name.into()));
    }
}

/// Notes what a global variable was before the run changed it.
pub fn keep_variable(target: &Target, name: &'static str, before: &str) {
    let mut house = house();
    let known = house.variables.iter().any(|(at, known, _)| at == target && *known == name);
    if !known && !house.is_own(target) {
        house.variables.push((target.clone(), name, before.into()));
    }
}

/// The variable is again what it was.
pub fn forget_variable(target: &Target, name: &str) {
    house().variables.retain(|(at, known, _)| at != target || *known != name);
}

/// Ends, removes and puts back everything on the list, and closes it.
pub fn sweep() {
    let mut house = house();
    house.over = true;
    for pid in std::mem::take(&mut house.processes) {
        end_process(pid);
    }
    for (target, name, before) in std::mem::take(&mut house.variables) {
        let back = Client::connect(&target)
            .and_then(|mut client| client.query(&format!("SET GLOBAL {name} = {before}")));
        tell(back, &format!("{name} at {target} could not be set back to {before}"));
    }
    for (target, name) in std::mem::take(&mut house.databases) {
        tell(drop_database(&target, &name), &format!("the database {name} at {target} could not be dropped"));
    }
    for folder in std::mem::take(&mut house.folders) {
        // Gone already where its owner has removed it.
        let _ = fs::remove_dir_all(folder);
    }
}

fn tell<T>(outcome: Result<T, ClientError>, what: &str) {
    if let Err(error) = outcome {
        let _ = writeln!(io::stderr(), "turnstile: {what}: {error}");
    }
}

fn end_process(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        // It may have ended already; who waits for it first does not matter.
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

/// Sessions of a run that was cut short may still hold its tables.
fn drop_database(target: &Target, name: &str) -> Result<(), ClientError> {
    let mut client = Client::connect(target)?;
    client.query("SET SESSION lock_wait_timeout = 10")?;
    let inside = format!(
        "SELECT id FROM information_schema.processlist WHERE db = '{name}' AND id <> CONNECTION_ID()"
    );
    for id in client.query(&inside)?.rows.iter().filter_map(|row| row.first()?.as_ref()) {
        // It may have gone by itself.
        let _ = client.query(&format!("KILL {id}"));
    }
    client.query(&format!("DROP DATABASE IF EXISTS {name}")).map(|_| ())
}

/// Runs the laboratory's part of the program and sweeps behind it, however it ends.
pub fn guarded(run: impl FnOnce() -> ExitCode) -> ExitCode {
    if let Err(error) = watch_signals() {
        eprintln!("turnstile: signals cannot be watched: {error}");
        return ExitCode::FAILURE;
    }
    watch_output();
    let outcome = catch_unwind(AssertUnwindSafe(run));
    sweep();
    match ENDED_BY.load(Ordering::SeqCst) {
        0 => outcome.unwrap_or(ExitCode::from(101)),
        // The run has failed because its servers were taken away.
        signal => ExitCode::from((128 + signal) as u8),
    }
}

/// A thread for each signal that ends a run. One that the caller has us ignore (nohup) stays ignored.
fn watch_signals() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
        let (mut reader, writer) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal, writer)?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            if reader.read_exact(&mut [0]).is_ok() {
                ENDED_BY.store(signal, Ordering::SeqCst);
                let _ = writeln!(io::stderr(), "\nturnstile: ended by signal {signal}, tidying up");
                sweep();
                std::process::exit(128 + signal);
            }
        })?;
    }
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Printing into a pipe that nobody reads panics, on whatever thread; there is nobody to tell.
fn watch_output() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        if text.starts_with("failed printing to std") {
            sweep();
            std::process::exit(i32::from(NOBODY_READS));
        }
        usual(info);
    }));
}
