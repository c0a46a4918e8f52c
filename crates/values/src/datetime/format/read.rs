//! STR_TO_DATE: a text read by a pattern.

use super::super::{Date, DateTime};
use super::{DAYS, MONTHS, Week};

/// What STR_TO_DATE read.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternParts {
    year: Option<u32>,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    us: u32,
    afternoon: Option<bool>,
    day_of_year: Option<u32>,
    /// 1 = Monday .. 7 = Sunday.
    weekday: Option<u32>,
    week: Option<Week>,
    /// The year that the week belongs to, and whether its weeks begin on Sundays.
    year_of_week: Option<(u32, bool)>,
    /// A date part was in the pattern.
    pub has_date: bool,
    /// A time part was in the pattern.
    pub has_time: bool,
    /// Microseconds were in the pattern.
    pub has_fraction: bool,
}

impl PatternParts {
    /// The moment read; `None` if the parts are out of range.
    pub fn moment(&self) -> Option<DateTime> {
        let mut hour = self.hour;
        if let Some(afternoon) = self.afternoon {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        if hour > 23 || self.minute > 59 || self.second > 59 || self.month > 12 || self.day > 31 {
            return None;
        }
        let mut date = Date::from_parts(self.year.unwrap_or(0), self.month, self.day);
        if let (Some(day_of_year), Some(year)) = (self.day_of_year, self.year) {
            let first = Date::from_parts(year, 1, 1).to_days();
            date = Date::from_days(first + i64::from(day_of_year.checked_sub(1)?))?;
        }
        if let (Some(week), Some(weekday)) = (self.week, self.weekday) {
            date = self.day_of_week(week, weekday)?;
        }
        let fsp = if self.has_fraction { 6 } else { 0 };
        Some(DateTime::from_parts(date, hour, self.minute, self.second, self.us, fsp))
    }
}

impl PatternParts {
    /// A day by its week: `%V %v` go with `%X %x`, `%U %u` with `%Y`.
    fn day_of_week(&self, week: Week, weekday: u32) -> Option<Date> {
        let year = match (week.own_year, self.year_of_week) {
            (true, Some((year, sunday_first))) if sunday_first == week.sunday_first => year,
            (false, None) => self.year.unwrap_or(0),
            _ => return None,
        };
        let first = Date::from_parts(year, 1, 1);
        // Where in its week the first of January is, and how many days later the wanted day's week position
        // is.
        let monday_based = i64::from(crate::datetime::day_of_week(first));
        let (place, within, first_week) = if week.sunday_first {
            let place = (monday_based + 1) % 7;
            (place, i64::from(weekday % 7), place == 0)
        } else {
            (monday_based, i64::from(weekday) - 1, monday_based <= 3)
        };
        let start = first.to_days() - place + if first_week { 0 } else { 7 };
        let days = start + (i64::from(week.number) - 1) * 7 + within;
        if days <= 0 { None } else { Date::from_days(days) }
    }
}

/// STR_TO_DATE: reads `text` by `pattern`. The flag says that text was left over.
pub fn parse_by_pattern(text: &str, pattern: &str) -> Option<(PatternParts, bool)> {
    let mut parts = PatternParts::default();
    let mut rest = text;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character.is_whitespace() {
            rest = rest.trim_start();
        } else if character == '%' {
            rest = read_specifier(&mut parts, characters.next()?, rest)?;
        } else {
            rest = rest.trim_start().strip_prefix(character)?;
        }
    }
    Some((parts, !rest.trim_start().is_empty()))
}

pub(super) fn number(text: &str, most: usize) -> Option<(u32, &str)> {
    let text = text.trim_start();
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    Some((text.get(..count)?.parse().ok()?, &text[count..]))
}

pub(super) fn name<'t>(text: &'t str, names: &[&str], short: bool) -> Option<(u32, &'t str)> {
    let text = text.trim_start();
    for (position, name) in names.iter().enumerate() {
        let wanted = if short { &name[..3] } else { name };
        if text.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted)) {
            return Some((position as u32, &text[wanted.len()..]));
        }
    }
    None
}

