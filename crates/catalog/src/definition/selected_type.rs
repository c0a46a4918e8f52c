//! The type of the column that a computed value becomes: of CREATE TABLE ... SELECT, and of a key over an
//! expression.

use turnstile_syntax::ast::{Expr, Query, QueryBody};
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};

/// Longest VARCHAR, in characters, that an expression becomes; a longer one becomes a TEXT.
const VARCHAR_LENGTH_MAX: u32 = 512;

/// Digits and sign of an expression that becomes an INT; longer ones become a BIGINT.
const INT_DIGITS_MAX: u8 = 11;

/// All digits of PI, and those behind the point.
const PI_DIGITS: (u8, u8) = (8, 6);

/// Digits of a computed DOUBLE that shows a fixed number of places.
const DOUBLE_DIGITS: u8 = 22;

/// The type of the column that a value becomes, as it is written where that is known. `of_column`: it is one
/// of a table's; `of_set`: it comes out of a set operation.
pub fn selected_type(
    written: Option<&Expr>,
    kind: &ColumnType,
    (of_column, of_set): (bool, bool),
) -> ColumnType {
    // A number that IFNULL gives is kept as one of its type.
    let plain = written.is_some_and(is_if_null)
        && (kind.is_integer() || matches!(kind, ColumnType::Float { .. } | ColumnType::Double { .. }));
    // A column that is no table's any more is the text of a key of WITH ROLLUP.
    let is_key = matches!(
        (written, kind),
        (Some(Expr::Column(_)), ColumnType::Char { .. } | ColumnType::Binary { .. })
    );
    let computed = !of_column && !plain && (is_key || written.is_some_and(is_computed));
    let kind = if computed { computed_type(kind) } else { kind.clone() };
    let kind = written.map_or(kind.clone(), |written| type_of_written(written, kind, of_column));
    // What IFNULL gives is as wide as its wider argument.
    // So are the whole numbers of a set operation.
    let is_wide = written.is_some_and(is_if_null) || of_set;
    stored_type(&if is_wide { widest(kind) } else { kind })
}

/// Whether a value is more than one that a table keeps: aggregates and IFNULL have types of their own.
fn is_computed(written: &Expr) -> bool {
    match written {
        Expr::Function(call) => {
            let own = matches!(&*call.name, "group_concat" | "sum" | "avg" | "min" | "max");
            !own
        }
        Expr::Case { .. } | Expr::Binary { .. } | Expr::Unary { .. } | Expr::DateArithmetic { .. } => true,
        Expr::Cast { .. } | Expr::ConvertUsing { .. } => true,
        _ => false,
    }
}

/// What becomes of some values by what they are: PI has its own digits, the least and the greatest of what is
/// no column are whole numbers of any size, and so are long ones of a query.
fn type_of_written(written: &Expr, kind: ColumnType, is_column: bool) -> ColumnType {
    match (written, kind) {
        (Expr::UserVariable(_), ColumnType::Text { size: BlobSize::Medium, collation }) => {
            ColumnType::Text { size: BlobSize::Normal, collation }
        }
        (Expr::Function(call), ColumnType::Double { unsigned, zerofill, .. }) if &*call.name == "pi" => {
            ColumnType::Double { unsigned, digits: Some(PI_DIGITS), zerofill }
        }
        (Expr::Function(call), kind)
            if matches!(&*call.name, "min" | "max")
                && !matches!(call.arguments.first(), Some(Expr::Column(_)))
                && (kind.is_integer() || kind == ColumnType::Year) =>
        {
            ColumnType::int(IntWidth::Big, kind.is_unsigned())
        }
        // Texts of one length are those of columns alone.
        (Expr::Function(call), kind @ (ColumnType::Char { .. } | ColumnType::Binary { .. }))
            if matches!(&*call.name, "min" | "max")
                && !matches!(call.arguments.first(), Some(Expr::Column(_) | Expr::Subquery(_))) =>
        {
            computed_type(&kind)
        }
        // A byte more than its values have.
        (Expr::Function(call), ColumnType::Varbinary { length })
            if matches!(&*call.name, "bit_and" | "bit_or" | "bit_xor") =>
        {
            ColumnType::Varbinary { length: length + 1 }
        }
        (Expr::Function(call), kind @ ColumnType::Int { .. }) if &*call.name == "get_lock" => {
            ColumnType::int(IntWidth::Int, kind.is_unsigned())
        }
        (Expr::Function(call), kind) if matches!(&*call.name, "sum" | "avg") => kind,
        (Expr::Subquery(query), kind)
            if kind.is_integer()
                && !is_column
                && reads_tables(query)
                && kind.wire_length() >= u32::from(INT_DIGITS_MAX) =>
        {
            ColumnType::int(IntWidth::Big, kind.is_unsigned())
        }
        (Expr::Subquery(_), kind @ (ColumnType::Enum { .. } | ColumnType::Set { .. })) if !is_column => {
            computed_type(&kind)
        }
        (_, ColumnType::Double { unsigned, digits: Some((total, scale)), zerofill }) if !is_column => {
            ColumnType::Double { unsigned, digits: Some((total.min(DOUBLE_DIGITS), scale)), zerofill }
        }
        (_, kind) => kind,
    }
}

