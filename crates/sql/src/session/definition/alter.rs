//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! The new definition is worked out first. If the rows themselves stay as they are (names, defaults, dropped indexes),
//! only the dictionary changes, after new indexes were filled from the rows; otherwise all rows are copied into new trees.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::ids::{IndexId, TxnId};
use turnstile_engine::{Error as EngineError, Read};

use super::super::Session;
use super::super::statement::Outcome;
use super::auto_increment;
use super::copy::Origin;
use super::foreign_key::{children_of, parents_named};
use super::foreign_key_alter::{settle, settle_children};
use super::online::{self, Needs};
use crate::ast::{
    AlterAction, AlterTable, ColumnDef, ColumnPosition, Expr, KeyDef, KeyKind, Literal, TableName,
};
use crate::collation::Collation;
use crate::definition;
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Column, DefaultValue, Dictionary, Key, Table};
use crate::error::{SqlError, SqlResult};
use crate::exec::change::apply::duplicate_entry;
use crate::expr::EvalContext;
use crate::mdl::Hold;
use crate::row_codec::RowView;

/// The tree of a key that has none yet.
const NO_TREE: IndexId = IndexId(0);

/// A definition being altered.
pub(super) struct Alteration {
    /// AUTO_INCREMENT = was given.
    pub(super) sets_counter: bool,
    pub(super) definition: Definition,
    /// For every column, the old column it was.
    pub(super) origins: Vec<Option<usize>>,
    /// Names of the old columns: RENAME COLUMN means these, so that names can be swapped.
    old_names: Vec<Box<str>>,
    /// Old columns that an action has changed: a second one does not find them.
    touched: Vec<usize>,
    /// Trees of keys that have got another name.
    renamed_keys: Vec<IndexId>,
    pub(super) rebuild: bool,
    /// A column changes its type so that its values change their bytes.
    pub(super) retyped: bool,
    /// The dictionary alone changes, in a way that MySQL calls in place and not instant.
    pub(super) in_place: bool,
    /// Rows that stay where they are have to meet constraints that they need not have met before.
    verify: bool,
    rename: Option<TableName>,
    /// Foreign keys to be added when all else is done.
    foreign: Vec<KeyDef>,
    /// How many foreign keys were there before these.
    known: usize,
    /// Definitions of children that change with it.
    others: Vec<Definition>,
}

impl Session {
    /// ALTER TABLE
    pub(super) async fn alter_table(&mut self, alter: &AlterTable) -> SqlResult<Outcome> {
        let schema = self.schema_of(&alter.name)?;
        online::check_words(&alter.online)?;
        let holds = self.take_for_alter(alter, &schema).await?;
        let table = self.db.dictionary().table(&schema, &alter.name.table)?;
        let mut work = Alteration::of(&table);
        work.sets_counter = auto_increment::is_given(&alter.actions);
        check_charsets(&alter.actions)?;
        check_validation(&alter.actions)?;
        let mut actions: Vec<_> = alter.actions.iter().collect();
        actions.sort_by_key(|one| phase(one));
        self.with_eval(&[], |eval| actions.into_iter().try_for_each(|action| work.apply(action, eval)))?;
        work.change_checks(alter, &|name| self.is_check_name(&schema, &alter.name.table, name))?;
        work.check_names()?;
        self.settle_foreign_keys(&table, &mut work)?;
        self.with_eval(&[], |eval| definition::limit::comments(&mut work.definition, eval))?;
        definition::check(&work.definition)?;
        let is_new = |key: &Key| key.index == NO_TREE;
        self.with_eval(&[], |eval| definition::warn_of_duplicates(&work.definition, is_new, eval));
        self.check_has_primary(&work.definition)?;
        definition::key::sort(&mut work.definition.keys, &work.definition.columns);
        online::check(&alter.online, &work.needs(alter, self.settings.foreign_key_checks))?;
        let affected = if work.rebuild {
            self.rebuild(&table, &mut work).await?
        } else {
            let met = if work.verify { self.verify_rows(&table, &work.definition).await? } else { 0 };
            met.max(self.redefine(&table, &mut work).await?)
        };
        drop(holds);
        if let Some(new) = &work.rename
            && (&*self.schema_of(new)?, &*new.table) != (&*schema, &*alter.name.table)
        {
            self.rename_tables(&[(alter.name.clone(), new.clone())]).await?;
        }
        let looked = !work.foreign.is_empty() && self.settings.foreign_key_checks;
        let affected = if looked || alter.actions.iter().any(counts_rows) { affected } else { 0 };
        // What touches no row at all says nothing.
        let quiet = |one: &AlterAction| matches!(one, AlterAction::Rename(_) | AlterAction::EnableKeys(_));
        if alter.actions.iter().all(quiet) {
            return Ok(Outcome::default());
        }
        let info = format!("Records: {affected}  Duplicates: 0  Warnings: {}", self.state.warnings.count());
        Ok(Outcome { affected, info, ..Outcome::default() })
    }

