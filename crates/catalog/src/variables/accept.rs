//! Which values a variable takes, and their normal form.

use turnstile_syntax::parser::Deprecated;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::TimeZone;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

use super::{Definition, Kind, settings};
use crate::accounts::roles_named;

fn by_id(id: i128) -> Option<Collation> {
    u16::try_from(id).ok().and_then(Collation::by_id)
}

pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// A number as option files write it: digits, perhaps with K, M, G, T, P or E.
fn sized(text: &str) -> Option<i128> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        b'T' => (&text[..text.len() - 1], 40),
        b'P' => (&text[..text.len() - 1], 50),
        b'E' => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    digits.parse::<i128>().ok()?.checked_mul(1 << shift)
}

/// A number that is not whole by its type.
fn is_fraction(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Decimal(_))
}

pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Value::Enum(member) => Some(member.text()),
        _ => None,
    }
}

impl Definition {
    pub(super) fn wrong_value(&self, value: &Value) -> SqlError {
        let text = match (integer(value), word(value), value) {
            (Some(number), _, _) => number.to_string(),
            (_, Some(text), _) => text,
            (_, _, Value::Null) => "NULL".into(),
            (_, _, other) => format!("{other:?}"),
        };
        SqlError::wrong_value_for_variable(self.name, text)
    }

    pub(super) fn wrong_type(&self) -> SqlError {
        SqlError::wrong_type_for_variable(self.name)
    }

    /// Refuses a fraction for a choice, and NULL for a name.
    pub(super) fn check_class(&self, value: &Value) -> SqlResult<()> {
        match self.kind {
            Kind::Bool | Kind::Enum(_) | Kind::Set(_) | Kind::Switches(_) if is_fraction(value) => {
                Err(self.wrong_type())
            }
            Kind::Charset | Kind::Collation | Kind::TimeZone | Kind::Engine | Kind::Locale
                if value.is_null() =>
            {
                Err(self.wrong_value(value))
            }
            _ => Ok(()),
        }
    }

    /// Brings a value into normal form. The flag says that it was cut to the range.
    pub fn accept(&self, value: &Value) -> SqlResult<(Value, bool)> {
        let plain = |value| Ok((value, false));
        self.check_class(value)?;
        match self.kind {
            Kind::Bool => match (integer(value), word(value).map(|w| w.to_ascii_uppercase()).as_deref()) {
                (Some(number @ 0..=1), _) => plain(Value::Int(number as i64)),
                (_, Some("ON")) => plain(Value::Int(1)),
                (_, Some("OFF")) => plain(Value::Int(0)),
                _ => Err(self.wrong_value(value)),
            },
            Kind::Int { min, max } => {
                let number = integer(value).ok_or_else(|| self.wrong_type())?;
                let cut = number.clamp(i128::from(min), i128::from(max));
                Ok((Value::Int(cut as i64), cut != number))
            }
            Kind::UInt { min, max } => {
                let number = integer(value).ok_or_else(|| self.wrong_type())?;
                let cut = number.clamp(i128::from(min), i128::from(max));
                Ok((Value::UInt(cut as u64), cut != number))
            }
            Kind::Double { min, max } => {
                let number = match value {
                    Value::Double(number) => *number,
                    Value::Decimal(number) => number.to_f64(),
                    other => integer(other).ok_or_else(|| self.wrong_type())? as f64,
                };
                let cut = number.clamp(min, max);
                Ok((Value::Double(cut), cut != number))
            }
            Kind::Locale => plain(self.locale(value)?),
            Kind::Text => match value {
                Value::Null => plain(Value::text("")),
                other => plain(Value::text(word(other).ok_or_else(|| self.wrong_type())?)),
            },
            Kind::Roles => plain(self.names_of_roles(value)?),
            Kind::Enum(words) => plain(self.one_of(words, value)?),
            Kind::Set(words) => plain(self.some_of(words, value)?),
            Kind::Switches(flags) => plain(self.switched(flags, None, value)?),
            Kind::CharsetOrNull if value.is_null() => plain(Value::Null),
            Kind::Charset | Kind::CharsetOrNull => plain(self.charset(value)?),
            Kind::Collation => plain(self.collation(value)?),
            Kind::TimeZone => {
                let name = word(value).ok_or_else(|| self.wrong_type())?;
                plain(Value::from(TimeZone::spelled(&name)?))
            }
            Kind::Engine => {
                let name = word(value).ok_or_else(|| self.wrong_type())?;
                if !crate::definition::is_own_engine(&name) {
                    return Err(SqlError::unknown_storage_engine(&name));
                }
                plain(Value::text("InnoDB"))
            }
        }
    }

    pub(super) fn locale(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let known = name.eq_ignore_ascii_case("en_US") || integer(value) == Some(0);
        if known { Ok(Value::text("en_US")) } else { Err(SqlError::unknown_locale(name)) }
    }

