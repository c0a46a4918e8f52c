//! The first bytes of keys in a form that compares as one number, kept beside each row that is sorted: most
//! comparisons end there, without a look at the keys, which lie all over the memory.
//!
//! If the prefix of one row is less than that of another, its keys are less too. If they are equal, the keys
//! are compared; they need not be where the prefixes are exact, which they are of whole numbers, moments and
//! members of an ENUM or SET. Long keys (`LONG_KEY_BYTES`) are sorted without.

use turnstile_values::decimal::Decimal;
use turnstile_values::value::Value;

use super::super::order::Direction;

/// Keys that have a part in the prefix.
pub(super) const KEYS: usize = 2;

/// The parts of a row's prefix.
pub(super) type Prefix = [u64; KEYS];

/// What all values of a key but NULL are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// There was none yet.
    Unknown,
    Int,
    UInt,
    Double,
    /// Exact numbers with so many places, whose digits fit 64 bits.
    Digits(u8),
    /// Other exact numbers, which go by the nearest doubles.
    Decimal,
    Text,
    Bytes,
    Date,
    DateTime,
    Time,
    Members,
    /// Several of them, or such as have no prefix.
    Mixed,
}

impl Kind {
    fn of(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Unknown,
            // The ends of the numbers have no room beside NULL.
            Value::Int(i64::MIN) | Value::UInt(u64::MAX) => Kind::Mixed,
            Value::Int(_) => Kind::Int,
            Value::UInt(_) => Kind::UInt,
            Value::Double(_) => Kind::Double,
            Value::Decimal(number) => match digits(number) {
                Some(_) => Kind::Digits(number.scale()),
                None => Kind::Decimal,
            },
            Value::Str(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Date(_) => Kind::Date,
            Value::Time(_) => Kind::Time,
            Value::DateTime(_) => Kind::DateTime,
            Value::Enum(one) if one.bits == u64::MAX => Kind::Mixed,
            Value::Enum(_) => Kind::Members,
            Value::Json(_) => Kind::Mixed,
        }
    }

    /// Values with one prefix are equal.
    fn is_exact(self) -> bool {
        match self {
            Kind::Unknown | Kind::Int | Kind::UInt | Kind::Date | Kind::DateTime | Kind::Time => true,
            Kind::Members | Kind::Digits(_) => true,
            Kind::Double | Kind::Decimal | Kind::Text | Kind::Bytes | Kind::Mixed => false,
        }
    }
}

/// How the prefixes of some rows are made.
pub(super) struct Prefixes {
    kinds: [Kind; KEYS],
    /// A member of the type that all members of a key have.
    members: [Option<Value>; KEYS],
    directions: Vec<Direction>,
    /// Memory for weights.
    weights: Vec<u8>,
}

/// Bytes of a text whose weights are taken first.
const FRONT_BYTES: usize = 12;

impl Prefixes {
    /// For keys with these directions, before any is seen.
    pub(super) fn new(directions: &[Direction]) -> Prefixes {
        Prefixes {
            kinds: [Kind::Unknown; KEYS],
            members: [None, None],
            directions: directions.to_vec(),
            weights: Vec::new(),
        }
    }

    /// Takes note of a row's keys: all rows have to be seen before the first prefix is made.
    pub(super) fn see(&mut self, keys: &[Value]) {
        for (nth, value) in keys.iter().enumerate().take(KEYS) {
            let own = Kind::of(value);
            let kind = &mut self.kinds[nth];
            if own == Kind::Unknown || *kind == Kind::Mixed {
                continue;
            }
            *kind = match (*kind, own) {
                (Kind::Unknown, own) => own,
                (kind, own) if kind == own => own,
                (Kind::Digits(_) | Kind::Decimal, Kind::Digits(_) | Kind::Decimal) => Kind::Decimal,
                _ => Kind::Mixed,
            };
            if let Value::Enum(one) = value {
                match &self.members[nth] {
                    Some(Value::Enum(first)) if first.names == one.names => {}
                    Some(_) => *kind = Kind::Mixed,
                    None => self.members[nth] = Some(value.clone()),
                }
            }
        }
    }

    /// Rows whose prefixes are equal have equal keys.
    pub(super) fn are_exact(&self) -> bool {
        self.directions.len() <= KEYS && self.kinds.iter().all(|kind| kind.is_exact())
    }

    /// The prefix of a row's keys.
    pub(super) fn of(&mut self, keys: &[Value]) -> Prefix {
        let mut prefix = Prefix::default();
        for (nth, value) in keys.iter().enumerate().take(KEYS) {
            let part = self.part(nth, value);
            prefix[nth] = if self.directions[nth].0 { !part } else { part };
            if !self.kinds[nth].is_exact() {
                break;
            }
        }
        prefix
    }

