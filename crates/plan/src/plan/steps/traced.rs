//! What the trace tells of a join: which tables must stand behind which, what each key offers, and which
//! orders of tables were considered.

use turnstile_expr::expr::{CompareOp, EvalContext, Expr, NoRow};
use turnstile_syntax::ast::quote_name;
use turnstile_values::context::Warnings;
use turnstile_values::value::{Value, to_text};

use turnstile_catalog::dictionary::Table;

use super::super::access::{self, Choice};
use super::super::facts::Fact;
use super::super::from::PendingKind;
use super::super::query::{Access, Candidate, KeyRange, Operand};
use super::super::trace::{Json, Trace, table_name};
use super::order::{Placed, Sequence, Weights};
use super::part::Part;
use super::{Condition, StepPlanner, implied};

/// Ranges that are written out; of a key that has more they are left out.
const RANGES_MAX: usize = 100;

fn number(of: usize) -> Json {
    Json::Number(of as f64)
}

/// How a part of a join is called.
pub(super) fn name(planner: &StepPlanner<'_, '_, '_>, part: &Part) -> Json {
    let alias = planner.alias(part.places.iter().copied().min().unwrap_or(0));
    match &part.kind {
        PendingKind::Table { table, .. } => table_name(table.name(), &alias),
        _ => table_name(&alias, &alias),
    }
}

