//! A table as SQL sees it: columns, keys, and how its rows and keys become bytes.
//!
//! [`Definition`] is what the dictionary keeps; [`Table`] is a definition made ready for use and never
//! changes. DDL makes a new `Table` that shares metadata lock and counters with the old one. A statement
//! takes the metadata lock, then looks the table up again: what it finds then stays true while it holds the
//! metadata lock.

mod bytes;
mod stand_in;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use turnstile_engine::ids::{IndexId, TableId, TxnId};
use turnstile_engine::{CounterSlot, Engine, RowKeys, ScanIndex, SecondaryDef, TableDef};
use turnstile_expr::expr::{Expr, Typed};
use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::key_codec::KeyPart;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::check::{self, BoundCheck, Check, ViewCheck};
use super::foreign_key::ForeignKey;
use super::histogram::KeptHistograms;
use super::statistics::KeptStatistics;
use crate::mdl::MetadataLock;
use crate::row_codec::{RowLayout, RowView};

/// What a column holds when INSERT does not say.
#[derive(Debug, Clone, PartialEq)]
pub enum DefaultValue {
    /// An error in strict mode, else the type's zero.
    None,
    /// This value.
    Value(Value),
    /// CURRENT_TIMESTAMP with so many fractional digits.
    Now(u8),
    /// An expression, computed for each row. As it comes from its canonical text.
    Computed(Arc<ast::Expr>),
    /// GENERATED ALWAYS AS: the column never holds anything else than this expression's value. True for
    /// STORED; both kinds are kept in the row, so that reading one costs nothing and a key over it is a key
    /// like any other.
    Generated(Arc<ast::Expr>, bool),
    /// The column is hidden: it has the value of an expression that a key is over, and lies in the row like
    /// that of a generated column. Hidden columns stand behind all others, and no name reaches them.
    KeyPart(Arc<ast::Expr>),
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub kind: ColumnType,
    /// NULL is allowed.
    pub nullable: bool,
    /// Its default.
    pub default: DefaultValue,
    /// ON UPDATE CURRENT_TIMESTAMP, with its fractional digits.
    pub on_update: Option<u8>,
    /// AUTO_INCREMENT
    pub auto_increment: bool,
    /// COMMENT
    pub comment: Box<str>,
    /// Left out of `*`.
    pub invisible: bool,
}

impl Column {
    /// The expression of a generated column, and whether it is STORED.
    pub fn generation(&self) -> Option<(&ast::Expr, bool)> {
        match &self.default {
            DefaultValue::Generated(expr, stored) => Some((expr, *stored)),
            DefaultValue::KeyPart(expr) => Some((expr, false)),
            _ => None,
        }
    }

    /// The expression that a key is over, of a hidden column.
    pub fn key_part(&self) -> Option<&ast::Expr> {
        match &self.default {
            DefaultValue::KeyPart(expr) => Some(expr),
            _ => None,
        }
    }

    /// Whether it is there for a key over an expression alone.
    pub fn is_hidden(&self) -> bool {
        self.key_part().is_some()
    }

    /// Whether a statement means it by this name, in any case.
    pub fn goes_by(&self, name: &str) -> bool {
        !self.is_hidden() && self.name.eq_ignore_ascii_case(name)
    }
}

/// One column of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Position of the column.
    pub column: usize,
    /// Only so many characters (bytes for binary strings).
    pub prefix: Option<u32>,
    /// DESC
    pub descending: bool,
}

/// A key.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its name; PRIMARY for the primary key.
    pub name: Box<str>,
    /// PRIMARY KEY
    pub primary: bool,
    /// UNIQUE or PRIMARY
    pub unique: bool,
    /// Its columns.
    pub parts: Vec<Part>,
    /// Its tree.
    pub index: IndexId,
    /// COMMENT
    pub comment: Box<str>,
    /// False for INVISIBLE.
    pub visible: bool,
    /// It was made for a foreign key and not asked for: it goes when another key begins with its columns.
    pub implicit: bool,
}

