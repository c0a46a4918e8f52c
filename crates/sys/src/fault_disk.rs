//! [`FaultDisk`]: a disk in memory that loses what a real one may lose, from a seed.
//!
//! A write is *pending* until its file is synced. At [`FaultDisk::crash`] every pending write is cut into sectors of
//! 512 bytes, and each sector survives or not: so writes are lost, torn, and overtake one another. Changes of length
//! are pending in the same way. Creating, renaming and removing files is pending until the directory is synced, and
//! of those a prefix survives. What was synced always survives, unless a lying sync was planted.
//!
//! | crash mood (drawn) | sectors that survive |
//! |---|---|
//! | harsh | none |
//! | mild | all |
//! | mixed | each with a probability drawn per file |
//!
//! After `crash` the old disk is dead: every operation on it fails, so threads left over from before the crash cannot
//! touch what the survivors see.

use crate::disk::{Disk, DiskFile};
use crate::rng::Rng;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Unit in which writes survive.
pub const SECTOR_BYTES: usize = 512;

/// What a planted fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device reports an I/O error; nothing is changed.
    InputOutput,
    /// No space is left on the device; nothing is changed.
    NoSpace,
}

impl FaultKind {
    fn error(self) -> io::Error {
        match self {
            FaultKind::InputOutput => io::Error::from_raw_os_error(5),
            FaultKind::NoSpace => io::Error::from_raw_os_error(28),
        }
    }
}

/// What a disk has been asked to do. Counts since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Syncs of files.
    pub syncs: u64,
    /// Operations that count for `fail_at`: everything that changes or syncs something.
    pub operations: u64,
}

enum Pending {
    Write { off: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Default)]
struct FileState {
    now: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Pending>,
}

#[derive(Clone)]
enum NameChange {
    Create(String, usize),
    Remove(String),
    Rename(String, String),
}

