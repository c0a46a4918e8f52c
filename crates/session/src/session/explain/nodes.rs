//! A node of the tree that EXPLAIN shows, and numbers as MySQL shows them there.

use std::fmt::Write;

use crate::exec::measure::Done;

/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// One thing that is done with rows, over what they come from.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// What is done.
    label: String,
    /// Rows that the planner expected of each loop.
    rows: Option<f64>,
    /// What was measured.
    pub(super) done: Option<Done>,
    pub(super) children: Vec<Node>,
}

impl Node {
    pub(super) fn new(label: impl Into<String>) -> Node {
        Node { label: label.into(), ..Node::default() }
    }

    pub(super) fn rows(self, rows: f64) -> Node {
        Node { rows: Some(rows), ..self }
    }

    pub(super) fn done(self, done: Option<Done>) -> Node {
        Node { done, ..self }
    }

    pub(super) fn over(mut self, child: Node) -> Node {
        self.children.push(child);
        self
    }

    pub(super) fn over_all(mut self, children: Vec<Node>) -> Node {
        self.children.extend(children);
        self
    }

    /// The text of a list of trees.
    pub(super) fn text_of(nodes: &[Node], measured: bool) -> String {
        let mut out = String::new();
        nodes.iter().for_each(|node| node.write(0, measured, &mut out));
        out
    }

    fn write(&self, depth: usize, measured: bool, out: &mut String) {
        let mut line = format!("{}-> {}", "    ".repeat(depth), self.label);
        let mut gap = "  ";
        if let Some(rows) = self.rows {
            line += &format!("{gap}(rows={})", readable(rows));
            gap = " ";
        }
        if let Some(done) = self.done.filter(|_| measured) {
            line += gap;
            line += &actual(done);
        }
        let written = writeln!(out, "{line}");
        debug_assert!(written.is_ok());
        self.children.iter().for_each(|child| child.write(depth + 1, measured, out));
    }
}

fn actual(done: Done) -> String {
    if done.loops == 0 {
        return "(never executed)".into();
    }
    let each = |sum: u64| sum as f64 / done.loops as f64;
    let (first, total) = (each(done.first_ns.min(done.total_ns)) / MS, each(done.total_ns) / MS);
    let rows = readable(each(done.rows));
    format!("(actual time={}..{} rows={rows} loops={})", readable(first), readable(total), done.loops)
}

/// Three digits that mean something; thousandths and millions by powers of ten.
fn readable(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    for (under, factor, power) in [(1e-6, 1e9, "e-9"), (1e-3, 1e6, "e-6")] {
        if number < under {
            return format!("{}{power}", three_digits(number * factor));
        }
    }
    if number >= 999_999.5 {
        return format!("{}e+6", three_digits(number / 1e6));
    }
    three_digits(number)
}

fn three_digits(number: f64) -> String {
    let whole = number.log10().floor().max(-9.0) as i32;
    let decimals = usize::try_from(2 - whole).unwrap_or_default();
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [
            (0.0, "0"),
            (0.000_17, "170e-6"),
            (0.000_020_1, "20.1e-6"),
            (0.034_32, "0.0343"),
            (0.002_424, "0.00242"),
            (0.75, "0.75"),
            (1.666, "1.67"),
            (5.0, "5"),
            (700.4, "700"),
            (583_223.0, "583223"),
            (10_200_000.0, "10.2e+6"),
        ];
        for (number, text) in shown {
            assert_eq!(readable(number), text);
        }
    }

    #[test]
    fn a_node_that_never_ran_says_so() {
        let done = Done { loops: 2, rows: 5, first_ns: 60_000, total_ns: 200_000 };
        let inner = Node::new("Table scan on t").rows(7.0).done(Some(Done::default()));
        let node = Node::new("Filter").done(Some(done)).over(inner);
        let text = Node::text_of(std::slice::from_ref(&node), true);
        assert_eq!(
            text,
            "-> Filter  (actual time=0.03..0.1 rows=2.5 loops=2)\n    -> Table scan on t  (rows=7) (never executed)\n"
        );
        assert_eq!(Node::text_of(&[node], false), "-> Filter\n    -> Table scan on t  (rows=7)\n");
    }
}