/// What the dictionary keeps of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Names it for ever.
    pub id: TableId,
    /// Its database.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// Its keys: the primary key first, then unique ones, then the others.
    pub keys: Vec<Key>,
    /// Its CHECK constraints, by name.
    pub checks: Vec<Check>,
    /// Its foreign keys, as a child.
    pub foreign_keys: Vec<ForeignKey>,
    /// The tree of its rows.
    pub clustered: IndexId,
    /// Default of its character columns.
    pub collation: Collation,
    /// COMMENT
    pub comment: Box<str>,
    /// AUTO_INCREMENT=: no generated value is below it.
    pub auto_increment: u64,
    /// Seconds since 1970.
    pub created: u64,
}

impl Definition {
    /// Its trees, that of its rows last.
    pub fn trees(&self) -> Vec<IndexId> {
        let secondary = self.keys.iter().filter(|key| !key.primary).map(|key| key.index);
        secondary.chain([self.clustered]).collect()
    }

    /// The columns that have names: all but hidden ones.
    pub fn named_columns(&self) -> &[Column] {
        let hidden = self.columns.iter().rev().take_while(|column| column.is_hidden()).count();
        &self.columns[..self.columns.len() - hidden]
    }

    /// Bytes that a table of this definition keeps in memory, about.
    pub fn table_bytes(&self) -> usize {
        // A column is in the definition, in the layout of rows and in keys.
        size_of::<Table>()
            + 4 * size_of::<Column>() * self.columns.len()
            + 2 * size_of::<Key>() * self.keys.len()
    }
}

/// Counters that outlive a change of the definition.
#[derive(Debug, Default)]
pub struct Counters {
    /// Next AUTO_INCREMENT value; 0 until it was read from the table.
    pub auto_increment: AtomicU64,
    /// Where that is durable, once it is.
    pub slot: OnceLock<CounterSlot>,
    /// A number that the log has: rows with smaller ones need not tell it again.
    pub logged: AtomicU64,
    /// Next hidden row id; 0 until it was read from the table.
    pub row_id: AtomicU64,
    /// Rows: counted roughly since they were last estimated.
    pub rows: AtomicU64,
    /// What is known of its keys, and how much has changed since then.
    pub statistics: KeptStatistics,
    /// What is known of the values of its columns. Shared with the table that has other trees tomorrow.
    pub histograms: Arc<KeptHistograms>,
}

impl Counters {
    /// Counters of a new table.
    pub fn fresh() -> Arc<Counters> {
        Arc::default()
    }

    /// Counters of a table that has got new trees: they begin with its rows.
    pub fn of_new_trees(&self) -> Arc<Counters> {
        Arc::new(Counters { histograms: self.histograms.clone(), ..Counters::default() })
    }

    /// Counters of a table that was there before the server began.
    pub fn found(engine: &Engine, definition: &Definition) -> SqlResult<Arc<Counters>> {
        let counters = Counters::default();
        if let Some((slot, next)) = engine.counter(definition.clustered)? {
            let counted = definition.columns.iter().find(|column| column.auto_increment);
            let most = counted.map_or(u64::MAX, |column| column.kind.largest_counted());
            counters.auto_increment.store(next.min(most).max(definition.auto_increment), Ordering::Relaxed);
            counters.logged.store(next, Ordering::Relaxed);
            counters.slot.get_or_init(|| slot);
        }
        Ok(Arc::new(counters))
    }

    /// The counter is at `slot`, where `next` is durable.
    pub fn found_at(&self, slot: CounterSlot, next: u64) {
        self.auto_increment.store(next, Ordering::Release);
        self.logged.store(next, Ordering::Release);
        self.slot.get_or_init(|| slot);
    }
}

