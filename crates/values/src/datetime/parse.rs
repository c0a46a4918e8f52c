//! Reading dates and times from text and numbers, as forgiving as MySQL: any punctuation separates, two-digit
//! years mean 1970..=2069, all-digit strings are cut by their length, and what follows a good prefix is only
//! a warning.

mod reader;
mod shape;

use super::zone::parse_offset;
use super::{Date, DateTime, SECOND_US, TIME_MAX_US, Time, days_in_month};

pub use reader::Delimiter;
use reader::Reader;
use shape::begins_no_moment;
pub use shape::{is_shaped_as_moment, says_moment};

/// Which impossible dates are let through (`sql_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRules {
    /// Month or day may be zero ('2026-00-00').
    pub zero_in_date: bool,
    /// '0000-00-00' is a date.
    pub zero_date: bool,
    /// Days up to 31 in every month (ALLOW_INVALID_DATES).
    pub invalid: bool,
}

impl DateRules {
    /// What comparisons and functions accept.
    pub const LENIENT: DateRules = DateRules { zero_in_date: true, zero_date: true, invalid: false };

    /// True if the date passes.
    pub fn allow(self, date: Date) -> bool {
        if date == Date::ZERO {
            return self.zero_date;
        }
        if date.month() > 12 || date.day() > 31 || date.year() > 9999 {
            return false;
        }
        if date.has_zero_part() {
            return self.zero_in_date;
        }
        self.invalid || date.day() <= days_in_month(date.year(), date.month())
    }
}

/// A parsed moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Temporal {
    /// The moment; midnight if the text had a date only.
    pub moment: DateTime,
    /// The text had a time of day.
    pub has_time: bool,
    /// Something unreadable followed, or digits beyond the sixth of the fraction were lost.
    pub truncated: bool,
    /// UTC offset in seconds written behind the time, if any.
    pub offset_seconds: Option<i32>,
    /// The first delimiter that is not the standard one.
    pub delimiter: Option<Delimiter>,
}

fn full_year(year: u32, digits: usize) -> u32 {
    match (digits, year) {
        (2, 0..=69) => 2000 + year,
        (2, _) => 1900 + year,
        _ => year,
    }
}

/// Parses a date or datetime. `None` if no acceptable date is at the start of the text.
pub fn parse_date_time(text: &[u8], rules: DateRules) -> Option<Temporal> {
    let mut reader = Reader { text, at: 0, delimiter: None };
    reader.skip_spaces();
    let run = reader.text[reader.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let next = reader.text.get(reader.at + run).copied();
    if next == Some(b'T') {
        return parse_marked(reader, rules);
    }
    if run >= 5 && !matches!(next, Some(b'-' | b'/')) || run >= 5 && run != 4 && next.is_none() {
        return parse_digits(reader, run, rules);
    }
    let punctuation = |byte: u8| byte.is_ascii_punctuation();
    let (year, year_digits) = reader.number()?;
    if !reader.delimiters('-', punctuation) {
        return None;
    }
    let (month, _) = reader.number()?;
    if !reader.delimiters('-', punctuation) {
        return None;
    }
    let (day, _) = reader.number()?;
    if year > 9999 {
        return None;
    }
    let year = if year_digits <= 2 && year == 0 && month == 0 && day == 0 {
        0
    } else {
        full_year(year, year_digits)
    };
    let date = Date::from_parts(year, month.min(12 + u32::from(month > 12)), day.min(31));
    if month > 12 || day > 31 || !rules.allow(date) {
        return None;
    }
    let before = (reader.at, reader.delimiter);
    let separated = match reader.peek() {
        Some(b'T') => {
            reader.at += 1;
            true
        }
        _ => reader.delimiters(' ', |byte| byte.is_ascii_punctuation() || byte.is_ascii_whitespace()),
    };
    if separated && reader.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        return parse_clock(reader, date);
    }
    (reader.at, reader.delimiter) = before;
    let truncated = !reader.at_end();
    let delimiter = reader.delimiter;
    Some(Temporal { moment: date.at_midnight(), has_time: false, truncated, offset_seconds: None, delimiter })
}

