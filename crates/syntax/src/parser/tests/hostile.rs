//! Nothing makes the parser panic, overflow the stack, or take more than linear time.

use super::*;
use crate::fuzz::fuzz_parse;
use std::time::{Duration, Instant};
use turnstile_sys::rng::Rng;

/// Threads of the server have at least this much.
const STACK_BYTES: usize = 2 << 20;

fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

fn is_too_complex(text: &str) -> bool {
    let result = parse(text.as_bytes(), ParseOptions::default());
    result.is_err_and(|error| error.kind == ParseErrorKind::TooComplex || error.code() == 1473)
}

#[test]
fn deep_nesting_is_refused() {
    on_small_stack(|| {
        let deep = 100_000;
        let pairs = [
            ("(", ")"),
            ("-", ""),
            ("not ", ""),
            ("!", ""),
            ("~", ""),
            ("binary ", ""),
            ("(select ", ")"),
            ("((select ", "))"),
            ("f(", ")"),
            ("abs(", ")"),
            ("cast(", " as char)"),
            ("case when ", " then 1 end"),
            ("interval(", ",1)"),
            ("1 in (", ")"),
            ("1 + interval ", " day"),
            ("interval (", ") day + 1"),
            ("@a := ", ""),
            ("1 between 0 and ", ""),
            ("row(1, ", ")"),
            ("exists (select ", ")"),
            ("{fn ", "}"),
            ("1 = any (select ", ")"),
            ("trim(both ", " from 'a')"),
            ("(1, ", ")"),
            ("(with a as (select 1) select ", ")"),
            ("(with a as (select ", ") select 1)"),
        ];
        for (open, close) in pairs {
            let text = format!("SELECT {}1{}", open.repeat(deep), close.repeat(deep));
            assert!(is_too_complex(&text), "{open}");
            // A modest depth is fine.
            let text = format!("SELECT {}1{}", open.repeat(20), close.repeat(20));
            assert!(parse(text.as_bytes(), ParseOptions::default()).is_ok(), "{text}");
        }
        for open in ["SELECT * FROM (", "SELECT * FROM (SELECT * FROM ", "(", "EXPLAIN (", "INSERT INTO t (("]
        {
            let text = open.repeat(deep);
            assert!(parse(text.as_bytes(), ParseOptions::default()).is_err());
        }
        assert!(is_too_complex(&format!("SELECT * FROM {}", "(".repeat(deep))));
        assert!(is_too_complex(&format!("SELECT * FROM a{}", " JOIN a".repeat(deep))));
        assert!(is_too_complex(&format!("SELECT * FROM (a{})", ", a".repeat(deep))));
    });
}

#[test]
fn long_chains_are_flat_or_refused() {
    on_small_stack(|| {
        for operator in [" + 1", " = 1", " is null", " collate x", " ^ 1", " xor 1", " + interval 1 day"] {
            assert!(is_too_complex(&format!("SELECT 1{}", operator.repeat(100_000))), "{operator}");
            assert!(
                parse(format!("SELECT 1{}", operator.repeat(50)).as_bytes(), ParseOptions::default()).is_ok(),
                "{operator}"
            );
        }
        // Chains nested in chains do not add up beyond the limit.
        let text = format!("SELECT {}1{}", "(".repeat(100), format!("{})", " + 1".repeat(50)).repeat(100));
        assert!(is_too_complex(&text));
        for operator in [" and 1", " or 1", " union select 1", ", 1"] {
            let text = format!("SELECT 1{}", operator.repeat(20_000));
            assert!(parse(text.as_bytes(), ParseOptions::default()).is_ok(), "{operator}");
        }
    });
}

