//! The OpenMetrics text format: families of samples, each family whole and in one piece, `# EOF` at the end.

use std::fmt::{Display, Write};

/// What the samples of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows; the samples' names end in `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Nobody says.
    Unknown,
    /// How many up to which bound (`_bucket`), how many (`_count`) and their sum (`_sum`).
    Histogram,
    /// Facts in labels; the samples' names end in `_info`.
    Info,
    /// One of several words.
    StateSet,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Unknown => "unknown",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
            Kind::StateSet => "stateset",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Unknown | Kind::StateSet | Kind::Histogram => "",
        }
    }
}

/// A text that grows family by family.
#[derive(Default)]
pub struct Exposition {
    text: String,
    /// The name of the open family's samples.
    sample: String,
}

/// A text within quotes, or behind HELP.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl Exposition {
    /// Begins a family.
    pub fn family(&mut self, name: &str, kind: Kind, help: &str) -> &mut Exposition {
        // Writing into a text cannot fail, here and below.
        let _ = write!(self.text, "# TYPE {name} {}\n# HELP {name} {}\n", kind.name(), escaped(help));
        self.sample = format!("{name}{}", kind.ending());
        self
    }

    /// A sample of the open family.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) -> &mut Exposition {
        self.part("", labels, value)
    }

    /// A sample of the open family whose name has a part of its own behind the family's.
    pub fn part(&mut self, part: &str, labels: &[(&str, &str)], value: impl Display) -> &mut Exposition {
        self.text.push_str(&self.sample);
        self.text.push_str(part);
        for (at, (name, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(text));
        }
        let _ = writeln!(self.text, "{} {value}", if labels.is_empty() { "" } else { "}" });
        self
    }

    /// The whole text.
    pub fn end(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_as_the_format_has_them() {
        let mut out = Exposition::default();
        out.family("a", Kind::Counter, "What \"a\" is.").sample(&[("x", "1\n"), ("y", "\\")], 3);
        out.family("b", Kind::Gauge, "B.").sample(&[], 0.5);
        let text = "# TYPE a counter\n# HELP a What \\\"a\\\" is.\na_total{x=\"1\\n\",y=\"\\\\\"} 3\n\
                    # TYPE b gauge\n# HELP b B.\nb 0.5\n# EOF\n";
        assert_eq!(out.end(), text);
    }
}