    /// Takes the table alone, and those that the change concerns besides.
    async fn take_for_alter(&mut self, alter: &AlterTable, schema: &str) -> SqlResult<Vec<Hold>> {
        let keys = alter.actions.iter().filter_map(|action| match action {
            AlterAction::AddKey(key) => Some(key),
            _ => None,
        });
        let parents = parents_named(keys, schema);
        let renames = alter.actions.iter().any(|action| match action {
            AlterAction::ChangeColumn { old_name, column, .. } => *old_name != column.name,
            AlterAction::RenameColumn { .. } => true,
            _ => false,
        });
        let itself = (Box::from(schema), alter.name.table.clone());
        let wanted = |dictionary: &Dictionary| {
            let children = if renames { children_of(dictionary, &itself.0, &itself.1) } else { Vec::new() };
            [std::slice::from_ref(&itself), &parents, &children].concat()
        };
        self.take_all_alone(&wanted).await
    }

    fn settle_foreign_keys(&self, table: &Table, work: &mut Alteration) -> SqlResult<()> {
        let rules = self.foreign_rules();
        work.known = work.definition.foreign_keys.len();
        let written = work.foreign.clone();
        settle(table, work, &written, rules)?;
        self.fit_parents(&mut work.definition, work.known)?;
        let children = self.db.dictionary().children(&table.definition.schema, table.name());
        work.others = settle_children(table, &children, work, rules)?;
        Ok(())
    }

    /// Whether the rows have parents by the foreign keys that are new; how many rows were looked at.
    async fn check_new_foreign_keys(&mut self, work: &Alteration) -> SqlResult<u64> {
        let keys = &work.definition.foreign_keys[work.known..];
        if keys.is_empty() || !self.settings.foreign_key_checks {
            return Ok(0);
        }
        let new = Table::new(work.definition.clone(), Arc::default(), Arc::default());
        Box::pin(self.check_rows_have_parents(&new, keys)).await
    }

    /// Makes the new definitions durable: the table's, and those of children that change with it.
    async fn save_altered(&self, work: &Alteration) -> SqlResult<TxnId> {
        let all: Vec<_> =
            std::iter::once(&work.definition).chain(&work.others).map(|one| (one, true)).collect();
        self.db.save_tables(&all).await
    }

    /// Shows new definitions of children to everybody.
    pub(super) fn put_others(&self, others: &[Definition]) {
        for definition in others {
            let Some(old) = self.db.dictionary().find(&definition.schema, &definition.name) else { continue };
            let new = Table::new(definition.clone(), old.gate.clone(), old.counters.clone());
            self.db.dictionary().put_table(Arc::new(new.made_by(old.made_by)));
        }
    }

    /// Changes the dictionary; the rows stay where they are. New indexes are filled from them first. Returns how many rows were looked at.
    async fn redefine(&mut self, table: &Table, work: &mut Alteration) -> SqlResult<u64> {
        let built = self.build_indexes(table, work).await?;
        let looked = match self.check_new_foreign_keys(work).await {
            Ok(looked) => looked,
            Err(error) => {
                let new = |key: &&Key| !table.keys().iter().any(|old| old.index == key.index);
                self.drop_trees(work.definition.keys.iter().filter(new).map(|key| key.index))?;
                return Err(error);
            }
        };
        let made_by = self.save_altered(work).await?;
        self.set_counter(table, work).await?;
        let counters = table.counters.clone();
        let changed = Table::new(work.definition.clone(), table.gate.clone(), counters);
        let changed = changed.made_by(if built { made_by } else { table.made_by });
        self.db.dictionary().put_table(Arc::new(changed));
        self.put_others(&work.others);
        let kept = |key: &&Key| !work.definition.keys.iter().any(|new| new.index == key.index);
        self.drop_trees(table.keys().iter().filter(|key| !key.primary).filter(kept).map(|key| key.index))?;
        Ok(looked)
    }

