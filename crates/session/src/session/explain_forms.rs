//! EXPLAIN FORMAT=JSON: the lines of the table form as one text. Costs are not told, because the planner
//! knows none.

use serde_json::{Map, Value as Json, json};

use crate::value::{Value, to_text};

/// Places of the columns of the table form.
const ID: usize = 0;
const SELECT_TYPE: usize = 1;
const TABLE: usize = 2;
const ACCESS: usize = 4;
const POSSIBLE: usize = 5;
const KEY: usize = 6;
const KEY_LENGTH: usize = 7;
const REFERENCE: usize = 8;
const ROWS: usize = 9;
const EXTRA: usize = 11;

fn cell(line: &[Value], column: usize) -> Option<String> {
    (!line[column].is_null()).then(|| to_text(&line[column]).to_string())
}

/// Lines of one SELECT after the other.
fn blocks(lines: &[Vec<Value>]) -> impl Iterator<Item = &[Vec<Value>]> {
    lines.chunk_by(|one, other| one[ID] == other[ID])
}

fn uses(line: &[Value], words: &str) -> bool {
    cell(line, EXTRA).is_some_and(|extra| extra.contains(words))
}

/// The blocks as JSON: the first is the query, those of subqueries, derived tables and further parts of a
/// UNION are listed in it.
pub(super) fn json(lines: &[Vec<Value>]) -> String {
    let mut blocks = blocks(lines).map(json_block);
    let mut first = blocks.next().unwrap_or_default();
    let others: Vec<Json> = blocks.map(|block| json!({ "query_block": block })).collect();
    if !others.is_empty() {
        first.insert("query_specifications".into(), Json::Array(others));
    }
    serde_json::to_string_pretty(&json!({ "query_block": first })).unwrap_or_default()
}

fn json_block(lines: &[Vec<Value>]) -> Map<String, Json> {
    let mut block = Map::new();
    let number = |line: &[Value], column| cell(line, column).and_then(|text| text.parse::<u64>().ok());
    block.insert("select_id".into(), json!(number(&lines[0], ID)));
    block.insert("select_type".into(), json!(cell(&lines[0], SELECT_TYPE)));
    if uses(&lines[0], "Using filesort") {
        block.insert("ordering_operation".into(), json!({ "using_filesort": true }));
    }
    let table = |line: &Vec<Value>| {
        if cell(line, ACCESS).is_none_or(|access| access.is_empty()) {
            return json!({ "message": cell(line, EXTRA) });
        }
        let mut table = Map::new();
        let list = |text: String| text.split(',').map(Json::from).collect::<Vec<_>>();
        let mut put = |name: &str, value: Option<Json>| {
            table.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("table_name", cell(line, TABLE).map(Json::from));
        put("access_type", cell(line, ACCESS).map(Json::from));
        put("possible_keys", cell(line, POSSIBLE).map(|text| list(text).into()));
        put("key", cell(line, KEY).map(Json::from));
        put("key_length", cell(line, KEY_LENGTH).map(Json::from));
        put("ref", cell(line, REFERENCE).map(|text| list(text).into()));
        put("rows_examined_per_scan", number(line, ROWS).map(Json::from));
        put("filtered", Some("100.00".into()));
        put("using_index", uses(line, "Using index").then_some(true.into()));
        put("hand_on_before_commit", uses(line, super::explain::HAND_ON).then_some(true.into()));
        put("using_join_buffer", uses(line, "hash join").then(|| "hash join".into()));
        Json::Object(table)
    };
    if let [line] = lines {
        block.insert("table".into(), table(line));
    } else {
        let steps = lines.iter().map(|line| json!({ "table": table(line) })).collect();
        block.insert("nested_loop".into(), Json::Array(steps));
    }
    block
}
