//! Options as mysqld spells them: on the command line and in the `[mysqld]`, `[server]` and `[turnstile]`
//! groups of an option file. Every system variable is an option by its own name; `-` and `_` are the same,
//! sizes take K, M and G.
//!
//! Order of precedence, later wins: defaults, option files, command line, what SET PERSIST has kept.
//! `--defaults-file=F` names the file and `--no-defaults` leaves it out; without either,
//! `/etc/turnstile/my.cnf` and `~/.my.cnf` are read if they exist, and between them
//! `--defaults-extra-file=F`. `loose-` before a name turns an unknown option into a warning; `skip-`,
//! `disable-` and `enable-` stand for the value of a switch. A number outside its range is cut to it, with a
//! warning.

use std::fs;
use std::path::{Path, PathBuf};

use turnstile_session::variables::{Configured, Globals, Kind, VARIABLES, find};

/// Option files that are read unless the command line says otherwise.
const FILES: [&str; 1] = ["/etc/turnstile/my.cnf"];
/// Groups that speak to this server.
const GROUPS: [&str; 4] = ["mysqld", "mysqld-8.4", "server", "turnstile"];
/// Files included from files, at most this deep.
const INCLUDE_DEPTH_MAX: usize = 10;

/// An option that cannot be used, with a text for the person who typed it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadOption(pub String);

/// What the command line asks for besides variables.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `--help`.
    pub help: bool,
    /// `--initialize` or `--initialize-insecure`: make the data directory and end.
    pub initialize: bool,
    /// `--print-defaults`: show `given` and end.
    pub print_defaults: bool,
    /// What was given, as on a command line, in order.
    pub given: Vec<String>,
    /// What was given and not taken as it stood, for the log.
    pub warnings: Vec<String>,
}

/// Reads option files and command line into `globals`.
///
/// # Errors
/// [`BadOption`] for an unknown option, a wrong value or a file that cannot be read.
pub fn read(arguments: &[String], globals: &Globals) -> Result<Asked, BadOption> {
    let (mut files, mut rest) = (default_files(), arguments);
    while let Some((first, tail)) = rest.split_first() {
        if first == "--no-defaults" {
            files.clear();
        } else if let Some(path) = first.strip_prefix("--defaults-extra-file=") {
            files.insert(files.len().min(1), existing(path)?);
        } else if let Some(path) = first.strip_prefix("--defaults-file=") {
            files = vec![existing(path)?];
        } else {
            break;
        }
        rest = tail;
    }
    let mut asked = Asked::default();
    for path in files.iter().filter(|path| path.exists()) {
        read_file(path, globals, &mut asked, 0)?;
    }
    let mut arguments = rest.iter();
    while let Some(argument) = arguments.next() {
        let short = match argument.as_str() {
            "-P" => Some("port"),
            "-S" => Some("socket"),
            "-h" => Some("datadir"),
            _ => None,
        };
        if let Some(name) = short {
            let value =
                arguments.next().ok_or_else(|| BadOption(format!("option {argument} needs a value")))?;
            apply(name, Some(value), globals, &mut asked)?;
            continue;
        }
        let option = argument
            .strip_prefix("--")
            .ok_or_else(|| BadOption(format!("unexpected argument {argument:?}; options begin with --")))?;
        match option.split_once('=') {
            Some((name, value)) => apply(name, Some(value), globals, &mut asked)?,
            None if needs_value(option) => {
                let value =
                    arguments.next().ok_or_else(|| BadOption(format!("option --{option} needs a value")))?;
                apply(option, Some(value), globals, &mut asked)?;
            }
            None => apply(option, None, globals, &mut asked)?,
        }
    }
    Ok(asked)
}

fn existing(path: &str) -> Result<PathBuf, BadOption> {
    let path = PathBuf::from(path);
    if path.exists() {
        return Ok(path);
    }
    Err(BadOption(format!("could not open the option file {}", path.display())))
}

fn default_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = FILES.iter().map(PathBuf::from).collect();
    if let Some(home) = std::env::var_os("HOME") {
        files.push(Path::new(&home).join(".my.cnf"));
    }
    files
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn needs_value(name: &str) -> bool {
    let name = normal(name);
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    find(name).is_some_and(|at| VARIABLES[at].kind != Kind::Bool)
}

