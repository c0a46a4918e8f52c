//! A definition being altered: what ALTER TABLE's actions make of keys, constraints and options.

mod keys;

use turnstile_engine::ids::IndexId;

use super::online::{self, Needs};
use super::rename::Move;
use crate::ast::{AlterAction, AlterTable, KeyDef, TableOption};
use crate::collation::Collation;
use crate::definition;
use crate::definition::column::LateFaults;
use crate::definition::phase::Faults;
use crate::dictionary::check::Check;
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, DefaultValue, Key, Table};
use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;
use keys::{KeyShape, columns_of};

/// The tree of a key that has none yet.
pub(super) const NO_TREE: IndexId = IndexId(0);

/// A definition being altered.
pub(super) struct Alteration {
    /// AUTO_INCREMENT = was given.
    pub(super) sets_counter: bool,
    pub(super) definition: Definition,
    /// For every column, the old column it was.
    pub(super) origins: Vec<Option<usize>>,
    /// The table had a primary key.
    had_primary: bool,
    /// The columns before the statement.
    pub(super) old_columns: Vec<Column>,
    /// The columns of the keys before the statement.
    old_keys: Vec<KeyShape>,
    /// New columns that are said to hold NULL.
    pub(super) null_written: Vec<usize>,
    /// The first column to be dropped that is not there.
    pub(super) missing_column: Option<Box<str>>,
    missing_key: Option<Box<str>>,
    /// A default that does not fit, to be told when nothing else is wrong.
    pub(super) late: LateFaults,
    pub(super) rebuild: bool,
    /// A column changes its type so that its values change their bytes.
    pub(super) retyped: bool,
    /// The dictionary alone changes, in a way that MySQL calls in place and not instant.
    pub(super) in_place: bool,
    /// Rows that stay where they are have to meet constraints that they need not have met before.
    pub(super) verify: bool,
    /// MySQL copies the rows: it counts them.
    pub(super) copies: bool,
    /// The primary key goes and none comes.
    without_primary: bool,
    /// Foreign keys to be added when all else is done.
    pub(super) foreign: Vec<KeyDef>,
    /// How many foreign keys were there before these.
    pub(super) known: usize,
    /// Definitions of children that change with it.
    pub(super) others: Vec<Definition>,
    /// The table's new name.
    pub(super) moves: Vec<Move>,
    /// Columns whose histograms go.
    pub(super) forgotten: Vec<Box<str>>,
}

impl Alteration {
    pub(super) fn of(table: &Table) -> Alteration {
        Alteration {
            sets_counter: false,
            definition: table.definition.clone(),
            origins: (0..table.columns().len()).map(Some).collect(),
            old_columns: table.columns().to_vec(),
            had_primary: table.keys().iter().any(|key| key.primary),
            old_keys: table.keys().iter().map(|key| columns_of(table, key)).collect(),
            null_written: Vec::new(),
            missing_column: None,
            missing_key: None,
            late: LateFaults::default(),
            rebuild: false,
            retyped: false,
            in_place: false,
            verify: false,
            copies: false,
            without_primary: false,
            foreign: Vec::new(),
            known: 0,
            others: Vec::new(),
            moves: Vec::new(),
            forgotten: Vec::new(),
        }
    }

    /// Options of the table, and what DROP CONSTRAINT and ALTER CONSTRAINT mean: the actions with the
    /// constraints' kinds in their place.
    pub(super) fn begin(
        &mut self,
        actions: &[AlterAction],
        faults: &mut Faults,
        eval: &EvalContext<'_>,
    ) -> SqlResult<Vec<AlterAction>> {
        for action in actions {
            match action {
                AlterAction::Option(option) => self.set_option(option, faults, eval),
                AlterAction::ConvertCharset { charset, collation } => {
                    self.convert_charset(charset.as_deref(), collation.as_deref())?;
                }
                AlterAction::Force | AlterAction::Order => self.rebuild = true,
                _ => {}
            }
        }
        actions.iter().map(|action| self.resolve_constraint(action)).collect()
    }

