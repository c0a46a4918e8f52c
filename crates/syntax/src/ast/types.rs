//! Column types and cast targets as written.

use super::{Name, Text};

/// A type's family. Synonyms are merged: BOOL is TINYINT(1), NUMERIC is DECIMAL, CHARACTER VARYING is
/// VARCHAR, LONG is MEDIUMTEXT, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum TypeKind {
    Bit,
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Enum,
    Set,
    Json,
}

/// A column's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnType {
    /// The family.
    pub kind: TypeKind,
    /// First number in parentheses: display width, precision, characters, bits or fractional seconds.
    pub length: Option<u64>,
    /// Second number in parentheses.
    pub decimals: Option<u64>,
    /// UNSIGNED (also implied by ZEROFILL)
    pub unsigned: bool,
    /// ZEROFILL
    pub zerofill: bool,
    /// CHARACTER SET, lower case; `binary` for BYTE.
    pub charset: Option<Name>,
    /// COLLATE, lower case.
    pub collation: Option<Name>,
    /// The attribute BINARY on a character type: the `_bin` collation of its character set.
    pub binary_collation: bool,
    /// The values of ENUM and SET.
    pub values: Vec<Text>,
}

impl ColumnType {
    /// A type without any attribute.
    #[must_use]
    pub fn plain(kind: TypeKind) -> Self {
        ColumnType {
            kind,
            length: None,
            decimals: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary_collation: false,
            values: Vec::new(),
        }
    }
}

/// The target of CAST and CONVERT.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CastType {
    /// BINARY[(n)]: bytes.
    Binary(Option<u64>),
    /// CHAR[(n)] [CHARACTER SET c]; characters. NCHAR is CHAR CHARACTER SET utf8mb3.
    Char {
        /// Characters at most.
        length: Option<u64>,
        /// The character set, lower case.
        charset: Option<Name>,
    },
    /// SIGNED \[INTEGER\]
    Signed,
    /// UNSIGNED \[INTEGER\]
    Unsigned,
    /// DATE
    Date,
    /// TIME[(fractional digits)]
    Time(Option<u64>),
    /// DATETIME[(fractional digits)]
    DateTime(Option<u64>),
    /// YEAR
    Year,
    /// DECIMAL[(precision[, scale])]
    Decimal {
        /// Digits in all; 10 when absent.
        precision: Option<u64>,
        /// Digits after the point; 0 when absent.
        scale: Option<u64>,
    },
    /// FLOAT[(bits)]; more than 24 bits is a double.
    Float(Option<u64>),
    /// DOUBLE, REAL
    Double,
    /// JSON
    Json,
}
