//! Rules of the optimizer against each other: the same query over tables with many keys with every rule on,
//! with each flag of `optimizer_switch` turned in its turn, with all of them off, and over tables with the
//! same rows and no keys at all. The rows must be the same.
//!
//! The flags are those that the server itself tells of, so that any server of MySQL's kind can be asked. One
//! that changes no line of EXPLAIN runs the same plan, and is not run again.

mod maker;

use turnstile_lab::client::{Client, ClientError};
use turnstile_lab::reply::Reply;
use turnstile_sys::rng::Rng;

use super::compare::Outcome;
use crate::answer::row_text;
use maker::{Asked, Tables};

/// Queries over one schema.
const QUERIES_A_SEED: u64 = 40;

/// Where the tables without keys are, and those with keys.
const BARE: &str = "oracle_bare";
const KEYED: &str = "oracle";

/// Words of EXPLAIN that tell of a rule.
const TOLD: &[&str] = &[
    "Select tables optimized away",
    "Using index for group-by",
    "FirstMatch",
    "Not exists",
    "Using index condition",
    "Using intersect",
    "union(",
    "MATERIALIZED",
    "hash join",
    "DEPENDENT SUBQUERY",
    "DERIVED",
];

/// What a query came to: rows, sorted unless their order is told, or the number of its error.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    Rows(Vec<String>),
    Error(u16),
}

/// The flags of `optimizer_switch` of a server, and whether each is on.
struct Flags(Vec<(String, bool)>);

impl Flags {
    fn of(client: &mut Client) -> Result<Flags, ClientError> {
        let Reply::Rows { rows, .. } = client.ask("SELECT @@optimizer_switch")? else {
            return Err(ClientError::Protocol("no optimizer_switch"));
        };
        let text = rows.first().and_then(|row| row.first().cloned().flatten()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let pairs = text.split(',').filter_map(|one| one.split_once('='));
        // Another optimizer, which a server may not have, rather than a rule of this one.
        let pairs = pairs.filter(|(name, _)| *name != "hypergraph_optimizer");
        Ok(Flags(pairs.map(|(name, on)| (name.to_string(), on == "on")).collect()))
    }

    fn all_off(&self) -> String {
        let off: Vec<String> = self.0.iter().map(|(name, _)| format!("{name}=off")).collect();
        off.join(",")
    }

    /// Settings that turn one flag each.
    fn turned(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, on)| format!("{name}={}", if *on { "off" } else { "on" }))
    }
}

/// Runs the queries of one seed.
///
/// # Errors
/// When the connection fails.
pub fn seed(client: &mut Client, seed: u64, outcome: &mut Outcome) -> Result<(), ClientError> {
    let mut rng = Rng::new(seed);
    let tables = Tables::make(&mut rng);
    for (database, keyed) in [(BARE, false), (KEYED, true)] {
        client.query(&format!("DROP DATABASE IF EXISTS {database}"))?;
        client.query(&format!("CREATE DATABASE {database}"))?;
        client.query(&format!("USE {database}"))?;
        for statement in tables.statements(keyed) {
            client
                .query(&statement)
                .inspect_err(|_| eprintln!("seed {seed}: {database}: {statement:.80}"))?;
        }
    }
    let flags = Flags::of(client)?;
    for nth in 0..QUERIES_A_SEED {
        let asked = Asked::make(&mut rng.fork(), &tables, nth);
        // A connection that breaks, or an answer that does not come, tells nothing of the query by itself.
        let told = |_: &ClientError| eprintln!("seed {seed}: {}", asked.text);
        if let Some(text) = check(client, &flags, &asked, outcome).inspect_err(told)? {
            outcome.differences.push(format!("seed {seed}: {text}"));
        }
        // Kept plans and statistics that have become untrue belong to it.
        if nth == QUERIES_A_SEED / 2 {
            for database in [BARE, KEYED] {
                client.query(&format!("USE {database}"))?;
                for statement in tables.changes() {
                    if let Reply::Error { code, message, .. } = client.ask(&statement)? {
                        let text = format!("seed {seed}: {database}: error {code} {message}: {statement}");
                        outcome.differences.push(text);
                    }
                }
            }
        }
    }
    client.query(&format!("DROP DATABASE {BARE}"))?;
    Ok(())
}

/// Puts a query in every way; tells of the first that differs.
fn check(
    client: &mut Client,
    flags: &Flags,
    asked: &Asked,
    outcome: &mut Outcome,
) -> Result<Option<String>, ClientError> {
    outcome.statements += 1;
    client.query(&format!("USE {BARE}"))?;
    set(client, &flags.all_off())?;
    let wanted = given(client, asked)?;
    set(client, "default")?;
    client.query(&format!("USE {KEYED}"))?;
    outcome.refused += u64::from(matches!(wanted, Given::Error(_)));
    let plan = explained(client, &asked.text)?;
    for told in TOLD.iter().filter(|told| plan.contains(**told)) {
        *outcome.plans.entry(told).or_default() += 1;
    }
    let found = given(client, asked)?;
    let differs = |found: &Given, how: &str| {
        (*found != wanted).then(|| format!("{how}: {}\n    bare {wanted:?}\n    got  {found:?}", asked.text))
    };
    if let Some(text) = differs(&found, "all on") {
        return Ok(Some(text));
    }
    let settings = flags.turned().chain([flags.all_off()]);
    for setting in settings {
        set(client, &setting)?;
        if explained(client, &asked.text)? != plan {
            let found = given(client, asked)?;
            if let Some(text) = differs(&found, &setting) {
                set(client, "default")?;
                return Ok(Some(text));
            }
        }
        set(client, "default")?;
    }
    Ok(None)
}

fn set(client: &mut Client, flags: &str) -> Result<(), ClientError> {
    client.query(&format!("SET optimizer_switch = '{flags}'")).map(|_| ())
}

fn explained(client: &mut Client, statement: &str) -> Result<String, ClientError> {
    Ok(match client.ask(&format!("EXPLAIN {statement}"))? {
        Reply::Rows { rows, .. } => rows.iter().map(|row| row_text(row)).collect::<Vec<_>>().join("\n"),
        Reply::Ok { .. } => String::new(),
        Reply::Error { code, .. } => code.to_string(),
    })
}

fn given(client: &mut Client, asked: &Asked) -> Result<Given, ClientError> {
    Ok(match client.ask(&asked.text)? {
        // Which of several equal texts is shown is a matter of the plan.
        Reply::Rows { rows, .. } => {
            let mut rows: Vec<String> = rows.iter().map(|row| row_text(row).to_lowercase()).collect();
            if !asked.ordered {
                rows.sort();
            }
            Given::Rows(rows)
        }
        Reply::Ok { .. } => Given::Rows(Vec::new()),
        Reply::Error { code, .. } => Given::Error(code),
    })
}
