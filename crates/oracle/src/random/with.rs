//! WITH, plain and recursive.

use super::{Kind, Maker, Visible};

impl Maker<'_> {
    /// The name of a common table expression, `WITH ...` that defines it, and its columns.
    pub(super) fn with_maybe(&mut self) -> Option<(String, String, Vec<Visible>)> {
        if !self.once_in(8) {
            return None;
        }
        let name = self.alias('q');
        let column = |name: &str, kind| Visible { name: name.into(), kind };
        if self.once_in(2) {
            return Some(self.recursive(name));
        }
        let second = self.any_kind();
        let body = self.inside(|maker| {
            let from = maker.from(1);
            let (one, two) = (maker.value(Kind::Number, 2), maker.value(second, 1));
            format!("SELECT {one} AS n, {two} AS m FROM {from}{}", maker.where_maybe(1))
        });
        let columns = vec![column("n", Kind::Number), column("m", second)];
        Some((name.clone(), format!("WITH {name} AS ({body})"), columns))
    }

    /// One that ends: its numbers grow up to a bound, or there are few of them and each comes once.
    fn recursive(&mut self, name: String) -> (String, String, Vec<Visible>) {
        let most = 2 + self.rng.below(4);
        let at = self.rng.index(self.schema.tables.len());
        let table = self.schema.tables[at].name.clone();
        let mut columns = vec![Visible { name: "n".into(), kind: Kind::Number }];
        let body = match self.rng.below(5) {
            0 => format!("SELECT 1 AS n UNION ALL SELECT n + 1 FROM {name} WHERE n < {most}"),
            1 => format!("SELECT id AS n FROM {table} UNION SELECT (n * 2) % {most} FROM {name}"),
            2 => format!(
                "SELECT id AS n FROM {table} WHERE id < 3 UNION ALL SELECT r.n + b.id FROM {name} AS r JOIN {table} AS b ON b.id > r.n WHERE r.n < {most}"
            ),
            3 => format!("SELECT 0.5 AS n UNION SELECT n + 0.25 FROM {name} WHERE n < {most}"),
            _ => {
                columns.push(Visible { name: "m".into(), kind: Kind::Text });
                format!(
                    "SELECT 1 AS n, CAST('a' AS CHAR(9)) AS m UNION ALL SELECT n + 1, CONCAT(m, n) FROM {name} WHERE n < {most}"
                )
            }
        };
        (name.clone(), format!("WITH RECURSIVE {name} AS ({body})"), columns)
    }
}
