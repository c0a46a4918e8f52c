//! FORMAT(): a number with separators between groups of its digits, as a locale writes them.

use super::numeric::round_double;
use super::{Call, EvalContext};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_decimal, to_double, to_i64, to_text};

/// How a locale writes numbers.
struct Separators {
    /// Between groups.
    groups: Option<char>,
    /// Before the fraction.
    point: char,
    /// Digits of the groups before the last one, which has three.
    size: usize,
}

/// Locales whose numbers are not written as `1,234.5`: what is between groups, before the fraction, and their
/// names.
const OTHERS: &[(Option<char>, char, &[&str])] = &[
    (Some('\0'), ',', &["bg_BG"]),
    (Some('\''), '.', &["de_CH"]),
    (Some('\''), ',', &["it_CH", "rm_CH"]),
    (None, '.', &["ar_SA", "sr_RS"]),
    (
        None,
        ',',
        &[
            "ca_ES", "de_AT", "el_GR", "eu_ES", "fr_BE", "fr_CA", "fr_CH", "fr_FR", "fr_LU", "gl_ES",
            "hr_HR", "it_IT", "nl_BE", "nl_NL", "pl_PL", "pt_BR", "pt_PT", "sl_SI",
        ],
    ),
    (
        Some('.'),
        ',',
        &[
            "be_BY", "da_DK", "de_BE", "de_DE", "de_LU", "es_AR", "es_BO", "es_CL", "es_CO", "es_EC",
            "es_ES", "es_PY", "es_UY", "es_VE", "fo_FO", "hu_HU", "id_ID", "is_IS", "lt_LT", "mn_MN",
            "nb_NO", "no_NO", "ro_RO", "ru_UA", "sq_AL", "tr_TR", "uk_UA", "vi_VN",
        ],
    ),
    (
        Some(' '),
        ',',
        &["cs_CZ", "es_CR", "et_EE", "fi_FI", "lv_LV", "mk_MK", "ru_RU", "sk_SK", "sv_FI", "sv_SE"],
    ),
];

/// Locales that write them so, some of them with groups of two before the last.
const AS_ENGLISH: &[&str] = &[
    "ar_AE", "ar_BH", "ar_DZ", "ar_EG", "ar_IN", "ar_IQ", "ar_JO", "ar_KW", "ar_LB", "ar_LY", "ar_MA",
    "ar_OM", "ar_QA", "ar_SD", "ar_SY", "ar_TN", "ar_YE", "en_AU", "en_CA", "en_GB", "en_NZ", "en_PH",
    "en_US", "en_ZA", "en_ZW", "es_DO", "es_GT", "es_HN", "es_MX", "es_NI", "es_PA", "es_PE", "es_PR",
    "es_SV", "es_US", "gu_IN", "he_IL", "hi_IN", "ja_JP", "ko_KR", "ms_MY", "th_TH", "ur_PK", "zh_CN",
    "zh_HK", "zh_TW",
];
const IN_PAIRS: &[&str] = &["en_IN", "ta_IN", "te_IN"];

fn separators(locale: &str) -> Option<Separators> {
    let named = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(locale));
    if let Some((groups, point, _)) = OTHERS.iter().find(|(_, _, names)| named(names)) {
        return Some(Separators { groups: *groups, point: *point, size: 3 });
    }
    let size = if named(IN_PAIRS) { 2 } else { 3 };
    (size == 2 || named(AS_ENGLISH)).then_some(Separators { groups: Some(','), point: '.', size })
}

/// Most digits behind the point.
const PLACES_MAX: i64 = 30;

/// FORMAT(number, places) and FORMAT(number, places, locale).
pub(super) fn format_number(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments[..2]);
    let places = to_i64(&arguments[1], context)?.clamp(0, PLACES_MAX) as u8;
    let locale = arguments.get(2).map(|locale| match locale {
        Value::Null => "NULL".into(),
        locale => to_text(locale),
    });
    let separators = locale.as_ref().and_then(|locale| {
        let found = separators(locale);
        if found.is_none() {
            context.note(SqlError::unknown_locale(locale.to_string()));
        }
        found
    });
    let separators = separators.unwrap_or(Separators { groups: Some(','), point: '.', size: 3 });
    let text = match &arguments[0] {
        // A text is read as a double.
        double if double.is_string() || matches!(double, Value::Double(_)) => {
            digits_of_double(to_double(double, context)?, places)
        }
        exact => to_decimal(exact, context)?.round_to(places).to_string(),
    };
    Ok(Value::from(grouped(&text, &separators)))
}

/// A double rounded as ROUND() does, with so many digits behind the point; zeros stand for those that it does
/// not have.
fn digits_of_double(number: f64, places: u8) -> String {
    let text = format!("{}", round_double(number, i64::from(places), false));
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let places = usize::from(places);
    match places {
        0 => whole.to_string(),
        _ => format!("{whole}.{:0<places$}", &fraction[..fraction.len().min(places)]),
    }
}

fn grouped(text: &str, separators: &Separators) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut result = sign.to_owned();
    for (position, digit) in whole.chars().enumerate() {
        let behind = whole.len() - position;
        let begins = behind == 3 || behind > 3 && (behind - 3).is_multiple_of(separators.size);
        if let Some(separator) = separators.groups.filter(|_| position > 0 && begins) {
            result.push(separator);
        }
        result.push(digit);
    }
    if let Some(fraction) = fraction {
        result.push(separators.point);
        result.push_str(fraction);
    }
    result
}
