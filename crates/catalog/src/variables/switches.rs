//! `optimizer_switch`: flags that allow or forbid ways to run a query. Also `optimizer_trace`, which is
//! written in the same way.
//!
//! A flag that is on allows something and orders nothing, and one that is off forbids it. So a server that
//! never does it obeys in either case. What remains are the ways that are taken here whatever a flag says,
//! and the flags that order something: those are told.

use super::Definition;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

/// One flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub name: &'static str,
    /// What it is unless it is set.
    pub default: bool,
    /// Set to this it asks for what is not so here.
    pub vain: Option<bool>,
}

const fn flag(name: &'static str, default: bool) -> Switch {
    Switch { name, default, vain: None }
}

/// One that forbids in vain.
const fn done(name: &'static str) -> Switch {
    Switch { name, default: true, vain: Some(false) }
}

/// One that orders in vain.
const fn absent(name: &'static str) -> Switch {
    Switch { name, default: false, vain: Some(true) }
}

/// The flags in MySQL's order.
pub const OPTIMIZER: &[Switch] = &[
    flag("index_merge", true),
    flag("index_merge_union", true),
    flag("index_merge_sort_union", true),
    flag("index_merge_intersection", true),
    flag("engine_condition_pushdown", true),
    flag("index_condition_pushdown", true),
    flag("mrr", true),
    // Off it orders what `mrr` allows wherever it can be done.
    done("mrr_cost_based"),
    // Tables without a key for a join are joined by hashing.
    flag("block_nested_loop", true),
    absent("batched_key_access"),
    // A sub-query that does not depend on the row is run once.
    done("materialization"),
    flag("semijoin", true),
    flag("loosescan", true),
    flag("firstmatch", true),
    flag("duplicateweedout", true),
    flag("subquery_materialization_cost_based", true),
    done("use_index_extensions"),
    flag("condition_fanout_filter", true),
    flag("derived_merge", true),
    absent("use_invisible_indexes"),
    flag("skip_scan", true),
    // MySQL knows it and heeds block_nested_loop instead.
    flag("hash_join", true),
    absent("subquery_to_derived"),
    flag("prefer_ordering_index", true),
    absent("hypergraph_optimizer"),
    flag("derived_condition_pushdown", true),
    done("hash_set_operations"),
];

/// Ways to run a query that a session allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Tables are hashed to be joined (`block_nested_loop`).
    pub hashes: bool,
    /// A query of IN is joined (`semijoin`).
    pub joins_queries: bool,
    /// Conditions are tested on entries of a key, before their rows are fetched (`index_condition_pushdown`).
    pub tests_entries: bool,
    /// A row looks for the first row of a query of IN or EXISTS (`firstmatch`).
    pub first_matches: bool,
    /// A key that gives the order of a LIMIT is taken for one that finds fewer rows
    /// (`prefer_ordering_index`).
    pub reads_in_order: bool,
    /// Rows are found by several keys of a table.
    pub merges: Merges,
    /// Conditions that no key serves count for the order of a join (`condition_fanout_filter`).
    pub weighs_conditions: bool,
    /// Conditions are asked inside derived tables (`derived_condition_pushdown`).
    pub asks_inside: bool,
    /// Derived tables that pass rows on are merged into who reads them (`derived_merge`).
    pub merges_derived: bool,
}

/// Ways to find rows by several keys of a table (`index_merge` allows them all).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merges {
    /// By values of whole keys, each of which finds some of them (`index_merge_union`).
    pub unions: bool,
    /// By any ranges of keys (`index_merge_sort_union`).
    pub sorted_unions: bool,
    /// By keys each of which finds all of them, and more (`index_merge_intersection`).
    pub intersections: bool,
}

impl Merges {
    /// All ways.
    pub const ALL: Merges = Merges { unions: true, sorted_unions: true, intersections: true };
    /// No way.
    pub const NONE: Merges = Merges { unions: false, sorted_unions: false, intersections: false };
}

impl Default for Ways {
    fn default() -> Ways {
        Ways {
            hashes: true,
            joins_queries: true,
            tests_entries: true,
            first_matches: true,
            reads_in_order: true,
            merges: Merges::ALL,
            weighs_conditions: true,
            asks_inside: true,
            merges_derived: true,
        }
    }
}

impl Ways {
    /// By the value of `optimizer_switch`.
    pub fn of(value: &Value) -> Ways {
        let on = read(OPTIMIZER, value);
        let is_on = |name: &str| OPTIMIZER.iter().zip(&on).any(|(flag, on)| flag.name == name && *on);
        Ways {
            hashes: is_on("block_nested_loop"),
            joins_queries: is_on("semijoin"),
            tests_entries: is_on("index_condition_pushdown"),
            first_matches: is_on("firstmatch"),
            reads_in_order: is_on("prefer_ordering_index"),
            merges: match is_on("index_merge") {
                true => Merges {
                    unions: is_on("index_merge_union"),
                    sorted_unions: is_on("index_merge_sort_union"),
                    intersections: is_on("index_merge_intersection"),
                },
                false => Merges::NONE,
            },
            weighs_conditions: is_on("condition_fanout_filter"),
            asks_inside: is_on("derived_condition_pushdown"),
            merges_derived: is_on("derived_merge"),
        }
    }
}

