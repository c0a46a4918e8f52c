//! What the kernel and its users tell the process, besides its clients.
//!
//! | signal | what follows |
//! |---|---|
//! | SIGTERM, SIGINT, SIGQUIT | the server stops as after SHUTDOWN |
//! | SIGHUP, SIGUSR1 | the logs are opened again |
//! | SIGXFSZ | nothing: a file beyond the limit on its size is a write that fails, as on a full disk |
//! | SIGPIPE | nothing (Rust's runtime ignores it): the client has gone |
//!
//! A handler sets a flag and writes a byte into a stream that the main thread reads.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::{flag, low_level};

/// What somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The end.
    Stop,
    /// New log files.
    Logs,
}

/// Has the process outlive, from its first file on, what is no wish to end it.
///
/// # Errors
/// Those of the operating system.
pub fn outlive() -> io::Result<()> {
    for number in [SIGXFSZ, SIGHUP, SIGUSR1] {
        // Nobody looks at the flag: what counts is that the signal has a handler.
        flag::register(number, Arc::default())?;
    }
    Ok(())
}

/// The signals that the process takes from now on.
pub struct Signals {
    stops: Arc<AtomicBool>,
    reopens: Arc<AtomicBool>,
    reader: UnixStream,
    writer: UnixStream,
}

impl Signals {
    /// Takes them.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn register() -> io::Result<Signals> {
        let (reader, writer) = UnixStream::pair()?;
        let signals = Signals { stops: Arc::default(), reopens: Arc::default(), reader, writer };
        let kinds =
            [(&signals.stops, &[SIGTERM, SIGINT, SIGQUIT][..]), (&signals.reopens, &[SIGHUP, SIGUSR1])];
        for (set, numbers) in kinds {
            for number in numbers {
                // In this order: the flag is set when the byte comes.
                flag::register(*number, set.clone())?;
                low_level::pipe::register(*number, signals.writer.try_clone()?)?;
            }
        }
        Ok(signals)
    }

    /// Asks for the end, as SIGTERM does.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn asker(&self) -> io::Result<Box<dyn Fn() + Send + Sync>> {
        let (stops, writer) = (self.stops.clone(), self.writer.try_clone()?);
        Ok(Box::new(move || {
            stops.store(true, Ordering::SeqCst);
            // A stream that is full has been written to already.
            let _ = (&writer).write(&[0]);
        }))
    }

    /// Waits until something is asked for.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn wait(&self) -> io::Result<Asked> {
        loop {
            (&self.reader).read_exact(&mut [0])?;
            if self.stops.load(Ordering::SeqCst) {
                return Ok(Asked::Stop);
            }
            // Two signals may have set the flag once.
            if self.reopens.swap(false, Ordering::SeqCst) {
                return Ok(Asked::Logs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn signals_are_told_apart_and_a_file_size_limit_ends_nothing() {
        outlive().unwrap();
        low_level::raise(SIGHUP).unwrap();
        let signals = Signals::register().unwrap();
        low_level::raise(SIGXFSZ).unwrap();
        for number in [SIGHUP, SIGUSR1] {
            low_level::raise(number).unwrap();
            assert_eq!(signals.wait().unwrap(), Asked::Logs);
        }
        low_level::raise(SIGHUP).unwrap();
        low_level::raise(SIGHUP).unwrap();
        assert_eq!(signals.wait().unwrap(), Asked::Logs);
        signals.asker().unwrap()();
        assert_eq!(signals.wait().unwrap(), Asked::Stop);
    }
}
