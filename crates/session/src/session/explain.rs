//! EXPLAIN: one line per table that is read, as a table or, in `explain_forms.rs`, as JSON; as a tree in
//! `tree.rs`. `analyze.rs` runs what is explained, `other.rs` finds what another session runs.

mod analyze;
mod nodes;
mod other;
mod tree;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Session;
use super::explain_forms;
use super::show::Table;
use super::statement::Outcome;
use crate::ast::{Explain, ExplainFormat, ExplainTarget, Statement};
use crate::error::{SqlError, SqlResult};
use crate::expr::Expr;
use crate::expression_text::expression_text;
use crate::plan::change::InsertSource;
use crate::plan::parameters::{Parameters, actual};
use crate::plan::query::{
    CommonBody, CommonPlan, CommonRows, GroupPlan, JoinStep, Partners, QueryPlan, SelectPlan, Source,
    Subquery, SubqueryKind, TableSource,
};
use crate::reads_lock::ReadsLock;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::{rights, show, statement, transaction};
use crate::sink::ResultSink;
use crate::value::Value;

/// Lines being written.
struct Lines {
    table: Table,
    next_id: u64,
    /// Queries of WITH that have their lines.
    shown: HashSet<usize>,
    /// Others that have been met.
    waiting: VecDeque<Arc<CommonPlan>>,
    /// See [`hands_on`].
    hands_on: bool,
}

fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// EXPLAIN
pub(super) async fn explain(
    session: &mut Session,
    explain: &Explain,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    match &explain.target {
        ExplainTarget::Statement(statement) => {
            explain_statement(session, statement, (explain.format, explain.analyze), params, out).await
        }
        ExplainTarget::Connection(_) if explain.analyze => {
            Err(SqlError::not_supported_yet("EXPLAIN ANALYZE FOR CONNECTION"))
        }
        ExplainTarget::Connection(id) => other::explain_other(session, *id, explain.format, out).await,
    }
}

async fn explain_statement(
    session: &mut Session,
    statement: &Statement,
    (format, analyze): (Option<ExplainFormat>, bool),
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    statement::enter_for(session, &crate::used_tables::of_statement(statement)).await?;
    let parameters = Parameters::of_kinds(actual(params));
    let plan = match statement::plan_rows(session, (statement, ReadsLock::of(statement)), params, &parameters)
    {
        Ok(plan) => plan,
        Err(error) => return statement::abandon(session, error).await,
    };
    let asked = rights::ask_for_columns(session, &plan.uses);
    let asked = asked.and_then(|()| rights::ask_to_explain(session, &plan.uses));
    if let Err(error) = asked.and_then(|()| if analyze { analyzes(format) } else { Ok(()) }) {
        return statement::abandon(session, error).await;
    }
    if analyze {
        let measured = Box::pin(analyze::run(session, &plan, params)).await?;
        return write_text(tree::tree(&plan, Some(&measured), hands_on(session, &plan)), out);
    }
    if session.open.as_ref().is_some_and(|open| open.autocommit) {
        transaction::rollback(session).await?;
    }
    let hands_on = hands_on(session, &plan);
    let lines = || lines_of(&plan, hands_on);
    match format {
        None | Some(ExplainFormat::Traditional) => show::write_table(&lines(), out),
        Some(ExplainFormat::Tree) => write_text(tree::tree(&plan, None, hands_on), out),
        Some(ExplainFormat::Json) => write_text(explain_forms::json(lines().rows()), out),
    }
}

/// What EXPLAIN says of a change that may take a row that is handed on, and hand it on itself.
pub(super) const HAND_ON: &str = "Hand-on before commit";

/// Whether the plan is such a change: of one row by its primary key, and of no column of any key, while
/// `turnstile_hot_row` is ON, for all statements. A row that is stored in pages of its own is not handed on,
/// which is not known here.
fn hands_on(session: &Session, plan: &RowPlan) -> bool {
    let PlanKind::Change(change, true) = &plan.kind else { return false };
    let rules = &session.db.engine().settings().hot_row;
    change.point.is_some()
        && change.targets.iter().all(|target| !target.moves_keys)
        && rules.is_on()
        && !rules.hint_only.load(Ordering::Relaxed)
}

