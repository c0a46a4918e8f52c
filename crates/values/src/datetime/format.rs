//! DATE_FORMAT and STR_TO_DATE.

mod read;

use std::fmt::Write;

use super::{Date, DateTime, week_number, year_week};

pub use read::{PatternParts, parse_by_pattern};

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
