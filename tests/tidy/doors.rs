//! What the pages for newcomers say is there: files and items that ARCHITECTURE's questions name.

use std::fs;

use super::source::root;

/// The words in backticks of a text, in order.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Whether a file defines an item: a function, a type, a constant, a macro or a table of that name.
fn defines(text: &str, item: &str) -> bool {
    let kinds = ["fn", "struct", "enum", "trait", "const", "static", "macro_rules!", "type"];
    kinds.iter().any(|kind| {
        let start = format!("{kind} {item}");
        text.match_indices(&start).any(|(at, _)| {
            let next = text[at + start.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

/// What is wrong with the rows of the questions in this page: a row names a file, and then items of it.
pub fn questions_in(page: &str) -> Vec<String> {
    let Some(part) = page.split("## Ten questions").nth(1) else { return vec!["no questions".into()] };
    let part = part.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = part.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    let mut findings = Vec::new();
    if rows.len() != 10 {
        findings.push(format!("{} questions", rows.len()));
    }
    for row in rows {
        let place = row.rsplit('|').nth(1).unwrap_or_default();
        let names = quoted(place);
        let Some((file, items)) = names.split_first() else { continue };
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        if text.is_empty() {
            findings.push(format!("no file {file}"));
        }
        let missing = items.iter().filter(|item| !defines(&text, item));
        findings.extend(missing.map(|item| format!("{file} defines no {item}")));
        if items.is_empty() && file.ends_with(".rs") {
            findings.push(format!("{file}: which item?"));
        }
    }
    findings
}

/// The page as it is.
pub fn questions() -> Vec<String> {
    questions_in(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default())
}
