//! Random queries and changes: joins nested in every way, groups, DISTINCT, UNION, derived tables and WITH.

use super::{Kind, Maker, Visible};

/// A SELECT in parts, so that a difference can be made smaller by leaving parts out.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// `WITH ...`.
    pub with: Option<String>,
    /// Whether DISTINCT is there.
    pub distinct: bool,
    /// The select list.
    pub list: Vec<String>,
    /// Behind FROM.
    pub from: String,
    /// Behind WHERE.
    pub condition: Option<String>,
    /// Behind GROUP BY.
    pub groups: Vec<String>,
    /// Behind HAVING.
    pub having: Option<String>,
    /// Whether WITH ROLLUP is there.
    pub rollup: bool,
    /// Queries combined with it.
    pub members: Vec<Member>,
    /// ORDER BY everything, and this LIMIT.
    pub limit: Option<u64>,
}

/// What a set operation combines with the queries before it.
#[derive(Clone, Debug)]
pub struct Member {
    /// UNION, EXCEPT or INTERSECT, perhaps with ALL.
    pub word: &'static str,
    /// The select list.
    pub list: Vec<String>,
    /// From FROM on.
    pub from: String,
}

impl Query {
    /// As SQL.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(with) = &self.with {
            text += &format!("{with} ");
        }
        text += if self.distinct { "SELECT DISTINCT " } else { "SELECT " };
        text += &format!("{} FROM {}", self.list.join(", "), self.from);
        if let Some(condition) = &self.condition {
            text += &format!(" WHERE {condition}");
        }
        if !self.groups.is_empty() {
            text += &format!(" GROUP BY {}", self.groups.join(", "));
            text += if self.rollup { " WITH ROLLUP" } else { "" };
        }
        if let Some(having) = &self.having {
            text += &format!(" HAVING {having}");
        }
        for Member { word, list, from } in &self.members {
            text += &format!(" {word} SELECT {} FROM {from}", list.join(", "));
        }
        if let Some(limit) = self.limit {
            let order: Vec<String> = (1..=self.list.len()).map(|nth| nth.to_string()).collect();
            text += &format!(" ORDER BY {} LIMIT {limit}", order.join(", "));
        }
        text
    }

    /// The same query with one part less, for each part that can go.
    pub fn smaller(&self) -> Vec<Query> {
        let mut all = Vec::new();
        let mut without = |change: &dyn Fn(&mut Query)| {
            let mut query = self.clone();
            change(&mut query);
            if query.text() != self.text() {
                all.push(query);
            }
        };
        without(&|query| drop(query.members.pop()));
        without(&|query| query.rollup = false);
        without(&|query| query.limit = None);
        without(&|query| query.distinct = false);
        without(&|query| query.having = None);
        without(&|query| query.condition = None);
        without(&|query| query.with = None);
        // Positions behind GROUP BY would name other columns.
        let positions = self.groups.iter().any(|key| key.parse::<usize>().is_ok());
        for at in 0..self.list.len() {
            if self.list.len() > 1 && !positions {
                without(&|query| {
                    query.list.remove(at);
                    query.members.iter_mut().for_each(|member| drop(member.list.remove(at)));
                });
            }
        }
        for at in 0..self.groups.len() {
            without(&|query| drop(query.groups.remove(at)));
        }
        all
    }
}

impl Query {
    /// The same query with positions for the keys of GROUP BY, which are the first entries of the select
    /// list.
    pub fn grouped_by_positions(&self) -> Option<Query> {
        let positions = (1..=self.groups.len()).map(|nth| nth.to_string()).collect();
        let query = Query { groups: positions, ..self.clone() };
        (query.groups != self.groups).then_some(query)
    }

    /// The same with its condition inside IF: joins are not made simpler by what it refuses.
    pub fn hidden(&self) -> Query {
        let condition = self.condition.as_ref().map(|condition| format!("IF({condition}, TRUE, FALSE)"));
        Query { condition, ..self.clone() }
    }

    /// All its rows, read from it as a derived table.
    pub fn whole(&self) -> String {
        let named = self.list.iter().enumerate().map(|(at, item)| format!("{item} AS r{at}"));
        let query = Query { list: named.collect(), ..self.clone() };
        format!("SELECT * FROM ({}) AS whole", query.text())
    }

