//! What a figure was measured with: kept beside every result.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Value, json};

/// Commit, machine, time and command line of this run.
pub fn manifest() -> Value {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    json!({
        "commit": git(&["rev-parse", "--short=12", "HEAD"]),
        "uncommitted_changes": git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty()),
        "command": std::env::args().skip(1).collect::<Vec<_>>().join(" "),
        "unix_time": seconds,
        "cpu": cpu_model(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "memory_kib": field("/proc/meminfo", "MemTotal").and_then(|v| v.trim_end_matches(" kB").parse::<u64>().ok()),
        "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").map(|s| s.trim().to_string()).ok(),
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn cpu_model() -> Option<String> {
    field("/proc/cpuinfo", "model name")
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}
