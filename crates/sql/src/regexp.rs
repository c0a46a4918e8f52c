//! Regular expressions with ICU's syntax, as MySQL 8 has them. Plain patterns run in time linear in the text (`regex`); look-around,
//! back-references, atomic groups and possessive quantifiers need backtracking (`fancy-regex`), whose steps are bounded:
//! beyond the bound error 3699 comes.

mod folding;
mod translate;

use std::sync::Arc;

use fancy_regex::{Error as FancyError, RuntimeError};
use parking_lot::Mutex;

use crate::error::{SqlError, SqlResult};
use translate::translate;

/// Steps of backtracking before a match is given up.
const BACKTRACK_STEPS: usize = 500_000;
/// Bytes a compiled pattern may take.
const SIZE_LIMIT: usize = 1 << 20;
const COMPILED_KEPT: usize = 32;
/// Longer patterns are compiled anew for each row rather than kept.
const KEPT_SOURCE_BYTES: usize = 64 << 10;

/// How a pattern is read; the letters of a match type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// `i` rather than `c`.
    pub ignores_case: bool,
    /// `m`: `^` and `$` match at lines.
    pub lines: bool,
    /// `n`: the dot matches ends of lines.
    pub dot_matches_all: bool,
    /// `u`: only `\n` ends a line.
    pub unix_lines: bool,
}

enum Program {
    Plain(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// A compiled pattern.
#[derive(Clone)]
pub struct Pattern {
    source: Arc<str>,
    options: Options,
    /// `$` may match before an end of line that ends the text.
    has_end: bool,
    program: Arc<Program>,
}

/// Where a match and its groups lie, in bytes; the match first.
pub type Groups = Vec<Option<(usize, usize)>>;

/// A pattern, its options, whether it is the form for texts that end with an end of line, and its program.
type Compiled = (Arc<str>, Options, bool, Arc<Program>, bool);

/// The patterns used last, so that a scan compiles its pattern once.
static COMPILED: Mutex<Vec<Compiled>> = Mutex::new(Vec::new());

fn compile(source: &str, options: Options, ended: bool) -> SqlResult<Compiled> {
    let same = |entry: &&Compiled| *entry.0 == *source && entry.1 == options && entry.2 == ended;
    if let Some(found) = COMPILED.lock().iter().find(same) {
        return Ok(found.clone());
    }
    // Compiling takes milliseconds: others who look for their patterns do not wait for it.
    let entry = compile_anew(source, options, ended)?;
    let mut compiled = COMPILED.lock();
    if source.len() <= KEPT_SOURCE_BYTES && !compiled.iter().any(|known| same(&known)) {
        if compiled.len() == COMPILED_KEPT {
            compiled.remove(0);
        }
        compiled.push(entry.clone());
    }
    Ok(entry)
}

fn compile_anew(source: &str, options: Options, ended: bool) -> SqlResult<Compiled> {
    // What a character compiles to takes more than a byte, and its syntax tree a hundred.
    if source.len() > SIZE_LIMIT {
        return Err(SqlError::regexp_too_big());
    }
    let translated = translate(source, options, ended)?;
    let program = match translated.backtracks {
        true => Program::Backtracking(
            fancy_regex::RegexBuilder::new(&translated.text)
                .case_insensitive(options.ignores_case)
                .backtrack_limit(BACKTRACK_STEPS)
                .delegate_size_limit(SIZE_LIMIT)
                .build()
                .map_err(|error| refused(source, &error))?,
        ),
        false => Program::Plain(
            regex::RegexBuilder::new(&translated.text)
                .case_insensitive(options.ignores_case)
                .size_limit(SIZE_LIMIT)
                .build()
                .map_err(|error| match error {
                    regex::Error::CompiledTooBig(_) => SqlError::regexp_too_big(),
                    _ => SqlError::regexp_illegal_argument(),
                })?,
        ),
    };
    Ok((Arc::from(source), options, ended, Arc::new(program), translated.has_end))
}

fn refused(source: &str, error: &FancyError) -> SqlError {
    match error {
        FancyError::ParseError(at, _) => {
            let character = source.get(..*at).map_or(1, |before| before.chars().count() + 1);
            SqlError::regexp_syntax(1, character)
        }
        _ => SqlError::regexp_illegal_argument(),
    }
}

fn failed(error: FancyError) -> SqlError {
    match error {
        FancyError::RuntimeError(RuntimeError::BacktrackLimitExceeded | RuntimeError::StackOverflow) => {
            SqlError::regexp_timeout()
        }
        _ => SqlError::regexp_illegal_argument(),
    }
}

impl Pattern {
    /// Compiles a pattern, or finds it compiled.
    pub fn new(source: &str, options: Options) -> SqlResult<Pattern> {
        let (source, options, _, program, has_end) = compile(source, options, false)?;
        Ok(Pattern { source, options, has_end, program })
    }

    /// The program for a text: `$` matches before a last end of line too, for which backtracking is needed.
    fn program(&self, text: &str) -> SqlResult<Arc<Program>> {
        let last = text.chars().next_back();
        let ended = last.is_some_and(|last| translate::ends_line(last, self.options.unix_lines));
        if self.has_end && ended {
            return Ok(compile(&self.source, self.options, true)?.3);
        }
        Ok(Arc::clone(&self.program))
    }

    /// True if the pattern matches anywhere.
    pub fn is_match(&self, text: &str) -> SqlResult<bool> {
        match &*self.program(text)? {
            Program::Plain(regex) => Ok(regex.is_match(text)),
            Program::Backtracking(regex) => regex.is_match(text).map_err(failed),
        }
    }

    /// The first match at or behind a byte offset, with its groups.
    pub fn groups_at(&self, text: &str, from: usize) -> SqlResult<Option<Groups>> {
        Ok(match &*self.program(text)? {
            Program::Plain(regex) => regex
                .captures_at(text, from)
                .map(|found| found.iter().map(|group| group.map(|one| (one.start(), one.end()))).collect()),
            Program::Backtracking(regex) => regex
                .captures_from_pos(text, from)
                .map_err(failed)?
                .map(|found| found.iter().map(|group| group.map(|one| (one.start(), one.end()))).collect()),
        })
    }

    /// The first match at or behind a byte offset.
    pub fn find_at(&self, text: &str, from: usize) -> SqlResult<Option<(usize, usize)>> {
        Ok(match &*self.program(text)? {
            Program::Plain(regex) => regex.find_at(text, from).map(|one| (one.start(), one.end())),
            Program::Backtracking(regex) => {
                regex.find_from_pos(text, from).map_err(failed)?.map(|one| (one.start(), one.end()))
            }
        })
    }
}

#[cfg(test)]
mod tests;
