//! What conditions say of the columns of one table, as far as a key can use it.
//!
//! A condition becomes *facts*. A fact is a list of alternatives, and holds only for rows within one of them;
//! an alternative bounds some columns. `a = 1` is a fact of one alternative, `(a, b) IN ((1, 2), (3, 4))` of
//! two that bound both columns, `a > 1 OR a = 1 AND b > 2` (the next page of a list) of two as well. Every
//! condition is evaluated again on the rows found, so a fact may say too little but never too much.

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_syntax::ast::IsTest;
use turnstile_values::collation::Collation;
use turnstile_values::value::Value;

use super::query::{Operand, Pattern};

/// Most alternatives of a fact, and most ranges that one access makes of them.
pub const ALTERNATIVES_MAX: usize = 20_000;

/// What one alternative says of one column. Equal says all; the others may stand together.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    /// Equal to this.
    pub equal: Option<Operand>,
    /// Above; true: or equal.
    pub lower: Option<(Operand, bool)>,
    /// Below; true: or equal.
    pub upper: Option<(Operand, bool)>,
    /// Found by this pattern.
    pub like: Option<Pattern>,
}

impl Bound {
    /// Adds what another says, as far as there is room for it.
    pub fn add(&mut self, other: &Bound) {
        if self.equal.is_some() {
            return;
        }
        if other.equal.is_some() {
            *self = other.clone();
            return;
        }
        if self.lower.is_none() {
            self.lower.clone_from(&other.lower);
        }
        if self.upper.is_none() {
            self.upper.clone_from(&other.upper);
        }
        if self.like.is_none() {
            self.like.clone_from(&other.like);
        }
    }

    /// Sides that it bounds, where it is no equality.
    pub fn sides(&self) -> usize {
        let ends = usize::from(self.lower.is_some()) + usize::from(self.upper.is_some());
        ends.max(usize::from(self.like.is_some()))
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        let ends = self.lower.iter().chain(&self.upper).map(|(operand, _)| operand);
        self.equal.iter().chain(ends).chain(self.like.iter().map(|pattern| &pattern.operand))
    }
}

/// Columns, counted from the table's first, and what is said of them; each once.
pub type Bounds = Vec<(usize, Bound)>;

/// A condition holds only for rows within one of these.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The alternatives; none if no row passes.
    pub any_of: Vec<Bounds>,
    /// Tuple positions that the operands read, ascending.
    pub reads: Vec<usize>,
}

