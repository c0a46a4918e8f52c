//! What was considered while a statement was planned, for `information_schema.OPTIMIZER_TRACE`: a tree of
//! steps, printed as JSON under the names that MySQL gives to what is done here too. A statement that nobody
//! traces has no [`Trace`]; whether there is one is looked at where there is something to note.
//!
//! Blocks are numbered as they are planned, a query within another before the one around is done.

use std::cell::RefCell;
use std::fmt::Write;

use turnstile_catalog::expression_text::expression_text;
use turnstile_syntax::ast::{self, quote_name};

use super::query::TableSource;

/// A value in the trace.
#[derive(Debug, Clone)]
pub enum Json {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// true or false.
    Bool(bool),
    /// A list.
    List(Vec<Json>),
    /// Names and values, in this order.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// A text.
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// An object of one name.
    pub fn named(name: &'static str, value: Json) -> Json {
        Json::Object(vec![(name, value)])
    }

    fn print(&self, depth: Option<usize>, into: &mut String) {
        match self {
            Json::Text(text) => print_text(text, into),
            Json::Number(number) => {
                // MySQL's traces have six digits of a cost.
                let digits = 6 - 1 - number.abs().max(1.0).log10().floor().clamp(0.0, 5.0) as i32;
                let scale = 10f64.powi(digits);
                let _ = write!(into, "{}", (number * scale).round() / scale);
            }
            Json::Bool(yes) => into.push_str(if *yes { "true" } else { "false" }),
            Json::List(list) => {
                into.push('[');
                for (nth, one) in list.iter().enumerate() {
                    begin_line(nth > 0, depth.map(|depth| depth + 1), into);
                    one.print(depth.map(|depth| depth + 1), into);
                }
                begin_line(false, depth, into);
                into.push(']');
            }
            Json::Object(list) => {
                into.push('{');
                for (nth, (name, one)) in list.iter().enumerate() {
                    begin_line(nth > 0, depth.map(|depth| depth + 1), into);
                    print_text(name, into);
                    into.push_str(if depth.is_some() { ": " } else { ":" });
                    one.print(depth.map(|depth| depth + 1), into);
                }
                begin_line(false, depth, into);
                into.push('}');
            }
        }
    }
}

fn begin_line(comma: bool, depth: Option<usize>, into: &mut String) {
    if comma {
        into.push(',');
    }
    if let Some(depth) = depth {
        into.push('\n');
        into.extend(std::iter::repeat_n("  ", depth));
    }
}

fn print_text(text: &str, into: &mut String) {
    into.push('"');
    for one in text.chars() {
        match one {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            one if one < ' ' => {
                let _ = write!(into, "\\u{:04x}", one as u32);
            }
            one => into.push(one),
        }
    }
    into.push('"');
}

/// The steps of a statement's planning.
#[derive(Debug)]
pub struct Trace {
    /// Orders of tables that were considered are noted.
    pub orders: bool,
    /// Ways to read each table are.
    pub ranges: bool,
    /// Steps are kept until they have so many bytes.
    bytes_max: usize,
    noted: RefCell<Noted>,
}

/// Steps of no trace have more bytes than these, whatever the session allows.
const BYTES_MAX: usize = 64 << 20;

#[derive(Debug, Default)]
struct Noted {
    steps: Vec<Json>,
    /// Blocks whose planning has begun: their numbers and steps.
    open: Vec<(u64, Vec<Json>)>,
    blocks: u64,
    /// Bytes of all steps, and those of steps that were not kept.
    bytes: usize,
    missing: usize,
}

impl Trace {
    /// One of nothing yet, for so many bytes of steps.
    pub fn new(orders: bool, ranges: bool, bytes_max: u64) -> Trace {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(BYTES_MAX).min(BYTES_MAX);
        Trace { orders, ranges, bytes_max, noted: RefCell::default() }
    }

    /// What a query means, in full.
    pub fn prepared(&self, text: &str) {
        let text = Json::text(format!("/* select#1 */ {text}"));
        let step = Json::named("expanded_query", text);
        let list = vec![("select#", Json::Number(1.0)), ("steps", Json::List(vec![step]))];
        self.noted.borrow_mut().steps.push(Json::named("join_preparation", Json::Object(list)));
    }

    /// A block is planned from here on.
    pub(super) fn begin(&self) {
        let mut noted = self.noted.borrow_mut();
        noted.blocks += 1;
        let number = noted.blocks;
        noted.open.push((number, Vec::new()));
    }

    /// The block that began last is planned.
    pub(super) fn end(&self) {
        let mut noted = self.noted.borrow_mut();
        if let Some((number, steps)) = noted.open.pop() {
            let list = vec![("select#", Json::Number(number as f64)), ("steps", Json::List(steps))];
            noted.steps.push(Json::named("join_optimization", Json::Object(list)));
        }
    }

    /// A step of the innermost block, or of the statement.
    pub(super) fn step(&self, name: &'static str, value: Json) {
        let mut noted = self.noted.borrow_mut();
        let step = Json::named(name, value);
        let mut text = String::new();
        step.print(None, &mut text);
        if noted.bytes > self.bytes_max {
            noted.missing += text.len();
            return;
        }
        noted.bytes += text.len();
        match noted.open.last_mut() {
            Some((_, steps)) => steps.push(step),
            None => noted.steps.push(step),
        }
    }

    /// The whole as text, and how many bytes of it were not kept.
    pub fn print(self, one_line: bool) -> (String, u64) {
        let mut text = String::new();
        let Noted { steps, missing, .. } = self.noted.into_inner();
        Json::named("steps", Json::List(steps)).print((!one_line).then_some(0), &mut text);
        (text, missing as u64)
    }
}

/// A table under the name that a block gives it.
pub(super) fn table_name(name: &str, alias: &str) -> Json {
    let both = match name == alias {
        true => quote_name(name),
        false => format!("{} {}", quote_name(name), quote_name(alias)),
    };
    Json::Text(both)
}

/// A block's WHERE, as it is written or after conditions were put inside derived tables.
pub(super) fn condition(trace: Option<&Trace>, condition: Option<&ast::Expr>) {
    if let (Some(trace), Some(condition)) = (trace, condition) {
        let text = Json::Text(expression_text(condition));
        let step = vec![("condition", Json::text("WHERE")), ("original_condition", text)];
        trace.step("condition_processing", Json::Object(step));
    }
}

/// A derived table or a view has become part of the block that reads it.
pub(super) fn merged(trace: Option<&Trace>, alias: &str) {
    if let Some(trace) = trace {
        let step = vec![("table", table_name(alias, alias)), ("merged", Json::Bool(true))];
        trace.step("derived", Json::Object(step));
    }
}

/// A table is read in the order of ORDER BY.
pub(super) fn ordered(trace: &Trace, source: &TableSource, alias: &str, before: Option<usize>) {
    let Some(key) = source.access.key else { return };
    let direction = if source.access.reverse { "desc" } else { "asc" };
    let way = if source.access.is_full() { "index" } else { "range" };
    let summary = vec![
        ("table", table_name(source.table.name(), alias)),
        ("index_provides_order", Json::Bool(true)),
        ("order_direction", Json::text(direction)),
        ("index", Json::text(source.table.keys()[key].name.to_string())),
        ("plan_changed", Json::Bool(before != Some(key))),
        ("access_type", Json::text(way)),
    ];
    let step = vec![("clause", Json::text("ORDER BY")), ("index_order_summary", Json::Object(summary))];
    trace.step("reconsidering_access_paths_for_index_ordering", Json::Object(step));
}
