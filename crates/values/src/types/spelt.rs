//! How SHOW CREATE TABLE spells a type.

use std::fmt;

use super::ColumnType;
use super::size::IntWidth;

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
