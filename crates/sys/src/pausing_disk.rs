//! A disk that pauses on request: reads, syncs or growth of chosen files wait until they are resumed. For
//! tests of what a kill, a vanished client or anybody else may do meanwhile. It wraps another disk and adds
//! nothing else.
//!
//! ```text
//!   pause(Reads, "data")  ->  a read of a file with that in its name waits    resume()  ->  it and all others go on
//!                             wait_until_paused(1) returns
//! ```

use crate::disk::{AllocateError, Disk, DiskFile};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// Reads.
    Reads,
    /// Syncs of files.
    Syncs,
    /// Files being made longer.
    Growth,
}

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct PausingDisk {
    inner: Arc<dyn Disk>,
    pauses: Arc<Pauses>,
}

#[derive(Default)]
struct Pauses {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What pauses, of files with this part in their names.
    rule: Option<(Paused, String)>,
    paused: usize,
}

impl Pauses {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, what: Paused, name: &str) {
        let mut state = self.state();
        let pauses = |state: &State| {
            state.rule.as_ref().is_some_and(|(paused, part)| *paused == what && name.contains(part))
        };
        if !pauses(&state) {
            return;
        }
        state.paused += 1;
        self.changed.notify_all();
        while pauses(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.paused -= 1;
        self.changed.notify_all();
    }
}

impl PausingDisk {
    /// A disk over another one. Nothing pauses.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        PausingDisk { inner, pauses: Arc::default() }
    }

    /// From now on this, of files whose names contain `part` pause.
    pub fn pause(&self, what: Paused, part: &str) {
        self.pauses.state().rule = Some((what, part.to_string()));
        self.pauses.changed.notify_all();
    }

    /// Resumes whatever is paused, and lets everything through from now on.
    pub fn resume(&self) {
        self.pauses.state().rule = None;
        self.pauses.changed.notify_all();
    }

    /// Operations that are paused now.
    pub fn paused(&self) -> usize {
        self.pauses.state().paused
    }

    /// Waits until so many operations are paused.
    pub fn wait_until_paused(&self, count: usize) {
        let mut state = self.pauses.state();
        while state.paused < count {
            state = self.pauses.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Disk for PausingDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let inner = self.inner.open(name, create)?;
        Ok(Arc::new(PausingFile { inner, pauses: self.pauses.clone(), name: name.to_string() }))
    }
    fn exists(&self, name: &str) -> io::Result<bool> {
        self.inner.exists(name)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn sync_dir(&self) -> io::Result<()> {
        self.inner.sync_dir()
    }
}

struct PausingFile {
    inner: Arc<dyn DiskFile>,
    pauses: Arc<Pauses>,
    /// As it was opened.
    name: String,
}

impl DiskFile for PausingFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.pauses.pass(Paused::Reads, &self.name);
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(bytes, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.pauses.pass(Paused::Syncs, &self.name);
        self.inner.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }
    fn allocate(&self, len: u64) -> Result<(), AllocateError> {
        self.pauses.pass(Paused::Growth, &self.name);
        self.inner.allocate(len)
    }
    fn claim(&self) -> io::Result<()> {
        self.inner.claim()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;
    use crate::fault_disk::FaultDisk;

    #[test]
    fn what_is_asked_for_pauses_until_it_is_resumed() {
        let disk = PausingDisk::new(Arc::new(FaultDisk::new(1)));
        let (log, data) = (disk.open("redo.1", true).unwrap(), disk.open("data.ts", true).unwrap());
        log.write_at(b"abc", 0).unwrap();
        disk.pause(Paused::Syncs, "redo");
        data.sync().unwrap();
        log.read_at(&mut [0; 3], 0).unwrap();
        std::thread::scope(|scope| {
            let sync = scope.spawn(|| log.sync());
            disk.wait_until_paused(1);
            assert!(!sync.is_finished());
            disk.resume();
            sync.join().unwrap().unwrap();
        });
        assert_eq!(disk.paused(), 0);
        log.sync().unwrap();
    }
}
