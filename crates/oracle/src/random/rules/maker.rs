//! Tables with many keys and rows enough for their numbers to decide, and queries whose rules these are: ends
//! of keys, groups of keys, semi and anti joins, several keys at once, conditions on entries, derived tables,
//! orders with LIMIT.

use turnstile_sys::rng::Rng;

/// Tables of a seed, `t0` and on, all with the columns of [`COLUMNS`].
pub struct Tables {
    keys: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
}

/// Columns and what makes up the type of each; `id` is unique.
const COLUMNS: &[(&str, &str)] = &[
    ("id", "INT NOT NULL"),
    ("a", "INT"),
    ("b", "INT"),
    ("c", "INT NOT NULL"),
    ("n", "DECIMAL(6,2)"),
    ("s", "VARCHAR(10)"),
    ("d", "DATE"),
];

/// Columns of numbers, which meet each other in joins.
const NUMBERS: &[&str] = &["id", "a", "b", "c"];

/// Tables of a seed.
const TABLES: usize = 3;

impl Tables {
    /// Random keys, and some hundred rows of few values.
    pub fn make(rng: &mut Rng) -> Tables {
        let keys = (0..TABLES).map(|_| keys(rng)).collect();
        // One large table: joins without keys and without hashing go through all pairs of rows.
        let rows =
            (0..TABLES).map(|nth| rows(rng, if nth == 0 { &[150, 400, 700] } else { &[0, 3, 60, 120] }));
        let rows = rows.collect();
        Tables { keys, rows }
    }

    /// What makes them, with their keys or without, and views over them.
    pub fn statements(&self, keyed: bool) -> Vec<String> {
        let columns: Vec<String> = COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
        let mut statements = Vec::new();
        for (nth, (keys, rows)) in self.keys.iter().zip(&self.rows).enumerate() {
            let mut parts = columns.clone();
            if keyed {
                parts.extend(keys.iter().cloned());
            }
            statements.push(format!("CREATE TABLE t{nth} ({})", parts.join(", ")));
            if !rows.is_empty() {
                statements.push(format!("INSERT INTO t{nth} VALUES {}", rows.join(", ")));
            }
        }
        statements.push("CREATE VIEW v0 AS SELECT id, a, b, c, n, s, d FROM t0 WHERE c < 5".into());
        statements.push("CREATE VIEW v1 AS SELECT a, MIN(b) AS b, MAX(c) AS c FROM t1 GROUP BY a".into());
        if keyed {
            statements.push("ANALYZE TABLE t0, t1, t2".into());
        }
        statements
    }

    /// Changes between queries: rows that go, get other keys, and come.
    pub fn changes(&self) -> Vec<String> {
        vec![
            "DELETE FROM t0 WHERE a = 1 AND c > 2".into(),
            "UPDATE t1 SET a = NULL, b = b + 1 WHERE c = 3".into(),
            "INSERT INTO t2 SELECT id + 1000, b, a, c, n, s, d FROM t2 WHERE c < 2".into(),
        ]
    }
}

fn keys(rng: &mut Rng) -> Vec<String> {
    let mut keys = Vec::new();
    match rng.below(5) {
        0 => {}
        1 => keys.push("PRIMARY KEY (a, id)".replace("a, ", "c, ")),
        _ => keys.push("PRIMARY KEY (id)".into()),
    }
    for _ in 0..1 + rng.below(5) {
        let mut columns: Vec<&str> = COLUMNS.iter().skip(1).map(|(name, _)| *name).collect();
        rng.shuffle(&mut columns);
        columns.truncate(1 + rng.index(3));
        let part = |column: &&str| {
            let prefix = if *column == "s" && rng.below(8) == 0 { "(2)" } else { "" };
            let order = if rng.below(6) == 0 { " DESC" } else { "" };
            format!("{column}{prefix}{order}")
        };
        let columns: Vec<String> = columns.iter().map(part).collect();
        keys.push(format!("KEY ({})", columns.join(", ")));
    }
    keys
}

