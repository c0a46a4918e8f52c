//! Every function, operator and conversion with the values at the ends of all types: whatever they answer,
//! none may panic. Builds for tests check every addition.

use std::panic::catch_unwind;

use super::super::tables;
use super::{evaluate, settings};
use crate::expr::EvalSettings;

const VALUES: &[&str] = &[
    "NULL",
    "0",
    "-1",
    "2",
    "9223372036854775807",
    "(-9223372036854775807 - 1)",
    "18446744073709551615",
    "2147483648",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "5e-324",
    "99999999999999999999999999999999999.999999999999999999999999999999",
    "-99999999999999999999999999999999999999999999999999999999999999999",
    "''",
    "'a'",
    "'ÿ€😀'",
    "'-9223372036854775808'",
    "'18446744073709551616'",
    "'9999-12-31 23:59:59.999999'",
    "'0000-00-00'",
    "'-838:59:59.999999'",
    "DATE'9999-12-31'",
    "DATE'0001-01-01'",
    "TIME'-838:59:59'",
    "TIMESTAMP'9999-12-31 23:59:59.999999'",
    "TIMESTAMP'0001-01-01 00:00:00'",
    "x''",
    "x'FF00'",
    "CAST('{\"a\": [1, -9223372036854775808]}' AS JSON)",
    "'$.a[18446744073709551615]'",
    "'%Y %j %U %f %'",
    "REPEAT('ab', 600)",
];

const UNITS: &[&str] = &[
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "DIV",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "=",
    "<=>",
    "<",
    "<>",
    ">=",
    "LIKE",
    "REGEXP",
    "AND",
    "XOR",
    "MEMBER OF",
];

const TYPES: &[&str] = &[
    "SIGNED",
    "UNSIGNED",
    "DECIMAL(65,30)",
    "DECIMAL(1,0)",
    "DOUBLE",
    "FLOAT",
    "CHAR(3)",
    "BINARY(3)",
    "DATE",
    "TIME(6)",
    "DATETIME(6)",
    "YEAR",
    "JSON",
];

/// Numbers as a text may have them, in every place where one is read.
const NUMBERS: &[&str] = &[
    "9999999999",
    "99999999999",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999",
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    "-9223372036854775808",
    "1e308",
    "1e-308",
    "1e99999999999999999999",
    "",
];

/// Texts in which a number stands at N.
const SHAPES: &[&str] = &[
    "N",
    "-N",
    ".N",
    "0.N",
    "N.N",
    "1e-N",
    "0x N",
    "N:1:1",
    "1:N:1",
    "1:1:N",
    "-N:1",
    "1:1:1.N",
    "1 N",
    "N 1",
    "-N N",
    "N N:N:N.N",
    "1 N:1:1",
    "1 1:N:1",
    "N-1-1",
    "1-N-1",
    "1-1-N",
    "2026-01-01 N",
    "2026-01-01 1:N",
    "2026-01-01 1:1:N",
    "2026-01-01 1:1:1.N",
    "2026-01-01 1:1:1+N",
    "2026-01-01 1:1:1-1:N",
    "2026-01-01TN",
    "20260101TN",
    "9999-12-31 23:59:59.9999999N",
    "N N N N N",
    "[N]",
    "$[N]",
    "$.a[last-N]",
    "$[N to N]",
    "N.1.1.1",
    "::N",
    "{\"a\": N}",
    "%N",
    "a{N}",
    "(a)$N",
    "\\\\N",
];

fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// Those of the texts whose evaluation panics.
fn that_panic(texts: impl Iterator<Item = String>) -> Vec<String> {
    let settings = EvalSettings { result_bytes_max: 1 << 16, ..settings() };
    texts.filter(|text| catch_unwind(|| evaluate(text, settings)).is_err()).collect()
}

