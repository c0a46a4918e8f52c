//! The same random statements at two servers: rows, counts and errors must agree.

use turnstile_lab::client::{Client, ClientError, Target};
use turnstile_lab::reply::Reply;
use turnstile_sys::rng::Rng;

use super::{Maker, Query, Schema};
use crate::answer::row_text;

/// Errors that a server raises or not depending on what it evaluates first; the order is its own affair.
const BY_ORDER: &[u16] = &[1690, 1365, 1292, 1411, 3157];

/// Texts whose collations do not fit, and columns or aggregates that do not fit groups: a statement with both faults is refused for
/// the one that a server sees first.
const BY_COLLATION: &[u16] = &[1267, 1270, 1271];
const BY_GROUP: &[u16] = &[1140, 1055, 1056, 1111];

/// Statements over one schema.
const STATEMENTS_A_SEED: u64 = 25;

/// What came out of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Statements compared.
    pub statements: u64,
    /// Those that both servers refused with one number.
    pub refused: u64,
    /// Those left out because evaluation order decides about an error.
    pub unordered: u64,
    /// Those that the second server answers as the first does, and otherwise, depending on its plan.
    pub contradicted: u64,
    /// Those that the first server refuses for ONLY_FULL_GROUP_BY alone: the second one looks for columns that no group determines after it
    /// has thrown away what constant conditions make needless.
    pub stricter: u64,
    /// Differences, as text.
    pub differences: Vec<String>,
}

/// Ways to run a statement that must not change its rows. Where the second server's rows are other ones then, and ours, it contradicts
/// itself: which rows it gives is a matter of its optimizer's faults, and says nothing about ours.
const PLANS: &[&str] = &[
    "semijoin=off",
    "semijoin=off,materialization=off",
    "derived_merge=off",
    "derived_merge=off,semijoin=off,materialization=off,subquery_to_derived=off,derived_condition_pushdown=off",
    "block_nested_loop=off,hash_join=off,index_condition_pushdown=off,index_merge=off,use_index_extensions=off",
];

/// Two servers with the same data.
pub struct Pair {
    one: Client,
    two: Client,
}

/// An answer with all that depends on chance taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Rows(Vec<String>),
    Count(u64),
    Error(u16),
}

impl Pair {
    /// Connects to both, in an empty database.
    ///
    /// # Errors
    /// When a connection fails.
    pub fn open(one: &Target, two: &Target) -> Result<Pair, ClientError> {
        let open = |target: &Target| -> Result<Client, ClientError> {
            let mut client = Client::connect(target)?;
            for statement in ["SET NAMES utf8mb4", "SET time_zone = '+00:00'"] {
                client.query(statement)?;
            }
            Ok(client)
        };
        Ok(Pair { one: open(one)?, two: open(two)? })
    }

    fn both(&mut self, statement: &str) -> Result<(), ClientError> {
        self.one.query(statement)?;
        self.two.query(statement).map(|_| ())
    }

    fn prepare(&mut self, schema: &Schema) -> Result<(), ClientError> {
        for statement in ["DROP DATABASE IF EXISTS oracle", "CREATE DATABASE oracle", "USE oracle"] {
            self.both(statement)?;
        }
        schema.statements().iter().try_for_each(|statement| self.both(statement))
    }

    fn answers(&mut self, statement: &str) -> Result<(Answer, Answer), ClientError> {
        Ok((answer(&mut self.one, statement)?, answer(&mut self.two, statement)?))
    }

    /// Whether the two differ on a statement in a way that counts.
    fn differ(&mut self, statement: &str) -> Result<bool, ClientError> {
        let (one, two) = self.answers(statement)?;
        Ok(one != two
            && !two_faults(&one, &two)
            && !by_order(&one)
            && !by_order(&two)
            && !self.is_stricter(statement)?
            && !self.contradicts_itself(statement)?)
    }

