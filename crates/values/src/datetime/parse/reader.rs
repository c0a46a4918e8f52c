//! What dates and times are made of in a text: digits, fractions, and what separates them.

/// A delimiter that is read, and deprecated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter {
    /// The byte that parts.
    pub found: u8,
    /// Where it stands, in bytes from the start of the text.
    pub at: usize,
    /// What should stand there; `None` if nothing should.
    pub standard: Option<char>,
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    pub(super) delimiter: Option<Delimiter>,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn skip_spaces(&mut self) -> bool {
        let start = self.at;
        while let Some(space) = self.peek().filter(u8::is_ascii_whitespace) {
            self.deprecate(space, None);
            self.at += 1;
        }
        self.at > start
    }

    /// All digits up to what parts two numbers; number and count. `None` beyond 32 bits.
    pub(super) fn number(&mut self) -> Option<(u32, usize)> {
        self.digits(usize::MAX)
    }

    /// Up to `most` digits; number and count. `None` beyond 32 bits.
    pub(super) fn digits(&mut self, most: usize) -> Option<(u32, usize)> {
        let start = self.at;
        let mut number = 0u32;
        while self.at - start < most
            && let Some(byte @ b'0'..=b'9') = self.peek()
        {
            number = number.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?;
            self.at += 1;
        }
        (self.at > start).then_some((number, self.at - start))
    }

    /// A number of a time of day: 64 bits, beyond which it begins again, as in MySQL. `None` if that is more
    /// than 32 bits.
    pub(super) fn clock_number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut number = 0u64;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            self.at += 1;
        }
        u32::try_from(number).ok().filter(|_| self.at > start)
    }

    /// Bytes that part two numbers, as many as there are; the first should be the standard one and the only
    /// one.
    pub(super) fn delimiters(&mut self, standard: char, parts: impl Fn(u8) -> bool) -> bool {
        let start = self.at;
        while let Some(found) = self.peek().filter(|byte| parts(*byte)) {
            match self.at == start {
                true if found != standard as u8 => self.deprecate(found, Some(standard)),
                true => {}
                false => self.deprecate(found, None),
            }
            self.at += 1;
        }
        self.at > start
    }

    fn deprecate(&mut self, found: u8, standard: Option<char>) {
        self.delimiter.get_or_insert(Delimiter { found, at: self.at, standard });
    }

    /// The fraction of a time of day, which the last of more than six digits rounds, as in MySQL.
    pub(super) fn clock_fraction(&mut self) -> (u32, u8) {
        let (us, shown) = self.fraction();
        let count = self.text[..self.at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let place =
            |back: usize| self.text.get(self.at.wrapping_sub(back)).is_some_and(|digit| *digit >= b'5');
        if count <= 6 {
            return (us, shown);
        }
        (us - u32::from(place(count - 6)) + u32::from(place(1)), shown)
    }

    /// A fraction after the point: microseconds rounded from any number of digits, and digits up to 6.
    pub(super) fn fraction(&mut self) -> (u32, u8) {
        let (mut us, mut count, mut round) = (0, 0u8, false);
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            if count < 6 {
                us = us * 10 + u32::from(byte - b'0');
                count += 1;
            } else if count == 6 {
                round = byte >= b'5';
                count += 1;
            }
            self.at += 1;
        }
        let shown = count.min(6);
        us *= 10u32.pow(6 - u32::from(shown));
        (us + u32::from(round), shown)
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at >= self.text.len()
    }
}
