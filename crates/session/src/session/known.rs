//! What a session has found among the things that all sessions share, kept so that its next statement finds
//! it without writing where other sessions write: statements of its texts, their plans, and the metadata
//! locks of tables. With one more worker each such line costs each statement a trip to another processor;
//! here there is none, only a comparison with what must still hold.
//!
//! | what | kept as long as | asked each time |
//! |---|---|---|
//! | statement of a text, or template of a key | its place is not wanted | text, mode of reading |
//! | plan | with its statement | all that [`super::prepared`] asks of a plan kept there |
//! | the digest it is counted under | with its statement | its stamp ([`super::measured`]) |
//! | table and its metadata lock | the dictionary's version is the same | that version, before and after |
//!
//! Places are given by hash: a session sends few texts again and again. What is kept here may be gone from
//! the shared cache, or be a table that is gone: then it is memory, and bounded.

use std::sync::Arc;

use turnstile_sys::known::Known;

use super::CachedStatement;
use super::measured::Stamp;
use crate::dictionary::Table;
use crate::expr::SqlMode;
use crate::kept_statement::Kept;
use crate::mdl::MetadataLock;
use crate::row_plan::RowPlan;
use crate::statement_cache::CachedTemplate;

/// Places for texts and keys.
pub const PLACES: usize = 8;
/// Longest text that is kept, in bytes: so much a session may hold besides what its memory account counts.
const TEXT_BYTES_MAX: usize = 512;
/// Places for tables.
const TABLES: usize = 8;
/// A session whose texts are served by templates looks for the whole text once in so many.
const TEXTS_SKIPPED: u8 = 15;

/// A statement found by its text.
enum Found {
    Text(Known<CachedStatement>),
    Template(Known<CachedTemplate>),
}

struct Text {
    hash: u64,
    mode: SqlMode,
    text: Arc<[u8]>,
    found: Found,
    plan: Option<KnownPlan>,
    stamp: Stamp,
}

/// A plan, and what it was kept under.
pub struct KnownPlan {
    kept: Arc<Kept>,
    plan: Known<RowPlan>,
}

struct KnownTable {
    schema: Box<str>,
    name: Box<str>,
    version: u64,
    table: Arc<Table>,
    mdl: Known<MetadataLock>,
}

/// See the module.
#[derive(Default)]
pub struct KnownThings {
    texts: [Option<Box<Text>>; PLACES],
    tables: Vec<KnownTable>,
    next_table: usize,
    texts_to_skip: u8,
}

impl KnownThings {
    fn at(&self, hash: u64, text: &[u8], mode: SqlMode) -> Option<&Text> {
        let known = self.texts[hash as usize % PLACES].as_deref()?;
        (known.hash == hash && known.mode == mode && *known.text == *text).then_some(known)
    }

    /// The statement of a text, and the text as it may be shown.
    pub fn text(&self, hash: u64, text: &[u8], mode: SqlMode) -> Option<(Known<CachedStatement>, Arc<[u8]>)> {
        let known = self.at(hash, text, mode)?;
        match &known.found {
            Found::Text(statement) => Some((statement.clone(), known.text.clone())),
            Found::Template(_) => None,
        }
    }

    /// The template of a key.
    pub fn template(&self, hash: u64, key: &[u8], mode: SqlMode) -> Option<Known<CachedTemplate>> {
        match &self.at(hash, key, mode)?.found {
            Found::Template(template) => Some(template.clone()),
            Found::Text(_) => None,
        }
    }

    /// Keeps the statement of a text that the shared cache has.
    pub fn keep_text(
        &mut self,
        hash: u64,
        text: &[u8],
        mode: SqlMode,
        statement: Arc<CachedStatement>,
    ) -> Known<CachedStatement> {
        let statement = Arc::new(statement);
        self.keep(hash, text, mode, Found::Text(statement.clone()));
        statement
    }

    /// Keeps the template of a key that the shared cache has.
    pub fn keep_template(
        &mut self,
        hash: u64,
        key: &[u8],
        mode: SqlMode,
        template: Arc<CachedTemplate>,
    ) -> Known<CachedTemplate> {
        let template = Arc::new(template);
        self.keep(hash, key, mode, Found::Template(template.clone()));
        template
    }

