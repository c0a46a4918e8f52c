//! What a text has besides its collation: how strongly it holds on to it, and which characters it can have.

use crate::charset::Charset;

/// How strongly an expression holds on to its collation, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derivation {
    /// COLLATE.
    Explicit,
    /// Columns, variables, CAST.
    Implicit,
    /// What the server says of itself: USER(), VERSION().
    SysConst,
    /// Literals, and what functions make of them.
    Coercible,
    /// Numbers and dates.
    Numeric,
    /// NULL.
    Ignorable,
    /// Texts whose parts did not agree on a collation.
    None,
}

impl Derivation {
    /// What COERCIBILITY() says.
    pub fn number(self) -> i64 {
        match self {
            Derivation::Explicit => 0,
            Derivation::Implicit => 2,
            Derivation::SysConst => 3,
            Derivation::Coercible => 4,
            Derivation::Numeric => 5,
            Derivation::Ignorable => 6,
            Derivation::None => 7,
        }
    }

    /// Its name in error messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Derivation::Explicit => "EXPLICIT",
            Derivation::Implicit => "IMPLICIT",
            Derivation::SysConst => "SYSCONST",
            Derivation::Coercible => "COERCIBLE",
            Derivation::Numeric => "NUMERIC",
            Derivation::Ignorable => "NULL",
            Derivation::None => "NONE",
        }
    }
}

/// Which characters an expression can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repertoire {
    /// Those of ASCII, which every character set has.
    Ascii,
    /// Any.
    Unicode,
}

impl Repertoire {
    /// Of a known text.
    pub fn of_text(text: &[u8]) -> Repertoire {
        if text.is_ascii() { Repertoire::Ascii } else { Repertoire::Unicode }
    }

    /// Of any text of a character set.
    pub fn of_set(set: Charset) -> Repertoire {
        if set == Charset::Ascii { Repertoire::Ascii } else { Repertoire::Unicode }
    }
}

/// What an expression has besides its collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// How strongly it holds on to its collation.
    pub derivation: Derivation,
    /// The characters it can have.
    pub repertoire: Repertoire,
}

impl Traits {
    /// Of a literal text.
    pub fn literal(text: &[u8]) -> Traits {
        Traits { derivation: Derivation::Coercible, repertoire: Repertoire::of_text(text) }
    }

    /// Of text that a function makes of ASCII characters.
    pub const ASCII: Traits = Traits { derivation: Derivation::Coercible, repertoire: Repertoire::Ascii };

    /// Of what the server says of itself.
    pub const SYSTEM: Traits = Traits { derivation: Derivation::SysConst, repertoire: Repertoire::Unicode };
}
