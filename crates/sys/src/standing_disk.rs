//! A disk that stands still on request: reads or syncs of chosen files wait until they are let go. For tests
//! of what a kill, a vanished client or anybody else may do meanwhile. It wraps another disk and adds nothing
//! else.
//!
//! ```text
//!   stand(Reads, "data")  ->  a read of a file with that in its name waits    let_go()  ->  it and all others go on
//!                             wait_until_standing(1) returns
//! ```

use crate::disk::{AllocateError, Disk, DiskFile};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Reads.
    Reads,
    /// Syncs of files.
    Syncs,
}

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct StandingDisk {
    inner: Arc<dyn Disk>,
    gate: Arc<Gate>,
}

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What stands, of files with this part in their names.
    rule: Option<(Standing, String)>,
    standing: usize,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, what: Standing, name: &str) {
        let mut state = self.state();
        let stands = |state: &State| {
            state.rule.as_ref().is_some_and(|(standing, part)| *standing == what && name.contains(part))
        };
        if !stands(&state) {
            return;
        }
        state.standing += 1;
        self.changed.notify_all();
        while stands(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.standing -= 1;
        self.changed.notify_all();
    }
}

impl StandingDisk {
    /// A disk over another one. Nothing stands.
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        StandingDisk { inner, gate: Arc::default() }
    }

    /// From now on reads, or syncs, of files whose names contain `part` stand.
    pub fn stand(&self, what: Standing, part: &str) {
        self.gate.state().rule = Some((what, part.to_string()));
        self.gate.changed.notify_all();
    }

    /// Lets go whatever stands, and lets everything through from now on.
    pub fn let_go(&self) {
        self.gate.state().rule = None;
        self.gate.changed.notify_all();
    }

    /// Operations that stand now.
    pub fn standing(&self) -> usize {
        self.gate.state().standing
    }

    /// Waits until so many operations stand.
    pub fn wait_until_standing(&self, count: usize) {
        let mut state = self.gate.state();
        while state.standing < count {
            state = self.gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Disk for StandingDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let inner = self.inner.open(name, create)?;
        Ok(Arc::new(StandingFile { inner, gate: self.gate.clone(), name: name.to_string() }))
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

struct StandingFile {
    inner: Arc<dyn DiskFile>,
    gate: Arc<Gate>,
    /// As it was opened.
    name: String,
}

impl DiskFile for StandingFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.gate.pass(Standing::Reads, &self.name);
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(bytes, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.gate.pass(Standing::Syncs, &self.name);
        self.inner.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }
    fn allocate(&self, len: u64) -> Result<(), AllocateError> {
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
    fn what_is_asked_for_stands_until_it_is_let_go() {
        let disk = StandingDisk::new(Arc::new(FaultDisk::new(1)));
        let (log, data) = (disk.open("redo.1", true).unwrap(), disk.open("data.ts", true).unwrap());
        log.write_at(b"abc", 0).unwrap();
        disk.stand(Standing::Syncs, "redo");
        data.sync().unwrap();
        log.read_at(&mut [0; 3], 0).unwrap();
        std::thread::scope(|scope| {
            let sync = scope.spawn(|| log.sync());
            disk.wait_until_standing(1);
            assert!(!sync.is_finished());
            disk.let_go();
            sync.join().unwrap().unwrap();
        });
        assert_eq!(disk.standing(), 0);
        log.sync().unwrap();
    }
}
