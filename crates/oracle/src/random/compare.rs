//! The same random statements at two servers: rows, counts and errors must agree.

use std::collections::BTreeMap;

use turnstile_lab::client::{Client, ClientError, Target};
use turnstile_lab::reply::Reply;
use turnstile_sys::rng::Rng;

use super::{Maker, Query, Schema, besides, equal, plain, prepared};
use crate::answer::row_text;

/// Errors that a server raises or not depending on what it evaluates first; the order is its own affair.
const BY_ORDER: &[u16] = &[1690, 1365, 1292, 1411, 1525, 3141, 3157];

/// A document that is compared with a number or a time: while the second server prepares a change in strict
/// mode, it tries the document as a value of the column's type, refuses it, and never compares it so; in a
/// SELECT it compares the two.
const BY_PREPARATION: u16 = 3156;

/// Texts whose collations do not fit, and columns or aggregates that do not fit groups: a statement with both
/// faults is refused for the one that a server sees first.
const BY_COLLATION: &[u16] = &[1267, 1270, 1271];
const BY_GROUP: &[u16] = &[1140, 1055, 1056, 1111];

/// Statements over one schema.
const STATEMENTS_A_SEED: u64 = 25;

/// Statements of rare forms over one schema, behind the others.
const RARE_A_SEED: u64 = 5;

/// Statements over one schema in which equal values of several types meet, behind these.
const MIXED_A_SEED: u64 = 2;

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
    /// Those that the first server refuses for ONLY_FULL_GROUP_BY alone: the second one looks for columns
    /// that no group determines after it has thrown away what constant conditions make needless.
    pub stricter: u64,
    /// Those whose decimals have as many digits as the second server's plan gives them.
    pub digits: u64,
    /// Those of which LIMIT takes some by the order of documents, which the second server does not sort.
    pub unsorted: u64,
    /// Of queries whose plans are looked at: how many plans say so in EXPLAIN.
    pub plans: BTreeMap<&'static str, u64>,
    /// Differences, as text.
    pub differences: Vec<String>,
    /// Columns that differ where the rows do not.
    pub columns: Vec<String>,
    /// Warnings that differ where the rows do not.
    pub warnings: Vec<String>,
}

/// Ways to run a statement that must not change its rows. Where the second server's rows are other ones then,
/// and ours, it contradicts itself: which rows it gives is a matter of its optimizer's faults, and says
/// nothing about ours.
const PLANS: &[&str] = &[
    "semijoin=off",
    "semijoin=off,materialization=off",
    "derived_merge=off",
    "derived_merge=off,semijoin=off,materialization=off,subquery_to_derived=off,derived_condition_pushdown=off",
    "block_nested_loop=off,hash_join=off,index_condition_pushdown=off,index_merge=off,use_index_extensions=off",
];

/// What of an answer is compared besides its rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Besides {
    /// Types, signs, decimals and NOT NULL of columns.
    pub columns: bool,
    /// Numbers of warnings.
    pub warnings: bool,
}

