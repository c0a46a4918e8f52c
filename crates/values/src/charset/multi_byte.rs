//! Character sets of several bytes: Chinese, Japanese and Korean ones, read out of `multi_byte.bin`
//! (layout: `tables/generate_multi_byte.py`).
//!
//! Each byte that begins no legal sequence stands for itself and is no character, as MySQL's lexer sees it:
//! what follows it is read on its own. A legal sequence never reads as ASCII, so its second byte cannot end a
//! literal or escape what follows.
//!
//! A legal sequence without a character in Unicode is the private one at U+F0000 and its code: it comes back
//! as the same bytes.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// One set.
pub struct MultiByteSet {
    shape: Shape,
    /// Code points by code; 0 where there is none.
    points: Box<[u16]>,
    codes: FxHashMap<char, u16>,
    /// The codes of four bytes, by code point.
    ranges: Vec<Range>,
    /// The same by number.
    by_number: Vec<Range>,
}

/// Code points that follow one another, and so do their numbers.
#[derive(Clone, Copy)]
struct Range {
    point: u16,
    number: u16,
    count: u16,
}

/// Which sequences are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Gbk,
    Big5,
    ShiftJis,
    Ujis,
    Euckr,
    Gb2312,
    Gb18030,
}

const SHAPES: [Shape; 9] = [
    Shape::Gbk,
    Shape::Big5,
    Shape::ShiftJis,
    Shape::Ujis,
    Shape::Euckr,
    Shape::Gb2312,
    Shape::ShiftJis,
    Shape::Ujis,
    Shape::Gb18030,
];

/// No base set, or no value in a run.
const NONE: u16 = 0xFFFF;
/// Where codes without a character are.
pub(super) const PRIVATE: u32 = 0xF_0000;
/// The number of the four bytes of U+10000, and of those of U+10FFFF.
const SUPPLEMENT: u32 = 189_000;
const SUPPLEMENT_END: u32 = SUPPLEMENT + 0xF_FFFF;
/// The half-wide katakana of one byte: first character and first byte.
const KATAKANA: (u32, u8) = (0xFF61, 0xA1);

/// The bytes of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    bytes: [u8; 4],
    length: u8,
}

impl Code {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn new(bytes: &[u8]) -> Code {
        let mut code = Code { bytes: [0; 4], length: bytes.len() as u8 };
        code.bytes[..bytes.len()].copy_from_slice(bytes);
        code
    }

    /// A character of one byte.
    pub fn single(byte: u8) -> Code {
        Code::new(&[byte])
    }

    /// The number of two bytes.
    pub fn pair(&self) -> Option<u16> {
        (self.length == 2).then(|| u16::from_be_bytes([self.bytes[0], self.bytes[1]]))
    }

    /// The number of a code of four bytes.
    pub fn number(&self) -> Option<u32> {
        let [a, b, c, d] = self.bytes.map(u32::from);
        (self.length == 4).then(|| (a - 0x81) * 12_600 + (b - 0x30) * 1260 + (c - 0x81) * 10 + d - 0x30)
    }
}

