//! What the parameters of a prepared statement are, by where they stand and by what they are given.
//!
//! MySQL derives a type for each `?` when a statement is prepared: what it is compared or computed with, the
//! column that it is put into ([`turnstile_expr::expr`] tells us, [`Deriving`] notes it). When the statement
//! is run, a value may keep that type, as a text does and as a whole number does that stands for a decimal;
//! then it is converted. If any value may not, each parameter has the type of its value instead.
//!
//! What an earlier run was given does not count: a text after a number is what it would have been before it.

use std::cell::RefCell;

use smallvec::SmallVec;

use super::computed;
use turnstile_expr::expr::{Hold, MOMENT_MIN, ParameterKind, clock_of_number, whole_number};
use turnstile_values::datetime::{self, Date, DateRules};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, parse_double_prefix, parse_integer_prefix};

use ParameterKind as Kind;

/// The kinds of a statement's parameters.
pub type Kinds = SmallVec<[ParameterKind; 8]>;

/// What one parameter is by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// Its kind.
    pub kind: ParameterKind,
    /// Why.
    pub hold: Hold,
}

impl Default for Derived {
    fn default() -> Derived {
        Derived { kind: Kind::Text, hold: Hold::None }
    }
}

/// What all parameters of a statement are.
pub type AllDerived = SmallVec<[Derived; 4]>;

/// What planning finds out about a statement's parameters.
#[derive(Debug, Default)]
pub struct Deriving(RefCell<AllDerived>);

impl Deriving {
    /// Of so many parameters.
    pub fn of(count: usize) -> Deriving {
        Deriving(RefCell::new(smallvec::smallvec![Derived::default(); count]))
    }

    /// Notes what a parameter is. The first to decide it stands nearest.
    pub fn note(&self, at: u32, hold: Hold, kind: ParameterKind) {
        let mut all = self.0.borrow_mut();
        let Some(one) = all.get_mut(at as usize) else { return };
        if one.hold == Hold::None || one.hold == Hold::Weak && hold != Hold::Weak {
            *one = Derived { kind, hold };
        }
    }

    /// What was found.
    pub fn found(&self) -> AllDerived {
        self.0.borrow().clone()
    }
}

/// The statement that runs a prepared one, as errors name it.
pub const TEXT_COMMAND: &str = "EXECUTE";

/// Whether LIMIT counts rows by a value that is no whole number, or by one below zero.
///
/// # Errors
/// 1210 for the one, 1690 for the other; `command` is what runs the statement.
pub fn check_counts(derived: &[Derived], values: &[Value], command: &str) -> SqlResult<()> {
    // What comes in packets is told of with a sign, and a text there is read.
    let packets = command != TEXT_COMMAND;
    let counts = derived.iter().zip(values).filter(|(one, _)| one.hold == Hold::Count);
    for (_, value) in counts {
        match value {
            Value::Null | Value::UInt(_) | Value::Int(0..) => {}
            Value::Int(_) => {
                let kind = if packets { "SIGNED INTEGER" } else { "unsigned integer" };
                return Err(SqlError::value_out_of_range(kind, command));
            }
            Value::Str(_) | Value::Bytes(_) if packets => {}
            _ => return Err(SqlError::wrong_arguments(command)),
        }
    }
    Ok(())
}

/// Values as a plan takes them.
pub struct Given {
    /// What they are.
    pub kinds: Kinds,
    /// They themselves, where one of them was converted.
    pub values: Option<Vec<Value>>,
}

/// What a value is where another kind is expected.
enum Fit {
    /// What is expected.
    Same,
    /// Of this kind, by itself or converted; what is expected holds for the others.
    As(ParameterKind, Option<Value>),
    /// Something else: each parameter is what its value is.
    Anew(ParameterKind, Option<Value>),
}

