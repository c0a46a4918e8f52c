//! A disk in memory that behaves as badly as a real one may, reproducibly from its seed: at a crash, unsynced
//! writes are lost, torn at sectors or reordered, unsynced names come and go; operations fail on request;
//! space runs out.
//!
//! ```text
//!   write ──> cache (what reads see) + pending list ──sync──> durable image
//!                                          │
//!   crash: durable image + a random part of the pending list ──> the next FaultDisk
//! ```
//! Of several unsynced writes to one sector a beginning survives, never a later one without an earlier: the
//! cache holds one copy of a sector, so what the device got at any moment contains all writes before that
//! moment. A **failed** sync is modelled as Linux has it: the cache keeps showing the data, some of it has
//! reached the device, and the rest is never written by any later sync. A process that **dies** leaves the
//! cache as it is: what it had written and not synced is still pending, and the next process reads it without
//! knowing. [`FaultKind::Killed`] lets it die in the middle of an operation. Names follow a journal, as on
//! ext4: [`Disk::sync_dir`] makes all changes durable; syncing a new file makes its creation (and what was
//! done before it) durable; at a crash a beginning of the rest survives.

mod image;

use crate::disk::{AllocateError, Disk, DiskFile, check_name};
use crate::rng::Rng;
use image::{CrashStyle, Image};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How an operation is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device gives an error.
    InputOutput,
    /// There is no space left. Affects what needs space; a sync or removal goes on.
    NoSpace,
    /// A sync fails for want of space, as on a file system that allocates late; all else goes on.
    NoSpaceAtSync,
    /// The process dies here, whatever was asked for: a write may have done a part of its work, nothing else
    /// is done any more. [`FaultDisk::kill`] is what the next process finds.
    Killed,
}

/// What an operation that changes something is, as far as faults care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    NeedsSpace,
    Sync,
    Other,
}

/// What was done to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes of the writes.
    pub bytes_written: u64,
    /// Syncs of files.
    pub syncs: u64,
    /// All operations that change something, failed ones included; [`FaultDisk::fail_at`] counts in these.
    pub operations: u64,
}

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct FaultDisk {
    state: Arc<Mutex<State>>,
}

type FileId = u64;

struct State {
    rng: Rng,
    /// The machine has crashed: this value is only its past.
    off: bool,
    /// The process has died in an operation.
    dead: bool,
    images: BTreeMap<FileId, Image>,
    names: BTreeMap<String, FileId>,
    durable_names: BTreeMap<String, FileId>,
    journal: Vec<NameChange>,
    next_id: FileId,
    capacity_bytes: u64,
    faults: Vec<Fault>,
    /// The process dies in so many operations of files with this in their names.
    death: Option<(String, u64)>,
    /// Parts of the names of files whose syncs are lies.
    unsynced_names: Vec<String>,
    counts: FaultCounts,
}

#[derive(Clone)]
enum NameChange {
    Create(String, FileId),
    Rename(String, String),
    Remove(String),
}

struct Fault {
    from: u64,
    lasting: bool,
    kind: FaultKind,
}

impl FaultDisk {
    /// An empty disk.
    pub fn new(seed: u64) -> Self {
        Self::with(State {
            rng: Rng::new(seed),
            off: false,
            dead: false,
            images: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            journal: Vec::new(),
            next_id: 1,
            capacity_bytes: u64::MAX,
            faults: Vec::new(),
            death: None,
            unsynced_names: Vec::new(),
            counts: FaultCounts::default(),
        })
    }

