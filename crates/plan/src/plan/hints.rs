//! Optimizer hints of a block: which keys its tables may be read by, in which order they are joined, and
//! which ways of running it are wanted. None changes what is found, so what cannot be done is not.

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::WarningLevel;
use turnstile_syntax::ast::{Advice, KeyUse, OrderAdvice, Query, QueryBody, WayAdvice};
use turnstile_values::error::SqlError;

use super::block::Block;

/// What is said last of a way for a table; what names tables counts more than what names none.
pub fn way(hints: &[Advice], wanted: WayAdvice, alias: &str) -> Option<bool> {
    let mut of_all = None;
    let mut of_table = None;
    for hint in hints {
        if let Advice::Way { way, on, tables } = hint
            && *way == wanted
        {
            if tables.is_empty() {
                of_all = Some(*on);
            } else if tables.iter().any(|table| **table == *alias) {
                of_table = Some(*on);
            }
        }
    }
    of_table.or(of_all)
}

/// Whether a query may be joined; None if nothing is said of it.
pub fn joins(query: &Query) -> Option<bool> {
    match &query.body {
        QueryBody::Select(select) => way(&select.hints, WayAdvice::Semijoin, ""),
        _ => None,
    }
}

/// Whether the tables are joined as written.
pub fn is_fixed(hints: &[Advice]) -> bool {
    hints.iter().any(|hint| matches!(hint, Advice::Order { order: OrderAdvice::Fixed, .. }))
}

impl Block<'_, '_> {
    /// Whether a way is taken for a table of the block: by its hints, else `otherwise`.
    pub(super) fn takes(&self, wanted: WayAdvice, alias: &str, otherwise: bool) -> bool {
        self.advised(wanted, alias).unwrap_or(otherwise)
    }

    /// What hints say of a way for a table of the block.
    pub(super) fn advised(&self, wanted: WayAdvice, alias: &str) -> Option<bool> {
        if self.hints.is_empty() { None } else { way(&self.hints, wanted, alias) }
    }

    /// The keys of a table that hints forbid for some use. Keys that are not there are told of.
    pub(super) fn forbidden_by_hints(&self, alias: &str, table: &Table, for_use: KeyUse) -> Vec<usize> {
        let mut forbidden = Vec::new();
        for hint in &self.hints {
            let Advice::Keys { table: meant, keys, only, serving, name, place } = hint else { continue };
            if **meant != *alias || *serving != for_use {
                continue;
            }
            let mut named = Vec::new();
            for key in keys {
                match table.key_position(key).filter(|nth| table.keys()[*nth].visible) {
                    Some(nth) => named.push(nth),
                    None => {
                        let told = SqlError::unresolved_in_hint(format!("{place} `{key}`"), name);
                        self.context.eval.warnings.push(WarningLevel::Warning, told);
                    }
                }
            }
            let all = 0..table.keys().len();
            match only {
                // What has no key of those named is read as if nothing had been said.
                true if named.is_empty() => {}
                true => forbidden.extend(all.filter(|nth| !named.contains(nth))),
                false if keys.is_empty() => forbidden.extend(all),
                false => forbidden.extend(named),
            }
        }
        forbidden
    }
}

/// Which parts of a join must stand before each, by hints: a bit for each part. `aliases`: the tables of each
/// part. Empty if nothing is said that can be done.
pub fn orders(hints: &[Advice], aliases: &[Vec<Box<str>>], needs: &[u64]) -> Vec<u64> {
    let mut wanted = needs.to_vec();
    for hint in hints {
        let Advice::Order { order, tables } = hint else { continue };
        let is_part = |names: &Vec<Box<str>>, table: &str| names.iter().any(|name| **name == *table);
        let part_of = |table: &str| aliases.iter().position(|names| is_part(names, table));
        let mut parts: Vec<usize> = tables.iter().filter_map(|table| part_of(table)).collect();
        parts.dedup();
        let named = parts.iter().fold(0, |mask, part| mask | 1u64 << part);
        let others = |nth: &usize| named >> nth & 1 == 0;
        let mut with = wanted.clone();
        for pair in parts.windows(2) {
            with[pair[1]] |= 1 << pair[0];
        }
        match order {
            OrderAdvice::Prefix => (0..with.len()).filter(others).for_each(|nth| with[nth] |= named),
            OrderAdvice::Suffix => {
                let rest = (0..with.len()).filter(others).fold(0, |mask, nth| mask | 1u64 << nth);
                parts.iter().for_each(|part| with[*part] |= rest);
            }
            OrderAdvice::Relative | OrderAdvice::Fixed => {}
        }
        if has_order(&with) {
            wanted = with;
        }
    }
    wanted
}

/// Whether parts can stand in some order behind all that they need.
fn has_order(needs: &[u64]) -> bool {
    let mut placed = 0u64;
    loop {
        let next = (0..needs.len()).find(|nth| placed >> nth & 1 == 0 && needs[*nth] & !placed == 0);
        match next {
            Some(nth) => placed |= 1 << nth,
            None => return placed.count_ones() as usize == needs.len(),
        }
    }
}