/// Whether EXPLAIN ANALYZE has a form.
fn analyzes(format: Option<ExplainFormat>) -> SqlResult<()> {
    match format {
        None | Some(ExplainFormat::Tree) => Ok(()),
        Some(ExplainFormat::Traditional) => {
            Err(SqlError::not_supported_yet("EXPLAIN ANALYZE with TRADITIONAL format"))
        }
        Some(ExplainFormat::Json) => Err(SqlError::not_analyzed_as_json()),
    }
}

fn write_text(whole: String, out: &mut dyn ResultSink) -> SqlResult<Outcome> {
    let mut table = Table::new(&[("EXPLAIN", 't')]);
    table.push(vec![text(whole)]);
    show::write_table(&table, out)
}

/// The lines of the table form.
fn lines_of(plan: &RowPlan, hands_on: bool) -> Table {
    let columns = [
        ("id", 'n'),
        ("select_type", 's'),
        ("table", 's'),
        ("partitions", 's'),
        ("type", 's'),
        ("possible_keys", 's'),
        ("key", 's'),
        ("key_len", 's'),
        ("ref", 's'),
        ("rows", 'n'),
        ("filtered", 's'),
        ("Extra", 't'),
    ];
    let table = Table::new(&columns);
    let mut lines = Lines { table, next_id: 1, shown: HashSet::new(), waiting: VecDeque::new(), hands_on };
    match &plan.kind {
        PlanKind::Query(plan) => lines.query(plan, "SIMPLE"),
        PlanKind::Change(plan, update) => {
            lines.select(&plan.select, if *update { "UPDATE" } else { "DELETE" });
        }
        PlanKind::Insert(plan) => {
            let line = Line { kind: "ALL", ..Line::default() };
            lines.push("INSERT", plan.table.name(), line);
            if let InsertSource::Query(query) = &plan.source {
                lines.query(query, "SIMPLE");
            }
        }
    }
    lines.commons();
    lines.table
}

/// What varies between lines.
#[derive(Default)]
struct Line {
    kind: &'static str,
    possible: Option<String>,
    key: Option<String>,
    key_length: Option<u32>,
    reference: Option<String>,
    rows: u64,
    /// The share of the rows that pass conditions, where a histogram told of one.
    passing: Option<f64>,
    extra: Vec<Cow<'static, str>>,
}

impl Lines {
    fn push(&mut self, select_type: &str, table: &str, line: Line) {
        let optional = |value: Option<String>| value.map_or(Value::Null, text);
        self.table.push(vec![
            Value::UInt(self.next_id),
            text(select_type),
            if table.is_empty() { Value::Null } else { text(table) },
            Value::Null,
            if line.kind.is_empty() { Value::Null } else { text(line.kind) },
            optional(line.possible),
            optional(line.key),
            optional(line.key_length.map(|length| length.to_string())),
            optional(line.reference),
            if line.kind.is_empty() { Value::Null } else { Value::UInt(line.rows) },
            if line.kind.is_empty() {
                Value::Null
            } else {
                text(format!("{:.2}", line.passing.unwrap_or(1.0) * 100.0))
            },
            if line.extra.is_empty() { Value::Null } else { text(line.extra.join("; ")) },
        ]);
    }

    fn query(&mut self, plan: &QueryPlan, select_type: &str) {
        match plan {
            QueryPlan::Select(plan) => self.select(plan, select_type),
            QueryPlan::Set(plan) => {
                for (nth, (_, member)) in plan.members.iter().enumerate() {
                    self.query(member, if nth == 0 { "PRIMARY" } else { "UNION" });
                    self.next_id += 1;
                }
            }
            QueryPlan::Values(_) => {
                let line = Line { extra: vec!["No tables used".into()], ..Line::default() };
                self.push(select_type, "", line);
            }
        }
    }