    /// Makes and fills the trees of keys that are new. Whether there were any.
    async fn build_indexes(&mut self, table: &Table, work: &mut Alteration) -> SqlResult<bool> {
        let mut made = Vec::new();
        for key in work.definition.keys.iter_mut().filter(|key| key.index == NO_TREE) {
            key.index = self.db.engine().create_index()?;
            made.push(key.index);
        }
        let new = Table::new(work.definition.clone(), table.gate.clone(), table.counters.clone());
        for &tree in &made {
            let Some(nth) = new.engine.secondaries.iter().position(|one| one.id == tree) else { continue };
            if let Err(error) = self.db.engine().clone().build_secondary(&new.engine, nth).await {
                let error = self.explain_build(&new, error).await;
                self.drop_trees(made)?;
                return Err(error);
            }
        }
        Ok(!made.is_empty())
    }

    /// A duplicate in the words of error 1062, which shows the key's values: those of the row that has them.
    async fn explain_build(&self, new: &Table, error: EngineError) -> SqlError {
        let EngineError::DuplicateKey { pk, .. } = &error else { return error.into() };
        let mut txn = self.copy_txn();
        let row = txn.get(&new.engine, pk, Read::Consistent).await;
        let Ok(Some(row)) = row else { return SqlError::duplicate_key_write(new.name()) };
        let Ok(view) = RowView::new(&new.layout, &row) else { return SqlError::crashed_table(new.name()) };
        let values: Vec<_> = (0..new.columns().len()).map(|at| view.get(at)).collect();
        duplicate_entry(new, &error, &values)
    }

    /// Copies the rows into new trees.
    async fn rebuild(&mut self, table: &Table, work: &mut Alteration) -> SqlResult<u64> {
        self.make_trees(&mut work.definition)?;
        let counters = Counters::fresh();
        if work.definition.keys.first().is_none_or(|key| !key.primary) && table.primary().is_some() {
            counters.row_id.store(1, Ordering::Relaxed);
        }
        let new = Table::new(work.definition.clone(), table.gate.clone(), counters.clone());
        let origin = |(column, old): (&Column, &Option<usize>)| match old {
            Some(at)
                if table.columns()[*at].kind == column.kind
                    && (column.nullable || !table.columns()[*at].nullable) =>
            {
                Origin::Same(*at)
            }
            Some(at) => Origin::Converted(*at),
            None => Origin::Default,
        };
        let origins: Vec<Origin> = work.definition.columns.iter().zip(&work.origins).map(origin).collect();
        let trees = |definition: &Definition| {
            let secondary = definition.keys.iter().filter(|key| !key.primary).map(|key| key.index);
            secondary.chain([definition.clustered]).collect::<Vec<_>>()
        };
        let copied = match self.copy_rows(table, &new, &origins).await {
            Ok(copied) => self.check_new_foreign_keys(work).await.map(|_| copied),
            failed => failed,
        };
        let copied = match copied {
            Ok(copied) => copied,
            Err(error) => {
                self.drop_trees(trees(&work.definition))?;
                return Err(error);
            }
        };
        self.move_counter(table, &new, work).await?;
        let made_by = self.save_altered(work).await?;
        let new = new.made_by(made_by);
        counters.rows.store(copied, Ordering::Relaxed);
        self.db.dictionary().put_table(Arc::new(new));
        self.put_others(&work.others);
        self.drop_trees(trees(&table.definition))?;
        Ok(copied)
    }
}

/// What is dropped is what was there before the statement, and goes before anything takes its name.
fn phase(action: &AlterAction) -> u8 {
    match action {
        AlterAction::DropPrimaryKey
        | AlterAction::DropKey(_)
        | AlterAction::DropConstraint(_)
        | AlterAction::DropForeignKey(_) => 0,
        AlterAction::DropColumn(_) => 1,
        // They mean keys by the names that these had before the statement.
        AlterAction::RenameKey { .. } | AlterAction::SetKeyVisibility { .. } => 2,
        _ => 3,
    }
}

/// Error 1253 for a default collation that is not one of the character set given with it.
fn check_charsets(actions: &[AlterAction]) -> SqlResult<()> {
    definition::check_charset(actions.iter().filter_map(|action| match action {
        AlterAction::Option(option) => Some(option),
        _ => None,
    }))
}

