//! The rules, one function each: a source file in, findings out.

use std::fs;

use super::source::{Source, root};

/// What is over a limit today: (path, function or "" for the file, size it may not exceed). Only shrinks.
const RATCHET: &[(&str, &str, usize)] = &[];

/// Rooms that are folders of the engine; each explains itself.
const ENGINE_ROOMS: &[&str] =
    &["page", "wal", "buffer", "btree", "admission", "lock", "txn", "row", "recovery"];

/// Files that may contain `unsafe`. Adding one is a decision: say why in the file's header.
const UNSAFE_FILES: &[&str] = &[
    "crates/sys/src/checksum.rs",
    "crates/sys/src/heap.rs",
    "crates/sys/src/latch.rs",
    "crates/sys/src/ranked.rs",
    "crates/engine/src/page/view.rs",
    "crates/engine/src/buffer/frame.rs",
    "crates/engine/src/buffer/guard.rs",
];

/// File and module names that say nothing.
const BANNED_NAMES: &[&str] = &["utils", "util", "common", "helpers", "helper", "misc", "manager"];

/// Words that do not belong into the repository, written in halves so that this file passes.
fn banned_words() -> Vec<String> {
    [("FIX", "ME"), ("XX", "X:"), ("HA", "CK"), ("/wo", "rk/"), ("../sha", "red"), ("/ro", "ot/")]
        .iter()
        .map(|(a, b)| format!("{a}{b}"))
        .collect()
}

fn allowed(source: &Source, function: &str, limit: usize) -> usize {
    RATCHET
        .iter()
        .find(|(path, name, _)| *path == source.path && *name == function)
        .map_or(limit, |entry| entry.2)
}

/// The first line says what the file is.
pub fn header(source: &Source) -> Vec<String> {
    match source.lines.first() {
        Some(first) if first.starts_with("//!") || first.starts_with("#![doc = include_str!(") => Vec::new(),
        _ => vec![source.path.clone()],
    }
}

/// Code lines of a file. Tests are read differently and may be longer by half.
pub fn file_size(source: &Source, limit: usize) -> Vec<String> {
    let limit = if source.is_test() { limit * 3 / 2 } else { allowed(source, "", limit) };
    let size = source.code().len();
    if size > limit {
        vec![format!("{}: {size} code lines, at most {limit}", source.path)]
    } else {
        Vec::new()
    }
}

/// Code lines of each function, found by rustfmt's indentation: from the `fn` line to the brace at its
/// indent.
pub fn function_sizes(source: &Source, limit: usize) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let code = source.code();
    for (at, (number, line)) in code.iter().enumerate() {
        let text = line.trim_start();
        let Some(name) = function_name(text) else { continue };
        let indent = line.len() - text.len();
        let close = format!("{}}}", " ".repeat(indent));
        if text.trim_end().ends_with(';') || text.trim_end().ends_with('}') {
            continue;
        }
        let Some(end) = code[at..].iter().position(|(_, l)| l.trim_end() == close) else { continue };
        let size = end + 1;
        let limit = allowed(source, name, limit);
        if size > limit {
            findings
                .push(format!("{}:{number}: fn {name} has {size} code lines, at most {limit}", source.path));
        }
    }
    findings
}

/// Whether a line of comment is a row of a table, or of a picture within a fence: these cannot be wrapped.
fn is_drawn(text: &str, fenced: &mut bool) -> bool {
    let inside = text.trim_start_matches(['/', '!']).trim_start();
    *fenced ^= inside.starts_with("```");
    *fenced || inside.starts_with('|')
}

/// Lines of nothing but comment that are wider than this many columns. rustfmt sees to code and leaves
/// comments alone.
pub fn comment_width(source: &Source, limit: usize) -> Vec<String> {
    let (mut findings, mut fenced) = (Vec::new(), false);
    for (number, line) in source.lines.iter().enumerate() {
        let columns = line.chars().count();
        let text = line.trim_start();
        let is_comment = text.starts_with("//");
        if is_comment && !is_drawn(text, &mut fenced) && columns > limit {
            findings.push(format!("{}:{}: {columns} columns, at most {limit}", source.path, number + 1));
        }
    }
    findings
}

