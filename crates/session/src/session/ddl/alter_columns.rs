//! The columns of a table after ALTER TABLE.
//!
//! All actions mean the table as it was before the statement, whatever their order: each old column is
//! dropped by the first action that drops it, else defined anew by the first that does, else has its name or
//! default changed by the first that does. An action that finds its column taken by another finds no such
//! column. New columns, and those that move, then get their places in the order written. What is wrong is
//! said in the order of the old columns, as MySQL says it.

mod place;

use std::collections::HashSet;

use super::alteration::Alteration;
use crate::ast::{AlterAction, ColumnDef, ColumnPosition, DefaultClause, Expr, Literal};
use crate::definition::phase::{Faults, Phase};
use crate::definition::{self, column, column::LateFaults};
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, DefaultValue};
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::expr::EvalContext;
use crate::expression_text::columns_of;

pub(super) use place::Placed;

/// A column that an action defines.
struct Written<'a> {
    /// The column that it was; None for ADD COLUMN.
    old_name: Option<&'a str>,
    position: Option<&'a ColumnPosition>,
    column: Column,
    /// NULL was written.
    null: bool,
    /// The old column that it takes.
    taken: Option<usize>,
    placed: bool,
}

/// ALTER COLUMN and RENAME COLUMN.
enum Change<'a> {
    Name(&'a str),
    Default(Option<&'a DefaultClause>),
}

/// What the statement says about columns.
pub(super) struct ColumnPlan<'a> {
    written: Vec<Written<'a>>,
    /// Names, and whether their columns were found.
    drops: Vec<(&'a str, bool)>,
    changes: Vec<(&'a str, Change<'a>, bool)>,
}

fn null_default(column: &ColumnDef) -> bool {
    let null =
        |clause: &DefaultClause| !clause.computed && matches!(clause.expr, Expr::Literal(Literal::Null));
    column.default.as_ref().is_some_and(null)
}

impl<'a> ColumnPlan<'a> {
    /// The columns that the statement writes, each looked at by itself.
    pub fn of(
        work: &mut Alteration,
        actions: &'a [AlterAction],
        faults: &mut Faults,
        eval: &EvalContext<'_>,
    ) -> SqlResult<ColumnPlan<'a>> {
        let mut plan = ColumnPlan { written: Vec::new(), drops: Vec::new(), changes: Vec::new() };
        for action in actions {
            let (old_name, def, position) = match action {
                AlterAction::AddColumn { column, position } => (None, column, position),
                AlterAction::ChangeColumn { old_name, column, position } => {
                    (Some(&**old_name), column, position)
                }
                AlterAction::DropColumn(name) => {
                    plan.drops.push((name, false));
                    continue;
                }
                AlterAction::RenameColumn { old_name, new_name } => {
                    definition::limit::new_column_name(new_name)?;
                    plan.changes.push((old_name, Change::Name(new_name), false));
                    continue;
                }
                AlterAction::SetDefault { column, default } => {
                    plan.changes.push((column, Change::Default(default.as_ref()), false));
                    continue;
                }
                _ => continue,
            };
            if def.primary_key && null_default(def) {
                return Err(SqlError::invalid_default(&def.name));
            }
            let collation = work.definition.collation;
            let made = column::column(def, collation, false, &mut work.late, eval);
            let column = faults.take_column(made).unwrap_or_else(|| column::stand_in(def));
            faults.take(Phase::Columns, definition::limit::column_comment(&column, eval));
            if old_name.is_none() {
                definition::default::check_added(&column)?;
            }
            let (position, null) = (position.as_ref(), def.nullable == Some(true) || null_default(def));
            plan.written.push(Written { old_name, position, column, null, taken: None, placed: false });
        }
        Ok(plan)
    }

    /// The names of old columns that are dropped (true) or get another name by RENAME or CHANGE, in this
    /// order.
    pub fn gone(&self, actions: &'a [AlterAction]) -> Vec<(&'a str, bool)> {
        let mut gone: Vec<(&str, bool)> = self.drops.iter().map(|(name, _)| (*name, true)).collect();
        let mut renames = |old: &'a str, new: &str| {
            if !old.eq_ignore_ascii_case(new) {
                gone.push((old, false));
            }
        };
        for (old, change, _) in &self.changes {
            if let Change::Name(new) = change {
                renames(old, new);
            }
        }
        for action in actions {
            if let AlterAction::ChangeColumn { old_name, column, .. } = action {
                renames(old_name, &column.name);
            }
        }
        gone
    }
}

