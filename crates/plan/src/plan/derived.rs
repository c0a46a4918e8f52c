//! What the parameters of a prepared statement are, by where they stand and by what they are given.
//!
//! MySQL derives a type for each `?` when a statement is prepared: what it is compared or computed with, the
//! column that it is put into ([`turnstile_expr::expr`] tells us, [`Deriving`] notes it). When the statement
//! is run, a value may keep that type, as a text does and as a whole number does that stands for a decimal;
//! then it is converted. If any value may not, each parameter has the type of its value instead.
//!
//! What an earlier run was given does not count: a text after a number is what it would have been before it.

mod fit;

use std::cell::RefCell;

use ParameterKind as Kind;
use smallvec::SmallVec;
use turnstile_expr::expr::{Hold, ParameterKind};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

pub(super) use fit::spelt_number;
use fit::{Fit, fit, is_misfit};

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

#[cfg(test)]
mod tests {
    use super::*;
    use turnstile_values::datetime;
    use turnstile_values::datetime::Date;
    use turnstile_values::datetime::DateRules;
    use turnstile_values::decimal::Decimal;

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