    /// Whether the second server gives the first one's rows when it takes another plan.
    fn contradicts_itself(&mut self, statement: &str) -> Result<bool, ClientError> {
        let (one, two) = self.answers(statement)?;
        if !matches!((&one, &two), (Answer::Rows(_), Answer::Rows(_))) {
            return Ok(false);
        }
        for plan in PLANS {
            self.two.query(&format!("SET optimizer_switch = '{plan}'"))?;
            let other = answer(&mut self.two, statement)?;
            self.two.query("SET optimizer_switch = DEFAULT")?;
            if other == one {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether ONLY_FULL_GROUP_BY alone makes the difference: without it the first server gives the second one's rows.
    fn is_stricter(&mut self, statement: &str) -> Result<bool, ClientError> {
        let (one, two) = self.answers(statement)?;
        if !matches!((&one, &two), (Answer::Error(1140 | 1055), Answer::Rows(_))) {
            return Ok(false);
        }
        self.one.query("SET sql_mode = 'STRICT_TRANS_TABLES'")?;
        let other = answer(&mut self.one, statement)?;
        self.one.query("SET sql_mode = DEFAULT")?;
        Ok(other == two)
    }

    /// Leaves parts out while the two still differ.
    fn shrink(&mut self, mut query: Query) -> Result<Query, ClientError> {
        'again: loop {
            for smaller in query.smaller() {
                if self.differ(&smaller.text())? {
                    query = smaller;
                    continue 'again;
                }
            }
            return Ok(query);
        }
    }

    /// Runs the statements of one seed.
    ///
    /// # Errors
    /// When a connection fails.
    pub fn seed(&mut self, seed: u64, outcome: &mut Outcome) -> Result<(), ClientError> {
        let mut rng = Rng::new(seed);
        let schema = Schema::make(&mut rng);
        self.prepare(&schema)?;
        for nth in 0..STATEMENTS_A_SEED {
            let mut rng = rng.fork();
            outcome.statements += 1;
            if nth % 8 == 7 {
                let (change, table) = Maker::new(&mut rng, &schema).change();
                self.compare_change(seed, &change, &table, outcome)?;
                continue;
            }
            let query = Maker::new(&mut rng, &schema).query();
            let (one, two) = self.answers(&query.text())?;
            if one == two || two_faults(&one, &two) {
                outcome.refused += u64::from(matches!(one, Answer::Error(_)));
            } else if by_order(&one) || by_order(&two) {
                outcome.unordered += 1;
            } else if self.is_stricter(&query.text())? {
                outcome.stricter += 1;
            } else if self.contradicts_itself(&query.text())? {
                outcome.contradicted += 1;
            } else {
                let text = self.shrink(query)?.text();
                let (one, two) = self.answers(&text)?;
                outcome.differences.push(difference(seed, &text, &one, &two));
            }
        }
        Ok(())
    }

    fn compare_change(
        &mut self,
        seed: u64,
        change: &str,
        table: &str,
        outcome: &mut Outcome,
    ) -> Result<(), ClientError> {
        self.both("START TRANSACTION")?;
        let (one, two) = self.answers(change)?;
        let (rows_one, rows_two) = self.answers(&format!("SELECT * FROM {table}"))?;
        self.both("ROLLBACK")?;
        if by_order(&one) || by_order(&two) {
            outcome.unordered += 1;
        } else if one != two {
            outcome.differences.push(difference(seed, change, &one, &two));
        } else if rows_one != rows_two {
            let text = format!("{change}; SELECT * FROM {table}");
            outcome.differences.push(difference(seed, &text, &rows_one, &rows_two));
        }
        Ok(())
    }
}

fn two_faults(one: &Answer, two: &Answer) -> bool {
    let (Answer::Error(one), Answer::Error(two)) = (one, two) else { return false };
    let both = |first, second| BY_COLLATION.contains(first) && BY_GROUP.contains(second);
    both(one, two) || both(two, one)
}

fn by_order(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(code) if BY_ORDER.contains(code))
}

fn answer(client: &mut Client, statement: &str) -> Result<Answer, ClientError> {
    Ok(match client.ask(statement)? {
        Reply::Error { code, .. } => Answer::Error(code),
        Reply::Ok { affected, .. } => Answer::Count(affected),
        Reply::Rows { columns, mut rows, .. } => {
            for row in &mut rows {
                for (value, column) in row.iter_mut().zip(&columns) {
                    *value = value.as_deref().map(|value| match column.kind {
                        4 | 5 => rounded(value),
                        246 => without_zeros(value),
                        _ => folded(value),
                    });
                }
            }
            let mut texts: Vec<String> = rows.iter().map(|row| row_text(row)).collect();
            texts.sort();
            Answer::Rows(texts)
        }
    })
}

/// Ten digits of a double: sums come in the order in which a server reads its rows.
fn rounded(text: &[u8]) -> Vec<u8> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    number.map_or_else(|| text.to_vec(), |number| format!("{:.9e}", number + 0.0).into_bytes())
}

/// A decimal without zeros at its end: MySQL shows that of IF or CASE with the digits of the branch, but with those of the column once it
/// has gone through a table of its own, as some plans of DISTINCT, GROUP BY and ORDER BY have one.
fn without_zeros(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let kept = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    kept.as_bytes().to_vec()
}

/// Text as its collation sees it: which of several equal texts MIN, DISTINCT or GROUP BY shows is the server's choice.
fn folded(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).to_lowercase().replace('ä', "a");
    text.trim_end().as_bytes().to_vec()
}

fn difference(seed: u64, statement: &str, one: &Answer, two: &Answer) -> String {
    let shown = |answer: &Answer| match answer {
        Answer::Rows(rows) => {
            let some: Vec<&str> = rows.iter().take(12).map(String::as_str).collect();
            format!("{} rows: {}", rows.len(), some.join(" / "))
        }
        Answer::Count(count) => format!("ok {count}"),
        Answer::Error(code) => format!("error {code}"),
    };
    format!("seed {seed}: {statement}\n    ours   {}\n    theirs {}", shown(one), shown(two))
}
