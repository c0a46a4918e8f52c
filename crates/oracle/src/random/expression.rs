//! Random expressions of a wanted kind over the columns in sight, with subqueries that refer to every query
//! around them.

use super::{Kind, Maker, Visible};
use crate::random::schema::literal;

const KINDS: &[Kind] = &[
    Kind::Number,
    Kind::Number,
    Kind::Number,
    Kind::Number,
    Kind::Number,
    Kind::Text,
    Kind::Text,
    Kind::Text,
    Kind::Date,
    Kind::Date,
    Kind::Double,
    Kind::Time,
    Kind::Bytes,
    Kind::Json,
];

impl Maker<'_> {
    /// A kind, numbers and texts more often than others.
    pub(super) fn any_kind(&mut self) -> Kind {
        *self.pick(KINDS)
    }

    /// A column of the wanted kind: mostly of the innermost query, sometimes of one around it.
    fn column(&mut self, kind: Kind) -> Option<String> {
        let depth = self.scopes.len();
        let seen = depth.saturating_sub(self.hidden.min(depth.saturating_sub(1)));
        let level = if seen > 1 && self.once_in(3) {
            depth - 1 - self.rng.index(seen)
        } else {
            depth.checked_sub(1)?
        };
        let fit: Vec<&Visible> = self.scopes[level].iter().filter(|column| column.kind == kind).collect();
        if fit.is_empty() {
            return None;
        }
        let at = self.rng.index(fit.len());
        Some(fit[at].name.clone())
    }

    fn leaf(&mut self, kind: Kind) -> String {
        if self.once_in(8) {
            return "NULL".into();
        }
        let column = if self.once_in(4) { None } else { self.column(kind) };
        column.unwrap_or_else(|| self.constant(kind))
    }

    /// A literal, marked where it may become a parameter.
    pub(super) fn constant(&mut self, kind: Kind) -> String {
        let literal = literal(self.rng, kind);
        // Variables of SQL hold numbers and texts; a date that went through one is a text.
        let kept = matches!(kind, Kind::Number | Kind::Double | Kind::Text);
        if self.marks && kept { super::marked(&literal) } else { literal }
    }

    /// An expression of a kind, `depth` operators deep at most.
    pub(super) fn value(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.once_in(3) {
            return self.leaf(kind);
        }
        let deeper = depth - 1;
        match self.rng.below(10) {
            0 => {
                let (condition, one) = (self.condition(deeper), self.mostly(kind, deeper));
                format!("CASE WHEN {condition} THEN {one} ELSE {} END", self.mostly(kind, deeper))
            }
            1 => format!("COALESCE({}, {})", self.mostly(kind, deeper), self.mostly(kind, deeper)),
            2 => {
                let condition = self.condition(deeper);
                format!("IF({condition}, {}, {})", self.mostly(kind, deeper), self.mostly(kind, deeper))
            }
            3 => format!("NULLIF({}, {})", self.mostly(kind, deeper), self.leaf(kind)),
            4 if self.may_nest() => self.scalar_subquery(kind),
            5 => {
                let function = *self.pick(&["GREATEST", "LEAST", "IFNULL"]);
                format!("{function}({}, {})", self.mostly(kind, deeper), self.mostly(kind, deeper))
            }
            _ => self.function(kind, deeper),
        }
    }

    /// A condition, `depth` operators deep at most.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.once_in(3) {
            let deeper = depth - 1;
            let operator = *self.pick(&["AND", "OR", "AND", "OR", "XOR"]);
            return format!("({} {operator} {})", self.condition(deeper), self.condition(deeper));
        }
        let deeper = depth.saturating_sub(1);
        let kind = self.any_kind();
        match self.rng.below(16) {
            0 => format!("NOT ({})", self.condition(deeper)),
            1 => format!("{} IS NULL", self.value(kind, deeper)),
            2 => format!("{} IS NOT NULL", self.value(kind, deeper)),
            3 => {
                let word = *self.pick(&["TRUE", "FALSE", "NOT TRUE", "UNKNOWN"]);
                format!("({}) IS {word}", self.condition(deeper))
            }
            4 => {
                let not = if self.once_in(3) { "NOT " } else { "" };
                let tested = self.value(kind, deeper);
                let (one, two) = (self.mostly(kind, 0), self.mostly(kind, 0));
                format!("{tested} {not}BETWEEN {one} AND {two}")
            }
            5 => {
                let not = if self.once_in(3) { "NOT " } else { "" };
                let tested = self.value(kind, deeper);
                let listed: Vec<String> = (0..1 + self.rng.below(3)).map(|_| self.mostly(kind, 0)).collect();
                format!("{tested} {not}IN ({})", listed.join(", "))
            }
            6 => {
                let pattern = *self.pick(&["a%", "%b%", "_", "%", "1%", "x\\_y"]);
                format!("{} LIKE '{pattern}'", self.value(Kind::Text, deeper))
            }
            7 | 8 if self.may_nest() => self.subquery_condition(kind, deeper),
            _ => {
                let operator = *self.pick(&["=", "=", "<>", "<", "<=", ">", ">=", "<=>"]);
                let other = match kind {
                    Kind::Number if self.once_in(6) => Kind::Double,
                    Kind::Number if self.once_in(12) => Kind::Text,
                    same => same,
                };
                format!("{} {operator} {}", self.mostly(kind, deeper), self.mostly(other, deeper))
            }
        }
    }

    /// Whether a subquery may be made here.
    fn may_nest(&self) -> bool {
        self.subqueries && self.nesting > 0
    }

    /// A subquery of one value: an aggregate, so that it has one row.
    fn scalar_subquery(&mut self, kind: Kind) -> String {
        if self.outer_aggregates && !self.in_aggregate && !self.scopes.is_empty() && self.once_in(5) {
            return self.aggregate_of_around(kind);
        }
        self.inside(|maker| {
            let from = maker.from(1);
            let value = maker.argument(kind, 1);
            let value = if maker.reads_own(&value) { value } else { literal(maker.rng, kind) };
            let aggregate = maker.aggregate_of(kind, &value);
            let condition = maker.where_maybe(2);
            format!("(SELECT {aggregate} FROM {from}{condition})")
        })
    }

    /// A subquery whose aggregate belongs to a query around, which makes that one a query of groups. It has a
    /// row for each row of its tables, and reads nothing else around: MySQL looks for columns that are not
    /// aggregated after it has left out what constant conditions make needless.
    fn aggregate_of_around(&mut self, kind: Kind) -> String {
        let value = self.argument(kind, 1);
        let aggregate = self.aggregate_of(kind, &value);
        let hidden = self.hidden;
        self.inside(|maker| {
            maker.hidden = maker.scopes.len() - 1;
            let from = maker.from(1);
            let condition = maker.where_maybe(2);
            maker.hidden = hidden;
            format!("(SELECT {aggregate} FROM {from}{condition} LIMIT 1)")
        })
    }

    /// The argument of an aggregate of the innermost query. MySQL gives an aggregate to the outermost query
    /// whose columns it finds in the argument's subqueries but not in their aggregates, whatever else is in
    /// there: subqueries here read no query further out.
    pub(super) fn argument(&mut self, kind: Kind, depth: usize) -> String {
        let before = (self.hidden, std::mem::replace(&mut self.in_aggregate, true));
        let value = if self.outer_aggregates && self.once_in(2) {
            self.subqueries_aside(|maker| maker.value(kind, depth))
        } else {
            self.hidden = self.hidden.max(self.scopes.len().saturating_sub(1));
            self.value(kind, depth)
        };
        (self.hidden, self.in_aggregate) = before;
        value
    }

    fn subqueries_aside(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        let subqueries = std::mem::replace(&mut self.subqueries, false);
        let made = make(self);
        self.subqueries = subqueries;
        made
    }

    /// Whether an expression names a column of the innermost query, to which an aggregate over it belongs
    /// then.
    pub(super) fn reads_own(&self, value: &str) -> bool {
        let own = self.scopes.last();
        own.is_some_and(|columns| columns.iter().any(|column| value.contains(column.name.as_str())))
    }

    /// EXISTS, IN and quantified comparisons.
    fn subquery_condition(&mut self, kind: Kind, depth: usize) -> String {
        let shape = self.rng.below(6);
        let (one, two) = (self.value(kind, depth), self.value(Kind::Number, depth));
        let pair = shape == 4;
        let wanted = if shape == 5 { Kind::Number } else { kind };
        let inner = self.inside(|maker| {
            let from = maker.from(1);
            let value = maker.value(wanted, 1);
            let second = if pair { format!(", {}", maker.value(Kind::Number, 1)) } else { String::new() };
            let condition = maker.where_maybe(2);
            // A position behind GROUP BY must not mean an aggregate, also not one of a query around.
            if maker.once_in(6) && !pair && !value.contains("SELECT") {
                return format!("(SELECT {value} FROM {from}{condition} GROUP BY 1)");
            }
            format!("(SELECT {value}{second} FROM {from}{condition})")
        });
        let not = if self.once_in(3) { "NOT " } else { "" };
        match shape {
            0 | 1 => format!("{not}EXISTS {inner}"),
            2 | 3 => format!("{one} {not}IN {inner}"),
            4 => format!("({one}, {two}) {not}IN {inner}"),
            _ => {
                let operator = *self.pick(&["=", "<>", "<", ">="]);
                let word = *self.pick(&["ANY", "ALL"]);
                format!("{two} {operator} {word} {inner}")
            }
        }
    }

    /// An aggregate of an expression that is of the same kind as the expression.
    pub(super) fn aggregate_of(&mut self, kind: Kind, value: &str) -> String {
        let counted = matches!(kind, Kind::Number | Kind::Double);
        match (kind, self.rng.below(8)) {
            (Kind::Number, 0) => format!("COUNT({value})"),
            // MySQL counts NULL as a value where it is that of a subquery.
            (Kind::Number, 1) if !value.contains("SELECT") => format!("COUNT(DISTINCT {value})"),
            (_, 2) if counted => format!("SUM({value})"),
            (Kind::Number, 3) => format!("AVG({value})"),
            (_, 4) => format!("MIN({value})"),
            // MySQL adds up other values than it has found where DISTINCT is over values of several types.
            (_, 5) if counted && !self.mixes && !value.contains("SELECT") => {
                let function = *self.pick(&["SUM", "AVG", "MIN", "MAX"]);
                format!("{function}(DISTINCT {value})")
            }
            (Kind::Number, 6) => {
                let function = *self.pick(&["BIT_AND", "BIT_OR", "BIT_XOR", "VARIANCE", "STDDEV_SAMP"]);
                format!("{function}({value})")
            }
            (Kind::Text, 6) => {
                let distinct = if value.contains("SELECT") { "" } else { *self.pick(&["", "DISTINCT "]) };
                format!("GROUP_CONCAT({distinct}{value} ORDER BY 1 SEPARATOR '/')")
            }
            _ => format!("MAX({value})"),
        }
    }

    /// Runs `make` one query deeper.
    pub(super) fn inside(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        self.nesting -= 1;
        self.scopes.push(Vec::new());
        let made = make(self);
        self.scopes.pop();
        self.nesting += 1;
        made
    }

    /// ` WHERE ...`, or nothing.
    pub(super) fn where_maybe(&mut self, depth: usize) -> String {
        if self.once_in(4) { String::new() } else { format!(" WHERE {}", self.condition(depth)) }
    }
}
