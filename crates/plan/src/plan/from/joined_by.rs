//! Which columns a block joins its tables by, for its derived tables: those that compute such a column are
//! not merged into it (`merged.rs`).

use std::collections::HashSet;

use turnstile_syntax::ast::{self, Select, SelectItem, TableRef};
use turnstile_syntax::walk;

use super::super::block::PlanContext;
use super::super::pushed;

/// Names of columns that a block joins its tables by: those on both sides of an equality. A column of a
/// derived table that is computed is hashed for that, which takes the derived table as a whole.
#[derive(Clone, Default)]
pub struct JoinedBy {
    names: HashSet<String>,
    /// NATURAL does not tell which.
    any: bool,
}

impl JoinedBy {
    /// Of a block that reads derived tables.
    pub fn of(context: &PlanContext<'_>, select: &Select) -> JoinedBy {
        let mut found = JoinedBy::default();
        let single = matches!(select.from.as_slice(), [] | [TableRef::Table(_) | TableRef::Derived { .. }]);
        if single || context.common.is_empty() && !select.from.iter().any(pushed::has_derived) {
            return found;
        }
        select.condition.iter().for_each(|condition| found.add(condition));
        select.from.iter().for_each(|table| found.add_joins(table));
        found
    }

    fn add(&mut self, condition: &ast::Expr) {
        walk::each(condition, &mut |one| {
            if let ast::Expr::Binary { op: ast::BinaryOp::Equal, left, right } = one
                && let (ast::Expr::Column(left), ast::Expr::Column(right)) = (&**left, &**right)
            {
                self.names.extend([left, right].map(|name| name.column.to_lowercase()));
            }
        });
    }

    fn add_joins(&mut self, table: &TableRef) {
        let TableRef::Join(join) = table else { return };
        match &join.condition {
            ast::JoinCondition::None => {}
            ast::JoinCondition::On(condition) => self.add(condition),
            ast::JoinCondition::Using(names) => {
                self.names.extend(names.iter().map(|name| name.to_lowercase()));
            }
            ast::JoinCondition::Natural => self.any = true,
        }
        self.add_joins(&join.left);
        self.add_joins(&join.right);
    }

    /// Whether a column is among them that a select list computes.
    pub(super) fn has_computed(&self, items: &[SelectItem], names: &[ast::Name]) -> bool {
        items.iter().enumerate().any(|(nth, item)| match item {
            SelectItem::Expr { expr: ast::Expr::Column(_), .. } | SelectItem::Wildcard { .. } => false,
            SelectItem::Expr { name, .. } => {
                let name = names.get(nth).unwrap_or(name);
                self.any || self.names.contains(&name.to_lowercase())
            }
        })
    }

    /// With what the block around joins by, in the words of the select list inside.
    pub(super) fn with(mut self, around: &JoinedBy, items: &[SelectItem], names: &[ast::Name]) -> JoinedBy {
        self.any |= around.any;
        for (nth, item) in items.iter().enumerate() {
            match item {
                SelectItem::Expr { expr: ast::Expr::Column(column), name, .. } => {
                    if around.names.contains(&names.get(nth).unwrap_or(name).to_lowercase()) {
                        self.names.insert(column.column.to_lowercase());
                    }
                }
                SelectItem::Expr { .. } => {}
                SelectItem::Wildcard { .. } if names.is_empty() => {
                    self.names.extend(around.names.iter().cloned());
                }
                SelectItem::Wildcard { .. } => self.any = true,
            }
        }
        self
    }
}
