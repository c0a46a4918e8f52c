//! Sums, products, quotients and remainders, with MySQL's scales of results.

use std::cmp::Ordering;

use super::wide::Wide;
use super::{Decimal, GUARD_DIGITS, GUARDED_GROUP, MAX_SCALE, Overflow};

/// Powers of ten.
const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut nth = 1;
    while nth < powers.len() {
        powers[nth] = powers[nth - 1] * 10;
        nth += 1;
    }
    powers
};

impl Decimal {
    /// Sum; the scale is the larger one.
    pub fn add(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        if self.scale() == other.scale()
            && let (Some(left), Some(right)) = (self.to_scaled_i128(), other.to_scaled_i128())
            && let Some(sum) = left.checked_add(right)
        {
            return Ok(Decimal::from_scaled_i128(sum, self.scale()));
        }
        let scale = self.scale().max(other.scale());
        if let (Some(left), Some(right)) = (self.scaled_to(scale), other.scaled_to(scale))
            && let Some(sum) = left.checked_add(right)
        {
            return Ok(Decimal::from_scaled_i128(sum, scale));
        }
        let left = self.digits().mul_pow10(u32::from(scale - self.scale()));
        let right = other.digits().mul_pow10(u32::from(scale - other.scale()));
        if self.is_negative() == other.is_negative() {
            return Decimal::checked(self.is_negative(), scale, left.add(&right));
        }
        match left.cmp(&right) {
            Ordering::Less => Decimal::checked(other.is_negative(), scale, right.sub(&left)),
            _ => Decimal::checked(self.is_negative(), scale, left.sub(&right)),
        }
    }

    /// The number times 10^scale, if that is small; the scale is not below its own.
    pub(super) fn scaled_to(&self, scale: u8) -> Option<i128> {
        let more = POWERS.get(usize::from(scale - self.scale()))?;
        self.to_scaled_i128()?.checked_mul(*more)
    }

    /// Difference.
    pub fn sub(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        self.add(&other.negate())
    }

    /// Product; the scale is the sum, at most 30.
    pub fn mul(&self, other: &Decimal) -> Result<Decimal, Overflow> {
        if self.scale() + other.scale() <= MAX_SCALE
            && let (Some(left), Some(right)) = (self.to_scaled_i128(), other.to_scaled_i128())
            && let Some(product) = left.checked_mul(right)
        {
            return Ok(Decimal::from_scaled_i128(product, self.scale() + other.scale()));
        }
        let negative = self.is_negative() != other.is_negative();
        let mut digits = self.digits().mul(&other.digits());
        let mut scale = self.scale() + other.scale();
        if scale > MAX_SCALE {
            digits = digits.div_pow10_round(u32::from(scale - MAX_SCALE));
            scale = MAX_SCALE;
        }
        Decimal::checked(negative, scale, digits)
    }

    /// Quotient with so many `more` digits than the dividend, kept to whole groups of nine as MySQL's
    /// intermediate results are; whoever shows it rounds to the expression's scale. `None` for division by
    /// zero.
    pub fn div(&self, other: &Decimal, more: u8) -> Option<Result<Decimal, Overflow>> {
        if other.is_zero() {
            return None;
        }
        let groups = |scale: u8| scale.div_ceil(9) * 9;
        let left_scale = groups(self.scale());
        let right_scale = groups(other.scale());
        let padding = left_scale - self.scale() + right_scale - other.scale();
        let extra = more.saturating_sub(padding);
        Some(self.quotient(other, groups(left_scale + right_scale + extra).min(MAX_SCALE)))
    }

    /// The quotient cut to this scale; the divisor is not zero.
    pub(super) fn quotient(&self, other: &Decimal, scale: u8) -> Result<Decimal, Overflow> {
        // quotient * 10^scale = left / 10^ls * 10^rs / right * 10^scale
        let shift = i32::from(scale) + i32::from(other.scale()) - i32::from(self.scale());
        let numerator = if shift >= 0 { self.digits().mul_pow10(shift as u32) } else { self.digits() };
        let denominator = if shift < 0 { other.digits().mul_pow10((-shift) as u32) } else { other.digits() };
        let (quotient, _) = numerator.div_rem(&denominator);
        Decimal::checked(self.is_negative() != other.is_negative(), scale, quotient)
    }

    /// The average of `count` numbers of which this is the sum: the quotient as [`Self::div`] gives it, with
    /// some guard digits behind it if it is short, so that it can be read as the nearest double too.
    pub fn average(&self, count: u64, more: u8) -> Option<Result<Decimal, Overflow>> {
        let count = Decimal::from(count);
        Some(match self.div(&count, more)? {
            Ok(short) if short.scale() <= 9 => {
                self.quotient(&count, short.scale() + GUARD_DIGITS).or(Ok(short))
            }
            other => other,
        })
    }

    /// An average without its guard digits: whole groups of nine.
    pub fn without_guard(self) -> Decimal {
        match self.scale() {
            scale @ (GUARD_DIGITS | GUARDED_GROUP) => self.truncate_places(i64::from(scale - GUARD_DIGITS)),
            _ => self,
        }
    }

    /// Quotient cut to an integer (DIV); `None` for division by zero.
    pub fn div_integer(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale().max(other.scale());
        let left = self.digits().mul_pow10(u32::from(scale - self.scale()));
        let right = other.digits().mul_pow10(u32::from(scale - other.scale()));
        let (quotient, _) = left.div_rem(&right);
        Some(Decimal::from_wide(self.is_negative() != other.is_negative(), 0, quotient))
    }

    /// Remainder with the dividend's sign; `None` for division by zero.
    pub fn rem(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let scale = self.scale().max(other.scale());
        let left = self.digits().mul_pow10(u32::from(scale - self.scale()));
        let right = other.digits().mul_pow10(u32::from(scale - other.scale()));
        let (_, remainder) = left.div_rem(&right);
        Some(Decimal::from_wide(self.is_negative(), scale, remainder))
    }

    /// The number rounded to DECIMAL(precision, scale); `Err` if it does not fit.
    pub fn fit(&self, precision: u8, scale: u8) -> Result<Decimal, Overflow> {
        let rounded = self.round_to(scale);
        if rounded.digits() >= Wide::pow10(u32::from(precision)) { Err(Overflow) } else { Ok(rounded) }
    }

    /// The same number without trailing zeros after the point.
    pub(super) fn normalized(&self) -> Decimal {
        let mut digits = self.digits();
        let mut scale = self.scale();
        while scale > 0 {
            let (quotient, remainder) = digits.div_rem_small(10);
            if remainder != 0 {
                break;
            }
            digits = quotient;
            scale -= 1;
        }
        Decimal::from_wide(self.is_negative(), scale, digits)
    }
}
