//! Which key a table is read by.
//!
//! A key can use what is said of its first parts being equal, and one more part being in a range. What
//! several facts say is multiplied out into ranges as long as each of them narrows every range. The cheapest
//! key wins. The cost is the rows that are looked at: for changes and locking reads these are the rows that
//! are locked, which others wait for, so any key is better than the whole table; a plain read fetches each
//! row that it finds by a secondary key from the tree of rows, so that a table of which most is wanted is
//! read whole.

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::variables::Merges;

use super::estimate::{Dives, TableSize};
use super::facts::{ALTERNATIVES_MAX, Bound, Bounds, Fact};
use super::query::{Access, Candidate, KeyRange, Operand};

/// Facts of several alternatives that one key looks at.
const FACTS_MAX: usize = 64;

/// Fetching a row by an entry of a secondary key costs so many rows read one after another.
const FETCH: f64 = 1.5;

/// The same where it is known how many there are.
const FETCH_COUNTED: f64 = 2.5;

/// What can be had of a table.
#[derive(Debug)]
pub struct Choice {
    /// The best way: the whole table if no key offers itself.
    pub best: Candidate,
    /// What each key that can be used offers.
    pub offers: Vec<Candidate>,
    /// Rows of the table.
    pub table_rows: f64,
}

/// The best way that a set of facts offers.
pub fn choose(
    table: &Table,
    facts: &[&Fact],
    allowed: &dyn Fn(usize) -> bool,
    (locks, merges): (bool, Merges),
    dives: Dives<'_>,
) -> Choice {
    let size = TableSize::of(table, dives);
    let mut offers = Vec::new();
    for (nth, key) in table.keys().iter().enumerate() {
        if key.visible && allowed(nth) {
            offers.extend(by_key(table, nth, facts, &size));
        }
    }
    let whole = Candidate {
        access: Access::full(),
        also: Vec::new(),
        within: Vec::new(),
        rows: size.rows,
        cost: size.rows,
        counted: false,
    };
    let cheapest = offers.iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    let best = match cheapest {
        // A guess is not good enough to read all.
        Some(one) if locks || !one.counted || one.cost <= whole.cost => one.clone(),
        _ => whole,
    };
    let best = merged(table, facts, (allowed, merges), &size, best.cost).unwrap_or(best);
    let both = if locks || !merges.intersections { None } else { intersected(table, &offers, &size) };
    let best = both.filter(|both| both.cost < best.cost).unwrap_or(best);
    Choice { best, offers, table_rows: size.rows }
}

/// What is said of each part of a key, and how much of that the key can use.
#[derive(Clone)]
struct Parts(Vec<Bound>);

impl Parts {
    /// Parts that are equal, and sides of the next one that are bounded.
    fn reach(&self) -> (usize, usize) {
        let equal = self.0.iter().take_while(|bound| bound.equal.is_some()).count();
        (equal, self.0.get(equal).map_or(0, Bound::sides))
    }

    fn add(&mut self, table: &Table, key: usize, bounds: &Bounds) {
        for (column, bound) in bounds {
            let parts = table.keys()[key].parts.iter().zip(&table.key_parts[key]).zip(&mut self.0);
            for ((_, codec), known) in parts.filter(|((part, _), _)| part.column == *column) {
                match &bound.like {
                    // A pattern says something of texts in its own order.
                    Some(like) if codec.kind.collation() != Some(like.operand.collation) => {
                        known.add(&Bound { like: None, ..bound.clone() });
                    }
                    _ => known.add(bound),
                }
            }
        }
    }

    fn into_range(self) -> KeyRange {
        let (equal, _) = self.reach();
        let mut parts = self.0.into_iter();
        let equal: Vec<Operand> = parts.by_ref().take(equal).filter_map(|bound| bound.equal).collect();
        let next = parts.next().unwrap_or_default();
        KeyRange { equal, lower: next.lower, upper: next.upper, like: next.like, present: false }
    }
}

