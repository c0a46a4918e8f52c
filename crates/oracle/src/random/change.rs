//! Random changes: UPDATE, DELETE, INSERT ... SELECT, REPLACE, ON DUPLICATE KEY UPDATE, of one table and of
//! joins. What they leave does not depend on the order in which rows are read: `id` is unique in each table,
//! and joins of changes go by it.

use super::schema::{Column, Table};
use super::{Kind, Maker, Visible};

impl Maker<'_> {
    /// A change, and the tables that it changes.
    pub fn change(&mut self) -> (String, Vec<String>) {
        let one = self.rng.index(self.schema.tables.len());
        let two = (one + 1 + self.rng.index(self.schema.tables.len() - 1)) % self.schema.tables.len();
        let (one, two) = (self.schema.tables[one].clone(), self.schema.tables[two].clone());
        let ignore = if self.once_in(2) { "IGNORE " } else { "" };
        // A subquery must not read the table that is changed (1093), so changes are made without subqueries.
        let subqueries = std::mem::replace(&mut self.subqueries, false);
        let changed = vec![one.name.clone(), two.name.clone()];
        let text = match self.rng.below(8) {
            0 => self.delete(&one, ignore),
            1 | 2 => self.update(&one, ignore),
            3 => self.update_joined(&one, &two, ignore),
            4 => self.delete_joined(&one, &two),
            5 => format!("REPLACE INTO {}", self.rows_of(&one, &two)),
            6 => format!("INSERT {ignore}INTO {}", self.rows_of(&one, &two)),
            _ => {
                let rows = self.rows_of(&one, &two);
                let set = self.own_assignment(&one);
                format!("INSERT {ignore}INTO {rows} ON DUPLICATE KEY UPDATE {set}")
            }
        };
        self.subqueries = subqueries;
        (text, changed)
    }

    fn over(&mut self, tables: &[(&str, &Table)]) {
        let seen = tables.iter().flat_map(|(alias, table)| {
            table.columns.iter().map(move |c| Visible { name: format!("{alias}.{}", c.name), kind: c.kind })
        });
        self.scopes.push(seen.collect());
    }

    fn target(&mut self, table: &Table) -> Column {
        let given: Vec<&Column> =
            table.columns.iter().filter(|c| c.generated.is_none() && c.name != "id").collect();
        given[self.rng.index(given.len())].clone()
    }

    /// What a column is set to: sometimes of another kind.
    fn given(&mut self, column: &Column) -> String {
        let kind = if self.once_in(5) { self.any_kind() } else { column.kind };
        self.value(kind, 2)
    }

    fn own_assignment(&mut self, table: &Table) -> String {
        self.over(&[(&table.name, table)]);
        let column = self.target(table);
        let value = self.given(&column);
        self.scopes.pop();
        format!("{}.{} = {value}", table.name, column.name)
    }

    fn delete(&mut self, table: &Table, ignore: &str) -> String {
        self.over(&[(&table.name, table)]);
        let condition = self.where_maybe(3);
        self.scopes.pop();
        format!("DELETE {ignore}FROM {}{condition}", table.name)
    }

    fn update(&mut self, table: &Table, ignore: &str) -> String {
        let mut set = vec![self.own_assignment(table)];
        if self.once_in(3) {
            set.push(self.own_assignment(table));
        }
        self.over(&[(&table.name, table)]);
        let condition = self.where_maybe(3);
        self.scopes.pop();
        format!("UPDATE {ignore}{} SET {}{condition}", table.name, set.join(", "))
    }

    fn update_joined(&mut self, one: &Table, two: &Table, ignore: &str) -> String {
        self.over(&[("a", one), ("b", two)]);
        let first = self.target(one);
        let value = self.given(&first);
        let mut set = format!("a.{} = {value}", first.name);
        if self.once_in(3) {
            let second = self.target(two);
            let value = self.constant(second.kind);
            set += &format!(", b.{} = {value}", second.name);
        }
        let word = *self.pick(&["JOIN", "LEFT JOIN"]);
        let condition = self.where_maybe(2);
        self.scopes.pop();
        format!(
            "UPDATE {ignore}{} AS a {word} {} AS b ON a.id = b.id SET {set}{condition}",
            one.name, two.name
        )
    }

    fn delete_joined(&mut self, one: &Table, two: &Table) -> String {
        self.over(&[("a", one), ("b", two)]);
        let from = *self.pick(&["a", "a, b", "b"]);
        let word = *self.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
        let condition = self.where_maybe(2);
        self.scopes.pop();
        format!("DELETE {from} FROM {} AS a {word} {} AS b ON a.id = b.id{condition}", one.name, two.name)
    }

    /// `t (columns) SELECT ...` or VALUES.
    fn rows_of(&mut self, one: &Table, two: &Table) -> String {
        let columns: Vec<&Column> = one.columns.iter().filter(|c| c.generated.is_none()).collect();
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        let head = format!("{} ({})", one.name, names.join(", "));
        if self.once_in(3) {
            let mut values = vec![self.rng.below(14).to_string()];
            for column in &columns[1..] {
                let kind = if self.once_in(5) { self.any_kind() } else { column.kind };
                values.push(self.leaf_alone(kind));
            }
            return format!("{head} VALUES ({})", values.join(", "));
        }
        self.over(&[("s", two)]);
        let mut values = vec![format!("s.id + {}", self.rng.below(9))];
        for column in &columns[1..] {
            values.push(self.given(column));
        }
        let condition = self.where_maybe(2);
        self.scopes.pop();
        format!("{head} SELECT {} FROM {} AS s{condition} ORDER BY s.id", values.join(", "), two.name)
    }

    fn leaf_alone(&mut self, kind: Kind) -> String {
        if self.once_in(4) { "NULL".into() } else { self.constant(kind) }
    }
}