    fn set_option(&mut self, option: &TableOption, faults: &mut Faults, eval: &EvalContext<'_>) {
        self.sets_counter |= matches!(option, TableOption::AutoIncrement(_));
        let before = definition::Options {
            collation: self.definition.collation,
            auto_increment: self.definition.auto_increment,
            comment: self.definition.comment.clone(),
        };
        let name = self.definition.name.clone();
        let written = std::slice::from_ref(option);
        let after = definition::options(written, before, (&name, false), faults, eval);
        self.definition.collation = after.collation;
        self.definition.auto_increment = after.auto_increment;
        self.definition.comment = after.comment;
    }

    /// A CHECK, a unique key or a foreign key, whichever has the name (errors 3940 and 3939).
    fn resolve_constraint(&self, action: &AlterAction) -> SqlResult<AlterAction> {
        let (name, drops) = match action {
            AlterAction::DropConstraint(name) => (name, true),
            AlterAction::EnforceConstraint { name, check: false, .. } => (name, false),
            other => return Ok(other.clone()),
        };
        let check = definition::check::position(&self.definition, name).is_some();
        let same = |key: &Key| key.unique && key.name.eq_ignore_ascii_case(name);
        let key = self.definition.keys.iter().any(same);
        let foreign = self.definition.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name));
        match (check, key, foreign) {
            (false, false, false) => Err(SqlError::constraint_not_found(name)),
            (true, false, false) if drops => Ok(AlterAction::DropCheck(name.clone())),
            (true, ..) if !drops => Ok(action.clone()),
            _ if !drops => Err(SqlError::constraint_always_enforced(name)),
            (false, true, false) => Ok(AlterAction::DropKey(name.clone())),
            (false, false, true) => Ok(AlterAction::DropForeignKey(name.clone())),
            _ => Err(SqlError::constraint_name_not_unique(name)),
        }
    }

    /// What becomes of CHECK constraints: those that are dropped, those whose column goes, those that are
    /// enforced or not, and new ones, which are returned. `gone`: columns that are dropped (true) or get
    /// another name.
    pub(super) fn change_checks(
        &mut self,
        actions: &[AlterAction],
        gone: &[(&str, bool)],
        taken: &dyn Fn(&str) -> bool,
    ) -> SqlResult<Vec<Check>> {
        let old = self.definition.checks.clone();
        for action in actions {
            let AlterAction::DropCheck(name) = action else { continue };
            let same = |check: &Check| check.name.eq_ignore_ascii_case(name);
            if !old.iter().any(same) {
                return Err(SqlError::check_not_found(name));
            }
            self.definition.checks.retain(|check| !same(check));
        }
        for (column, dropped) in gone {
            match dropped {
                true => definition::check::drop_column(&mut self.definition, column)?,
                false => definition::check::keep_column(&self.definition, column)?,
            }
        }
        for action in actions {
            let AlterAction::EnforceConstraint { name, enforced, .. } = action else { continue };
            let at = definition::check::position(&self.definition, name);
            let check = &mut self.definition.checks[at.ok_or_else(|| SqlError::check_not_found(name))?];
            self.verify |= *enforced && !check.enforced;
            check.enforced = *enforced;
        }
        let new = actions.iter().filter_map(|action| match action {
            AlterAction::AddCheck(check) => Some(check.clone()),
            _ => None,
        });
        let new: Vec<_> = new.collect();
        self.verify |= new.iter().any(|check| check.enforced);
        definition::check::add_unresolved(&mut self.definition, &new, taken)
    }

    /// What the change does to the rows, found by comparing the table with what it was.
    pub(super) fn compare(&mut self, alter: &AlterTable, checks_foreign: bool) {
        let new = &self.definition;
        let stay = self.origins.len() == self.old_columns.len()
            && self.origins.iter().enumerate().all(|(at, origin)| *origin == Some(at));
        self.rebuild |= !stay;
        let mut computed = false;
        for (at, column) in new.columns.iter().enumerate() {
            let Some(origin) = self.origins[at] else {
                computed |=
                    matches!(column.default, DefaultValue::Computed(_) | DefaultValue::Generated(_, true));
                continue;
            };
            let old = &self.old_columns[origin];
            let stays = online::keeps_rows(&old.kind, &column.kind);
            let indexed = new.keys.iter().any(|key| key.parts.iter().any(|part| part.column == at));
            let generation = old.generation() != column.generation();
            self.rebuild |= !stays
                || old.auto_increment != column.auto_increment
                || old.nullable != column.nullable
                || generation;
            self.retyped |= !stays || old.auto_increment != column.auto_increment;
            self.in_place |= stays && indexed && old.kind != column.kind;
            computed |= generation;
        }
        computed |= self.mixes_virtual(alter);
        let primary = new.keys.iter().find(|key| key.primary);
        let had = self.had_primary;
        self.rebuild |= primary.is_some_and(|key| key.index == NO_TREE) || had && primary.is_none();
        self.without_primary = had && definition::primary_key(new).is_none();
        let ordered = alter.actions.iter().any(|action| matches!(action, AlterAction::Order));
        let adds_foreign = new.foreign_keys.len() > self.known && checks_foreign;
        let copy = online::is(&alter.online.algorithm, "COPY");
        self.rebuild |= copy;
        self.copies = self.retyped
            || self.verify
            || computed
            || self.without_primary
            || ordered
            || adds_foreign
            || copy;
    }

    /// Whether VIRTUAL columns come or go together with other changes, for which MySQL copies the rows.
    fn mixes_virtual(&self, alter: &AlterTable) -> bool {
        let is_virtual = |column: &Column| column.generation().is_some_and(|(_, stored)| !stored);
        let old = |name: &str| self.old_columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        let of_virtual = |action: &AlterAction| match action {
            AlterAction::AddColumn { column, .. } => {
                column.generated.as_ref().is_some_and(|generated| !generated.stored)
            }
            AlterAction::DropColumn(name) => old(name).is_some_and(is_virtual),
            _ => false,
        };
        let indexed = |name: &str| {
            let part = |key: &KeyShape| key.iter().any(|column| column.eq_ignore_ascii_case(name));
            self.old_keys.iter().any(part)
        };
        let quiet = |action: &AlterAction| match action {
            AlterAction::AddColumn { column, .. } => !column.unique && !column.primary_key,
            AlterAction::DropColumn(name) => !indexed(name),
            AlterAction::Rename(_)
            | AlterAction::Option(_)
            | AlterAction::EnableKeys(_)
            | AlterAction::SetDefault { .. }
            | AlterAction::RenameColumn { .. } => true,
            _ => false,
        };
        alter.actions.iter().any(of_virtual)
            && !alter.actions.iter().all(|action| of_virtual(action) || quiet(action))
    }

    /// What the change takes.
    pub(super) fn needs(&self, alter: &AlterTable, checks_foreign: bool) -> Needs {
        let actions = &alter.actions;
        let in_place = self.in_place || actions.iter().any(online::is_in_place);
        let adds_foreign = self.definition.foreign_keys.len() > self.known;
        match self.rebuild {
            _ if self.verify => Needs::Copy,
            true if self.retyped => Needs::Conversion,
            true if self.without_primary => Needs::WithoutPrimary,
            _ if adds_foreign && checks_foreign => Needs::ForeignKeys,
            true => Needs::Copy,
            false if self.definition.keys.iter().any(|key| key.index == NO_TREE) => Needs::Look,
            false if in_place || adds_foreign => Needs::Dictionary,
            false => Needs::Nothing,
        }
    }

    fn convert_charset(&mut self, charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
        let collation = match (collation, charset) {
            (Some(name), _) => Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?,
            (None, Some(name)) => {
                Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name))?
            }
            (None, None) => Collation::DEFAULT,
        };
        if let Some(charset) = charset.and_then(Collation::default_of_charset) {
            definition::column::same_charset(collation, charset)?;
        }
        self.definition.collation = collation;
        for column in &mut self.definition.columns {
            column.kind = column.kind.clone().with_collation(collation);
        }
        self.rebuild = true;
        Ok(())
    }
}
