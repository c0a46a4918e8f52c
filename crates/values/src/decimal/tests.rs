//! Decimal arithmetic against hand-computed results and against exact 128-bit integers.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn dec(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[test]
fn parse_and_print() {
    for text in ["0", "1.50", "-0.001", "99999999999999999999999999999999999.999999999999999999999999999999"]
    {
        assert_eq!(dec(text).to_string(), text);
    }
    assert_eq!(dec("1e3").to_string(), "1000");
    assert_eq!(dec("1.25e-2").to_string(), "0.0125");
    assert_eq!(dec("-.5").to_string(), "-0.5");
    let parsed = Decimal::parse_prefix(b" 12.5abc");
    assert_eq!((parsed.value.to_string().as_str(), parsed.consumed), ("12.5", 5));
    assert_eq!(Decimal::parse_prefix(b"abc").consumed, 0);
    assert!(Decimal::parse_prefix("9".repeat(66).as_bytes()).overflow);
}

#[test]
fn arithmetic_scales() {
    assert_eq!(dec("1.5").add(&dec("2.25")).unwrap().to_string(), "3.75");
    assert_eq!(dec("1.5").sub(&dec("2.25")).unwrap().to_string(), "-0.75");
    assert_eq!(dec("1.50").mul(&dec("2.0")).unwrap().to_string(), "3.000");
    assert_eq!(dec("1").div(&dec("3"), DIVISION_SCALE).unwrap().unwrap().round_to(4).to_string(), "0.3333");
    assert_eq!(dec("2").div(&dec("3"), DIVISION_SCALE).unwrap().unwrap().round_to(4).to_string(), "0.6667");
    assert!(dec("1").div(&dec("0.00"), DIVISION_SCALE).is_none());
    assert_eq!(dec("-7.5").rem(&dec("2")).unwrap().to_string(), "-1.5");
    assert_eq!(dec("7.9").div_integer(&dec("-2")).unwrap().to_string(), "-3");
    assert_eq!(dec("2.5").round_to(0).to_string(), "3");
    assert_eq!(dec("-2.5").round_to(0).to_string(), "-3");
    assert_eq!(dec("1234.5").round_places(-2).to_string(), "1200");
    assert_eq!(dec("-1.2").floor().to_string(), "-2");
    assert_eq!(dec("-1.2").ceiling().to_string(), "-1");
    assert!(Decimal::max_value(65, 0).add(&dec("1")).is_err());
    assert!(Decimal::max_value(65, 0).mul(&dec("10")).is_err());
}

#[test]
fn wide_division_is_the_inverse_of_multiplication() {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for _ in 0..2000 {
        let left = Wide::from_u128(u128::from(next()) << 64 | u128::from(next()));
        let right = Wide::from_u128(u128::from(next()) << (next() % 60) | 1);
        let rest = Wide::from_u128(u128::from(next() % 1_000_000)).div_rem(&right).1;
        let product = left.mul(&right).mul(&right).add(&rest);
        let (quotient, remainder) = product.div_rem(&right.mul(&right));
        assert_eq!(quotient, left);
        assert_eq!(remainder, rest);
    }
}

#[test]
fn order_ignores_scale() {
    assert_eq!(dec("1.50"), dec("1.5"));
    assert!(dec("-1") < dec("0.1"));
    assert!(dec("99999999999999999999999999999999999999999999") > dec("9.5"));
}

/// Whatever is computed of the longest numbers ends, and has no more digits than a number keeps.
#[test]
fn long_numbers_stay_within_their_digits() {
    let nines = "9".repeat(65);
    let tiny = format!("0.{}1", "0".repeat(29));
    let mixed = format!("{}.{}", "9".repeat(35), "9".repeat(30));
    let mut all: Vec<Decimal> = ["0", "1", "-1", "7.5", &nines, &tiny, &mixed].map(dec).to_vec();
    all.extend(all.clone().iter().flat_map(|number| [number.round_to(30), number.negate().round_to(6)]));
    let within = |number: Decimal| {
        assert!(number.digits().decimal_digits() <= MAX_KEPT + 1, "{number:?}");
        number
    };
    for left in &all {
        for right in &all {
            let mut made = vec![left.round_to(255), left.round_places(-80), left.floor(), left.ceiling()];
            made.extend([left.add(right), left.sub(right), left.mul(right)].into_iter().flatten());
            made.extend(left.div(right, 30).and_then(Result::ok));
            made.extend(left.div_integer(right));
            made.extend(left.rem(right));
            let made: Vec<Decimal> = made.into_iter().map(within).collect();
            for number in &made {
                within(number.mul(right).unwrap_or(Decimal::ZERO));
                assert_eq!(number.cmp(right), right.cmp(number).reverse());
            }
        }
    }
    assert_eq!(dec(&nines).round_to(30).scale(), 11);
    assert_eq!(Decimal::nearest(-1e300).to_string(), format!("-{nines}"));
}
