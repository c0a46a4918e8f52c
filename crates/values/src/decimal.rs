//! DECIMAL(65,30): exact decimal numbers with MySQL's scale rules.
//!
//! A number is `(-1)^negative * digits / 10^scale`. Up to 38 digits sit inline in 128 bits, wider ones in a
//! box; which form is used is canonical (inline whenever it fits), so a `Decimal` costs 24 bytes. Rounding is
//! half away from zero. Results beyond 65 digits are an overflow the caller turns into 1264 or 1690. No
//! number has more than 76 digits, whatever made it: so the product of two, and each with the other's scale,
//! stay within the 512 bits of `Wide`, and every loop over digits ends.

mod arithmetic;
mod text;
mod wide;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use wide::Wide;

pub use text::Parsed;

/// Most digits a DECIMAL has.
pub const MAX_PRECISION: u8 = 65;

/// Most digits after the point.
pub const MAX_SCALE: u8 = 30;

/// Digits a division adds to the dividend's scale, unless `div_precision_increment` says otherwise.
pub const DIVISION_SCALE: u8 = 4;

/// Digits that a number keeps between two steps of a computation: as many as 256 bits always hold.
const MAX_KEPT: u32 = 76;

/// Digits behind a short average, which is a whole number or has a group of nine: no average has as many
/// without them.
const GUARD_DIGITS: u8 = 12;

const GUARDED_GROUP: u8 = 9 + GUARD_DIGITS;

/// An exact decimal number.
#[derive(Clone)]
pub struct Decimal(Form);

#[derive(Clone)]
enum Form {
    Small { negative: bool, scale: u8, low: u64, high: u64 },
    Big(Box<BigForm>),
}

#[derive(Clone)]
struct BigForm {
    negative: bool,
    scale: u8,
    digits: Wide,
}

/// The result has more than 65 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

impl Decimal {
    /// Zero with scale 0.
    pub const ZERO: Decimal = Decimal(Form::Small { negative: false, scale: 0, low: 0, high: 0 });

    fn small(negative: bool, scale: u8, digits: u128) -> Decimal {
        let negative = negative && digits != 0;
        Decimal(Form::Small { negative, scale, low: digits as u64, high: (digits >> 64) as u64 })
    }

    fn from_wide(negative: bool, scale: u8, digits: Wide) -> Decimal {
        match digits.to_u128() {
            Some(small) => Decimal::small(negative, scale, small),
            None => {
                let (scale, digits) = Decimal::kept(scale, digits);
                Decimal(Form::Big(Box::new(BigForm { negative, scale, digits })))
            }
        }
    }

    /// A number of too many digits gives up those behind its point; where they are not enough it is the
    /// largest.
    fn kept(scale: u8, digits: Wide) -> (u8, Wide) {
        let excess = digits.decimal_digits().saturating_sub(MAX_KEPT);
        match u8::try_from(excess).ok().and_then(|excess| scale.checked_sub(excess)) {
            Some(left) => (left, digits.div_pow10_round(excess)),
            None => (0, Wide::pow10(MAX_KEPT).sub(&Wide::from_u128(1))),
        }
    }

    fn checked(negative: bool, scale: u8, digits: Wide) -> Result<Decimal, Overflow> {
        if digits >= Wide::pow10(u32::from(MAX_PRECISION)) {
            // Give up fraction digits before giving up.
            let count = digits.decimal_digits();
            let excess = count - u32::from(MAX_PRECISION);
            if excess > u32::from(scale) {
                return Err(Overflow);
            }
            let rounded = digits.div_pow10_round(excess);
            return Ok(Decimal::from_wide(negative, scale - excess as u8, rounded));
        }
        Ok(Decimal::from_wide(negative, scale, digits))
    }

    fn digits(&self) -> Wide {
        match &self.0 {
            Form::Small { low, high, .. } => Wide::from_u128(u128::from(*high) << 64 | u128::from(*low)),
            Form::Big(big) => big.digits,
        }
    }

