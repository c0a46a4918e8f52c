//! From the tree of a pattern to the steps that [`super::backtrack`] runs.

mod step;

use std::collections::HashMap;
use std::sync::OnceLock;

use fancy_regex::Expr;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::backtrack::Note;
use crate::error::{SqlError, SqlResult};
use step::is_within;
pub(super) use step::{Instruction, One};

/// Steps a pattern may have.
const STEPS_MAX: usize = 1 << 15;

/// Characters that a look-behind without a bound of its own looks back.
const BEHIND_MAX: usize = 1 << 12;

/// Ranges of all classes of a pattern.
const RANGES_MAX: usize = 1 << 17;

/// Reading a class takes as long as working through so many bytes.
const CLASS_WORK: usize = 16 << 10;

pub(super) struct Compiler<'n> {
    pub steps: Vec<Instruction>,
    pub classes: Vec<Box<[(char, char)]>>,
    /// Groups met so far.
    groups: usize,
    loops: usize,
    /// What the classes were made of, each with its number.
    sources: HashMap<(String, bool), usize>,
    /// Of all classes.
    ranges: usize,
    note: &'n Note<'n>,
}

impl<'n> Compiler<'n> {
    /// A program without steps; `note` is told of work done.
    pub fn new(note: &'n Note<'n>) -> Compiler<'n> {
        Compiler {
            steps: Vec::new(),
            classes: Vec::new(),
            groups: 0,
            loops: 0,
            sources: HashMap::new(),
            ranges: 0,
            note,
        }
    }

    /// Groups, and all slots: those of loops are numbered from behind the groups'.
    pub fn slots(&self) -> (usize, usize) {
        (self.groups, (self.groups + 1) * 2 + self.loops)
    }

    /// Compiles a whole pattern.
    pub fn whole(&mut self, expr: &Expr) -> SqlResult<()> {
        self.add(expr)?;
        self.push(Instruction::Accept)?;
        let behind = (self.groups + 1) * 2;
        for step in &mut self.steps {
            match step {
                Instruction::Save(slot) | Instruction::Moved { slot, .. } if *slot >= LOOP_SLOTS => {
                    *slot = *slot - LOOP_SLOTS + behind
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push(&mut self, step: Instruction) -> SqlResult<usize> {
        if self.steps.len() == STEPS_MAX {
            return Err(SqlError::regexp_too_big());
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn add(&mut self, expr: &Expr) -> SqlResult<()> {
        if let Some(one) = self.one(expr)? {
            self.push(Instruction::One(one))?;
            return Ok(());
        }
        match expr {
            Expr::Empty => {}
            Expr::Assertion(place) => {
                self.push(Instruction::Place(*place))?;
            }
            Expr::Literal { val, casei } => {
                for letter in val.chars() {
                    let one = self.letter(letter, *casei)?;
                    self.push(Instruction::One(one))?;
                }
            }
            Expr::LiteralBytes { bytes } => {
                let text = std::str::from_utf8(bytes).map_err(|_| SqlError::regexp_illegal_argument())?;
                for letter in text.chars() {
                    self.push(Instruction::One(One::Letter(letter)))?;
                }
            }
            Expr::Concat(parts) => {
                for part in parts {
                    self.add(part)?;
                }
            }
            Expr::Alt(ways) => self.ways(ways)?,
            Expr::Group(inner) => {
                self.groups += 1;
                let group = self.groups;
                self.push(Instruction::Save(group * 2))?;
                self.add(inner)?;
                self.push(Instruction::Save(group * 2 + 1))?;
            }
            Expr::LookAround(inner, around) => {
                let longest = longest(inner).unwrap_or(BEHIND_MAX);
                let look = self.push(Instruction::Accept)?;
                self.inside(inner)?;
                self.steps[look] = Instruction::Look { around: *around, longest, end: self.steps.len() };
            }
            Expr::AtomicGroup(inner) => {
                let atomic = self.push(Instruction::Accept)?;
                self.inside(inner)?;
                self.steps[atomic] = Instruction::Atomic { end: self.steps.len() };
            }
            Expr::Repeat { child, lo, hi, greedy } => self.repeat(child, *lo, *hi, *greedy)?,
            Expr::Backref { group, casei } => {
                self.push(Instruction::Group { group: *group, ignores_case: *casei })?;
            }
            _ => return Err(SqlError::regexp_illegal_argument()),
        }
        Ok(())
    }

    fn inside(&mut self, inner: &Expr) -> SqlResult<()> {
        self.add(inner)?;
        self.push(Instruction::Accept)?;
        Ok(())
    }

    fn ways(&mut self, ways: &[Expr]) -> SqlResult<()> {
        let mut jumps = Vec::new();
        for (nth, way) in ways.iter().enumerate() {
            if nth + 1 == ways.len() {
                self.add(way)?;
                break;
            }
            let split = self.push(Instruction::Accept)?;
            self.add(way)?;
            jumps.push(self.push(Instruction::Accept)?);
            self.steps[split] = Instruction::Split { first: split + 1, second: self.steps.len() };
        }
        let end = self.steps.len();
        jumps.into_iter().for_each(|jump| self.steps[jump] = Instruction::Jump(end));
        Ok(())
    }

    fn repeat(&mut self, child: &Expr, least: usize, most: usize, greedy: bool) -> SqlResult<()> {
        if let Some(one) = self.one(child)?.filter(|_| greedy) {
            self.push(Instruction::Run { one, least, most })?;
            return Ok(());
        }
        let groups = self.groups;
        let begun = self.steps.len();
        for _ in 0..least {
            self.groups = groups;
            self.add(child)?;
            // What has no step matches nothing any number of times.
            if self.steps.len() == begun {
                break;
            }
        }
        let split = |way: usize, end: usize| match greedy {
            true => Instruction::Split { first: way, second: end },
            false => Instruction::Split { first: end, second: way },
        };
        self.groups = groups;
        if most == usize::MAX {
            let slot = LOOP_SLOTS + self.loops;
            self.loops += 1;
            let begin = self.push(Instruction::Accept)?;
            self.push(Instruction::Save(slot))?;
            self.add(child)?;
            let moved = self.push(Instruction::Accept)?;
            let end = self.push(Instruction::Jump(begin))? + 1;
            self.steps[moved] = Instruction::Moved { slot, end };
            self.steps[begin] = split(begin + 1, end);
        } else {
            let mut splits = Vec::new();
            for _ in least..most {
                self.groups = groups;
                splits.push(self.push(Instruction::Accept)?);
                self.add(child)?;
            }
            let end = self.steps.len();
            splits.into_iter().for_each(|at| self.steps[at] = split(at + 1, end));
        }
        // Groups of a part that is repeated no time at all have numbers too.
        self.groups = groups + groups_in(child);
        Ok(())
    }

    /// What matches one character, if that is all an expression does.
    fn one(&mut self, expr: &Expr) -> SqlResult<Option<One>> {
        Ok(match expr {
            Expr::Any { newline: true, .. } => Some(One::Any),
            Expr::Any { newline: false, .. } => Some(One::NotNewline),
            Expr::Delegate { inner, casei } => Some(self.class(inner, *casei)?),
            Expr::Literal { val, casei } => {
                let mut letters = val.chars();
                match (letters.next(), letters.next()) {
                    (Some(letter), None) => Some(self.letter(letter, *casei)?),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    fn letter(&mut self, letter: char, ignores_case: bool) -> SqlResult<One> {
        if !ignores_case {
            return Ok(One::Letter(letter));
        }
        let source = (letter.to_string(), true);
        if let Some(known) = self.sources.get(&source) {
            return Ok(One::Of(*known));
        }
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
        class.case_fold_simple();
        self.known(source, &class)
    }

    fn class(&mut self, source: &str, ignores_case: bool) -> SqlResult<One> {
        let key = (source.to_owned(), ignores_case);
        if let Some(known) = self.sources.get(&key) {
            return Ok(One::Of(*known));
        }
        (self.note)(CLASS_WORK.max(source.len()))?;
        let parsed = ParserBuilder::new().case_insensitive(ignores_case).build().parse(source);
        let parsed = parsed.map_err(|_| SqlError::regexp_illegal_argument())?;
        Ok(match parsed.kind() {
            HirKind::Class(Class::Unicode(class)) => self.known(key, class)?,
            HirKind::Class(Class::Bytes(class)) => {
                let class = class.to_unicode_class().ok_or_else(SqlError::regexp_illegal_argument)?;
                self.known(key, &class)?
            }
            HirKind::Literal(letter) => {
                let letter = std::str::from_utf8(&letter.0).ok().and_then(|text| text.chars().next());
                One::Letter(letter.ok_or_else(SqlError::regexp_illegal_argument)?)
            }
            // A class without a character.
            HirKind::Empty | HirKind::Alternation(_) | HirKind::Concat(_) | HirKind::Repetition(_) => {
                return Err(SqlError::regexp_illegal_argument());
            }
            HirKind::Look(_) | HirKind::Capture(_) => return Err(SqlError::regexp_illegal_argument()),
        })
    }

    fn known(&mut self, source: (String, bool), class: &ClassUnicode) -> SqlResult<One> {
        self.ranges += class.ranges().len();
        if self.ranges > RANGES_MAX {
            return Err(SqlError::regexp_too_big());
        }
        let number = self.classes.len();
        self.sources.insert(source, number);
        self.classes.push(class.iter().map(|range| (range.start(), range.end())).collect());
        Ok(One::Of(number))
    }
}

/// Slots of loops have numbers from here while the groups are not all known.
const LOOP_SLOTS: usize = usize::MAX / 2;

fn groups_in(expr: &Expr) -> usize {
    usize::from(matches!(expr, Expr::Group(_))) + expr.children_iter().map(groups_in).sum::<usize>()
}

/// Characters that an expression matches at most; None if there is no bound.
fn longest(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Any { .. } | Expr::Delegate { .. } => Some(1),
        Expr::Literal { val, .. } => Some(val.chars().count()),
        Expr::LiteralBytes { bytes } => Some(bytes.len()),
        Expr::Concat(parts) => parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(longest(part)?)),
        Expr::Alt(ways) => ways.iter().try_fold(0, |most, way| Some(longest(way)?.max(most))),
        Expr::Group(inner) => longest(inner),
        Expr::AtomicGroup(inner) => longest(inner),
        Expr::Repeat { child, hi, .. } => longest(child)?.checked_mul(*hi).filter(|_| *hi < usize::MAX),
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => Some(0),
        _ => None,
    }
}

/// Whether `\w` has a character.
pub(super) fn in_words(letter: char) -> bool {
    static WORDS: OnceLock<Vec<(char, char)>> = OnceLock::new();
    let words = WORDS.get_or_init(|| match regex_syntax::parse(r"\w").map(|parsed| parsed.into_kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    });
    is_within(words, letter)
}