/// The values as what they are to be; None if all are that already.
#[inline]
pub fn given(derived: &[Derived], values: &[Value]) -> Option<Given> {
    let fits = |(one, value): (&Derived, &Value)| {
        let is_kind = || !one.hold.computes() && one.kind == ParameterKind::of(value);
        let converts = one.hold.converts() && !is_clock_for_text(one, value) && !is_read_first(one, value);
        converts || value.is_null() || is_kind()
    };
    if derived.iter().zip(values).all(fits) { None } else { Some(converted(derived, values)) }
}

/// The kinds of values that are what is expected.
pub fn expected(derived: &[Derived], values: &[Value]) -> Kinds {
    let kind = |(one, value): (&Derived, &Value)| {
        if value.is_null() || !one.hold.converts() { one.kind } else { Kind::of(value) }
    };
    derived.iter().zip(values).map(kind).collect()
}

#[cold]
fn converted(derived: &[Derived], values: &[Value]) -> Given {
    let fits: SmallVec<[Fit; 4]> = derived.iter().zip(values).map(|(one, value)| fit(*one, value)).collect();
    let anew = fits.iter().any(|fit| matches!(fit, Fit::Anew(..)));
    let mut kinds = expected(derived, values);
    let mut changed: Option<Vec<Value>> = None;
    for (at, fit) in fits.into_iter().enumerate() {
        let actual = Kind::of(&values[at]);
        let (kind, value) = match fit {
            Fit::Same => continue,
            // Of a text that is no number nothing but the text is left.
            Fit::As(kind, _) if anew && (is_misfit(kind) || kind == Kind::OfNull) => (actual, None),
            Fit::As(_, _) if anew && actual != Kind::Text && !derived[at].hold.computes() => (actual, None),
            Fit::As(kind, value) | Fit::Anew(kind, value) => (kind, value),
        };
        kinds[at] = kind;
        if let Some(value) = value {
            changed.get_or_insert_with(|| values.to_vec())[at] = value;
        }
    }
    Given { kinds, values: changed }
}

/// Whether a moment or a time is put into a column of texts or bytes.
fn is_clock_for_text(derived: &Derived, value: &Value) -> bool {
    matches!(derived.hold, Hold::Stored | Hold::Joined)
        && matches!(derived.kind, Kind::Text | Kind::Bytes)
        && matches!(value, Value::DateTime(_) | Value::Time(_))
}

/// Whether a text is read as the number that it spells before it is converted to a whole one.
#[inline]
fn is_read_first(derived: &Derived, value: &Value) -> bool {
    let whole = match derived.hold {
        Hold::Pinned | Hold::Count => matches!(derived.kind, Kind::Int | Kind::UInt),
        Hold::Joined => matches!(derived.kind, Kind::Int | Kind::UInt | Kind::Year | Kind::Double),
        _ => false,
    };
    whole && matches!(value, Value::Str(_) | Value::Bytes(_))
}

fn is_misfit(kind: ParameterKind) -> bool {
    matches!(
        kind,
        Kind::NoInt
            | Kind::NoUInt
            | Kind::PastInt
            | Kind::NoYear
            | Kind::NoDecimal
            | Kind::NoDouble
            | Kind::NoMicros
            | Kind::NoClock
            | Kind::Today
            | Kind::NoMoment
            | Kind::NoDate
            | Kind::NoTime
    )
}