impl Shape {
    /// The bytes of the sequence that `bytes` begins with; `None` if it is not legal.
    fn length(self, bytes: &[u8]) -> Option<usize> {
        let first = *bytes.first()?;
        if first < 0x80 || self == Shape::ShiftJis && matches!(first, 0xA1..=0xDF) {
            return Some(1);
        }
        let second = *bytes.get(1)?;
        let (lead, trail) = match self {
            Shape::Gbk => (matches!(first, 0x81..=0xFE), matches!(second, 0x40..=0x7E | 0x80..=0xFE)),
            Shape::Big5 => (matches!(first, 0xA1..=0xF9), matches!(second, 0x40..=0x7E | 0xA1..=0xFE)),
            Shape::ShiftJis => {
                (matches!(first, 0x81..=0x9F | 0xE0..=0xFC), matches!(second, 0x40..=0x7E | 0x80..=0xFC))
            }
            Shape::Euckr => {
                (matches!(first, 0x81..=0xFE), matches!(second, 0x41..=0x5A | 0x61..=0x7A | 0x81..=0xFE))
            }
            Shape::Gb2312 => (matches!(first, 0xA1..=0xF7), matches!(second, 0xA1..=0xFE)),
            Shape::Ujis => {
                return match first {
                    0x8E => matches!(second, 0xA1..=0xDF).then_some(2),
                    0x8F => (matches!(second, 0xA1..=0xFE) && matches!(bytes.get(2), Some(0xA1..=0xFE)))
                        .then_some(3),
                    _ => (matches!(first, 0xA1..=0xFE) && matches!(second, 0xA1..=0xFE)).then_some(2),
                };
            }
            Shape::Gb18030 => {
                if matches!(second, 0x30..=0x39) {
                    let rest = (bytes.get(2), bytes.get(3));
                    let legal = matches!(rest, (Some(0x81..=0xFE), Some(0x30..=0x39)));
                    return (matches!(first, 0x81..=0xFE) && legal).then_some(4);
                }
                (matches!(first, 0x81..=0xFE), matches!(second, 0x40..=0x7E | 0x80..=0xFE))
            }
        };
        (lead && trail).then_some(2)
    }

    /// The bytes of a code of two or three bytes.
    fn code(self, code: u16) -> Code {
        let [first, second] = code.to_be_bytes();
        match self == Shape::Ujis && second < 0x80 {
            true => Code::new(&[0x8F, first, second | 0x80]),
            false => Code::new(&[first, second]),
        }
    }
}

