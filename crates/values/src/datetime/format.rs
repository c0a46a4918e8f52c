//! DATE_FORMAT and STR_TO_DATE.

use std::fmt::Write;

use super::{Date, DateTime, week_number, year_week};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// English name of a month, 1..=12.
pub fn month_name(month: u32) -> Option<&'static str> {
    MONTHS.get((month as usize).checked_sub(1)?).copied()
}

/// English name of a weekday, 0 = Monday.
pub fn day_name(weekday: u32) -> &'static str {
    DAYS[weekday as usize % 7]
}

/// DATE_FORMAT. `hours` is the hour of a TIME, which may exceed 23. `None` if a name or week of a zero date
/// is asked, or `out` takes no more.
pub fn format_by_pattern(
    moment: DateTime,
    hours: Option<u32>,
    pattern: &str,
    out: &mut dyn Write,
) -> Option<()> {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.write_char(character).ok()?;
            continue;
        }
        match characters.next() {
            Some(specifier) => write_specifier(out, specifier, moment, hours)?,
            None => out.write_char('%').ok()?,
        }
    }
    Some(())
}

fn write_specifier(out: &mut dyn Write, specifier: char, moment: DateTime, hours: Option<u32>) -> Option<()> {
    let date = moment.date();
    let (minute, second) = (moment.minute(), moment.second());
    let hour = hours.unwrap_or(moment.hour());
    let hour12 = (hour % 24 + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let written = match specifier {
        'Y' => write!(out, "{:04}", date.year()),
        'y' => write!(out, "{:02}", date.year() % 100),
        'm' => write!(out, "{:02}", date.month()),
        'c' => write!(out, "{}", date.month()),
        'M' => write!(out, "{}", month_name(date.month())?),
        'b' => write!(out, "{}", &month_name(date.month())?[..3]),
        'd' => write!(out, "{:02}", date.day()),
        'e' => write!(out, "{}", date.day()),
        'D' => write!(out, "{}{}", date.day(), ordinal_suffix(date.day())),
        'j' => write!(out, "{:03}", day_number(date) - day_number(Date::from_parts(date.year(), 1, 1)) + 1),
        'W' => write!(out, "{}", day_name(weekday(date)?)),
        'a' => write!(out, "{}", &day_name(weekday(date)?)[..3]),
        'w' => write!(out, "{}", (weekday(date)? + 1) % 7),
        'H' => write!(out, "{hour:02}"),
        'k' => write!(out, "{hour}"),
        'h' | 'I' => write!(out, "{hour12:02}"),
        'l' => write!(out, "{hour12}"),
        'i' => write!(out, "{minute:02}"),
        's' | 'S' => write!(out, "{second:02}"),
        'f' => write!(out, "{:06}", moment.microsecond()),
        'p' => write!(out, "{half}"),
        'r' => write!(out, "{hour12:02}:{minute:02}:{second:02} {half}"),
        'T' => write!(out, "{hour:02}:{minute:02}:{second:02}"),
        'U' => write!(out, "{:02}", week_number(of_week(date)?, 0)),
        'u' => write!(out, "{:02}", week_number(of_week(date)?, 1)),
        'V' => write!(out, "{:02}", week_number(of_week(date)?, 2)),
        'v' => write!(out, "{:02}", week_number(of_week(date)?, 3)),
        'X' => write!(out, "{:04}", year_week(of_week(date)?, 2) / 100),
        'x' => write!(out, "{:04}", year_week(of_week(date)?, 3) / 100),
        other => write!(out, "{other}"),
    };
    written.ok()
}

/// The number of a day, parts of which may be zero: the day before the first of a month; a month 0 has 31
/// days.
fn day_number(date: Date) -> i64 {
    if date.year() == 0 && date.month() == 0 {
        return 0;
    }
    let first = Date::from_parts(date.year(), date.month().max(1), 1).to_days();
    first + i64::from(date.day()) - if date.month() == 0 { 32 } else { 1 }
}

fn weekday(date: Date) -> Option<u32> {
    let is_some = date.year() != 0 || date.month() != 0;
    is_some.then(|| ((day_number(date) + 5) % 7) as u32)
}

/// The day whose week is asked for. A month 0 and a day 0 of January are in none.
fn of_week(date: Date) -> Option<Date> {
    match (date.month(), date.day()) {
        (2.., 0) => Date::from_days(day_number(date)),
        (0, _) | (_, 0) => None,
        _ => Some(date),
    }
}

fn ordinal_suffix(day: u32) -> &'static str {
    match day {
        11..=13 => "th",
        _ => match day % 10 {
            1 => "st",
            2 => "nd",
            3 => "rd",
            _ => "th",
        },
    }
}

/// A week's number as STR_TO_DATE reads it.
#[derive(Debug, Clone, Copy)]
struct Week {
    number: u32,
    /// Weeks begin on Sundays, and the first is the one with a Sunday; else on Mondays, and the first has
    /// four days.
    sunday_first: bool,
    /// It is counted in the year that `%X` or `%x` gives, not in the calendar's.
    own_year: bool,
}

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
        let monday_based = i64::from(super::day_of_week(first));
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

fn number(text: &str, most: usize) -> Option<(u32, &str)> {
    let text = text.trim_start();
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    Some((text.get(..count)?.parse().ok()?, &text[count..]))
}

fn name<'t>(text: &'t str, names: &[&str], short: bool) -> Option<(u32, &'t str)> {
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
