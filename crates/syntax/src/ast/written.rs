//! How names and units are written in a statement.

use super::IntervalUnit;

/// A name in backticks.
pub fn quote_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A unit as it is printed.
pub fn unit_text(unit: IntervalUnit) -> &'static str {
    use IntervalUnit as U;
    match unit {
        U::Microsecond => "microsecond",
        U::Second => "second",
        U::Minute => "minute",
        U::Hour => "hour",
        U::Day => "day",
        U::Week => "week",
        U::Month => "month",
        U::Quarter => "quarter",
        U::Year => "year",
        U::SecondMicrosecond => "second_microsecond",
        U::MinuteMicrosecond => "minute_microsecond",
        U::MinuteSecond => "minute_second",
        U::HourMicrosecond => "hour_microsecond",
        U::HourSecond => "hour_second",
        U::HourMinute => "hour_minute",
        U::DayMicrosecond => "day_microsecond",
        U::DaySecond => "day_second",
        U::DayMinute => "day_minute",
        U::DayHour => "day_hour",
        U::YearMonth => "year_month",
    }
}