impl Fact {
    fn new(any_of: Vec<Bounds>) -> Fact {
        let mut reads: Vec<usize> = any_of
            .iter()
            .flatten()
            .flat_map(|(_, bound)| bound.operands())
            .flat_map(|operand| operand.expr.columns())
            .collect();
        reads.sort_unstable();
        reads.dedup();
        Fact { any_of, reads }
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
    /// The column, counted from the first, that stands for an expression.
    pub stand_in: &'a dyn Fn(&Expr) -> Option<usize>,
}

impl FactFinder<'_> {
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Column(at) | Expr::TimestampColumn(at)
                if (self.base..self.base + self.count).contains(at) =>
            {
                Some(at - self.base)
            }
            Expr::Column(_) | Expr::TimestampColumn(_) | Expr::Literal(_) | Expr::Parameter(_) => None,
            _ => (self.stand_in)(expr),
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
                let one = self.comparison(*op, left, right, *collation);
                let one = one.or_else(|| self.comparison(mirrored(*op), right, left, *collation));
                into.extend(one.map(|bounds| Fact::new(vec![bounds])));
            }
            Expr::Between { operand, low, high, collation, negated: false } => {
                let Some(column) = self.column(operand) else { return };
                let end = |expr| self.operand(expr, *collation, false).map(|operand| (operand, true));
                let bound = Bound { lower: end(low), upper: end(high), ..Bound::default() };
                if bound.sides() > 0 {
                    into.push(Fact::new(vec![vec![(column, bound)]]));
                }
            }
            Expr::InList { operand, list, collation, negated: false } if list.len() <= ALTERNATIVES_MAX => {
                let Some(column) = self.column(operand) else { return };
                let one = |one| Some(vec![(column, equal(self.operand(one, *collation, false)?))]);
                into.extend(list.iter().map(one).collect::<Option<Vec<_>>>().map(Fact::new));
            }
            Expr::InRows { operand, list, collation, negated: false } if list.len() <= ALTERNATIVES_MAX => {
                into.extend(self.in_rows(operand, list, *collation).map(Fact::new));
            }
            Expr::Is { operand, test: IsTest::Null, negated: false } => {
                let null = Operand {
                    expr: Expr::Literal(Value::Null),
                    collation: Collation::Binary,
                    null_safe: true,
                };
                into.extend(self.column(operand).map(|column| Fact::new(vec![vec![(column, equal(null))]])));
            }
            Expr::Like { operand, pattern, escape, collation, negated: false } => {
                let Some(column) = self.column(operand) else { return };
                let escape = match escape.as_deref() {
                    None => None,
                    Some(Expr::Literal(Value::Str(text))) if text.chars().count() == 1 => text.chars().next(),
                    Some(_) => return,
                };
                let operand = self.operand(pattern, *collation, false);
                into.extend(operand.map(|operand| {
                    let bound = Bound { like: Some(Pattern { operand, escape }), ..Bound::default() };
                    Fact::new(vec![vec![(column, bound)]])
                }));
            }
            Expr::Or(list) => into.extend(self.alternatives(list).map(Fact::new)),
            _ => {}
        }
    }

    fn comparison(&self, op: CompareOp, left: &Expr, right: &Expr, collation: Collation) -> Option<Bounds> {
        let column = self.column(left)?;
        let operand = self.operand(right, collation, op == CompareOp::NullSafeEqual)?;
        let bound = match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => equal(operand),
            CompareOp::Less => Bound { upper: Some((operand, false)), ..Bound::default() },
            CompareOp::LessOrEqual => Bound { upper: Some((operand, true)), ..Bound::default() },
            CompareOp::Greater => Bound { lower: Some((operand, false)), ..Bound::default() },
            CompareOp::GreaterOrEqual => Bound { lower: Some((operand, true)), ..Bound::default() },
            CompareOp::NotEqual => return None,
        };
        Some(vec![(column, bound)])
    }

    /// `(a, b) IN ((1, 2), (3, 4))`: each row by the columns among the operands. None if one of its values is
    /// not known.
    fn in_rows(&self, operand: &[Expr], list: &[Vec<Expr>], collation: Collation) -> Option<Vec<Bounds>> {
        let columns: Vec<(usize, usize)> = operand
            .iter()
            .enumerate()
            .filter_map(|(nth, one)| self.column(one).map(|column| (nth, column)))
            .collect();
        if columns.is_empty() {
            return None;
        }
        let row = |row: &Vec<Expr>| {
            let mut bounds = Bounds::with_capacity(columns.len());
            for (nth, column) in &columns {
                add(&mut bounds, *column, &equal(self.operand(row.get(*nth)?, collation, false)?));
            }
            Some(bounds)
        };
        list.iter().map(row).collect()
    }

    /// `a OR b OR c`: what each of them says, if all say something.
    fn alternatives(&self, list: &[Expr]) -> Option<Vec<Bounds>> {
        let mut any_of = Vec::new();
        for alternative in list {
            let mut facts = Vec::new();
            self.facts(alternative, &mut facts);
            any_of.extend(all(&facts)?);
            if any_of.len() > ALTERNATIVES_MAX {
                return None;
            }
        }
        Some(any_of)
    }
}

fn equal(operand: Operand) -> Bound {
    Bound { equal: Some(operand), ..Bound::default() }
}

fn add(bounds: &mut Bounds, column: usize, bound: &Bound) {
    match bounds.iter_mut().find(|(at, _)| *at == column) {
        Some((_, known)) => known.add(bound),
        None => bounds.push((column, bound.clone())),
    }
}

/// What several facts say together; those that would make too many alternatives are left out. None if they
/// say nothing.
fn all(facts: &[Fact]) -> Option<Vec<Bounds>> {
    let mut order: Vec<&Fact> = facts.iter().collect();
    order.sort_by_key(|fact| fact.any_of.len());
    let (first, rest) = order.split_first()?;
    let mut together = first.any_of.clone();
    for fact in rest.iter().filter(|fact| !fact.any_of.is_empty()) {
        if together.len() * fact.any_of.len() > ALTERNATIVES_MAX {
            break;
        }
        let with = |bounds: &Bounds, more: &Bounds| {
            let mut bounds = bounds.clone();
            more.iter().for_each(|(column, bound)| add(&mut bounds, *column, bound));
            bounds
        };
        together = together
            .iter()
            .flat_map(|bounds| fact.any_of.iter().map(move |more| with(bounds, more)))
            .collect();
    }
    Some(together)
}

/// The comparison with its sides exchanged.
pub fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessOrEqual => CompareOp::GreaterOrEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterOrEqual => CompareOp::LessOrEqual,
        same => same,
    }
}
