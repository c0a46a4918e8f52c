//! The order of a join: what each table costs behind those that are placed, and the cheapest sequence.
//!
//! A table is *looked up* for each row of those before it, or read once and *kept*: hashed where an equality
//! leads to it, else gone through for each row. Rows of an equality between columns are estimated by the
//! different values of the two. Up to [`EXACT_MAX`] tables every subset has its best order (Selinger et al.,
//! 1979); above, the table that adds least comes next. Where costs are equal the order written stays.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnstile_catalog::dictionary::Table;

use super::super::access::{self, Choice};
use super::super::facts::{Bound, Fact};
use super::super::from::PendingKind;
use super::super::hints;
use super::super::query::{Access, CommonRows, KeyRange, Partners};
use super::part::Part;
use super::selectivity::{Known, selectivity};
use super::{Condition, StepPlanner, hash};

/// Tables that are weighed: of more the order written stays.
pub(super) const PARTS_MAX: usize = 60;

/// Tables whose order is found exactly.
const EXACT_MAX: usize = 10;

/// Finding one row by a key, in rows read one after another.
const SEEK: f64 = 1.5;

/// Going through a row that is kept in memory.
const KEPT: f64 = 0.3;

/// Keeping a row, and putting it under its key.
const KEEP: f64 = 0.7;

/// Making a row of the result.
const MADE: f64 = 0.1;

/// Rows of a source of which nothing is known.
const UNKNOWN: f64 = 1000.0;

/// Rows of a table of the server's own.
const VIRTUAL: f64 = 500.0;

/// Finding the first of several rows by a key.
const FIRST: f64 = 2.5;

/// Looks for one partner by a key that cost so many times what hashing costs may still be cheaper.
const SELDOM: f64 = 4.0;

/// At most this share of rows is taken to have a partner, where those that have none are wanted.
const FOUND_MAX: f64 = 0.9;

/// Stands for tables that are read later than any of these.
const NEVER: u64 = 1 << 63;

/// One way to come to a table's rows.
#[derive(Clone, Copy, Debug)]
struct Way {
    once: f64,
    each: f64,
}

/// What a table costs behind others.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Rows of it for each row before it.
    rows: f64,
    looked_up: Way,
    hashed: Option<Way>,
}

/// A place in the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Which part.
    pub part: usize,
    /// It is kept in memory and hashed.
    pub hashed: bool,
    /// Rows of it for each row before it.
    pub rows: f64,
}

/// A sequence, what it costs and how many rows it gives.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub placed: Vec<Placed>,
    pub cost: f64,
    pub rows: f64,
}

/// A condition seen from a part.
struct Tested<'w> {
    condition: &'w Condition,
    /// Other parts that it reads.
    others: u64,
    /// Columns of the part that it reads.
    columns: Vec<usize>,
}

struct Weighed<'w> {
    part: &'w Part,
    /// Parts that must stand before it.
    needs: u64,
    facts: Vec<(&'w Fact, u64)>,
    tested: Vec<Tested<'w>>,
    reaches: RefCell<FxHashMap<u64, Reach>>,
    /// By the facts that were used.
    choices: RefCell<HashMap<Vec<usize>, Rc<Choice>>>,
    /// The share of rows that passes each of `tested`, once it was asked for.
    shares: RefCell<FxHashMap<*const Condition, f64>>,
}

impl Weighed<'_> {
    /// Facts that can be used behind these parts. Of several that set one column equal to columns of others
    /// one is enough.
    fn usable(&self, placed: u64) -> Vec<usize> {
        let mut equal: Vec<usize> = Vec::new();
        let mut used = Vec::new();
        for (at, (fact, needs)) in
            self.facts.iter().enumerate().filter(|(_, (_, needs))| needs & !placed == 0)
        {
            if *needs != 0
                && let [bounds] = fact.any_of.as_slice()
                && let [(column, Bound { equal: Some(_), .. })] = bounds.as_slice()
            {
                if equal.contains(column) {
                    continue;
                }
                equal.push(*column);
            }
            used.push(at);
        }
        used
    }
}

