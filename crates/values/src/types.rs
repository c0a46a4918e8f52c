//! Column and expression types: what a value of a column may be, how it is announced to the client, and how
//! SHOW CREATE TABLE spells it.

use std::fmt;
use std::sync::Arc;

use crate::collation::Collation;
use crate::traits::{Derivation, Repertoire, Traits};

/// Width of an integer column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntWidth {
    /// TINYINT, 1 byte.
    Tiny,
    /// SMALLINT, 2 bytes.
    Small,
    /// MEDIUMINT, 3 bytes.
    Medium,
    /// INT, 4 bytes.
    Int,
    /// BIGINT, 8 bytes.
    Big,
}

impl IntWidth {
    /// Bytes of storage.
    pub fn bytes(self) -> usize {
        match self {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        }
    }

    /// The next wider one; BIGINT has none.
    pub fn wider(self) -> IntWidth {
        match self {
            IntWidth::Tiny => IntWidth::Small,
            IntWidth::Small => IntWidth::Medium,
            IntWidth::Medium => IntWidth::Int,
            IntWidth::Int | IntWidth::Big => IntWidth::Big,
        }
    }

    /// Smallest and largest signed value.
    pub fn signed_range(self) -> (i64, i64) {
        let bits = self.bytes() as u32 * 8;
        if bits == 64 { (i64::MIN, i64::MAX) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
    }

    /// Largest unsigned value.
    pub fn unsigned_max(self) -> u64 {
        let bits = self.bytes() as u32 * 8;
        if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
    }

    fn name(self) -> &'static str {
        match self {
            IntWidth::Tiny => "tinyint",
            IntWidth::Small => "smallint",
            IntWidth::Medium => "mediumint",
            IntWidth::Int => "int",
            IntWidth::Big => "bigint",
        }
    }
}

/// Size class of TEXT and BLOB types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobSize {
    /// 255 bytes.
    Tiny,
    /// 65 535 bytes.
    Normal,
    /// 16 MiB - 1.
    Medium,
    /// 4 GiB - 1.
    Long,
}

impl BlobSize {
    /// Largest content in bytes.
    pub fn max_bytes(self) -> u64 {
        match self {
            BlobSize::Tiny => 255,
            BlobSize::Normal => 65_535,
            BlobSize::Medium => 16_777_215,
            BlobSize::Long => 4_294_967_295,
        }
    }

    /// The least that holds so many bytes.
    pub fn holding(bytes: u64) -> BlobSize {
        let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
        sizes.into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(BlobSize::Long)
    }

