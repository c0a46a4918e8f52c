//! Oracles that need no second server: a query's answer is compared with that of other queries that must give
//! the same.
//!
//! - **Partition** (ternary logic partitioning; Rigger and Su, 2020): the rows of a query are those where a
//!   condition is true, false and unknown, together.
//! - **No reading order** (non-optimizing reference engine construction; Rigger and Su, 2020): as many rows
//!   pass a condition behind WHERE as have it true in the select list, where no index can help.
//! - **Pivot** (pivoted query synthesis; Rigger and Su, 2020): a condition that is true for the values of one
//!   row, computed from literals alone, must find the row.
//! - **Ways** (differential query plans; Ba and Rigger, 2023): a query has the same rows whatever ways to run
//!   it are allowed, all of them and each of them forbidden in turn, and whatever is known of its tables.
//! - **View**: a view of a query has the rows that the query has as a derived table, and so has the view that
//!   is made of what SHOW CREATE VIEW says; that one says the same of itself.

use turnstile_lab::client::{Client, ClientError};
use turnstile_lab::reply::Reply;
use turnstile_sys::rng::Rng;

use super::compare::Outcome;
use super::{Maker, Schema, Visible};
use crate::answer::row_text;

/// Checks over one schema.
const CHECKS_A_SEED: u64 = 25;

enum Given {
    Rows(Vec<String>),
    Error(u16, String),
}

/// Runs the checks of one seed. Statements that the server refuses are counted and left out.
///
/// # Errors
/// When the connection fails.
pub fn seed(client: &mut Client, seed: u64, outcome: &mut Outcome) -> Result<(), ClientError> {
    let mut rng = Rng::new(seed);
    let schema = Schema::make(&mut rng);
    for statement in ["DROP DATABASE IF EXISTS oracle", "CREATE DATABASE oracle", "USE oracle"] {
        client.query(statement)?;
    }
    for statement in schema.statements() {
        client.query(&statement)?;
    }
    for nth in 0..CHECKS_A_SEED {
        let mut rng = rng.fork();
        let found = match nth % 5 {
            0 => partition(client, &mut rng, &schema, outcome)?,
            1 => reading_order(client, &mut rng, &schema, outcome)?,
            2 => ways(client, &mut rng, &schema, outcome)?,
            3 => view(client, &mut rng, &schema, outcome)?,
            _ => pivot(client, &mut rng, &schema, outcome)?,
        };
        outcome.differences.extend(found.map(|text| format!("seed {seed}: {text}")));
    }
    Ok(())
}

fn ask(
    client: &mut Client,
    statement: &str,
    outcome: &mut Outcome,
) -> Result<Option<Vec<String>>, ClientError> {
    outcome.statements += 1;
    match given(client, statement)? {
        Given::Rows(rows) => Ok(Some(rows)),
        Given::Error(code, message) => {
            outcome.refused += 1;
            // A generator of valid statements meets few kinds of errors; others are faults of the server.
            if !EXPECTED.contains(&code) {
                outcome.differences.push(format!("error {code} {message}: {statement}"));
            }
            Ok(None)
        }
    }
}

/// Mixed collations, values out of range, malformed dates and numbers.
const EXPECTED: &[u16] = &[1267, 1270, 1271, 1292, 1365, 1525, 1690];

fn given(client: &mut Client, statement: &str) -> Result<Given, ClientError> {
    Ok(match client.ask(statement)? {
        Reply::Rows { rows, .. } => {
            let mut texts: Vec<String> = rows.iter().map(|row| row_text(row)).collect();
            texts.sort();
            Given::Rows(texts)
        }
        Reply::Ok { .. } => Given::Rows(Vec::new()),
        Reply::Error { code, message, .. } => Given::Error(code, message),
    })
}

fn partition(
    client: &mut Client,
    rng: &mut Rng,
    schema: &Schema,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    let (from, list, condition) = Maker::row_by_row(rng, schema).select_parts();
    let Some(whole) = ask(client, &format!("SELECT {list} FROM {from}"), outcome)? else { return Ok(None) };
    let mut parts = Vec::new();
    for test in [condition.clone(), format!("NOT ({condition})"), format!("({condition}) IS NULL")] {
        let statement = format!("SELECT {list} FROM {from} WHERE {test}");
        let Some(rows) = ask(client, &statement, outcome)? else { return Ok(None) };
        parts.extend(rows);
    }
    parts.sort();
    Ok((parts != whole).then(|| {
        let counts = (whole.len(), parts.len());
        format!("partition: {counts:?} rows: SELECT {list} FROM {from} by {condition}")
    }))
}

