//! Random schemas and statements. One seed makes one schema and the statements over it, always the same ones.

use turnstile_sys::rng::Rng;

mod besides;
mod change;
pub mod compare;
mod equal;
mod expression;
mod function;
pub mod logic;
mod mixed;
mod query;
mod rare;
pub mod rules;
mod schema;
mod with;

pub use query::Query;
pub use schema::{Kind, Schema};

/// A column that an expression may name.
#[derive(Clone, Debug)]
pub struct Visible {
    /// `alias.column`.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// Makes statements over a schema.
pub struct Maker<'a> {
    rng: &'a mut Rng,
    schema: &'a Schema,
    /// Columns in sight, innermost query last.
    scopes: Vec<Vec<Visible>>,
    /// Aliases given so far, so that none comes twice.
    aliases: usize,
    /// Subqueries may be this much deeper.
    nesting: usize,
    /// Whether subqueries are made at all.
    subqueries: bool,
    /// Whether an aggregate may belong to a query around the subquery it stands in, which makes that one a
    /// query of groups.
    outer_aggregates: bool,
    /// Columns of the first queries, this many, are out of sight.
    hidden: usize,
    /// An aggregate's argument is made.
    in_aggregate: bool,
    /// Operands are sometimes of other kinds than the operator wants.
    mixes: bool,
    /// Literals are marked, so that they can become parameters.
    marks: bool,
}

const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

fn marked(literal: &str) -> String {
    format!("{OPEN}{literal}{CLOSE}")
}

/// A statement without its marks.
pub fn plain(text: &str) -> String {
    text.replace([OPEN, CLOSE], "")
}

/// A statement with `?` for each marked literal, and these.
pub fn prepared(text: &str) -> (String, Vec<String>) {
    let mut statement = String::new();
    let mut parameters = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let (literal, after) = behind.split_once(CLOSE).unwrap_or((behind, ""));
        statement += before;
        statement.push('?');
        parameters.push(literal.to_string());
        rest = after;
    }
    (statement + rest, parameters)
}

impl<'a> Maker<'a> {
    /// A maker of statements with subqueries two deep.
    pub fn new(rng: &'a mut Rng, schema: &'a Schema) -> Maker<'a> {
        Maker {
            rng,
            schema,
            scopes: Vec::new(),
            aliases: 0,
            nesting: 2,
            subqueries: true,
            outer_aggregates: true,
            hidden: 0,
            in_aggregate: false,
            mixes: false,
            marks: false,
        }
    }

    /// The same, one in three of which mixes kinds, with marked literals.
    pub fn of_all_kinds(rng: &'a mut Rng, schema: &'a Schema) -> Maker<'a> {
        let mixes = rng.below(3) == 0;
        Maker { mixes, marks: true, ..Maker::new(rng, schema) }
    }

    /// The same, of which a query has as many rows as pass its condition.
    pub fn row_by_row(rng: &'a mut Rng, schema: &'a Schema) -> Maker<'a> {
        Maker { outer_aggregates: false, ..Maker::new(rng, schema) }
    }

    /// The same without subqueries.
    pub fn flat(rng: &'a mut Rng, schema: &'a Schema) -> Maker<'a> {
        Maker { subqueries: false, ..Maker::new(rng, schema) }
    }

    /// True once in `times`.
    fn once_in(&mut self, times: u64) -> bool {
        self.rng.below(times) == 0
    }

    /// One of several.
    fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.rng.below(of.len() as u64) as usize]
    }

    fn alias(&mut self, letter: char) -> String {
        self.aliases += 1;
        format!("{letter}{}", self.aliases)
    }
}
