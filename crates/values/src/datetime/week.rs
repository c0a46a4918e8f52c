//! Day-of-week and week-number rules: WEEK's eight modes, YEARWEEK, DAYOFYEAR.

use super::Date;

/// 0 = Monday .. 6 = Sunday.
pub fn day_of_week(date: Date) -> u32 {
    ((date.to_days() + 5) % 7) as u32
}

/// 1 = first of January.
pub fn day_of_year(date: Date) -> u32 {
    (date.to_days() - Date::from_parts(date.year(), 1, 1).to_days() + 1) as u32
}

/// WEEK(date, mode).
///
/// | mode | first day | range | week 1 is the first with |
/// |---|---|---|---|
/// | 0 / 2 | Sunday | 0-53 / 1-53 | a Sunday in the year |
/// | 1 / 3 | Monday | 0-53 / 1-53 | four days in the year |
/// | 4 / 6 | Sunday | 0-53 / 1-53 | four days in the year |
/// | 5 / 7 | Monday | 0-53 / 1-53 | a Monday in the year |
pub fn week_number(date: Date, mode: u32) -> u32 {
    year_and_week(date, mode & 7).1
}

/// YEARWEEK(date, mode): year * 100 + week, always in the range 1-53.
pub fn year_week(date: Date, mode: u32) -> u32 {
    let (year, week) = year_and_week(date, mode & 7 | 2);
    year as u32 * 100 + week
}

/// Day number on which week 1 of `year` starts.
fn first_week_start(year: i64, mode: u32) -> i64 {
    let monday_first = mode & 1 != 0;
    let four_days = matches!(mode, 1 | 3 | 4 | 6);
    let january_first = if year < 0 {
        Date::from_parts(0, 1, 1).to_days() - 365
    } else {
        Date::from_parts(year as u32, 1, 1).to_days()
    };
    let weekday = (january_first + 5 + i64::from(!monday_first)).rem_euclid(7);
    let whole_week_before = if four_days { weekday <= 3 } else { weekday == 0 };
    if whole_week_before { january_first - weekday } else { january_first + 7 - weekday }
}

fn year_and_week(date: Date, mode: u32) -> (i64, u32) {
    let weeks_belong_to_years = mode & 2 != 0;
    let day = date.to_days();
    let mut year = i64::from(date.year());
    if weeks_belong_to_years && day >= first_week_start(year + 1, mode) {
        return (year + 1, 1);
    }
    let mut start = first_week_start(year, mode);
    if day < start {
        if !weeks_belong_to_years {
            return (year, 0);
        }
        year -= 1;
        start = first_week_start(year, mode);
    }
    (year, ((day - start) / 7 + 1) as u32)
}
