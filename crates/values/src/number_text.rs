//! Numbers as MySQL prints them, and the numbers that texts begin with.

mod fitted;

pub use fitted::fitted_double;

/// A double as MySQL prints it: the shortest digits that read back the same, plain between 1e-15 and 1e15 (17
/// significant digits at most) and where a fraction is left, with an exponent outside.
pub fn format_double(number: f64) -> String {
    let mut digits = format!("{number:e}");
    // Of two shortest forms that are equally near, the one with the even digit is written.
    if NEAR_QUARTERS.contains(&number.abs()) && number.abs().fract() == 0.25 {
        digits = digits.replace("3e1", "2e1");
    }
    shortest(digits, number)
}

/// Doubles that lie an eighth or a quarter apart: only here are two texts of the same length equally near to
/// one.
const NEAR_QUARTERS: std::ops::Range<f64> = 562_949_953_421_312.0..2_251_799_813_685_248.0;

/// A FLOAT column's value: the six significant digits MySQL shows.
pub fn format_float(number: f32) -> String {
    if number == 0.0 || !number.is_finite() {
        return format_double(f64::from(number));
    }
    let text = format!("{:.5e}", f64::from(number));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    shortest(format!("{digits}e{exponent}"), f64::from(number))
}

fn shortest(scientific: String, number: f64) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0".into() } else { "0".into() };
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let negative = mantissa.starts_with('-');
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = digits.len() as i32;
    let mut text = String::new();
    if negative {
        text.push('-');
    }
    let has_fraction = exponent >= 0 && count > exponent + 1;
    if !(-15..15).contains(&exponent) && !has_fraction {
        text.push_str(&digits[..1]);
        if count > 1 {
            text.push('.');
            text.push_str(&digits[1..]);
        }
        text.push_str(&format!("e{exponent}"));
    } else if exponent < 0 {
        text.push_str("0.");
        text.push_str(&"0".repeat((-exponent - 1) as usize));
        text.push_str(&digits);
    } else if count <= exponent + 1 {
        text.push_str(&digits);
        text.push_str(&"0".repeat((exponent + 1 - count) as usize));
    } else {
        let point = (exponent + 1) as usize;
        text.push_str(&digits[..point]);
        text.push('.');
        text.push_str(&digits[point..]);
    }
    text
}

/// The longest prefix that is a double, and whether it was all of the text (spaces around do not count).
/// Overflow gives the largest double.
pub fn parse_double_prefix(text: &[u8]) -> (f64, bool) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = &text[start..];
    let mut at = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
    let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if rest.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return (0.0, false);
    }
    if matches!(rest.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits((at + 1 + sign).min(rest.len()));
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let number: f64 = std::str::from_utf8(&rest[..at]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let complete = rest[at..].iter().all(u8::is_ascii_whitespace) && number.is_finite();
    (number.clamp(f64::MIN, f64::MAX), complete)
}

/// The longest prefix that is a whole number, and whether it was all of the text.
pub fn parse_integer_prefix(text: &[u8]) -> (i128, bool) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let rest = &text[start..];
    let negative = rest.first() == Some(&b'-');
    let mut at = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
    let first_digit = at;
    let mut number = 0i128;
    while let Some(byte @ b'0'..=b'9') = rest.get(at) {
        number = (number * 10 + i128::from(byte - b'0')).min(1 << 100);
        at += 1;
    }
    let complete = at > first_digit && rest[at..].iter().all(u8::is_ascii_whitespace);
    (if negative { -number } else { number }, complete)
}