    fn keep(&mut self, hash: u64, text: &[u8], mode: SqlMode, found: Found) {
        if text.len() <= TEXT_BYTES_MAX {
            let known = Text { hash, mode, text: text.into(), found, plan: None, stamp: 0 };
            self.texts[hash as usize % PLACES] = Some(Box::new(known));
        }
    }

    /// The place of what has this hash, and the stamp of the digest it is counted under; 0 if there is none.
    #[inline]
    pub fn stamp(&self, hash: u64) -> (usize, Stamp) {
        let place = hash as usize % PLACES;
        let known = self.texts[place].as_deref().filter(|known| known.hash == hash);
        (place, known.map_or(0, |known| known.stamp))
    }

    /// Whether something with this hash is kept.
    pub fn keeps(&self, hash: u64) -> bool {
        self.texts[hash as usize % PLACES].as_deref().is_some_and(|known| known.hash == hash)
    }

    /// Keeps the stamp of the digest that it is counted under.
    pub fn set_stamp(&mut self, hash: u64, stamp: Stamp) {
        if let Some(known) = self.texts[hash as usize % PLACES].as_deref_mut()
            && known.hash == hash
        {
            known.stamp = stamp;
        }
    }

    /// Whether the shared cache is to be asked for a whole text before its template is looked for.
    pub fn looks_for_text(&mut self) -> bool {
        let looks = self.texts_to_skip == 0;
        self.texts_to_skip = self.texts_to_skip.saturating_sub(1);
        looks
    }

    /// A template has served a text that the shared cache did not have: most likely it serves the next too.
    pub fn skip_texts(&mut self) {
        self.texts_to_skip = TEXTS_SKIPPED;
    }

    fn of(&self, statement: &CachedStatement) -> Option<usize> {
        let is_it = |known: &Text| match &known.found {
            Found::Text(found) => std::ptr::eq(&***found, statement),
            Found::Template(found) => std::ptr::eq(&found.statement, statement),
        };
        self.texts.iter().position(|known| known.as_deref().is_some_and(is_it))
    }

    /// The plan that a statement had last, if `serves`.
    pub fn plan(
        &self,
        statement: &CachedStatement,
        serves: impl FnOnce(&Kept) -> bool,
    ) -> Option<Known<RowPlan>> {
        let known = self.texts[self.of(statement)?].as_deref()?.plan.as_ref()?;
        serves(&known.kept).then(|| known.plan.clone())
    }

    /// Keeps the plan that a statement had, if the statement is kept.
    pub fn keep_plan(&mut self, statement: &CachedStatement, kept: &Arc<Kept>) {
        if let Some(at) = self.of(statement)
            && let Some(known) = self.texts[at].as_deref_mut()
        {
            let plan = Arc::new(Arc::clone(&*kept.plan));
            known.plan = Some(KnownPlan { kept: kept.clone(), plan });
        }
    }

    /// A table and its metadata lock, as they were in this version of the dictionary.
    pub fn table(&self, schema: &str, name: &str, version: u64) -> Option<(&Table, &Known<MetadataLock>)> {
        let is_it = |known: &&KnownTable| {
            known.version == version && *known.name == *name && *known.schema == *schema
        };
        self.tables.iter().find(is_it).map(|known| (&*known.table, &known.mdl))
    }

    /// Keeps a table as it is in this version of the dictionary.
    pub fn keep_table(&mut self, (schema, name): (&str, &str), version: u64, table: &Arc<Table>) {
        let mdl = Arc::new(table.mdl.clone());
        let known =
            KnownTable { schema: schema.into(), name: name.into(), version, table: table.clone(), mdl };
        let old = |one: &KnownTable| one.name == known.name && one.schema == known.schema;
        match self.tables.iter().position(old) {
            Some(at) => self.tables[at] = known,
            None if self.tables.len() < TABLES => self.tables.push(known),
            None => {
                self.tables[self.next_table] = known;
                self.next_table = (self.next_table + 1) % TABLES;
            }
        }
    }
}
