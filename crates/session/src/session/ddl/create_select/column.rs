//! The columns that a query's columns become.

use super::super::columns_read;
use crate::ast::{ColumnName, Expr, Query, QueryBody, SelectItem};
use crate::dictionary::{Column, DefaultValue, TableNames};
use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;
use crate::plan::QueryPlan;
use crate::sink::ColumnMeta;
use crate::types::{BlobSize, ColumnType, IntWidth, column_flag};
use crate::value::{StoreContext, Value, store};

/// Longest VARCHAR, in characters, that an expression becomes; a longer one becomes a TEXT.
const VARCHAR_LENGTH_MAX: u32 = 512;

/// Digits and sign of an expression that becomes an INT; longer ones become a BIGINT.
const INT_DIGITS_MAX: u8 = 11;

/// All digits of PI, and those behind the point.
const PI_DIGITS: (u8, u8) = (8, 6);

/// Digits of a computed DOUBLE that shows a fixed number of places.
const DOUBLE_DIGITS: u8 = 22;

pub fn selected_columns(
    source: &QueryPlan,
    query: &Query,
    (names, current, eval): (TableNames<'_>, Option<&str>, &EvalContext<'_>),
) -> SqlResult<Vec<Column>> {
    let of_set = matches!(source, QueryPlan::Set(_));
    let written = written_values(query);
    let written = written.iter().copied().chain(std::iter::repeat(None));
    let columns = source.columns().iter().zip(written);
    let column = |(meta, written): (&ColumnMeta, Option<&Expr>)| {
        let Some(read) = written
            .and_then(read_as_it_is)
            .and_then(|(name, of)| Some((columns_read::find(names, current, query, name)?, of)))
        else {
            return selected_column(meta, (written, of_set), (names, eval));
        };
        match read {
            // It is the column.
            (base, Reads::Value) if is_kept_as(&base, !is_not_null(meta)) => {
                Ok(Column { name: meta.name.trim().into(), invisible: false, ..base })
            }
            // A column that has no default gives none to the greatest of its values either.
            (base, Reads::Extreme) if base.default == DefaultValue::None => {
                let column = selected_column(meta, (written, of_set), (names, eval))?;
                Ok(Column { default: DefaultValue::None, ..column })
            }
            _ => selected_column(meta, (written, of_set), (names, eval)),
        }
    };
    columns.map(column).collect()
}

/// A column for one of a query's: a table's column keeps what its definition says of single values;
/// whatever else cannot be NULL gets its type's zero as its default.
fn selected_column(
    meta: &ColumnMeta,
    (written, of_set): (Option<&Expr>, bool),
    (names, eval): (TableNames<'_>, &EvalContext<'_>),
) -> SqlResult<Column> {
    let name: Box<str> = meta.name.trim().into();
    if name.is_empty() || name.chars().count() > 64 {
        return Err(SqlError::wrong_column_name(&meta.name));
    }
    let nullable = !is_not_null(meta);
    let base = names.find(&meta.schema, &meta.org_table);
    let base = base.as_ref().and_then(|table| {
        let at = table.column_position(&meta.org_name)?;
        // What comes through a view is of the table that a temporary one hides.
        let column = &table.columns()[at];
        (!table.temporary || column.kind == meta.column_type).then_some(column)
    });
    if let Some(base) = base
        && is_kept_as(base, nullable)
    {
        return Ok(Column { name, invisible: false, ..base.clone() });
    }
    if let Some(base) = base.filter(|base| base.nullable == nullable && base.generation().is_some()) {
        let default = if nullable { DefaultValue::Value(Value::Null) } else { DefaultValue::None };
        return Ok(Column { name, default, invisible: false, ..base.clone() });
    }
    // A number that IFNULL gives is kept as one of its type.
    let plain = written.is_some_and(is_if_null)
        && (meta.column_type.is_integer()
            || matches!(meta.column_type, ColumnType::Float { .. } | ColumnType::Double { .. }));
    // A column that is no table's any more is the text of a key of WITH ROLLUP.
    let is_key = matches!(
        (written, &meta.column_type),
        (Some(Expr::Column(_)), ColumnType::Char { .. } | ColumnType::Binary { .. })
    );
    let computed = base.is_none() && !plain && (is_key || written.is_some_and(is_computed));
    let kind = if computed { computed_type(&meta.column_type) } else { meta.column_type.clone() };
    let kind = written.map_or(kind.clone(), |written| type_of_written(written, kind, base.is_some()));
    // What IFNULL gives is as wide as its wider argument.
    // So are the whole numbers of a set operation.
    let is_wide = written.is_some_and(is_if_null) || of_set;
    let kind = if is_wide { widest(kind) } else { kind };
    let kind = stored_type(&kind);
    let comment = base.map_or("".into(), |base| base.comment.clone());
    let default = match nullable {
        true => DefaultValue::Value(Value::Null),
        // A table's column that passed through another query still has none.
        false if meta.flags & column_flag::NO_DEFAULT_VALUE != 0 => DefaultValue::None,
        false => zero_default(&name, &kind, eval)?,
    };
    Ok(Column {
        name,
        kind,
        nullable,
        default,
        on_update: None,
        auto_increment: false,
        comment,
        invisible: false,
    })
}

fn is_not_null(meta: &ColumnMeta) -> bool {
    meta.flags & column_flag::NOT_NULL != 0
}

/// Whether a column that reads this one has all that its definition says of single values.
fn is_kept_as(base: &Column, nullable: bool) -> bool {
    base.nullable == nullable
        && !base.auto_increment
        && !matches!(base.default, DefaultValue::Computed(_) | DefaultValue::Generated(..))
}

/// How a value reads a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// `(SELECT c)`, which is the column itself.
    Value,
    /// `MIN(c)` or `MAX(c)`.
    Extreme,
}

/// The column that a value reads and nothing else.
fn read_as_it_is(written: &Expr) -> Option<(&ColumnName, Reads)> {
    match written {
        Expr::Function(call) if matches!(&*call.name, "min" | "max") => match call.arguments.first() {
            Some(Expr::Column(name)) => Some((name, Reads::Extreme)),
            _ => None,
        },
        Expr::Subquery(query) if !reads_tables(query) => match written_values(query)[..] {
            [Some(Expr::Column(name))] => Some((name, Reads::Value)),
            _ => None,
        },
        _ => None,
    }
}

/// The values of a select list; None for one that is not known to be the column's at its place.
fn written_values(query: &Query) -> Vec<Option<&Expr>> {
    let QueryBody::Select(select) = &query.body else { return Vec::new() };
    let items = select.items.iter().map_while(|item| match item {
        SelectItem::Expr { expr, .. } => Some(Some(expr)),
        SelectItem::Wildcard { .. } => None,
    });
    items.collect()
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

fn zero_default(name: &str, kind: &ColumnType, eval: &EvalContext<'_>) -> SqlResult<DefaultValue> {
    let dated = matches!(kind, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
    let listed = matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. });
    if kind.is_blob() || dated || listed {
        return Ok(DefaultValue::None);
    }
    let zero = if kind.is_string() { Value::text("") } else { Value::Int(0) };
    let context = StoreContext { column: name, row: 1, nullable: false, strict: true, eval };
    Ok(DefaultValue::Value(store(&zero, kind, &context)?))
}