fn reading_order(
    client: &mut Client,
    rng: &mut Rng,
    schema: &Schema,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    let (from, _, condition) = Maker::row_by_row(rng, schema).select_parts();
    let Some(rows) = ask(client, &format!("SELECT 1 FROM {from} WHERE {condition}"), outcome)? else {
        return Ok(None);
    };
    let Some(all) = ask(client, &format!("SELECT ({condition}) IS TRUE FROM {from}"), outcome)? else {
        return Ok(None);
    };
    let true_rows = all.iter().filter(|row| *row == "1").count();
    Ok((rows.len() != true_rows).then(|| {
        format!("reading order: {} rows, {true_rows} true: FROM {from} WHERE {condition}", rows.len())
    }))
}

/// Each forbids one way to run a query, or makes it planned without counting.
const FORBIDDEN: [&str; 9] = [
    "SET optimizer_switch = 'default,semijoin=off'",
    "SET optimizer_switch = 'default,block_nested_loop=off'",
    "SET optimizer_switch = 'default,prefer_ordering_index=off'",
    "SET optimizer_switch = 'default,index_merge=off'",
    "SET optimizer_switch = 'default,condition_fanout_filter=off'",
    "SET optimizer_switch = 'default,derived_condition_pushdown=off'",
    "SET optimizer_switch = 'default,derived_merge=off'",
    "SET optimizer_switch = 'default', eq_range_index_dive_limit = 1",
    "ANALYZE TABLE t0, t1, t2",
];

/// A statement that may be run in many ways.
fn statement_of_ways(rng: &mut Rng, schema: &Schema) -> String {
    let (from, list, condition) = Maker::row_by_row(rng, schema).select_parts();
    let (inner_from, _, inner) = Maker::row_by_row(rng, schema).select_parts();
    let tables = &schema.tables;
    let (one, other) = (&tables[rng.index(tables.len())], &tables[rng.index(tables.len())]);
    let column = |rng: &mut Rng, table: &super::schema::Table| {
        table.columns[rng.index(table.columns.len())].name.clone()
    };
    match rng.index(5) {
        0 => format!("SELECT {list} FROM {from} WHERE {condition}"),
        1 => format!(
            "SELECT {list} FROM {from} WHERE ({condition}) IS NOT FALSE AND 1 IN (SELECT 1 FROM {inner_from} WHERE {inner})"
        ),
        2 => {
            let (a, b, c) = (column(rng, one), column(rng, other), column(rng, other));
            let mut kind = || ["JOIN", "LEFT JOIN", "RIGHT JOIN"][rng.index(3)];
            let (kind, within) = (kind(), kind());
            let having = ["", "AND EXISTS (SELECT 1 FROM t0 AS q WHERE q.id = z.id + 1)"][rng.index(2)];
            let counted = ["", ", (SELECT COUNT(*) FROM t1 AS q WHERE q.id = d.k) AS c"][rng.index(2)];
            let computed = if rng.index(2) == 0 { "" } else { ", z.id + 1 AS n" };
            let asked = ["", "WHERE d.v IS NOT NULL", "WHERE d.k > 1"][rng.index(3)];
            format!(
                "SELECT x.id, d.*{counted} FROM {} AS x {kind} (SELECT e.* FROM (SELECT z.id AS k, z.{b} AS v, \
                 z.{c} AS w{computed} FROM {} AS z WHERE z.id > {} {having}) AS e {within} {} AS y ON y.id = e.k) \
                 AS d ON x.{a} = d.v {asked}",
                one.name,
                other.name,
                rng.index(4),
                one.name
            )
        }
        3 => groups_asked_for(rng, (one, other), &column),
        _ => {
            let (a, b) = (column(rng, one), column(rng, other));
            let key = column(rng, one);
            format!(
                "SELECT x.id, y.id FROM {} AS x LEFT JOIN {} AS y ON x.{a} = y.{b} \
                 WHERE x.{key} IN (SELECT z.{key} FROM {} AS z WHERE z.id > {})",
                one.name,
                other.name,
                one.name,
                rng.index(4)
            )
        }
    }
}

/// Groups of a derived table, some of which are asked for.
fn groups_asked_for(
    rng: &mut Rng,
    (one, other): (&super::schema::Table, &super::schema::Table),
    column: &dyn Fn(&mut Rng, &super::schema::Table) -> String,
) -> String {
    let (a, b, c) = (column(rng, one), column(rng, other), column(rng, other));
    let kind = ["JOIN", "LEFT JOIN", "RIGHT JOIN"][rng.index(3)];
    let inner = [
        format!(
            "SELECT y.{b} AS k, y.{c} AS v, COUNT(*) AS n FROM {} AS y GROUP BY y.{b}, y.{c}",
            other.name
        ),
        format!("SELECT DISTINCT y.{b} AS k, y.{c} AS v FROM {} AS y ORDER BY 1", other.name),
        format!(
            "SELECT {b} AS k, {b} AS v, MAX({c}) AS n FROM {} GROUP BY {b} HAVING n IS NOT NULL",
            other.name
        ),
    ];
    let literal = ["1", "'a'", "-1", "'2024-01-01'", "0.5"][rng.index(5)];
    let asked = [
        format!("d.k = {literal}"),
        format!("d.k > {literal} AND d.v IS NOT NULL"),
        format!("d.v IN ({literal}, 2)"),
        format!("d.k BETWEEN 0 AND {literal} OR d.v = 1"),
        "d.k IS NULL".to_string(),
    ];
    format!(
        "SELECT x.id, d.* FROM {} AS x {kind} ({}) AS d ON x.{a} = d.k WHERE {}",
        one.name,
        inner[rng.index(3)],
        asked[rng.index(5)]
    )
}

