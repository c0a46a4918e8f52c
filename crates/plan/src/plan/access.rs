//! Which key a table is read by.
//!
//! A condition is looked through for *facts* about single columns: equal to something, in a list, above,
//! below, in one of several ranges. A key can use facts about its first parts being equal and one more part
//! being in a range. The key with the lowest cost wins: rows to be read, by the
//! statistics of the table, and guessed where there are none. Every condition is evaluated again on the
//! rows found, so facts may be superfluous but the ranges must never be too narrow.

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::statistics::TableStatistics;
use turnstile_engine::ids::IndexId;
use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_syntax::ast::IsTest;
use turnstile_values::collation::Collation;
use turnstile_values::value::Value;

use super::query::{Access, KeyRange, Operand};

/// Most ranges one access makes out of IN lists.
const RANGES_MAX: usize = 20_000;

/// What a condition says about one column.
#[derive(Debug, Clone)]
pub enum Fact {
    /// Equal to it.
    Equal(usize, Operand),
    /// One of these.
    In(usize, Vec<Operand>),
    /// Above; true: or equal.
    Lower(usize, Operand, bool),
    /// Below; true: or equal.
    Upper(usize, Operand, bool),
    /// In one of these ranges, written as ranges without equal parts, or with one.
    Ranges(usize, Vec<KeyRange>),
}

impl Fact {
    fn column(&self) -> usize {
        match self {
            Fact::Equal(column, _)
            | Fact::In(column, _)
            | Fact::Lower(column, ..)
            | Fact::Upper(column, ..)
            | Fact::Ranges(column, _) => *column,
        }
    }
}

/// Looks for facts about the columns of one table.
pub struct FactFinder<'a> {
    /// Tuple position of its first column.
    pub base: usize,
    /// Its columns.
    pub count: usize,
    /// Whether an expression can be computed before the table is read.
    pub is_known: &'a dyn Fn(&Expr) -> bool,
}

