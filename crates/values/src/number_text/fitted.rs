//! A double in few characters: what a short text column keeps of one. As MySQL writes it: with as many digits
//! as fit, plain or with an exponent, whichever shows more of them.

use super::format_double;

/// Significant digits that tell every double from every other.
const DIGITS_MAX: usize = 17;

/// The text of a number in at most `width` characters, and whether it tells the number. What has no room for
/// even one digit is cut where it is stored.
pub fn fitted_double(number: f64, width: usize) -> (String, bool) {
    let whole = format_double(number);
    if whole.len() <= width || !number.is_finite() {
        return (whole, true);
    }
    let (mut plain, mut scientific) = (whole.clone(), whole);
    for digits in (1..DIGITS_MAX).rev() {
        (plain, scientific) = both(number, digits);
        if plain.len() <= width && (plain.len() <= scientific.len() || number.abs() >= 1.0) {
            return (plain, true);
        }
        if scientific.len() <= width {
            return (scientific, width > needed(number));
        }
    }
    (if plain.len() <= scientific.len() && number > 0.0 { plain } else { scientific }, false)
}

/// A number with so many significant digits, plain and with an exponent.
fn both(number: f64, digits: usize) -> (String, String) {
    let text = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let trimmed = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let places = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    // Digits left of the point that are not among the significant ones would be zeros that are not the
    // number's.
    let plain = if exponent >= digits as i32 { None } else { Some(format!("{number:.places$}")) };
    let plain = plain.map(|plain| match plain.contains('.') {
        true => plain.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => plain,
    });
    let scientific = format!("{trimmed}e{exponent}");
    (plain.unwrap_or_else(|| " ".repeat(usize::from(u8::MAX))), scientific)
}

/// What a sign, an exponent and a point take: a narrower text has no digit that tells anything.
fn needed(number: f64) -> usize {
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, ""));
    usize::from(number < 0.0) + 1 + exponent.len() + usize::from(mantissa.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_digits_as_fit() {
        let fitted = |number, width| fitted_double(number, width).0;
        let tenth = f64::from(0.1_f32);
        assert_eq!(fitted(tenth, 30), "0.10000000149011612");
        assert_eq!(fitted(tenth, 12), "0.1000000015");
        assert_eq!(fitted(tenth, 10), "0.1");
        assert_eq!(fitted(f64::from(1.1_f32), 10), "1.10000002");
        let long = f64::from(123_456.79_f32);
        let at = [(12, "123456.78906"), (10, "123456.789"), (8, "123456.8"), (5, "1.2e5"), (3, "1e5")];
        at.into_iter().for_each(|(width, text)| assert_eq!(fitted(long, width), text));
        assert_eq!(fitted(-123.456, 5), "-123");
        assert_eq!(fitted(f64::from(99_999.99_f32), 7), "100000");
        assert_eq!(fitted(1e-10, 10), "1e-10");
        assert_eq!(fitted(f64::from(0.000_012_34_f32), 8), "1.234e-5");
        assert!(fitted_double(long, 5).1, "two digits tell something");
        assert!(!fitted_double(long, 3).1, "the exponent alone does not");
        assert!(!fitted_double(tenth, 1).1);
        assert!(fitted_double(1.5555, 3) == ("1.6".into(), true));
    }
}
