//! Whether two expressions of a block are the same one, however their columns are named: `t.a + 1` is
//! `a + 1`.

use std::convert::Infallible;
use std::mem::discriminant;

use turnstile_syntax::ast::{ColumnName, Expr};
use turnstile_syntax::walk;

use super::block::Block;
use super::seen::Seen;

/// Whether two expressions are written the same way, and their columns are the same.
pub fn same(block: &Block<'_, '_>, one: &Expr, other: &Expr) -> bool {
    if let (Expr::Column(one), Expr::Column(other)) = (one, other)
        && let (Some(one), Some(other)) = (position(block, one), position(block, other))
    {
        return one == other;
    }
    one == other
        || discriminant(one) == discriminant(other) && by_position(block, one) == by_position(block, other)
}

/// Expressions of a block among which others are sought, without comparing each with each.
#[derive(Debug, Default)]
pub struct Alike(Seen<Expr, ()>);

impl Alike {
    /// Those of a list.
    pub fn of<'x>(block: &Block<'_, '_>, exprs: impl IntoIterator<Item = &'x Expr>) -> Alike {
        let mut all = Alike::default();
        all.extend(block, exprs);
        all
    }

    /// Adds those of a list.
    pub fn extend<'x>(&mut self, block: &Block<'_, '_>, exprs: impl IntoIterator<Item = &'x Expr>) {
        exprs.into_iter().for_each(|expr| self.0.push(by_position(block, expr), ()));
    }

    /// Whether one of them is the [`same`] as this one.
    pub fn have(&self, block: &Block<'_, '_>, expr: &Expr) -> bool {
        self.0.len() > 0 && self.0.alike(&by_position(block, expr)).next().is_some()
    }
}

fn position(block: &Block<'_, '_>, name: &ColumnName) -> Option<usize> {
    Some(block.scope.find_here(name).ok().flatten()?.position)
}

/// An expression whose columns are called by their places. Those of queries around keep their names.
fn by_position(block: &Block<'_, '_>, expr: &Expr) -> Expr {
    fn rename(block: &Block<'_, '_>, expr: &mut Expr) -> Result<(), Infallible> {
        if let Expr::Column(name) = expr {
            if let Some(position) = position(block, name) {
                *name =
                    ColumnName { schema: None, table: Some("".into()), column: position.to_string().into() };
            }
            return Ok(());
        }
        walk::children_mut(expr, &mut |child| rename(block, child))
    }
    let mut expr = expr.clone();
    let Ok(()) = rename(block, &mut expr);
    expr
}
