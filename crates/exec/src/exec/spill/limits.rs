//! From how many bytes on rows go to a file.
//!
//! What MySQL calls a buffer holds rows that are packed; rows in memory here take several times as many
//! bytes, and by MySQL's defaults a few thousand rows would already go to disk. So a limit counts from what
//! is worth a file on (`TemporaryFolder::kept_bytes_min`), and never is more than a part of what the session
//! may hold: a statement has several such places.

use turnstile_catalog::variables::SessionSettings;

use super::super::Exec;

/// A statement may have so many full buffers before its session's memory is used up.
const BUFFERS: u64 = 8;

/// The limit that a variable of this session sets, bytes of memory.
pub(in super::super) fn kept_bytes_max(exec: &Exec<'_>, variable: impl Fn(&SessionSettings) -> u64) -> u64 {
    let settings = exec.session.settings();
    let wanted = variable(&settings).max(exec.db.temporary().kept_bytes_min());
    wanted.min(settings.connection_memory_limit / BUFFERS)
}
