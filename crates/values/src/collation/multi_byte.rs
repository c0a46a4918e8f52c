//! The orders of the Chinese, Japanese and Korean character sets, read out of `multi_byte_orders.bin`
//! (layout: `tables/generate_multi_byte.py`). A character weighs bytes: those of its code, unless the order
//! has others for it.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::table::Found;
use crate::charset::{Charset, Reader};

/// The order of one set's characters.
pub(super) struct CodeOrder {
    singles: Vec<u16>,
    codes: FxHashMap<u16, u16>,
    /// Characters that weigh alike differ by their codes.
    ties: bool,
    /// Ranks of ideographs and characters that weigh as others: in gb18030_chinese_ci only.
    modern: Option<Modern>,
}

#[derive(Default)]
struct Modern {
    ranks: FxHashMap<u32, u16>,
    others: FxHashMap<u32, u32>,
}

/// The place of gb18030_chinese_ci in the file, which is the last.
const MODERN: usize = 6;

/// The place of big5_chinese_ci, which sorts by numbers of strokes, many characters to each, and holds none
/// of them equal.
const STROKES: usize = 1;

impl CodeOrder {
    /// The order at a place in the file.
    pub(super) fn get(nth: u8) -> &'static CodeOrder {
        static ALL: OnceLock<Vec<CodeOrder>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let mut reader = Reader::new(include_bytes!("multi_byte_orders.bin"));
            let read =
                |nth| CodeOrder { ties: nth == STROKES, ..CodeOrder::read(&mut reader, nth == MODERN) };
            (0..=MODERN).map(read).collect()
        });
        &all[usize::from(nth)]
    }

    fn read(reader: &mut Reader, modern: bool) -> CodeOrder {
        let singles = (0..if modern { 128 } else { 256 }).map(|_| reader.word()).collect();
        let mut codes = FxHashMap::default();
        if !modern {
            reader.runs(|code, weight| _ = codes.insert(code, weight));
            return CodeOrder { singles, codes, ties: false, modern: None };
        }
        let mut found = Modern::default();
        let point = |reader: &mut Reader| u32::from(reader.word()) << 16 | u32::from(reader.word());
        for _ in 0..reader.word() {
            let first = point(reader);
            for nth in 0..u32::from(reader.word()) {
                found.ranks.insert(first + nth, reader.word());
            }
        }
        for _ in 0..reader.word() {
            let one = point(reader);
            found.others.insert(one, point(reader));
        }
        CodeOrder { singles, codes, ties: false, modern: Some(found) }
    }

    /// Takes out of the weights of a text those that only tell characters apart.
    pub(super) fn drop_ties(&self, weights: &mut Vec<u8>, from: usize) {
        if !self.ties {
            return;
        }
        let own = weights.split_off(from);
        let mut rest = own.as_slice();
        while let [first, ..] = rest {
            let (shown, whole) = if *first < 0x80 { (1, 1) } else { (2, 4) };
            weights.extend_from_slice(&rest[..shown.min(rest.len())]);
            rest = &rest[whole.min(rest.len())..];
        }
    }

    /// The bytes a character weighs; `None` if the set lacks it.
    pub(super) fn weights(&self, set: Charset, character: char) -> Option<Found> {
        let point = u32::from(character);
        let Some(modern) = &self.modern else {
            let code = set.code_of(character)?;
            return Some(match (code.bytes(), code.pair()) {
                ([single], _) => Found::One(self.singles[usize::from(*single)]),
                (_, Some(pair)) if self.ties => {
                    let [high, low] = self.codes.get(&pair).unwrap_or(&pair).to_be_bytes();
                    bytes_found(&[high, low, (pair >> 8) as u8, pair as u8])
                }
                (_, Some(pair)) if let Some(weight) = self.codes.get(&pair) => {
                    bytes_found(&weight.to_be_bytes())
                }
                (bytes, _) => bytes_found(bytes),
            });
        };
        if let Some(rank) = modern.ranks.get(&point) {
            let [high, low] = rank.to_be_bytes();
            return Some(bytes_found(&[0xFF, 0xA0, high, low]));
        }
        let same = modern.others.get(&point).and_then(|other| char::from_u32(*other)).unwrap_or(character);
        let code = set.code_of(same)?;
        Some(match (code.bytes(), code.number()) {
            ([single], _) => Found::One(self.singles[usize::from(*single)]),
            (_, Some(number)) => bytes_found(&(0xFF00_0000 | number).to_be_bytes()),
            (bytes, None) => bytes_found(bytes),
        })
    }
}

/// Bytes as weights.
pub(super) fn bytes_found(bytes: &[u8]) -> Found {
    let mut weights = [0; 4];
    for (weight, byte) in weights.iter_mut().zip(bytes) {
        *weight = u16::from(*byte);
    }
    Found::Derived(weights, bytes.len() as u8)
}