fn ways(
    client: &mut Client,
    rng: &mut Rng,
    schema: &Schema,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    let statement = statement_of_ways(rng, schema);
    let Some(rows) = ask(client, &statement, outcome)? else { return Ok(None) };
    for forbids in FORBIDDEN {
        given(client, forbids)?;
        let other = ask(client, &statement, outcome)?;
        given(client, "SET optimizer_switch = 'default', eq_range_index_dive_limit = 200")?;
        if let Some(other) = other
            && other != rows
        {
            let counts = (rows.len(), other.len());
            return Ok(Some(format!("ways: {counts:?} rows by {forbids}: {statement}")));
        }
    }
    Ok(None)
}

fn view(
    client: &mut Client,
    rng: &mut Rng,
    schema: &Schema,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    let query = Maker::of_all_kinds(rng, schema).query();
    let (text, names) = (query.text(), (0..query.list.len()).map(|nth| format!("c{nth}")));
    let names = names.collect::<Vec<_>>().join(", ");
    outcome.statements += 1;
    let Given::Rows(rows) = given(client, &format!("SELECT * FROM ({text}) AS q ({names})"))? else {
        return Ok(None);
    };
    client.query("DROP VIEW IF EXISTS viewed")?;
    let mut made = format!("CREATE VIEW viewed ({names}) AS {text}");
    let mut told: Option<String> = None;
    for _ in 0..2 {
        if let Given::Error(code, message) = given(client, &made)? {
            return Ok(Some(format!("view: error {code} {message}: {made}")));
        }
        let Given::Rows(shown) = given(client, "SHOW CREATE VIEW viewed")? else {
            return Ok(Some(format!("view: not shown: {made}")));
        };
        let Some(Given::Rows(seen)) = given(client, "SELECT * FROM viewed").map(Some)? else {
            return Ok(Some(format!("view: not read: {made}")));
        };
        if seen != rows {
            return Ok(Some(format!("view: {:?} rows: {made}", (rows.len(), seen.len()))));
        }
        let Reply::Rows { rows: statement, .. } = client.ask("SHOW CREATE VIEW viewed")? else {
            return Ok(None);
        };
        let statement = statement.first().and_then(|row| row.get(1)).and_then(Clone::clone);
        made = String::from_utf8_lossy(&statement.unwrap_or_default()).into_owned();
        if told.as_ref().is_some_and(|told| *told != shown.concat()) {
            return Ok(Some(format!("view: told otherwise: {made}")));
        }
        told = Some(shown.concat());
        client.query("DROP VIEW viewed")?;
    }
    Ok(None)
}

fn pivot(
    client: &mut Client,
    rng: &mut Rng,
    schema: &Schema,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    let table = &schema.tables[rng.index(schema.tables.len())];
    if table.rows.is_empty() {
        return Ok(None);
    }
    let row = &table.rows[rng.index(table.rows.len())];
    let columns: Vec<Visible> =
        table.columns.iter().map(|c| Visible { name: format!("p.{}", c.name), kind: c.kind }).collect();
    let condition = Maker::flat(rng, schema).condition_over(columns);
    // The row's values as literals, given the columns' types by an empty copy of the table.
    let names = table.given();
    client.query("DROP TABLE IF EXISTS pivot")?;
    client.query(&format!("CREATE TABLE pivot LIKE {}", table.name))?;
    client.query(&format!("INSERT INTO pivot ({}) VALUES ({})", names.join(", "), row.join(", ")))?;
    let Some(truth) = ask(client, &format!("SELECT ({condition}) IS TRUE FROM pivot AS p"), outcome)? else {
        return Ok(None);
    };
    let wanted = if truth.first().is_some_and(|value| value == "1") { "IS TRUE" } else { "IS NOT TRUE" };
    let found =
        format!("SELECT p.id FROM {} AS p WHERE ({condition}) {wanted} AND p.id = {}", table.name, row[0]);
    let wide = format!("SELECT p.id FROM {} AS p WHERE ({condition}) {wanted}", table.name);
    for statement in [found, wide] {
        let Some(rows) = ask(client, &statement, outcome)? else { return Ok(None) };
        if !rows.contains(&row[0]) {
            return Ok(Some(format!("pivot {}: {statement}", row.join(", "))));
        }
    }
    Ok(None)
}
