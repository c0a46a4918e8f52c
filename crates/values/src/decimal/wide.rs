//! Unsigned 512-bit integers, just enough for decimal arithmetic: products and scaled dividends of 65-digit
//! numbers stay below 2^512. Little endian limbs. Division is Knuth's algorithm D on 32-bit digits
//! (The Art of Computer Programming, volume 2, 4.3.1).

use std::cmp::Ordering;

const LIMBS: usize = 8;

/// The largest power of ten that fits.
const MAX_EXPONENT: u32 = 154;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wide([u64; LIMBS]);

impl Wide {
    pub(super) const ZERO: Wide = Wide([0; LIMBS]);

    pub(super) fn from_u128(value: u128) -> Wide {
        let mut limbs = [0; LIMBS];
        limbs[0] = value as u64;
        limbs[1] = (value >> 64) as u64;
        Wide(limbs)
    }

    pub(super) fn to_u128(self) -> Option<u128> {
        if self.0[2..].iter().any(|limb| *limb != 0) {
            return None;
        }
        Some(u128::from(self.0[1]) << 64 | u128::from(self.0[0]))
    }

    /// Low 256 bits, big endian.
    pub(super) fn to_be_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (position, limb) in self.0[..4].iter().enumerate() {
            let end = 32 - position * 8;
            bytes[end - 8..end].copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    pub(super) fn from_be_bytes(bytes: &[u8]) -> Wide {
        let mut limbs = [0; LIMBS];
        for (position, byte) in bytes.iter().rev().enumerate().take(LIMBS * 8) {
            limbs[position / 8] |= u64::from(*byte) << (position % 8 * 8);
        }
        Wide(limbs)
    }

    fn is_zero(&self) -> bool {
        self.0 == [0; LIMBS]
    }

    /// 10^exponent; the largest that fits for absurd exponents.
    pub(super) fn pow10(exponent: u32) -> Wide {
        let mut result = Wide::from_u128(1);
        let mut left = exponent.min(MAX_EXPONENT);
        while left > 0 {
            let step = left.min(19);
            result = result.mul_small(10u64.pow(step));
            left -= step;
        }
        result
    }

    pub(super) fn add(&self, other: &Wide) -> Wide {
        let mut limbs = [0; LIMBS];
        let mut carry = 0u128;
        for (position, limb) in limbs.iter_mut().enumerate() {
            let sum = u128::from(self.0[position]) + u128::from(other.0[position]) + carry;
            *limb = sum as u64;
            carry = sum >> 64;
        }
        Wide(limbs)
    }

    /// `self - other`; `other` must not be larger.
    pub(super) fn sub(&self, other: &Wide) -> Wide {
        let mut limbs = [0; LIMBS];
        let mut borrow = false;
        for (position, limb) in limbs.iter_mut().enumerate() {
            let (first, under_first) = self.0[position].overflowing_sub(other.0[position]);
            let (second, under_second) = first.overflowing_sub(u64::from(borrow));
            *limb = second;
            borrow = under_first || under_second;
        }
        Wide(limbs)
    }

    pub(super) fn mul_small(&self, factor: u64) -> Wide {
        let mut limbs = [0; LIMBS];
        let mut carry = 0u128;
        for (position, limb) in limbs.iter_mut().enumerate() {
            let product = u128::from(self.0[position]) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        Wide(limbs)
    }

    pub(super) fn mul(&self, other: &Wide) -> Wide {
        let mut limbs = [0u64; LIMBS];
        for (i, left) in self.0.iter().enumerate() {
            if *left == 0 {
                continue;
            }
            let mut carry = 0u128;
            for j in 0..LIMBS - i {
                let sum = u128::from(*left) * u128::from(other.0[j]) + u128::from(limbs[i + j]) + carry;
                limbs[i + j] = sum as u64;
                carry = sum >> 64;
            }
        }
        Wide(limbs)
    }

    pub(super) fn mul_pow10(&self, exponent: u32) -> Wide {
        match exponent {
            0 => *self,
            1..=19 => self.mul_small(10u64.pow(exponent)),
            _ => self.mul(&Wide::pow10(exponent)),
        }
    }

    pub(super) fn div_rem_small(&self, divisor: u64) -> (Wide, u64) {
        let mut limbs = [0; LIMBS];
        let mut remainder = 0u128;
        for position in (0..LIMBS).rev() {
            let value = remainder << 64 | u128::from(self.0[position]);
            limbs[position] = (value / u128::from(divisor)) as u64;
            remainder = value % u128::from(divisor);
        }
        (Wide(limbs), remainder as u64)
    }

    pub(super) fn div_pow10(&self, exponent: u32) -> Wide {
        if exponent <= 19 {
            return self.div_rem_small(10u64.pow(exponent)).0;
        }
        self.div_rem(&Wide::pow10(exponent)).0
    }

    /// Division by 10^exponent, half up.
    pub(super) fn div_pow10_round(&self, exponent: u32) -> Wide {
        if exponent == 0 {
            return *self;
        }
        let half = Wide::pow10(exponent).div_rem_small(2).0;
        self.add(&half).div_pow10(exponent)
    }

    pub(super) fn decimal_digits(&self) -> u32 {
        if self.is_zero() {
            return 1;
        }
        let bits = LIMBS as u32 * 64 - self.leading_zeros();
        let mut digits = (bits - 1) * 1233 / 4096;
        while digits <= MAX_EXPONENT && *self >= Wide::pow10(digits) {
            digits += 1;
        }
        digits
    }

    fn leading_zeros(&self) -> u32 {
        let mut zeros = 0;
        for limb in self.0.iter().rev() {
            if *limb == 0 {
                zeros += 64;
            } else {
                return zeros + limb.leading_zeros();
            }
        }
        zeros
    }

    pub(super) fn to_decimal_text(self) -> String {
        let mut groups = Vec::new();
        let mut rest = self;
        while !rest.is_zero() {
            let (quotient, group) = rest.div_rem_small(10u64.pow(18));
            groups.push(group);
            rest = quotient;
        }
        let mut text = groups.pop().unwrap_or(0).to_string();
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:018}"));
        }
        text
    }

