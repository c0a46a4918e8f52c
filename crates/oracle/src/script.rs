//! Scripts of recorded answers. A line behind `> ` is a statement, behind `~ ` one whose rows have no order
//! of their own; the lines below it, indented by two, are what MySQL answered. `# columns: names`, `types` or
//! `full` says how much of the columns' definitions counts from there on. Other lines are for readers.
//!
//! Beside `NAME.test` there may be `NAME.differs`: the statements that are known to be answered differently,
//! each under a comment with the reason. A replay fails when a statement differs that is not listed, and when
//! a listed one does not.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use turnstile_lab::client::{Client, ClientError, Target};

use crate::answer::{Detail, ask};

/// The reason written above statements that nobody has looked at.
pub const UNEXAMINED: &str = "# not examined";

/// A part of a script.
enum Item {
    /// A line that is no statement and no answer.
    Text(String),
    /// A statement and its recorded answer.
    Statement { line: usize, text: String, sorted: bool, detail: Detail, answer: Vec<String> },
}

/// What a replay found in one script.
#[derive(Debug, Default)]
pub struct Found {
    /// Statements replayed.
    pub statements: usize,
    /// Statements that differ as listed.
    pub known: usize,
    /// Those among them that nobody has looked at.
    pub unexamined: usize,
    /// What is wrong, each as lines for a reader.
    pub faults: Vec<String>,
}

fn parse(text: &str) -> Vec<Item> {
    let mut detail = Detail::Types;
    let mut items = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        if let Some(asked) = line.strip_prefix("# columns: ").and_then(|word| Detail::parse(word.trim())) {
            detail = asked;
        }
        let statement = line.strip_prefix("> ").map(|text| (text, false));
        if let Some((text, sorted)) = statement.or_else(|| line.strip_prefix("~ ").map(|text| (text, true))) {
            let text = text.to_string();
            items.push(Item::Statement { line: nth + 1, text, sorted, detail, answer: Vec::new() });
        } else if let (Some(given), Some(Item::Statement { answer, .. })) =
            (line.strip_prefix("  "), items.last_mut())
        {
            answer.push(given.to_string());
        } else {
            items.push(Item::Text(line.to_string()));
        }
    }
    items
}

/// A connection in a fresh database named after the script, with the settings that all scripts start from.
fn open(target: &Target, path: &Path) -> Result<Client, ClientError> {
    let mut client = Client::connect(target)?;
    let name = database_of(path);
    for statement in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!("CREATE DATABASE {name}"),
        format!("USE {name}"),
        "SET NAMES utf8mb4".to_string(),
        "SET time_zone = '+00:00'".to_string(),
        // Noon of 2026-11-23: a time of day becomes a moment of the day that is.
        "SET timestamp = 1795435200".to_string(),
    ] {
        client.query(&statement)?;
    }
    Ok(client)
}

fn database_of(path: &Path) -> String {
    format!("script_{}", path.file_stem().unwrap_or_default().to_string_lossy())
}

/// Runs every statement at `target` and writes its answers into the script.
///
/// # Errors
/// When the file cannot be read or written or the connection fails.
pub fn record(target: &Target, path: &Path) -> Result<usize, ClientError> {
    let mut client = open(target, path)?;
    let mut text = String::new();
    let mut statements = 0;
    for item in parse(&fs::read_to_string(path)?) {
        match item {
            Item::Text(line) => {
                text += &line;
                text.push('\n');
            }
            Item::Statement { text: statement, sorted, detail, .. } => {
                statements += 1;
                text += &format!("{} {statement}\n", if sorted { '~' } else { '>' });
                for line in ask(&mut client, &statement, sorted, detail)? {
                    text += &format!("  {line}\n");
                }
            }
        }
    }
    fs::write(path, text)?;
    client.query(&format!("DROP DATABASE IF EXISTS {}", database_of(path)))?;
    Ok(statements)
}