/// Error 1221 for WITH VALIDATION and WITHOUT VALIDATION where no VIRTUAL column is added or changed.
fn check_validation(actions: &[AlterAction]) -> SqlResult<()> {
    let makes_virtual = |action: &AlterAction| match action {
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
            column.generated.as_ref().is_some_and(|generated| !generated.stored)
        }
        _ => false,
    };
    let validates = actions.iter().any(|action| matches!(action, AlterAction::Validation(_)));
    if validates && !actions.iter().any(makes_virtual) {
        return Err(SqlError::wrong_usage("ALTER", "WITH VALIDATION"));
    }
    Ok(())
}

/// MySQL counts rows where it cannot change a table in place.
fn counts_rows(action: &AlterAction) -> bool {
    match action {
        AlterAction::ChangeColumn { .. }
        | AlterAction::ConvertCharset { .. }
        | AlterAction::DropPrimaryKey
        | AlterAction::EnforceConstraint { enforced: true, .. } => true,
        AlterAction::AddCheck(check) => check.enforced,
        _ => false,
    }
}

impl Alteration {
    /// What the change takes.
    fn needs(&self, alter: &AlterTable, checks_foreign: bool) -> Needs {
        let actions = &alter.actions;
        let adds_primary =
            |one: &AlterAction| matches!(one, AlterAction::AddKey(key) if key.kind == KeyKind::Primary);
        let without_primary = actions.iter().any(|one| matches!(one, AlterAction::DropPrimaryKey))
            && !actions.iter().any(adds_primary);
        let in_place = self.in_place || actions.iter().any(online::is_in_place);
        match self.rebuild {
            true if self.retyped => Needs::Conversion,
            true if without_primary => Needs::WithoutPrimary,
            true => Needs::Copy,
            // The rows are looked at, but MySQL copies them for a CHECK.
            false if self.verify => Needs::Copy,
            false if self.definition.foreign_keys.len() > self.known && checks_foreign => Needs::ForeignKeys,
            false if self.definition.keys.iter().any(|key| key.index == NO_TREE) => Needs::Look,
            false if in_place || self.definition.foreign_keys.len() > self.known => Needs::Dictionary,
            false => Needs::Nothing,
        }
    }

    fn of(table: &Table) -> Alteration {
        Alteration {
            sets_counter: false,
            definition: table.definition.clone(),
            origins: (0..table.columns().len()).map(Some).collect(),
            old_names: table.columns().iter().map(|column| column.name.clone()).collect(),
            touched: Vec::new(),
            renamed_keys: Vec::new(),
            rebuild: false,
            retyped: false,
            in_place: false,
            verify: false,
            rename: None,
            foreign: Vec::new(),
            known: 0,
            others: Vec::new(),
        }
    }

