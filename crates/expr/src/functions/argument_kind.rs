//! What a `?` is as an argument of a function, and as an amount of units of time. Recorded, as far as it
//! shows in values, in `tests/mysql/open_arguments.test`.

use super::json_arguments::{is_document_of_cast, takes_value};
use super::json_scalar::{Wanted, temporal_argument, wanted_amount, wanted_number};
use crate::expr::ParameterKind as Kind;
use turnstile_syntax::ast::IntervalUnit;

/// What a `?` is as an argument of a function; None: a text.
pub(crate) fn argument_kind(name: &str, nth: usize) -> Option<Kind> {
    match (name, nth) {
        ("addtime" | "subtime", 0 | 1) | ("timestamp", 1) | ("time_to_sec", 0) => return Some(Kind::Time),
        ("time_format", 0) => return Some(Kind::DateTime),
        ("bin" | "oct" | "conv" | "benchmark" | "last_insert_id", 0) => return Some(Kind::Int),
        ("get_lock" | "uuid_to_bin" | "bin_to_uuid", 1) | ("interval", _) => return Some(Kind::Int),
        ("format", 0) => return Some(Kind::Decimal),
        ("sleep" | "rand", 0) => return Some(Kind::Double),
        ("from_unixtime", 1) => return None,
        // A part of an array or of an object is announced as a text.
        ("json_array" | "json_object", _) => return None,
        ("json_overlaps", _) => return None,
        _ => {}
    }
    if temporal_argument(name, nth).is_some() {
        return Some(Kind::DateTime);
    }
    if is_document_of_cast(name, nth) || takes_value(name, nth) {
        return Some(Kind::Document);
    }
    wanted_number(name, nth, super::takes_numbers(name)).map(of_wanted)
}

/// What a `?` is as an amount of these units: a text where they have several parts.
pub(crate) fn amount_kind(unit: IntervalUnit) -> Kind {
    wanted_amount(unit).map_or(Kind::Text, of_wanted)
}

/// What a `?` is that an amount of these units is added to.
pub(crate) fn summand_kind(unit: IntervalUnit) -> Kind {
    use IntervalUnit as Unit;
    match unit {
        Unit::Day | Unit::Week | Unit::Month | Unit::Quarter | Unit::Year | Unit::YearMonth => Kind::Date,
        _ => Kind::DateTime,
    }
}

fn of_wanted(wanted: Wanted) -> Kind {
    match wanted {
        Wanted::Integer => Kind::Int,
        Wanted::Decimal => Kind::Decimal,
        Wanted::Double => Kind::Double,
    }
}