/// The flags of `optimizer_trace`.
pub const OPTIMIZER_TRACE: &[Switch] = &[flag("enabled", false), flag("one_line", false)];

/// The flags of `optimizer_trace_features`: what is left out of traces where it is off. Nothing is weighed
/// for each row, and no sub-query's plan for each of its runs, so that two of them leave nothing out.
pub const OPTIMIZER_TRACE_FEATURES: &[Switch] = &[
    flag("greedy_search", true),
    flag("range_optimizer", true),
    flag("dynamic_range", true),
    flag("repeated_subselect", true),
];

/// What a session wants of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracing {
    /// They are made (`optimizer_trace`).
    pub enabled: bool,
    /// Without line breaks and blanks.
    pub one_line: bool,
    /// With the orders of tables that were considered (`optimizer_trace_features`).
    pub orders: bool,
    /// With the ways to read each table.
    pub ranges: bool,
    /// The first that is kept; below 0 it is counted from the last one made (`optimizer_trace_offset`).
    pub offset: i64,
    /// So many are kept (`optimizer_trace_limit`).
    pub limit: u64,
    /// Bytes that all of them may have (`optimizer_trace_max_mem_size`).
    pub bytes_max: u64,
}

impl Tracing {
    /// By the values of `optimizer_trace` and `optimizer_trace_features`.
    pub fn of(trace: &Value, features: &Value, offset: i64, limit: u64, bytes_max: u64) -> Tracing {
        let (said, features) = (read(OPTIMIZER_TRACE, trace), read(OPTIMIZER_TRACE_FEATURES, features));
        let is_on = |flags: &[bool], at: usize| flags.get(at).copied().unwrap_or(false);
        Tracing {
            enabled: is_on(&said, 0),
            one_line: is_on(&said, 1),
            orders: is_on(&features, 0),
            ranges: is_on(&features, 1),
            offset,
            limit,
            bytes_max,
        }
    }
}

/// The text that stands for all flags.
fn text(flags: &[Switch], on: impl Fn(usize) -> bool) -> Value {
    let one = |(at, flag): (usize, &Switch)| format!("{}={}", flag.name, if on(at) { "on" } else { "off" });
    Value::from(flags.iter().enumerate().map(one).collect::<Vec<_>>().join(","))
}

/// Which flags are on in a value in normal form.
fn read(flags: &[Switch], value: &Value) -> Vec<bool> {
    let text = match value {
        Value::Str(text) => text.to_string(),
        _ => String::new(),
    };
    let on = |flag: &Switch| {
        let said = text.split(',').find_map(|one| one.strip_prefix(flag.name)?.strip_prefix('='));
        said.map_or(flag.default, |said| said == "on")
    };
    flags.iter().map(on).collect()
}

impl Definition {
    /// A value over what there is: flags that are not named stay as they are.
    pub(super) fn switched(&self, flags: &[Switch], base: Option<&Value>, value: &Value) -> SqlResult<Value> {
        let mut on =
            base.map_or_else(|| flags.iter().map(|flag| flag.default).collect(), |base| read(flags, base));
        if let Some(bits) = super::integer(value) {
            if !(0..1 << flags.len()).contains(&bits) {
                return Err(self.wrong_value(value));
            }
            return Ok(text(flags, |at| bits >> at & 1 == 1));
        }
        let Some(written) = super::word(value) else { return Err(self.wrong_value(value)) };
        let mut named = vec![false; flags.len()];
        let mut all = None;
        let mut rest = &*written;
        while !rest.is_empty() {
            let one = rest.split(',').next().unwrap_or_default();
            let wrong = || SqlError::wrong_value_for_variable(self.name, rest);
            if one.eq_ignore_ascii_case("default") && all.is_none() {
                all = Some(());
            } else {
                let (name, state) = one.split_once('=').ok_or_else(wrong)?;
                let at =
                    flags.iter().position(|flag| flag.name.eq_ignore_ascii_case(name)).ok_or_else(wrong)?;
                on[at] = match state.to_ascii_lowercase().as_str() {
                    "on" => true,
                    "off" => false,
                    "default" => flags[at].default,
                    _ => return Err(wrong()),
                };
                if std::mem::replace(&mut named[at], true) {
                    return Err(wrong());
                }
            }
            rest = match rest.split_once(',') {
                Some((_, "")) => return Err(SqlError::wrong_value_for_variable(self.name, "")),
                Some((_, rest)) => rest,
                None => "",
            };
        }
        if all.is_some() {
            (0..flags.len()).filter(|at| !named[*at]).for_each(|at| on[at] = flags[at].default);
        }
        Ok(text(flags, |at| on[at]))
    }
}

/// Whether a value asks in vain for something that the one before it did not ask for.
pub(super) fn is_vain(flags: &[Switch], before: Option<&Value>, value: &Value) -> bool {
    let asked = |value: &Value| -> Vec<bool> {
        read(flags, value).into_iter().zip(flags).map(|(on, flag)| flag.vain == Some(on)).collect()
    };
    let before = before.map_or_else(|| vec![false; flags.len()], asked);
    asked(value).into_iter().zip(before).any(|(now, before)| now && !before)
}
