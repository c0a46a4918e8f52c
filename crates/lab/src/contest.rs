//! Who is measured: our own server, started for the run over a scratch folder, servers that the caller names,
//! and the floor. Experiments take them in turn within every cell, so that a noisy minute hits all of them.

use std::error::Error;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::client::{Client, ClientError, Target};
use crate::options::Options;
use crate::process::{ServerProcess, free_port, listening_process, scratch_folder};
use crate::{house, switch};

/// Where a contestant comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Our server, started for this run.
    Own,
    /// A server that the caller named.
    Given,
    /// Answers OK to everything and has no tables.
    Floor,
}

/// One server under measurement.
pub struct Contestant {
    /// Its name in tables.
    pub label: String,
    /// Where it is.
    pub target: Target,
    /// Its process, if it is on this machine.
    pub pid: Option<u32>,
    /// What it is.
    pub kind: Kind,
    server: Option<ServerProcess>,
    binary: PathBuf,
    folder: Option<PathBuf>,
    options: Vec<String>,
}

/// Variables that a figure may depend on; written beside the results of every server.
const SETTINGS: [&str; 19] = [
    "version",
    "thread_handling",
    "thread_pool_size",
    "thread_pool_oversubscribe",
    "turnstile_hot_row",
    "innodb_deadlock_detect",
    "innodb_lock_wait_timeout",
    "innodb_thread_concurrency",
    "innodb_concurrency_tickets",
    "innodb_thread_sleep_delay",
    "innodb_adaptive_hash_index",
    "innodb_adaptive_hash_index_parts",
    "innodb_purge_threads",
    "innodb_purge_batch_size",
    "innodb_max_purge_size",
    "innodb_max_purge_lag",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
];

/// Connections that a run needs beside its load: watchers, questions, the ones that open while others close.
const SPARE_CONNECTIONS: usize = 16;

/// Opens everybody who takes part: own servers, targets, the floor last. `most`: the largest number of
/// connections that a load of the run has.
///
/// # Errors
/// When one of our own cannot be started, or a server does not take so many connections.
pub fn gather(
    options: &Options,
    own_options: &[&str],
    most: usize,
) -> Result<Vec<Contestant>, Box<dyn Error>> {
    let all = open_all(options, own_options)?;
    for contestant in all.iter().filter(|contestant| contestant.has_tables()) {
        contestant.check_room(most)?;
    }
    Ok(all)
}

fn open_all(options: &Options, own_options: &[&str]) -> Result<Vec<Contestant>, Box<dyn Error>> {
    let mut all = Vec::new();
    for (number, (label, extra)) in options.own.iter().enumerate() {
        let mut arguments =
            vec!["--max-connections=5000".to_string(), format!("--extra-port={}", free_port()?)];
        arguments.extend(own_options.iter().map(|text| text.to_string()));
        arguments.extend(extra.iter().cloned());
        let folder = scratch_folder(&format!("bench-{number}"))?;
        all.push(Contestant::own(label.clone(), options.binary.clone(), folder, arguments)?);
    }
    for (label, target, pid) in &options.targets {
        let local = ["127.0.0.1", "localhost", "::1"].contains(&target.host.as_str());
        let pid = pid.or_else(|| local.then(|| listening_process(target.port)).flatten());
        all.push(Contestant::given(label, target, pid));
    }
    if options.floor {
        let folder = scratch_folder("bench-floor")?;
        let port = free_port()?;
        let server = ServerProcess::start_floor(&options.binary, &folder, port)?;
        all.push(Contestant {
            label: "floor".into(),
            target: Target::local(port),
            pid: Some(server.id()),
            kind: Kind::Floor,
            server: Some(server),
            binary: options.binary.clone(),
            folder: Some(folder),
            options: Vec::new(),
        });
    }
    Ok(all)
}