    /// A character set by its name, or by the number of one of its collations.
    pub(super) fn charset(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let found = match integer(value) {
            Some(id) => by_id(id),
            None => Collation::default_of_charset(&name.to_ascii_lowercase()),
        };
        if self.name == "character_set_client" && found.is_some_and(|one| !one.set().serves_clients()) {
            return Err(SqlError::wrong_value_for_variable(self.name, name));
        }
        Ok(Value::text(found.ok_or_else(|| SqlError::unknown_character_set(&name))?.charset()))
    }

    pub(super) fn collation(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let found = integer(value).map_or_else(|| Collation::by_name(&name.to_ascii_lowercase()), by_id);
        Ok(Value::text(found.ok_or_else(|| SqlError::unknown_collation(&name))?.name()))
    }

    /// Likewise, over the value that there is.
    pub fn accept_over(&self, before: &Value, value: &Value) -> SqlResult<(Value, bool)> {
        match self.kind {
            Kind::Switches(flags) if !is_fraction(value) => {
                Ok((self.switched(flags, Some(before), value)?, false))
            }
            _ => self.accept(value),
        }
    }

    /// What MySQL says of a value that it takes.
    pub fn warning_of(&self, accepted: &Value) -> Option<SqlError> {
        let text = turnstile_values::value::to_text(accepted);
        match self.name {
            "restrict_fk_on_non_standard_key" if *text == *"0" || *text == *"OFF" => {
                Some(SqlError::non_standard_foreign_keys())
            }
            "restrict_fk_on_non_standard_key" => Some(SqlError::deprecated_alone(self.name)),
            _ => None,
        }
    }

    /// The old character set that a value of this variable names.
    pub fn deprecated_name(&self, given: &Value, accepted: &Value) -> Option<Deprecated> {
        let name =
            turnstile_values::value::to_text(if matches!(given, Value::Str(_)) { given } else { accepted });
        match self.kind {
            Kind::Charset | Kind::CharsetOrNull => Deprecated::of_charset(&name),
            Kind::Collation => Deprecated::of_collation(&name),
            _ => None,
        }
    }

    pub(super) fn names_of_roles(&self, value: &Value) -> SqlResult<Value> {
        let list = if value.is_null() { Some(String::new()) } else { word(value) };
        let list = list.ok_or_else(|| self.wrong_type())?;
        match roles_named(&list) {
            Some(_) => Ok(Value::text(list)),
            None => Err(self.wrong_value(value)),
        }
    }

    pub(super) fn one_of(&self, words: &[&'static str], value: &Value) -> SqlResult<Value> {
        let found = match (integer(value), word(value)) {
            (Some(number), _) => usize::try_from(number).ok().and_then(|at| words.get(at)),
            (_, Some(text)) => words.iter().find(|one| one.eq_ignore_ascii_case(&text)),
            _ => None,
        };
        found.map(|one| Value::text(*one)).ok_or_else(|| self.wrong_value(value))
    }

    pub(super) fn some_of(&self, words: &[&'static str], value: &Value) -> SqlResult<Value> {
        let mut chosen = 0u64;
        match (integer(value), word(value)) {
            (Some(number), _) if (0..1 << words.len()).contains(&number) => chosen = number as u64,
            (None, Some(text)) => {
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    let at = words.iter().position(|one| one.eq_ignore_ascii_case(part));
                    chosen |= 1 << at.ok_or_else(|| SqlError::wrong_value_for_variable(self.name, part))?;
                }
            }
            _ => return Err(self.wrong_value(value)),
        }
        if self.name == "sql_mode" {
            chosen = settings::expand_modes(chosen);
        }
        let names = words.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, name)| *name);
        Ok(Value::text(names.collect::<Vec<_>>().join(",")))
    }

    /// Reads a value from the command line or an option file.
    pub fn parse(&self, text: &str) -> SqlResult<Value> {
        Ok(self.parse_option(text)?.0)
    }

    /// Likewise; the flag says that it was cut to the range.
    pub fn parse_option(&self, text: &str) -> SqlResult<(Value, bool)> {
        let value = match self.kind {
            Kind::Int { .. } | Kind::UInt { .. } => {
                let number = sized(text.trim()).ok_or_else(|| self.wrong_type())?;
                let low = i64::try_from(number.max(i128::from(i64::MIN)));
                let far = number < i128::from(i64::MIN) || number > i128::from(u64::MAX);
                let near =
                    low.map_or_else(|_| Value::UInt(number.min(i128::from(u64::MAX)) as u64), Value::Int);
                let (value, cut) = self.accept(&near)?;
                return Ok((value, cut || far));
            }
            Kind::Double { .. } => Value::Double(text.trim().parse().map_err(|_| self.wrong_type())?),
            // Options have more words for a switch than SET.
            Kind::Bool => match text.to_ascii_uppercase().as_str() {
                "TRUE" | "YES" | "1" => Value::Int(1),
                "FALSE" | "NO" | "0" => Value::Int(0),
                _ => Value::text(text),
            },
            _ => Value::text(text),
        };
        self.accept(&value)
    }
}