    fn part(&mut self, nth: usize, value: &Value) -> u64 {
        const SIGN: u64 = 1 << 63;
        if self.kinds[nth] == Kind::Mixed {
            return 0;
        }
        match value {
            Value::Null => 0,
            Value::Int(number) => *number as u64 ^ SIGN,
            Value::UInt(number) => number + 1,
            Value::Double(number) => of_double(*number),
            Value::Decimal(number) => match (self.kinds[nth], digits(number)) {
                (Kind::Digits(_), Some(digits)) => digits as u64 ^ SIGN,
                _ => of_double(number.to_f64()),
            },
            Value::Str(text) => self.of_text(nth, text.as_bytes()),
            Value::Bytes(bytes) => first_bytes(bytes),
            Value::Date(date) => u64::from(date.packed()) + 1,
            Value::DateTime(moment) => moment.packed() + 1,
            Value::Time(time) => time.us as u64 ^ SIGN,
            Value::Enum(one) => one.bits + 1,
            Value::Json(_) => 0,
        }
    }

    fn of_text(&mut self, nth: usize, text: &[u8]) -> u64 {
        let collation = self.directions[nth].1;
        self.weights.clear();
        if text.len() > FRONT_BYTES {
            // Up to the end of a character.
            let mut end = FRONT_BYTES;
            while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
                end -= 1;
            }
            collation.append_front(&text[..end], &mut self.weights);
            if self.weights.len() < 8 {
                self.weights.clear();
            }
        }
        if self.weights.is_empty() {
            collation.append_weights(text, &mut self.weights);
        }
        first_bytes(&self.weights)
    }
}

/// The digits of an exact number without its point; None if they are too many.
fn digits(number: &Decimal) -> Option<i64> {
    let digits = i64::try_from(number.to_scaled_i128()?).ok()?;
    (digits != i64::MIN).then_some(digits)
}

fn first_bytes(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let count = bytes.len().min(8);
    first[..count].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(first)
}

/// Doubles in order; the two zeros are one.
fn of_double(number: f64) -> u64 {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::sync::Arc;

    use turnstile_values::collation::Collation;
    use turnstile_values::datetime::{Date, DateTime, Time};

    use super::super::super::order::compare_keys;
    use super::*;

    /// Numbers without end, the same each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, count: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % count
        }

        fn value(&mut self, kind: u64) -> Value {
            if self.below(8) == 0 {
                return Value::Null;
            }
            let small = self.below(6) as i64 - 3;
            let wide = (self.below(1 << 30) as i64) << self.below(33);
            match kind {
                0 => Value::Int(if self.below(2) == 0 { small } else { -wide }),
                1 => Value::UInt(if self.below(2) == 0 { self.below(3) } else { u64::MAX - self.below(3) }),
                2 => Value::Double(
                    [0.0, -0.0, small as f64, wide as f64 / 7.0, -1e300][self.below(5) as usize],
                ),
                3 => {
                    let scale = if self.below(9) == 0 { self.below(20) as u8 } else { 2 };
                    let number =
                        i128::from(wide >> 20) * [1, 1_000_003][self.below(2) as usize] + i128::from(small);
                    Value::Decimal(Decimal::from_scaled_i128(number, scale))
                }
                4 => {
                    let letters = ["a", "A", "b", "ä", "ß", " ", "\u{301}", "ﬀ", "z", "\0", "😀"];
                    let count = self.below(18);
                    Value::Str(
                        (0..count).map(|_| letters[self.below(11) as usize]).collect::<String>().into(),
                    )
                }
                5 => {
                    let count = self.below(12);
                    Value::Bytes((0..count).map(|_| self.below(3) as u8).collect::<Arc<[u8]>>())
                }
                6 => Value::Date(Date::from_parts(self.below(9999) as u32, 1, 1 + self.below(28) as u32)),
                7 => Value::Time(Time { us: small * (wide >> 8), fsp: 0 }),
                8 => Value::DateTime(DateTime::from_packed(self.below(1 << 40), 0)),
                // Several kinds in one key.
                _ => {
                    let kind = self.below(4);
                    self.value(kind)
                }
            }
        }
    }

    #[test]
    fn rows_in_the_order_of_their_prefixes_are_in_order() {
        let mut random = Random(7);
        let collations =
            ["utf8mb4_0900_ai_ci", "utf8mb4_bin", "utf8mb4_general_ci", "binary", "utf8mb4_unicode_ci"];
        let collations = collations.map(|name| Collation::by_name(name).expect("a collation"));
        for round in 0..2_000 {
            let kinds = [random.below(10), random.below(10), random.below(10)];
            let count = 1 + round % 3;
            let directions: Vec<Direction> =
                (0..count).map(|_| (random.below(2) == 0, collations[random.below(5) as usize])).collect();
            let rows: Vec<Vec<Value>> =
                (0..12).map(|_| (0..count).map(|nth| random.value(kinds[nth])).collect()).collect();
            let mut prefixes = Prefixes::new(&directions);
            rows.iter().for_each(|row| prefixes.see(row));
            let exact = prefixes.are_exact();
            let made: Vec<Prefix> = rows.iter().map(|row| prefixes.of(row)).collect();
            for (one, mine) in rows.iter().zip(&made) {
                for (other, theirs) in rows.iter().zip(&made) {
                    let order = compare_keys(one, other, &directions);
                    match mine.cmp(theirs) {
                        Ordering::Equal if !exact => {}
                        by_prefix => assert_eq!(by_prefix, order, "{one:?} {other:?} {directions:?}"),
                    }
                }
            }
        }
    }
}