    fn select(&mut self, plan: &SelectPlan, select_type: &str) {
        let nested = queries(plan).next().is_some()
            || plan.steps.iter().any(|step| {
                matches!(
                    step.source,
                    Source::Derived(_) | Source::Distinct(_) | Source::Lateral(_) | Source::Common(_)
                )
            });
        let select_type = if nested && select_type == "SIMPLE" { "PRIMARY" } else { select_type };
        if plan.steps.is_empty() {
            self.push(select_type, "", Line { extra: vec!["No tables used".into()], ..Line::default() });
        }
        if plan.extremes.is_empty() {
            self.steps(plan, &plan.steps, select_type);
        } else {
            let extra = vec!["Select tables optimized away".into()];
            self.push(select_type, "", Line { extra, ..Line::default() });
        }
        for step in &plan.steps {
            match &step.source {
                Source::Distinct(query) => {
                    self.next_id += 1;
                    self.query(query, "MATERIALIZED");
                }
                Source::Derived(query) | Source::Lateral(query) => {
                    self.next_id += 1;
                    self.query(query, "DERIVED");
                }
                Source::Common(CommonRows::Of(common)) => self.waiting.push_back(common.clone()),
                _ => {}
            }
        }
        for subquery in queries(plan) {
            self.next_id += 1;
            let same = subquery.is_same_for_all();
            self.query(&subquery.plan, if same { "SUBQUERY" } else { "DEPENDENT SUBQUERY" });
        }
    }

    /// A query of WITH is run once and shown once, behind what reads it.
    fn commons(&mut self) {
        while let Some(common) = self.waiting.pop_front() {
            if self.shown.insert(Arc::as_ptr(&common) as usize) {
                self.common(&common);
            }
        }
    }

    fn common(&mut self, common: &CommonPlan) {
        self.next_id += 1;
        match &common.body {
            CommonBody::Query(query) => self.query(query, "DERIVED"),
            CommonBody::Recursive(plan) => {
                self.query(&plan.seed, "DERIVED");
                for block in &plan.blocks {
                    self.next_id += 1;
                    self.query(block, "UNION");
                }
            }
        }
    }

    fn steps(&mut self, plan: &SelectPlan, steps: &[JoinStep], select_type: &str) {
        for (nth, step) in steps.iter().enumerate() {
            let mut line = match &step.source {
                Source::Table(source) => table_line(source, plan),
                Source::Derived(query) | Source::Distinct(query) | Source::Lateral(query) => {
                    Line { kind: "ALL", rows: (query.rows().round() as u64).max(2), ..Line::default() }
                }
                Source::Common(CommonRows::Of(common)) => {
                    Line { kind: "ALL", rows: (common.rows().round() as u64).max(2), ..Line::default() }
                }
                Source::Common(_) | Source::Virtual(_) => Line { kind: "ALL", rows: 2, ..Line::default() },
                Source::Expanded(..) => {
                    let extra = vec!["Table function: json_table".into(), "Using temporary".into()];
                    Line { kind: "ALL", rows: 2, extra, ..Line::default() }
                }
                Source::Group(inner) => {
                    self.steps(plan, inner, select_type);
                    continue;
                }
            };
            if matches!(&step.source, Source::Common(CommonRows::Previous(_))) {
                line.extra.push("Recursive".into());
            }
            let pushed = match &step.source {
                Source::Table(source) => source.pushed.as_ref().map_or(0, |pushed| pushed.conditions.len()),
                _ => 0,
            };
            if pushed > 0 {
                line.extra.push("Using index condition".into());
            }
            if step.matching.len() > pushed || !step.filters.is_empty() {
                line.extra.push("Using where".into());
            }
            let loose = matches!(&step.source, Source::Table(source) if source.loose.is_some());
            if loose {
                line.extra.push("Using index for group-by".into());
            } else if matches!(&step.source, Source::Table(source) if source.covering) {
                line.extra.push("Using index".into());
            }
            // Groups that are made one by one are kept only to be sorted.
            let keeps = |group: &GroupPlan| {
                let passes = group.together && plan.order.is_empty();
                !passes && !group.keys.is_empty()
            };
            if nth == 0 && (plan.group.as_ref().is_some_and(keeps) || !plan.windows.is_empty()) {
                line.extra.push("Using temporary".into());
            }
            if nth == 0 && (!plan.order.is_empty() || plan.windows.iter().any(|one| !one.keys.is_empty())) {
                line.extra.push("Using filesort".into());
            }
            match (step.partners, nth.checked_sub(1).map(|before| &steps[before].alias)) {
                (Partners::First, Some(before)) => line.extra.push(format!("FirstMatch({before})").into()),
                (Partners::None, _) => line.extra.push("Not exists".into()),
                _ => {}
            }
            if nth > 0 && !step.hash.is_empty() {
                line.extra.push("Using join buffer (hash join)".into());
            }
            if self.hands_on {
                line.extra.push(HAND_ON.into());
            }
            self.push(select_type, &step.alias, line);
        }
    }
}