fn read_specifier<'t>(parts: &mut PatternParts, specifier: char, text: &'t str) -> Option<&'t str> {
    match specifier {
        'Y' | 'y' | 'm' | 'c' | 'M' | 'b' | 'd' | 'e' | 'D' | 'j' | 'W' | 'a' | 'w' | 'U' | 'u' | 'V'
        | 'v' | 'X' | 'x' => parts.has_date = true,
        'H' | 'k' | 'h' | 'I' | 'l' | 'i' | 's' | 'S' | 'f' | 'p' | 'r' | 'T' => parts.has_time = true,
        _ => {}
    }
    let (value, rest) = match specifier {
        'Y' | 'X' | 'x' => number(text, 4)?,
        'w' => number(text, 1).filter(|(day, _)| *day < 7)?,
        'U' | 'u' | 'V' | 'v' => number(text, 2).filter(|(week, _)| *week <= 53)?,
        'j' => number(text, 3)?,
        'y' | 'm' | 'c' | 'd' | 'e' | 'D' | 'H' | 'k' | 'h' | 'I' | 'l' | 'i' | 's' | 'S' => number(text, 2)?,
        'M' => name(text, &MONTHS, false)?,
        'b' => name(text, &MONTHS, true)?,
        'W' => name(text, &DAYS, false)?,
        'a' => name(text, &DAYS, true)?,
        'f' => {
            let text = text.trim_start();
            let count = text.bytes().take(6).take_while(u8::is_ascii_digit).count();
            let digits: u32 = text.get(..count).filter(|digits| !digits.is_empty())?.parse().ok()?;
            (digits * 10u32.pow(6 - count as u32), &text[count..])
        }
        'p' => name(text, &["AM ", "PM "], false).or_else(|| {
            let text = text.trim_start();
            let half = text.get(..2)?;
            let place = ["AM", "PM"].iter().position(|wanted| half.eq_ignore_ascii_case(wanted))?;
            Some((place as u32, &text[2..]))
        })?,
        'T' => return read_clock(parts, text, "%H:%i:%S"),
        'r' => return read_clock(parts, text, "%h:%i:%S %p"),
        '%' => return text.strip_prefix('%'),
        _ => return None,
    };
    match specifier {
        'Y' => {
            parts.year = Some(if text.trim_start().len() - rest.len() <= 2 { century(value) } else { value })
        }
        'y' => parts.year = Some(century(value)),
        'm' | 'c' => parts.month = value,
        'M' | 'b' => parts.month = value + 1,
        'd' | 'e' => parts.day = value,
        'D' => {
            parts.day = value;
            return rest.get(2..);
        }
        'j' => parts.day_of_year = Some(value),
        'W' | 'a' => parts.weekday = Some(value + 1),
        'w' => parts.weekday = Some(if value == 0 { 7 } else { value }),
        'U' | 'u' | 'V' | 'v' => {
            let (sunday_first, own_year) = (specifier.is_uppercase(), matches!(specifier, 'V' | 'v'));
            if own_year && value == 0 {
                return None;
            }
            parts.week = Some(Week { number: value, sunday_first, own_year });
        }
        'X' | 'x' => parts.year_of_week = Some((value, specifier == 'X')),
        'H' | 'k' | 'h' | 'I' | 'l' => parts.hour = value,
        'i' => parts.minute = value,
        's' | 'S' => parts.second = value,
        'f' => {
            parts.us = value;
            parts.has_fraction = true;
        }
        'p' => parts.afternoon = Some(value == 1),
        _ => {}
    }
    Some(rest)
}

fn read_clock<'t>(parts: &mut PatternParts, text: &'t str, pattern: &str) -> Option<&'t str> {
    let mut rest = text;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        rest = match character {
            '%' => read_specifier(parts, characters.next()?, rest)?,
            ' ' => rest.trim_start(),
            other => rest.strip_prefix(other)?,
        };
    }
    Some(rest)
}

fn century(year: u32) -> u32 {
    if year < 70 { 2000 + year } else { 1900 + year }
}