/// A table ready for use.
pub struct Table {
    /// What it is.
    pub definition: Definition,
    /// As the engine sees it.
    pub engine: TableDef,
    /// Its rows as bytes.
    pub layout: Arc<RowLayout>,
    /// Its keys as bytes, one list of parts per key.
    pub key_parts: Vec<Vec<KeyPart>>,
    /// Shared by statements, taken alone by DDL.
    pub mdl: Arc<MetadataLock>,
    /// Counters.
    pub counters: Arc<Counters>,
    /// Position of the AUTO_INCREMENT column.
    pub auto_column: Option<usize>,
    /// What its rows must meet.
    pub checks: Vec<BoundCheck>,
    /// Columns with computed defaults, in order.
    pub computed_defaults: Vec<(usize, SqlResult<Expr>)>,
    /// Generated columns, in order, which is the order they are computed in.
    pub generated: Vec<(usize, SqlResult<Expr>)>,
    /// Those of them that stand for their expressions (`stand_in.rs`).
    stand_ins: Vec<stand_in::Alike>,
    /// Constraints, computed defaults and generated columns may be worked out while a page is latched.
    pub rules_are_light: bool,
    /// The transaction that made this definition; 0 since before the server began. Views that are older do
    /// not know its trees.
    pub made_by: TxnId,
    /// It belongs to one session, and the dictionary has no row for it.
    pub temporary: bool,
}

struct Keys {
    layout: Arc<RowLayout>,
    secondaries: Vec<Vec<(usize, KeyPart)>>,
}

impl RowKeys for Keys {
    fn secondary_key(&self, nth: usize, row: &[u8], out: &mut Vec<u8>) -> bool {
        let (Some(parts), Ok(view)) = (self.secondaries.get(nth), RowView::new(&self.layout, row)) else {
            return false;
        };
        parts.iter().fold(true, |full, (column, part)| part.append(&view.get(*column), out) & full)
    }
}

impl Table {
    /// Makes a definition ready.
    pub fn new(definition: Definition, mdl: Arc<MetadataLock>, counters: Arc<Counters>) -> Table {
        let shown = |column: &Column| match &column.default {
            DefaultValue::Value(value) => value.clone(),
            _ => Value::Null,
        };
        let layout =
            RowLayout::new(definition.columns.iter().map(|column| (column.kind.clone(), shown(column))));
        let layout = Arc::new(layout);
        let part = |part: &Part| {
            let column = &definition.columns[part.column];
            KeyPart {
                kind: column.kind.clone(),
                prefix: part.prefix,
                descending: part.descending,
                nullable: column.nullable,
            }
        };
        let key_parts: Vec<Vec<KeyPart>> =
            definition.keys.iter().map(|key| key.parts.iter().map(part).collect()).collect();
        let secondary = definition.keys.iter().zip(&key_parts).filter(|(key, _)| !key.primary);
        let keys = Keys {
            layout: layout.clone(),
            secondaries: secondary
                .map(|(key, parts)| {
                    key.parts.iter().map(|part| part.column).zip(parts.iter().cloned()).collect()
                })
                .collect(),
        };
        let secondaries = definition.keys.iter().filter(|key| !key.primary);
        let engine = TableDef {
            id: definition.id,
            clustered: definition.clustered,
            secondaries: secondaries.map(|key| SecondaryDef { id: key.index, unique: key.unique }).collect(),
            keys: Arc::new(keys),
        };
        let auto_column = definition.columns.iter().position(|column| column.auto_increment);
        let checks = check::bind(&definition);
        let bound = |expr: &ast::Expr| check::bind_expression(expr, &definition);
        let columns = || definition.columns.iter().enumerate();
        let computed = |(at, column): (usize, &Column)| match &column.default {
            DefaultValue::Computed(expr) => Some((at, bound(expr).map(|typed| typed.expr))),
            _ => None,
        };
        let computed_defaults: Vec<_> = columns().filter_map(computed).collect();
        let generation = |(at, column): (usize, &Column)| Some((at, bound(column.generation()?.0)));
        let generated: Vec<_> = columns().filter_map(generation).collect();
        let stand_ins = stand_in::stand_ins(&definition, &generated);
        let untyped = |(at, bound): (usize, SqlResult<Typed>)| (at, bound.map(|typed| typed.expr));
        let generated: Vec<_> = generated.into_iter().map(untyped).collect();
        let is_light = |expr: &SqlResult<Expr>| expr.as_ref().is_ok_and(Expr::is_light);
        let rules_are_light = checks.iter().all(|check| is_light(check.expr()))
            && computed_defaults.iter().chain(&generated).all(|(_, expr)| is_light(expr));
        let made_by = TxnId(0);
        Table {
            definition,
            engine,
            layout,
            key_parts,
            mdl,
            counters,
            auto_column,
            checks,
            computed_defaults,
            generated,
            stand_ins,
            rules_are_light,
            made_by,
            temporary: false,
        }
    }