    /// How many rows go into the groups.
    pub fn rows_grouped(&self) -> Query {
        Query {
            with: self.with.clone(),
            list: vec!["COUNT(*)".into()],
            from: self.from.clone(),
            condition: self.condition.clone(),
            ..Query::default()
        }
    }
}

impl Maker<'_> {
    /// A query.
    pub fn query(&mut self) -> Query {
        let with = self.with_maybe();
        self.scopes.push(Vec::new());
        let mut query = Query { from: self.from(3), ..Query::default() };
        if let Some((name, definition, columns)) = with {
            let alias = self.alias('w');
            let seen = columns.iter().map(|c| Visible { name: format!("{alias}.{}", c.name), kind: c.kind });
            self.scopes[0].extend(seen);
            query.from = format!("{} CROSS JOIN {name} AS {alias}", query.from);
            query.with = Some(definition);
        }
        if !self.once_in(4) {
            query.condition = Some(self.condition(3));
        }
        let mut kinds = Vec::new();
        if self.once_in(3) {
            self.grouped(&mut query);
        } else {
            query.distinct = self.once_in(4);
            for _ in 0..1 + self.rng.below(3) {
                let kind = self.any_kind();
                query.list.push(self.value(kind, 3));
                kinds.push(kind);
            }
        }
        self.scopes.pop();
        if !kinds.is_empty() && self.once_in(4) {
            for _ in 0..1 + self.rng.below(2) {
                let member = self.member(&kinds);
                query.members.push(member);
            }
        }
        if self.once_in(5) {
            query.limit = Some(self.rng.below(6));
        }
        query
    }

    fn member(&mut self, kinds: &[Kind]) -> Member {
        let words = ["UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"];
        let word = *self.pick(&words);
        self.scopes.push(Vec::new());
        let from = self.from(1);
        let mut list = Vec::new();
        for kind in kinds {
            // Columns of other kinds meet, but mostly not.
            let kind = if self.once_in(6) { self.any_kind() } else { *kind };
            list.push(self.value(kind, 1));
        }
        let condition = self.where_maybe(1);
        self.scopes.pop();
        Member { word, list, from: from + &condition }
    }

    /// FROM, a select list and a condition of one query.
    pub fn select_parts(&mut self) -> (String, String, String) {
        self.scopes.push(Vec::new());
        let from = self.from(2);
        let (one, two) = (self.any_kind(), self.any_kind());
        let list = format!("{}, {}", self.value(one, 2), self.value(two, 1));
        let condition = self.condition(3);
        self.scopes.pop();
        (from, list, condition)
    }

    /// A condition over these columns.
    pub fn condition_over(&mut self, columns: Vec<Visible>) -> String {
        self.scopes.push(columns);
        let condition = self.condition(3);
        self.scopes.pop();
        condition
    }

    /// Groups, with aggregates and HAVING over them.
    fn grouped(&mut self, query: &mut Query) {
        let marks = std::mem::replace(&mut self.marks, false);
        for _ in 0..self.rng.below(3) {
            let kind = self.any_kind();
            let key = self.value(kind, 2);
            // A literal behind GROUP BY could be read as a position.
            if self.reads_own(&key) && !key.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                query.list.push(key.clone());
                // MySQL compares the texts of simple expressions only; a subquery is named by its position.
                let position = key.contains("SELECT") || self.once_in(4);
                query.groups.push(if position { query.list.len().to_string() } else { key });
            }
        }
        self.marks = marks;
        query.rollup = self.once_in(3);
        for _ in 0..1 + self.rng.below(2) {
            let kind = self.any_kind();
            let value = self.argument(kind, 2);
            query.list.push(self.aggregate_of(kind, &value));
        }
        if self.once_in(3) {
            let value = self.argument(Kind::Number, 1);
            let aggregate = self.aggregate_of(Kind::Number, &value);
            let operator = *self.pick(&[">", "<=", "<>", "="]);
            query.having = Some(format!("{aggregate} {operator} {}", self.rng.below(4)));
        }
    }

    /// What stands behind FROM: up to `count` more tables, joined; their columns come into sight.
    pub(super) fn from(&mut self, count: u64) -> String {
        let joins = self.rng.below(count + 1);
        let (text, columns, _) = self.join(joins, None);
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(columns);
        }
        text
    }

    /// A tree of joins, the last of them this one, its columns, and whether it is more than one table. Joins
    /// without a condition come before outer joins often: `a CROSS JOIN b RIGHT JOIN c ON p` tells in which
    /// order a server puts them together.
    fn join(&mut self, joins: u64, word: Option<&'static str>) -> (String, Vec<Visible>, bool) {
        if joins == 0 {
            let (text, columns) = self.table();
            return (text, columns, false);
        }
        let chained = word.is_none() && joins > 1 && self.once_in(3);
        let left_joins = if chained { joins - 1 } else { self.rng.below(joins) };
        let (left, mut columns, _) = self.join(left_joins, chained.then_some("CROSS JOIN"));
        let (right, more, joined) = self.join(joins - 1 - left_joins, None);
        columns.extend(more);
        let right = if joined { format!("({right})") } else { right };
        let words = ["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "STRAIGHT_JOIN"];
        let word = match word {
            Some(word) => word,
            None if chained => *self.pick(&["RIGHT JOIN", "RIGHT JOIN", "LEFT JOIN"]),
            None => *self.pick(&words),
        };
        if word == "CROSS JOIN" {
            return (format!("{left} CROSS JOIN {right}"), columns, true);
        }
        // A join's condition sees the tables of the join and the queries around.
        let hidden = self.scopes.pop().unwrap_or_default();
        self.scopes.push(columns.clone());
        let condition = if self.once_in(2) { self.key_condition(&columns) } else { self.condition(1) };
        self.scopes.pop();
        self.scopes.push(hidden);
        (format!("{left} {word} {right} ON {condition}"), columns, true)
    }

    /// Two columns of one kind compared, as joins mostly are.
    fn key_condition(&mut self, columns: &[Visible]) -> String {
        let one = self.pick(columns).clone();
        let fit: Vec<&Visible> =
            columns.iter().filter(|other| other.kind == one.kind && other.name != one.name).collect();
        match fit.len() {
            0 => self.condition(1),
            len => format!("{} = {}", one.name, fit[self.rng.index(len)].name),
        }
    }

    fn table(&mut self) -> (String, Vec<Visible>) {
        let at = self.rng.index(self.schema.tables.len());
        let table = &self.schema.tables[at];
        let (name, of): (String, Vec<(String, Kind)>) =
            (table.name.clone(), table.columns.iter().map(|c| (c.name.clone(), c.kind)).collect());
        if self.nesting > 0 && self.subqueries && self.once_in(8) {
            return self.derived();
        }
        let alias = self.alias('a');
        let columns = of
            .into_iter()
            .map(|(column, kind)| Visible { name: format!("{alias}.{column}"), kind })
            .collect();
        (format!("{name} AS {alias}"), columns)
    }

    /// A derived table; it sees no query around it.
    fn derived(&mut self) -> (String, Vec<Visible>) {
        let around = std::mem::take(&mut self.scopes);
        let (first, second) = (self.any_kind(), self.any_kind());
        let text = self.inside(|maker| {
            let from = maker.from(1);
            let (one, two) = (maker.value(first, 1), maker.argument(second, 1));
            let condition = maker.where_maybe(2);
            if maker.once_in(3) {
                let aggregate = maker.aggregate_of(second, &two);
                let key =
                    maker.scopes.last().and_then(|scope| scope.iter().find(|c| c.kind == first)).cloned();
                if let Some(key) = key {
                    let key = key.name;
                    return format!(
                        "(SELECT {key} AS x, {aggregate} AS y FROM {from}{condition} GROUP BY {key})"
                    );
                }
            }
            let distinct = if maker.once_in(4) { "DISTINCT " } else { "" };
            format!("(SELECT {distinct}{one} AS x, {two} AS y FROM {from}{condition})")
        });
        self.scopes = around;
        let alias = self.alias('d');
        let columns = vec![
            Visible { name: format!("{alias}.x"), kind: first },
            Visible { name: format!("{alias}.y"), kind: second },
        ];
        (format!("{text} AS {alias}"), columns)
    }
}