fn rows(rng: &mut Rng, counts: &[u64]) -> Vec<String> {
    let count = counts[rng.index(counts.len())];
    let spread = [2, 5, 12][rng.index(3)];
    let or_null = |rng: &mut Rng, text: String| if rng.below(8) == 0 { "NULL".into() } else { text };
    let row = |id: u64| {
        let small = rng.below(spread);
        let a = or_null(rng, small.to_string());
        let other = rng.below(12);
        let b = or_null(rng, other.to_string());
        let c = rng.below(spread * 2);
        let quarter = rng.below(20);
        let n = or_null(rng, format!("{}.{}", quarter / 4, quarter % 4 * 25));
        let text = format!("'{}{}'", ["x", "X", "y"][rng.index(3)], rng.below(4));
        let s = or_null(rng, text);
        let day = format!("'2026-01-0{}'", 1 + rng.below(9));
        let d = or_null(rng, day);
        format!("({id}, {a}, {b}, {c}, {n}, {s}, {d})")
    };
    (0..count).map(row).collect()
}

/// A query.
pub struct Asked {
    /// Its text.
    pub text: String,
    /// All its rows are ordered, or equal.
    pub ordered: bool,
}

/// Makes one query.
struct Asking<'r> {
    rng: &'r mut Rng,
    tables: &'r Tables,
    aliases: usize,
}

impl Asked {
    /// The `nth` query: kinds take turns.
    pub fn make(rng: &mut Rng, tables: &Tables, nth: u64) -> Asked {
        let mut maker = Asking { rng, tables, aliases: 0 };
        match nth % 8 {
            0 => maker.ends(),
            1 => maker.different(),
            2 => maker.groups(),
            3 | 4 => maker.joined(),
            5 => maker.of_one(),
            6 => maker.counted(),
            _ => maker.derived(),
        }
    }
}

fn unordered(text: String) -> Asked {
    Asked { text, ordered: false }
}

