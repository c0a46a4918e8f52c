//! Column and expression types: what a value of a column may be, how it is announced to the client, and how
//! SHOW CREATE TABLE spells it.

mod announced;
mod size;
mod spelt;

use std::sync::Arc;

use crate::collation::Collation;
use crate::traits::{Derivation, Repertoire, Traits};

pub use size::{BlobSize, IntWidth};

/// Places of what has no fixed number of them.
const ANY_SCALE: u8 = 31;

/// Type of a column or of an expression's result. Lengths are in characters for character types, else bytes.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are MySQL's")]
pub enum ColumnType {
    /// The type of a bare NULL.
    Null,
    /// TINYINT .. BIGINT. `display` is the announced width, `zerofill` pads the text form with zeros.
    Int {
        width: IntWidth,
        unsigned: bool,
        display: Option<u8>,
        zerofill: bool,
    },
    /// DECIMAL(precision, scale).
    Decimal {
        precision: u8,
        scale: u8,
        unsigned: bool,
        zerofill: bool,
    },
    /// FLOAT; `digits` = (M, D) of the old FLOAT(M,D).
    Float {
        unsigned: bool,
        digits: Option<(u8, u8)>,
        zerofill: bool,
    },
    /// DOUBLE; `digits` = (M, D).
    Double {
        unsigned: bool,
        digits: Option<(u8, u8)>,
        zerofill: bool,
    },
    /// BIT(bits), values are `UInt`.
    Bit {
        bits: u8,
    },
    Char {
        length: u32,
        collation: Collation,
    },
    Varchar {
        length: u32,
        collation: Collation,
    },
    Text {
        size: BlobSize,
        collation: Collation,
    },
    Binary {
        length: u32,
    },
    Varbinary {
        length: u32,
    },
    Blob {
        size: BlobSize,
    },
    Date,
    /// TIME with `fsp` fractional digits (0..=6).
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    /// Stored in UTC, shown in the session's zone.
    Timestamp {
        fsp: u8,
    },
    Year,
    Enum {
        names: Arc<EnumNames>,
        collation: Collation,
    },
    Set {
        names: Arc<EnumNames>,
        collation: Collation,
    },
    /// Validated JSON text.
    Json,
}

/// Member names of an ENUM or SET type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumNames {
    /// True for SET.
    pub multiple: bool,
    /// Names in definition order, trailing spaces removed.
    pub names: Vec<String>,
}

impl Traits {
    /// Of a column of this type, and of whatever else says nothing of its own.
    pub fn of(kind: &ColumnType) -> Traits {
        let ascii = |derivation| Traits { derivation, repertoire: Repertoire::Ascii };
        match kind {
            ColumnType::Null => ascii(Derivation::Ignorable),
            ColumnType::Bit { .. } => {
                Traits { derivation: Derivation::Implicit, repertoire: Repertoire::Unicode }
            }
            kind if !kind.is_string() => ascii(Derivation::Numeric),
            kind => Traits {
                derivation: Derivation::Implicit,
                repertoire: Repertoire::of_set(kind.collation().unwrap_or(Collation::Binary).set()),
            },
        }
    }
}

impl ColumnType {
    /// BIGINT.
    pub const BIGINT: ColumnType =
        ColumnType::Int { width: IntWidth::Big, unsigned: false, display: None, zerofill: false };
    /// BIGINT UNSIGNED.
    pub const BIGINT_UNSIGNED: ColumnType =
        ColumnType::Int { width: IntWidth::Big, unsigned: true, display: None, zerofill: false };
    /// The largest AUTO_INCREMENT value of a column of this type.
    pub fn largest_counted(&self) -> u64 {
        match self {
            ColumnType::Int { width, unsigned: true, .. } => width.unsigned_max(),
            ColumnType::Int { width, .. } => width.signed_range().1 as u64,
            ColumnType::Float { .. } => 1 << 24,
            _ => 1 << 53,
        }
    }

    /// INT.
    pub const INT: ColumnType =
        ColumnType::Int { width: IntWidth::Int, unsigned: false, display: None, zerofill: false };
    /// DOUBLE.
    pub const DOUBLE: ColumnType = ColumnType::Double { unsigned: false, digits: None, zerofill: false };

    /// A plain integer type.
    pub fn int(width: IntWidth, unsigned: bool) -> ColumnType {
        ColumnType::Int { width, unsigned, display: None, zerofill: false }
    }

    /// VARCHAR of the default collation.
    pub fn varchar(length: u32) -> ColumnType {
        ColumnType::Varchar { length, collation: Collation::DEFAULT }
    }

    /// True for the integer family, BIT and YEAR.
    pub fn is_integer(&self) -> bool {
        matches!(self, ColumnType::Int { .. } | ColumnType::Bit { .. } | ColumnType::Year)
    }

    /// True for every number type.
    pub fn is_numeric(&self) -> bool {
        self.is_integer()
            || matches!(
                self,
                ColumnType::Decimal { .. } | ColumnType::Float { .. } | ColumnType::Double { .. }
            )
    }

    /// True for character types with a collation, ENUM, SET and JSON included.
    pub fn is_character(&self) -> bool {
        self.collation().is_some()
    }

    /// True for byte string types.
    pub fn is_binary_string(&self) -> bool {
        matches!(self, ColumnType::Binary { .. } | ColumnType::Varbinary { .. } | ColumnType::Blob { .. })
    }

