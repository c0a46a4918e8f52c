//! How texts of different collations and character sets meet, as MySQL decides it when a statement is
//! planned.
//!
//! Every expression that is or can become text has, besides its collation, two traits ([`Traits`]): its
//! *derivation*, which says how strongly it holds on to its collation, and its *repertoire*, the characters
//! it can have. Where several texts meet they agree on one collation ([`Meeting`]) and the others are
//! converted to its character set:
//!
//! 1. The stronger derivation wins: COLLATE (`EXPLICIT`), then columns and variables (`IMPLICIT`), USER() and
//!    its like (`SYSCONST`), literals (`COERCIBLE`), numbers and dates (`NUMERIC`), NULL (shown as `NULL`),
//!    at last texts whose own parts did not agree (`NONE`).
//! 2. Of the same character set and derivation, a collation by code wins. Two others agree on the set's
//!    `_bin`, derived `NONE`, which a comparison refuses; two different COLLATE are always refused.
//! 3. Of different character sets the stronger wins if it can hold the other: `utf8mb4` holds all, the other
//!    Unicode sets all that is not Unicode, every set holds pure ASCII, and what is no stronger than
//!    `SYSCONST` is converted whatever its set, and refused later if a character does not fit. Bytes win over
//!    what is no stronger. Otherwise the texts do not mix (1267, 1270, 1271), unless one of them is
//!    `EXPLICIT`.
//!
//! Nothing of this is left when a statement runs: plans hold the collation agreed on, and a conversion only
//! where bytes become text, text becomes bytes, or a character may not fit.

#[cfg(test)]
mod tests;

use crate::charset::Charset;
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
pub use crate::traits::{Derivation, Repertoire, Traits};
use crate::types::ExprType;

/// A text as it meets others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Party {
    /// Its collation; of numbers the one they get as text.
    pub collation: Collation,
    /// The rest.
    pub traits: Traits,
}

impl Party {
    /// An expression of this type.
    pub fn of(kind: &ExprType) -> Party {
        let collation = match kind.traits.derivation {
            // Numbers are text of a set that has ASCII, whichever.
            Derivation::Numeric => Collation::by_id(8).unwrap_or(Collation::DEFAULT),
            _ => kind.column.collation().unwrap_or(Collation::Binary),
        };
        Party { collation, traits: kind.traits }
    }

    /// How strongly it holds on to its collation.
    pub fn derivation(self) -> Derivation {
        self.traits.derivation
    }

    /// Whether its character set can hold the other's texts, and the other yields.
    fn holds(self, other: Party) -> bool {
        let (own, others) = (self.collation.set(), other.collation.set());
        let (stronger, as_strong) =
            (self.derivation() < other.derivation(), self.derivation() == other.derivation());
        let wider = own == Charset::Utf8mb4 || !is_unicode(others);
        if is_unicode(own) && (stronger || as_strong && wider) {
            return true;
        }
        stronger && other.traits.repertoire == Repertoire::Ascii
            || as_strong && others == Charset::Ascii && own != Charset::Ascii
    }

    /// What two agree on; `None` if they do not mix.
    fn and(self, other: Party) -> Option<Party> {
        let (own, others) = (self.derivation(), other.derivation());
        let (one, two) = (self.collation, other.collation);
        if own == Derivation::Explicit && others == own && one != two {
            return None;
        }
        let chosen = if one.set() == two.set() {
            match own.cmp(&others) {
                std::cmp::Ordering::Less => self,
                std::cmp::Ordering::Greater => other,
                std::cmp::Ordering::Equal if one == two => self,
                std::cmp::Ordering::Equal if one.is_binary_order() => self,
                std::cmp::Ordering::Equal if two.is_binary_order() => other,
                std::cmp::Ordering::Equal => Party {
                    collation: one.binary_of_charset(),
                    traits: Traits { derivation: Derivation::None, ..self.traits },
                },
            }
        } else if one == Collation::Binary {
            if own <= others { self } else { other }
        } else if two == Collation::Binary {
            if others <= own { other } else { self }
        } else if self.holds(other) {
            self
        } else if other.holds(self) {
            other
        } else if own < others && others >= Derivation::SysConst {
            self
        } else if others < own && own >= Derivation::SysConst {
            other
        } else {
            return None;
        };
        let repertoire = self.traits.repertoire.max(other.traits.repertoire);
        Some(Party { traits: Traits { repertoire, ..chosen.traits }, ..chosen })
    }
}

fn is_unicode(set: Charset) -> bool {
    use Charset as C;
    matches!(set, C::Utf8mb4 | C::Utf8mb3 | C::Ucs2 | C::Utf16 | C::Utf16le | C::Utf32)
}

/// Why texts meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// They become one text, or the one that is chosen; numbers alone are text of the connection.
    Result,
    /// They are compared with one another: they must agree.
    Comparison,
    /// Two are compared by an operator, which looks at them once more.
    Operator,
}

/// Texts that meet in an operation.
pub struct Meeting<'m> {
    /// The operation, as error messages call it.
    pub operation: &'m str,
    /// Why.
    pub purpose: Purpose,
    /// The collation of the connection.
    pub connection: Collation,
}

impl Meeting<'_> {
    /// The collation that all agree on. Errors 1267, 1270 and 1271.
    pub fn agree(&self, parties: &[Party]) -> SqlResult<Party> {
        let Some((first, rest)) = parties.split_first() else {
            return Ok(Party { collation: self.connection, traits: Traits::ASCII });
        };
        let disagrees = |one: &Party| one.derivation() == Derivation::None;
        let mut failed = false;
        let mut agreed = *first;
        for party in rest {
            let disagree = |both: &Party| {
                let new = ![agreed, *party].iter().any(disagrees);
                new && disagrees(both) && self.purpose != Purpose::Result
            };
            agreed = match agreed.and(*party).filter(|both| !disagree(both)) {
                Some(agreed) => agreed,
                None => {
                    let explicit = [agreed, *party].map(|one| one.derivation() == Derivation::Explicit);
                    failed = true;
                    match explicit {
                        [true, true] => return Err(self.refused(parties)),
                        [true, false] => agreed,
                        [false, true] => *party,
                        _ => Party {
                            collation: Collation::Binary,
                            traits: Traits { derivation: Derivation::None, repertoire: Repertoire::Unicode },
                        },
                    }
                }
            };
        }
        let unsettled = failed && agreed.derivation() != Derivation::Explicit;
        let none = self.purpose != Purpose::Result && disagrees(&agreed) && !parties.iter().all(disagrees);
        let alike = disagrees(first) && rest.iter().all(|one| one.collation == first.collation);
        let twice = self.purpose == Purpose::Operator && (failed || alike);
        if unsettled || none || twice {
            return Err(self.refused(parties));
        }
        if self.purpose == Purpose::Result && agreed.derivation() == Derivation::Numeric {
            return Ok(Party { collation: self.connection, traits: Traits::ASCII });
        }
        Ok(agreed)
    }

    /// That these texts do not mix.
    pub fn refused(&self, parties: &[Party]) -> SqlError {
        let shown = |party: &Party| format!("({},{})", party.collation.name(), party.derivation().name());
        match parties {
            [one, two] => {
                SqlError::mix_of_two_collations(format!("{} and {}", shown(one), shown(two)), self.operation)
            }
            [one, two, three] => {
                let all = format!("{}, {}, {}", shown(one), shown(two), shown(three));
                SqlError::mix_of_three_collations(all, self.operation)
            }
            _ => SqlError::mix_of_collations(self.operation),
        }
    }
}
