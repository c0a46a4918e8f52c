//! Whether the rows of each group come one after another, so that a group is finished as soon as the next one
//! begins, and whether the groups then come in the order of ORDER BY.
//!
//! The rows of the first table come in the order of a key, and later tables are looked up row by row, which
//! keeps that order. Rows with equal values in the first parts of the key lie together. These are the groups
//! if the keys of GROUP BY tell the parts, and the parts tell the keys: columns are told by constants, by
//! equality with what is told, and by the unique key of their table; expressions by their columns.

use std::collections::BTreeSet;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::super::block::PlanContext;
use super::super::estimate::TableSize;
use super::super::query::{Access, Filter, JoinStep, KeyRange, SelectPlan, Source, TableSource};
use super::super::stand_in;
use super::super::steps::hashable;
use super::{ORDER_GAIN, readable_columns};

/// A part of a key, in whose order rows come: its place in the tuple, and whether it falls as it is read
/// forwards.
#[derive(Clone, Copy)]
struct Part {
    place: usize,
    descending: bool,
}

/// A way to read the first table.
struct Reading {
    /// None: as it is read anyway.
    access: Option<Access>,
    /// What the rows come in the order of, behind what is the same in all.
    parts: Vec<Part>,
    /// What is the same in all rows that it finds.
    fixed: Vec<usize>,
}

/// What a way does for the groups.
struct Found {
    access: Option<Access>,
    /// The order of the groups is that of ORDER BY, if the key is read backwards or not.
    ordered: Option<bool>,
    /// For how many groups of LIMIT it is taken.
    wanted: Option<f64>,
}

/// Notes in a plan how the rows of its groups come, after the tables' keys are chosen; a table that is read
/// whole is read by a key that helps.
pub(super) fn arrange(plan: &mut SelectPlan, used: &BTreeSet<usize>, context: &PlanContext<'_>) {
    let Some(group) = &plan.group else { return };
    if group.keys.is_empty() {
        if let Some(group) = &mut plan.group {
            group.together = true;
        }
        return;
    }
    let Some(found) = best(plan, used, context) else { return };
    if let Some(group) = &mut plan.group {
        group.together = true;
    }
    if let Some(reverse) = found.ordered {
        plan.order.clear();
        if let Some(JoinStep { source: Source::Table(source), .. }) = plan.steps.first_mut() {
            source.access.reverse = reverse;
        }
    }
    if let (Some(access), Some(JoinStep { source: Source::Table(source), .. })) =
        (found.access, plan.steps.first_mut())
    {
        let reverse = found.ordered.unwrap_or(false);
        source.access = Access { reverse, ..access };
        source.wanted = found.wanted.map(|wanted| wanted / ORDER_GAIN..=wanted * ORDER_GAIN);
    }
}

fn best(plan: &SelectPlan, used: &BTreeSet<usize>, context: &PlanContext<'_>) -> Option<Found> {
    let ties = Ties::of(plan, context);
    let groups = Groups { plan, ties: &ties, context };
    let first = match plan.steps.first() {
        Some(JoinStep { source: Source::Table(source), base, .. })
            if plan.steps[1..].iter().all(keeps_order) =>
        {
            Some((&**source, *base))
        }
        _ => None,
    };
    let Some((source, base)) = first else {
        // One group at most, whatever order the rows come in.
        let nothing = Reading { access: None, parts: Vec::new(), fixed: Vec::new() };
        return groups.served_by(nothing).map(|ordered| Found { access: None, ordered, wanted: None });
    };
    if !source.also.is_empty() {
        let nothing = Reading { access: None, parts: Vec::new(), fixed: Vec::new() };
        return groups.served_by(nothing).map(|ordered| Found { access: None, ordered, wanted: None });
    }
    let own = Reading::own(source, base);
    let is_one = groups.is_one(&own);
    if let Some(ordered) = groups.served_by(own) {
        // The tree of rows is to be read, and no smaller one.
        let primary = source.table.primary().filter(|_| source.access.key.is_none() && !is_one);
        let access = primary.map(|key| Access { key: Some(key), ..source.access.clone() });
        return Some(Found { access, ordered, wanted: None });
    }
    if source.access.key.is_some() || source.locking.is_some() {
        return None;
    }
    let needed: Vec<usize> =
        used.range(base..base + source.table.columns().len()).map(|at| at - base).collect();
    let whole = |key: usize| {
        let access =
            Access { key: Some(key), ranges: vec![KeyRange::default()], reverse: false, unique: false };
        Reading::by(&source.table, base, access)
    };
    let may = |key: &usize| source.may_use(*key) && !source.forbidden_groups.contains(key);
    for key in (0..source.table.keys().len()).filter(may) {
        let readable = readable_columns(&source.table, key);
        let covers = needed.iter().all(|column| readable.contains(column));
        let reading = whole(key);
        let parts = reading.parts.len();
        let access = reading.access.clone();
        let Some(ordered) = groups.served_by(reading) else { continue };
        if covers {
            return Some(Found { access, ordered, wanted: None });
        }
        if let Some(wanted) = groups.few(source, (key, parts), ordered.is_some()) {
            return Some(Found { access, ordered, wanted: Some(wanted) });
        }
    }
    None
}