fn fit(derived: Derived, value: &Value) -> Fit {
    let actual = Kind::of(value);
    if is_clock_for_text(&derived, value) {
        return Fit::As(Kind::Text, Some(computed::stored_text(value)));
    }
    if is_read_first(&derived, value) {
        let text = value.as_raw_bytes().unwrap_or_default();
        return match derived.hold {
            Hold::Count => count_of(text),
            Hold::Joined => joined_as(derived.kind, text),
            _ => whole_of(derived.kind, text),
        };
    }
    let as_it_is = derived.hold.converts() || actual == derived.kind && !derived.hold.computes();
    if as_it_is || actual == Kind::Null {
        return Fit::Same;
    }
    if derived.hold.computes() {
        let whole = derived.kind == Kind::Date || derived.hold == Hold::Bits;
        return match computed::beside(derived.kind, value, whole) {
            Some((kind, value)) => Fit::As(kind, Some(value)),
            None if whole => Fit::As(Kind::NoInt, None),
            None if derived.kind == Kind::Time => Fit::As(Kind::NoClock, None),
            None => Fit::As(Kind::NoMicros, None),
        };
    }
    if derived.hold == Hold::Read {
        let said = match value {
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_)
                if derived.kind == Kind::DateTime =>
            {
                number_as(derived, value)
            }
            Value::DateTime(_) | Value::Date(_) => kept_as(derived, value),
            _ if actual == Kind::Text => moment_as(derived, value),
            _ => return Fit::As(actual, None),
        };
        return match said {
            Fit::As(kind, _) if is_misfit(kind) => Fit::As(actual, None),
            said => said,
        };
    }
    if actual == Kind::Text {
        return real_of_moment(derived.hold, value).unwrap_or_else(|| text_as(derived, value));
    }
    kept_as(derived, value)
}

/// A text that says a date or a time, as the DOUBLE that is computed with another.
fn real_of_moment(hold: Hold, value: &Value) -> Option<Fit> {
    let beside = match hold {
        Hold::RealOfDay => Kind::DateTime,
        Hold::RealOfTime => Kind::Time,
        _ => return None,
    };
    let (_, Value::Decimal(number)) = computed::beside(beside, value, false)? else { return None };
    Some(Fit::As(Kind::Double, Some(Value::Double(number.to_f64()))))
}

/// A value that is no text as what is expected.
fn kept_as(derived: Derived, value: &Value) -> Fit {
    match (derived.kind, value) {
        (Kind::Decimal, Value::Int(number)) => {
            Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(*number))))
        }
        (Kind::Decimal, Value::UInt(number)) => {
            Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(*number))))
        }
        (Kind::Double, Value::Int(number)) => Fit::As(Kind::Double, Some(Value::Double(*number as f64))),
        (Kind::Double, Value::UInt(number)) => Fit::As(Kind::Double, Some(Value::Double(*number as f64))),
        (Kind::Double, Value::Decimal(number)) => Fit::As(Kind::Double, Some(Value::Double(number.to_f64()))),
        (Kind::Bits, Value::UInt(_)) => Fit::As(Kind::UInt, None),
        (Kind::Year, Value::Int(_) | Value::UInt(_)) => Fit::As(Kind::Year, None),
        (Kind::DateTime, Value::Time(_)) if derived.hold == Hold::Argument => Fit::As(Kind::Today, None),
        (Kind::Time, Value::DateTime(moment)) => Fit::As(Kind::Time, Some(Value::Time(moment.time()))),
        // Beside times whole numbers have a sign.
        (Kind::Time, Value::UInt(number)) if *number > i64::MAX as u64 => {
            let signed = Value::Int(*number as i64);
            match number_as(derived, &signed) {
                Fit::As(kind, None) => Fit::As(kind, Some(signed)),
                said => said,
            }
        }
        (Kind::DateTime, Value::Date(date)) => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(date.at_midnight())))
        }
        (
            Kind::DateTime | Kind::Date | Kind::Time,
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_),
        ) => number_as(derived, value),
        _ => Fit::Anew(Kind::of(value), None),
    }
}