impl Contestant {
    fn own(
        label: String,
        binary: PathBuf,
        folder: PathBuf,
        options: Vec<String>,
    ) -> Result<Contestant, ClientError> {
        let port = free_port()?;
        let server = ServerProcess::start(&binary, &folder.join("data"), port, &options)?;
        Ok(Contestant {
            label,
            target: Target::local(port),
            pid: Some(server.id()),
            kind: Kind::Own,
            server: Some(server),
            binary,
            folder: Some(folder),
            options,
        })
    }

    /// A server that somebody else started.
    pub fn given(label: &str, target: &Target, pid: Option<u32>) -> Contestant {
        Contestant {
            label: label.into(),
            target: target.clone(),
            pid,
            kind: Kind::Given,
            server: None,
            binary: PathBuf::new(),
            folder: None,
            options: Vec::new(),
        }
    }

    /// A connection to it.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn client(&self) -> Result<Client, ClientError> {
        Client::connect(&self.target)
    }

    /// A connection that need not stand in line with the load, where the server has an `extra_port`; else as
    /// any other.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn side_client(&self) -> Result<Client, ClientError> {
        let port = switch::global(&mut self.client()?, "extra_port")?.and_then(|port| port.parse().ok());
        match port.filter(|port| *port != 0) {
            Some(port) => Client::connect(&Target { port, ..self.target.clone() }),
            None => self.client(),
        }
    }

    /// Fails if the server does not take so many connections at once, before an hour is spent on finding that
    /// out.
    fn check_room(&self, most: usize) -> Result<(), Box<dyn Error>> {
        let mut client = self.client().map_err(|error| format!("{}: {error}", self.label))?;
        let needed = most + SPARE_CONNECTIONS;
        for name in ["max_connections", "max_user_connections"] {
            let limit: Option<usize> = switch::global(&mut client, name)?.and_then(|text| text.parse().ok());
            if let Some(limit) = limit.filter(|&limit| limit != 0 && limit < needed) {
                return Err(format!(
                    "{}: {name} is {limit}, and the run needs {needed} connections at once; raise it, or ask for fewer by --connections",
                    self.label
                )
                .into());
            }
        }
        Ok(())
    }

    /// Whether it keeps tables; the floor does not.
    pub fn has_tables(&self) -> bool {
        self.kind != Kind::Floor
    }

    /// Stops our own server cleanly and starts it again over the same data with one more option.
    ///
    /// # Errors
    /// When it does not stop or start.
    pub fn restart_with(&mut self, option: &str) -> Result<(), Box<dyn Error>> {
        if let (Some(server), Some(folder)) = (self.server.take(), &self.folder) {
            let port = server.port;
            server.terminate()?;
            let mut options = self.options.clone();
            options.push(option.to_string());
            let server = ServerProcess::start(&self.binary, &folder.join("data"), port, &options)?;
            self.pid = Some(server.id());
            self.server = Some(server);
        }
        Ok(())
    }

    /// Label and settings, as they stand in the JSON file.
    pub fn json(&self) -> Value {
        let mut settings = Map::new();
        if let (true, Ok(mut client)) = (self.has_tables(), self.client()) {
            for name in SETTINGS {
                let value = switch::global(&mut client, name).ok().flatten();
                settings.insert(name.into(), value.unwrap_or_else(|| "n/a".into()).into());
            }
        }
        let kind = match self.kind {
            Kind::Own => "own",
            Kind::Given => "target",
            Kind::Floor => "floor",
        };
        json!({ "server": self.label, "kind": kind, "options": self.options, "settings": settings })
    }

    /// Ends what was started and removes its data.
    ///
    /// # Errors
    /// When our own server does not shut down cleanly.
    pub fn end(self) -> Result<(), Box<dyn Error>> {
        match (self.kind, self.server) {
            (Kind::Own, Some(server)) => server.terminate()?,
            (_, Some(floor)) => floor.kill()?,
            (_, None) => {}
        }
        if let Some(folder) = self.folder {
            house::remove_folder(&folder)?;
        }
        Ok(())
    }
}
