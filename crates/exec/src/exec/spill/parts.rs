//! Rows spread over runs of one file by the hashes of their keys: rows with equal keys are in the same part,
//! whatever file they are in.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::FxHasher;

use turnstile_values::error::SqlResult;
use turnstile_values::memory::row_bytes;
use turnstile_values::value::Value;

use super::super::Exec;
use super::{Run, RunWriter, SpillFile};

/// A part's block: there are many parts, each with a block in memory.
const BLOCK_BYTES: usize = 16 << 10;
/// Bits of a hash that choose a part; parts of parts go by other bits.
const PART_BITS: u32 = 7;
/// Parts of parts of parts, and no more: their keys are equal, or chosen to have equal hashes.
pub(in super::super) const LEVELS: u32 = 6;
const FEWEST_BITS: u32 = 2;

/// How rows are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Spread {
    bits: u32,
    level: u32,
}

impl Spread {
    /// Over as many parts as have their blocks in half of so many bytes.
    pub(in super::super) fn within(bytes: u64) -> Spread {
        let blocks = bytes / 2 / BLOCK_BYTES as u64;
        Spread { bits: blocks.checked_ilog2().unwrap_or(0).clamp(FEWEST_BITS, PART_BITS), level: 0 }
    }

    /// All in one part.
    pub(in super::super) fn none() -> Spread {
        Spread { bits: 0, level: LEVELS }
    }

    /// How the rows of a part are spread; None: they are not.
    pub(in super::super) fn deeper(self) -> Option<Spread> {
        (self.level + 1 < LEVELS).then_some(Spread { level: self.level + 1, ..self })
    }

    fn parts(self) -> usize {
        1 << self.bits
    }

    fn part_of(self, key: &[u8]) -> usize {
        (hash_of(key) >> (self.level * PART_BITS)) as usize & (self.parts() - 1)
    }
}

/// The hash of a key's bytes, the same in every run of the server.
pub(in super::super) fn hash_of(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    // That hasher's low bits know little of long keys.
    let mut hash = hasher.finish();
    hash = (hash ^ hash >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^ hash >> 33
}

/// Rows that are being spread.
#[derive(Debug)]
pub(in super::super) struct Parts {
    spread: Spread,
    parts: Vec<Filling>,
}

#[derive(Debug)]
struct Filling {
    writer: RunWriter,
    rows: u64,
    bytes: u64,
}

/// Rows of one part.
#[derive(Debug, Clone)]
pub(in super::super) struct Part {
    /// The rows.
    pub run: Arc<Run>,
    /// How many.
    pub rows: u64,
    /// What they take in memory.
    pub bytes: u64,
}

impl Parts {
    /// Empty ones, in a new file. Error 1 where none can be made.
    pub(in super::super) fn new(exec: &Exec<'_>, spread: Spread) -> SqlResult<Parts> {
        let file = SpillFile::new(exec.db.temporary())?;
        let charge = exec.eval.charge();
        let filling = || Filling { writer: RunWriter::new(&file, &charge, BLOCK_BYTES), rows: 0, bytes: 0 };
        Ok(Parts { spread, parts: (0..spread.parts()).map(|_| filling()).collect() })
    }

    /// How they are spread.
    pub(in super::super) fn spread(&self) -> Spread {
        self.spread
    }

    /// Adds a row where others may be let in. Errors 1 to 3.
    pub(in super::super) async fn add(
        &mut self,
        exec: &mut Exec<'_>,
        key: &[u8],
        row: &[Value],
    ) -> SqlResult<()> {
        let part = &mut self.parts[self.spread.part_of(key)];
        part.rows += 1;
        part.bytes += row_bytes(row) as u64;
        part.writer.add(exec, &[row]).await
    }

    /// All of them, written.
    pub(in super::super) fn finish(self) -> SqlResult<Vec<Part>> {
        let done = |part: Filling| {
            Ok(Part { run: Arc::new(part.writer.finish()?), rows: part.rows, bytes: part.bytes })
        };
        self.parts.into_iter().map(done).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_part_are_about_equal() {
        let spread = Spread::within(4 << 20);
        assert_eq!(spread.parts(), 128);
        assert_eq!((Spread::within(0).parts(), Spread::none().parts()), (4, 1));
        let of_one: Vec<[u8; 17]> = (0..2_000_000u64)
            .map(|number| {
                let mut key = [0; 17];
                key[1..9].copy_from_slice(&number.to_le_bytes());
                key
            })
            .filter(|key| spread.part_of(key) == 5)
            .collect();
        assert!((14_000..18_000).contains(&of_one.len()), "{}", of_one.len());
        let mut deeper = spread;
        let mut levels = 1;
        while let Some(next) = deeper.deeper() {
            deeper = next;
            levels += 1;
            let mut counts = vec![0; deeper.parts()];
            of_one.iter().for_each(|key| counts[deeper.part_of(key)] += 1);
            let most = counts.iter().max().copied().unwrap_or(0);
            assert!(most < 2 * of_one.len() / deeper.parts(), "level {levels}: {most}");
        }
        assert_eq!(levels, LEVELS);
    }
}
