//! Templates: texts that differ only in their literals share one planned statement.
//!
//! A client that writes its values into the text sends ever new texts, of a few shapes. One pass over the
//! bytes ([`Scan`]) splits a text into a *key*, where every plain literal is replaced by a mark of its type,
//! and the *values* of those literals. A cache of its user compares keys byte by byte. What it keeps is the
//! statement with parameters in the literals' places, and its plan; the values are bound to them as those of
//! a prepared statement are, except that a parameter has the type its literal has.
//!
//! ```text
//! UPDATE t SET k=k+1 WHERE id=4711 AND c='x' LIMIT 1
//!   key     UPDATE t SET k=k+<int> WHERE id=<int> AND c=<string> LIMIT 1
//!   values  1, 4711, 'x'
//! ```
//!
//! # Promise
//! A statement gives the same through its template as through parser and planner: result, types and names of
//! columns, counts, warnings, errors. What cannot be proved to is not taken as a template and goes the long
//! way.
//!
//! # Rules
//! - Taken out are whole numbers of at most 18 digits (they fit an `i64`, whatever their sign) and strings in
//!   single quotes that are valid UTF-8. All else stays in the key as written: decimals, floats, hex and bit
//!   literals, NULL, TRUE, blanks, the case of words.
//! - Only in the clauses where a value is looked at when the statement runs: after WHERE, SET and VALUES.
//!   Select lists (a column may be named by a literal's text), ORDER BY and GROUP BY (a number is a
//!   position), LIMIT, HAVING and INTERVAL keep theirs.
//! - A text with a comment that is not one of hints, a variable, a double quote, `?`, `;`, or a quote that
//!   touches a word (`x'4D'`, `N'a'`, `_latin1'a'`) has no key.
//! - A template is made from one text, and proved against it: the key is parsed with `?` for the marks, and
//!   with the literals put back its tree must be the tree of the text ([`Template::of`]).
//! - Then its tree must be of a shape whose plan cannot depend on the values (`accept`): one base table, no
//!   sub-query, no function but the plain aggregates, and a parameter only as a side of a comparison,
//!   BETWEEN, IN or LIKE, as an operand of `+ - *` in these, as an inserted value, or as an assigned value or
//!   a term of one. A sign before a literal is applied to the value.
//!
//! # Why other texts with this key have this tree
//! Equal keys mean equal bytes outside the literals, and marks (bytes that no key may otherwise hold) in the
//! same places. The lexer reads left to right and a literal's token ends where the scan says it ends, so two
//! such texts give the same tokens but for the spans of the marked ones, whose kinds agree. The parser looks
//! at what a number or string says only where the tree has no expression for it (a length, a LIMIT, a name),
//! and there `?` is a syntax error or the trees differ; so the template was not made.
//!
//! # What it does not do
//! Joins, sub-queries and functions of expressions are planned each time. Blanks and case are not normalised:
//! a program writes a statement the same way every time. [`crate::digest`] is the readable form for
//! statistics, not a key.

mod accept;
mod scan;
#[cfg(test)]
mod tests;

pub use scan::Scan;

use crate::ast;
use crate::parser::{Aside, ParseOptions, parse};
use turnstile_values::value::Value;

/// Most literals of a template.
pub const LITERALS_MAX: usize = 64;

/// A statement with parameters in place of literals.
pub struct Template {
    /// Its tree.
    pub tree: ast::Statement,
    /// How many parameters stand for literals.
    pub literals: usize,
    /// What the text says beside the tree.
    pub aside: Option<Box<Aside>>,
    /// The literals that have a sign.
    pub signs: Signs,
}

/// Positions of the values that have a minus sign before them.
pub struct Signs(Box<[usize]>);

impl Template {
    /// The template of a text: `whole` is its tree, `scan` what was read of it. None if there can be none.
    pub fn of(whole: &ast::Statement, scan: &Scan, options: ParseOptions) -> Option<Template> {
        let parsed = parse(&scan.marked_text(), ParseOptions { parameters: true, ..options }).ok()?;
        if parsed.parameter_count as usize != scan.values().len() {
            return None;
        }
        let mut tree = parsed.statement;
        let mut filled = tree.clone();
        accept::fill(&mut filled, scan.values());
        if filled != *whole {
            return None;
        }
        let signs = Signs(accept::take_signs(&mut tree, scan.values()).into());
        let literals = scan.values().len();
        let acceptable = accept::is_acceptable(&tree, scan.values());
        acceptable.then_some(Template { tree, literals, aside: parsed.aside, signs })
    }
}

impl Signs {
    /// Gives values the signs that stand in the text.
    pub fn apply(&self, values: &mut [Value]) {
        for at in &self.0 {
            if let Some(Value::Int(number)) = values.get_mut(*at) {
                *number = -*number;
            }
        }
    }
}