fn is_computed(column: &Column) -> bool {
    matches!(column.default, DefaultValue::Computed(_)) || column.generation().is_some()
}

fn reads(column: &Column, name: &str) -> bool {
    match &column.default {
        DefaultValue::Computed(expr) | DefaultValue::Generated(expr, _) | DefaultValue::KeyPart(expr) => {
            columns_of(expr).iter().any(|read| read.eq_ignore_ascii_case(name))
        }
        _ => false,
    }
}

fn set_default(
    column: &mut Column,
    default: Option<&DefaultClause>,
    late: &mut LateFaults,
    eval: &EvalContext<'_>,
) -> SqlResult<()> {
    let literal =
        |clause: &DefaultClause| matches!(&clause.expr, Expr::Literal(literal) if *literal != Literal::Null);
    if column.kind.is_blob() && default.is_some_and(literal) {
        return Err(SqlError::blob_cannot_have_default(&column.name));
    }
    if column.generation().is_some() {
        let given = default.is_some();
        return if given { Err(SqlError::wrong_usage("DEFAULT", "generated column")) } else { Ok(()) };
    }
    let Some(clause) = default else {
        column.default = DefaultValue::None;
        return Ok(());
    };
    let (kind, nullable, automatic) = (&column.kind, column.nullable, column.auto_increment);
    let null = matches!(clause.expr, Expr::Literal(Literal::Null));
    let value = column::default_value(&column.name, clause, kind, nullable, automatic && null, eval);
    let value = value.map_err(|error| column::default_error(&column.name, error));
    match value {
        // A default of an AUTO_INCREMENT column is looked at and forgotten.
        Ok(_) if automatic => {}
        Ok(value) => column.default = value,
        Err(error) if error.kind() == ErrorKind::InvalidDefault && !clause.computed => {
            late.note(&column.name, error);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

impl Alteration {
    /// Gives the table its new columns; keys follow those that they are made of.
    pub(super) fn set_columns(&mut self, placed: Vec<Placed>) {
        let old = std::mem::take(&mut self.definition.columns);
        self.null_written = (0..placed.len()).filter(|at| placed[*at].null).collect();
        self.origins = placed.iter().map(|new| new.origin).collect();
        self.definition.columns = placed.into_iter().map(|new| new.column).collect();
        // A key goes on with the column that was its own, or else with one that has its name now.
        let named_before = |at: usize| match self.origins[at] {
            Some(origin) => &old[origin].name,
            None => &self.definition.columns[at].name,
        };
        let follow = |part: usize| {
            if old[part].is_hidden() {
                return self.origins.iter().position(|origin| *origin == Some(part));
            }
            let name = &old[part].name;
            (0..self.origins.len()).find(|at| named_before(*at).eq_ignore_ascii_case(name))
        };
        let moved: Vec<Option<usize>> = (0..old.len()).map(follow).collect();
        for key in &mut self.definition.keys {
            key.parts.retain(|part| moved[part.column].is_some());
            for part in &mut key.parts {
                part.column = moved[part.column].unwrap_or(part.column);
            }
        }
        self.definition.keys.retain(|key| !key.parts.is_empty());
    }

    /// Which columns are AUTO_INCREMENT, and whether names are given twice.
    pub(super) fn check_columns(&self, faults: &mut Faults) {
        let columns = &self.definition.columns;
        let mut known = HashSet::with_capacity(columns.len());
        for column in columns {
            faults.take(Phase::Attributes, definition::automatic_type(column));
            if !known.insert(column.name.to_lowercase()) {
                faults.note(Phase::Columns, SqlError::duplicate_column(&column.name));
            }
        }
        faults.take(Phase::Automatic, definition::one_automatic(&self.definition));
    }

    /// What keys take of columns whose types are others.
    pub(super) fn fit_keys(&mut self, eval: &EvalContext<'_>) -> SqlResult<()> {
        let Definition { keys, columns, .. } = &mut self.definition;
        for (at, column) in columns.iter().enumerate() {
            let same = self.origins[at].is_some_and(|origin| self.old_columns[origin].kind == column.kind);
            if !same {
                definition::key::fit_parts(keys, columns, at, eval)?;
            }
        }
        Ok(())
    }
}
