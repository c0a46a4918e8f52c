//! Session time zones: fixed offsets and the named zones of the IANA database, which the binary brings along
//! (`jiff`). SYSTEM is UTC until [`adopt_system_zone`] takes the machine's.
//!
//! A wall clock reading that occurs twice means the earlier moment; one that is skipped means the moment of
//! the change, as MySQL has it.

use std::fmt;
use std::sync::OnceLock;

use jiff::tz::{AmbiguousOffset, TimeZone as Rules};
use jiff::{SignedDuration, Timestamp, civil};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{DateTime, SECOND_US};
use crate::error::{SqlError, SqlResult};

/// A time zone: an offset, or rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeZone(Kind);

#[derive(Clone, Copy, Eq)]
enum Kind {
    /// Seconds east of UTC.
    Fixed(i32),
    Named(&'static Rules),
}

/// Rules are compared by their place in memory: every name is kept once, and plans compare zones for each
/// statement.
impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Fixed(one), Kind::Fixed(two)) => one == two,
            (Kind::Named(one), Kind::Named(two)) => std::ptr::eq(*one, *two),
            (Kind::Fixed(_), Kind::Named(_)) | (Kind::Named(_), Kind::Fixed(_)) => false,
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Fixed(seconds) => write!(out, "{seconds:+} s"),
            Kind::Named(rules) => write!(out, "{:?}", rules.iana_name()),
        }
    }
}

impl Default for TimeZone {
    fn default() -> TimeZone {
        TimeZone::UTC
    }
}

static SYSTEM: OnceLock<(TimeZone, String)> = OnceLock::new();

/// Makes SYSTEM mean the machine's zone. A server calls it at its start; the name for `system_time_zone`
/// comes back.
pub fn adopt_system_zone() -> &'static str {
    let (_, name) = SYSTEM.get_or_init(|| {
        let rules = Rules::system();
        let shown = rules.to_offset_info(Timestamp::now()).abbreviation().to_owned();
        let zone = match rules.to_fixed_offset() {
            Ok(offset) => TimeZone::fixed(offset.seconds()),
            Err(_) if matches!(rules.iana_name(), Some("UTC" | "Etc/UTC" | "Etc/UCT" | "Etc/Zulu")) => {
                TimeZone::UTC
            }
            // Once in a process's life.
            Err(_) => TimeZone(Kind::Named(Box::leak(Box::new(rules)))),
        };
        (zone, shown)
    });
    name
}

/// The names of all zones, in order.
pub fn zone_names() -> Vec<String> {
    let mut names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    names.sort_unstable();
    names
}

/// A moment at which a zone's clock changes, and what it shows from then on.
#[derive(Debug, Clone)]
pub struct ZoneChange {
    /// Seconds since 1970 in UTC.
    pub second: i64,
    /// Seconds east of UTC.
    pub offset: i32,
    /// True for summer time.
    pub summer: bool,
    /// What people call the time, such as CET.
    pub abbreviation: String,
}

/// A zone's changes from 1902 to 2037, with the state at the beginning of 1902 before them.
pub fn zone_changes(name: &str) -> Vec<ZoneChange> {
    let (Some(rules), Ok(from)) = (named(name), Timestamp::from_second(i64::from(i32::MIN))) else {
        return Vec::new();
    };
    let first = rules.to_offset_info(from);
    let mut changes = vec![ZoneChange {
        second: from.as_second(),
        offset: first.offset().seconds(),
        summer: first.dst().is_dst(),
        abbreviation: first.abbreviation().to_owned(),
    }];
    let later = rules.following(from).take_while(|change| change.timestamp().as_second() <= i32::MAX.into());
    changes.extend(later.map(|change| ZoneChange {
        second: change.timestamp().as_second(),
        offset: change.offset().seconds(),
        summer: change.dst().is_dst(),
        abbreviation: change.abbreviation().to_owned(),
    }));
    changes
}

