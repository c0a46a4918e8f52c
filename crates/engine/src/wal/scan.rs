//! Reads the log back from a checkpoint, group by group, and tells a torn tail, which is where the log ends,
//! from damage to what was synced, which is an error with its place.
//!
//! At the first position without a valid group the log ends, unless the stream is known to have been synced
//! further: because the control file says so, because a mark read on the way said so, or because a valid mark
//! found *behind* the position says so. What cannot be told from a torn tail is damage to the last batch
//! before the crash.

use super::control::{Control, ControlFile};
use super::group::{GROUP_HEADER, Header, MARK_FLAG, MARK_SIZE, finish_crc};
use super::segments::{Geometry, Segments};
use crate::error::{Error, Result};
use crate::ids::Lsn;
use crate::limits::REDO_GROUP_MAX_BYTES;
use turnstile_sys::checksum::crc32c;
use turnstile_sys::disk::Disk;

const WINDOW_BYTES: usize = 1 << 20;
/// How far behind the end a mark is looked for: more than is ever appended during one sync.
const LOOK_AHEAD_BYTES: u64 = 16 << 20;

/// One group of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Where it begins.
    pub start: Lsn,
    /// Where the next one begins.
    pub end: Lsn,
    /// What was appended.
    pub body: &'a [u8],
}

/// Reads groups in order.
pub struct Reader {
    segments: Segments,
    position: u64,
    /// No byte from here on belongs to the log: it would be in the place of the checkpoint.
    limit: u64,
    incarnation_min: u32,
    /// The stream was synced up to here.
    known_synced: u64,
    window: Vec<u8>,
    window_start: u64,
    ended: bool,
}

enum Found {
    Group,
    Mark,
    Nothing,
}

impl Reader {
    /// A reader over the log of a directory, from its newest checkpoint.
    pub fn open(disk: &dyn Disk) -> Result<Self> {
        let control = ControlFile::open(disk)?.current();
        let geometry =
            Geometry { segment_bytes: control.segment_bytes, segment_count: control.segment_count };
        let segments = Segments::open(disk, geometry).map_err(|cause| super::damaged_segments(&cause))?;
        Ok(Self::new(segments, &control))
    }

    pub(super) fn new(segments: Segments, control: &Control) -> Self {
        let position = control.checkpoint.0;
        Reader {
            position,
            limit: position.saturating_add(segments.geometry().usable_bytes()),
            segments,
            incarnation_min: control.incarnation_min,
            known_synced: control.synced.0,
            window: Vec::new(),
            window_start: position,
            ended: false,
        }
    }

    /// Where the next group begins; once [`Reader::next_group`] gave `None`, the end of the log.
    pub fn position(&self) -> Lsn {
        Lsn(self.position)
    }

    /// The stream is known to have been synced up to here, by what was read so far.
    pub(super) fn known_synced(&self) -> Lsn {
        Lsn(self.known_synced)
    }

    /// Incarnation of the last group read, or the least allowed one.
    pub(super) fn incarnation(&self) -> u32 {
        self.incarnation_min
    }

    pub(super) fn into_segments(self) -> Segments {
        self.segments
    }

    /// Reads no further than this position.
    pub(super) fn stop_at(&mut self, end: Lsn) {
        self.limit = self.limit.min(end.0);
    }

