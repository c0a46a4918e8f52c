//! The error log: lines in the shape of MySQL 8, on standard error or in the file of `log_error`.
//!
//! `2026-11-20T09:10:11.123456Z 0 [Note] [MY-010931] [Server] ready for connections ...`

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use turnstile_session::datetime::DateTime;

/// How urgent a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Life of the server.
    Note,
    /// Somebody should look at it.
    Warning,
    /// Something does not work.
    Error,
}

/// Writes one line.
pub fn line(priority: Priority, number: u32, text: &str) {
    let us =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
    let time =
        DateTime::from_unix_us(us, 6).map(|time| time.to_string().replace(' ', "T")).unwrap_or_default();
    let word = match priority {
        Priority::Note => "Note",
        Priority::Warning => "Warning",
        Priority::Error => "Error",
    };
    let line = format!("{time}Z 0 [{word}] [MY-{number:06}] [Server] {text}\n");
    // A log that cannot be written is not worth failing for.
    let _ = match &*FILE.read().unwrap_or_else(PoisonError::into_inner) {
        // Whole lines, so that those of several threads do not mix.
        Some((_, file)) => (&mut &*file).write_all(line.as_bytes()),
        None => std::io::stderr().lock().write_all(line.as_bytes()),
    };
}

/// The file of `log_error`, once it is open.
static FILE: RwLock<Option<(PathBuf, File)>> = RwLock::new(None);

/// From now on lines are added to a file.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).mode(0o640).open(path)?;
    *FILE.write().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), file));
    Ok(())
}

/// Opens the file again by its name: whoever keeps the logs has moved the old one away.
///
/// # Errors
/// When it cannot be opened; lines go on into the old one.
pub fn reopen() -> io::Result<()> {
    let path = FILE.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(path, _)| path.clone());
    path.map_or(Ok(()), |path| open(&path))
}

/// A line about the life of the server.
pub fn note(text: &str) {
    line(Priority::Note, 10931, text);
}

/// A line that somebody should look at.
pub fn warning(text: &str) {
    line(Priority::Warning, 10915, text);
}

/// A line about something that does not work.
pub fn error(text: &str) {
    line(Priority::Error, 10119, text);
}

/// The report of `innodb_status_output`.
pub fn monitor(text: &str) {
    line(Priority::Note, 13024, &format!("InnoDB monitor:{text}"));
}

/// A deadlock in full (`innodb_print_all_deadlocks`).
pub fn deadlock(text: &str) {
    line(
        Priority::Note,
        12468,
        &format!("Transactions deadlock detected, dumping detailed information.\n{text}"),
    );
}