/// Whether a step behind the first gives its rows for one row before it after the other, and never has rows
/// wait in a file.
fn keeps_order(step: &JoinStep) -> bool {
    match &step.source {
        Source::Table(_) => !step.kept,
        Source::Lateral(_) | Source::Expanded(..) => true,
        Source::Group(_)
        | Source::Derived(_)
        | Source::Distinct(_)
        | Source::Common(_)
        | Source::Virtual(_) => false,
    }
}

impl Reading {
    /// As the table is read.
    fn own(source: &TableSource, base: usize) -> Reading {
        let access = match source.access.key {
            Some(_) => source.access.clone(),
            None => Access { key: source.table.primary(), ..source.access.clone() },
        };
        Reading { access: None, ..Reading::by(&source.table, base, access) }
    }

    fn by(table: &Table, base: usize, access: Access) -> Reading {
        let Some(key) = access.key else {
            return Reading { access: None, parts: Vec::new(), fixed: Vec::new() };
        };
        let equal = if access.ranges.len() == 1 { access.ranges[0].equal.len() } else { 0 };
        let parts = &table.keys()[key].parts;
        let primary = table.primary().filter(|primary| *primary != key);
        let behind = primary.map_or(&[][..], |primary| &table.keys()[primary].parts);
        let fixed = parts[..equal].iter().filter(|part| part.prefix.is_none());
        // What lies behind the beginning of a text is in the order of that.
        let rest = parts[equal..].iter().chain(behind).take_while(|part| part.prefix.is_none());
        Reading {
            fixed: fixed.map(|part| base + part.column).collect(),
            parts: rest.map(|part| Part { place: base + part.column, descending: part.descending }).collect(),
            access: Some(access),
        }
    }
}

/// The groups of a block.
struct Groups<'p> {
    plan: &'p SelectPlan,
    ties: &'p Ties<'p>,
    context: &'p PlanContext<'p>,
}

