//! Forms that random expressions seldom take, each of them where a fault would show: in the select list.

use super::{Kind, Maker, Query};

impl Maker<'_> {
    /// A query with some of these forms.
    pub fn rare_query(&mut self) -> Query {
        self.scopes.push(Vec::new());
        let mut query = Query { from: self.from(1), ..Query::default() };
        match self.rng.below(3) {
            0 => {
                for _ in 0..2 {
                    query.list.push(self.rare_aggregate());
                }
                if self.once_in(2) {
                    let key = self.value(Kind::Number, 0);
                    if self.reads_own(&key) {
                        query.list.insert(0, key.clone());
                        query.groups.push(key);
                    }
                }
            }
            1 => {
                query.distinct = true;
                let item = self.of_several_kinds();
                query.list.push(item);
            }
            _ => {
                let id = self.scopes[0].iter().find(|column| column.name.ends_with(".id")).cloned();
                query.list.extend(id.map(|column| column.name));
                let between = self.between_kinds();
                query.list.push(between);
                let within = self.value_in_list();
                query.list.push(within);
            }
        }
        self.scopes.pop();
        query
    }

    /// MIN and MAX of columns with members, averages and sums of quotients, and products and quotients of
    /// these.
    fn rare_aggregate(&mut self) -> String {
        let members: Vec<String> = self.scopes[0]
            .iter()
            .filter(|c| self.schema.has_members(&c.name))
            .map(|c| c.name.clone())
            .collect();
        if !members.is_empty() && self.once_in(2) {
            let column = self.pick(&members).clone();
            return format!("{}({column})", self.pick(&["MIN", "MAX"]));
        }
        let (one, divisor) = (self.value(Kind::Number, 1), *self.pick(&["3", "7", "11", "0.3"]));
        let function = *self.pick(&["AVG", "SUM"]);
        match self.rng.below(5) {
            // What is computed with the aggregate shows the digits that it does not show itself.
            0 => format!("{function}({one}) * {divisor}"),
            1 => format!("{function}({one}) / {divisor}"),
            2 => format!("{function}({one} / {divisor}) * {divisor}"),
            _ => format!("{function}({one} / {divisor})"),
        }
    }

    /// One of two values of different kinds, which DISTINCT makes one or not.
    fn of_several_kinds(&mut self) -> String {
        let (condition, number) = (self.condition(0), self.value(Kind::Number, 0));
        let other = *self.pick(&["1", "1.0", "1.50", "1e0", "'1'", "0.00", "0", "2.000"]);
        match self.rng.below(3) {
            0 => format!("IF({condition}, {number}, {other})"),
            1 => format!("CASE WHEN {condition} THEN {other} ELSE {number} END"),
            _ => format!("COALESCE({number}, {other})"),
        }
    }

    fn between_kinds(&mut self) -> String {
        let kinds = [Kind::Number, Kind::Text, Kind::Date, Kind::Double, Kind::Time];
        let [one, low, high] = [0; 3].map(|_| *self.pick(&kinds));
        let (one, low, high) = (self.value(one, 0), self.value(low, 0), self.value(high, 0));
        format!("{one} BETWEEN {low} AND {high}")
    }

    /// A correlated scalar subquery IN a correlated subquery.
    fn value_in_list(&mut self) -> String {
        let outer = self.scopes[0].iter().filter(|column| column.kind == Kind::Number).cloned();
        let outer: Vec<_> = outer.collect();
        if outer.is_empty() {
            return self.condition(1);
        }
        let around = self.pick(&outer).name.clone();
        let mut subquery = |list: &str| {
            self.inside(|maker| {
                let at = maker.rng.index(maker.schema.tables.len());
                let (table, alias) = (maker.schema.tables[at].name.clone(), maker.alias('a'));
                let test = *maker.pick(&["<=", "<>", ">=", "="]);
                format!(
                    "(SELECT {} FROM {table} AS {alias} WHERE {alias}.id {test} {around})",
                    list.replace('#', &format!("{alias}.id"))
                )
            })
        };
        format!("{} IN {}", subquery("MAX(#)"), subquery("#"))
    }
}
