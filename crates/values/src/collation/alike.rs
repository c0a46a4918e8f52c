//! Which characters of ASCII count as the same under a collation, looked up. Most texts are of ASCII, and
//! LIKE asks for every character.

use std::sync::OnceLock;

use super::Collation;

/// Above the numbers of all collations.
const IDS: usize = 512;

static KNOWN: [OnceLock<Alike>; IDS] = [const { OnceLock::new() }; IDS];

/// For each character of ASCII the first one that counts as the same.
pub(super) struct Alike([u8; 128]);

impl Alike {
    fn of(collation: Collation) -> Alike {
        let first = |byte: u8| {
            let same = |other: &u8| collation.same_character(char::from(*other), char::from(byte));
            (0..byte).find(same).unwrap_or(byte)
        };
        Alike(std::array::from_fn(|byte| first(byte as u8)))
    }

    /// Whether two characters count as the same; None unless both are of ASCII.
    pub(super) fn are(&self, left: char, right: char) -> Option<bool> {
        let left = self.0.get(left as usize)?;
        Some(left == self.0.get(right as usize)?)
    }

    /// The first place of a text, from `at` on, where a character may count as the same as this one of ASCII:
    /// that of one that does, or of one that is not of ASCII. `at` itself if nothing is wanted.
    pub(super) fn first(&self, text: &[u8], at: usize, wanted: Option<u8>) -> usize {
        let Some(wanted) = wanted.and_then(|wanted| self.0.get(usize::from(wanted))) else { return at };
        let may = |byte: &u8| self.0.get(usize::from(*byte)).is_none_or(|found| found == wanted);
        at + text[at..].iter().position(may).unwrap_or(text.len() - at)
    }
}

impl Collation {
    /// Which characters of ASCII count as the same.
    pub(super) fn alike(self) -> &'static Alike {
        KNOWN[usize::from(self.0) % IDS].get_or_init(|| Alike::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A collation has a place of its own, and what is looked up is what is asked for elsewhere.
    #[test]
    fn what_is_looked_up_is_what_the_collation_says() {
        for collation in Collation::all() {
            assert!(usize::from(collation.id()) < IDS, "{}", collation.name());
        }
        for name in
            ["utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_tr_0900_ai_ci", "binary"]
        {
            let collation = Collation::by_name(name).expect(name);
            let characters = (0..128u8).map(char::from);
            for (left, right) in
                characters.clone().flat_map(|left| characters.clone().map(move |one| (left, one)))
            {
                let said = collation.same_character(left, right);
                assert_eq!(collation.alike().are(left, right), Some(said), "{name} {left:?} {right:?}");
            }
        }
        let alike = Collation::DEFAULT.alike();
        assert_eq!(alike.first(b"xyzAa", 1, Some(b'a')), 3);
        assert_eq!(alike.first("xyz\u{e1}a".as_bytes(), 0, Some(b'a')), 3);
        assert_eq!(alike.first(b"xyz", 1, Some(b'a')), 3);
        assert_eq!(alike.first(b"xyz", 1, None), 1);
        assert_eq!(alike.are('a', '\u{e1}'), None);
    }
}