/// Weighs the parts of one join.
pub(super) struct Weights<'w, 'b, 'a, 'p> {
    planner: &'w StepPlanner<'b, 'a, 'p>,
    parts: Vec<Weighed<'w>>,
    first: bool,
    /// Every sequence that was looked at, for the trace; none where nobody wants to know.
    considered: Option<RefCell<Vec<Sequence>>>,
}

impl<'w, 'b, 'a, 'p> Weights<'w, 'b, 'a, 'p> {
    /// Of parts with their facts, under conditions. `inside`: they stand behind all others that they read.
    pub fn new(
        planner: &'w StepPlanner<'b, 'a, 'p>,
        parts: &'w [Part],
        facts: &'w [Vec<Fact>],
        conditions: &'w [Condition],
        inside: bool,
    ) -> Weights<'w, 'b, 'a, 'p> {
        let mut owner = HashMap::new();
        for (nth, part) in parts.iter().enumerate() {
            part.places.iter().for_each(|place| {
                owner.insert(*place, nth);
            });
        }
        let mask = |reads: &[usize], own: usize| {
            reads.iter().fold(0, |mask, place| match owner.get(place) {
                Some(nth) if *nth == own => mask,
                Some(nth) => mask | 1 << nth,
                None if inside || planner.is_known(*place) => mask,
                None => mask | NEVER,
            })
        };
        let weighed = parts.iter().enumerate().map(|(nth, part)| {
            let asked: &[Condition] = if part.left_join { &part.on } else { conditions };
            let own = |place: &&usize| owner.get(*place) == Some(&nth);
            let inner = part.within.iter().chain(part.members.iter().flat_map(|member| &member.on));
            let needed = if part.left_join { part.on.iter().chain(inner) } else { [].iter().chain(inner) };
            let base = part.places.first().copied().unwrap_or(0);
            Weighed {
                part,
                needs: needed.fold(0, |needs, one| needs | mask(&one.reads, nth)) & !NEVER,
                facts: facts[nth].iter().map(|fact| (fact, mask(&fact.reads, nth))).collect(),
                tested: asked
                    .iter()
                    .filter(|one| one.reads.iter().any(|place| own(&place)))
                    .map(|condition| Tested {
                        condition,
                        others: mask(&condition.reads, nth),
                        columns: condition.reads.iter().filter(own).map(|place| place - base).collect(),
                    })
                    .collect(),
                reaches: RefCell::default(),
                choices: RefCell::default(),
                shares: RefCell::default(),
            }
        });
        let mut weighed: Vec<Weighed<'_>> = weighed.collect();
        if !inside && !planner.block.hints.is_empty() {
            let aliases = |one: &Weighed<'_>| {
                let mut aliases: Vec<_> = one.part.places.iter().map(|at| planner.alias(*at)).collect();
                aliases.dedup();
                aliases
            };
            let (aliases, needs): (Vec<_>, Vec<_>) =
                weighed.iter().map(|one| (aliases(one), one.needs)).unzip();
            let ordered = hints::orders(&planner.block.hints, &aliases, &needs);
            weighed.iter_mut().zip(ordered).for_each(|(one, needs)| one.needs = needs);
        }
        let traces = !inside && planner.block.context.trace.is_some_and(|trace| trace.orders);
        let considered = traces.then(RefCell::default);
        Weights { planner, parts: weighed, first: !inside && planner.filled.is_empty(), considered }
    }

    /// Which parts must stand before each.
    pub fn needs(&self) -> impl Iterator<Item = u64> {
        self.parts.iter().map(|one| one.needs)
    }

    /// The sequences that were looked at.
    pub fn considered(&self) -> Vec<Sequence> {
        self.considered.as_ref().map(RefCell::take).unwrap_or_default()
    }

    /// The best order.
    pub fn best(&self) -> Sequence {
        let start = Sequence { placed: Vec::new(), cost: 0.0, rows: 1.0 };
        if self.parts.len() > EXACT_MAX { self.greedy(start) } else { self.exact(start) }
    }

    /// The order written, with what it costs.
    pub fn written(&self) -> Sequence {
        let start = Sequence { placed: Vec::new(), cost: 0.0, rows: 1.0 };
        (0..self.parts.len()).fold(start, |sequence, nth| self.and(&sequence, nth))
    }

    fn may_follow(&self, placed: u64, nth: usize) -> bool {
        let weighed = &self.parts[nth];
        let stands_first = placed == 0 && weighed.part.left_join && self.first;
        placed >> nth & 1 == 0 && weighed.needs & !placed == 0 && !stands_first
    }

    fn exact(&self, start: Sequence) -> Sequence {
        let count = self.parts.len();
        let mut best: Vec<Option<Sequence>> = vec![None; 1 << count];
        best[0] = Some(start);
        for placed in 0..best.len() {
            let Some(before) = best[placed].take() else { continue };
            for nth in (0..count).filter(|nth| self.may_follow(placed as u64, *nth)) {
                let next = self.and(&before, nth);
                let slot = &mut best[placed | 1 << nth];
                if slot.as_ref().is_none_or(|known| next.cost < known.cost) {
                    *slot = Some(next);
                }
            }
            if placed + 1 == best.len() {
                return before;
            }
        }
        self.written()
    }

    fn greedy(&self, start: Sequence) -> Sequence {
        let mut sequence = start;
        while sequence.placed.len() < self.parts.len() {
            let placed = sequence.mask();
            let next = (0..self.parts.len())
                .filter(|nth| self.may_follow(placed, *nth))
                .map(|nth| self.and(&sequence, nth))
                .min_by(|a, b| (a.cost + a.rows).total_cmp(&(b.cost + b.rows)));
            match next {
                Some(next) => sequence = next,
                None => return self.written(),
            }
        }
        sequence
    }

    /// A sequence with one part more.
    fn and(&self, before: &Sequence, nth: usize) -> Sequence {
        let reach = self.reach(nth, before.mask());
        let cost = |way: Way| way.once + way.each * before.rows;
        let looked_up = cost(reach.looked_up);
        let hashed = reach.hashed.map(cost).filter(|hashed| *hashed < looked_up);
        let part = &self.parts[nth].part;
        let outer = part.left_join && part.partners == Partners::All;
        let rows = if outer { reach.rows.max(1.0) } else { reach.rows };
        let rows = (before.rows * rows).max(1.0);
        let mut placed = before.placed.clone();
        placed.push(Placed { part: nth, hashed: hashed.is_some(), rows: reach.rows });
        let next = Sequence { placed, cost: before.cost + hashed.unwrap_or(looked_up) + rows * MADE, rows };
        if let Some(considered) = &self.considered {
            considered.borrow_mut().push(next.clone());
        }
        next
    }

    /// How a table is read behind those of a sequence before it.
    pub fn choice_of_last(&self, sequence: &Sequence) -> Option<Rc<Choice>> {
        let (last, before) = sequence.placed.split_last()?;
        let placed = before.iter().fold(0, |mask, one| mask | 1 << one.part);
        self.choice(last.part, placed)
    }

    fn choice(&self, nth: usize, placed: u64) -> Option<Rc<Choice>> {
        let weighed = &self.parts[nth];
        let PendingKind::Table { nth: place, table, forbidden } = &weighed.part.kind else { return None };
        let used = weighed.usable(placed);
        let mut choices = weighed.choices.borrow_mut();
        let choose = |used: &Vec<usize>| {
            let facts: Vec<&Fact> = used.iter().map(|at| weighed.facts[*at].0).collect();
            let allowed = |key| !forbidden.contains(&key);
            let how = (self.planner.locks(*place), self.planner.merges(*place));
            access::choose(table, &facts, &allowed, how, self.planner.block.context.dives())
        };
        Some(choices.entry(used).or_insert_with_key(|used| Rc::new(choose(used))).clone())
    }

    fn reach(&self, nth: usize, placed: u64) -> Reach {
        let weighed = &self.parts[nth];
        let relevant = weighed.facts.iter().map(|(_, needs)| *needs);
        let tested = weighed.tested.iter().map(|one| one.others);
        let key = relevant.chain(tested).filter(|needs| needs & !placed == 0).fold(0, |all, one| all | one);
        // The first table is not kept.
        let key = if placed == 0 && self.first { NEVER } else { key };
        if let Some(known) = weighed.reaches.borrow().get(&key) {
            return *known;
        }
        let reach = self.weigh(nth, placed);
        weighed.reaches.borrow_mut().insert(key, reach);
        reach
    }

    fn weigh(&self, nth: usize, placed: u64) -> Reach {
        let weighed = &self.parts[nth];
        let leads = placed == 0 && self.first;
        let (size, once) = match &weighed.part.kind {
            PendingKind::Table { .. } => return self.weigh_table(nth, placed),
            PendingKind::Group { .. } => {
                let inner = self.planner.weigh_group(weighed.part);
                let looked_up = Way { once: 0.0, each: inner.cost };
                return Reach { rows: inner.rows, looked_up, hashed: None };
            }
            PendingKind::Derived { plan, .. } | PendingKind::Distinct { plan, .. } => {
                (plan.rows(), plan.rows())
            }
            // Once a round, and few rows mostly.
            PendingKind::Common { rows: CommonRows::Previous(_), .. } => (2.0, 0.0),
            PendingKind::Common { rows: CommonRows::Of(plan), .. } => (plan.rows(), plan.rows()),
            PendingKind::Virtual { .. } => (VIRTUAL, VIRTUAL),
            PendingKind::Expanded { .. } => (UNKNOWN, 0.0),
        };
        let rows = size * self.passing(weighed, placed, &[], &[]);
        let hashed = self.is_hashed(weighed, placed);
        Reach {
            rows,
            looked_up: if leads {
                Way { once: once + size, each: 0.0 }
            } else {
                Way { once, each: size * KEPT }
            },
            hashed: hashed.then_some(Way { once: once + size * KEEP, each: 1.0 + rows * KEPT }),
        }
    }

    fn weigh_table(&self, nth: usize, placed: u64) -> Reach {
        let weighed = &self.parts[nth];
        let (PendingKind::Table { nth: place, table, .. }, Some(chosen), Some(fixed)) =
            (&weighed.part.kind, self.choice(nth, placed), self.choice(nth, 0))
        else {
            return Reach { rows: UNKNOWN, looked_up: Way { once: 0.0, each: UNKNOWN }, hashed: None };
        };
        let locks = self.planner.locks(*place);
        let best = &chosen.best;
        let mut counted: Vec<(Vec<usize>, f64)> = fixed
            .offers
            .iter()
            .filter(|offer| offer.counted)
            .map(|offer| (used_columns(table, &offer.access), offer.rows / fixed.table_rows))
            .collect();
        counted.sort_by(|a, b| a.1.total_cmp(&b.1));
        let share = self.passing(weighed, placed, &used_columns(table, &best.access), &counted);
        let rows = best.rows * share;
        if placed == 0 && self.first {
            return Reach { rows, looked_up: Way { once: best.cost, each: 0.0 }, hashed: None };
        }
        let partners = weighed.part.partners;
        // A look for a partner ends with the first.
        let cost = if partners == Partners::All { best.cost } else { best.cost.min(FIRST / share) };
        let rows = match partners {
            Partners::All => rows,
            Partners::First => rows.min(1.0),
            Partners::None => 1.0 - rows.min(FOUND_MAX),
        };
        let is_fixed = best.access.is_fixed();
        let alone = if is_fixed { best } else { &fixed.best };
        let looked_up = match is_fixed && !locks {
            true => Way { once: best.cost, each: best.rows * KEPT },
            false => Way { once: 0.0, each: SEEK + cost },
        };
        let may_hash = !locks && alone.access.is_fixed() && self.is_hashed(weighed, placed);
        let mut hashed =
            may_hash.then_some(Way { once: alone.cost + alone.rows * KEEP, each: 1.0 + rows * KEPT });
        if partners != Partners::All && !is_fixed {
            // For values that come again nothing is looked for again, which nobody knows beforehand.
            hashed = hashed.map(|way| Way { once: way.once * SELDOM, each: way.each * SELDOM });
        }
        Reach { rows, looked_up, hashed }
    }

    /// The share of rows that passes the conditions which can be tested, but for those that are about these
    /// columns alone. Of constants, keys may have counted what they find.
    fn passing(
        &self,
        weighed: &Weighed<'_>,
        placed: u64,
        served: &[usize],
        counted: &[(Vec<usize>, f64)],
    ) -> f64 {
        if !self.planner.block.context.ways.weighs_conditions {
            return 1.0;
        }
        let testable = weighed.tested.iter().filter(|one| one.others & !placed == 0);
        let within = |one: &Tested<'_>, columns: &[usize]| one.columns.iter().all(|at| columns.contains(at));
        let mut rest: Vec<&Tested<'_>> = testable.filter(|one| !within(one, served)).collect();
        let mut share = 1.0;
        for (columns, found) in counted {
            let before = rest.len();
            rest.retain(|one| one.others != 0 || !within(one, columns));
            if rest.len() < before {
                share *= found;
            }
        }
        let column = |place: usize| self.column(place);
        let known = Known { column: &column, eval: self.planner.block.context.eval };
        let asked = |one: &&Tested<'_>| {
            let mut shares = weighed.shares.borrow_mut();
            let ask = || selectivity(&one.condition.filter.expr, known);
            *shares.entry(std::ptr::from_ref(one.condition)).or_insert_with(ask)
        };
        share * rest.iter().map(asked).product::<f64>()
    }

    /// A column of a table, by its place in the tuple.
    fn column(&self, place: usize) -> Option<(Arc<Table>, usize)> {
        let part = self.parts.iter().find(|one| one.part.places.contains(&place))?.part;
        let PendingKind::Table { table, .. } = &part.kind else { return None };
        Some((table.clone(), place - part.places.first()?))
    }

    /// An equality with what is placed leads to it.
    fn is_hashed(&self, weighed: &Weighed<'_>, placed: u64) -> bool {
        let base = weighed.part.places.first().copied().unwrap_or(0);
        if placed == 0 && self.first || !self.planner.hashes(base) {
            return false;
        }
        let here = |place: usize| weighed.part.places.contains(&place);
        let known = |place: usize| !here(place);
        let mut testable = weighed.tested.iter().filter(|one| one.others & !placed == 0);
        testable.any(|one| hash::pair(self.planner.block, one.condition, &here, &known).is_some())
    }
}

impl Sequence {
    fn mask(&self) -> u64 {
        self.placed.iter().fold(0, |mask, one| mask | 1 << one.part)
    }

    /// As many parts as there are, in the order written.
    pub fn unweighed(count: usize) -> Sequence {
        let placed = (0..count).map(|part| Placed { part, hashed: true, rows: UNKNOWN }).collect();
        Sequence { placed, cost: f64::MAX, rows: UNKNOWN }
    }
}

/// Columns that a key's ranges are about.
fn used_columns(table: &Table, access: &Access) -> Vec<usize> {
    let Some(key) = access.key else { return Vec::new() };
    let used = |range: &KeyRange| range.equal.len() + usize::from(range.is_bounded());
    let used = access.ranges.iter().map(used).min().unwrap_or(0);
    table.keys()[key].parts.iter().take(used).map(|part| part.column).collect()
}
