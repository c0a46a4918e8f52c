//! Syntax that works and that MySQL warns of where it stands: old character sets and spellings of them, signs
//! for words, widths of types.

use super::{Parse, Parser};
use crate::ast::Name;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlError;

/// One that a statement has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deprecated {
    /// `utf8`.
    Alias,
    /// A character set.
    Charset(Charset),
    /// A collation of such a set.
    Collation(Collation),
    /// NATIONAL, NCHAR, NVARCHAR, N'...'.
    National,
    /// `!`
    Bang,
    /// `&&`
    AndSign,
    /// `||` as OR
    OrSign,
    /// `BINARY expr`
    BinaryOperator,
    /// SQL_CALC_FOUND_ROWS
    CountAllRows,
    /// FOUND_ROWS()
    FoundRows,
    /// JSON_MERGE()
    JsonMerge,
    /// ON ERROR before ON EMPTY
    EmptyBehindError,
    /// `@a := ..` within an expression
    Assignment,
    /// VALUES(column)
    InsertedValue,
    /// INTO before FOR UPDATE
    IntoInside,
    /// SQL_NO_CACHE
    NoCache,
    /// INT(n)
    IntegerWidth,
    /// FLOAT(m, d)
    FloatDigits,
    /// UNSIGNED of DECIMAL, FLOAT, DOUBLE
    UnsignedReal,
    /// ZEROFILL
    Zerofill,
    /// YEAR(4)
    YearWidth,
    /// `@@name`, of which only the variables know whether it is an old one.
    Variable(Name),
    /// An attribute of a type, and what stands for it.
    Attribute(&'static str, &'static str),
}

/// ASCII behind a type.
pub(super) const ASCII: Deprecated = Deprecated::Attribute("ASCII", "CHARACTER SET charset_name");
/// UNICODE behind a type.
pub(super) const UNICODE: Deprecated = Deprecated::Attribute("UNICODE", "CHARACTER SET charset_name");
/// BINARY behind a type of text.
pub(super) const BINARY: Deprecated =
    Deprecated::Attribute("BINARY as attribute of a type", "a CHARACTER SET clause with _bin collation");

impl Deprecated {
    /// What MySQL says of a character set's name.
    pub fn of_charset(name: &str) -> Option<Deprecated> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Deprecated::Alias);
        }
        let set = Charset::by_name(name).filter(|set| set.is_deprecated())?;
        Some(Deprecated::Charset(set))
    }

    /// What MySQL says of a collation's name.
    pub fn of_collation(name: &str) -> Option<Deprecated> {
        let collation = Collation::by_name(name).filter(|one| one.set().is_deprecated())?;
        Some(Deprecated::Collation(collation))
    }

    /// The warning. `of_variable` is what MySQL says of a system variable that is read; None for nothing.
    pub fn warning(&self, of_variable: impl FnOnce(&str) -> Option<SqlError>) -> Option<SqlError> {
        Some(match self {
            Deprecated::Alias => SqlError::charset_alias(),
            Deprecated::Charset(set) => SqlError::deprecated_syntax(set.name(), "utf8mb4"),
            Deprecated::Collation(one) if one.set() == Charset::Utf8mb3 => {
                SqlError::deprecated_utf8mb3_collation(one.name())
            }
            Deprecated::Collation(one) => SqlError::deprecated_charset_collation(one.name(), one.charset()),
            Deprecated::National => SqlError::national_charset(),
            Deprecated::Bang => SqlError::deprecated_syntax("!", "NOT"),
            Deprecated::AndSign => SqlError::deprecated_syntax("&&", "AND"),
            Deprecated::OrSign => SqlError::deprecated_syntax("|| as a synonym for OR", "OR"),
            Deprecated::BinaryOperator => SqlError::deprecated_syntax("BINARY expr", "CAST"),
            Deprecated::CountAllRows => SqlError::deprecated_count_all_rows(),
            Deprecated::FoundRows => SqlError::deprecated_found_rows(),
            Deprecated::JsonMerge => SqlError::deprecated_json_merge(),
            Deprecated::EmptyBehindError => SqlError::deprecated_empty_behind_error(),
            Deprecated::Assignment => SqlError::deprecated_assignment(),
            Deprecated::InsertedValue => SqlError::deprecated_inserted_value(),
            Deprecated::IntoInside => SqlError::deprecated_into_inside(),
            Deprecated::NoCache => SqlError::deprecated_alone("SQL_NO_CACHE"),
            Deprecated::IntegerWidth => SqlError::deprecated_integer_width(),
            Deprecated::FloatDigits => SqlError::deprecated_float_digits(),
            Deprecated::UnsignedReal => SqlError::deprecated_unsigned_real(),
            Deprecated::Zerofill => SqlError::deprecated_zerofill(),
            Deprecated::Variable(name) => return of_variable(name),
            Deprecated::YearWidth => SqlError::deprecated_syntax("YEAR(4)", "YEAR"),
            Deprecated::Attribute(old, new) => SqlError::deprecated_syntax(old, new),
        })
    }
}

impl Parser<'_> {
    /// Hands over something that MySQL warns of.
    pub(super) fn note_deprecated(&mut self, deprecated: Option<Deprecated>) {
        self.aside.deprecated.extend(deprecated);
    }

    /// A character set's name, of which MySQL warns if it is an old one.
    pub(super) fn warned_charset(&mut self) -> Parse<Name> {
        let name = self.charset_name()?;
        self.note_deprecated(Deprecated::of_charset(&name));
        Ok(name)
    }

    /// A collation's name, likewise.
    pub(super) fn warned_collation(&mut self) -> Parse<Name> {
        let name = self.charset_name()?;
        self.note_deprecated(Deprecated::of_collation(&name));
        Ok(name)
    }
}