impl MultiByteSet {
    /// The set at a place in the table.
    pub fn get(nth: u8) -> &'static MultiByteSet {
        static SETS: OnceLock<Vec<OnceLock<MultiByteSet>>> = OnceLock::new();
        let sets = SETS.get_or_init(|| SHAPES.iter().map(|_| OnceLock::new()).collect());
        sets[usize::from(nth)].get_or_init(|| MultiByteSet::read(usize::from(nth)))
    }

    fn read(nth: usize) -> MultiByteSet {
        let mut reader = Reader::new(include_bytes!("../collation/multi_byte.bin"));
        let mut set = MultiByteSet {
            shape: SHAPES[nth],
            points: Box::default(),
            codes: FxHashMap::default(),
            ranges: Vec::new(),
            by_number: Vec::new(),
        };
        for at in 0..=nth {
            let base = reader.word();
            let mut points = match base {
                _ if at < nth => Box::default(),
                NONE => vec![0; 0x1_0000].into_boxed_slice(),
                base => MultiByteSet::get(base as u8).points.clone(),
            };
            reader.runs(|code, point| {
                if at == nth {
                    points[usize::from(code)] = point;
                }
            });
            let pairs: Vec<(u16, u16)> = (0..reader.word()).map(|_| (reader.word(), reader.word())).collect();
            if at == nth {
                set.points = points;
                set.fill(&pairs);
            }
        }
        if set.shape == Shape::Gb18030 {
            set.ranges = (0..reader.word())
                .map(|_| Range { point: reader.word(), number: reader.word(), count: reader.word() })
                .collect();
            set.by_number = set.ranges.clone();
            set.by_number.sort_by_key(|range| range.number);
        }
        set
    }

    fn fill(&mut self, pairs: &[(u16, u16)]) {
        let character = |point: u16| char::from_u32(point.into());
        for (code, point) in self.points.iter().enumerate() {
            let code = code as u16;
            let legal = self.shape.length(self.shape.code(code).bytes()).is_some_and(|length| length > 1);
            if let Some(character) = character(*point).filter(|_| *point != 0 && legal) {
                self.codes.insert(character, code);
            }
        }
        for (point, code) in pairs {
            match character(*point) {
                Some(point) if *code == 0 => _ = self.codes.remove(&point),
                Some(point) => _ = self.codes.insert(point, *code),
                None => {}
            }
        }
    }

    /// The first character of `bytes` and the bytes it takes; `None` if they begin with none.
    pub fn first(&self, bytes: &[u8]) -> Option<(char, usize)> {
        let length = self.shape.length(bytes)?;
        let point = match length {
            1 if bytes[0] < 0x80 => u32::from(bytes[0]),
            1 => KATAKANA.0 + u32::from(bytes[0] - KATAKANA.1),
            4 => self.point_of_number(Code::new(&bytes[..4]).number()?)?,
            _ => {
                let code = match length {
                    2 => u16::from_be_bytes([bytes[0], bytes[1]]),
                    _ => u16::from_be_bytes([bytes[1], bytes[2] & 0x7F]),
                };
                match self.points[usize::from(code)] {
                    0 => PRIVATE + u32::from(code),
                    point => u32::from(point),
                }
            }
        };
        Some((char::from_u32(point)?, length))
    }

    fn point_of_number(&self, number: u32) -> Option<u32> {
        if (SUPPLEMENT..=SUPPLEMENT_END).contains(&number) {
            return Some(number - SUPPLEMENT + 0x1_0000);
        }
        let number = u16::try_from(number).ok()?;
        let nth = self.by_number.partition_point(|range| range.number <= number).checked_sub(1)?;
        let range = self.by_number[nth];
        let into = number - range.number;
        (into < range.count).then_some(u32::from(range.point) + u32::from(into))
    }

    fn number_of(&self, point: u32) -> Option<u32> {
        if point >= 0x1_0000 {
            return Some(SUPPLEMENT + point - 0x1_0000);
        }
        let point = u16::try_from(point).ok()?;
        let nth = self.ranges.partition_point(|range| range.point <= point).checked_sub(1)?;
        let range = self.ranges[nth];
        let into = point - range.point;
        (into < range.count).then_some(u32::from(range.number) + u32::from(into))
    }

    /// The bytes of a character; `None` if the set lacks it.
    pub fn code_of(&self, character: char) -> Option<Code> {
        let point = u32::from(character);
        if point < 0x80 {
            return Some(Code::single(point as u8));
        }
        if self.shape == Shape::ShiftJis && (KATAKANA.0..KATAKANA.0 + 63).contains(&point) {
            return Some(Code::single((point - KATAKANA.0) as u8 + KATAKANA.1));
        }
        if let Some(code) = self.codes.get(&character) {
            return Some(self.shape.code(*code));
        }
        if self.shape == Shape::Gb18030 {
            let number = self.number_of(point)?;
            let (a, rest) = (number / 12_600, number % 12_600);
            let (b, c, d) = (rest / 1260, rest % 1260 / 10, rest % 10);
            return Some(Code::new(&[a as u8 + 0x81, b as u8 + 0x30, c as u8 + 0x81, d as u8 + 0x30]));
        }
        let code = u16::try_from(point.checked_sub(PRIVATE)?).ok()?;
        let whole = self.shape.code(code);
        let legal = self.shape.length(whole.bytes()) == Some(whole.bytes().len());
        (whole.bytes().len() > 1 && legal && self.points[usize::from(code)] == 0).then_some(whole)
    }
}

/// Reads the words of a table.
pub struct Reader {
    rest: &'static [u8],
}

impl Reader {
    /// At the beginning of a table.
    pub fn new(rest: &'static [u8]) -> Reader {
        Reader { rest }
    }

    /// The next word.
    pub fn word(&mut self) -> u16 {
        let (word, rest) = self.rest.split_at(2);
        self.rest = rest;
        u16::from_le_bytes([word[0], word[1]])
    }

    /// Runs of values at codes that follow one another.
    pub fn runs(&mut self, mut each: impl FnMut(u16, u16)) {
        for _ in 0..self.word() {
            let (first, count) = (self.word(), self.word());
            for nth in 0..count {
                let value = self.word();
                if value != NONE {
                    each(first + nth, value);
                }
            }
        }
    }
}