fn reads_tables(query: &Query) -> bool {
    match &query.body {
        QueryBody::Select(select) => !select.from.is_empty(),
        _ => true,
    }
}

fn is_if_null(written: &Expr) -> bool {
    matches!(written, Expr::Function(call) if &*call.name == "ifnull")
}

fn widest(kind: ColumnType) -> ColumnType {
    match kind {
        ColumnType::Int { width, unsigned, zerofill: false, .. } => ColumnType::int(width, unsigned),
        other => other,
    }
}

/// What a computed value becomes: whole numbers an INT at least, texts of a fixed length those of a variable
/// one.
fn computed_type(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Int { width, unsigned, zerofill: false, .. } if *width < IntWidth::Int => {
            ColumnType::int(IntWidth::Int, *unsigned)
        }
        ColumnType::Char { length, collation } => {
            ColumnType::Varchar { length: *length, collation: *collation }
        }
        ColumnType::Binary { length } => ColumnType::Varbinary { length: *length },
        ColumnType::Enum { collation, .. } | ColumnType::Set { collation, .. } => {
            ColumnType::Varchar { length: kind.text_length(), collation: *collation }
        }
        ColumnType::Double { unsigned, digits: Some((total, scale)), .. } => ColumnType::Double {
            unsigned: *unsigned,
            digits: Some(((*total).max(DOUBLE_DIGITS), *scale)),
            zerofill: false,
        },
        ColumnType::Text { collation, .. } => {
            ColumnType::Text { size: BlobSize::Long, collation: *collation }
        }
        ColumnType::Blob { .. } => ColumnType::Blob { size: BlobSize::Long },
        ColumnType::Bit { bits } => {
            let width = if *bits <= INT_DIGITS_MAX { IntWidth::Int } else { IntWidth::Big };
            ColumnType::int(width, true)
        }
        other => other.clone(),
    }
}

/// The type of a column that holds an expression's values.
fn stored_type(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Null => ColumnType::Varbinary { length: 0 },
        ColumnType::Int { width: IntWidth::Big, unsigned, display: Some(digits), zerofill: false } => {
            let width = if *digits <= INT_DIGITS_MAX { IntWidth::Int } else { IntWidth::Big };
            ColumnType::int(width, *unsigned)
        }
        ColumnType::Varchar { length, collation } | ColumnType::Char { length, collation } => {
            let bytes = u64::from(*length) * u64::from(collation.max_char_bytes());
            if *length > VARCHAR_LENGTH_MAX {
                ColumnType::Text { size: size_for(bytes), collation: *collation }
            } else {
                kind.clone()
            }
        }
        ColumnType::Varbinary { length } | ColumnType::Binary { length } if *length > VARCHAR_LENGTH_MAX => {
            ColumnType::Blob { size: size_for(u64::from(*length)) }
        }
        other => other.clone(),
    }
}

fn size_for(bytes: u64) -> BlobSize {
    BlobSize::holding(bytes).max(BlobSize::Normal)
}
