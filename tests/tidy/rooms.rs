//! Rooms and the arrows between them. A room is a module at the top of a crate; it may use rooms of lower
//! layers.

use std::fs;

use super::source::{Source, root};

/// The layers of each crate, from below. Rooms of one layer do not use each other, but for those joined by
/// `+`: these are cycles. There is one, and it is a picture: a call is an expression whose arguments
/// are expressions.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "sys",
        &[
            "checksum contention disk heap rng sync temporary_file timer trail",
            "aside block_on due fault_disk handoff known latch leader memory park pin_count progress relief task_cell pausing_disk",
            "ranked",
            "swap_buffer",
        ],
    ),
    (
        "engine",
        &[
            "yield_now ids isolation limits rank settings tally",
            "error page stats",
            "interrupt wal",
            "admission buffer",
            "btree session_status",
            "api",
            "lock",
            "txn",
            "row",
            "recovery",
            "engine",
        ],
    ),
    (
        "values",
        &[
            "decimal digits error number_text",
            "charset datetime memory pulse regexp",
            "collation json traits",
            "types",
            "datum mixing stored_width",
            "field context",
            "value",
            "key_codec lookup sink",
        ],
    ),
    ("syntax", &["ast lexer", "digest parser walk", "template", "fuzz"]),
    // A picture: a call is an expression, and its arguments are expressions.
    ("expr", &["expr+functions"]),
    (
        "catalog",
        &[
            "expression_text rank row_codec thread_pool timeout version",
            "fuzz mdl",
            "dictionary user_locks",
            "accounts definition",
            "digests statistics variables virtual_table",
            "registry",
            "catalog",
            "session_state",
        ],
    ),
    ("plan", &["plan"]),
    ("observe", &["picture query_log", "status", "information_schema"]),
    ("exec", &["exec"]),
    (
        "session",
        &["reads_lock row_plan used_tables", "kept_statement", "statement_cache", "database", "session"],
    ),
    ("wire", &["capability read", "command handshake write", "result", "fuzz"]),
    ("scheduler", &["events readiness", "task", "aside core", "group", "drive pool", "solo"]),
    (
        "console",
        &[
            "address connections guesses metrics patience switches",
            "account response",
            "host",
            "logins page request visitor",
            "guard samples",
            "sampler",
            "site",
            "routes",
            "console",
        ],
    ),
    (
        "server",
        &[
            "deadline log options peer signals tls visits",
            "hosts identity janitor password_key stream",
            "cursor shared sink",
            "auth",
            "connection",
            "listener",
            "server",
            "serve",
        ],
    ),
    (
        "lab",
        &[
            "dice secret skim",
            "client interval manifest",
            "clients house options reply",
            "hot_row process progress switch",
            "contest curve floor",
            "measure",
            "report",
            "sliced",
            "experiment",
            "bench",
            "demo",
        ],
    ),
    ("oracle", &["answer", "script random"]),
];

/// Where a room stands: its layer, and its place there. Rooms of one cycle have one place.
fn place(krate: &str, room: &str) -> Option<(usize, usize)> {
    let (_, layers) = LAYERS.iter().find(|(name, _)| *name == krate)?;
    layers.iter().enumerate().find_map(|(layer, entries)| {
        let mut entries = entries.split_whitespace();
        entries.position(|entry| entry.split('+').any(|name| name == room)).map(|at| (layer, at))
    })
}

/// Names that the root of a crate gives to what a room has: (name, room).
fn given_by_root(krate: &str) -> Vec<(String, String)> {
    let folder = root().join("crates").join(krate).join("src");
    let text = fs::read_to_string(folder.join("lib.rs")).unwrap_or_default();
    let mut given = Vec::new();
    for statement in text.split(';') {
        let Some((_, used)) = statement.split_once("use ") else { continue };
        let used = used.trim().trim_start_matches("crate::");
        let Some((room, names)) = used.split_once("::") else { continue };
        for name in names.trim_matches(['{', '}']).split(',') {
            given.push((name.trim().to_string(), room.to_string()));
        }
    }
    given
}

/// The first names of what is used behind `crate::` or enough `super::`, in code that begins there.
fn first_names(rest: &str) -> Vec<&str> {
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(group) = rest.strip_prefix('{') else { return vec![&rest[..word(rest)]] };
    let (mut depth, mut begin, mut names) = (0, 0, Vec::new());
    for (at, byte) in group.bytes().enumerate() {
        let ends = matches!(byte, b',' | b'}') && depth == 0;
        if ends {
            let item = group[begin..at].trim_start();
            names.push(&item[..word(item)]);
            begin = at + 1;
        }
        match byte {
            b'}' if depth == 0 => break,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// (line, name at the crate's root) of everything that a file uses from its crate's root down.
fn uses(source: &Source, depth: usize) -> Vec<(usize, String)> {
    let code = source.code();
    let bare = |line: &str| line.split("//").next().unwrap_or_default().to_string();
    let mut found = Vec::new();
    for (at, (number, line)) in code.iter().enumerate() {
        let line = bare(line);
        let whole = || {
            let more = code[at + 1..].iter().map(|(_, line)| bare(line));
            let length = code[at..].iter().position(|(_, line)| line.contains(';')).unwrap_or(0);
            more.take(length).collect::<String>()
        };
        let ups = "super::".repeat(depth);
        for (begin, path) in [("crate::", "crate::"), (ups.as_str(), ups.as_str())] {
            for (start, _) in line.match_indices(begin) {
                let before = line[..start].chars().next_back();
                let joined = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
                if joined {
                    continue;
                }
                let rest = format!("{}{}", &line[start + path.len()..], whole());
                found.extend(first_names(&rest).into_iter().map(|name| (*number, name.to_string())));
            }
        }
    }
    found
}

/// A room uses rooms of lower layers only, and every room has a layer.
pub fn ranks(source: &Source) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix("crates/") else { return Vec::new() };
    let Some((krate, inside)) = inside.split_once("/src/") else { return Vec::new() };
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if parts.len() > 1 && parts.last() == Some(&"mod") {
        parts.pop();
    }
    let room = parts[0];
    if source.is_test() || ["lib", "main"].contains(&room) {
        return Vec::new();
    }
    let Some(own) = place(krate, room) else {
        return vec![format!("{}: the room {room} has no layer (tests/tidy/rooms.rs)", source.path)];
    };
    let given = given_by_root(krate);
    let mut findings = Vec::new();
    for (number, name) in uses(source, parts.len()) {
        let other = given.iter().find(|(known, _)| *known == name).map_or(name.as_str(), |(_, room)| room);
        let Some(theirs) = place(krate, other) else { continue };
        if theirs != own && theirs.0 >= own.0 {
            findings.push(format!("{}:{number}: {room} uses {other}, which is not below it", source.path));
        }
    }
    findings
}

/// Rooms that the list names and that are not there.
pub fn gone() -> Vec<String> {
    let mut findings = Vec::new();
    for (krate, layers) in LAYERS {
        let folder = root().join("crates").join(krate).join("src");
        for room in layers.iter().flat_map(|layer| layer.split(['+', ' ']).filter(|name| !name.is_empty())) {
            if !folder.join(room).is_dir() && !folder.join(format!("{room}.rs")).is_file() {
                findings.push(format!("{krate}: no room {room}"));
            }
        }
    }
    findings
}