#[test]
fn time_is_linear() {
    let texts = [
        format!("INSERT INTO t VALUES {}", vec!["(1,'a',NULL)"; 50_000].join(",")),
        format!("SELECT {}", "(".repeat(400_000)),
        format!("SELECT * FROM {}", "(".repeat(400_000)),
        format!("SELECT {}", "/*".repeat(200_000)),
        format!("SELECT {}", "/*! ".repeat(100_000)),
        format!("SELECT '{}", "''".repeat(200_000)),
        format!("SELECT {}", "'a' ".repeat(100_000)),
        format!("SELECT {}", "a.".repeat(200_000)),
        format!("SELECT {}", "_utf8mb4 ".repeat(100_000)),
        format!("SELECT {}", "t.* ,".repeat(100_000)),
        format!("GRANT {}", "a ".repeat(100_000)),
        ";".repeat(200_000),
    ];
    for text in texts {
        let start = Instant::now();
        let mut bytes = vec![0];
        bytes.extend_from_slice(text.as_bytes());
        fuzz_parse(&bytes);
        // Generous: a debug build on a busy machine. Quadratic time would be minutes.
        assert!(start.elapsed() < Duration::from_secs(20), "{}", &text[..20]);
    }
}

#[test]
fn random_bytes() {
    on_small_stack(|| {
        for seed in 0..8 {
            let mut rng = Rng::new(seed);
            for _ in 0..2_000 {
                let length = rng.below(80) as usize;
                let bytes: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
                fuzz_parse(&bytes);
            }
        }
    });
}

/// Statements of the corpus with words cut out, swapped, doubled or replaced: close to valid, so deep in the
/// grammar.
#[test]
fn random_tokens() {
    on_small_stack(|| {
        let texts: Vec<&str> = corpus::STATEMENTS.iter().flat_map(|text| text.split(' ')).collect();
        for seed in 0..8 {
            let mut rng = Rng::new(seed);
            for _ in 0..3_000 {
                let base = corpus::STATEMENTS[rng.below(corpus::STATEMENTS.len() as u64) as usize];
                let mut words: Vec<&str> = base.split(' ').collect();
                for _ in 0..=rng.below(4) {
                    let place = rng.below(words.len() as u64) as usize;
                    let other = texts[rng.below(texts.len() as u64) as usize];
                    match rng.below(3) {
                        0 => words[place] = other,
                        1 => words.insert(place, other),
                        _ if words.len() > 1 => {
                            words.remove(place);
                        }
                        _ => {}
                    }
                }
                let mut bytes = vec![rng.next_u64() as u8];
                bytes.extend_from_slice(words.join(" ").as_bytes());
                let cut =
                    if rng.below(4) == 0 { rng.below(bytes.len() as u64) as usize } else { bytes.len() };
                fuzz_parse(&bytes[..cut]);
            }
        }
    });
}

/// Planning and running a join of many thousand tables took minutes and the whole stack. What is wrong with
/// the text comes first.
#[test]
fn a_join_has_some_tables_only() {
    let list = |count: usize, between: &str| {
        (0..count).map(|nth| format!("t AS a{nth}")).collect::<Vec<_>>().join(between)
    };
    let code = |text: String| {
        parse(text.as_bytes(), ParseOptions::default()).map_or_else(|error| error.code(), |_| 0)
    };
    for between in [", ", " JOIN ", " NATURAL JOIN "] {
        let few = list(61, between);
        let many = list(62, between);
        assert_eq!(code(format!("SELECT 1 FROM {few} WHERE a1.i IN (SELECT 1 FROM {few})")), 0);
        for text in [
            format!("SELECT 1 FROM {many}"),
            format!("SELECT 1 FROM ({many})"),
            format!("SELECT 1 FROM t WHERE i IN (SELECT 1 FROM {many})"),
            format!("SELECT 1 FROM {few}, (SELECT 1) d"),
            format!("INSERT INTO t SELECT 1 FROM {many}"),
            format!("UPDATE {many} SET a1.i = 1"),
            format!("DELETE a1 FROM {many}"),
            format!("DELETE FROM a1 USING {many}"),
        ] {
            assert_eq!(code(text.clone()), 1116, "{text:.60}");
            assert_eq!(code(text + " 1"), 1064, "what is wrong with the text comes first");
        }
    }
    assert_eq!(code(format!("SELECT 1 FROM {}", list(100_000, ", "))), 1116);
}
