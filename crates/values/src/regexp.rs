//! Regular expressions with ICU's syntax, as MySQL 8 has them, in one of three ways. Who searches is told of
//! the work of the last two, so that KILL ends them.
//!
//! | what | how |
//! |---|---|
//! | a plain pattern that is soon through with the text | `regex`, in time linear in the text |
//! | a plain pattern in a long text | `automaton`, byte by byte |
//! | a plain pattern whose automaton would take over a megabyte, as `[[:alnum:]]{1,255}` | `backtrack` |
//! | look-around, back-references, atomic groups, possessive quantifiers | `backtrack`: attempts are bounded
//! (3699) |

mod automaton;
mod backtrack;
mod class;
mod escape;
mod folding;
mod program;
mod translate;

use std::sync::{Arc, OnceLock};

use fancy_regex::Error as FancyError;
use parking_lot::Mutex;

use crate::error::{SqlError, SqlResult};
use automaton::{Automaton, Caches, Quit};
pub use backtrack::Note;
use translate::translate;

/// Bytes a compiled pattern may take.
const SIZE_LIMIT: usize = 1 << 20;
/// Bytes of a pattern.
const SOURCE_BYTES: usize = 256 << 10;
/// What an automaton is tried for has at most so many bytes, and so many names of classes: each is hundreds
/// of ranges.
const PLAIN_BYTES: usize = 64 << 10;
const PLAIN_CLASSES: usize = 256;
/// Compiling one byte takes as long as working through so many at worst.
const COMPILED_AS: usize = 8 << 10;
/// Bytes of a text times states of a pattern that are through in about a tenth of a second at worst.
const SOON: usize = 10 << 20;
/// No pattern that may be compiled takes longer in a text that is shorter.
const SOON_BYTES: usize = 1 << 10;
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
    Plain(Box<Plain>),
    Backtracking(backtrack::Program),
}

/// A plain pattern; for long texts it becomes what is needed.
struct Plain {
    regex: regex::Regex,
    /// In our libraries' syntax.
    text: String,
    ignores_case: bool,
    automaton: OnceLock<Option<Automaton>>,
    backtracking: OnceLock<Option<backtrack::Program>>,
}

impl Plain {
    fn automaton(&self) -> Option<&Automaton> {
        self.automaton.get_or_init(|| Automaton::new(&self.text, self.ignores_case, SIZE_LIMIT)).as_ref()
    }

    fn backtracking(&self) -> Option<&backtrack::Program> {
        let program = || backtracking(&self.text, &self.text, self.ignores_case, &|_| Ok(())).ok();
        self.backtracking.get_or_init(program).as_ref()
    }
}

fn backtracking(
    text: &str,
    source: &str,
    ignores_case: bool,
    note: &Note<'_>,
) -> SqlResult<backtrack::Program> {
    let flags = if ignores_case { "(?i)" } else { "" };
    backtrack::Program::new(&format!("{flags}{text}"), source, note)
}

