//! Folding: texts whose equal characters are equal bytes.

use rustc_hash::FxHashMap;

use super::{Collation, first_character};
use crate::error::SqlResult;
use crate::memory::Held;

/// Bytes folded between two looks at what they take.
const PIECE_BYTES: usize = 1 << 14;

/// One character for all that count as the same.
pub struct Fold {
    collation: Collation,
    /// By what a character weighs.
    kinds: FxHashMap<Box<[u8]>, char>,
    ascii: [Option<char>; 128],
    others: FxHashMap<char, char>,
    key: Vec<u8>,
}

impl Fold {
    /// Knows no character yet.
    pub fn new(collation: Collation) -> Fold {
        let (kinds, others) = (FxHashMap::default(), FxHashMap::default());
        Fold { collation, kinds, ascii: [None; 128], others, key: Vec::new() }
    }

    /// A text folded. It is charged while it grows: a character may be folded to a longer one.
    pub fn all_held(&mut self, text: &[u8], held: &mut Held<'_>) -> SqlResult<Vec<u8>> {
        held.grow_piece(text.len())?;
        let mut folded = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let piece = rest.len();
            held.reserve(&mut folded, 4 * PIECE_BYTES.min(piece))?;
            while piece - rest.len() < PIECE_BYTES
                && let Some((character, length)) = first_character(rest)
            {
                self.append(character, &mut folded);
                rest = &rest[length..];
            }
            held.pass(piece - rest.len())?;
        }
        Ok(folded)
    }

    /// A text folded.
    #[cfg(any(test, feature = "testing"))]
    pub fn all(&mut self, text: &[u8]) -> Vec<u8> {
        let mut folded = Vec::new();
        let mut rest = text;
        while let Some((character, length)) = first_character(rest) {
            self.append(character, &mut folded);
            rest = &rest[length..];
        }
        folded
    }

    /// Appends a character folded.
    pub fn append(&mut self, character: char, out: &mut Vec<u8>) {
        out.extend_from_slice(self.one(character).encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn one(&mut self, character: char) -> char {
        let place = self.ascii.get(character as usize).copied();
        let known = place.unwrap_or_else(|| self.others.get(&character).copied());
        if let Some(known) = known {
            return known;
        }
        if self.collation.takes_as_it_is(character) {
            self.others.insert(character, character);
            return character;
        }
        // A digit behind it: a space at the end of a text weighs nothing, and digits join with nothing.
        self.key.clear();
        let mut text = [0; 5];
        let length = character.encode_utf8(&mut text).len();
        text[length] = b'1';
        self.collation.append_weights(&text[..=length], &mut self.key);
        let found = *self.kinds.entry(self.key.as_slice().into()).or_insert(character);
        match self.ascii.get_mut(character as usize) {
            Some(place) => *place = Some(found),
            None => {
                self.others.insert(character, found);
            }
        }
        found
    }
}
