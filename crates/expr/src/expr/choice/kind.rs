//! Types of alternatives, and each alternative in the type of all.

use turnstile_values::collation::Collation;
use turnstile_values::mixing::Party;
use turnstile_values::types::{BlobSize, ColumnType, ExprType, IntWidth};
use turnstile_values::value::Value;

use super::super::beside_column::first_day_of_year;
use super::super::build::Resolver;
use super::super::class::is_moment;
use super::super::infer::{unified_extreme, unified_type, without_members};
use super::super::{Expr, Typed};
use crate::functions;

/// Bytes of which some are those of a TEXT or BLOB.
pub(super) fn with_long(kind: ColumnType, has_long: bool) -> ColumnType {
    if has_long && kind.is_binary_string() { ColumnType::Blob { size: BlobSize::Long } } else { kind }
}

/// Arguments of GREATEST and LEAST that are compared as texts: those that their columns show.
pub(super) fn texts_as_shown(arguments: Vec<Typed>) -> Vec<Typed> {
    let kind = unified_extreme(&arguments);
    if !kind.is_string() {
        return arguments;
    }
    if arguments.iter().any(|one| is_moment(&one.kind.column)) {
        let day = |one: Typed| match one.kind.column {
            ColumnType::Year => Typed { expr: first_day_of_year(one.expr), ..one },
            _ => one,
        };
        return arguments.into_iter().map(day).collect();
    }
    let shown = |one: Typed| {
        let length = one.kind.column.wire_length();
        let mut shown = functions::as_shown(one.clone());
        if shown.kind.column != one.kind.column && kind.is_binary_string() {
            shown.kind.column = ColumnType::Varbinary { length };
        }
        shown
    };
    arguments.into_iter().map(shown).collect()
}

pub(super) fn is_member(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. })
}

/// A value, or NULL where this holds. A member of an ENUM or SET is a text among others, as it is in CASE.
pub(super) fn unless(holds: Expr, value: Typed, kind: ExprType) -> Typed {
    let branches = vec![(holds, Expr::Literal(Value::Null))];
    let case = |value: Expr, kind: ExprType| {
        let expr = Expr::Case { branches, otherwise: Some(Box::new(value)), kind: kind.column.clone() };
        Typed { expr, kind }
    };
    if !is_member(&value.kind.column) {
        return without_members(case(value.expr, kind));
    }
    // The text of a member is announced as that of a column of members is.
    let text = without_members(value);
    let column = match text.kind.column.clone() {
        ColumnType::Varchar { length, collation } => ColumnType::Char { length, collation },
        other => other,
    };
    let mut typed = case(text.expr, ExprType { column: text.kind.column, ..kind });
    typed.kind.column = column;
    typed
}

/// A BIGINT column that becomes text or is computed with: BIGINT(3) holds as much as any BIGINT.
pub fn of_full_width(mut typed: Typed, resolver: &dyn Resolver) -> Typed {
    if let (Expr::Column(at), ColumnType::Int { width: IntWidth::Big, display, zerofill: false, .. }) =
        (&typed.expr, &mut typed.kind.column)
        && resolver.is_stored(*at)
    {
        *display = None;
    }
    typed
}

/// What is one of several BITs is a whole number; only IF and CASE give the BIT itself.
pub fn bits_as_number(kind: ColumnType) -> ColumnType {
    match kind {
        ColumnType::Bit { bits } => {
            ColumnType::Int { width: IntWidth::Big, unsigned: true, display: Some(bits), zerofill: false }
        }
        kind => kind,
    }
}

/// A date, a time or a member of an ENUM or SET as what it becomes among values of other types. That it
/// becomes so is written down, for where the value is read as a number: see `of_branch_taken`.
pub(super) fn in_kind(value: Typed, kind: &ColumnType) -> Expr {
    let column = &value.kind.column;
    let has_number = column.is_temporal() || is_member(column);
    if has_number && column != kind {
        Expr::Coerce { operand: Box::new(value.expr), to: kind.clone() }
    } else {
        value.expr
    }
}

/// The type of a text whose parts have agreed.
pub(super) fn with_agreed(kind: ColumnType, agreed: Party, nullable: bool) -> ExprType {
    let kind = if kind.is_character() && agreed.collation != Collation::Binary {
        kind.with_collation(agreed.collation)
    } else {
        kind
    };
    ExprType::new(kind, nullable).with_traits(agreed.traits)
}

/// The common type of two columns of a set operation whose texts have agreed.
pub fn unified_agreed(left: &ColumnType, right: &ColumnType, agreed: Party) -> ExprType {
    let has_bits = [left, right].iter().any(|kind| matches!(kind, ColumnType::Bit { .. }));
    let kind = match unified_type(left, right) {
        ColumnType::Varbinary { length } if agreed.collation != Collation::Binary => {
            ColumnType::Varchar { length, collation: agreed.collation }
        }
        ColumnType::Blob { size } if agreed.collation != Collation::Binary => {
            ColumnType::Text { size, collation: agreed.collation }
        }
        // Bits are bytes beside text.
        ColumnType::Varchar { .. } if has_bits && agreed.collation == Collation::Binary => {
            ColumnType::Varbinary { length: left.wire_length().max(right.wire_length()) }
        }
        ColumnType::Char { .. } if has_bits && agreed.collation == Collation::Binary => {
            ColumnType::Binary { length: left.wire_length().max(right.wire_length()) }
        }
        ColumnType::Text { size, .. } if has_bits && agreed.collation == Collation::Binary => {
            ColumnType::Blob { size }
        }
        kind => kind,
    };
    with_agreed(kind, agreed, true)
}