/// A text as what is expected.
fn text_as(derived: Derived, value: &Value) -> Fit {
    let text = value.as_raw_bytes().unwrap_or_default();
    match derived.kind {
        Kind::Int | Kind::UInt | Kind::Bits | Kind::Year => integer_as(derived, text),
        Kind::Decimal => match spelt_number(text) {
            Some(Value::Int(number)) => Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
            Some(Value::UInt(number)) => Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
            Some(number) => Fit::As(Kind::Decimal, Some(number)),
            None => Fit::As(Kind::NoDecimal, None),
        },
        Kind::Double => match parse_double_prefix(text) {
            (number, true) => Fit::As(Kind::Double, Some(Value::Double(number))),
            // What says nothing is zero.
            _ if text.trim_ascii().is_empty() => Fit::As(Kind::Double, Some(Value::Double(0.0))),
            _ => Fit::As(Kind::NoDouble, None),
        },
        Kind::Date | Kind::Time | Kind::DateTime if matches!(derived.hold, Hold::Output | Hold::Argument) => {
            moment_as(derived, value)
        }
        Kind::Time => match moment_as(derived, value) {
            misfit @ Fit::As(Kind::NoTime, _) => misfit,
            _ => Fit::As(Kind::Text, None),
        },
        Kind::Date if derived.hold != Hold::Bounds => match moment_as(derived, value) {
            misfit @ Fit::As(Kind::NoDate, _) => misfit,
            _ => Fit::As(Kind::Text, None),
        },
        Kind::Bytes | Kind::FewBytes | Kind::OfNull => Fit::As(derived.kind, None),
        _ => Fit::As(Kind::Text, None),
    }
}

/// A text as the whole number that it spells. One with a sign or a fraction is a DECIMAL where it stands, but
/// beside BIT and YEAR a fraction is not read.
fn integer_as(derived: Derived, text: &[u8]) -> Fit {
    let unsigned = matches!(derived.kind, Kind::UInt | Kind::Bits);
    match spelt_number(text) {
        Some(Value::Int(number)) if number < 0 => {
            Fit::Anew(Kind::Decimal, Some(Value::Decimal(Decimal::from(number))))
        }
        Some(Value::Int(number)) if unsigned => Fit::As(Kind::UInt, Some(Value::UInt(number as u64))),
        Some(number @ Value::UInt(_)) if unsigned => Fit::As(Kind::UInt, Some(number)),
        Some(Value::UInt(number)) => Fit::Anew(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
        Some(number @ Value::Int(_)) => Fit::As(derived.kind, Some(number)),
        Some(number) if matches!(derived.kind, Kind::Int | Kind::UInt) => {
            Fit::Anew(Kind::Decimal, Some(number))
        }
        _ if unsigned => Fit::As(Kind::NoUInt, None),
        _ if derived.kind == Kind::Year && derived.hold == Hold::Output => Fit::As(Kind::NoYear, None),
        _ => Fit::As(Kind::NoInt, None),
    }
}

/// A text where a function or a cast takes a whole number: the number that it spells, rounded.
fn whole_of(kind: ParameterKind, text: &[u8]) -> Fit {
    match spelt_number(text) {
        Some(number @ Value::UInt(_)) if kind == Kind::UInt => Fit::As(Kind::UInt, Some(number)),
        Some(number @ Value::Int(_)) => Fit::As(Kind::Int, Some(number)),
        Some(Value::Decimal(number)) => {
            match number.round_to(0).to_scaled_i128().and_then(|whole| i64::try_from(whole).ok()) {
                Some(whole) => Fit::As(Kind::Int, Some(Value::Int(whole))),
                None => Fit::As(Kind::PastInt, None),
            }
        }
        Some(_) => Fit::As(Kind::PastInt, None),
        None => Fit::As(Kind::NoInt, None),
    }
}

/// A text that UNION gives a column of numbers: MySQL reads the number that it begins with, and tells nothing
/// of what follows it.
fn joined_as(kind: ParameterKind, text: &[u8]) -> Fit {
    if kind == Kind::Double {
        let (number, _) = parse_double_prefix(text);
        let begins = Decimal::parse_prefix(text).consumed > 0;
        return if begins { Fit::As(Kind::Double, Some(Value::Double(number))) } else { Fit::Same };
    }
    let (number, complete) = parse_integer_prefix(text);
    let is_year = matches!(number, 0..=99 | 1901..=2155);
    let number = match kind {
        Kind::Year if !(is_year || complete && number < 0) => 0,
        _ if complete || spelt_number(text).is_some() => return Fit::Same,
        Kind::UInt => number.max(0),
        _ => number,
    };
    let end = if number < 0 { i64::MIN } else { i64::MAX };
    Fit::As(Kind::Int, Some(Value::Int(i64::try_from(number).unwrap_or(end))))
}

/// A text where LIMIT counts rows: the whole number that it begins with, its sign read as bits.
fn count_of(text: &[u8]) -> Fit {
    let (number, _) = parse_integer_prefix(text);
    let count = match number < 0 {
        true => i64::try_from(number).unwrap_or(i64::MIN) as u64,
        false => u64::try_from(number).unwrap_or(u64::MAX),
    };
    Fit::As(Kind::UInt, Some(Value::UInt(count)))
}

/// A text as the date or the time that it says.
fn moment_as(derived: Derived, value: &Value) -> Fit {
    let text = value.as_raw_bytes().unwrap_or_default();
    if derived.kind == Kind::Time {
        return match datetime::parse_time(text) {
            Some((time, cut)) if !cut || derived.hold == Hold::Output => {
                Fit::As(Kind::Time, Some(Value::Time(time)))
            }
            Some(_) | None => Fit::As(Kind::NoTime, None),
        };
    }
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    match datetime::parse_date_time(text, rules) {
        None if derived.kind == Kind::Date => Fit::As(Kind::NoDate, None),
        None => Fit::As(Kind::NoMoment, None),
        Some(parsed) if derived.kind == Kind::DateTime => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(parsed.moment)))
        }
        Some(parsed) if parsed.has_time => Fit::Anew(Kind::DateTime, Some(Value::DateTime(parsed.moment))),
        Some(parsed) => Fit::As(Kind::Date, Some(Value::Date(parsed.moment.date()))),
    }
}