/// `hh[:mm[:ss[.f]]]` behind a date.
fn parse_clock(mut reader: Reader<'_>, date: Date) -> Option<Temporal> {
    let (hour, _) = reader.number()?;
    let (mut minute, mut second, mut us, mut fsp) = (0, 0, 0, 0);
    // A minus is an offset's sign, unless hours and minutes are parted by one too.
    let parted_by = reader.peek();
    if reader.delimiters(':', |byte| byte.is_ascii_punctuation() && byte != b'+') {
        minute = reader.number()?.0;
        let parts = |byte: u8| {
            byte.is_ascii_punctuation() && byte != b'+' && (byte != b'-' || parted_by == Some(b'-'))
        };
        if reader.delimiters(':', parts) {
            second = reader.number()?.0;
            if reader.peek() == Some(b'.') {
                reader.at += 1;
                (us, fsp) = reader.fraction();
            }
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    finish(reader, date, (hour, minute, second), us, fsp)
}

fn finish(mut reader: Reader<'_>, date: Date, clock: (u32, u32, u32), us: u32, fsp: u8) -> Option<Temporal> {
    let rest = std::str::from_utf8(&reader.text[reader.at..]).unwrap_or("");
    let mut offset_seconds = None;
    if matches!(reader.peek(), Some(b'+' | b'-')) {
        offset_seconds = parse_offset(rest.trim_end());
        if offset_seconds.is_some() {
            reader.at = reader.text.len();
        }
    }
    let truncated = !reader.at_end();
    let mut moment = DateTime::from_parts(date, clock.0, clock.1, clock.2, us % 1_000_000, fsp);
    if us >= 1_000_000 {
        moment = DateTime::from_linear_us(moment.to_linear_us() + SECOND_US, fsp)?;
    }
    let delimiter = reader.delimiter;
    Some(Temporal { moment, has_time: true, truncated, offset_seconds, delimiter })
}

/// A run of digits without separators: YYYYMMDDhhmmss, YYMMDDhhmmss, YYYYMMDD, YYMMDD and shorter tails.
fn parse_digits(mut reader: Reader<'_>, run: usize, rules: DateRules) -> Option<Temporal> {
    let wide_year = run == 8 || run >= 14;
    let mut left = run;
    let mut take = |reader: &mut Reader<'_>, count: usize| {
        if left == 0 {
            return Some(0);
        }
        let (number, used) = reader.digits(count.min(left))?;
        left -= used;
        Some(number)
    };
    let year_digits = if wide_year { 4 } else { 2 };
    let year = take(&mut reader, year_digits)?;
    let (month, day) = (take(&mut reader, 2)?, take(&mut reader, 2)?);
    let (hour, minute, second) = (take(&mut reader, 2)?, take(&mut reader, 2)?, take(&mut reader, 2)?);
    if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let year = if year_digits == 2 && year + month + day == 0 { 0 } else { full_year(year, year_digits) };
    let date = Date::from_parts(year, month, day);
    if !rules.allow(date) {
        return None;
    }
    let has_time = run > 8 || (run > 6 && !wide_year);
    let (mut us, mut fsp) = (0, 0);
    if reader.peek() == Some(b'.') && (run == 14 || run == 12) {
        reader.at += 1;
        (us, fsp) = reader.fraction();
    }
    // Where nothing parts the numbers, nothing may follow them.
    let spaced = reader.text.last().is_some_and(u8::is_ascii_whitespace);
    let mut parsed = finish(reader, date, (hour, minute, second), us, fsp)?;
    parsed.has_time = has_time;
    (!parsed.truncated && !spaced).then_some(parsed)
}

/// How many digits there are, a T that marks where the time begins among them, if nothing but a fraction
/// follows.
fn unparted(text: &[u8]) -> Option<usize> {
    let run = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'T').count();
    (run > 0 && matches!(text.get(run), None | Some(b'.'))).then_some(run)
}

/// `20260131T101112`, `260131T101112.5`: how long the year is depends on how long all of it is, as in MySQL.
/// Numbers may be shorter than two digits at their ends.
fn parse_marked(mut reader: Reader<'_>, rules: DateRules) -> Option<Temporal> {
    let run = unparted(&reader.text[reader.at..])?;
    let wide_year = matches!(run, 4 | 8) || run >= 14;
    let year = reader.digits(if wide_year { 4 } else { 2 })?.0;
    let (month, day) = (reader.digits(2)?.0, reader.digits(2)?.0);
    reader.at += usize::from(reader.peek() == Some(b'T'));
    let mut clock = [None; 3];
    for part in &mut clock {
        let Some((number, _)) = reader.digits(2) else { break };
        *part = Some(number);
    }
    let (mut us, mut fsp) = (0, 0);
    if clock[2].is_some() && reader.peek() == Some(b'.') {
        reader.at += 1;
        (us, fsp) = reader.fraction();
    }
    let [hour, minute, second] = clock.map(Option::unwrap_or_default);
    let year = if wide_year || year + month + day == 0 { year } else { full_year(year, 2) };
    let date = Date::from_parts(year, month.min(15), day.min(31));
    if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || !rules.allow(date) {
        return None;
    }
    let mut parsed = finish(reader, date, (hour, minute, second), us, fsp)?;
    parsed.has_time = clock[0].is_some();
    Some(parsed)
}