#[test]
fn no_function_panics() {
    let mut state = 7;
    let mut texts = Vec::new();
    // These wait or repeat as often as they are told.
    for entry in tables().filter(|entry| !matches!(entry.name, "sleep" | "benchmark" | "get_lock")) {
        let most = entry.most.min(entry.least + 3).min(5);
        for count in entry.least..=most {
            for round in 0..200 {
                let first = VALUES.get(round).filter(|_| count > 0);
                let mut list: Vec<&str> = first.into_iter().copied().collect();
                list.extend((list.len()..count).map(|_| VALUES[random(&mut state, VALUES.len())]));
                texts.push(format!("{}({})", entry.name, list.join(", ")));
            }
        }
    }
    let wrong = that_panic(texts.into_iter());
    assert!(wrong.is_empty(), "{} panic:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every shape with every number in it, quoted.
fn shaped() -> Vec<String> {
    let fill =
        |shape: &&str| NUMBERS.iter().map(|number| format!("'{}'", shape.replace('N', number))).collect();
    SHAPES.iter().flat_map::<Vec<_>, _>(fill).collect()
}

#[test]
fn no_number_within_a_text_panics() {
    let mut state = 11;
    let mut texts = Vec::new();
    let shaped = shaped();
    for entry in tables().filter(|entry| !matches!(entry.name, "sleep" | "benchmark" | "get_lock")) {
        for count in entry.least.max(1)..=entry.most.min(entry.least.max(1) + 1).min(4) {
            for text in &shaped {
                let mut list: Vec<&str> =
                    (0..count).map(|_| VALUES[random(&mut state, VALUES.len())]).collect();
                list[random(&mut state, count)] = text;
                texts.push(format!("{}({})", entry.name, list.join(", ")));
            }
        }
    }
    let moment =
        |text| UNITS.iter().map(move |unit| format!("DATE_ADD('2026-01-31', INTERVAL {text} {unit})"));
    texts.extend(shaped.iter().flat_map(moment));
    texts.extend(
        shaped.iter().flat_map(|text| TYPES.iter().map(move |kind| format!("CAST({text} AS {kind})"))),
    );
    for (text, kind) in shaped.iter().flat_map(|text| ["DATE", "TIME", "TIMESTAMP"].map(|kind| (text, kind)))
    {
        texts.push(format!("{kind}{text}"));
        texts.push(format!("{text} = CAST('2026-01-01 10:11:12' AS {})", kind.replace("STAMP", "")));
    }
    let wrong = that_panic(texts.into_iter());
    assert!(wrong.is_empty(), "{} panic:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_operator_panics() {
    let pairs = || VALUES.iter().flat_map(|one| VALUES.iter().map(move |other| (one, other)));
    let binary = OPERATORS
        .iter()
        .flat_map(|operator| pairs().map(move |(one, other)| format!("({one}) {operator} ({other})")));
    let moved = UNITS.iter().flat_map(|unit| {
        pairs().flat_map(move |(one, other)| {
            [
                format!("DATE_ADD({one}, INTERVAL {other} {unit})"),
                format!("DATE_SUB({one}, INTERVAL {other} {unit})"),
            ]
        })
    });
    let between = UNITS[..9]
        .iter()
        .flat_map(|unit| pairs().map(move |(one, other)| format!("TIMESTAMPDIFF({unit}, {one}, {other})")));
    let parts =
        UNITS.iter().flat_map(|unit| VALUES.iter().map(move |one| format!("EXTRACT({unit} FROM {one})")));
    let casts = TYPES.iter().flat_map(|to| VALUES.iter().map(move |one| format!("CAST({one} AS {to})")));
    let alone = ["-", "~", "!", "BINARY "].into_iter();
    let alone = alone.flat_map(|operator| VALUES.iter().map(move |one| format!("{operator}({one})")));
    let wrong = that_panic(binary.chain(moved).chain(between).chain(parts).chain(casts).chain(alone));
    assert!(wrong.is_empty(), "{} panic:\n{}", wrong.len(), wrong.join("\n"));
}