    fn to_digits(self) -> [u32; LIMBS * 2] {
        let mut digits = [0; LIMBS * 2];
        for (position, limb) in self.0.iter().enumerate() {
            digits[position * 2] = *limb as u32;
            digits[position * 2 + 1] = (*limb >> 32) as u32;
        }
        digits
    }

    fn from_digits(digits: &[u32]) -> Wide {
        let mut limbs = [0; LIMBS];
        for (position, digit) in digits.iter().enumerate() {
            limbs[position / 2] |= u64::from(*digit) << (position % 2 * 32);
        }
        Wide(limbs)
    }

    /// Quotient and remainder; the divisor must not be zero (zero gives zero).
    pub(super) fn div_rem(&self, divisor: &Wide) -> (Wide, Wide) {
        if *self < *divisor || divisor.is_zero() {
            return (Wide::ZERO, *self);
        }
        if let (Some(left), Some(right)) = (self.to_u128(), divisor.to_u128()) {
            return (Wide::from_u128(left / right), Wide::from_u128(left % right));
        }
        let divisor_digits = divisor.to_digits();
        let length = divisor_digits.iter().rposition(|digit| *digit != 0).map_or(1, |position| position + 1);
        if length <= 2 {
            let (quotient, remainder) = self.div_rem_small(divisor.0[0]);
            return (quotient, Wide::from_u128(u128::from(remainder)));
        }
        divide_long(&self.to_digits(), &divisor_digits[..length])
    }
}

/// Knuth's algorithm D; `divisor` has at least two digits and a non-zero top digit.
fn divide_long(dividend: &[u32; LIMBS * 2], divisor: &[u32]) -> (Wide, Wide) {
    const BASE: u64 = 1 << 32;
    let length = divisor.len();
    let shift = divisor[length - 1].leading_zeros();
    let mut normal_divisor = [0u32; LIMBS * 2];
    for position in 0..length {
        let below = if position == 0 { 0 } else { u64::from(divisor[position - 1]) };
        normal_divisor[position] = (((u64::from(divisor[position]) << 32 | below) << shift) >> 32) as u32;
    }
    let mut rest = [0u32; LIMBS * 2 + 1];
    for position in 0..=LIMBS * 2 {
        let own = if position == LIMBS * 2 { 0 } else { u64::from(dividend[position]) };
        let below = if position == 0 { 0 } else { u64::from(dividend[position - 1]) };
        rest[position] = (((own << 32 | below) << shift) >> 32) as u32;
    }
    let top = u64::from(normal_divisor[length - 1]);
    let second = u64::from(normal_divisor[length - 2]);
    let mut quotient = [0u32; LIMBS * 2];
    for step in (0..=LIMBS * 2 - length).rev() {
        let numerator = u64::from(rest[step + length]) * BASE + u64::from(rest[step + length - 1]);
        let mut guess = numerator / top;
        let mut guess_rest = numerator % top;
        while guess >= BASE || guess * second > guess_rest * BASE + u64::from(rest[step + length - 2]) {
            guess -= 1;
            guess_rest += top;
            if guess_rest >= BASE {
                break;
            }
        }
        let mut borrow = 0i64;
        let mut carry = 0u64;
        for position in 0..length {
            let product = guess * u64::from(normal_divisor[position]) + carry;
            carry = product >> 32;
            let difference = i64::from(rest[step + position]) - borrow - (product as u32) as i64;
            rest[step + position] = difference as u32;
            borrow = i64::from(difference < 0);
        }
        let difference = i64::from(rest[step + length]) - borrow - carry as i64;
        rest[step + length] = difference as u32;
        if difference < 0 {
            guess -= 1;
            let mut carry = 0u64;
            for position in 0..length {
                let sum = u64::from(rest[step + position]) + u64::from(normal_divisor[position]) + carry;
                rest[step + position] = sum as u32;
                carry = sum >> 32;
            }
            rest[step + length] = (u64::from(rest[step + length]) + carry) as u32;
        }
        quotient[step] = guess as u32;
    }
    let mut remainder = [0u32; LIMBS * 2];
    for position in 0..length {
        let above = if position + 1 < rest.len() { u64::from(rest[position + 1]) } else { 0 };
        remainder[position] = ((above << 32 | u64::from(rest[position])) >> shift) as u32;
    }
    (Wide::from_digits(&quotient), Wide::from_digits(&remainder))
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}