    /// The same for a statement whose new rows must meet conditions of views besides.
    pub fn with_checks(&self, conditions: &[ast::Expr], view: &ViewCheck) -> SqlResult<Table> {
        let mut table = Table::new(self.definition.clone(), self.mdl.clone(), self.counters.clone());
        (table.made_by, table.temporary) = (self.made_by, self.temporary);
        for condition in conditions {
            let check = check::bind_of_view(condition, &self.definition, view)?;
            table.rules_are_light &= check.expr().as_ref().is_ok_and(Expr::is_light);
            table.checks.push(check);
        }
        Ok(table)
    }

    /// With the transaction that made its trees.
    pub fn made_by(self, made_by: TxnId) -> Table {
        Table { made_by, ..self }
    }

    /// As a session's own.
    pub fn temporary(self) -> Table {
        Table { temporary: true, ..self }
    }

    /// Its trees, that of its rows last.
    pub fn trees(&self) -> Vec<IndexId> {
        self.definition.trees()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.definition.columns
    }

    /// Those that have names.
    pub fn named_columns(&self) -> &[Column] {
        self.definition.named_columns()
    }

    /// Its keys.
    pub fn keys(&self) -> &[Key] {
        &self.definition.keys
    }

    /// The primary key; None when rows are kept by a hidden number.
    pub fn primary(&self) -> Option<usize> {
        self.definition.keys.first().filter(|key| key.primary).map(|_| 0)
    }

    /// Columns that stand for expressions in what a statement asks, with these; several for one expression
    /// where several keys are over it.
    pub fn stand_ins(&self) -> impl Iterator<Item = (&[usize], &Expr)> {
        self.stand_ins.iter().filter_map(|alike| {
            let (_, expr) = self.generated.iter().find(|(at, _)| alike.first() == Some(at))?;
            Some((alike.as_slice(), expr.as_ref().ok()?))
        })
    }

