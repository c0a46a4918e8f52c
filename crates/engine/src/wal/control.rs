//! The control file `redo.ctl`: where recovery begins, which life of the engine this is, and the shape of the
//! segments. Two slots, written in turn, so that a torn write leaves the other one.

use super::open::failed;
use crate::error::{Error, Result};
use crate::ids::Lsn;
use std::io;
use std::sync::Arc;
use turnstile_sys::checksum::crc32c;
use turnstile_sys::disk::{Disk, DiskFile};

/// Name of the control file.
pub const CONTROL_FILE: &str = "redo.ctl";

const MAGIC: [u8; 8] = *b"TSREDO01";
const SLOT_SPACING: u64 = 4096;
const SLOT_SIZE: usize = 72;
const OFF_CRC: usize = 8;
const OFF_BODY: usize = 12;

/// What a slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Grows by one with each write; the larger of the two good slots counts.
    pub sequence: u64,
    /// Recovery begins here: a group boundary.
    pub checkpoint: Lsn,
    /// The stream was synced at least up to here, so an earlier end is damage.
    pub synced: Lsn,
    /// Least incarnation that a group from the checkpoint on may have.
    pub incarnation_min: u32,
    /// The newest incarnation that may have written anything.
    pub incarnation: u32,
    /// Bytes of one segment.
    pub segment_bytes: u64,
    /// Number of segments.
    pub segment_count: u32,
    /// Set while the segments are being made anew: there is nothing in them yet.
    pub rebuilding: bool,
}

/// The open control file and what it says.
pub(super) struct ControlFile {
    file: Arc<dyn DiskFile>,
    current: Control,
}

impl ControlFile {
    /// Makes the file, durable but for its name.
    pub(super) fn create(disk: &dyn Disk, control: Control) -> Result<Self> {
        let failed = |cause: io::Error| failed(&cause);
        let file = disk.open(CONTROL_FILE, true).map_err(failed)?;
        file.set_len(0).map_err(failed)?;
        file.allocate(2 * SLOT_SPACING)?;
        let mut this = ControlFile { file, current: Control { sequence: 0, ..control } };
        this.write(control).map_err(failed)?;
        Ok(this)
    }

    /// Reads the newer good slot.
    pub(super) fn open(disk: &dyn Disk) -> Result<Self> {
        let damaged = |what: &str| Error::Corrupt { file: CONTROL_FILE.into(), offset: 0, what: what.into() };
        if !disk.exists(CONTROL_FILE).map_err(|e| damaged(&e.to_string()))? {
            return Err(damaged("the file is missing"));
        }
        let file = disk.open(CONTROL_FILE, false).map_err(|e| damaged(&e.to_string()))?;
        let mut newest: Option<Control> = None;
        for nth in 0..2 {
            let mut bytes = [0; SLOT_SIZE];
            // A slot that cannot be read is no better than a torn one.
            let Ok(()) = file.read_at(&mut bytes, nth * SLOT_SPACING) else { continue };
            if let Some(slot) = decode(&bytes)
                && newest.is_none_or(|other| other.sequence < slot.sequence)
            {
                newest = Some(slot);
            }
        }
        let current = newest.ok_or_else(|| damaged("neither slot is valid"))?;
        Ok(ControlFile { file, current })
    }

    pub(super) fn current(&self) -> Control {
        self.current
    }

    /// Writes the slot that counts once more, so that it is on disk before the other one is written over: it
    /// may have been read from the operating system's memory after its own sync failed.
    pub(super) fn write_again(&mut self) -> io::Result<()> {
        let place = (self.current.sequence % 2) * SLOT_SPACING;
        self.file.write_at(&encode(&self.current), place)?;
        self.file.sync()
    }

    /// Writes the other slot and syncs it. The sequence is set here.
    pub(super) fn write(&mut self, control: Control) -> io::Result<()> {
        let control = Control { sequence: self.current.sequence + 1, ..control };
        self.file.write_at(&encode(&control), (control.sequence % 2) * SLOT_SPACING)?;
        self.file.sync()?;
        self.current = control;
        Ok(())
    }
}

fn encode(control: &Control) -> [u8; SLOT_SIZE] {
    let mut body = Vec::with_capacity(SLOT_SIZE - OFF_BODY);
    body.extend_from_slice(&control.sequence.to_le_bytes());
    body.extend_from_slice(&control.checkpoint.0.to_le_bytes());
    body.extend_from_slice(&control.synced.0.to_le_bytes());
    body.extend_from_slice(&control.segment_bytes.to_le_bytes());
    body.extend_from_slice(&control.segment_count.to_le_bytes());
    body.extend_from_slice(&control.incarnation_min.to_le_bytes());
    body.extend_from_slice(&control.incarnation.to_le_bytes());
    body.extend_from_slice(&u32::from(control.rebuilding).to_le_bytes());
    let mut slot = [0; SLOT_SIZE];
    slot[..OFF_CRC].copy_from_slice(&MAGIC);
    slot[OFF_BODY..OFF_BODY + body.len()].copy_from_slice(&body);
    let crc = crc32c(&slot[OFF_BODY..]);
    slot[OFF_CRC..OFF_BODY].copy_from_slice(&crc.to_le_bytes());
    slot
}

fn decode(slot: &[u8; SLOT_SIZE]) -> Option<Control> {
    let u32_at = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().unwrap_or_default());
    let u64_at = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().unwrap_or_default());
    if slot[..OFF_CRC] != MAGIC || u32_at(OFF_CRC) != crc32c(&slot[OFF_BODY..]) {
        return None;
    }
    let control = Control {
        sequence: u64_at(12),
        checkpoint: Lsn(u64_at(20)),
        synced: Lsn(u64_at(28)),
        segment_bytes: u64_at(36),
        segment_count: u32_at(44),
        incarnation_min: u32_at(48),
        incarnation: u32_at(52),
        rebuilding: u32_at(56) != 0,
    };
    let shaped = control.segment_count > 0
        && control.segment_bytes > 0
        && control.segment_bytes.is_multiple_of(super::segments::BLOCK)
        && control.segment_bytes.checked_mul(u64::from(control.segment_count)).is_some();
    shaped.then_some(control)
}