impl Groups<'_> {
    fn keys(&self) -> impl Iterator<Item = &Expr> {
        self.plan.group.iter().flat_map(|group| group.keys.iter().map(|(key, _)| key))
    }

    /// The place of a column that has, or stands for, an expression.
    fn place_of(&self, expr: &Expr) -> Option<usize> {
        if let Expr::Column(at) = expr {
            return Some(*at);
        }
        let first = self.plan.steps.first()?;
        let Source::Table(source) = &first.source else { return None };
        let column = stand_in::column_for(&source.table, first.base, expr, self.context.parameters)?;
        Some(first.base + column)
    }

    fn is_told(&self, expr: &Expr, known: &BTreeSet<usize>) -> bool {
        is_of_row(expr) && expr.columns().iter().all(|at| known.contains(at))
            || self.place_of(expr).is_some_and(|place| known.contains(&place))
    }

    /// There is one group at most.
    fn is_one(&self, reading: &Reading) -> bool {
        let known = self.ties.told_by(reading.fixed.iter().copied());
        self.keys().all(|key| self.is_told(key, &known))
    }

    /// None if rows of one group may lie apart; else whether ORDER BY is met too, by reading backwards or
    /// not.
    fn served_by(&self, reading: Reading) -> Option<Option<bool>> {
        let group = self.plan.group.as_ref()?;
        let keys = group.keys.len();
        // Under ROLLUP rows that agree in the first keys are summed as well.
        let levels = if group.rollup.is_empty() { keys..=keys } else { 1..=keys };
        levels.into_iter().all(|count| self.lie_together(&reading, count)).then(|| self.order_of(&reading))
    }

    /// Whether rows that agree in the first keys come one after another.
    fn lie_together(&self, reading: &Reading, count: usize) -> bool {
        let keys: Vec<&Expr> = self.keys().take(count).collect();
        let fixed = || reading.fixed.iter().copied();
        let by_keys = self.ties.told_by(fixed().chain(keys.iter().filter_map(|key| self.place_of(key))));
        for count in 0..=reading.parts.len() {
            let parts = reading.parts[..count].iter().map(|part| part.place);
            if parts.clone().any(|place| !by_keys.contains(&place)) {
                return false;
            }
            let by_parts = self.ties.told_by(fixed().chain(parts));
            if keys.iter().all(|key| self.is_told(key, &by_parts)) {
                return true;
            }
        }
        false
    }

    /// Whether groups come in the order that is wanted; true: if the key is read backwards.
    fn order_of(&self, reading: &Reading) -> Option<bool> {
        let group = self.plan.group.as_ref()?;
        if self.plan.order.is_empty() || !self.plan.windows.is_empty() {
            return None;
        }
        if !group.rollup.is_empty() {
            // Without ORDER BY sums come behind what they sum, which is how they are finished.
            let first = self.plan.order.first().map(|key| &key.expr);
            let is_own = matches!(first, Some(Expr::Column(at)) if *at == group.rollup[0].flag)
                && self.plan.order.len() == 2 * group.rollup.len();
            let by = |falling: bool| {
                let keys: Vec<(&Expr, bool)> = self.keys().map(|key| (key, falling)).collect();
                self.follows(reading, &keys)
            };
            // As in MySQL a key that falls gives groups that fall.
            let own = || by(false).or_else(|| by(true).filter(|reverse| !reverse));
            return if is_own { own() } else { None };
        }
        let wanted: Vec<(&Expr, bool)> =
            self.plan.order.iter().map(|key| (&key.expr, key.descending)).collect();
        self.follows(reading, &wanted)
    }

    fn follows(&self, reading: &Reading, wanted: &[(&Expr, bool)]) -> Option<bool> {
        let mut places: Vec<usize> = reading.fixed.clone();
        let mut parts = reading.parts.iter();
        let mut direction = None;
        for (expr, descending) in wanted {
            let known = self.ties.told_by(places.iter().copied());
            if self.keys().all(|key| self.is_told(key, &known)) {
                break;
            }
            if self.is_told(expr, &known) {
                continue;
            }
            let part = parts.find(|part| !known.contains(&part.place))?;
            if !self.ties.are_equal(self.place_of(expr)?, part.place) {
                return None;
            }
            let reverse = part.descending != *descending;
            if *direction.get_or_insert(reverse) != reverse {
                return None;
            }
            places.push(part.place);
        }
        Some(direction.unwrap_or(false))
    }

    /// How many groups a LIMIT wants, if reading a key until they are there is to read much less than the
    /// table.
    fn few(&self, source: &TableSource, (key, parts): (usize, usize), ordered: bool) -> Option<f64> {
        let plan = self.plan;
        let passes = plan.having.is_empty()
            && plan.windows.is_empty()
            && !plan.distinct
            && !plan.calc_found_rows
            && (ordered || plan.order.is_empty())
            && plan.steps.len() == 1
            && plan.steps[0].matching.is_empty();
        if !passes || !self.context.ways.reads_in_order {
            return None;
        }
        plan.limit.count.as_ref()?;
        source.table.counters.statistics.known()?;
        let size = TableSize::of(&source.table, self.context.dives());
        let own = &source.table.keys()[key];
        let told = self.keys().count().min(parts).min(own.parts.len()).max(1);
        let wanted = plan.limit.rows(self.context.eval);
        let read = (wanted + 1.0) * size.equal(own.index, told);
        (read * ORDER_GAIN < source.table_rows).then_some(wanted)
    }
}

/// Whether an expression gives the same for the same columns.
fn is_of_row(expr: &Expr) -> bool {
    let mut same = true;
    expr.walk(&mut |one| match one {
        Expr::UserVariable(_) | Expr::AssignVariable { .. } | Expr::Operand | Expr::Sleep(_) => same = false,
        Expr::Call(call) if !call.deterministic => same = false,
        _ => {}
    });
    same
}