/// A zone's rules, which live as long as the process: there are some hundred of them.
fn named(name: &str) -> Option<&'static Rules> {
    static KNOWN: Mutex<Option<FxHashMap<String, &'static Rules>>> = Mutex::new(None);
    let found = jiff::tz::db().get(name).ok()?;
    let canonical = found.iana_name()?.to_owned();
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    Some(known.entry(canonical).or_insert_with(|| Box::leak(Box::new(found))))
}

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone(Kind::Fixed(0));

    /// So many seconds east of UTC.
    pub fn fixed(offset_seconds: i32) -> TimeZone {
        TimeZone(Kind::Fixed(offset_seconds))
    }

    /// What SYSTEM means.
    pub fn system() -> TimeZone {
        SYSTEM.get().map_or(TimeZone::UTC, |(zone, _)| *zone)
    }

    /// Parses the value of `time_zone`: SYSTEM, `[+-]hh:mm` between -13:59 and +14:00, or a name.
    pub fn parse(text: &str) -> SqlResult<TimeZone> {
        if text.eq_ignore_ascii_case("system") {
            return Ok(TimeZone::system());
        }
        offset_of(text)
            .map(TimeZone::fixed)
            .or_else(|| named(text).map(|rules| TimeZone(Kind::Named(rules))))
            .ok_or_else(|| SqlError::unknown_time_zone(text))
    }

    /// How the variable `time_zone` shows a value: names as the database spells them.
    pub fn spelled(text: &str) -> SqlResult<String> {
        Ok(match TimeZone::parse(text)?.0 {
            _ if text.eq_ignore_ascii_case("system") => "SYSTEM".to_owned(),
            Kind::Named(rules) => rules.iana_name().unwrap_or(text).to_owned(),
            Kind::Fixed(seconds) => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        })
    }

    /// A UTC moment as this zone's wall clock shows it. The zero date stays zero.
    pub fn from_utc(self, utc: DateTime) -> DateTime {
        match self.0 {
            Kind::Fixed(seconds) => shift(utc, seconds.into()),
            Kind::Named(_) if utc.date().has_zero_part() => utc,
            Kind::Named(rules) => {
                let moment = Timestamp::from_second(utc.to_unix_us().div_euclid(SECOND_US));
                shift(utc, moment.map_or(0, |moment| rules.to_offset(moment).seconds()).into())
            }
        }
    }

    /// The UTC moment of a wall clock reading in this zone.
    pub fn to_utc(self, local: DateTime) -> DateTime {
        match self.0 {
            Kind::Fixed(seconds) => shift(local, -i64::from(seconds)),
            Kind::Named(rules) => self.reading(rules, local).0,
        }
    }

    /// True if the wall clock never shows this reading.
    pub fn skips(self, local: DateTime) -> bool {
        match self.0 {
            Kind::Fixed(_) => false,
            Kind::Named(rules) => self.reading(rules, local).1,
        }
    }

    /// The UTC moment of a reading, and whether it is one that the clock skips.
    fn reading(self, rules: &Rules, local: DateTime) -> (DateTime, bool) {
        let Some(wall) = civil_of(local) else { return (local, false) };
        match rules.to_ambiguous_timestamp(wall).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                (shift(local, -i64::from(offset.seconds())), false)
            }
            AmbiguousOffset::Gap { before, .. } => {
                // By the offset before the change the reading lies behind it.
                let behind = shift(local, -i64::from(before.seconds()));
                let limit = Timestamp::from_second(behind.to_unix_us().div_euclid(SECOND_US))
                    .and_then(|moment| moment.checked_add(SignedDuration::from_secs(1)));
                let change = limit.ok().and_then(|limit| rules.preceding(limit).next());
                let Some(change) = change.map(|change| change.timestamp().as_second()) else {
                    return (behind, true);
                };
                let fraction = local.to_linear_us().rem_euclid(SECOND_US);
                (DateTime::from_unix_us(change * SECOND_US + fraction, local.fsp).unwrap_or(behind), true)
            }
        }
    }
}

/// The reading in `jiff`'s terms, without its fraction; `None` for dates with zero parts.
fn civil_of(local: DateTime) -> Option<civil::DateTime> {
    let date = local.date();
    if date.has_zero_part() {
        return None;
    }
    let seconds = local.time_of_day_us() / SECOND_US;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    civil::DateTime::new(
        i16::try_from(date.year()).ok()?,
        i8::try_from(date.month()).ok()?,
        i8::try_from(date.day()).ok()?,
        hour as i8,
        minute as i8,
        second as i8,
        0,
    )
    .ok()
}

fn shift(moment: DateTime, seconds: i64) -> DateTime {
    if seconds == 0 || moment.date().has_zero_part() {
        return moment;
    }
    DateTime::from_linear_us(moment.to_linear_us() + seconds * SECOND_US, moment.fsp).unwrap_or(moment)
}

/// Seconds of `[+-]h[h]:mm`, as it stands behind a date and time.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    let (_, minutes) = text.split_once(':')?;
    offset_of(text).filter(|_| minutes.len() == 2)
}

/// Seconds of `[+-]h[h]:m[m]`.
fn offset_of(text: &str) -> Option<i32> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'+' => (false, &text[1..]),
        b'-' => (true, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hours) || !digits(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    if minutes > 59 || total > if negative { 13 * 60 + 59 } else { 14 * 60 } {
        return None;
    }
    Some(if negative { -total * 60 } else { total * 60 })
}