/// A number as a moment: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss.
pub fn parse_number(number: i64, rules: DateRules) -> Option<Temporal> {
    if number == 0 {
        return rules.zero_date.then_some(Temporal {
            moment: DateTime::ZERO,
            has_time: false,
            truncated: false,
            offset_seconds: None,
            delimiter: None,
        });
    }
    let full = match number {
        101..=691_231 => (number + 20_000_000) * 1_000_000,
        700_101..=991_231 => (number + 19_000_000) * 1_000_000,
        10_000_101..=99_991_231 => number * 1_000_000,
        101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
        700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
        10_000_101_000_000..=99_991_231_235_959 => number,
        _ => return None,
    };
    let (day_part, clock) = (full / 1_000_000, full % 1_000_000);
    let date =
        Date::from_parts((day_part / 10_000) as u32, (day_part / 100 % 100) as u32, (day_part % 100) as u32);
    let (hour, minute, second) = ((clock / 10_000) as u32, (clock / 100 % 100) as u32, (clock % 100) as u32);
    let day = day_part % 100;
    if day_part / 100 % 100 > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || !rules.allow(date)
    {
        return None;
    }
    let moment = DateTime::from_parts(date, hour, minute, second, 0, 0);
    Some(Temporal {
        moment,
        has_time: number > 99_991_231,
        truncated: false,
        offset_seconds: None,
        delimiter: None,
    })
}

/// Parses a TIME: `[-]\[D \]hh:mm:ss[.f]`, `hh:mm`, `hhmmss`, `ss`, or a full datetime. The flag says that
/// something was lost (rest unreadable, or clamped to the range).
pub fn parse_time(text: &[u8]) -> Option<(Time, bool)> {
    let mut reader = Reader { text, at: 0, delimiter: None };
    reader.skip_spaces();
    let negative = reader.peek() == Some(b'-');
    reader.at += usize::from(negative);
    let rest = &reader.text[reader.at..];
    if is_shaped_as_moment(rest) {
        // Digits that are no moment may be a time that begins with zeros.
        let only_digits = rest.iter().take_while(|byte| **byte != b'.').all(u8::is_ascii_digit);
        match parse_date_time(rest, DateRules::LENIENT) {
            Some(parsed) if !only_digits || parsed.moment != DateTime::ZERO => {
                let (has_time, parsed) = (parsed.has_time, (parsed.moment.time(), parsed.truncated));
                return Some(parsed).filter(|_| has_time && !negative);
            }
            None if !only_digits => return None,
            _ => {}
        }
    } else if begins_no_moment(rest) {
        return None;
    }
    let first = reader.clock_number()?;
    let (hour, minute, second);
    let before_space = reader.at;
    if reader.skip_spaces() && reader.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        hour = u64::from(first) * 24 + u64::from(reader.clock_number()?);
        (minute, second) = clock_tail(&mut reader)?;
    } else if reader.peek() == Some(b':') && reader.text.get(reader.at + 1).is_none_or(u8::is_ascii_digit) {
        hour = first.into();
        (minute, second) = clock_tail(&mut reader)?;
    } else {
        reader.at = before_space;
        (hour, minute, second) = (u64::from(first / 10_000), first / 100 % 100, first % 100);
    }
    let (mut us, mut fsp) = (0, 0);
    if reader.peek() == Some(b'.') {
        reader.at += 1;
        (us, fsp) = reader.clock_fraction();
    }
    if minute > 59 || second > 59 {
        return None;
    }
    let mut truncated = !reader.at_end();
    // Days and hours of 32 bits each: as seconds they fit, as microseconds perhaps not.
    let seconds = hour as i64 * 3600 + i64::from(minute) * 60 + i64::from(second);
    let mut total = seconds.saturating_mul(SECOND_US).saturating_add(i64::from(us));
    if total > TIME_MAX_US {
        total = TIME_MAX_US;
        truncated = true;
    }
    Some((Time { us: if negative { -total } else { total }, fsp }, truncated))
}

fn clock_tail(reader: &mut Reader<'_>) -> Option<(u32, u32)> {
    if reader.peek() != Some(b':') {
        return Some((0, 0));
    }
    reader.at += 1;
    let minute = reader.clock_number()?;
    if reader.peek() != Some(b':') {
        return Some((minute, 0));
    }
    reader.at += 1;
    Some((minute, reader.clock_number()?))
}