/// What columns of a block's tables tell of each other.
struct Ties<'p> {
    steps: &'p [JoinStep],
    /// Columns that are equal in all rows, and have their values in one order.
    equal: Vec<(usize, usize)>,
    /// Columns that have one value in all rows.
    constant: Vec<usize>,
}

impl Ties<'_> {
    fn of<'p>(plan: &'p SelectPlan, context: &PlanContext<'_>) -> Ties<'p> {
        let mut ties = Ties {
            steps: &plan.steps,
            equal: Vec::new(),
            constant: plan.outer.iter().map(|(_, here)| *here).collect(),
        };
        for step in &plan.steps {
            // What makes a partner does not hold where there is none.
            let partners = if step.left_join { &[][..] } else { &step.matching };
            partners.iter().chain(&step.filters).for_each(|filter| ties.note(filter, context));
        }
        ties
    }

    fn note(&mut self, filter: &Filter, context: &PlanContext<'_>) {
        let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &filter.expr else { return };
        let kind = |at: usize| column_kind(self.steps, at);
        let by_own =
            |at: usize| kind(at).is_some_and(|kind| kind.collation().is_none_or(|own| own == *collation));
        match (&**left, &**right) {
            (Expr::Column(one), Expr::Column(other)) => {
                let alike = kind(*one).zip(kind(*other)).is_some_and(|(one, other)| hashable(one, other));
                if alike && by_own(*one) {
                    self.equal.push((*one, *other));
                }
            }
            (Expr::Column(at), other) | (other, Expr::Column(at)) => {
                let value = match other {
                    Expr::Literal(value) => Some(value),
                    // A plan serves values of the same kinds.
                    Expr::Parameter(nth) => context.eval.parameters.get(*nth),
                    _ => None,
                };
                let alike = kind(*at).zip(value).is_some_and(|(kind, value)| match value {
                    Value::Int(_) | Value::UInt(_) => kind.is_integer(),
                    Value::Str(_) => kind.collation().is_some(),
                    _ => false,
                });
                if alike && by_own(*at) {
                    self.constant.push(*at);
                }
            }
            _ => {}
        }
    }

    /// Columns that have one value in all rows that agree in some.
    fn told_by(&self, columns: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut known: BTreeSet<usize> = self.constant.iter().copied().chain(columns).collect();
        loop {
            let before = known.len();
            for (one, other) in &self.equal {
                if known.contains(one) || known.contains(other) {
                    known.extend([*one, *other]);
                }
            }
            self.steps.iter().for_each(|step| tell_by_keys(step, &mut known));
            if known.len() == before {
                return known;
            }
        }
    }

    /// Whether rows in the order of one column are in that of the other.
    fn are_equal(&self, one: usize, other: usize) -> bool {
        let mut same = BTreeSet::from([one]);
        loop {
            let before = same.len();
            for (left, right) in &self.equal {
                if same.contains(left) || same.contains(right) {
                    same.extend([*left, *right]);
                }
            }
            if same.contains(&other) || same.len() == before {
                return same.contains(&other);
            }
        }
    }
}

/// A unique key tells all columns of its row; of a row that an outer join has found no partner for all are
/// NULL.
fn tell_by_keys(step: &JoinStep, known: &mut BTreeSet<usize>) {
    match &step.source {
        Source::Table(source) => {
            let columns = source.table.columns();
            let mut keys = source.table.keys().iter().filter(|key| key.unique);
            let told = keys.any(|key| {
                key.parts.iter().all(|part| {
                    part.prefix.is_none()
                        && !columns[part.column].nullable
                        && known.contains(&(step.base + part.column))
                })
            });
            if told {
                known.extend(step.base..step.base + columns.len());
            }
        }
        Source::Group(inner) => inner.iter().for_each(|step| tell_by_keys(step, known)),
        _ => {}
    }
}

fn column_kind(steps: &[JoinStep], place: usize) -> Option<&ColumnType> {
    steps.iter().find_map(|step| match &step.source {
        Source::Table(source) => Some(&source.table.columns().get(place.checked_sub(step.base)?)?.kind),
        Source::Group(inner) => column_kind(inner, place),
        _ => None,
    })
}