/// The automaton of a plain pattern; None if it is too big.
fn plain(text: &str, ignores_case: bool) -> SqlResult<Option<Plain>> {
    let names = |pair: &&[u8]| pair[0] == b'\\' && matches!(pair[1], b'p' | b'P' | b'w' | b'W' | b'd' | b'D');
    if text.len() > PLAIN_BYTES || text.as_bytes().windows(2).filter(names).count() > PLAIN_CLASSES {
        return Ok(None);
    }
    let built = regex::RegexBuilder::new(text).case_insensitive(ignores_case).size_limit(SIZE_LIMIT).build();
    Ok(Some(Plain {
        regex: match built {
            Ok(regex) => regex,
            Err(regex::Error::CompiledTooBig(_)) => return Ok(None),
            Err(_) => return Err(SqlError::regexp_illegal_argument()),
        },
        text: text.to_owned(),
        ignores_case,
        automaton: OnceLock::new(),
        backtracking: OnceLock::new(),
    }))
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

fn compile(source: &str, options: Options, ended: bool, note: &Note<'_>) -> SqlResult<Compiled> {
    let same = |entry: &&Compiled| *entry.0 == *source && entry.1 == options && entry.2 == ended;
    if let Some(found) = COMPILED.lock().iter().find(same) {
        return Ok(found.clone());
    }
    // Compiling takes milliseconds: others who look for their patterns do not wait for it.
    let entry = compile_anew(source, options, ended, note)?;
    let mut compiled = COMPILED.lock();
    if source.len() <= KEPT_SOURCE_BYTES && !compiled.iter().any(|known| same(&known)) {
        if compiled.len() == COMPILED_KEPT {
            compiled.remove(0);
        }
        compiled.push(entry.clone());
    }
    Ok(entry)
}

fn compile_anew(source: &str, options: Options, ended: bool, note: &Note<'_>) -> SqlResult<Compiled> {
    if source.len() > SOURCE_BYTES {
        return Err(SqlError::regexp_too_big());
    }
    note(source.len() * COMPILED_AS)?;
    let translated = translate(source, options, ended)?;
    let text = &translated.text;
    let plain = if translated.backtracks { None } else { plain(text, options.ignores_case)? };
    let program = match plain {
        Some(plain) => Program::Plain(Box::new(plain)),
        None => Program::Backtracking(backtracking(text, source, options.ignores_case, note)?),
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

impl Pattern {
    /// Compiles a pattern, or finds it compiled. `note` is told of work, and may end it.
    pub fn new(source: &str, options: Options, note: &Note<'_>) -> SqlResult<Pattern> {
        let (source, options, _, program, has_end) = compile(source, options, false, note)?;
        Ok(Pattern { source, options, has_end, program })
    }

    /// The program for a text: `$` matches before a last end of line too, for which backtracking is needed.
    fn program(&self, text: &str, note: &Note<'_>) -> SqlResult<Arc<Program>> {
        let last = text.chars().next_back();
        let ended = last.is_some_and(|last| translate::ends_line(last, self.options.unix_lines));
        if self.has_end && ended {
            return Ok(compile(&self.source, self.options, true, note)?.3);
        }
        Ok(Arc::clone(&self.program))
    }

    /// A search in a text. `note` is told of work, and may end the search.
    pub fn search<'s>(&self, text: &'s str, note: &'s Note<'s>) -> SqlResult<Search<'s>> {
        let program = self.program(text, note)?;
        let caches = match &*program {
            Program::Plain(plain) if text.len() >= SOON_BYTES => plain
                .automaton()
                .filter(|automaton| text.len().saturating_mul(automaton.states) >= SOON)
                .map(|automaton| Box::new(automaton.caches())),
            _ => None,
        };
        Ok(Search { program, text, note, caches })
    }
}

/// A pattern in a text.
pub struct Search<'s> {
    program: Arc<Program>,
    text: &'s str,
    note: &'s Note<'s>,
    /// Of the automaton, while it is used.
    caches: Option<Box<Caches>>,
}

impl Search<'_> {
    /// True if the pattern matches anywhere.
    pub fn is_match(&mut self) -> SqlResult<bool> {
        let plain = match &*self.program {
            Program::Backtracking(program) => return Ok(program.search(self.text, 0, self.note)?.is_some()),
            Program::Plain(plain) => plain,
        };
        if let Some((caches, automaton)) = self.caches.as_mut().zip(plain.automaton()) {
            match automaton.is_match(caches, self.text, 0, self.note)? {
                Ok(matches) => return Ok(matches),
                Err(Quit) => self.caches = None,
            }
            if let Some(program) = plain.backtracking() {
                return Ok(program.search(self.text, 0, self.note)?.is_some());
            }
        }
        Ok(plain.regex.is_match(self.text))
    }

    /// The first match at or behind a byte offset.
    pub fn find_at(&mut self, from: usize) -> SqlResult<Option<(usize, usize)>> {
        let plain = match &*self.program {
            Program::Backtracking(program) => {
                return Ok(program.search(self.text, from, self.note)?.and_then(|groups| groups[0]));
            }
            Program::Plain(plain) => plain,
        };
        if let Some((caches, automaton)) = self.caches.as_mut().zip(plain.automaton()) {
            if let Ok(found) = automaton.find(caches, self.text, from, self.note)? {
                return Ok(found);
            }
            if let Some(program) = plain.backtracking() {
                return Ok(program.search(self.text, from, self.note)?.and_then(|groups| groups[0]));
            }
        }
        Ok(plain.regex.find_at(self.text, from).map(|one| (one.start(), one.end())))
    }

    /// The first match at or behind a byte offset, with its groups.
    pub fn groups_at(&mut self, from: usize) -> SqlResult<Option<Groups>> {
        let mut from = from;
        if self.caches.is_some() {
            let Some((start, end)) = self.find_at(from)? else { return Ok(None) };
            from = start;
            if let Program::Plain(plain) = &*self.program
                && let Some(automaton) = plain.automaton()
                && (end - start).saturating_mul(automaton.states) >= SOON
                && let Some(program) = plain.backtracking()
            {
                return program.search(self.text, start, self.note);
            }
        }
        match &*self.program {
            Program::Plain(plain) => Ok(plain
                .regex
                .captures_at(self.text, from)
                .map(|found| found.iter().map(|group| group.map(|one| (one.start(), one.end()))).collect())),
            Program::Backtracking(program) => program.search(self.text, from, self.note),
        }
    }
}

#[cfg(test)]
mod tests;
