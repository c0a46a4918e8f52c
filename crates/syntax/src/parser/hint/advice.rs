//! Hints about query blocks: which block a hint is for, and whether its tables are there. One for a block
//! that is named later waits for it.

use std::collections::BTreeMap;

use super::Hint;
use crate::ast::{Advice, KeyUse, Name, OrderAdvice, TableFactor, TableName, TableRef, WayAdvice};

/// A hint as written: its name, and its arguments with the blocks they name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::parser) struct Written {
    pub(super) name: &'static str,
    /// The block named in front of the arguments.
    pub(super) block: Option<Name>,
    pub(super) words: Vec<(Name, Option<Name>)>,
}

/// A block heeds so many hints: each is looked at wherever its tables are.
const HINTS_MAX: usize = 1000;

/// Hints that are heeded.
pub(super) const HEEDED: &[&str] = &[
    "BNL",
    "DERIVED_CONDITION_PUSHDOWN",
    "GROUP_INDEX",
    "HASH_JOIN",
    "INDEX",
    "INDEX_MERGE",
    "JOIN_FIXED_ORDER",
    "JOIN_INDEX",
    "JOIN_ORDER",
    "JOIN_PREFIX",
    "JOIN_SUFFIX",
    "MERGE",
    "NO_BNL",
    "NO_DERIVED_CONDITION_PUSHDOWN",
    "NO_GROUP_INDEX",
    "NO_HASH_JOIN",
    "NO_ICP",
    "NO_INDEX",
    "NO_INDEX_MERGE",
    "NO_JOIN_INDEX",
    "NO_MERGE",
    "NO_ORDER_INDEX",
    "NO_SEMIJOIN",
    "ORDER_INDEX",
    "SEMIJOIN",
];

/// What takes a table and keys of it, and so at least one word.
pub(super) fn is_of_keys(name: &str) -> bool {
    name.ends_with("INDEX")
}

/// What is about one table, and may name keys of it.
fn has_keys(name: &str) -> bool {
    is_of_keys(name) || name.ends_with("INDEX_MERGE") || name == "NO_ICP"
}

/// The hints of a block whose tables have not been read yet.
#[derive(Debug, Default)]
pub(in crate::parser) struct Block {
    hints: Vec<Written>,
    /// Its place among the blocks of the statement, from 1.
    number: u32,
}

impl Written {
    /// The block it is for, if it names one; an error if it names several.
    fn target(&self) -> Result<Option<&Name>, ()> {
        // Behind a table stand its keys, whose block is the table's.
        let tables = if has_keys(self.name) { 1 } else { self.words.len() };
        let words = self.words.iter().take(tables);
        let mut named = words.map(|(_, block)| block.as_ref().or(self.block.as_ref()));
        let first = named.next().unwrap_or(self.block.as_ref());
        if named.all(|one| one == first) { Ok(first) } else { Err(()) }
    }
}

/// Hints that are not given to a block yet.
#[derive(Debug, Default)]
pub(in crate::parser) struct Waiting {
    /// For blocks that are named later, by their names.
    named: BTreeMap<Name, Vec<Written>>,
    /// Of INSERT, until it is known whether a query gives its rows.
    inserting: Option<Block>,
    /// Of INSERT, for the query that follows.
    carried: Vec<Written>,
    /// INSERT and its query are one block.
    counted_twice: u32,
}

impl Waiting {
    /// The hints of a block that begins, the `number`th one, which has this name; those that wait for it too.
    pub(super) fn begin(
        &mut self,
        written: Vec<Written>,
        (own, number): (Option<&str>, u32),
        told: &mut Vec<Hint>,
    ) -> Block {
        let mut hints = std::mem::take(&mut self.carried);
        if let Some(own) = own {
            hints.extend(self.named.remove(own).unwrap_or_default());
        }
        for one in written {
            match one.target().map(Option::<&Name>::cloned) {
                Ok(Some(name)) if own != Some(&*name) => self.named.entry(name).or_default().push(one),
                Ok(_) => hints.push(one),
                Err(()) => told.push(without_effect(&one)),
            }
        }
        told.extend(hints.iter().skip(HINTS_MAX).map(without_effect));
        hints.truncate(HINTS_MAX);
        Block { hints, number: number - self.counted_twice.min(number) }
    }

    /// INSERT begins, with these.
    pub(in crate::parser) fn insert(&mut self, block: Block) {
        self.inserting = Some(block);
    }

    /// The query begins that gives an INSERT its rows: the hints are the query's.
    pub(in crate::parser) fn insert_query(&mut self) {
        if let Some(block) = self.inserting.take() {
            self.carried = block.hints;
            self.counted_twice = 1;
        }
    }

    /// An INSERT is read whose rows no query gave; what its hints would say of the table is nothing.
    pub(in crate::parser) fn insert_rows(&mut self, table: &TableName, told: &mut Vec<Hint>) {
        if let Some(block) = self.inserting.take().filter(|block| !block.hints.is_empty()) {
            let factor = TableFactor { name: table.clone(), alias: None, hints: Vec::new() };
            block.advice(&[TableRef::Table(factor)], told);
        }
    }

    /// Tells of hints whose block has not come.
    pub(in crate::parser) fn end(&mut self, told: &mut Vec<Hint>) {
        for (name, hints) in std::mem::take(&mut self.named) {
            let missing = |one: &Written| Hint::NoBlock(quoted(&name).into(), one.name.into());
            told.extend(hints.iter().map(missing));
        }
    }
}