    fn prefix(self) -> &'static str {
        match self {
            BlobSize::Tiny => "tiny",
            BlobSize::Normal => "",
            BlobSize::Medium => "medium",
            BlobSize::Long => "long",
        }
    }
}

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

    /// Type number in the column definition packet.
    pub fn wire_type(&self) -> u8 {
        use wire_type as w;
        match self {
            ColumnType::Null => w::NULL,
            ColumnType::Int { width, .. } => match width {
                IntWidth::Tiny => w::TINY,
                IntWidth::Small => w::SHORT,
                IntWidth::Medium => w::INT24,
                IntWidth::Int => w::LONG,
                IntWidth::Big => w::LONGLONG,
            },
            ColumnType::Decimal { .. } => w::NEWDECIMAL,
            ColumnType::Float { .. } => w::FLOAT,
            ColumnType::Double { .. } => w::DOUBLE,
            ColumnType::Bit { .. } => w::BIT,
            ColumnType::Varchar { .. } | ColumnType::Varbinary { .. } => w::VAR_STRING,
            ColumnType::Char { .. }
            | ColumnType::Binary { .. }
            | ColumnType::Enum { .. }
            | ColumnType::Set { .. } => w::STRING,
            ColumnType::Text { .. } | ColumnType::Blob { .. } => w::BLOB,
            ColumnType::Date => w::DATE,
            ColumnType::Time { .. } => w::TIME,
            ColumnType::DateTime { .. } => w::DATETIME,
            ColumnType::Timestamp { .. } => w::TIMESTAMP,
            ColumnType::Year => w::YEAR,
            ColumnType::Json => w::JSON,
        }
    }

    /// Character set / collation number in the column definition packet: 63 for everything that is not text.
    pub fn wire_collation(&self) -> u16 {
        match self {
            ColumnType::Json => 63,
            _ => self.collation().map_or(63, |collation| collation.id()),
        }
    }

    /// `column_length` of the column definition packet (bytes, at 4 bytes a character).
    pub fn wire_length(&self) -> u32 {
        let fraction = |fsp: u8| if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
        match self {
            ColumnType::Null => 0,
            ColumnType::Int { width, unsigned, display, .. } => display.map_or(
                match (width, unsigned) {
                    (IntWidth::Tiny, false) => 4,
                    (IntWidth::Tiny, true) => 3,
                    (IntWidth::Small, false) => 6,
                    (IntWidth::Small, true) => 5,
                    (IntWidth::Medium, false) => 9,
                    (IntWidth::Medium, true) => 8,
                    (IntWidth::Int, false) => 11,
                    (IntWidth::Int, true) => 10,
                    (IntWidth::Big, _) => 20,
                },
                u32::from,
            ),
            ColumnType::Decimal { precision, scale, unsigned, .. } => {
                u32::from(*precision) + u32::from(*scale > 0) + u32::from(!*unsigned)
            }
            ColumnType::Float { digits, .. } => digits.map_or(12, |(m, _)| u32::from(m)),
            ColumnType::Double { digits, .. } => digits.map_or(22, |(m, _)| u32::from(m)),
            ColumnType::Bit { bits } => u32::from(*bits),
            ColumnType::Char { length, collation } | ColumnType::Varchar { length, collation } => {
                length.saturating_mul(collation.max_char_bytes())
            }
            ColumnType::Text { size, .. } | ColumnType::Blob { size } => size.max_bytes() as u32,
            ColumnType::Binary { length } | ColumnType::Varbinary { length } => *length,
            ColumnType::Date => 10,
            ColumnType::Time { fsp } => 10 + fraction(*fsp),
            ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => 19 + fraction(*fsp),
            ColumnType::Year => 4,
            ColumnType::Enum { names, .. } => {
                names.names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32 * 4
            }
            ColumnType::Set { names, .. } => {
                let characters: usize = names.names.iter().map(|name| name.chars().count() + 1).sum();
                characters.saturating_sub(1) as u32 * 4
            }
            ColumnType::Json => u32::MAX,
        }
    }

    /// `decimals` of the column definition packet; 31 means "as many as it takes".
    pub fn wire_decimals(&self) -> u8 {
        match self {
            ColumnType::Decimal { scale, .. } => *scale,
            ColumnType::Float { digits, .. } | ColumnType::Double { digits, .. } => {
                digits.map_or(31, |(_, d)| d)
            }
            ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => *fsp,
            _ => 0,
        }
    }

    /// Places behind the point that every value has; a double that shows as many as it takes has more than
    /// any.
    pub fn fixed_scale(&self) -> u8 {
        match self {
            kind if kind.is_string() => self::ANY_SCALE,
            kind => kind.wire_decimals(),
        }
    }

    /// `column_length` of a result column: of TEXT the bytes that as many characters can have.
    pub fn announced_length(&self) -> u32 {
        match self {
            ColumnType::Text { size, collation } => {
                let bytes = size.max_bytes().saturating_mul(u64::from(collation.max_char_bytes()));
                u32::try_from(bytes).unwrap_or(u32::MAX)
            }
            other => other.wire_length(),
        }
    }

    /// Flags of the column definition packet that follow from the type alone (see [`column_flag`]).
    pub fn wire_flags(&self) -> u16 {
        use column_flag as flag;
        let mut flags = 0;
        if self.is_unsigned() {
            flags |= flag::UNSIGNED;
        }
        match self {
            kind if kind.is_zerofill() => flags |= flag::ZEROFILL,
            ColumnType::Text { .. } => flags |= flag::BLOB,
            ColumnType::Blob { .. } | ColumnType::Json => flags |= flag::BLOB | flag::BINARY,
            ColumnType::Enum { .. } => flags |= flag::ENUM,
            ColumnType::Set { .. } => flags |= flag::SET,
            ColumnType::Timestamp { .. } => flags |= flag::TIMESTAMP,
            _ => {}
        }
        if self.is_temporal()
            || self.is_binary_string()
            || self.is_numeric() && !matches!(self, ColumnType::Year)
        {
            flags |= flag::BINARY;
        }
        if self.collation().is_some_and(|collation| collation.is_binary_order()) {
            flags |= flag::BINARY;
        }
        flags
    }

    /// Number of characters a text form of this type can need; used when a result becomes a string.
    pub fn text_length(&self) -> u32 {
        match self {
            ColumnType::Char { length, .. } | ColumnType::Varchar { length, .. } => *length,
            ColumnType::Text { size, .. } => size.max_bytes() as u32,
            ColumnType::Enum { .. } | ColumnType::Set { .. } => self.wire_length() / 4,
            // A column's width is how it is shown and cuts nothing: INT(2) takes as much as any INT. That of
            // a computed BIGINT is known.
            ColumnType::Int { width, unsigned, zerofill, display }
                if *zerofill || *width != IntWidth::Big =>
            {
                display.map_or(0, u32::from).max(ColumnType::int(*width, *unsigned).wire_length())
            }
            // However few digits a DOUBLE(M,D) shows.
            ColumnType::Double { digits: Some((shown, _)), .. } => {
                ColumnType::DOUBLE.wire_length().max(u32::from(*shown))
            }
            other => other.wire_length(),
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsigned_suffix = |unsigned: bool| match (unsigned, self.is_zerofill()) {
            (_, true) => " unsigned zerofill",
            (true, false) => " unsigned",
            (false, false) => "",
        };
        match self {
            ColumnType::Null => write!(f, "null"),
            ColumnType::Int { width, unsigned, display, zerofill } => {
                write!(f, "{}", width.name())?;
                match display {
                    // How far it is filled up is always said.
                    _ if *zerofill => {
                        let full = ColumnType::int(*width, true).wire_length();
                        write!(f, "({})", display.map_or(full, u32::from))?
                    }
                    Some(1) if *width == IntWidth::Tiny => write!(f, "(1)")?,
                    _ => {}
                }
                write!(f, "{}", unsigned_suffix(*unsigned))
            }
            ColumnType::Decimal { precision, scale, unsigned, .. } => {
                write!(f, "decimal({precision},{scale}){}", unsigned_suffix(*unsigned))
            }
            ColumnType::Float { unsigned, digits, .. } => {
                write_float(f, "float", *digits, unsigned_suffix(*unsigned))
            }
            ColumnType::Double { unsigned, digits, .. } => {
                write_float(f, "double", *digits, unsigned_suffix(*unsigned))
            }
            ColumnType::Bit { bits } => write!(f, "bit({bits})"),
            ColumnType::Char { length, .. } => write!(f, "char({length})"),
            ColumnType::Varchar { length, .. } => write!(f, "varchar({length})"),
            ColumnType::Text { size, .. } => write!(f, "{}text", size.prefix()),
            ColumnType::Binary { length } => write!(f, "binary({length})"),
            ColumnType::Varbinary { length } => write!(f, "varbinary({length})"),
            ColumnType::Blob { size } => write!(f, "{}blob", size.prefix()),
            ColumnType::Date => write!(f, "date"),
            ColumnType::Time { fsp } => write_temporal(f, "time", *fsp),
            ColumnType::DateTime { fsp } => write_temporal(f, "datetime", *fsp),
            ColumnType::Timestamp { fsp } => write_temporal(f, "timestamp", *fsp),
            ColumnType::Year => write!(f, "year"),
            ColumnType::Enum { names, .. } | ColumnType::Set { names, .. } => {
                write!(f, "{}(", if names.multiple { "set" } else { "enum" })?;
                for (position, name) in names.names.iter().enumerate() {
                    write!(f, "{}'{}'", if position > 0 { "," } else { "" }, name.replace('\'', "''"))?;
                }
                write!(f, ")")
            }
            ColumnType::Json => write!(f, "json"),
        }
    }
}

fn write_float(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    digits: Option<(u8, u8)>,
    suffix: &str,
) -> fmt::Result {
    write!(f, "{name}")?;
    if let Some((total, scale)) = digits {
        write!(f, "({total},{scale})")?;
    }
    write!(f, "{suffix}")
}

fn write_temporal(f: &mut fmt::Formatter<'_>, name: &str, fsp: u8) -> fmt::Result {
    if fsp == 0 { write!(f, "{name}") } else { write!(f, "{name}({fsp})") }
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
