//! Looking values up gives what comparing with each of them gives.

use smallvec::SmallVec;
use turnstile_sys::rng::Rng;

use crate::expr::compare_checked;
use turnstile_values::collation::Collation;
use turnstile_values::context::{EvalContext, EvalSettings, NoSession, Warnings};
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::SqlResult;
use turnstile_values::lookup::Lookup;
use turnstile_values::value::Value;

/// Looking up and walking give the same for values of all classes.
#[test]
fn what_is_looked_up_is_what_is_walked() {
    let date = |text: &str| datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT).unwrap().moment;
    let pool = [
        Value::Null,
        Value::Int(1),
        Value::Int(-1),
        Value::UInt(1),
        Value::UInt(u64::MAX),
        Value::Double(1.0),
        Value::Double(1.5),
        Value::Double(-0.0),
        Value::Int(0),
        Value::Decimal(Decimal::parse("1.0").unwrap()),
        Value::Decimal(Decimal::parse("1.50").unwrap()),
        Value::text("a"),
        Value::text("A "),
        Value::text("1"),
        Value::text("1.5"),
        Value::text(""),
        Value::text("2024-01-01"),
        Value::bytes(*b"a"),
        Value::bytes(*b"A"),
        Value::bytes(*b"1"),
        Value::DateTime(date("2024-01-01 00:00:00")),
        Value::Date(date("2024-01-01").date()),
        Value::Date(date("2024-01-02").date()),
    ];
    let warnings = Warnings::new();
    let context = EvalContext {
        settings: EvalSettings::default(),
        parameters: &[],
        session: &NoSession,
        warnings: &warnings,
    };
    let mut rng = Rng::new(5);
    let mut draw = || pool[rng.below(pool.len() as u64) as usize].clone();
    let mut seen = [0; 3];
    for round in 0..30_000 {
        let collation = [Collation::DEFAULT, Collation::Utf8mb4Bin][round % 2];
        let list: Vec<Value> = (0..4).map(|_| draw()).collect();
        let walk = |operand: &Value| -> SqlResult<Option<bool>> {
            let mut unknown = false;
            for one in &list {
                match compare_checked(operand, one, collation, &context)? {
                    Some(order) if order.is_eq() => return Ok(Some(true)),
                    None => unknown = true,
                    _ => {}
                }
            }
            Ok(if unknown { None } else { Some(false) })
        };
        let (model, operand) = (draw(), draw());
        let candidate = |nth: usize| Some(SmallVec::from_iter([&list[nth]]));
        let lookup = Lookup::build(&[&model], &[collation], list.len(), candidate, &context).unwrap();
        if operand.is_null() || !lookup.fits(&[&operand]) {
            continue;
        }
        let compare = |nth: usize| {
            let order = compare_checked(&operand, &list[nth], collation, &context)?;
            Ok(order.map(std::cmp::Ordering::is_eq))
        };
        let found = lookup.contains(&[&operand], &[collation], &context, compare);
        let expected = walk(&operand);
        // Walking may meet a text that is no date before it meets the value.
        let (Ok(found), Ok(expected)) = (&found, &expected) else {
            assert!(expected.is_err(), "{operand:?} IN {list:?}");
            continue;
        };
        assert_eq!(found, expected, "{operand:?} IN {list:?}");
        seen[found.map_or(2, usize::from)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}