    fn small_digits(&self) -> Option<u128> {
        match &self.0 {
            Form::Small { low, high, .. } => Some(u128::from(*high) << 64 | u128::from(*low)),
            Form::Big(_) => None,
        }
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        match &self.0 {
            Form::Small { scale, .. } => *scale,
            Form::Big(big) => big.scale,
        }
    }

    /// True below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small { negative, .. } => *negative,
            Form::Big(big) => big.negative,
        }
    }

    /// True for zero of any scale.
    pub fn is_zero(&self) -> bool {
        self.small_digits() == Some(0)
    }

    /// Number of significant digits, at least the scale.
    pub fn precision(&self) -> u8 {
        (self.digits().decimal_digits() as u8).max(self.scale()).max(1)
    }

    /// Digits before the point (0 for 0.5).
    pub fn integer_digits(&self) -> u8 {
        (self.digits().decimal_digits() as u8).saturating_sub(self.scale())
    }

    /// The largest number of the type DECIMAL(precision, scale).
    pub fn max_value(precision: u8, scale: u8) -> Decimal {
        let digits = Wide::pow10(u32::from(precision)).sub(&Wide::from_u128(1));
        Decimal::from_wide(false, scale, digits)
    }

    /// Nearest decimal with at most 30 fraction digits that prints like the double does; `None` if it has
    /// over 65 integer digits or is not finite.
    pub fn from_f64(number: f64) -> Option<Decimal> {
        if !number.is_finite() {
            return None;
        }
        let text = format!("{number:e}");
        let parsed = Decimal::parse_prefix(text.as_bytes());
        (!parsed.overflow).then_some(parsed.value)
    }

    /// Nearest double.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(0.0)
    }

    /// Rounded to an integer, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        let rounded = self.round_to(0);
        let digits = rounded.small_digits()?;
        if rounded.is_negative() {
            if digits <= 1 << 63 { Some((digits as u64).wrapping_neg() as i64) } else { None }
        } else {
            i64::try_from(digits).ok()
        }
    }

    /// Rounded to an unsigned integer, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        let rounded = self.round_to(0);
        if rounded.is_negative() {
            return None;
        }
        u64::try_from(rounded.small_digits()?).ok()
    }

    /// Digits as `i128` at the number's own scale, if they fit; what the key and row encodings store.
    pub fn to_scaled_i128(&self) -> Option<i128> {
        let digits = i128::try_from(self.small_digits()?).ok()?;
        Some(if self.is_negative() { -digits } else { digits })
    }

    /// The inverse of [`Self::to_scaled_i128`].
    pub fn from_scaled_i128(digits: i128, scale: u8) -> Decimal {
        Decimal::small(digits < 0, scale, digits.unsigned_abs())
    }

    /// Magnitude as 32 big endian bytes.
    pub fn magnitude_bytes(&self) -> [u8; 32] {
        self.digits().to_be_bytes()
    }

    /// Builds a number from a sign, a scale and big endian magnitude bytes (at most 32).
    pub fn from_magnitude_bytes(negative: bool, scale: u8, bytes: &[u8]) -> Decimal {
        if bytes.len() <= size_of::<u128>() {
            let digits = bytes.iter().fold(0, |digits: u128, byte| digits << 8 | u128::from(*byte));
            return Decimal::small(negative, scale, digits);
        }
        Decimal::from_wide(negative, scale, Wide::from_be_bytes(bytes))
    }

    /// The same number with the sign changed.
    pub fn negate(&self) -> Decimal {
        match self.small_digits() {
            Some(digits) => Decimal::small(!self.is_negative(), self.scale(), digits),
            None => Decimal::from_wide(!self.is_negative(), self.scale(), self.digits()),
        }
    }

    /// Absolute value.
    pub fn abs(&self) -> Decimal {
        Decimal::from_wide(false, self.scale(), self.digits())
    }

    /// A number with that sign that is larger than every DECIMAL: what a double beyond them all divides as.
    pub fn beyond(negative: bool) -> Decimal {
        let (scale, digits) = Decimal::kept(0, Wide::pow10(MAX_KEPT));
        Decimal::from_wide(negative, scale, digits)
    }

    /// The number that prints like the double does, as [`Self::from_f64`] gives it, and the largest with its
    /// sign for one beyond.
    pub fn nearest(number: f64) -> Decimal {
        Decimal::from_f64(number).unwrap_or_else(|| {
            let largest = Decimal::max_value(MAX_PRECISION, 0);
            if number < 0.0 { largest.negate() } else { largest }
        })
    }

    /// So many fraction digits (at most 30 more than it has), rounding half away from zero or padding with
    /// zeros; fewer where the number has so many digits before its point that they do not all fit.
    pub fn round_to(&self, scale: u8) -> Decimal {
        let own = self.scale();
        let scale = scale.min(own.saturating_add(MAX_SCALE));
        match scale.cmp(&own) {
            Ordering::Equal => self.clone(),
            Ordering::Less => {
                let digits = self.digits().div_pow10_round(u32::from(own - scale));
                Decimal::from_wide(self.is_negative(), scale, digits)
            }
            Ordering::Greater => {
                let digits = self.digits().mul_pow10(u32::from(scale - own));
                Decimal::from_wide(self.is_negative(), scale, digits)
            }
        }
    }

    /// ROUND(x, places) with negative places allowed: the value is rounded, the scale never below 0.
    pub fn round_places(&self, places: i64) -> Decimal {
        self.adjust_places(places, Wide::div_pow10_round)
    }

    /// TRUNCATE(x, places).
    pub fn truncate_places(&self, places: i64) -> Decimal {
        self.adjust_places(places, Wide::div_pow10)
    }

    fn adjust_places(&self, places: i64, shrink: fn(&Wide, u32) -> Wide) -> Decimal {
        let scale = i64::from(self.scale());
        let places = places.clamp(-80, i64::from(MAX_SCALE));
        if places >= scale {
            return self.clone();
        }
        let drop = (scale - places) as u32;
        let digits = shrink(&self.digits(), drop);
        if places >= 0 {
            Decimal::from_wide(self.is_negative(), places as u8, digits)
        } else {
            Decimal::from_wide(self.is_negative(), 0, digits.mul_pow10(-places as u32))
        }
    }

    /// Smallest integer not below.
    pub fn ceiling(&self) -> Decimal {
        let whole = self.truncate_places(0);
        if !self.is_negative() && whole != *self {
            whole.add(&Decimal::from(1i64)).unwrap_or(whole)
        } else {
            whole
        }
    }

    /// Largest integer not above.
    pub fn floor(&self) -> Decimal {
        let whole = self.truncate_places(0);
        if self.is_negative() && whole != *self {
            whole.sub(&Decimal::from(1i64)).unwrap_or(whole)
        } else {
            whole
        }
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Decimal::small(value < 0, 0, u128::from(value.unsigned_abs()))
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Decimal::small(false, 0, u128::from(value))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale() == other.scale()
            && let (Some(left), Some(right)) = (self.to_scaled_i128(), other.to_scaled_i128())
        {
            return left.cmp(&right);
        }
        match (self.is_negative(), other.is_negative()) {
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            _ => {}
        }
        let scale = self.scale().max(other.scale());
        if let (Some(left), Some(right)) = (self.scaled_to(scale), other.scaled_to(scale)) {
            return left.cmp(&right);
        }
        let left = self.digits().mul_pow10(u32::from(scale - self.scale()));
        let right = other.digits().mul_pow10(u32::from(scale - other.scale()));
        if self.is_negative() { right.cmp(&left) } else { left.cmp(&right) }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let normal = self.normalized();
        normal.is_negative().hash(state);
        normal.scale().hash(state);
        normal.magnitude_bytes().hash(state);
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests;
