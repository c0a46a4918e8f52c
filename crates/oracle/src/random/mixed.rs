//! Equal values of several types, which DISTINCT, groups and set operations make one only once each is of
//! their common type, and which IN compares each with what it has in common with it.

use super::query::Member;
use super::{Kind, Maker, Query, Visible};

/// Ways to say a value, all of them equal to it; `#` is the value.
fn forms(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Number => &[
            "#",
            "CAST(# AS CHAR)",
            "CONCAT(#, '')",
            "# + 0.0",
            "# + 0e0",
            "CAST(# AS DECIMAL(20,4))",
            "CAST(# AS DOUBLE)",
            "CAST(# AS SIGNED)",
        ],
        Kind::Double => &["#", "CAST(# AS CHAR)", "# * 1.0", "CAST(# AS DECIMAL(20,4))", "CAST(# AS FLOAT)"],
        Kind::Date => &["#", "CAST(# AS DATETIME)", "CAST(# AS DATE)", "CAST(# AS CHAR)", "TIMESTAMP(#)"],
        Kind::Time => &["#", "CAST(# AS TIME(3))", "CAST(# AS CHAR)", "TIME(#)"],
        Kind::Text | Kind::Bytes | Kind::Json => {
            &["#", "CAST(# AS CHAR)", "UPPER(#)", "CONCAT(#, '')", "BINARY #"]
        }
    }
}

/// Numbers beside a date or a time. Most are none that it says, so that the other candidates decide.
const NUMBERS: &[&str] = &["# + 1", "CAST(# AS SIGNED) - 7", "5", "2e3", "# * 1.5", "# + 0"];

/// Moments of the day that a time says, or a date; whether they are equal to it depends on what they are
/// compared as.
const MOMENTS: &[&str] = &[
    "TIMESTAMP'2024-02-29 12:30:00'",
    "TIMESTAMP'2024-02-29 00:00:00.50'",
    "TIMESTAMP'2024-02-29 00:00:00'",
    "DATE'2024-02-29'",
    "'2024-02-29'",
    "TIMESTAMP(DATE'2024-02-29', #)",
    "TIME(#)",
];

const KINDS: &[Kind] =
    &[Kind::Number, Kind::Number, Kind::Number, Kind::Double, Kind::Date, Kind::Time, Kind::Text];

impl Maker<'_> {
    /// A query in which equal values of several types meet.
    pub fn mixed_query(&mut self) -> Query {
        self.scopes.push(Vec::new());
        let mut query = Query { from: self.from(0), ..Query::default() };
        let around = self.scopes[0].clone();
        // Each row comes several times, so that each of its values is said in several ways.
        let table = self.schema.tables[self.rng.index(self.schema.tables.len())].name.clone();
        let other = self.alias('a');
        query.from = format!("{} CROSS JOIN {table} AS {other}", query.from);
        if self.once_in(3) {
            let condition = self.in_two_classes(&around, &other);
            query.list.extend([format!("{other}.id"), condition]);
            self.scopes.pop();
            return query;
        }
        let kind = *self.pick(KINDS);
        let value = self.said(&around, kind);
        let mixed = self.of_one_type(kind, &value, &other);
        match self.rng.below(6) {
            0 | 1 => {
                query.distinct = true;
                query.list.push(mixed);
            }
            2 => query.list.push(format!("COUNT(DISTINCT {mixed})")),
            3 => {
                query.list.extend([mixed, "COUNT(*)".into()]);
                query.groups.push("1".into());
            }
            4 => {
                let word = *self.pick(&["UNION", "EXCEPT", "INTERSECT"]);
                let (one, two) = (self.form(kind, &value), self.form(kind, &value));
                query.list.push(one);
                query.members.push(Member { word, list: vec![two], from: query.from.clone() });
            }
            _ => {
                let one = self.form(kind, &value);
                query.distinct = true;
                query.list.push(format!("COALESCE(IF({other}.id % 2, NULL, {value}), {one})"));
            }
        }
        self.scopes.pop();
        query
    }

    /// A date or a time sought among itself as a number and in other forms.
    fn in_two_classes(&mut self, around: &[Visible], other: &str) -> String {
        let kind = *self.pick(&[Kind::Date, Kind::Time]);
        let value = self.said(around, kind);
        let mut listed = vec![self.pick(NUMBERS).replace('#', &value)];
        for _ in 0..1 + self.rng.below(2) {
            let form = match self.rng.below(3) {
                0 => "CAST(# AS CHAR)".replace('#', &value),
                1 => self.form(kind, &value),
                _ => self.pick(MOMENTS).replace('#', &value),
            };
            listed.push(form);
        }
        for one in &mut listed {
            if self.once_in(6) {
                *one = format!("IF({other}.id % 2, {one}, NULL)");
            }
        }
        let first = self.rng.index(listed.len());
        listed.rotate_left(first);
        let not = if self.once_in(3) { "NOT " } else { "" };
        format!("{value} {not}IN ({})", listed.join(", "))
    }

    /// A column of the kind, or a literal.
    fn said(&mut self, columns: &[Visible], kind: Kind) -> String {
        let fit: Vec<&Visible> = columns.iter().filter(|column| column.kind == kind).collect();
        match fit.len() {
            0 => super::schema::literal(self.rng, kind),
            len => fit[self.rng.index(len)].name.clone(),
        }
    }

    fn form(&mut self, kind: Kind, value: &str) -> String {
        self.pick(forms(kind)).replace('#', value)
    }

    /// One of three ways to say a value, by the row of the other table.
    fn of_one_type(&mut self, kind: Kind, value: &str, other: &str) -> String {
        let [one, two, three] = [0; 3].map(|_| self.form(kind, value));
        match self.rng.below(3) {
            0 => format!("IF({other}.id % 2, {one}, {two})"),
            1 => format!("CASE {other}.id % 3 WHEN 0 THEN {one} WHEN 1 THEN {two} ELSE {three} END"),
            _ => format!("IFNULL(IF({other}.id % 2, {one}, NULL), {two})"),
        }
    }
}