impl Block {
    /// What a block's hints say of its tables; what is not there is told of.
    pub(in crate::parser) fn advice(self, from: &[TableRef], told: &mut Vec<Hint>) -> Vec<Advice> {
        if self.hints.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        from.iter().for_each(|table| aliases(table, &mut names));
        let mut advice = Vec::new();
        let mut seen: Vec<(&str, Option<Name>)> = Vec::new();
        for mut hint in self.hints {
            // NO_INDEX behind INDEX says something of the same; of the orders only JOIN_ORDER goes together.
            let about = match hint.name.strip_prefix("NO_").unwrap_or(hint.name) {
                "JOIN_ORDER" => None,
                name if is_of_keys(name) && name != "INDEX_MERGE" => {
                    Some((name, hint.words.first().map(|(table, _)| table.clone())))
                }
                name if name.starts_with("JOIN_") => Some((name, None)),
                _ => None,
            };
            if let Some(about) = about {
                if seen.contains(&about) {
                    told.push(Hint::Conflict(shown(&hint).into()));
                    continue;
                }
                seen.push(about);
            }
            if tell_unresolved(&mut hint, &names, self.number, told) {
                advice.extend(meaning(hint, self.number));
            }
        }
        advice
    }
}

/// Tells of tables that are not there, and leaves them out; false if nothing of the hint is left.
fn tell_unresolved(hint: &mut Written, names: &[Name], number: u32, told: &mut Vec<Hint>) -> bool {
    let is_there = |name: &Name| names.contains(name);
    let place = |name: &Name| place_of(name, number);
    let mut tell = |name: String| told.push(Hint::Unresolved(name.into(), hint.name.into()));
    if hint.name.ends_with("SEMIJOIN") {
        return true;
    }
    if has_keys(hint.name) {
        let Some(((table, _), keys)) = hint.words.split_first() else { return true };
        if !is_there(table) {
            tell(place(table));
            keys.iter().for_each(|(key, _)| tell(format!("{} {}", place(table), quoted(key))));
            return false;
        }
        return true;
    }
    let is_order = hint.name.starts_with("JOIN_");
    let missing: Vec<&Name> =
        hint.words.iter().map(|(name, _)| name).filter(|name| !is_there(name)).collect();
    missing.iter().for_each(|name| tell(if is_order { quoted(name) } else { place(name) }));
    if missing.is_empty() {
        return true;
    }
    hint.words.retain(|(name, _)| is_there(name));
    !is_order && !hint.words.is_empty()
}

/// The names of the tables of a part of FROM.
fn aliases(table: &TableRef, into: &mut Vec<Name>) {
    match table {
        TableRef::Table(factor) => {
            into.push(factor.alias.clone().unwrap_or_else(|| factor.name.table.clone()))
        }
        TableRef::Derived { alias, .. } => into.push(alias.clone()),
        TableRef::Join(join) => {
            aliases(&join.left, into);
            aliases(&join.right, into);
        }
    }
}

fn without_effect(hint: &Written) -> Hint {
    Hint::Advice(hint.name.into(), "".into())
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A table of a block, as it is told of.
fn place_of(name: &str, number: u32) -> String {
    format!("{}@`select#{number}`", quoted(name))
}

/// The hint as it is told of.
fn shown(hint: &Written) -> String {
    let words: Vec<String> = hint.words.iter().map(|(word, _)| quoted(word)).collect();
    match words.split_first() {
        Some((table, keys)) if is_of_keys(hint.name) && !keys.is_empty() => {
            format!("{}({table}  {})", hint.name, keys.join(", "))
        }
        Some((table, _)) if is_of_keys(hint.name) => format!("{}({table} )", hint.name),
        Some(_) => format!("{}( {})", hint.name, words.join(", ")),
        None => format!("{}()", hint.name),
    }
}

fn meaning(hint: Written, number: u32) -> Option<Advice> {
    let on = !hint.name.starts_with("NO_");
    let order = |order: OrderAdvice, words: Vec<Name>| Some(Advice::Order { order, tables: words });
    let mut words: Vec<Name> = hint.words.into_iter().map(|(word, _)| word).collect();
    let way = match hint.name.strip_prefix("NO_").unwrap_or(hint.name) {
        what @ ("INDEX" | "JOIN_INDEX" | "GROUP_INDEX" | "ORDER_INDEX") => {
            if words.is_empty() || on && words.len() == 1 {
                // Any key may be used.
                return None;
            }
            let table = words.remove(0);
            let place = place_of(&table, number).into();
            let serving = match what {
                "GROUP_INDEX" => KeyUse::Groups,
                "ORDER_INDEX" => KeyUse::Order,
                _ => KeyUse::Rows,
            };
            return Some(Advice::Keys { table, keys: words, only: on, serving, name: hint.name, place });
        }
        "JOIN_FIXED_ORDER" => return order(OrderAdvice::Fixed, words),
        "JOIN_ORDER" => return order(OrderAdvice::Relative, words),
        "JOIN_PREFIX" => return order(OrderAdvice::Prefix, words),
        "JOIN_SUFFIX" => return order(OrderAdvice::Suffix, words),
        "SEMIJOIN" => {
            // Rows of a query that is joined are made different first; other ways to do it are not taken.
            if !words.is_empty() && !words.iter().any(|word| word.eq_ignore_ascii_case("MATERIALIZATION")) {
                return None;
            }
            words.clear();
            WayAdvice::Semijoin
        }
        "INDEX_MERGE" => {
            words.truncate(1);
            WayAdvice::IndexMerge
        }
        "ICP" => {
            words.truncate(1);
            WayAdvice::Entries
        }
        "MERGE" => WayAdvice::Merge,
        "DERIVED_CONDITION_PUSHDOWN" => WayAdvice::Pushdown,
        _ => WayAdvice::Hash,
    };
    Some(Advice::Way { way, on, tables: words })
}
