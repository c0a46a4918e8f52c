//! Random schemas and statements. One seed makes one schema and the statements over it, always the same ones.

use turnstile_sys::rng::Rng;

pub mod compare;
mod expression;
pub mod logic;
mod query;
mod schema;

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
    /// Whether an aggregate may belong to a query around the subquery it stands in, which makes that one a query of groups.
    outer_aggregates: bool,
    /// Columns of the first queries, this many, are out of sight.
    hidden: usize,
    /// An aggregate's argument is made.
    in_aggregate: bool,
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
        }
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