/// The ranges that a key can make of what is said; None if that says nothing of its first part.
fn ranges(table: &Table, key: usize, facts: &[&Fact]) -> Option<Vec<KeyRange>> {
    let parts = &table.keys()[key].parts;
    let of_key =
        |bounds: &Bounds| bounds.iter().any(|(column, _)| parts.iter().any(|part| part.column == *column));
    let mut first = Parts(vec![Bound::default(); parts.len()]);
    for fact in facts {
        if let [bounds] = fact.any_of.as_slice() {
            first.add(table, key, bounds);
        }
    }
    let several = facts.iter().filter(|fact| fact.any_of.len() > 1 && fact.any_of.iter().all(of_key));
    let mut several: Vec<&Fact> = several.take(FACTS_MAX).copied().collect();
    several.sort_by_key(|fact| fact.any_of.len());
    let mut all = vec![first];
    while let Some((nth, more)) = several
        .iter()
        .enumerate()
        .find_map(|(nth, fact)| multiplied(table, key, &all, fact).map(|more| (nth, more)))
    {
        several.remove(nth);
        all = more;
    }
    let usable = all.iter().all(|parts| parts.reach() != (0, 0));
    usable.then(|| all.into_iter().map(Parts::into_range).collect())
}

/// Each of `all` with each alternative of a fact, if all of these reach further.
fn multiplied(table: &Table, key: usize, all: &[Parts], fact: &Fact) -> Option<Vec<Parts>> {
    if all.len() * fact.any_of.len() > ALTERNATIVES_MAX {
        return None;
    }
    let mut more = Vec::with_capacity(all.len() * fact.any_of.len());
    for parts in all {
        let reach = parts.reach();
        for bounds in &fact.any_of {
            let mut narrower = parts.clone();
            narrower.add(table, key, bounds);
            if narrower.reach() <= reach {
                return None;
            }
            more.push(narrower);
        }
    }
    Some(more)
}

fn by_key(table: &Table, nth: usize, facts: &[&Fact], size: &TableSize<'_>) -> Option<Candidate> {
    let key = &table.keys()[nth];
    let ranges = ranges(table, nth, facts)?;
    let null_safe = |operand: &Operand| operand.null_safe;
    let whole = key.parts.iter().all(|part| part.prefix.is_none());
    let one_each =
        |range: &KeyRange| range.equal.len() == key.parts.len() && !range.equal.iter().any(null_safe);
    let unique = key.unique && whole && ranges.iter().all(one_each);
    let access = Access { key: Some(nth), ranges, reverse: false, unique };
    let mut found = size.found(table, &access);
    if key.primary {
        // A part of the tree of rows is never more than the whole: what is counted may be a little off.
        found.rows = found.rows.min(size.rows);
    }
    let fetch = match (key.primary || unique, found.asked) {
        (true, _) => 1.0,
        (false, true) => FETCH_COUNTED,
        (false, false) => FETCH,
    };
    let cost = (found.rows * fetch).max(1.0);
    let (also, within) = (Vec::new(), Vec::new());
    Some(Candidate { access, also, within, rows: found.rows, cost, counted: found.asked })
}

/// Most keys that find each row together.
const INTERSECTED_MAX: usize = 4;

/// Going through an entry, whose row is fetched only if other keys find it too, costs so many rows read one
/// after another.
const ENTRY: f64 = 0.5;

/// Keys that each find many rows, and few of them together, if they are about columns of their own:
/// `a = 1 AND b = 2`. Rows are not locked that way: entries of all the keys would be, and what is read of one
/// key is no longer so when the row is locked by another.
fn intersected(table: &Table, offers: &[Candidate], size: &TableSize<'_>) -> Option<Candidate> {
    let known = |offer: &&Candidate| offer.counted || size.is_known();
    let fits = |offer: &&Candidate| {
        let access = &offer.access;
        let secondary = access.key.is_some_and(|key| !table.keys()[key].primary);
        secondary && !access.unique && access.is_fixed() && access.is_of_values(table)
    };
    let mut ways: Vec<&Candidate> = offers.iter().filter(known).filter(fits).collect();
    ways.sort_by(|a, b| a.rows.total_cmp(&b.rows));
    let mut columns: Vec<usize> = Vec::new();
    let mut taken: Vec<&Candidate> = Vec::new();
    let (mut rows, mut cost, mut gone_through) = (0.0, f64::INFINITY, 0.0);
    for way in ways {
        let own = way.access.key.map_or(&[][..], |key| &table.keys()[key].parts);
        if own.iter().any(|part| columns.contains(&part.column)) || taken.len() == INTERSECTED_MAX {
            continue;
        }
        let left = if taken.is_empty() { way.rows } else { rows * (way.rows / size.rows).min(1.0) };
        let through = gone_through + way.rows * ENTRY;
        let costs = if taken.is_empty() { way.cost } else { through + left * FETCH_COUNTED };
        if costs < cost {
            (rows, cost, gone_through) = (left, costs, through);
            columns.extend(own.iter().map(|part| part.column));
            taken.push(way);
        }
    }
    // The key that finds most is gone through last: what the others find is kept in memory.
    let (last, others) = taken.split_last().filter(|(_, others)| !others.is_empty())?;
    let within = others.iter().map(|way| way.access.clone()).collect();
    Some(Candidate { access: last.access.clone(), also: Vec::new(), within, rows, cost, counted: false })
}