fn apply(typed: &str, value: Option<&str>, globals: &Globals, asked: &mut Asked) -> Result<(), BadOption> {
    let normal = normal(typed);
    let (name, loose) = normal.strip_prefix("loose_").map_or((normal.as_str(), false), |rest| (rest, true));
    match name {
        "help" | "verbose" => asked.help = true,
        "print_defaults" => asked.print_defaults = true,
        "initialize" | "initialize_insecure" => asked.initialize = true,
        // The server runs in the foreground as whoever started it, and there is no binary log. Without a
        // value `--console` is mysqld's: the log goes to the terminal, where it goes anyway.
        "skip_log_bin" => {}
        "console" if value.is_none() => {}
        "user" => asked.warnings.push("option 'user' is not taken: the server runs as who started it".into()),
        "daemonize" if !is_off(value) => {
            return Err(BadOption(
                "option '--daemonize' is not supported: start it in the background".into(),
            ));
        }
        "daemonize" => {}
        _ => {
            let known = set(name, value, globals, asked)?;
            let text = match value {
                Some(value) => format!("unknown variable '{typed}={value}'"),
                None => format!("unknown option '--{typed}'"),
            };
            match (known, loose) {
                (false, false) => return Err(BadOption(text)),
                (false, true) => asked.warnings.push(text),
                (true, _) => {}
            }
        }
    }
    asked.given.push(match value {
        Some(value) => format!("--{typed}={value}"),
        None => format!("--{typed}"),
    });
    Ok(())
}

fn is_off(value: Option<&str>) -> bool {
    value.is_some_and(|value| ["0", "OFF", "FALSE", "NO"].iter().any(|word| word.eq_ignore_ascii_case(value)))
}

/// Sets the variable that an option is about; false if there is none.
fn set(name: &str, value: Option<&str>, globals: &Globals, asked: &mut Asked) -> Result<bool, BadOption> {
    let alias = match name {
        "innodb_log_file_size" => "innodb_redo_log_capacity",
        "default_time_zone" => "time_zone",
        "console" => "turnstile_console",
        "console_host" => "turnstile_console_host",
        other => other,
    };
    let is_switch = |name: &str| find(name).is_some_and(|at| VARIABLES[at].kind == Kind::Bool);
    let switched = [("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")]
        .into_iter()
        .find_map(|(prefix, value)| Some((name.strip_prefix(prefix).filter(|rest| is_switch(rest))?, value)));
    let (alias, value) = match (find(alias).is_some(), switched, value) {
        (true, _, Some(value)) => (alias, value),
        (true, _, None) if is_switch(alias) => (alias, "ON"),
        (true, ..) => return Err(BadOption(format!("option '--{name}' requires an argument"))),
        (false, Some((rest, preset)), None) => (rest, preset),
        (false, Some((rest, preset)), Some(value)) => {
            // As with mysqld, --skip-x=0 is x=1.
            let off = is_off(Some(value));
            (rest, if off == (preset == "OFF") { "ON" } else { "OFF" })
        }
        (false, None, _) => return Ok(false),
    };
    let became = globals
        .configure(alias, value)
        .map_err(|error| BadOption(format!("option '--{name}': {}", error.message)))?;
    let now = find(alias).map(|at| VARIABLES[at].show(&globals.get(at))).unwrap_or_default();
    match became {
        Configured::Taken => {}
        Configured::Cut => {
            asked.warnings.push(format!("option '{alias}': value {value} adjusted to {now}"));
        }
        Configured::WithoutEffect => {
            asked.warnings.push(format!("option '{alias}' is kept and has no effect in this server"));
        }
        Configured::NotTaken => {
            asked
                .warnings
                .push(format!("option '{alias}' cannot be changed in this server: it stays '{now}'"));
        }
    }
    Ok(true)
}

fn read_file(path: &Path, globals: &Globals, asked: &mut Asked, depth: usize) -> Result<(), BadOption> {
    if depth > INCLUDE_DEPTH_MAX {
        return Err(BadOption(format!("{}: option files include each other too deeply", path.display())));
    }
    let text = fs::read_to_string(path).map_err(|error| BadOption(format!("{}: {error}", path.display())))?;
    let mut ours = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |what: String| BadOption(format!("{}:{}: {what}", path.display(), number + 1));
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(included) = line.strip_prefix("!include ") {
            read_file(Path::new(included.trim()), globals, asked, depth + 1)?;
        } else if let Some(folder) = line.strip_prefix("!includedir ") {
            for file in files_in(Path::new(folder.trim())) {
                read_file(&file, globals, asked, depth + 1)?;
            }
        } else if let Some(group) = line.strip_prefix('[') {
            let group =
                group.strip_suffix(']').ok_or_else(|| wrong("a group needs a closing bracket".into()))?;
            ours = GROUPS.contains(&group.trim());
        } else if ours {
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name.trim(), Some(unquote(value))),
                None => (line, None),
            };
            apply(name, value.as_deref(), globals, asked).map_err(|error| wrong(error.0))?;
        }
    }
    Ok(())
}

/// The option files of an included folder, by name.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "cnf"));
    files.sort();
    files
}

/// A value without its comment, its quotes and its escapes.
fn unquote(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.0.to_string();
        }
    }
    let value = value.split(" #").next().unwrap_or(value).trim();
    let mut plain = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('s') => plain.push(' '),
                Some('\\') => plain.push('\\'),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            (other, false) => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