/// A number as the date or the time that it says. What says a time of day alone stays a number beside one.
fn number_as(derived: Derived, value: &Value) -> Fit {
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    // What is behind the point is not read.
    let number = match value {
        Value::Decimal(number) => whole_number(&Value::Double(number.to_f64().trunc())),
        Value::Double(number) => whole_number(&Value::Double(number.trunc())),
        whole => whole_number(whole),
    };
    let said = number.and_then(|number| datetime::parse_number(number, rules));
    match (derived.kind, said, number) {
        (Kind::Time, Some(said), Some(MOMENT_MIN..)) => {
            Fit::As(Kind::Time, Some(Value::Time(said.moment.time())))
        }
        (Kind::Time, ..) => match clock_of_number(value) {
            None => Fit::As(Kind::NoTime, None),
            Some(_) if matches!(derived.hold, Hold::Output | Hold::Argument) => {
                moment_as(derived, &Value::text(turnstile_values::value::to_text(value)))
            }
            Some(_) => Fit::As(Kind::of(value), None),
        },
        (kind, Some(said), _) if said.has_time || kind == Kind::DateTime => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(said.moment)))
        }
        (_, Some(said), _) => Fit::As(Kind::Date, Some(Value::Date(said.moment.date()))),
        // Of three digits or fewer a month may be 0.
        (Kind::Date, None, Some(day @ 1..=100)) if day % 100 <= 31 && derived.hold != Hold::Argument => {
            let day = day as u32;
            Fit::As(Kind::Date, Some(Value::Date(Date::from_parts(2000, day / 100, day % 100))))
        }
        (Kind::Date, ..) => Fit::As(Kind::NoDate, None),
        _ => Fit::As(Kind::NoMoment, None),
    }
}