    /// Position of a column by its name in any case.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.definition.columns.iter().position(|column| column.goes_by(name))
    }

    /// Error 3105 if a column is generated: nothing but DEFAULT may be given to it.
    pub fn check_takes_value(&self, column: usize) -> SqlResult<()> {
        match self.definition.columns[column].generation() {
            None => Ok(()),
            Some(_) => {
                Err(SqlError::generated_value_given(&self.definition.columns[column].name, self.name()))
            }
        }
    }

    /// What may change when these columns are assigned: they, and what is generated.
    pub fn may_change(&self, assigned: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut columns: Vec<usize> = assigned.collect();
        if !columns.is_empty() {
            columns.extend(self.generated.iter().map(|(column, _)| *column));
        }
        columns
    }

    /// Position of a key by its name in any case.
    pub fn key_position(&self, name: &str) -> Option<usize> {
        self.definition.keys.iter().position(|key| key.name.eq_ignore_ascii_case(name))
    }

    /// Which tree a key is.
    pub fn scan_index(&self, key: usize) -> ScanIndex {
        match self.primary() {
            Some(0) if key == 0 => ScanIndex::Clustered,
            Some(_) => ScanIndex::Secondary(key - 1),
            None => ScanIndex::Secondary(key),
        }
    }

    /// The key that is secondary tree number `nth`.
    pub fn key_of_secondary(&self, nth: usize) -> usize {
        nth + usize::from(self.primary().is_some())
    }

    /// Appends the primary key bytes of a row's values. False if a value was NULL (never so in a stored row).
    pub fn primary_key(&self, values: &[Value], out: &mut Vec<u8>) -> bool {
        let Some(primary) = self.primary() else { return false };
        let parts = self.definition.keys[primary].parts.iter().zip(&self.key_parts[primary]);
        parts.fold(true, |full, (part, codec)| codec.append(&values[part.column], out) & full)
    }

    /// The counter goes on at `next` if it is not there yet, and at the column's largest value at most.
    pub fn count_up_to(&self, next: u64) {
        let most = self.auto_column.map_or(u64::MAX, |column| self.columns()[column].kind.largest_counted());
        self.counters.auto_increment.fetch_max(next.min(most), Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::bytes::{PLAIN, SECTIONED};
    use super::*;
    use crate::dictionary::encoding::Damaged;
    use crate::expression_text::parse_expression;

    fn definition(checks: Vec<Check>) -> Definition {
        let column = Column {
            name: "a".into(),
            kind: ColumnType::BIGINT,
            nullable: true,
            default: DefaultValue::Value(Value::Null),
            on_update: None,
            auto_increment: false,
            comment: "".into(),
            invisible: false,
        };
        Definition {
            id: TableId(7),
            schema: "s".into(),
            name: "t".into(),
            columns: vec![column],
            keys: Vec::new(),
            foreign_keys: Vec::new(),
            checks,
            clustered: IndexId(9),
            collation: Collation::DEFAULT,
            comment: "".into(),
            auto_increment: 0,
            created: 1,
        }
    }

    #[test]
    fn defaults_come_back() {
        for default in [
            DefaultValue::None,
            DefaultValue::Value(Value::Int(-7)),
            DefaultValue::Now(3),
            DefaultValue::Computed(Arc::new(parse_expression("concat(_utf8mb4'it''s',uuid())").unwrap())),
            DefaultValue::Generated(Arc::new(parse_expression("(`a` + 1)").unwrap()), false),
            DefaultValue::Generated(Arc::new(parse_expression("(`a` + 1)").unwrap()), true),
            DefaultValue::KeyPart(Arc::new(parse_expression("lower(`a`)").unwrap())),
        ] {
            let mut written = definition(Vec::new());
            written.columns[0].default = default;
            assert_eq!(Definition::decode(&written.encode()), Ok(written));
        }
    }

    fn check(enforced: bool) -> Check {
        Check { name: "t_chk_1".into(), expr: parse_expression("(`a` > 0)").unwrap(), enforced }
    }

    #[test]
    fn definitions_come_back() {
        for checks in [Vec::new(), vec![check(true)], vec![check(true), check(false)]] {
            let written = definition(checks);
            assert_eq!(Definition::decode(&written.encode()), Ok(written));
        }
    }

    #[test]
    fn without_sections_it_is_what_it_was() {
        let plain = definition(Vec::new()).encode();
        assert_eq!(plain[0], PLAIN);
        let sectioned = definition(vec![check(true)]).encode();
        assert_eq!(sectioned[0], SECTIONED);
        assert_eq!(sectioned[1..plain.len()], plain[1..], "sections come behind everything else");
    }

    #[test]
    fn damage_is_noticed() {
        let whole = definition(vec![check(true)]).encode();
        for length in 0..whole.len() {
            let plain = length == definition(Vec::new()).encode().len();
            assert_eq!(Definition::decode(&whole[..length]).is_err(), !plain, "{length} bytes");
        }
        let mut unknown = definition(Vec::new()).encode();
        unknown[0] = SECTIONED;
        unknown.extend([99, 0, 0, 0, 0]);
        assert_eq!(Definition::decode(&unknown), Err(Damaged));
        let mut text = whole;
        let at = text.len() - 2;
        text[at] = b'?';
        assert_eq!(Definition::decode(&text), Err(Damaged), "a text that is no expression");
    }
}
