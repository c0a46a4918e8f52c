//! A view: a query that its name stands for in FROM.
//!
//! | field | what it is |
//! |---|---|
//! | `text` | the query in canonical text, which means the same whoever reads it, and whatever columns its tables get |
//! | `columns` | what the query gave when it was last looked at; who reads the view takes the query's own |
//! | `reads` | the tables and views that it names: whose metadata locks a reader holds besides the view's |
//! | `definer`, `invoker` | whose rights are asked for what the query reads |
//! | `collation` | what its strings are compared by, which have none of their own |
//!
//! Views and tables share their names: whoever gives one holds the name ([`crate::mdl::names`]). They are
//! kept apart in the dictionary, so that nobody who looks for a table finds a view.

use std::sync::Arc;

use turnstile_engine::ids::TxnId;
use turnstile_syntax::ast::{self, CheckOption, ViewAlgorithm};
use turnstile_values::collation::Collation;

use super::TableName;
use super::encoding::{Damaged, Reader, Writer};
use super::table::Column;
use crate::expression_text::{parse_query, query_text};
use crate::mdl::MetadataLock;

/// The format of its row.
const FORMAT: u8 = 1;

/// The name of the account that a view's query is read for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definer {
    /// The user.
    pub user: Box<str>,
    /// The host or pattern.
    pub host: Box<str>,
}

/// What the dictionary keeps of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewDefinition {
    /// Its database.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Its query.
    pub text: Box<str>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Names were given to its columns.
    pub has_names: bool,
    /// Tables and views of its query, each once.
    pub reads: Vec<TableName>,
    /// ALGORITHM
    pub algorithm: ViewAlgorithm,
    /// DEFINER
    pub definer: Definer,
    /// SQL SECURITY INVOKER
    pub invoker: bool,
    /// WITH CHECK OPTION
    pub check: Option<CheckOption>,
    /// Rows can be changed through it.
    pub updatable: bool,
    /// `character_set_client` of who made it.
    pub client: Box<str>,
    /// `collation_connection` of who made it.
    pub collation: Collation,
    /// Seconds since 1970.
    pub created: u64,
}

impl ViewDefinition {
    /// The name of its dictionary row.
    pub fn row_name(schema: &str, name: &str) -> Vec<u8> {
        [schema.as_bytes(), &[0], name.as_bytes()].concat()
    }

    /// Bytes of its dictionary row.
    pub fn encode(&self) -> Vec<u8> {
        let mut row = Writer::new(FORMAT);
        row.text(&self.schema);
        row.text(&self.name);
        row.text(&self.text);
        row.list(&self.columns, |row, column| column.encode(row));
        row.bool(self.has_names);
        row.list(&self.reads, |row, (schema, name)| {
            row.text(schema);
            row.text(name);
        });
        row.u8(match self.algorithm {
            ViewAlgorithm::Undefined => 0,
            ViewAlgorithm::Merge => 1,
            ViewAlgorithm::Temptable => 2,
        });
        row.text(&self.definer.user);
        row.text(&self.definer.host);
        row.bool(self.invoker);
        row.u8(match self.check {
            None => 0,
            Some(CheckOption::Local) => 1,
            Some(CheckOption::Cascaded) => 2,
        });
        row.bool(self.updatable);
        row.text(&self.client);
        row.collation(self.collation);
        row.u64(self.created);
        row.0
    }

    /// From the bytes of its dictionary row.
    pub fn decode(bytes: &[u8]) -> Result<ViewDefinition, Damaged> {
        let row = &mut Reader::new(bytes, FORMAT)?;
        Ok(ViewDefinition {
            schema: row.text()?.into(),
            name: row.text()?.into(),
            text: row.text()?.into(),
            columns: row.list(Column::decode)?,
            has_names: row.bool()?,
            reads: row.list(|row| Ok((row.text()?.into(), row.text()?.into())))?,
            algorithm: match row.u8()? {
                0 => ViewAlgorithm::Undefined,
                1 => ViewAlgorithm::Merge,
                2 => ViewAlgorithm::Temptable,
                _ => return Err(Damaged),
            },
            definer: Definer { user: row.text()?.into(), host: row.text()?.into() },
            invoker: row.bool()?,
            check: match row.u8()? {
                0 => None,
                1 => Some(CheckOption::Local),
                2 => Some(CheckOption::Cascaded),
                _ => return Err(Damaged),
            },
            updatable: row.bool()?,
            client: row.text()?.into(),
            collation: row.collation()?,
            created: row.u64()?,
        })
    }
}

/// A view ready for use.
#[derive(Debug)]
pub struct View {
    /// What it is.
    pub definition: ViewDefinition,
    /// Its query, and how many levels that has; None if this server cannot read the text.
    pub query: Option<(ast::Query, u32)>,
    /// Names that were given to its columns; empty if none were.
    pub names: Vec<ast::Name>,
    /// Shared by statements, taken alone by DDL.
    pub mdl: Arc<MetadataLock>,
    /// The transaction that made this definition; 0 since before the server began.
    pub made_by: TxnId,
}

impl View {
    /// Makes a definition ready.
    pub fn new(definition: ViewDefinition, mdl: Arc<MetadataLock>, made_by: TxnId) -> View {
        let query = parse_query(&definition.text);
        let given = definition.columns.iter().filter(|_| definition.has_names);
        let names = given.map(|column| column.name.clone()).collect();
        View { definition, query, names, mdl, made_by }
    }

    /// The query as SHOW CREATE VIEW shows it to who is in a database: without databases, if all that it
    /// reads is in this one.
    pub fn shown_query(&self, current: Option<&str>) -> String {
        let here = |schema: &str| Some(schema) == current;
        let short =
            here(&self.definition.schema) && self.definition.reads.iter().all(|(schema, _)| here(schema));
        match &self.query {
            Some((query, _)) => query_text(query, short),
            None => self.definition.text.to_string(),
        }
    }
}