    /// The next group, or `None` at the end of the log. [`Error::Corrupt`] if it ends where it cannot have
    /// ended.
    pub fn next_group(&mut self) -> Result<Option<Group<'_>>> {
        while !self.ended {
            let start = self.position;
            match self.check_here()? {
                Found::Nothing => {
                    self.judge_end()?;
                    self.ended = true;
                }
                Found::Mark => {
                    let synced = self.u64_at(start + GROUP_HEADER as u64);
                    self.known_synced = self.known_synced.max(synced);
                    self.position = start + MARK_SIZE as u64;
                }
                Found::Group => {
                    let at = self.index_of(start);
                    let len = self.header_at(start).body_len();
                    self.position = start + (GROUP_HEADER + len) as u64;
                    let body = &self.window[at + GROUP_HEADER..at + GROUP_HEADER + len];
                    return Ok(Some(Group { start: Lsn(start), end: Lsn(self.position), body }));
                }
            }
        }
        Ok(None)
    }

    /// What is at the position; takes over the incarnation of a valid group.
    fn check_here(&mut self) -> Result<Found> {
        let start = self.position;
        if !self.fill(start, GROUP_HEADER)? {
            return Ok(Found::Nothing);
        }
        let header = self.header_at(start);
        let len = header.body_len();
        let plausible = (1..=REDO_GROUP_MAX_BYTES).contains(&len)
            && (!header.is_mark() || header.length_field == MARK_FLAG | 8)
            && header.incarnation >= self.incarnation_min;
        if !plausible || !self.fill(start, GROUP_HEADER + len)? || !self.crc_matches(start, header) {
            return Ok(Found::Nothing);
        }
        self.incarnation_min = header.incarnation;
        Ok(if header.is_mark() { Found::Mark } else { Found::Group })
    }

    fn crc_matches(&self, start: u64, header: Header) -> bool {
        let at = self.index_of(start) + GROUP_HEADER;
        let body_crc = crc32c(&self.window[at..at + header.body_len()]);
        finish_crc(body_crc, Lsn(start), header.length_field, header.incarnation) == header.crc
    }

    /// There is no valid group at the position: fine, unless something proves that one was synced.
    fn judge_end(&mut self) -> Result<()> {
        let end = self.position;
        if end >= self.known_synced && !self.synced_mark_behind(end)? {
            return Ok(());
        }
        let (file, offset) = self.segments.describe(Lsn(end));
        let what = format!("no valid redo group at LSN {end}, though the log was synced further");
        Err(Error::Corrupt { file, offset, what })
    }

    /// Whether a mark behind `end` says that the stream was synced beyond `end`.
    fn synced_mark_behind(&mut self, end: u64) -> Result<bool> {
        let pattern = (MARK_FLAG | 8).to_le_bytes();
        let stop = self.limit.min(end.saturating_add(LOOK_AHEAD_BYTES));
        let mut at = end;
        while at < stop {
            let size = usize::try_from(stop - at).map_or(WINDOW_BYTES, |rest| rest.min(WINDOW_BYTES));
            if size < MARK_SIZE || !self.fill(at, size)? {
                break;
            }
            let base = self.index_of(at);
            let mut next = 0;
            while next <= size - MARK_SIZE {
                // Whole stretches without the pattern's first byte are skipped: most of what is here was
                // never written.
                let stretch = (size - next).min(256);
                if !self.window[base + next..base + next + stretch].contains(&pattern[0]) {
                    next += stretch;
                    continue;
                }
                let nth = next;
                next += 1;
                if self.window[base + nth..base + nth + 4] != pattern {
                    continue;
                }
                let start = at + nth as u64;
                let header = self.header_at(start);
                if header.incarnation >= self.incarnation_min
                    && self.crc_matches(start, header)
                    && self.u64_at(start + GROUP_HEADER as u64) > end
                {
                    return Ok(true);
                }
            }
            at += (size - MARK_SIZE + 1) as u64;
        }
        Ok(false)
    }

    /// Has the window hold `len` bytes from `start`. False if they reach behind the limit.
    fn fill(&mut self, start: u64, len: usize) -> Result<bool> {
        if start.saturating_add(len as u64) > self.limit {
            return Ok(false);
        }
        let held = self.window_start..self.window_start + self.window.len() as u64;
        if held.start <= start && start + len as u64 <= held.end {
            return Ok(true);
        }
        let wanted = WINDOW_BYTES.max(len) as u64;
        let size = wanted.min(self.limit - start);
        self.window.resize(size as usize, 0);
        self.window_start = start;
        self.segments.read(start, &mut self.window).map_err(|cause| {
            let (file, offset) = self.segments.describe(Lsn(start));
            Error::Corrupt { file, offset, what: format!("cannot be read: {cause}") }
        })?;
        Ok(true)
    }

    fn index_of(&self, lsn: u64) -> usize {
        (lsn - self.window_start) as usize
    }

    fn header_at(&self, start: u64) -> Header {
        let at = self.index_of(start);
        let mut bytes = [0; GROUP_HEADER];
        bytes.copy_from_slice(&self.window[at..at + GROUP_HEADER]);
        Header::decode(&bytes)
    }

    fn u64_at(&self, lsn: u64) -> u64 {
        let at = self.index_of(lsn);
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.window[at..at + 8]);
        u64::from_le_bytes(bytes)
    }
}
