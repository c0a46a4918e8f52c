//! Whole numbers as text, cheaply.

/// Room for the digits of any number.
const DIGITS_MAX: usize = 20;

/// The decimal digits of a number: what `to_string` gives, without asking for memory and without the
/// machinery of formatting, which is most of the work in a report of a thousand lines.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bytes: [u8; DIGITS_MAX],
    from: usize,
}

/// The numbers below 100 in two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

impl Digits {
    /// Of a number.
    pub fn of(mut number: u64) -> Digits {
        let mut digits = Digits { bytes: [b'0'; DIGITS_MAX], from: DIGITS_MAX };
        while number >= 10 {
            let pair = PAIRS[(number % 100) as usize];
            number /= 100;
            digits.from -= 2;
            digits.bytes[digits.from..digits.from + 2].copy_from_slice(&pair);
        }
        if number > 0 || digits.from == DIGITS_MAX {
            digits.from -= 1;
            digits.bytes[digits.from] = b'0' + number as u8;
        }
        digits
    }

    /// As bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// As a text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Digits;

    #[test]
    fn digits_are_those_of_to_string() {
        let mut numbers = vec![0, 1, 9, 10, 11, 99, 100, u64::MAX - 1, u64::MAX];
        numbers.extend((0..20).map(|power| 10u64.pow(power)));
        numbers.extend((1..20).map(|power| 10u64.pow(power) - 1));
        for number in numbers {
            assert_eq!(Digits::of(number).as_str(), number.to_string());
            assert_eq!(Digits::of(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