impl FactFinder<'_> {
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Column(at) | Expr::TimestampColumn(at)
                if (self.base..self.base + self.count).contains(at) =>
            {
                Some(at - self.base)
            }
            _ => None,
        }
    }

    fn operand(&self, expr: &Expr, collation: Collation, null_safe: bool) -> Option<Operand> {
        (self.is_known)(expr).then(|| Operand { expr: expr.clone(), collation, null_safe })
    }

    /// Facts that follow from a condition.
    pub fn facts(&self, condition: &Expr, into: &mut Vec<Fact>) {
        match condition {
            Expr::And(list) => list.iter().for_each(|one| self.facts(one, into)),
            Expr::Compare { op, left, right, collation } => {
                into.extend(self.comparison(*op, left, right, *collation));
                into.extend(self.comparison(mirrored(*op), right, left, *collation));
            }
            Expr::Between { operand, low, high, collation, negated: false } => {
                let Some(column) = self.column(operand) else { return };
                into.extend(self.operand(low, *collation, false).map(|low| Fact::Lower(column, low, true)));
                into.extend(
                    self.operand(high, *collation, false).map(|high| Fact::Upper(column, high, true)),
                );
            }
            Expr::InList { operand, list, collation, negated: false } => {
                let Some(column) = self.column(operand) else { return };
                let list: Option<Vec<_>> =
                    list.iter().map(|one| self.operand(one, *collation, false)).collect();
                into.extend(list.map(|list| Fact::In(column, list)));
            }
            Expr::Is { operand, test: IsTest::Null, negated: false } => {
                let null = Operand {
                    expr: Expr::Literal(Value::Null),
                    collation: Collation::Binary,
                    null_safe: true,
                };
                into.extend(self.column(operand).map(|column| Fact::Equal(column, null)));
            }
            Expr::Or(list) => into.extend(self.alternatives(list)),
            _ => {}
        }
    }

    fn comparison(&self, op: CompareOp, left: &Expr, right: &Expr, collation: Collation) -> Option<Fact> {
        let column = self.column(left)?;
        let operand = self.operand(right, collation, op == CompareOp::NullSafeEqual)?;
        Some(match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => Fact::Equal(column, operand),
            CompareOp::Less => Fact::Upper(column, operand, false),
            CompareOp::LessOrEqual => Fact::Upper(column, operand, true),
            CompareOp::Greater => Fact::Lower(column, operand, false),
            CompareOp::GreaterOrEqual => Fact::Lower(column, operand, true),
            CompareOp::NotEqual => return None,
        })
    }

    /// `a OR b OR c` where every alternative bounds the same column.
    fn alternatives(&self, list: &[Expr]) -> Option<Fact> {
        let mut wanted = None;
        let mut ranges = Vec::new();
        for alternative in list {
            let mut facts = Vec::new();
            self.facts(alternative, &mut facts);
            let column = match wanted {
                Some(column) => column,
                None => *wanted.insert(facts.first()?.column()),
            };
            let mut bounds = KeyRange::default();
            let mut several = Vec::new();
            for fact in facts.into_iter().filter(|fact| fact.column() == column) {
                match fact {
                    Fact::Equal(_, operand) => bounds.equal = vec![operand],
                    Fact::In(_, list) => several.extend(
                        list.into_iter().map(|one| KeyRange { equal: vec![one], ..KeyRange::default() }),
                    ),
                    Fact::Lower(_, operand, or_equal) => bounds.lower = Some((operand, or_equal)),
                    Fact::Upper(_, operand, or_equal) => bounds.upper = Some((operand, or_equal)),
                    Fact::Ranges(_, ranges) => several.extend(ranges),
                }
            }
            if !bounds.equal.is_empty() {
                (bounds.lower, bounds.upper) = (None, None);
            }
            match (bounds.is_unbounded(), several.is_empty()) {
                (false, _) => ranges.push(bounds),
                (true, false) => ranges.extend(several),
                (true, true) => return None,
            }
        }
        wanted.map(|column| Fact::Ranges(column, ranges))
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessOrEqual => CompareOp::GreaterOrEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterOrEqual => CompareOp::LessOrEqual,
        same => same,
    }
}

/// Rows of a table that nobody has looked at, at least.
const UNKNOWN_ROWS: u64 = 1000;

/// Most rows that equality with a part of a key is guessed to find where nothing is known of it: fewer than
/// the smallest guess of a whole table, so that in a join the table with a given key comes before one that
/// would be read whole.
const EQUAL_ROWS_MAX: f64 = 200.0;

/// A way to read a table.
#[derive(Debug)]
pub struct Candidate {
    /// The ranges.
    pub access: Access,
    /// Guessed rows to look at.
    pub cost: f64,
}

/// The best way that a set of facts offers, the whole table if none does; and every key that could be used.
pub fn choose(table: &Table, facts: &[Fact], allowed: &dyn Fn(usize) -> bool) -> (Candidate, Vec<usize>) {
    let known = table.counters.statistics.known();
    let rows = table.counters.rows.load(std::sync::atomic::Ordering::Relaxed);
    // A table that nobody has looked at may have any number of rows.
    let rows = rows.max(if known.is_some() { 1 } else { UNKNOWN_ROWS }) as f64;
    let size = Size { rows, known: known.as_deref() };
    let mut best = Candidate { access: Access::full(), cost: rows };
    let mut possible = Vec::new();
    for (nth, key) in table.keys().iter().enumerate() {
        if !key.visible || !allowed(nth) {
            continue;
        }
        let Some(candidate) = by_key(table, nth, facts, size) else { continue };
        possible.push(nth);
        if candidate.cost < best.cost || best.access.key.is_none() {
            best = candidate;
        }
    }
    (best, possible)
}

/// How large a table is, and what is known of its keys.
#[derive(Clone, Copy)]
struct Size<'t> {
    rows: f64,
    known: Option<&'t TableStatistics>,
}