fn function_name(text: &str) -> Option<&str> {
    let mut rest = text;
    for prefix in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

/// Crates may name only crates below them.
pub fn crate_order() -> Vec<String> {
    let order = [
        "sys",
        "engine",
        "values",
        "syntax",
        "expr",
        "catalog",
        "plan",
        "observe",
        "exec",
        "session",
        "wire",
        "scheduler",
        "console",
        "server",
        "lab",
        "oracle",
    ];
    let mut findings = Vec::new();
    for (rank, name) in order.iter().enumerate() {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        for above in &order[rank..] {
            if manifest.lines().any(|line| line.starts_with(&format!("turnstile-{above}."))) {
                findings.push(format!("crates/{name} depends on {above}"));
            }
        }
        if ["lab", "oracle"].contains(name)
            && order[2..13].iter().any(|c| manifest.contains(&format!("\nturnstile-{c}.")))
        {
            findings.push(format!("crates/{name} must speak only the wire"));
        }
    }
    findings
}

/// Kinds of items that a reader meets by name.
const ITEMS: &[&str] = &["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type "];

/// Whether a line begins an item that is `pub`.
fn is_public_item(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix("pub ") else { return false };
    for prefix in ["const fn", "async fn", "unsafe fn"] {
        rest = if rest.starts_with(prefix) { "fn " } else { rest };
    }
    ITEMS.iter().any(|kind| rest.starts_with(kind))
}

/// Every `pub` item has a sentence, also where the compiler does not ask for it because its module is
/// private. Where it is allowed not to, the reason says what the names are.
pub fn documented(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let (mut findings, mut excused, mut told) = (Vec::new(), None, false);
    for (number, line) in source.lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text == "#[cfg(test)]" && source.lines.get(number + 1).is_some_and(|next| next.ends_with('{')) {
            break;
        }
        if text.starts_with("#[allow(missing_docs") {
            excused = Some(indent);
        }
        if is_public_item(text) && !told && excused.is_none() {
            findings.push(format!("{}:{}: {text}", source.path, number + 1));
        }
        // Attributes may stand between a sentence and its item, over several lines; a macro is given both.
        let is_given = text.starts_with("$(#[");
        let is_between = text.starts_with("#[") || text.ends_with(")]") || text.starts_with("reason");
        told = is_given || text.starts_with("///") || text.starts_with("#[doc") || (told && is_between);
        if excused == Some(indent) && (text.starts_with('}') || text.ends_with(';')) {
            excused = None;
        }
    }
    findings
}

/// `unsafe` only in the listed files, and a file that has none is not listed.
pub fn unsafe_list(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let is_unsafe = |line: &str| {
        let line = line.split("//").next().unwrap_or(line);
        !line.contains("unsafe_code")
            && ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"]
                .iter()
                .any(|word| line.contains(word))
    };
    let found = source.code().into_iter().filter(|(_, l)| is_unsafe(l));
    let found: Vec<String> = found.map(|(n, _)| format!("{}:{n}", source.path)).collect();
    match UNSAFE_FILES.contains(&source.path.as_str()) {
        true if found.is_empty() => vec![format!("{} is listed and has none", source.path)],
        true => Vec::new(),
        false => found,
    }
}

/// No `unwrap()` outside tests.
pub fn no_unwrap(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let hit =
        |line: &&(usize, &str)| line.1.split("//").next().is_some_and(|code| code.contains(".unwrap()"));
    source.code().iter().filter(hit).map(|(n, _)| format!("{}:{n}", source.path)).collect()
}

/// "The disk is full" is what an allocation says, by its own type. Whoever asks an error of another call for
/// it may take a failed sync for something that can be tried again.
pub fn full_disk(source: &Source) -> Vec<String> {
    if source.is_test() || source.path == "crates/sys/src/disk.rs" || !source.path.starts_with("crates/") {
        return Vec::new();
    }
    let kinds = ["StorageFull", "QuotaExceeded", "FileTooLarge", "ENOSPC"];
    let hit = |(_, line): &&(usize, &str)| kinds.iter().any(|kind| line.contains(kind));
    source.code().iter().filter(hit).map(|(n, _)| format!("{}:{n}", source.path)).collect()
}

/// Numbers of errors stand in the table of errors; what an error is to the code that meets it, its kind
/// tells.
pub fn compared_codes(source: &Source) -> Vec<String> {
    let inside = source.path.starts_with("crates/") && !source.path.starts_with("crates/lab/");
    if !inside || source.is_test() || source.path.starts_with("crates/values/src/error") {
        return Vec::new();
    }
    let compares = |code: &str| {
        let asked = ["error.code ", "error.code)", "error.code,", "().code ", "error.code {"];
        let by = ["==", "!=", "match", "contains"];
        asked.iter().any(|word| code.contains(word)) && by.iter().any(|word| code.contains(word))
    };
    let hit = |line: &&(usize, &str)| line.1.split("//").next().is_some_and(compares);
    source.code().iter().filter(hit).map(|(n, _)| format!("{}:{n}", source.path)).collect()
}

/// Ways to take memory of a size that a statement chooses; SQL functions take it through `ResultBytes`, which
/// has a bound.
const UNBOUNDED: &[&str] = &[".repeat(", "with_capacity(", ".resize(", "vec![0; ", ".join("];