/// The sub-queries of a block without the values that it computes for them.
fn queries(plan: &SelectPlan) -> impl Iterator<Item = &Subquery> {
    let is_value = |one: &&Subquery| {
        matches!(one.kind, SubqueryKind::Value(_) | SubqueryKind::Sleep(_) | SubqueryKind::GetLock { .. })
    };
    plan.subqueries.iter().filter(move |one| !is_value(one))
}

/// The column at a place of the tuple: its table's database, what the table is called, and its name.
fn column_at(steps: &[JoinStep], place: usize) -> Option<[String; 3]> {
    steps.iter().find_map(|step| match &step.source {
        Source::Table(source) => {
            let column = source.table.columns().get(place.checked_sub(step.base)?)?;
            let schema = &source.table.definition.schema;
            Some([schema.to_string(), step.alias.to_string(), column.name.to_string()])
        }
        Source::Group(inner) => column_at(inner, place),
        _ => None,
    })
}

/// How a table's rows are found, in the words of the tree, and how many.
fn access_of(source: &TableSource, plan: &SelectPlan, alias: &str) -> (String, u64) {
    let line = table_line(source, plan);
    let key = line.key.unwrap_or_default();
    let (index, single) = match source.covering {
        true => ("Covering index", "Single-row covering index"),
        false => ("Index", "Single-row index"),
    };
    let range = &source.access.ranges[0];
    let names: Vec<String> = source.access.key.map_or_else(Vec::new, |key| {
        let columns = source.table.columns();
        let name = |column: &crate::dictionary::Column| match column.key_part() {
            Some(expr) => expression_text(expr).replace('`', ""),
            None => column.name.to_string(),
        };
        source.table.keys()[key].parts.iter().map(|part| name(&columns[part.column])).collect()
    });
    let value = |operand: &crate::plan::query::Operand| match &operand.expr {
        Expr::Column(at) => column_at(&plan.steps, *at).map(|[_, alias, column]| format!("{alias}.{column}")),
        Expr::Literal(value) => tree::literal(value),
        _ => None,
    };
    let values: Vec<Option<String>> = range.equal.iter().map(value).collect();
    let equal = || tree::looked_up(&names, &values);
    let label = match line.kind {
        "const" | "eq_ref" => format!("{single} lookup on {alias} using {key}{}", equal()),
        "ref" => format!("{index} lookup on {alias} using {key}{}", equal()),
        "range" if source.loose.is_some() => {
            let what = if plan.distinct || counts_different(plan) { "deduplication" } else { "grouping" };
            format!("{index} skip scan for {what} on {alias} using {key}")
        }
        "range" => format!("{index} range scan on {alias} using {key}"),
        "index" => format!("{index} scan on {alias} using {key}"),
        "index_merge" if !source.within.is_empty() => {
            format!("Intersected index lookups on {alias} using {key}")
        }
        "index_merge" => format!("Deduplicated index lookups on {alias} using {key}"),
        _ => format!("Table scan on {alias}"),
    };
    let backwards = if source.access.reverse { " (reverse)" } else { "" };
    (label + backwards, line.rows)
}

/// Whether a block's groups ask for different values.
fn counts_different(plan: &SelectPlan) -> bool {
    plan.group.iter().flat_map(|group| &group.aggregates).any(|aggregate| aggregate.distinct)
}