/// Two servers with the same data.
pub struct Pair {
    one: Client,
    two: Client,
    besides: Besides,
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
    pub fn open(one: &Target, two: &Target, besides: Besides) -> Result<Pair, ClientError> {
        let open = |target: &Target| -> Result<Client, ClientError> {
            let mut client = Client::connect(target)?;
            for statement in ["SET NAMES utf8mb4", "SET time_zone = '+00:00'"] {
                client.query(statement)?;
            }
            Ok(client)
        };
        Ok(Pair { one: open(one)?, two: open(two)?, besides })
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

    /// Whether the two differ on a query in a way that counts.
    fn differ(&mut self, query: &Query, parameters: bool) -> Result<bool, ClientError> {
        let statement = &form(&query.text(), parameters);
        let (one, two) = self.answers(statement)?;
        Ok(one != two
            && !two_faults(&one, &two)
            && !by_order(&one)
            && !by_order(&two)
            && !self.is_stricter(statement)?
            && !self.contradicts_itself(statement)?
            && !self.contradicts_in_parts(query, parameters, &one, &two)?
            && !self.cut_by_distinct(query, parameters, &one)?)
    }

    /// Whether the second server gives the first one's rows when it takes another plan, or for the statement
    /// in other words.
    fn contradicts_itself(&mut self, statement: &str) -> Result<bool, ClientError> {
        let (one, two) = self.answers(statement)?;
        for form in equal::forms(statement) {
            if same_numbers(&answer(&mut self.two, &form)?, &one) {
                return Ok(true);
            }
        }
        if !matches!((&one, &two), (Answer::Rows(_), Answer::Rows(_))) {
            return Ok(false);
        }
        Ok(self.another_plan(statement, &one)? || self.refuses_unmerged(statement)?)
    }

    /// Whether the second server refuses the statement for its groups once derived tables are not merged:
    /// what it gives for a column of one that is a constant, where there are no rows, follows from the
    /// merging.
    fn refuses_unmerged(&mut self, statement: &str) -> Result<bool, ClientError> {
        self.two.query("SET optimizer_switch = 'derived_merge=off'")?;
        let other = answer(&mut self.two, statement)?;
        self.two.query("SET optimizer_switch = DEFAULT")?;
        Ok(matches!(other, Answer::Error(code) if BY_GROUP.contains(&code)))
    }

    /// Whether the second server has the first one's rows for DISTINCT if it does not put them into a
    /// temporary table, which cuts a number that became text: the type DECIMAL(3,3) has no place for the 0
    /// before the point beside a sign.
    fn cut_by_distinct(
        &mut self,
        query: &Query,
        parameters: bool,
        one: &Answer,
    ) -> Result<bool, ClientError> {
        if !query.distinct || !query.members.is_empty() || query.limit.is_some() {
            return Ok(false);
        }
        let all = Query { distinct: false, ..query.clone() };
        let Answer::Rows(mut rows) = answer(&mut self.two, &form(&all.text(), parameters))? else {
            return Ok(false);
        };
        rows.dedup();
        Ok(Answer::Rows(rows) == *one)
    }

    /// Whether ONLY_FULL_GROUP_BY alone makes the difference: without it the first server gives the second
    /// one's rows.
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

    /// Whether WITH ROLLUP stands over no rows. MySQL gives its only row NULL for the keys where it finds no
    /// rows, but where it knows beforehand that there are none, it shows the keys computed of NULL.
    fn of_no_rows(
        &mut self,
        query: &Query,
        parameters: bool,
        one: &Answer,
        two: &Answer,
    ) -> Result<bool, ClientError> {
        let single = |answer: &Answer| matches!(answer, Answer::Rows(rows) if rows.len() == 1);
        if !query.rollup || !single(one) || !single(two) {
            return Ok(false);
        }
        let (one, two) = self.answers(&form(&query.rows_grouped().text(), parameters))?;
        let none = Answer::Rows(vec!["0".into()]);
        Ok(one == none && two == none)
    }

    /// Whether the second server has the first one's answer where parts of the query are said otherwise, or
    /// left away: it does not find that a key of GROUP BY with INTERVAL() is the entry of the select list.
    fn contradicts_in_parts(
        &mut self,
        query: &Query,
        parameters: bool,
        one: &Answer,
        two: &Answer,
    ) -> Result<bool, ClientError> {
        let smaller = match (one, two) {
            (Answer::Rows(_), Answer::Error(1055)) => query.grouped_by_positions(),
            _ => None,
        };
        match smaller {
            Some(smaller) => Ok(answer(&mut self.two, &form(&smaller.text(), parameters))? == *one),
            None => self.answers_otherwise(query, parameters, one),
        }
    }

    /// Whether the second server has this answer for the query with literals in place of parameters or the
    /// other way round, with its condition where no join is made simpler by it, or for all rows of the query
    /// as a derived table.
    fn answers_otherwise(
        &mut self,
        query: &Query,
        parameters: bool,
        one: &Answer,
    ) -> Result<bool, ClientError> {
        for (other, parameters) in [
            (query.text(), !parameters),
            (query.hidden().text(), parameters),
            (query.hidden().text(), !parameters),
            (query.whole(), parameters),
            (query.whole(), !parameters),
        ] {
            let other = form(&other, parameters);
            for said in std::iter::once(other.clone()).chain(equal::forms(&other)) {
                if answer(&mut self.two, &said)? == *one || self.another_plan(&said, one)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether the second server answers so when it takes another plan.
    fn another_plan(&mut self, statement: &str, one: &Answer) -> Result<bool, ClientError> {
        for plan in PLANS {
            self.two.query(&format!("SET optimizer_switch = '{plan}'"))?;
            let other = answer(&mut self.two, statement)?;
            self.two.query("SET optimizer_switch = DEFAULT")?;
            if other == *one {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether LIMIT takes rows by the order of documents: the second server warns that it does not sort
    /// them.
    fn is_unsorted(&mut self, query: &Query, statement: &str) -> Result<bool, ClientError> {
        if query.limit.is_none() || !matches!(answer(&mut self.two, statement)?, Answer::Rows(_)) {
            return Ok(false);
        }
        let Reply::Rows { rows, .. } = self.two.ask("SHOW WARNINGS")? else { return Ok(false) };
        Ok(rows.iter().any(|row| row_text(row).contains("sorting of non-scalar JSON values")))
    }

    /// Leaves parts out while the two still differ.
    fn shrink(&mut self, mut query: Query, parameters: bool) -> Result<Query, ClientError> {
        'again: loop {
            for smaller in query.smaller() {
                if self.differ(&smaller, parameters)? {
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
        for nth in 0..STATEMENTS_A_SEED + RARE_A_SEED + MIXED_A_SEED {
            let mut rng = rng.fork();
            outcome.statements += 1;
            let rare = nth >= STATEMENTS_A_SEED;
            let parameters = rng.below(4) == 0 && !rare;
            if nth % 4 == 3 && !rare {
                let (change, tables) = Maker::of_all_kinds(&mut rng, &schema).change();
                let said = [form(&change, parameters), form(&change, !parameters)];
                self.compare_change(seed, &said, &tables, outcome)?;
                continue;
            }
            let mixed = nth >= STATEMENTS_A_SEED + RARE_A_SEED;
            let query = match rare {
                true if mixed => Maker::new(&mut rng, &schema).mixed_query(),
                true => Maker::new(&mut rng, &schema).rare_query(),
                false => Maker::of_all_kinds(&mut rng, &schema).query(),
            };
            let text = form(&query.text(), parameters);
            let (one, two) = self.answers(&text)?;
            if one == two || two_faults(&one, &two) {
                outcome.refused += u64::from(matches!(one, Answer::Error(_)));
                if matches!(one, Answer::Rows(_)) {
                    self.compare_besides(seed, &query, &text, outcome)?;
                }
            } else if by_order(&one) || by_order(&two) {
                outcome.unordered += 1;
            } else if self.is_stricter(&text)? {
                outcome.stricter += 1;
            } else if self.contradicts_itself(&text)?
                || self.contradicts_in_parts(&query, parameters, &one, &two)?
                || self.of_no_rows(&query, parameters, &one, &two)?
                || self.cut_by_distinct(&query, parameters, &one)?
            {
                outcome.contradicted += 1;
            } else if self.is_unsorted(&query, &text)? {
                outcome.unsorted += 1;
            } else if digits_by_plan(&query, &one, &two) {
                outcome.digits += 1;
            } else {
                let text = form(&self.shrink(query, parameters)?.text(), parameters);
                let (one, two) = self.answers(&text)?;
                outcome.differences.push(difference(seed, &text, &one, &two));
            }
        }
        Ok(())
    }

    /// What the columns of a query are, and what is warned of, where its rows are the same.
    fn compare_besides(
        &mut self,
        seed: u64,
        query: &Query,
        text: &str,
        outcome: &mut Outcome,
    ) -> Result<(), ClientError> {
        if self.besides.columns {
            let (one, two) = (besides::columns(&mut self.one, text)?, besides::columns(&mut self.two, text)?);
            for (nth, (one, two)) in one.iter().zip(&two).enumerate().filter(|(_, (one, two))| one != two) {
                let item = plain(&query.list[nth]);
                outcome.columns.push(format!("seed {seed}: {one} for {two}: {item} in {text}"));
            }
        }
        if self.besides.warnings {
            let (one, two) =
                (besides::warnings(&mut self.one, text)?, besides::warnings(&mut self.two, text)?);
            if one != two {
                outcome.warnings.push(format!("seed {seed}: warnings {one:?} for {two:?}: {text}"));
            }
        }
        Ok(())
    }

    fn compare_change(
        &mut self,
        seed: u64,
        said: &[String; 2],
        tables: &[String],
        outcome: &mut Outcome,
    ) -> Result<(), ClientError> {
        let [change, otherwise] = said;
        self.both("START TRANSACTION")?;
        let (one, two) = self.answers(change)?;
        let mut left = Vec::new();
        for table in tables {
            left.push((table, self.answers(&format!("SELECT * FROM {table}"))?));
        }
        self.both("ROLLBACK")?;
        for table in tables {
            let (one, two) = self.answers(&format!("SELECT * FROM {table}"))?;
            if one != two {
                let text = format!("{change}; ROLLBACK; SELECT * FROM {table}");
                outcome.differences.push(difference(seed, &text, &one, &two));
            }
        }
        let differs = one != two || left.iter().any(|(_, (one, two))| one != two);
        if by_order(&one) || by_order(&two) || is_prepared_otherwise(&one, &two) {
            outcome.unordered += 1;
        } else if differs && self.changes_otherwise([change, otherwise], &one, &left)? {
            outcome.contradicted += 1;
        } else if one != two {
            outcome.differences.push(difference(seed, change, &one, &two));
        } else if let Some((table, (one, two))) = left.iter().find(|(_, (one, two))| one != two) {
            let text = format!("{change}; SELECT * FROM {table}");
            outcome.differences.push(difference(seed, &text, one, two));
        }
        Ok(())
    }

    /// Whether the second server changes what the first one changes when it is asked in other words, or with
    /// literals in place of parameters or the other way round.
    fn changes_otherwise(
        &mut self,
        [change, otherwise]: [&str; 2],
        one: &Answer,
        left: &[(&String, (Answer, Answer))],
    ) -> Result<bool, ClientError> {
        for form in equal::forms(change).into_iter().chain([otherwise.to_string()]) {
            self.two.query("START TRANSACTION")?;
            let mut same = answer(&mut self.two, &form)? == *one;
            for (table, (ours, _)) in left {
                same &= answer(&mut self.two, &format!("SELECT * FROM {table}"))? == *ours;
            }
            self.two.query("ROLLBACK")?;
            if same {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A statement with its literals in place, or with parameters for them: `EXECUTE` with what comes before it.
fn form(text: &str, parameters: bool) -> String {
    if !parameters {
        return plain(text);
    }
    let (statement, values) = prepared(text);
    let mut steps = vec![format!("PREPARE s FROM '{}'", statement.replace('\\', "\\\\").replace('\'', "''"))];
    let mut names = Vec::new();
    for (nth, value) in values.iter().enumerate() {
        steps.push(format!("SET @p{nth} = {value}"));
        names.push(format!("@p{nth}"));
    }
    let using = if names.is_empty() { String::new() } else { format!(" USING {}", names.join(", ")) };
    steps.push(format!("EXECUTE s{using}"));
    steps.join(STEP)
}

/// Between the steps of a prepared statement.
pub(super) const STEP: &str = ";\n";

/// A decimal of IF or CASE is shown with the digits of the branch that was taken, or with those of its type
/// once it has gone through a table of MySQL's own; whether sorting, grouping or DISTINCT make it go through
/// one is a matter of the plan.
fn digits_by_plan(query: &Query, one: &Answer, two: &Answer) -> bool {
    let (Answer::Rows(one), Answer::Rows(two)) = (one, two) else { return false };
    let kept =
        query.limit.is_some() || query.distinct || !query.groups.is_empty() || query.from.contains("(SELECT");
    let chosen = query.list.iter().any(|item| item.contains("CASE") || item.contains("IF("));
    kept && chosen && without_zeros(one) == without_zeros(two)
}

/// Rows without the zeros at the end of their decimals.
fn without_zeros(rows: &[String]) -> Vec<String> {
    let value = |value: &str| match value.contains('.') {
        true => value.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => value.to_string(),
    };
    let mut rows: Vec<String> =
        rows.iter().map(|row| row.split(" | ").map(value).collect::<Vec<_>>().join(" | ")).collect();
    rows.sort();
    rows
}

/// Whether an answer is another one, zeros at the end of decimals aside.
fn same_numbers(one: &Answer, two: &Answer) -> bool {
    match (one, two) {
        (Answer::Rows(one), Answer::Rows(two)) => without_zeros(one) == without_zeros(two),
        _ => one == two,
    }
}

fn is_prepared_otherwise(one: &Answer, two: &Answer) -> bool {
    one != two && [one, two].contains(&&Answer::Error(BY_PREPARATION))
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
    let mut steps: Vec<&str> = statement.split(STEP).collect();
    let last = steps.pop().unwrap_or_default();
    for step in steps {
        if let Reply::Error { code, .. } = client.ask(step)? {
            return Ok(Answer::Error(code));
        }
    }
    Ok(match client.ask(last)? {
        Reply::Error { code, .. } => Answer::Error(code),
        Reply::Ok { affected, .. } => Answer::Count(affected),
        Reply::Rows { columns, mut rows, .. } => {
            for row in &mut rows {
                for (value, column) in row.iter_mut().zip(&columns) {
                    *value = value.as_deref().map(|value| match column.kind {
                        4 | 5 => rounded(value),
                        JSON => value.to_vec(),
                        _ if column.charset == 63 => value.to_vec(),
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

/// Documents differ in what equal texts do not.
const JSON: u8 = 245;

/// Ten digits of a double: sums come in the order in which a server reads its rows.
fn rounded(text: &[u8]) -> Vec<u8> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    number.map_or_else(|| text.to_vec(), |number| format!("{:.9e}", number + 0.0).into_bytes())
}

/// Text as its collation sees it: which of several equal texts MIN, DISTINCT or GROUP BY shows is the
/// server's choice.
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