    fn with(state: State) -> Self {
        FaultDisk { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked elsewhere may still want to look at the disk.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts the power: returns the disk as the machine finds it when it is on again. Every later operation on
    /// this one or its files fails.
    pub fn crash(&self) -> FaultDisk {
        let mut state = self.state();
        let mut rng = state.rng.fork();
        state.off = true;
        let survived = rng.index(state.journal.len() + 1);
        let mut names = state.durable_names.clone();
        state.journal[..survived].iter().for_each(|change| change.apply(&mut names));
        let style = CrashStyle::draw(&mut rng);
        let images = names.values().map(|id| (*id, state.images[id].after_crash(style, &mut rng))).collect();
        Self::with(State {
            rng,
            off: false,
            dead: false,
            images,
            durable_names: names.clone(),
            names,
            journal: Vec::new(),
            next_id: state.next_id,
            capacity_bytes: state.capacity_bytes,
            faults: Vec::new(),
            death: None,
            unsynced_names: Vec::new(),
            counts: FaultCounts::default(),
        })
    }

    /// Kills the process only: the operating system keeps what was written, synced or not. Every later
    /// operation on this value fails; the returned one goes on.
    pub fn kill(&self) -> FaultDisk {
        let mut state = self.state();
        state.off = true;
        let rng = state.rng.fork();
        Self::with(State {
            rng,
            off: false,
            dead: false,
            images: state.images.clone(),
            names: state.names.clone(),
            durable_names: state.durable_names.clone(),
            journal: state.journal.clone(),
            next_id: state.next_id,
            capacity_bytes: state.capacity_bytes,
            faults: Vec::new(),
            death: None,
            unsynced_names: Vec::new(),
            counts: FaultCounts::default(),
        })
    }

    /// Has the `nth` changing operation from now on fail once (1 is the next).
    pub fn fail_at(&self, nth: u64, kind: FaultKind) {
        self.plant(nth, false, kind);
    }

    /// Has every changing operation fail, from the `nth` from now on.
    pub fn fail_from(&self, nth: u64, kind: FaultKind) {
        self.plant(nth, true, kind);
    }

    /// Has the process die in the `nth` changing operation from now on of files whose name contains `part` (1
    /// is the next).
    pub fn die_in(&self, part: &str, nth: u64) {
        self.state().death = Some((part.to_string(), nth.max(1)));
    }

    fn plant(&self, nth: u64, lasting: bool, kind: FaultKind) {
        let mut state = self.state();
        let from = state.counts.operations + nth;
        state.faults.push(Fault { from, lasting, kind });
    }

    /// Takes back every planted failure.
    pub fn heal(&self) {
        let mut state = self.state();
        state.faults.clear();
        state.death = None;
    }

    /// Limits the space of all files together, in bytes; holes count only once they are filled.
    pub fn set_capacity(&self, bytes: usize) {
        self.state().capacity_bytes = bytes as u64;
    }

    /// Bytes that all files occupy now.
    pub fn used(&self) -> usize {
        self.state().used_bytes() as usize
    }

    /// Plants a bug: from now on syncs of files whose name contains `part` do nothing and say they worked,
    /// until the next crash. A test that does not notice is weak.
    pub fn skip_sync_of(&self, part: &str) {
        self.state().unsynced_names.push(part.to_string());
    }

    /// Turns over one bit of what is durable and what is read: damage at rest.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u8) {
        let mut state = self.state();
        if let Some(image) = state.names.get(name).copied().and_then(|id| state.images.get_mut(&id)) {
            image.flip_bit(offset, bit);
        }
    }

    /// Whether the process died of [`FaultKind::Killed`].
    pub fn was_killed(&self) -> bool {
        self.state().dead
    }

    /// What was done so far.
    pub fn counts(&self) -> FaultCounts {
        self.state().counts
    }

    fn file(&self, id: FileId) -> Arc<dyn DiskFile> {
        Arc::new(FaultFile { disk: self.clone(), id })
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, FileId>) {
        match self {
            NameChange::Create(name, id) => {
                names.insert(name.clone(), *id);
            }
            NameChange::Rename(from, to) => {
                if let Some(id) = names.remove(from) {
                    names.insert(to.clone(), id);
                }
            }
            NameChange::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

fn io_error() -> io::Error {
    rustix::io::Errno::IO.into()
}

fn full_error() -> io::Error {
    rustix::io::Errno::NOSPC.into()
}

fn not_found(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{name}: no such file"))
}

impl State {
    fn alive(&self) -> io::Result<()> {
        if self.off { Err(io_error()) } else { Ok(()) }
    }

    /// Counts a change; the error it is to fail with, if any.
    fn change(&mut self, effect: Effect) -> io::Result<()> {
        self.alive()?;
        if self.dead {
            return Err(io_error());
        }
        self.counts.operations += 1;
        let now = self.counts.operations;
        let hit = self.faults.iter().find(|fault| fault.from == now || (fault.lasting && fault.from < now));
        match (hit.map(|fault| fault.kind), effect) {
            (Some(FaultKind::NoSpace), Effect::NeedsSpace)
            | (Some(FaultKind::NoSpaceAtSync), Effect::Sync) => Err(full_error()),
            (None | Some(FaultKind::NoSpace | FaultKind::NoSpaceAtSync), _) => Ok(()),
            (Some(FaultKind::InputOutput), _) => Err(io_error()),
            (Some(FaultKind::Killed), _) => {
                self.dead = true;
                Err(io_error())
            }
        }
    }

    /// As [`State::change`], of a file.
    fn change_of(&mut self, id: FileId, effect: Effect) -> io::Result<()> {
        if let Some((part, left)) = &mut self.death
            && self.names.iter().any(|(name, named)| *named == id && name.contains(&*part))
        {
            *left -= 1;
            if *left == 0 {
                self.alive()?;
                (self.dead, self.death) = (true, None);
                return Err(io_error());
            }
        }
        self.change(effect)
    }

    fn lies_about(&self, id: FileId) -> bool {
        let lies = |name: &String| self.unsynced_names.iter().any(|part| name.contains(part));
        self.names.iter().any(|(name, named)| *named == id && lies(name))
    }

    fn used_bytes(&self) -> u64 {
        self.names.values().map(|id| self.images[id].occupied_bytes()).sum()
    }

    fn image(&mut self, id: FileId) -> io::Result<&mut Image> {
        self.images.get_mut(&id).ok_or_else(io_error)
    }

    fn has_room(&mut self, id: FileId, end: u64) -> io::Result<()> {
        let occupied = self.image(id)?.occupied_bytes();
        let more = end.saturating_sub(occupied);
        if more > 0 && self.used_bytes().saturating_add(more) > self.capacity_bytes {
            return Err(full_error());
        }
        Ok(())
    }

    fn allocate(&mut self, id: FileId, len: u64) -> io::Result<()> {
        self.change_of(id, Effect::NeedsSpace)?;
        if self.image(id)?.len() < len {
            self.has_room(id, len)?;
            self.image(id)?.allocate(len);
        }
        Ok(())
    }

    fn rename_durably(&mut self, through: usize) {
        for change in self.journal.drain(..through) {
            change.apply(&mut self.durable_names);
        }
    }
}

impl Disk for FaultDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        check_name(name)?;
        let mut state = self.state();
        state.alive()?;
        if let Some(&id) = state.names.get(name) {
            return Ok(self.file(id));
        }
        if !create {
            return Err(not_found(name));
        }
        state.change(Effect::NeedsSpace)?;
        let id = state.next_id;
        state.next_id += 1;
        state.images.insert(id, Image::default());
        state.names.insert(name.to_string(), id);
        state.journal.push(NameChange::Create(name.to_string(), id));
        Ok(self.file(id))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        check_name(name)?;
        let state = self.state();
        state.alive()?;
        Ok(state.names.contains_key(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.state();
        state.alive()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.change(Effect::Other)?;
        state.names.remove(name).ok_or_else(|| not_found(name))?;
        state.journal.push(NameChange::Remove(name.to_string()));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_name(to)?;
        let mut state = self.state();
        state.change(Effect::Other)?;
        let id = state.names.remove(from).ok_or_else(|| not_found(from))?;
        state.names.insert(to.to_string(), id);
        state.journal.push(NameChange::Rename(from.to_string(), to.to_string()));
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.state();
        state.change(Effect::Sync)?;
        let all = state.journal.len();
        state.rename_durably(all);
        Ok(())
    }
}

struct FaultFile {
    disk: FaultDisk,
    id: FileId,
}

impl DiskFile for FaultFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.alive()?;
        state.counts.reads += 1;
        state.image(self.id)?.read(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.counts.writes += 1;
        state.counts.bytes_written += bytes.len() as u64;
        let end = offset + bytes.len() as u64;
        let was_dead = state.dead;
        let outcome =
            state.change_of(self.id, Effect::NeedsSpace).and_then(|()| state.has_room(self.id, end));
        if let Err(cause) = outcome {
            if !state.off && !was_dead {
                // A failed write may have done a part of its work.
                let done = state.rng.index(bytes.len() + 1);
                if state.has_room(self.id, offset + done as u64).is_ok() {
                    state.image(self.id)?.write(&bytes[..done], offset);
                }
            }
            return Err(cause);
        }
        state.image(self.id)?.write(bytes, offset);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.counts.syncs += 1;
        let outcome = state.change_of(self.id, Effect::Sync);
        if state.off || state.dead {
            return outcome;
        }
        if outcome.is_err() {
            let mut rng = state.rng.fork();
            state.image(self.id)?.fail_sync(&mut rng);
            return outcome;
        }
        if state.lies_about(self.id) {
            return Ok(());
        }
        state.image(self.id)?.sync();
        let created = |change: &NameChange| matches!(change, NameChange::Create(_, id) if *id == self.id);
        if let Some(at) = state.journal.iter().rposition(created) {
            state.rename_durably(at + 1);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk.state();
        state.alive()?;
        Ok(state.image(self.id)?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.change_of(self.id, Effect::Other)?;
        state.image(self.id)?.set_len(len);
        Ok(())
    }

    fn allocate(&self, len: u64) -> Result<(), AllocateError> {
        self.disk.state().allocate(self.id, len).map_err(AllocateError::of)
    }
}

#[cfg(test)]
mod tests;
