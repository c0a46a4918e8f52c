//! How a column of a type is announced to the client: number, collation, length, decimals and flags.

use super::ColumnType;
use super::size::IntWidth;

impl ColumnType {
    /// Type number in the column definition packet.
    pub fn wire_type(&self) -> u8 {
        use super::wire_type as w;
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
            kind if kind.is_string() => crate::types::ANY_SCALE,
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

    /// Flags of the column definition packet that follow from the type alone (see
    /// [`column_flag`](super::column_flag)).
    pub fn wire_flags(&self) -> u16 {
        use super::column_flag as flag;
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