/// Most keys that find rows together.
const MERGED_MAX: usize = 16;

/// A fact whose alternatives are each found by a key, if that costs less: `a = 1 OR b = 2`.
fn merged(
    table: &Table,
    facts: &[&Fact],
    (allowed, merges): (&dyn Fn(usize) -> bool, Merges),
    size: &TableSize<'_>,
    most: f64,
) -> Option<Candidate> {
    if !merges.unions && !merges.sorted_unions {
        return None;
    }
    // Whatever can be done with values of whole keys can be done with ranges.
    let may = |access: &Access| merges.sorted_unions || access.is_of_values(table);
    let single: Vec<&Fact> = facts.iter().filter(|fact| fact.any_of.len() == 1).copied().collect();
    // Where all are about the first part of one key, that key finds them.
    let begins = |column: usize| {
        let visible = table.keys().iter().enumerate().filter(|(nth, key)| key.visible && allowed(*nth));
        visible.into_iter().any(|(_, key)| key.parts[0].column == column)
    };
    let in_all = |fact: &Fact, column: usize| {
        fact.any_of.iter().all(|bounds| bounds.iter().any(|(other, _)| *other == column))
    };
    let serves =
        |fact: &Fact| fact.any_of[0].iter().any(|(column, _)| begins(*column) && in_all(fact, *column));
    let several = facts.iter().filter(|fact| (2..=MERGED_MAX).contains(&fact.any_of.len()) && !serves(fact));
    let mut best: Option<Candidate> = None;
    for fact in several {
        let mut found: Vec<Candidate> = Vec::new();
        for bounds in &fact.any_of {
            let one = Fact { any_of: vec![bounds.clone()], reads: fact.reads.clone() };
            let mut all = single.clone();
            all.push(&one);
            let keys = (0..table.keys().len()).filter(|nth| table.keys()[*nth].visible && allowed(*nth));
            let offers = keys.filter_map(|nth| by_key(table, nth, &all, size));
            let usable = offers.filter(|one| one.access.is_fixed() && may(&one.access));
            found.extend(usable.min_by(|a, b| a.cost.total_cmp(&b.cost)));
        }
        let cost: f64 = found.iter().map(|one| one.cost).sum();
        let known = best.as_ref().map_or(most, |best| best.cost);
        if found.len() < fact.any_of.len() || cost >= known {
            continue;
        }
        best = Some(together(found, cost));
    }
    // Where one key finds all, its ranges need no comparing of rows.
    best.filter(|best| !best.also.is_empty())
}

fn together(found: Vec<Candidate>, cost: f64) -> Candidate {
    let rows = found.iter().map(|one| one.rows).sum();
    let mut ways: Vec<Access> = Vec::new();
    for Candidate { access, .. } in found {
        match ways.iter_mut().find(|way| way.key == access.key) {
            Some(way) => way.ranges.extend(access.ranges),
            None => ways.push(access),
        }
    }
    ways.iter_mut().for_each(|way| way.unique = false);
    let mut ways = ways.into_iter();
    let access = ways.next().unwrap_or_else(Access::full);
    Candidate { access, also: ways.collect(), within: Vec::new(), rows, cost, counted: false }
}