/// Functions build what can grow through the one builder that checks before it takes memory.
pub fn bounded_results(source: &Source) -> Vec<String> {
    let inside = source.path.starts_with("crates/expr/src/functions/");
    if !inside || source.is_test() || source.path.ends_with("/result_bytes.rs") {
        return Vec::new();
    }
    let hit = |line: &&(usize, &str)| UNBOUNDED.iter().any(|word| line.1.contains(word));
    source.code().iter().filter(hit).map(|(n, _)| format!("{}:{n}", source.path)).collect()
}

/// Lists of rows, and sets of what rows have, that take long to drop: `memory::Many`, `memory::Rows` and
/// `KeyIndex` let others in before.
const HELD_ROWS: &[&str] =
    &["Vec<Vec<Value>>", "Vec<Keyed>", "Vec<Group>", "HashSet<", "BTreeMap<", "BTreeSet<"];

/// Where rows are kept while a statement runs, they are kept in what may be dropped anywhere. `documents.rs`
/// has a type of its own that does so.
pub fn held_rows(source: &Source) -> Vec<String> {
    let inside = source.path.starts_with("crates/exec/src/exec/");
    if !inside || source.is_test() || source.path.ends_with("/documents.rs") {
        return Vec::new();
    }
    let is_list = |code: &str| HELD_ROWS.iter().any(|word| code.contains(word));
    let hit = |line: &&(usize, &str)| line.1.split("//").next().is_some_and(is_list);
    source.code().iter().filter(hit).map(|(n, _)| format!("{}:{n}", source.path)).collect()
}

/// Names that say nothing, and words that do not belong here.
pub fn banned(source: &Source) -> Vec<String> {
    let mut findings = Vec::new();
    for part in source.path.trim_end_matches(".rs").split('/') {
        if BANNED_NAMES.contains(&part) {
            findings.push(format!("{}: the name {part:?} says nothing", source.path));
        }
    }
    let words = banned_words();
    for (number, line) in source.lines.iter().enumerate() {
        for word in words.iter().filter(|word| line.contains(word.as_str())) {
            findings.push(format!("{}:{}: {word:?}", source.path, number + 1));
        }
        if line.contains("TODO") && !line.contains("TODO(") && !source.path.starts_with("tests/tidy/") {
            findings.push(format!("{}:{}: a TODO needs an owner", source.path, number + 1));
        }
    }
    findings
}

/// Every room of the engine explains itself.
pub fn room_readmes() -> Vec<String> {
    let rooms = root().join("crates/engine/src");
    let missing = |name: &&str| rooms.join(name).is_dir() && !rooms.join(name).join("README.md").exists();
    ENGINE_ROOMS.iter().filter(|name| missing(name)).map(|name| name.to_string()).collect()
}

/// Commits since this one have short subjects.
const SUBJECTS_SINCE: &str = "bb81ca6";
/// Characters that a subject may have.
const SUBJECT_MAX: usize = 72;

/// Subjects that are too long, or name no area. A copy without its history has no subjects.
pub fn subjects() -> Vec<String> {
    let range = format!("{SUBJECTS_SINCE}..HEAD");
    let log =
        std::process::Command::new("git").args(["log", "--format=%s", &range]).current_dir(root()).output();
    let text = log.map(|log| String::from_utf8_lossy(&log.stdout).into_owned()).unwrap_or_default();
    text.lines().filter(|line| !is_subject(line)).map(str::to_string).collect()
}

/// Whether this is `area: what`, and short.
pub fn is_subject(line: &str) -> bool {
    line.chars().count() <= SUBJECT_MAX && line.contains(": ")
}

/// Members that every manifest has.
const MANIFEST: [&str; 3] = ["commit", "date", "cores"];

/// What the manifest of a file of figures lacks; everything, if there is none.
pub fn manifest_lacks(text: &str) -> Vec<String> {
    let Ok(result) = serde_json::from_str::<serde_json::Value>(text) else { return vec!["any sense".into()] };
    let manifest = &result["manifest"];
    let has_command = !manifest["command"].is_null() || !manifest["commands"].is_null();
    let lacks = MANIFEST.iter().filter(|name| manifest[**name].is_null()).map(|name| name.to_string());
    lacks.chain((!has_command).then(|| "command".to_string())).collect()
}

/// Files of figures without a manifest, and files that a page names and that are not there.
pub fn figures() -> Vec<String> {
    let mut findings = Vec::new();
    let folder = root().join("bench/results");
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let lacks = manifest_lacks(&fs::read_to_string(entry.path()).unwrap_or_default());
        if !lacks.is_empty() {
            findings.push(format!("{}: the manifest lacks {}", entry.path().display(), lacks.join(", ")));
        }
    }
    for page in ["README.md", "bench/README.md", "bench/RESULTS.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap_or_default();
        for (at, _) in text.match_indices("results/") {
            let name: String = text[at + 8..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
                .collect();
            if name.ends_with(".json") && !folder.join(&name).is_file() {
                findings.push(format!("{page}: {name} is not in bench/results"));
            }
        }
    }
    findings
}