impl Size<'_> {
    /// Rows that equality with the first parts of a key finds.
    fn equal(self, index: IndexId, parts: usize) -> f64 {
        let known = self.known.and_then(|known| known.rows_per_value(index, parts, self.rows));
        known.unwrap_or_else(|| (self.rows / 10f64.powi(parts as i32 * 2)).clamp(2.0, EQUAL_ROWS_MAX))
    }
}

fn by_key(table: &Table, nth: usize, facts: &[Fact], size: Size<'_>) -> Option<Candidate> {
    let key = &table.keys()[nth];
    let mut ranges = vec![KeyRange::default()];
    let (mut equal_parts, mut bounded) = (0, 0.0f64);
    for part in &key.parts {
        let about = || facts.iter().filter(|fact| fact.column() == part.column);
        let equal = about().find(|fact| matches!(fact, Fact::Equal(..)));
        let listed =
            about().find(|fact| matches!(fact, Fact::In(_, list) if list.len() * ranges.len() <= RANGES_MAX));
        match equal.or(listed) {
            Some(Fact::Equal(_, operand)) => {
                ranges.iter_mut().for_each(|range| range.equal.push(operand.clone()))
            }
            Some(Fact::In(_, list)) => ranges = extend(&ranges, list),
            _ => {
                bounded = bound(&mut ranges, about().collect());
                break;
            }
        }
        equal_parts += 1;
    }
    if equal_parts == 0 && bounded == 0.0 {
        return None;
    }
    let null_safe = |operand: &Operand| operand.null_safe;
    let whole = key.parts.iter().all(|part| part.prefix.is_none());
    let unique = key.unique
        && whole
        && equal_parts == key.parts.len()
        && !ranges.iter().any(|range| range.equal.iter().any(null_safe));
    let each = match (unique, equal_parts) {
        (true, _) => 1.0,
        (false, 0) => size.rows / 2.0,
        (false, parts) => size.equal(key.index, parts),
    };
    let share = if bounded > 0.0 { (0.3 / bounded).min(1.0) } else { 1.0 };
    let fetch = if key.primary || unique { 1.0 } else { 1.5 };
    let cost = (each * share * ranges.len() as f64 * fetch).min(size.rows * 1.4).max(1.0);
    Some(Candidate { access: Access { key: Some(nth), ranges, reverse: false, unique }, cost })
}

fn extend(ranges: &[KeyRange], list: &[Operand]) -> Vec<KeyRange> {
    let with = |range: &KeyRange, operand: &Operand| {
        let mut range = range.clone();
        range.equal.push(operand.clone());
        range
    };
    ranges.iter().flat_map(|range| list.iter().map(move |operand| with(range, operand))).collect()
}

/// Bounds the part behind the equal ones; returns how many sides were bounded.
fn bound(ranges: &mut Vec<KeyRange>, about: Vec<&Fact>) -> f64 {
    let mut sides = 0.0;
    for fact in &about {
        match fact {
            Fact::Lower(_, operand, or_equal) if ranges[0].lower.is_none() => {
                ranges.iter_mut().for_each(|range| range.lower = Some((operand.clone(), *or_equal)));
                sides += 1.0;
            }
            Fact::Upper(_, operand, or_equal) if ranges[0].upper.is_none() => {
                ranges.iter_mut().for_each(|range| range.upper = Some((operand.clone(), *or_equal)));
                sides += 1.0;
            }
            _ => {}
        }
    }
    if sides > 0.0 {
        return sides;
    }
    let several = about.iter().find_map(|fact| match fact {
        Fact::Ranges(_, several) if several.len() * ranges.len() <= RANGES_MAX => Some(several),
        _ => None,
    });
    let Some(several) = several else { return 0.0 };
    let join = |front: &KeyRange, tail: &KeyRange| KeyRange {
        equal: front.equal.iter().chain(&tail.equal).cloned().collect(),
        lower: tail.lower.clone(),
        upper: tail.upper.clone(),
    };
    *ranges = ranges.iter().flat_map(|front| several.iter().map(move |tail| join(front, tail))).collect();
    2.0 * several.len() as f64
}
