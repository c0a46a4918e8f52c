//! IN with many values: they are looked up, not walked.
//!
//! A [`Lookup`] is made for operands of certain classes when the first row comes, and kept while the
//! statement runs. A candidate that compares with these classes in a way that equal keys can tell (whole
//! numbers and decimals exactly, texts by their weights, bytes, moments, numbers and texts as doubles) is in
//! a set; every other one is walked as before, after the sets. What an operand of another class needs is not
//! known here, and then all are walked.

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::collation::Collation;
use crate::context::EvalContext;
use crate::datetime;
use crate::error::SqlResult;
use crate::memory::{Charge, dropping};
use crate::value::{Value, append_group_key, spelt_whole, to_double};

/// Fewer candidates are walked.
pub const LOOKED_UP_MIN: usize = 8;

/// A row of candidates, or a single one.
pub type Candidates<'v> = SmallVec<[&'v Value; 4]>;

/// How an operand compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Exact,
    Double,
    Text,
    Bytes,
    Moment,
    Other,
}

impl Class {
    fn of(value: &Value) -> Class {
        match value {
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Class::Exact,
            Value::Double(_) => Class::Double,
            Value::Str(_) => Class::Text,
            Value::Bytes(_) => Class::Bytes,
            Value::Date(_) | Value::DateTime(_) => Class::Moment,
            Value::Null | Value::Time(_) | Value::Enum(_) | Value::Json(_) => Class::Other,
        }
    }
}

/// How a candidate is found.
enum Place {
    /// By the key that was appended.
    Key,
    Double(f64),
    Walked,
}

/// Values that operands are looked up in.
#[derive(Debug)]
pub struct Lookup {
    classes: SmallVec<[Class; 4]>,
    keys: HashSet<Box<[u8]>>,
    /// Bits of doubles; of single values only.
    doubles: HashSet<u64>,
    /// Numbers of the candidates that are walked.
    rest: Vec<u32>,
    /// A single candidate is NULL.
    has_null: bool,
    charge: Charge,
}

impl Drop for Lookup {
    fn drop(&mut self) {
        dropping(self.keys.len() + self.doubles.len());
    }
}

/// What an entry takes besides its key, about.
const ENTRY_BYTES: usize = 48;

fn bits(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

fn place(
    class: Class,
    value: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
    key: &mut Vec<u8>,
) -> SqlResult<Place> {
    use Class as C;
    use Value as V;
    match (class, value) {
        // The weights of a long text take long.
        (C::Text, V::Str(_)) => {
            context.watched(value.stored_len(), || append_group_key(value, collation, key))?;
        }
        (C::Exact, V::Int(_) | V::UInt(_) | V::Decimal(_)) | (C::Moment, V::Date(_) | V::DateTime(_)) => {
            append_group_key(value, collation, key)
        }
        (C::Bytes, V::Str(text)) => append_group_key(&Value::bytes(text.as_bytes()), collation, key),
        (C::Bytes, V::Bytes(_)) => append_group_key(value, collation, key),
        (C::Moment, V::Str(text)) => match datetime::parse_date_time(text.as_bytes(), context.date_rules()) {
            Some(parsed) if parsed.offset_seconds.is_none() => {
                append_group_key(&Value::DateTime(parsed.moment), collation, key);
            }
            _ => return Ok(Place::Walked),
        },
        // A text that spells a whole number is that number, beside a column of whole numbers.
        (C::Exact, V::Str(_)) if let Some(number) = spelt_whole(value) => {
            append_group_key(&number, collation, key)
        }
        (C::Exact, V::Double(_) | V::Str(_) | V::Bytes(_))
        | (C::Double, V::Int(_) | V::UInt(_) | V::Decimal(_) | V::Double(_) | V::Str(_) | V::Bytes(_))
        | (C::Text | C::Bytes, V::Int(_) | V::UInt(_) | V::Decimal(_) | V::Double(_)) => {
            return Ok(Place::Double(to_double(value, context)?));
        }
        _ => return Ok(Place::Walked),
    }
    Ok(Place::Key)
}

impl Lookup {
    /// For operands like these. `candidate` gives the values of a candidate by its number; None: they are not
    /// the same for all rows.
    pub fn build<'v>(
        operands: &[&Value],
        collations: &[Collation],
        count: usize,
        candidate: impl Fn(usize) -> Option<Candidates<'v>>,
        context: &EvalContext<'_>,
    ) -> SqlResult<Lookup> {
        let classes = operands.iter().map(|value| Class::of(value)).collect();
        let (keys, doubles) = (HashSet::new(), HashSet::new());
        let charge = context.charge();
        let mut lookup = Lookup { classes, keys, doubles, rest: Vec::new(), has_null: false, charge };
        let mut key = Vec::new();
        'candidates: for nth in 0..count {
            context.step()?;
            lookup.charge.add(ENTRY_BYTES)?;
            let Some(values) = candidate(nth) else {
                lookup.rest.push(nth as u32);
                continue;
            };
            key.clear();
            for ((class, value), collation) in lookup.classes.iter().zip(&values).zip(collations) {
                if value.is_null() && values.len() == 1 {
                    lookup.has_null = true;
                    continue 'candidates;
                }
                match place(*class, value, *collation, context, &mut key)? {
                    Place::Key => {}
                    Place::Double(number) if values.len() == 1 => {
                        lookup.doubles.insert(bits(number));
                        continue 'candidates;
                    }
                    Place::Double(_) | Place::Walked => {
                        lookup.rest.push(nth as u32);
                        continue 'candidates;
                    }
                }
            }
            lookup.charge.add(key.len())?;
            lookup.keys.get_or_insert_with(key.as_slice(), |key| key.into());
        }
        Ok(lookup)
    }

    /// Whether operands of these classes can be looked up.
    pub fn fits(&self, operands: &[&Value]) -> bool {
        operands.iter().zip(&self.classes).all(|(value, class)| Class::of(value) == *class)
    }

    /// Three-valued: whether the operands are equal to a candidate. `walk` compares with one by its number.
    pub fn contains(
        &self,
        operands: &[&Value],
        collations: &[Collation],
        context: &EvalContext<'_>,
        mut walk: impl FnMut(usize) -> SqlResult<Option<bool>>,
    ) -> SqlResult<Option<bool>> {
        let mut key = Vec::new();
        let mut is_key = true;
        for ((class, value), collation) in self.classes.iter().zip(operands).zip(collations) {
            is_key &= matches!(place(*class, value, *collation, context, &mut key)?, Place::Key);
        }
        if is_key && self.keys.contains(key.as_slice()) {
            return Ok(Some(true));
        }
        if !self.doubles.is_empty()
            && let [value] = operands
            && self.doubles.contains(&bits(to_double(value, context)?))
        {
            return Ok(Some(true));
        }
        let mut unknown = self.has_null;
        for nth in &self.rest {
            context.step()?;
            match walk(*nth as usize)? {
                Some(true) => return Ok(Some(true)),
                None => unknown = true,
                Some(false) => {}
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }
}