fn change_names(names: &mut BTreeMap<String, usize>, change: &NameChange) {
    match change {
        NameChange::Create(name, file) => {
            names.insert(name.clone(), *file);
        }
        NameChange::Remove(name) => {
            names.remove(name);
        }
        NameChange::Rename(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct PlantedFault {
    first: u64,
    last: u64,
    kind: FaultKind,
}

struct State {
    rng: Rng,
    files: Vec<FileState>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    pending_names: Vec<NameChange>,
    faults: Vec<PlantedFault>,
    lying_sync: Option<String>,
    capacity: usize,
    counts: FaultCounts,
    dead: bool,
}

/// A seeded, faulty disk in memory. Clones share it.
#[derive(Clone)]
pub struct FaultDisk {
    state: Arc<Mutex<State>>,
}

impl FaultDisk {
    /// An empty disk; the seed decides what a crash loses.
    pub fn new(seed: u64) -> Self {
        Self::with_files(Rng::new(seed), Vec::new(), BTreeMap::new())
    }

    fn with_files(rng: Rng, files: Vec<FileState>, names: BTreeMap<String, usize>) -> Self {
        let state = State {
            rng,
            files,
            durable_names: names.clone(),
            names,
            pending_names: Vec::new(),
            faults: Vec::new(),
            lying_sync: None,
            capacity: usize::MAX,
            counts: FaultCounts::default(),
            dead: false,
        };
        FaultDisk { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes the `nth` changing operation from now fail once; 1 is the next one.
    pub fn fail_at(&self, nth: u64, kind: FaultKind) {
        let mut state = self.state.lock();
        let at = state.counts.operations + nth;
        state.faults.push(PlantedFault { first: at, last: at, kind });
    }

    /// Makes every changing operation fail from the `nth` from now on.
    pub fn fail_from(&self, nth: u64, kind: FaultKind) {
        let mut state = self.state.lock();
        let first = state.counts.operations + nth;
        state.faults.push(PlantedFault { first, last: u64::MAX, kind });
    }

    /// Takes back every planted failure.
    pub fn heal(&self) {
        self.state.lock().faults.clear();
    }

    /// Bounds the bytes all files together may take; growing past it fails with no space left.
    pub fn set_capacity(&self, bytes: usize) {
        self.state.lock().capacity = bytes;
    }

    /// Bytes all files take now.
    pub fn used(&self) -> usize {
        self.state.lock().used()
    }

    /// Plants the canary bug: syncs of files whose name contains `name` return success and do nothing.
    pub fn skip_sync_of(&self, name: &str) {
        self.state.lock().lying_sync = Some(name.to_owned());
    }

    /// What was asked of the disk so far.
    pub fn counts(&self) -> FaultCounts {
        self.state.lock().counts
    }

    /// Cuts the power. Returns the disk as it comes back; this one is dead from here on.
    pub fn crash(&self) -> FaultDisk {
        let mut state = self.state.lock();
        state.dead = true;
        let mut rng = state.rng.fork();
        let mood = rng.below(4);
        let mut names = std::mem::take(&mut state.durable_names);
        let kept = match mood {
            0 => 0,
            1 => state.pending_names.len(),
            _ => rng.index(state.pending_names.len() + 1),
        };
        for change in &state.pending_names[..kept] {
            change_names(&mut names, change);
        }
        let files = std::mem::take(&mut state.files);
        let files = files
            .into_iter()
            .map(|file| {
                let survival = match mood {
                    0 => 0.0,
                    1 => 1.0,
                    _ => rng.unit(),
                };
                file.survivor(&mut rng, survival)
            })
            .collect();
        Self::with_files(rng, files, names)
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state.lock();
        if state.dead {
            return Err(io::Error::other("the simulated machine has crashed"));
        }
        work(&mut state)
    }
}

impl FileState {
    fn set_len(&mut self, len: usize) {
        self.now.resize(len, 0);
        self.pending.push(Pending::Length(len));
    }

    fn apply(target: &mut Vec<u8>, off: usize, bytes: &[u8]) {
        if target.len() < off + bytes.len() {
            target.resize(off + bytes.len(), 0);
        }
        target[off..off + bytes.len()].copy_from_slice(bytes);
    }

    fn sync(&mut self) {
        for pending in self.pending.drain(..) {
            match pending {
                Pending::Write { off, bytes } => Self::apply(&mut self.durable, off, &bytes),
                Pending::Length(len) => self.durable.resize(len, 0),
            }
        }
    }

    fn survivor(mut self, rng: &mut Rng, survival: f64) -> FileState {
        for pending in std::mem::take(&mut self.pending) {
            match pending {
                Pending::Length(len) => {
                    if rng.chance(survival) {
                        self.durable.resize(len, 0);
                    }
                }
                Pending::Write { off, bytes } => {
                    let mut at = 0;
                    while at < bytes.len() {
                        let end = bytes.len().min(at + SECTOR_BYTES - (off + at) % SECTOR_BYTES);
                        if rng.chance(survival) {
                            Self::apply(&mut self.durable, off + at, &bytes[at..end]);
                        }
                        at = end;
                    }
                }
            }
        }
        FileState { now: self.durable.clone(), durable: self.durable, pending: Vec::new() }
    }
}

impl State {
    fn used(&self) -> usize {
        self.names.values().map(|&file| self.files[file].now.len()).sum()
    }

    /// Counts a changing operation and fails it if a fault is planted there.
    fn operation(&mut self) -> io::Result<()> {
        self.counts.operations += 1;
        let now = self.counts.operations;
        match self.faults.iter().find(|fault| (fault.first..=fault.last).contains(&now)) {
            Some(fault) => Err(fault.kind.error()),
            None => Ok(()),
        }
    }

    fn check_growth(&self, file: usize, len: usize) -> io::Result<()> {
        let growth = len.saturating_sub(self.files[file].now.len());
        if growth > 0 && self.used().saturating_add(growth) > self.capacity {
            return Err(FaultKind::NoSpace.error());
        }
        Ok(())
    }

    fn change_name(&mut self, change: NameChange) {
        change_names(&mut self.names, &change);
        self.pending_names.push(change);
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn position(off: u64) -> io::Result<usize> {
    usize::try_from(off).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

impl Disk for FaultDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.with(|state| match state.find(name) {
            Ok(file) => Ok(file),
            Err(error) if !create => Err(error),
            Err(_) => {
                state.operation()?;
                state.files.push(FileState::default());
                let file = state.files.len() - 1;
                state.change_name(NameChange::Create(name.to_owned(), file));
                Ok(file)
            }
        })?;
        Ok(Arc::new(FaultFile { disk: self.clone(), file }))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.with(|state| Ok(state.names.contains_key(name)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.with(|state| Ok(state.names.keys().cloned().collect()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.with(|state| {
            state.operation()?;
            state.find(name)?;
            state.change_name(NameChange::Remove(name.to_owned()));
            Ok(())
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.with(|state| {
            state.operation()?;
            state.find(from)?;
            state.change_name(NameChange::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        })
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.with(|state| {
            state.operation()?;
            state.pending_names.clear();
            state.durable_names = state.names.clone();
            Ok(())
        })
    }
}

struct FaultFile {
    disk: FaultDisk,
    file: usize,
}

impl DiskFile for FaultFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let off = position(offset)?;
        self.disk.with(|state| {
            state.counts.reads += 1;
            let bytes = state.files[self.file]
                .now
                .get(off..off.saturating_add(buffer.len()))
                .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
            buffer.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let off = position(offset)?;
        self.disk.with(|state| {
            state.counts.writes += 1;
            state.counts.bytes_written += bytes.len() as u64;
            state.operation()?;
            state.check_growth(self.file, off + bytes.len())?;
            let file = &mut state.files[self.file];
            FileState::apply(&mut file.now, off, bytes);
            file.pending.push(Pending::Write { off, bytes: bytes.to_vec() });
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.with(|state| {
            state.counts.syncs += 1;
            state.operation()?;
            let file = self.file;
            let lies = state.lying_sync.as_deref().is_some_and(|part| {
                state.names.iter().any(|(name, &named)| named == file && name.contains(part))
            });
            if !lies {
                state.files[file].sync();
            }
            Ok(())
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.with(|state| Ok(state.files[self.file].now.len() as u64))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = position(len)?;
        self.disk.with(|state| {
            state.operation()?;
            state.check_growth(self.file, len)?;
            state.files[self.file].set_len(len);
            Ok(())
        })
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let len = position(len)?;
        self.disk.with(|state| {
            state.operation()?;
            state.check_growth(self.file, len)?;
            if state.files[self.file].now.len() < len {
                state.files[self.file].set_len(len);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