/// The number that all of a text spells, blanks around it left out.
pub(super) fn spelt_number(text: &[u8]) -> Option<Value> {
    let text = text.trim_ascii();
    if !matches!(text.first()?, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(number) = text.parse() {
        return Some(Value::Int(number));
    }
    if let Ok(number) = text.parse() {
        return Some(Value::UInt(number));
    }
    Decimal::parse(text).map(Value::Decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: ParameterKind, hold: Hold, value: Value) -> (ParameterKind, Value) {
        let values = [value];
        match given(&[Derived { kind, hold }], &values) {
            None => (expected(&[Derived { kind, hold }], &values)[0], values[0].clone()),
            Some(given) => (given.kinds[0], given.values.map_or(values[0].clone(), |all| all[0].clone())),
        }
    }

    #[test]
    fn a_value_becomes_what_is_expected() {
        let decimal = |text: &str| Decimal::parse(text).map(Value::Decimal).expect("a number");
        let beside = |kind, value| one(kind, Hold::Beside, value);
        assert_eq!(
            beside(Kind::Int, Value::text("9007199254740993")),
            (Kind::Int, Value::Int(9_007_199_254_740_993))
        );
        assert_eq!(beside(Kind::Int, Value::text(" 5 ")), (Kind::Int, Value::Int(5)));
        assert_eq!(beside(Kind::Int, Value::text("0.10")), (Kind::Decimal, decimal("0.10")));
        assert_eq!(beside(Kind::Decimal, Value::Int(5)), (Kind::Decimal, decimal("5")));
        assert_eq!(beside(Kind::Double, decimal("1.5")), (Kind::Double, Value::Double(1.5)));
        assert_eq!(beside(Kind::Text, Value::Int(5)), (Kind::Int, Value::Int(5)));
        assert_eq!(beside(Kind::Int, Value::Null), (Kind::Int, Value::Null));
        assert_eq!(beside(Kind::Double, Value::text(" ")), (Kind::Double, Value::Double(0.0)));
        assert_eq!(beside(Kind::Time, Value::UInt(u64::MAX)), (Kind::Int, Value::Int(-1)));
        for text in ["", "abc", "12abc", "1 2", "nan", "-", "2024-01-01"] {
            assert_eq!(beside(Kind::Int, Value::text(text)), (Kind::NoInt, Value::text(text)), "{text}");
        }
        let pinned = |text: &str| one(Kind::Int, Hold::Pinned, Value::text(text));
        assert_eq!(pinned("x"), (Kind::NoInt, Value::text("x")));
        assert_eq!(pinned("1.5"), (Kind::Int, Value::Int(2)));
        assert_eq!(pinned("-2"), (Kind::Int, Value::Int(-2)));
        assert_eq!(beside(Kind::Int, Value::text("-2")), (Kind::Decimal, decimal("-2")));
        assert_eq!(beside(Kind::Bits, Value::text("1.5")), (Kind::NoUInt, Value::text("1.5")));
    }

    #[test]
    fn a_function_reads_what_it_is_given_as_its_own_kind() {
        let moment = |text: &str| {
            let rules = DateRules { invalid: true, ..DateRules::LENIENT };
            Value::DateTime(datetime::parse_date_time(text.as_bytes(), rules).expect("a moment").moment)
        };
        let time = |text: &str| Value::Time(datetime::parse_time(text.as_bytes()).expect("a time").0);
        let (clock, noon) = (time("12:00:00"), moment("2024-01-01 12:00:00"));
        // Where a moment is wanted a time is that of today.
        assert_eq!(one(Kind::DateTime, Hold::Argument, clock.clone()), (Kind::Today, clock.clone()));
        assert_eq!(one(Kind::DateTime, Hold::Read, clock.clone()), (Kind::Time, clock.clone()));
        assert_eq!(one(Kind::Time, Hold::Argument, noon.clone()), (Kind::Time, clock));
        // Beside a time it is that too; a date is none.
        assert_eq!(one(Kind::Time, Hold::Beside, noon.clone()), (Kind::Time, time("12:00:00")));
        assert_eq!(one(Kind::Time, Hold::Bounds, noon.clone()), (Kind::Time, time("12:00:00")));
        let day = Value::Date(Date::from_parts(2024, 1, 1));
        assert_eq!(one(Kind::Time, Hold::Beside, day.clone()), (Kind::Date, day));
        assert_eq!(
            one(Kind::DateTime, Hold::Argument, Value::text("2024-01-01 12:00:00")),
            (Kind::DateTime, noon)
        );
        assert_eq!(one(Kind::DateTime, Hold::Argument, Value::Int(1)), (Kind::NoMoment, Value::Int(1)));
        assert_eq!(one(Kind::DateTime, Hold::Read, Value::Int(1)), (Kind::Int, Value::Int(1)));
    }

    #[test]
    fn union_reads_the_number_that_a_text_begins_with() {
        let joined = |kind, text: &str| one(kind, Hold::Joined, Value::text(text));
        for (text, number) in [("12abc", 12), ("-5x", -5), ("", 0), ("abc", 0)] {
            assert_eq!(joined(Kind::Int, text), (Kind::Int, Value::Int(number)), "{text}");
        }
        assert_eq!(joined(Kind::UInt, "-5x"), (Kind::Int, Value::Int(0)));
        assert_eq!(joined(Kind::Year, "300"), (Kind::Int, Value::Int(0)));
        assert_eq!(joined(Kind::Double, "1.5x"), (Kind::Double, Value::Double(1.5)));
        // The column checks these.
        for (kind, text) in [(Kind::Int, "12"), (Kind::Int, "1.5"), (Kind::Year, "-3"), (Kind::Double, "x")] {
            assert_eq!(joined(kind, text), (Kind::Text, Value::text(text)), "{text}");
        }
    }

    #[test]
    fn a_rounded_text_of_a_date_is_its_number() {
        let real = |hold, text: &str| one(Kind::Double, hold, Value::text(text));
        let double = |number| (Kind::Double, Value::Double(number));
        assert_eq!(real(Hold::RealOfDay, "2024-02-29"), double(20_240_229.0));
        assert_eq!(real(Hold::RealOfDay, "1.5"), double(1.5));
        assert_eq!(real(Hold::RealOfTime, "10:11:12"), double(101_112.0));
        assert_eq!(real(Hold::RealOfTime, "x"), (Kind::NoDouble, Value::text("x")));
        assert_eq!(one(Kind::Double, Hold::RealOfDay, Value::Int(2)), double(2.0));
    }

    #[test]
    fn rows_are_counted_by_whole_numbers() {
        let count = [Derived { kind: Kind::Int, hold: Hold::Count }];
        let told = |value: Value| check_counts(&count, &[value], "EXECUTE").err().map(|error| error.code);
        assert_eq!(told(Value::Int(0)), None);
        assert_eq!(told(Value::UInt(u64::MAX)), None);
        assert_eq!(told(Value::Null), None);
        assert_eq!(told(Value::Int(-1)), Some(1690));
        for wrong in [Value::text("1"), Value::Double(1.0), Value::Decimal(Decimal::from(1_i64))] {
            assert_eq!(told(wrong), Some(1210));
        }
        let packet = |value: Value| check_counts(&count, &[value], "mysqld_stmt_execute").is_ok();
        assert!(packet(Value::text("1")));
        assert!(!packet(Value::Double(1.0)));
        let counted = |text: &str| one(Kind::Int, Hold::Count, Value::text(text)).1;
        assert_eq!(counted(" 7 "), Value::UInt(7));
        assert_eq!(counted("12abc"), Value::UInt(12));
        assert_eq!(counted("-1"), Value::UInt(u64::MAX));
    }

    #[test]
    fn one_that_does_not_fit_makes_all_what_they_are() {
        let beside = |kind| Derived { kind, hold: Hold::Beside };
        let derived = [beside(Kind::Double), beside(Kind::Int), beside(Kind::Text)];
        let kinds = |last: Value| {
            given(&derived, &[Value::Int(1), Value::text("a"), last]).map(|given| given.kinds.to_vec())
        };
        assert_eq!(kinds(Value::text("b")), Some(vec![Kind::Double, Kind::NoInt, Kind::Text]));
        assert_eq!(kinds(Value::Int(2)), Some(vec![Kind::Int, Kind::Text, Kind::Int]));
    }
}
