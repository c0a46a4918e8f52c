//! Types of variables in expressions, as far as they are known when a statement is planned.

use super::parameters::Parameters;
use turnstile_catalog::variables::{self, Kind, VARIABLES};
use turnstile_expr::expr::EvalContext;
use turnstile_syntax::ast;
use turnstile_values::types::{ColumnType, IntWidth};

/// The type of a user or system variable; which user variables of which kinds the plan is for is noted.
pub fn kind(expr: &ast::Expr, context: &EvalContext<'_>, parameters: &Parameters) -> Option<ColumnType> {
    match expr {
        ast::Expr::SystemVariable { name, .. } => Some(match VARIABLES[variables::find(name)?].kind {
            Kind::Bool => {
                ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false }
            }
            Kind::Int { .. } => ColumnType::BIGINT,
            Kind::UInt { .. } => ColumnType::BIGINT_UNSIGNED,
            Kind::Double { .. } => {
                ColumnType::Double { unsigned: false, digits: Some((23, 6)), zerofill: false }
            }
            _ => ColumnType::varchar(1024),
        }),
        ast::Expr::UserVariable(name) => {
            let name = name.to_lowercase();
            let kind = context.session.user_variable_kind(&name);
            parameters.note_variable(name.into_boxed_str(), kind);
            Some(kind.read(context.settings.connection_collation))
        }
        _ => None,
    }
}
