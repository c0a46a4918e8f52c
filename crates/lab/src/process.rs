//! A server process under the laboratory's control: started, watched, killed, and its CPU time read.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};

use crate::client::{Client, ClientError, Target};
use crate::{house, secret};

/// A running server.
pub struct ServerProcess {
    child: Child,
    /// Its port on loopback.
    pub port: u16,
    /// From the start of the process to the answer of the first query.
    pub first_answer: Duration,
}

impl ServerProcess {
    /// Starts `binary serve` over `datadir` with `options`, its log appended to `datadir.log`, and waits
    /// until it answers.
    ///
    /// # Errors
    /// When it cannot be started or does not answer within 120 seconds.
    pub fn start(
        binary: &Path,
        datadir: &Path,
        port: u16,
        options: &[String],
    ) -> Result<ServerProcess, ClientError> {
        let mut command = Command::new(binary);
        command.args(["serve", "--no-defaults"]);
        command.arg(format!("--datadir={}", datadir.display())).arg(format!("--port={port}")).args(options);
        ServerProcess::launch(&mut command, &datadir.with_extension("log"), port)
    }

    /// Starts the floor, `binary bench-floor`, its log in `folder`.
    ///
    /// # Errors
    /// As [`ServerProcess::start`].
    pub fn start_floor(binary: &Path, folder: &Path, port: u16) -> Result<ServerProcess, ClientError> {
        let mut command = Command::new(binary);
        command.args(["bench-floor", &format!("--port={port}")]);
        ServerProcess::launch(&mut command, &folder.join("floor.log"), port)
    }

    fn launch(command: &mut Command, log_path: &Path, port: u16) -> Result<ServerProcess, ClientError> {
        raise_descriptor_limit();
        let log = fs::OpenOptions::new().create(true).append(true).open(log_path)?;
        let begin = Instant::now();
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).env_remove(secret::VARIABLE);
        let child = house::spawn(command, port)?;
        let mut server = ServerProcess { child, port, first_answer: Duration::ZERO };
        loop {
            let answered =
                Client::connect(&Target::local(port)).and_then(|mut client| client.query("SELECT 1"));
            if answered.is_ok() {
                server.first_answer = begin.elapsed();
                return Ok(server);
            }
            if server.child.try_wait()?.is_some() || begin.elapsed() > Duration::from_secs(120) {
                let text = fs::read_to_string(log_path).unwrap_or_default();
                let tail: Vec<&str> = text.lines().rev().take(20).collect();
                eprintln!("the server did not start; the end of its log:");
                tail.iter().rev().for_each(|line| eprintln!("  {line}"));
                return Err(io::Error::other("the server did not start").into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: no chance to write anything.
    ///
    /// # Errors
    /// When the process cannot be signalled.
    pub fn kill(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        house::forget_process(self.child.id());
        Ok(())
    }

    /// SIGTERM, and waits for the clean shutdown.
    ///
    /// # Errors
    /// When the process cannot be signalled or ends with a failure.
    pub fn terminate(mut self) -> io::Result<()> {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            kill_process(pid, Signal::TERM)?;
        }
        let status = self.child.wait()?;
        house::forget_process(self.child.id());
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other(format!("the server ended with {status}")))
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Only of use when an error unwinds past the explicit end; a process that has ended is left alone.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        house::forget_process(self.child.id());
    }
}

/// A TCP port that was free a moment ago.
///
/// # Errors
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// CPU time a process has used, in microseconds (user and system); None if it is gone.
pub fn cpu_us(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks * 1_000_000 / rustix::param::clock_ticks_per_second())
}

/// As [`cpu_us`], without its grain of 10 ms: the threads' own clocks, which are at most a tick of the kernel
/// behind. Threads that end take theirs along, and a process with many is asked for its sum instead.
pub fn fine_cpu_us(pid: u32) -> Option<u64> {
    const THREADS_MAX: usize = 64;
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten().collect::<Vec<_>>();
    if threads.len() > THREADS_MAX {
        return cpu_us(pid);
    }
    let used_ns = |thread: &fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    let used_us = threads.iter().filter_map(used_ns).sum::<u64>() / 1000;
    if used_us == 0 { cpu_us(pid) } else { Some(used_us) }
}

/// CPU time that the machine has used since it started, in microseconds, and what was stolen from it.
pub fn machine_cpu_us() -> Option<u64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u64> =
        stat.lines().next()?.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0)).collect();
    // user, nice, system, (idle, iowait), irq, softirq, steal
    let ticks: u64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|&at| fields.get(at)).sum();
    Some(ticks * 1_000_000 / rustix::param::clock_ticks_per_second())
}

/// The process that listens on a TCP port of this machine, as far as /proc shows it to us.
pub fn listening_process(port: u16) -> Option<u32> {
    let wanted = format!(":{port:04X}");
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // Local address, state (0A is LISTEN), inode.
            if let (Some(address), Some(&"0A"), Some(inode)) = (fields.get(1), fields.get(3), fields.get(9))
                && address.ends_with(&wanted)
            {
                inodes.push(format!("socket:[{inode}]"));
            }
        }
    }
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).find(|pid| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
            .any(|link| inodes.iter().any(|inode| link.as_os_str() == inode.as_str()))
    })
}

/// Threads of a process; None if it is gone.
pub fn thread_count(pid: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/task")).ok()?.count())
}

/// Resident memory of a process in bytes.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * rustix::param::page_size() as u64)
}

/// Thousands of connections need as many descriptors: raises the soft limit to the hard one.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Refused only where it is already as high as it may be.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// A fresh folder for one run's data.
///
/// # Errors
/// When it cannot be made.
pub fn scratch_folder(name: &str) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("turnstile-{name}-{}", std::process::id()));
    if path.exists() {
        fs::remove_dir_all(&path)?;
    }
    fs::create_dir_all(&path)?;
    house::keep_folder(&path);
    Ok(path)
}