fn table_line(source: &TableSource, plan: &SelectPlan) -> Line {
    let table = &source.table;
    let access = &source.access;
    let all = table.counters.rows.load(std::sync::atomic::Ordering::Relaxed).max(1);
    let rows = (source.rows.round() as u64).clamp(1, all);
    let names = source.possible.iter().map(|nth| &*table.keys()[*nth].name).collect::<Vec<_>>();
    let possible = (!names.is_empty()).then(|| names.join(","));
    let mut line = Line { possible, rows, passing: source.passing, ..Line::default() };
    let Some(key) = access.key else {
        line.kind = "ALL";
        return line;
    };
    line.key = Some(table.keys()[key].name.to_string());
    if !source.also.is_empty() || !source.within.is_empty() {
        return merged_line(source, line);
    }
    let range = &access.ranges[0];
    let constant = range.equal.iter().all(|operand| operand.expr.columns().is_empty());
    let bounded = range.is_bounded();
    line.kind = match () {
        () if access.is_full() => "index",
        () if access.ranges.len() > 1 || bounded => "range",
        () if access.unique && constant => "const",
        () if access.unique => "eq_ref",
        () => "ref",
    };
    if let Some(loose) = source.loose {
        line.kind = "range";
        let used = loose.parts + usize::from(loose.smallest || loose.largest);
        let parts = table.keys()[key].parts.iter().take(used);
        line.key_length = Some(parts.map(|part| key_bytes(table, part)).sum());
        return line;
    }
    let key = &table.keys()[key];
    let used = if access.is_full() { key.parts.len() } else { range.equal.len() + usize::from(bounded) };
    line.key_length = Some(key.parts.iter().take(used).map(|part| key_bytes(table, part)).sum());
    if matches!(line.kind, "const" | "ref" | "eq_ref") {
        let of = |operand: &crate::plan::query::Operand| {
            let column = match operand.expr {
                Expr::Column(at) => column_at(&plan.steps, at).map(|names| names.join(".")),
                _ => None,
            };
            let other = if operand.expr.columns().is_empty() { "const" } else { "func" };
            column.unwrap_or_else(|| other.into())
        };
        line.reference = Some(range.equal.iter().map(of).collect::<Vec<_>>().join(","));
    }
    line
}

/// A table whose rows several keys find: each some of them, or all of them each.
fn merged_line(source: &TableSource, mut line: Line) -> Line {
    let table = &source.table;
    let ways = || [&source.access].into_iter().chain(&source.also).chain(&source.within);
    let names = ways().filter_map(|access| access.key).map(|key| &*table.keys()[key].name);
    let names = names.collect::<Vec<_>>().join(",");
    let how = match source.within.is_empty() {
        false => "intersect",
        true if ways().all(|access| access.is_of_values(table)) => "union",
        true => "sort_union",
    };
    line.kind = "index_merge";
    line.extra.push(format!("Using {how}({names})").into());
    line.key = Some(names);
    line
}

/// Bytes of a key part as MySQL counts them.
fn key_bytes(table: &crate::dictionary::Table, part: &crate::dictionary::table::Part) -> u32 {
    use crate::types::ColumnType as T;
    let column = &table.columns()[part.column];
    let width = match &column.kind {
        T::Int { width, .. } => width.bytes() as u32,
        T::Varchar { length, collation } => part.prefix.unwrap_or(*length) * collation.max_char_bytes() + 2,
        T::Char { length, collation } => part.prefix.unwrap_or(*length) * collation.max_char_bytes(),
        T::Text { collation, .. } => part.prefix.unwrap_or(0) * collation.max_char_bytes() + 2,
        T::Date => 3,
        T::Varbinary { length } => part.prefix.unwrap_or(*length) + 2,
        T::Binary { length } => part.prefix.unwrap_or(*length),
        T::Year => 1,
        T::Float { .. } => 4,
        T::DateTime { fsp } => 5 + u32::from(fsp.div_ceil(2)),
        T::Timestamp { fsp } => 4 + u32::from(fsp.div_ceil(2)),
        T::Time { fsp } => 3 + u32::from(fsp.div_ceil(2)),
        _ => 8,
    };
    width + u32::from(column.nullable)
}