/// Runs every statement at `target` and compares its answers with the recorded ones. With `rewrite`, the list
/// of differing statements is written anew: reasons are kept, what agrees is taken out, what is new stands
/// under [`UNEXAMINED`].
///
/// # Errors
/// When a file cannot be read or written, or the server is gone.
pub fn replay(target: &Target, path: &Path, rewrite: bool) -> Result<Found, ClientError> {
    let known = Known::read(path)?;
    let mut client = open(target, path)?;
    let mut found = Found::default();
    let mut differing = BTreeSet::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for item in parse(&fs::read_to_string(path)?) {
        let Item::Statement { line, text, sorted, detail, answer } = item else { continue };
        found.statements += 1;
        let given = match ask(&mut client, &text, sorted, detail) {
            Ok(given) => given,
            Err(error) => {
                found.faults.push(format!("{name}:{line}: {text}\n    {error}"));
                client = open(target, path)?;
                continue;
            }
        };
        if given == answer {
            continue;
        }
        differing.insert(text.clone());
        if known.lists(&text) {
            found.known += 1;
        } else if !rewrite {
            found.faults.push(format!("{name}:{line}: {text}\n{}", difference(&answer, &given)));
        }
    }
    client.query(&format!("DROP DATABASE IF EXISTS {}", database_of(path)))?;
    if rewrite {
        known.rewrite(&differing)?;
    } else {
        let agreeing = known.entries.iter().filter(|(_, text)| !differing.contains(text));
        found
            .faults
            .extend(agreeing.map(|(_, text)| format!("{name}: listed as different, but is not: {text}")));
    }
    found.unexamined = known.entries.iter().filter(|(reason, _)| reason == UNEXAMINED).count();
    Ok(found)
}

/// The first lines of two answers that differ.
fn difference(expected: &[String], given: &[String]) -> String {
    let same = expected.iter().zip(given).take_while(|(a, b)| a == b).count();
    let side = |lines: &[String]| lines.get(same).map_or("(nothing more)", String::as_str).to_string();
    format!("    recorded {}\n    given    {}", side(expected), side(given))
}

/// The list of statements that are known to differ.
struct Known {
    path: PathBuf,
    /// Reason, statement.
    entries: Vec<(String, String)>,
}

impl Known {
    fn read(script: &Path) -> io::Result<Known> {
        let path = script.with_extension("differs");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        let mut reason = UNEXAMINED.to_string();
        for line in text.lines() {
            if line.starts_with('#') {
                reason = line.to_string();
            } else if let Some(statement) = line.strip_prefix("> ") {
                entries.push((reason.clone(), statement.to_string()));
            }
        }
        Ok(Known { path, entries })
    }

    fn lists(&self, statement: &str) -> bool {
        self.entries.iter().any(|(_, text)| text == statement)
    }

    fn rewrite(&self, differing: &BTreeSet<String>) -> io::Result<()> {
        let mut kept: Vec<(String, String)> =
            self.entries.iter().filter(|(_, text)| differing.contains(text)).cloned().collect();
        let new = differing.iter().filter(|text| !self.lists(text));
        kept.extend(new.map(|text| (UNEXAMINED.to_string(), text.clone())));
        if kept.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let mut text = String::new();
        let mut last = String::new();
        for (reason, statement) in kept {
            if reason != last {
                text += &format!("{}{reason}\n", if text.is_empty() { "" } else { "\n" });
                last = reason;
            }
            text += &format!("> {statement}\n");
        }
        fs::write(&self.path, text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, parse};

    #[test]
    fn answers_belong_to_the_statement_above_them() {
        let items = parse("# columns: full\n> SELECT 1\n  = 1 BIGINT\n  1\n\n~ SELECT 2\n  = 2\n");
        let shape: Vec<(bool, usize)> = items
            .iter()
            .map(|item| match item {
                Item::Text(_) => (false, 0),
                Item::Statement { answer, .. } => (true, answer.len()),
            })
            .collect();
        assert_eq!(shape, [(false, 0), (true, 2), (false, 0), (true, 1)]);
    }
}