    /// True for character and byte strings.
    pub fn is_string(&self) -> bool {
        self.is_character() || self.is_binary_string()
    }

    /// True for DATE, TIME, DATETIME and TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            ColumnType::Date
                | ColumnType::Time { .. }
                | ColumnType::DateTime { .. }
                | ColumnType::Timestamp { .. }
        )
    }

    /// True for TEXT, BLOB and JSON, which need a prefix length in keys.
    pub fn is_blob(&self) -> bool {
        matches!(self, ColumnType::Text { .. } | ColumnType::Blob { .. } | ColumnType::Json)
    }

    /// True for numbers that are shown with leading zeros.
    pub fn is_zerofill(&self) -> bool {
        match self {
            ColumnType::Int { zerofill, .. }
            | ColumnType::Decimal { zerofill, .. }
            | ColumnType::Float { zerofill, .. }
            | ColumnType::Double { zerofill, .. } => *zerofill,
            ColumnType::Year => true,
            _ => false,
        }
    }

    /// The same type without leading zeros: only a column has them, not what is computed of it.
    pub fn unfilled(mut self) -> ColumnType {
        match &mut self {
            ColumnType::Int { zerofill, .. }
            | ColumnType::Decimal { zerofill, .. }
            | ColumnType::Float { zerofill, .. }
            | ColumnType::Double { zerofill, .. } => *zerofill = false,
            _ => {}
        }
        self
    }

    /// True for two types of texts or of bytes of a variable length, of one collation: what a row says in one
    /// is copied into the other.
    pub fn is_copied_into(&self, other: &ColumnType) -> bool {
        match (self, other) {
            (ColumnType::Varchar { collation, .. }, ColumnType::Varchar { collation: other, .. }) => {
                collation == other
            }
            (ColumnType::Varbinary { .. }, ColumnType::Varbinary { .. }) => true,
            _ => false,
        }
    }

    /// True for unsigned numbers.
    pub fn is_unsigned(&self) -> bool {
        match self {
            ColumnType::Int { unsigned, .. }
            | ColumnType::Decimal { unsigned, .. }
            | ColumnType::Float { unsigned, .. }
            | ColumnType::Double { unsigned, .. } => *unsigned,
            ColumnType::Bit { .. } | ColumnType::Year => true,
            _ => false,
        }
    }

    /// Collation that a column of this type is said to have: documents have none.
    pub fn shown_collation(&self) -> Option<Collation> {
        if *self == ColumnType::Json { None } else { self.collation() }
    }

    /// Collation of a character type.
    pub fn collation(&self) -> Option<Collation> {
        match self {
            ColumnType::Char { collation, .. }
            | ColumnType::Varchar { collation, .. }
            | ColumnType::Text { collation, .. }
            | ColumnType::Enum { collation, .. }
            | ColumnType::Set { collation, .. } => Some(*collation),
            ColumnType::Json => Some(Collation::Utf8mb4Bin),
            _ => None,
        }
    }

    /// The same type with another collation; other types are returned unchanged.
    pub fn with_collation(mut self, wanted: Collation) -> ColumnType {
        match &mut self {
            ColumnType::Char { collation, .. }
            | ColumnType::Varchar { collation, .. }
            | ColumnType::Text { collation, .. }
            | ColumnType::Enum { collation, .. }
            | ColumnType::Set { collation, .. } => *collation = wanted,
            _ => {}
        }
        self
    }
}

/// Result type of an expression: what the client is told and what later conversions need.
#[derive(Debug, Clone, PartialEq)]
pub struct ExprType {
    /// The type.
    pub column: ColumnType,
    /// False when the expression can never be NULL.
    pub nullable: bool,
    /// What it has besides its collation where it meets other texts.
    pub traits: Traits,
}

impl ExprType {
    /// A result that has the traits of a column of its type.
    pub fn new(column: ColumnType, nullable: bool) -> ExprType {
        let traits = Traits::of(&column);
        ExprType { column, nullable, traits }
    }

    /// The same with other traits.
    pub fn with_traits(self, traits: Traits) -> ExprType {
        ExprType { traits, ..self }
    }

    /// A nullable result.
    pub fn nullable(column: ColumnType) -> ExprType {
        ExprType::new(column, true)
    }

    /// A result that is never NULL.
    pub fn not_null(column: ColumnType) -> ExprType {
        ExprType::new(column, false)
    }
}

/// Numbers of the wire protocol's column types.
#[allow(missing_docs, reason = "the names are MySQL's")]
pub mod wire_type {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const BIT: u8 = 16;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
}

/// Flag bits of the wire protocol's column definition.
#[allow(missing_docs, reason = "the names are MySQL's")]
pub mod column_flag {
    pub const NOT_NULL: u16 = 1;
    pub const PRIMARY_KEY: u16 = 2;
    pub const UNIQUE_KEY: u16 = 4;
    pub const MULTIPLE_KEY: u16 = 8;
    pub const BLOB: u16 = 16;
    pub const UNSIGNED: u16 = 32;
    pub const ZEROFILL: u16 = 64;
    pub const BINARY: u16 = 128;
    pub const ENUM: u16 = 256;
    pub const AUTO_INCREMENT: u16 = 512;
    pub const TIMESTAMP: u16 = 1024;
    pub const SET: u16 = 2048;
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    pub const ON_UPDATE_NOW: u16 = 8192;
    pub const NUM: u16 = 32768;
}
