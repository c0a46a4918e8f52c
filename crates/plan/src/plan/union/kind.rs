//! The types of a set operation's columns.

use turnstile_expr::expr::{
    Expr, Use, converted, signed, unified_agreed, unified_type, with_all_of_average, with_own_digits,
};
use turnstile_syntax::ast::SetOperator;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::{Derivation, Meeting, Party, Purpose, Traits};
use turnstile_values::types::{ColumnType, ExprType};

use super::super::block::{PlanContext, settled};
use super::super::member_texts;
use super::super::query::QueryPlan;

/// Whether values that are no texts are texts among those of more members.
pub(super) fn becomes_text(kinds: &[ExprType], more: &[(SetOperator, QueryPlan)]) -> bool {
    kinds.iter().enumerate().any(|(nth, kind)| {
        let others = more.iter().filter_map(|(_, member)| Some(&member.columns().get(nth)?.column_type));
        let all = others.fold(kind.column.clone(), |all, other| unified_type(&all, &settled(other)));
        !kind.column.is_string() && all.is_string()
    })
}

/// Literals and bytes of a member that become text of the character set of their column, and decimals that
/// become text.
pub(super) fn convert_literals(member: &mut QueryPlan, kinds: &[ExprType]) -> SqlResult<()> {
    let QueryPlan::Select(plan) = member else { return Ok(()) };
    let passes_on = !plan.distinct && plan.group.is_none();
    for (item, kind) in plan.items.iter_mut().zip(kinds) {
        if kind.column.is_string() && kind.column != ColumnType::Json && passes_on {
            *item = with_own_digits(item.clone());
        } else if !plan.distinct {
            *item = with_all_of_average(item.clone());
        }
        if passes_on && plan.point.is_none() {
            *item = member_texts::shown(item.clone(), &kind.column);
        }
        *item = member_texts::of_parameter(item.clone(), &kind.column);
        let literal = matches!(item.expr, Expr::Literal(_));
        let bytes = item.kind.column.is_binary_string() && plan.point.is_none();
        if let Some(collation) = kind.column.collation().filter(|_| literal || bytes) {
            *item = converted(item.clone(), collation, Use::Result)?;
        }
    }
    Ok(())
}

/// The type of a column of which one query's values are of one type, another's of another, each with whether
/// its texts do not agree on a collation; and whether they do not now.
pub(super) fn common_kind(
    context: &PlanContext<'_>,
    (one, one_open): (&ExprType, bool),
    (other, other_open): (&ExprType, bool),
) -> SqlResult<(ExprType, bool)> {
    let nullable = one.nullable || other.nullable;
    let kind = signed(unified_type(&one.column, &other.column));
    if !kind.is_string() {
        return Ok((ExprType::new(kind, nullable), false));
    }
    let connection = context.eval.settings.connection_collation;
    let meeting = Meeting { operation: "UNION", purpose: Purpose::Result, connection };
    let parties = [party(one), party(other)];
    // Texts that do not agree are refused, unless a column behind them says in which collation all are
    // compared.
    let (agreed, open) = match (one_open, other_open) {
        (false, false) => {
            let agreed = meeting.agree(&parties)?;
            (agreed, agreed.traits.derivation == Derivation::None)
        }
        (true, false) if settles(parties[1]) => (parties[1], false),
        (false, true) if settles(parties[0]) => (parties[0], false),
        (false, true) => (parties[1], true),
        _ => (parties[0], true),
    };
    let mut kind = unified_agreed(&one.column, &other.column, agreed);
    if agreed.traits.derivation == Derivation::Ignorable {
        // Beside NULL, texts without a collation are bytes.
        kind.column = ColumnType::Varbinary { length: kind.column.wire_length() };
    }
    Ok((ExprType { nullable, ..kind }, open))
}

/// What a column brings to a common type: bits are bytes beside text.
fn party(kind: &ExprType) -> Party {
    let of = Party::of(kind);
    if !matches!(kind.column, ColumnType::Bit { .. }) {
        return of;
    }
    let traits = Traits { derivation: Derivation::Implicit, ..of.traits };
    Party { collation: Collation::Binary, traits }
}

/// Whether a text has a collation of its own that ends a disagreement: that of a column or an explicit one,
/// but not the one that a disagreement is left with.
fn settles(party: Party) -> bool {
    matches!(party.traits.derivation, Derivation::Explicit | Derivation::Implicit)
        && party.collation != Collation::Utf8mb4Bin
}