    fn apply(&mut self, action: &AlterAction, eval: &EvalContext<'_>) -> SqlResult<()> {
        match action {
            AlterAction::AddColumn { column, position } => {
                self.add_column(column, position.as_ref(), eval)?
            }
            AlterAction::DropColumn(name) => self.drop_column(name)?,
            AlterAction::ChangeColumn { old_name, column, position } => {
                self.change_column(old_name, column, position.as_ref(), eval)?;
            }
            AlterAction::RenameColumn { old_name, new_name } => {
                let at = self.column_before(old_name)?;
                definition::limit::new_column_name(new_name)?;
                self.definition.columns[at].name = new_name.clone();
            }
            AlterAction::SetDefault { column, default } => {
                self.set_default(column, default.as_ref(), eval)?
            }
            AlterAction::AddKey(key) if matches!(key.kind, KeyKind::Foreign(_)) => {
                self.foreign.push(key.clone());
            }
            AlterAction::AddKey(key) => {
                definition::add_key(&mut self.definition, key)?;
                self.rebuild |= key.kind == KeyKind::Primary;
            }
            AlterAction::DropKey(name) => self.drop_key(name)?,
            AlterAction::DropCheck(name) => {
                let at = definition::check::position(&self.definition, name);
                self.definition.checks.remove(at.ok_or_else(|| SqlError::check_not_found(name))?);
            }
            AlterAction::DropConstraint(name) => self.drop_constraint(name)?,
            AlterAction::EnforceConstraint { name, enforced, check } => {
                self.enforce(name, *enforced, *check)?;
            }
            AlterAction::DropPrimaryKey => self.drop_key("PRIMARY")?,
            AlterAction::RenameKey { old_name, new_name } => self.rename_key(old_name, new_name)?,
            AlterAction::SetKeyVisibility { name, visible } => {
                let at = self.key_before(name)?;
                self.definition.keys[at].visible = *visible;
            }
            AlterAction::Rename(name) => self.rename = Some(name.clone()),
            AlterAction::Option(option) => {
                let before = definition::Options {
                    collation: self.definition.collation,
                    auto_increment: self.definition.auto_increment,
                    comment: self.definition.comment.clone(),
                };
                let name = self.definition.name.clone();
                let after = definition::options(std::slice::from_ref(option), before, (&name, false), eval)?;
                self.definition.collation = after.collation;
                self.definition.auto_increment = after.auto_increment;
                self.definition.comment = after.comment;
            }
            AlterAction::ConvertCharset { charset, collation } => {
                self.convert_charset(charset.as_deref(), collation.as_deref())?;
            }
            // The parser hands it over as a clause without effect, with a note.
            AlterAction::EnableKeys(_) => {}
            // Rows that get a generated column are copied, and so their values are worked out in any case.
            AlterAction::Validation(_) => {}
            AlterAction::Force => self.rebuild = true,
            // When all columns are there.
            AlterAction::AddCheck(_) => {}
            AlterAction::DropForeignKey(name) => self.drop_foreign_key(name)?,
        }
        Ok(())
    }

    fn rename_key(&mut self, old_name: &str, new_name: &crate::ast::Name) -> SqlResult<()> {
        let at = self.key_before(old_name)?;
        definition::limit::index_name(new_name)?;
        if self.definition.keys.iter().any(|key| key.name.eq_ignore_ascii_case(new_name)) {
            return Err(SqlError::duplicate_key_name(new_name));
        }
        self.definition.keys[at].name = new_name.clone();
        self.renamed_keys.push(self.definition.keys[at].index);
        Ok(())
    }