/// Notes which tables stand behind which; `needs`: by the bits of their places.
pub(super) fn dependencies(
    (planner, trace): (&StepPlanner<'_, '_, '_>, &Trace),
    parts: &[Part],
    needs: impl Iterator<Item = u64>,
) {
    let one = |(nth, (part, needs)): (usize, (&Part, u64))| {
        let bits = (0..parts.len()).filter(|bit| needs >> bit & 1 == 1).map(number).collect();
        Json::Object(vec![
            ("table", name(planner, part)),
            ("row_may_be_null", Json::Bool(part.left_join)),
            ("map_bit", number(nth)),
            ("depends_on_map_bits", Json::List(bits)),
        ])
    };
    let list = parts.iter().zip(needs).enumerate().map(one).collect();
    trace.step("table_dependencies", Json::List(list));
}

/// Notes that a query within another has become a join.
pub(super) fn joined(trace: Option<&Trace>, from: &'static str, to: &'static str) {
    let Some(trace) = trace else { return };
    let step = vec![("from", Json::text(from)), ("to", Json::text(to)), ("chosen", Json::Bool(true))];
    trace.step("transformation", Json::Object(step));
}

/// Notes that outer joins have become inner ones.
pub(super) fn simplified(trace: &Trace, is_simpler: bool) {
    if is_simpler {
        let list = Json::List(vec![Json::text("outer_join_to_inner_join")]);
        trace.step("transformations_to_nested_joins", Json::named("transformations", list));
    }
}

/// Notes what follows from equalities, as far as it compares columns with each other and with known values.
pub(super) fn implied((planner, trace): (&StepPlanner<'_, '_, '_>, &Trace), conditions: &[Condition]) {
    let implied = implied::implied(planner.block, conditions);
    let texts: Vec<Json> = implied.iter().filter_map(|one| compared(planner, one)).map(Json::Text).collect();
    if !texts.is_empty() {
        let step = vec![
            ("transformation", Json::text("equality_propagation")),
            ("implied_conditions", Json::List(texts)),
        ];
        let steps = Json::List(vec![Json::Object(step)]);
        let list = vec![("condition", Json::text("WHERE")), ("steps", steps)];
        trace.step("condition_processing", Json::Object(list));
    }
}

fn compared(planner: &StepPlanner<'_, '_, '_>, expr: &Expr) -> Option<String> {
    let Expr::Compare { op: CompareOp::Equal, left, right, .. } = expr else { return None };
    let side = |expr: &Expr| match expr {
        Expr::Column(at) => {
            let (table, column) = planner.block.scope.column_at(*at)?;
            Some(format!("{}.{}", quote_name(&table.alias), quote_name(&column.name)))
        }
        Expr::Literal(value) => Some(literal_text(value)),
        _ => None,
    };
    Some(format!("({} = {})", side(left)?, side(right)?))
}

/// Notes what each key offers by what is known before any table is read.
pub(super) fn ways(
    (planner, trace): (&StepPlanner<'_, '_, '_>, &Trace),
    parts: &[Part],
    facts: &[Vec<Fact>],
) {
    let mut list = Vec::new();
    for (part, facts) in parts.iter().zip(facts) {
        let PendingKind::Table { nth, table, forbidden } = &part.kind else { continue };
        let known = |fact: &&Fact| fact.reads.iter().all(|place| planner.is_known(*place));
        let usable: Vec<&Fact> = facts.iter().filter(known).collect();
        let (locks, dives) = (planner.locks(*nth), planner.block.context.dives());
        let allowed = |key: usize| !forbidden.contains(&key);
        let choice = access::choose(table, &usable, &allowed, (locks, planner.merges(*nth)), dives);
        let found = analysis(table, &choice, planner.block.context.eval);
        list.push(Json::Object(vec![("table", name(planner, part)), ("range_analysis", found)]));
    }
    trace.step("rows_estimation", Json::List(list));
}

/// Notes the orders of tables that were considered, each with what its last table adds.
pub(super) fn orders(
    (planner, trace): (&StepPlanner<'_, '_, '_>, &Trace),
    parts: &[Part],
    weights: &Weights<'_, '_, '_, '_>,
    best: &Sequence,
) {
    let is_best = |one: &Sequence| {
        one.placed.iter().map(|placed| placed.part).eq(best
            .placed
            .iter()
            .take(one.placed.len())
            .map(|placed| placed.part))
    };
    let called = |placed: &Placed| name(planner, &parts[placed.part]);
    let mut list = Vec::new();
    for one in weights.considered() {
        let Some((last, before)) = one.placed.split_last() else { continue };
        let choice = weights.choice_of_last(&one);
        let mut passing = None;
        let mut path = vec![("access_type", Json::text(way_name(last, choice.as_deref())))];
        if let (PendingKind::Table { table, .. }, Some(choice)) = (&parts[last.part].kind, &choice) {
            path.extend(choice.best.access.key.map(|key| used_keys(table, key, &choice.best)));
            path.push(("rows", Json::Number(choice.best.rows)));
            path.push(("cost", Json::Number(choice.best.cost)));
            passing = Some((last.rows / choice.best.rows.max(1.0)).clamp(0.0, 1.0));
        }
        path.push(("chosen", Json::Bool(true)));
        let paths = Json::List(vec![Json::Object(path)]);
        let mut considered = vec![
            ("plan_prefix", Json::List(before.iter().map(called).collect())),
            ("table", called(last)),
            ("best_access_path", Json::named("considered_access_paths", paths)),
        ];
        considered.extend(passing.map(|share| ("condition_filtering_pct", Json::Number(share * 100.0))));
        considered.push(("rows_for_plan", Json::Number(one.rows)));
        considered.push(("cost_for_plan", Json::Number(one.cost)));
        considered.push(match is_best(&one) {
            true => ("chosen", Json::Bool(true)),
            false => ("pruned_by_cost", Json::Bool(true)),
        });
        list.push(Json::Object(considered));
    }
    trace.step("considered_execution_plans", Json::List(list));
}

/// The key that finds a table's rows, or the keys that do together.
fn used_keys(table: &Table, key: usize, best: &Candidate) -> (&'static str, Json) {
    let (how, others) = match (best.also.is_empty(), best.within.is_empty()) {
        (true, true) => return ("index", key_name(table, key)),
        (false, _) => ("union", &best.also),
        _ => ("intersect", &best.within),
    };
    let keys = [&best.access].into_iter().chain(others).filter_map(|access| access.key);
    let names: Vec<&str> = keys.map(|key| &*table.keys()[key].name).collect();
    let used = Json::Text(format!("{how}({})", names.join(",")));
    ("range_details", Json::named("used_index", used))
}

fn way_name(placed: &Placed, choice: Option<&Choice>) -> &'static str {
    let Some(access) = choice.map(|choice| &choice.best.access) else { return "scan" };
    match access {
        _ if placed.hashed => "hash",
        access if access.key.is_none() => "scan",
        access if access.is_fixed() && !access.unique => "range",
        access if access.unique => "eq_ref",
        _ => "ref",
    }
}

fn analysis(table: &Table, choice: &Choice, eval: &EvalContext<'_>) -> Json {
    let whole = vec![("rows", Json::Number(choice.table_rows)), ("cost", Json::Number(choice.table_rows))];
    let mut list = vec![("table_scan", Json::Object(whole))];
    let best = || [&choice.best.access].into_iter().chain(&choice.best.also).chain(&choice.best.within);
    let offered = |key: usize| {
        let offers = choice.offers.iter().map(|offer| &offer.access);
        offers.chain(best()).any(|access| access.key == Some(key))
    };
    let potential = (0..table.keys().len()).map(|key| {
        let mut one = vec![("index", key_name(table, key)), ("usable", Json::Bool(offered(key)))];
        match offered(key) {
            true => {
                let column = |at: usize| Json::text(table.columns()[at].name.to_string());
                let parts = table.keys()[key].parts.iter().map(|part| column(part.column)).collect();
                one.push(("key_parts", Json::List(parts)));
            }
            false => one.push(("cause", Json::text("not_applicable"))),
        }
        Json::Object(one)
    });
    list.push(("potential_range_indexes", Json::List(potential.collect())));
    if !choice.offers.is_empty() {
        let taken = |offer: &Candidate| best().any(|way| way.key == offer.access.key);
        let alternatives = choice.offers.iter().map(|offer| {
            let mut one = way(table, &offer.access, eval);
            one.extend([
                ("index_dives_for_eq_ranges", Json::Bool(offer.counted)),
                ("rows", Json::Number(offer.rows)),
                ("cost", Json::Number(offer.cost)),
                ("chosen", Json::Bool(taken(offer))),
            ]);
            if !taken(offer) {
                one.push(("cause", Json::text("cost")));
            }
            Json::Object(one)
        });
        let alternatives = Json::List(alternatives.collect());
        list.push(("analyzing_range_alternatives", Json::named("range_scan_alternatives", alternatives)));
    }
    if choice.best.access.key.is_some() {
        list.push(("chosen_range_access_summary", summary(table, &choice.best, eval)));
    }
    Json::Object(list)
}

fn summary(table: &Table, best: &Candidate, eval: &EvalContext<'_>) -> Json {
    let all = |others: &[Access]| {
        let ways = [&best.access].into_iter().chain(others);
        Json::List(ways.map(|one| Json::Object(way(table, one, eval))).collect())
    };
    let plan = match (best.also.is_empty(), best.within.is_empty()) {
        (false, _) => {
            vec![("type", Json::text("index_merge")), ("index_merge_of", all(&best.also))]
        }
        (_, false) => {
            vec![("type", Json::text("index_roworder_intersect")), ("intersect_of", all(&best.within))]
        }
        _ => {
            let mut one = vec![("type", Json::text("range_scan"))];
            one.extend(way(table, &best.access, eval));
            one
        }
    };
    Json::Object(vec![
        ("range_access_plan", Json::Object(plan)),
        ("rows_for_plan", Json::Number(best.rows)),
        ("cost_for_plan", Json::Number(best.cost)),
        ("chosen", Json::Bool(true)),
    ])
}

fn key_name(table: &Table, key: usize) -> Json {
    Json::text(table.keys()[key].name.to_string())
}

/// A key and its ranges, where these are known.
fn way(table: &Table, access: &Access, eval: &EvalContext<'_>) -> Vec<(&'static str, Json)> {
    let Some(key) = access.key else { return Vec::new() };
    let mut list = vec![("index", key_name(table, key))];
    if access.ranges.len() <= RANGES_MAX {
        let ranges: Option<Vec<Json>> =
            access.ranges.iter().map(|range| range_text(table, key, range, eval).map(Json::Text)).collect();
        list.extend(ranges.map(|ranges| ("ranges", Json::List(ranges))));
    }
    list
}

fn range_text(table: &Table, key: usize, range: &KeyRange, eval: &EvalContext<'_>) -> Option<String> {
    let column = |nth: usize| {
        let part = table.keys()[key].parts.get(nth)?;
        Some(&*table.columns()[part.column].name)
    };
    let mut said = Vec::new();
    for (nth, operand) in range.equal.iter().enumerate() {
        said.push(format!("{} = {}", column(nth)?, value_text(operand, eval)?));
    }
    let next = range.equal.len();
    let sign = |closed: bool| if closed { "<=" } else { "<" };
    if range.lower.is_some() || range.upper.is_some() {
        let mut text = column(next)?.to_owned();
        if let Some((operand, closed)) = &range.lower {
            text = format!("{} {} {text}", value_text(operand, eval)?, sign(*closed));
        }
        if let Some((operand, closed)) = &range.upper {
            text = format!("{text} {} {}", sign(*closed), value_text(operand, eval)?);
        }
        said.push(text);
    } else if let Some(like) = &range.like {
        said.push(format!("{} LIKE {}", column(next)?, value_text(&like.operand, eval)?));
    } else if range.present {
        said.push(format!("NULL < {}", column(next)?));
    }
    Some(said.join(" AND "))
}

/// A value that is known while the statement is planned.
fn value_text(operand: &Operand, eval: &EvalContext<'_>) -> Option<String> {
    if !operand.is_known() {
        return None;
    }
    // What is wrong with a value is told when the statement runs.
    let unheard = Warnings::new();
    let value = operand.expr.eval(&NoRow, &EvalContext { warnings: &unheard, ..*eval }).ok()?;
    Some(literal_text(&value))
}

fn literal_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => to_text(value).to_string(),
        Value::Bytes(bytes) => {
            format!("0x{}", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
        }
        other => format!("'{}'", to_text(other).replace('\'', "''")),
    }
}