impl Asking<'_> {
    fn once_in(&mut self, times: u64) -> bool {
        self.rng.below(times) == 0
    }

    fn pick<'b>(&mut self, of: &[&'b str]) -> &'b str {
        of[self.rng.index(of.len())]
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    fn table(&mut self) -> String {
        let names = ["t0", "t1", "t2", "t0", "t1", "t2", "v0"];
        self.pick(&names).to_string()
    }

    /// A table and the columns of one of its keys.
    fn keyed(&mut self) -> (String, Vec<String>) {
        let nth = self.rng.index(TABLES);
        let keys = &self.tables.keys[nth];
        let key = &keys[self.rng.index(keys.len())];
        let inside = key.split_once('(').map_or("", |(_, inside)| inside);
        let name = |part: &str| {
            part.trim_matches([' ', ')', '(']).chars().take_while(char::is_ascii_lowercase).collect()
        };
        (format!("t{nth}"), inside.split(',').map(name).collect())
    }

    fn number(&mut self) -> u64 {
        self.rng.below(13)
    }

    fn column(&mut self) -> &'static str {
        COLUMNS[1 + self.rng.index(COLUMNS.len() - 1)].0
    }

    fn literal(&mut self, column: &str) -> String {
        match column {
            "s" => format!("'{}{}'", self.pick(&["x", "X", "y"]), self.rng.below(5)),
            "d" => format!("'2026-01-0{}'", 1 + self.rng.below(9)),
            "n" => format!("{}.{}", self.rng.below(6), self.pick(&["00", "25", "5", "75"])),
            _ => self.number().to_string(),
        }
    }

    /// A condition on one column, as keys serve them.
    fn plain(&mut self, alias: &str, column: &str) -> String {
        let (one, two) = (self.literal(column), self.literal(column));
        let at = format!("{alias}.{column}");
        match self.rng.below(12) {
            0..=3 => format!("{at} = {one}"),
            4 => format!("{at} > {one}"),
            5 => format!("{at} <= {one}"),
            6 => format!("{at} BETWEEN {one} AND {two}"),
            7 => format!("{at} IN ({one}, {two})"),
            8 => format!("{at} IS NULL"),
            9 => format!("{at} IS NOT NULL"),
            10 => format!("{at} <> {one}"),
            _ => format!("{at} <=> {one}"),
        }
    }

    /// A condition over the columns of one table, with queries in it while `deep` is left.
    fn condition(&mut self, alias: &str, deep: u64) -> String {
        let (one, two) = (self.column(), self.column());
        match self.rng.below(if deep > 0 { 12 } else { 8 }) {
            0..=2 => self.plain(alias, one),
            3 => format!("{} AND {}", self.plain(alias, one), self.plain(alias, two)),
            4 => format!("({} OR {})", self.plain(alias, one), self.plain(alias, two)),
            5 => format!("{alias}.s LIKE '{}%'", self.pick(&["x", "X1", "y", ""])),
            6 => format!("{alias}.a + {alias}.c > {}", self.number()),
            7 => format!("NOT ({})", self.plain(alias, one)),
            8 | 9 => self.exists(alias, deep - 1),
            10 => self.member(alias, deep - 1),
            _ => self.compared(alias),
        }
    }

    /// How a table inside a query meets one around it.
    fn meets(&mut self, inner: &str, outer: &str) -> String {
        if self.once_in(6) {
            let column = self.pick(&["s", "d", "n"]);
            return format!("{inner}.{column} = {outer}.{column}");
        }
        let (one, two) = (self.pick(NUMBERS), self.pick(NUMBERS));
        let operator = self.pick(&["=", "=", "=", "=", ">", "<=>"]);
        format!("{inner}.{one} {operator} {outer}.{two}")
    }

    fn exists(&mut self, alias: &str, deep: u64) -> String {
        let (table, inner) = (self.table(), self.alias());
        let mut condition = self.meets(&inner, alias);
        if !self.once_in(3) {
            condition = format!("{condition} AND {}", self.condition(&inner, deep));
        }
        let not = if self.once_in(2) { "NOT " } else { "" };
        let limit = if self.once_in(10) { " LIMIT 1" } else { "" };
        format!("{not}EXISTS (SELECT 1 FROM {table} AS {inner} WHERE {condition}{limit})")
    }

    fn member(&mut self, alias: &str, deep: u64) -> String {
        let (table, inner) = (self.table(), self.alias());
        let (one, two) = (self.pick(NUMBERS), self.pick(NUMBERS));
        let not = if self.once_in(2) { "NOT " } else { "" };
        let mut conditions = Vec::new();
        if self.once_in(2) {
            conditions.push(self.meets(&inner, alias));
        }
        if !self.once_in(3) {
            conditions.push(self.condition(&inner, deep));
        }
        let behind = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        if self.once_in(4) {
            let pair = self.pick(&["a", "c"]);
            return format!(
                "({alias}.{one}, {alias}.{pair}) {not}IN (SELECT {inner}.{two}, {inner}.c FROM {table} AS {inner}{behind})"
            );
        }
        format!("{alias}.{one} {not}IN (SELECT {inner}.{two} FROM {table} AS {inner}{behind})")
    }

    fn compared(&mut self, alias: &str) -> String {
        let (table, inner) = (self.table(), self.alias());
        let (one, two) = (self.pick(NUMBERS), self.pick(NUMBERS));
        let function = self.pick(&["MIN", "MAX", "COUNT"]);
        let operator = self.pick(&["=", ">", "<="]);
        let meets = self.meets(&inner, alias);
        format!(
            "{alias}.{one} {operator} (SELECT {function}({inner}.{two}) FROM {table} AS {inner} WHERE {meets})"
        )
    }

    fn where_maybe(&mut self, alias: &str, deep: u64) -> String {
        let conditions: Vec<String> = (0..self.rng.below(3)).map(|_| self.condition(alias, deep)).collect();
        if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
    }

    /// MIN and MAX, under conditions that a prefix of some key may serve.
    fn ends(&mut self) -> Asked {
        if !self.once_in(3) {
            return self.ends_of_key();
        }
        let (table, x) = (self.table(), self.alias());
        let column = self.column();
        let other = self.column();
        let mut list = vec![format!("MIN({x}.{column})"), format!("MAX({x}.{column})")];
        if self.once_in(3) {
            list.push(format!("MAX({x}.{other})"));
        }
        if self.once_in(6) {
            list.push("COUNT(*)".into());
        }
        let first = self.column();
        let mut conditions = vec![self.plain(&x, first)];
        if self.once_in(2) {
            conditions.push(self.plain(&x, column));
        }
        if self.once_in(3) {
            conditions.clear();
        }
        let behind = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        unordered(format!("SELECT {} FROM {table} AS {x}{behind}", list.join(", ")))
    }

    fn ends_of_key(&mut self) -> Asked {
        let ((table, columns), x) = (self.keyed(), self.alias());
        let nth = self.rng.index(columns.len());
        let mut conditions = Vec::new();
        for column in &columns[..nth] {
            conditions.push(format!("{x}.{column} = {}", self.literal(column)));
        }
        if self.once_in(3) {
            conditions.push(self.plain(&x, &columns[nth]));
        }
        let behind = match conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions.join(" AND ")),
        };
        let column = &columns[nth];
        unordered(format!("SELECT MIN({x}.{column}), MAX({x}.{column}) FROM {table} AS {x}{behind}"))
    }

    fn different(&mut self) -> Asked {
        let x = self.alias();
        let (table, columns) = self.columns(&x);
        let behind = self.where_of(&x, &columns);
        let text = format!("SELECT DISTINCT {} FROM {table} AS {x}{behind}", columns.join(", "));
        self.ended(text, columns.len(), true)
    }

    /// A table and some of its columns, those that a key begins with mostly.
    fn columns(&mut self, alias: &str) -> (String, Vec<String>) {
        if self.once_in(3) {
            let columns = (0..1 + self.rng.below(2)).map(|_| format!("{alias}.{}", self.column()));
            let columns = columns.collect();
            return (self.table(), columns);
        }
        let (table, mut columns) = self.keyed();
        columns.truncate(1 + self.rng.index(columns.len()));
        (table, columns.iter().map(|column| format!("{alias}.{column}")).collect())
    }

    /// Conditions on these columns mostly.
    fn where_of(&mut self, alias: &str, columns: &[String]) -> String {
        if self.once_in(2) {
            return String::new();
        }
        if self.once_in(3) {
            return self.where_maybe(alias, 1);
        }
        let nth = self.rng.index(columns.len());
        let column = columns[nth].rsplit('.').next().unwrap_or("a").to_string();
        format!(" WHERE {}", self.plain(alias, &column))
    }

    /// ORDER BY all columns, and some of the rows. Equal texts may be shown in other letters.
    fn ended(&mut self, text: String, columns: usize, limits: bool) -> Asked {
        if !self.once_in(3) {
            return unordered(text);
        }
        let direction = if self.once_in(2) { " DESC" } else { "" };
        let order: Vec<String> = (1..=columns).map(|nth| format!("{nth}{direction}")).collect();
        let limit = if limits && self.once_in(2) {
            format!(" LIMIT {}, {}", self.rng.below(3), 1 + self.rng.below(5))
        } else {
            String::new()
        };
        Asked { text: format!("{text} ORDER BY {}{limit}", order.join(", ")), ordered: true }
    }

    fn groups(&mut self) -> Asked {
        let x = self.alias();
        let (table, mut keys) = self.columns(&x);
        let mut column = self.column().to_string();
        if keys.len() > 1 && !self.once_in(3) {
            let last = keys.pop().unwrap_or_default();
            column = last.rsplit('.').next().unwrap_or("a").to_string();
        }
        let mut list = keys.clone();
        list.push(format!("MIN({x}.{column})"));
        if self.once_in(2) {
            list.push(format!("MAX({x}.{column})"));
        }
        if self.once_in(4) {
            let different = self.column();
            list.push(format!("COUNT(DISTINCT {x}.{different})"));
        }
        if self.once_in(5) {
            list.push("COUNT(*)".into());
        }
        let behind = self.where_of(&x, &keys);
        let having =
            if self.once_in(5) { format!(" HAVING MIN({x}.{column}) IS NOT NULL") } else { "".into() };
        let grouped = keys.join(", ");
        let text =
            format!("SELECT {} FROM {table} AS {x}{behind} GROUP BY {grouped}{having}", list.join(", "));
        self.ended(text, list.len(), true)
    }

    fn counted(&mut self) -> Asked {
        let x = self.alias();
        let (table, columns) = self.columns(&x);
        let bare = |nth: usize| columns[nth.min(columns.len() - 1)].rsplit('.').next().unwrap_or("a");
        let (one, two) = (bare(0), bare(1));
        let list = match self.rng.below(4) {
            0 => format!("COUNT(DISTINCT {x}.{one}, {x}.{two})"),
            1 => format!("COUNT(DISTINCT {x}.{one}), SUM(DISTINCT {x}.a)"),
            2 => format!("COUNT(DISTINCT {x}.{one}), COUNT(*)"),
            _ => format!("COUNT(DISTINCT {x}.{one})"),
        };
        let behind = self.where_of(&x, &[format!("{x}.{one}")]);
        unordered(format!("SELECT {list} FROM {table} AS {x}{behind}"))
    }

    /// Several conditions on one table.
    fn of_one(&mut self) -> Asked {
        let x = self.alias();
        let mut table = self.table();
        let mut conditions: Vec<String> = (0..2).map(|_| self.condition(&x, 2)).collect();
        if self.once_in(2) {
            // What two keys serve, each for itself.
            let (one, columns) = self.keyed();
            table = one;
            let other = self.keyed().1;
            for column in [&columns[0], &other[0]] {
                let wanted = self.literal(column);
                conditions.push(format!("{x}.{column} = {wanted}"));
            }
            conditions.drain(..self.rng.index(3));
        }
        let word = if self.once_in(5) { " OR " } else { " AND " };
        let text = format!("SELECT {x}.id, {x}.n FROM {table} AS {x} WHERE {}", conditions.join(word));
        self.ended(text, 2, true)
    }

    fn joined(&mut self) -> Asked {
        let x = self.alias();
        let mut from = format!("{} AS {x}", self.table());
        let mut aliases = vec![x];
        for _ in 0..self.rng.below(3) {
            let (table, y) = (self.table(), self.alias());
            let known = aliases[self.rng.index(aliases.len())].clone();
            let (one, two) = (self.pick(NUMBERS), self.pick(NUMBERS));
            let mut on = format!("{y}.{one} = {known}.{two}");
            if self.once_in(3) {
                on = format!("{on} AND {}", self.condition(&y, 1));
            }
            let word = self.pick(&["JOIN", "JOIN", "LEFT JOIN", "STRAIGHT_JOIN"]);
            from = format!("{from} {word} {table} AS {y} ON {on}");
            aliases.push(y);
        }
        let mut conditions = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let of = aliases[self.rng.index(aliases.len())].clone();
            conditions.push(self.condition(&of, 2));
        }
        // Not too many rows.
        conditions.push(format!("{}.c < {}", aliases[0], 1 + self.rng.below(4)));
        let list: Vec<String> = aliases.iter().map(|alias| format!("{alias}.id")).collect();
        let behind = conditions.join(" AND ");
        if self.once_in(4) {
            let sum = format!("SELECT COUNT(*), SUM({}) FROM {from} WHERE {behind}", list.join(" + "));
            return unordered(sum);
        }
        let text = format!("SELECT {} FROM {from} WHERE {behind}", list.join(", "));
        self.ended(text, list.len(), true)
    }

    /// Queries in FROM and behind WITH, and the view of groups.
    fn derived(&mut self) -> Asked {
        let x = self.alias();
        let table = self.table();
        let inner = match self.rng.below(4) {
            0 => format!(
                "SELECT {x}.a AS a, MIN({x}.b) AS b, MAX({x}.c) AS c FROM {table} AS {x} GROUP BY {x}.a"
            ),
            1 => format!("SELECT DISTINCT {x}.a AS a, {x}.b AS b, {x}.c AS c FROM {table} AS {x}"),
            2 => format!("SELECT {x}.a AS a, {x}.b + 1 AS b, {x}.c AS c FROM {table} AS {x} WHERE {x}.c < 6"),
            _ => "SELECT a, b, c FROM v1".into(),
        };
        let (q, y, other) = (self.alias(), self.alias(), self.table());
        let column = self.pick(&["a", "b", "c"]);
        let condition = self.plain(&q, column);
        let meets = self.meets(&y, &q).replace(&format!("{q}.id"), &format!("{q}.c"));
        let meets = ["s", "d", "n"].iter().fold(meets, |text, name| {
            text.replace(&format!("{q}.{name}"), &format!("{q}.a"))
                .replace(&format!("{y}.{name}"), &format!("{y}.a"))
        });
        let not = if self.once_in(2) { "NOT " } else { "" };
        let body = match self.rng.below(3) {
            0 => format!("JOIN {other} AS {y} ON {meets} WHERE {condition} AND {y}.c < 4"),
            1 => format!("WHERE {condition} AND {not}EXISTS (SELECT 1 FROM {other} AS {y} WHERE {meets})"),
            _ => format!("LEFT JOIN {other} AS {y} ON {meets} AND {y}.c = 1 WHERE {condition}"),
        };
        let list = format!("{q}.a, {q}.b, {q}.c");
        let text = match self.once_in(2) {
            true => format!("WITH w AS ({inner}) SELECT {list} FROM w AS {q} {body}"),
            false => format!("SELECT {list} FROM ({inner}) AS {q} {body}"),
        };
        self.ended(text, 3, true)
    }
}