    fn column(&self, name: &str) -> SqlResult<usize> {
        let found = self.definition.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::unknown_column(name, &self.definition.name))
    }

    /// The column that had this name before the statement.
    fn column_before(&self, name: &str) -> SqlResult<usize> {
        let named = |old: &Option<usize>| old.is_some_and(|at| self.old_names[at].eq_ignore_ascii_case(name));
        let found = self.origins.iter().position(named);
        found.ok_or_else(|| SqlError::unknown_column(name, &self.definition.name))
    }

    /// The same for an action that takes the column for itself.
    fn take_column(&mut self, name: &str) -> SqlResult<usize> {
        let at = self.column_before(name)?;
        let Some(old) = self.origins[at] else { return Ok(at) };
        if self.touched.contains(&old) {
            return Err(SqlError::unknown_column(name, &self.definition.name));
        }
        self.touched.push(old);
        Ok(at)
    }

    fn check_names(&self) -> SqlResult<()> {
        let columns = &self.definition.columns;
        if columns.is_empty() {
            return Err(SqlError::cannot_remove_all_fields());
        }
        (0..columns.len()).try_for_each(|at| self.check_free(&columns[at].name, Some(at)))
    }

    /// The key that had this name before the statement, unless it has another by now.
    fn key_before(&self, name: &str) -> SqlResult<usize> {
        let renamed = |key: &Key| self.renamed_keys.contains(&key.index);
        let named = |key: &Key| key.name.eq_ignore_ascii_case(name) && !renamed(key);
        let found = self.definition.keys.iter().position(named);
        found.ok_or_else(|| SqlError::key_does_not_exist(name, &self.definition.name))
    }

    fn check_free(&self, name: &str, except: Option<usize>) -> SqlResult<()> {
        let taken =
            |(at, column): (usize, &Column)| Some(at) != except && column.name.eq_ignore_ascii_case(name);
        if self.definition.columns.iter().enumerate().any(taken) {
            Err(SqlError::duplicate_column(name))
        } else {
            Ok(())
        }
    }

    fn position(&self, position: Option<&ColumnPosition>, otherwise: usize) -> SqlResult<usize> {
        match position {
            None => Ok(otherwise),
            Some(ColumnPosition::First) => Ok(0),
            Some(ColumnPosition::After(name)) => Ok(self.column(name)? + 1),
        }
    }

    /// Keys name columns by position: follows a column that was inserted (`by` 1) or removed (-1) at `at`.
    fn shift_keys(&mut self, at: usize, by: isize) {
        for part in self.definition.keys.iter_mut().flat_map(|key| &mut key.parts) {
            if part.column >= at {
                part.column = part.column.wrapping_add_signed(by);
            }
        }
    }

    fn add_column(
        &mut self,
        written: &ColumnDef,
        position: Option<&ColumnPosition>,
        eval: &EvalContext<'_>,
    ) -> SqlResult<()> {
        self.check_free(&written.name, None)?;
        let column =
            definition::column::column(written, self.definition.collation, written.primary_key, eval)?;
        let at = self.position(position, self.definition.columns.len())?;
        self.shift_keys(at, 1);
        self.definition.columns.insert(at, column);
        self.origins.insert(at, None);
        self.rebuild = true;
        definition::add_column_keys(&mut self.definition, written)
    }

    fn drop_column(&mut self, name: &str) -> SqlResult<()> {
        let at = self.column_before(name).map_err(|_| SqlError::cannot_drop_field_or_key(name))?;
        for key in &mut self.definition.keys {
            key.parts.retain(|part| part.column != at);
        }
        self.definition.keys.retain(|key| !key.parts.is_empty());
        self.definition.columns.remove(at);
        self.origins.remove(at);
        self.shift_keys(at, -1);
        self.rebuild = true;
        Ok(())
    }

    fn change_column(
        &mut self,
        old_name: &str,
        written: &ColumnDef,
        position: Option<&ColumnPosition>,
        eval: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let at = self.take_column(old_name)?;
        self.check_free(&written.name, Some(at))?;
        let in_primary = self
            .definition
            .keys
            .iter()
            .any(|key| key.primary && key.parts.iter().any(|part| part.column == at));
        let column = definition::column::column(written, self.definition.collation, in_primary, eval)?;
        let old = &self.definition.columns[at];
        definition::generated::check_change(old, &column)?;
        self.rebuild |= old.generation() != column.generation();
        let stays = online::keeps_rows(&old.kind, &column.kind);
        let indexed = self.definition.keys.iter().any(|key| key.parts.iter().any(|part| part.column == at));
        self.rebuild |= !stays || old.nullable != column.nullable;
        self.retyped |= !stays;
        self.in_place |= stays && indexed && old.kind != column.kind;
        if old.kind != column.kind {
            definition::key::fit_parts(&mut self.definition.keys, &column, at)?;
        }
        self.definition.columns[at] = column;
        if let Some(position) = position {
            self.move_column(at, position)?;
        }
        definition::add_column_keys(&mut self.definition, written)
    }

    fn move_column(&mut self, at: usize, position: &ColumnPosition) -> SqlResult<()> {
        let to = self.position(Some(position), at)?;
        if to == at + 1 && matches!(position, ColumnPosition::After(_)) {
            // A column does not stand behind itself.
            return Err(SqlError::unknown_column(&self.definition.columns[at].name, &self.definition.name));
        }
        let to = if to > at { to - 1 } else { to };
        if to == at {
            return Ok(());
        }
        let column = self.definition.columns.remove(at);
        let origin = self.origins.remove(at);
        self.definition.columns.insert(to, column);
        self.origins.insert(to, origin);
        for part in self.definition.keys.iter_mut().flat_map(|key| &mut key.parts) {
            part.column = match part.column {
                column if column == at => to,
                column if at < column && column <= to => column - 1,
                column if to <= column && column < at => column + 1,
                column => column,
            };
        }
        self.rebuild = true;
        Ok(())
    }

    fn set_default(
        &mut self,
        name: &str,
        default: Option<&crate::ast::DefaultClause>,
        eval: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let at = self.take_column(name)?;
        let column = &mut self.definition.columns[at];
        let literal = |clause: &crate::ast::DefaultClause| matches!(&clause.expr, Expr::Literal(literal) if *literal != Literal::Null);
        if column.kind.is_blob() && default.is_some_and(literal) {
            return Err(SqlError::blob_cannot_have_default(name));
        }
        if column.generation().is_some() {
            let given = default.is_some();
            return if given { Err(SqlError::wrong_usage("DEFAULT", "generated column")) } else { Ok(()) };
        }
        column.default = match default {
            None => DefaultValue::None,
            Some(clause) => {
                let (kind, nullable, automatic) = (&column.kind, column.nullable, column.auto_increment);
                definition::column::default_value(name, clause, kind, nullable, automatic, eval)
                    .map_err(|error| definition::column::default_error(name, error))?
            }
        };
        Ok(())
    }

    fn drop_key(&mut self, name: &str) -> SqlResult<()> {
        let found = self.definition.keys.iter().position(|key| key.name.eq_ignore_ascii_case(name));
        let at = found.ok_or_else(|| SqlError::cannot_drop_field_or_key(name))?;
        self.rebuild |= self.definition.keys[at].primary;
        self.definition.keys.remove(at);
        Ok(())
    }

    fn is_foreign_key(&self, name: &str) -> bool {
        self.definition.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name))
    }

    fn drop_foreign_key(&mut self, name: &str) -> SqlResult<()> {
        let found = self.definition.foreign_keys.iter().position(|key| key.name.eq_ignore_ascii_case(name));
        let at = found.ok_or_else(|| SqlError::cannot_drop_field_or_key(name))?;
        self.definition.foreign_keys.remove(at);
        Ok(())
    }

    /// A CHECK, a unique key or a foreign key, whichever has the name.
    fn drop_constraint(&mut self, name: &str) -> SqlResult<()> {
        let check = definition::check::position(&self.definition, name);
        let key = self.definition.keys.iter().any(|key| key.unique && key.name.eq_ignore_ascii_case(name));
        match (check, key, self.is_foreign_key(name)) {
            (None, false, false) => Err(SqlError::constraint_not_found(name)),
            (Some(at), false, false) => {
                self.definition.checks.remove(at);
                Ok(())
            }
            (None, true, false) => self.drop_key(name),
            (None, false, true) => self.drop_foreign_key(name),
            _ => Err(SqlError::constraint_name_not_unique(name)),
        }
    }

    fn enforce(&mut self, name: &str, enforced: bool, check: bool) -> SqlResult<()> {
        let Some(at) = definition::check::position(&self.definition, name) else {
            let is_key = |key: &Key| key.unique && key.name.eq_ignore_ascii_case(name);
            let always = self.is_foreign_key(name) || self.definition.keys.iter().any(is_key);
            return Err(match () {
                () if check => SqlError::check_not_found(name),
                () if always => SqlError::constraint_always_enforced(name),
                () => SqlError::constraint_not_found(name),
            });
        };
        let before = std::mem::replace(&mut self.definition.checks[at].enforced, enforced);
        self.verify |= enforced && !before;
        Ok(())
    }

    /// What becomes of CHECK constraints when all columns are as they will be: those whose column goes, and new ones. Rows that are copied
    /// are tested on the way.
    fn change_checks(&mut self, alter: &AlterTable, taken: &dyn Fn(&str) -> bool) -> SqlResult<()> {
        let name_now = |old: usize| {
            let at = self.origins.iter().position(|origin| *origin == Some(old))?;
            Some(self.definition.columns[at].name.clone())
        };
        let now: Vec<Option<Box<str>>> = (0..self.old_names.len()).map(name_now).collect();
        let old_names = &self.old_names;
        let now = |name: &str| {
            let old = old_names.iter().position(|old| old.eq_ignore_ascii_case(name))?;
            now[old].as_deref()
        };
        let gone = |name: &str| now(name).is_none_or(|now| !now.eq_ignore_ascii_case(name));
        let known = |name: &str| old_names.iter().any(|old| old.eq_ignore_ascii_case(name));
        definition::generated::keep_columns(&self.definition, &|name| known(name) && gone(name))?;
        definition::default::keep_columns(&self.definition, &|name| known(name) && gone(name))?;
        definition::check::drop_columns(&mut self.definition, &|name| now(name).is_none(), &gone)?;
        let new = alter.actions.iter().filter_map(|action| match action {
            AlterAction::AddCheck(check) => Some(check.clone()),
            _ => None,
        });
        let new: Vec<_> = new.collect();
        self.verify |= new.iter().any(|check| check.enforced);
        definition::check::add(&mut self.definition, &new, taken)
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
        (self.rebuild, self.retyped) = (true, true);
        Ok(())
    }
}
