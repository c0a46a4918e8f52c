//! Matching by backtracking, for what an automaton cannot do: look-around, back-references, atomic groups. A
//! pattern that `fancy-regex` has parsed becomes steps for a small machine, so that every piece of work is
//! counted: whoever started the search is asked now and then whether it is to go on, and what takes too many
//! attempts or too much memory is given up as ICU gives it up.

use fancy_regex::{Assertion, Expr, LookAround};

use super::Groups;
use super::program::{Compiler, Instruction};
use crate::error::{SqlError, SqlResult};

/// Attempts that are taken back before a search is given up (3699).
const BACKTRACKS: usize = 500_000;
/// What may be remembered to be taken back (3698): about eight megabytes.
const FRAMES: usize = 1 << 18;
/// Pieces of work (a character, a step) between two questions whether to go on.
const WORK_NOTED: usize = 16 << 10;

/// Is told of work done, in bytes or steps of about the same effort; its error ends the search.
pub type Note<'n> = dyn Fn(usize) -> SqlResult<()> + 'n;

/// A pattern as steps.
pub(super) struct Program {
    steps: Vec<Instruction>,
    classes: Vec<Box<[(char, char)]>>,
    /// Two for each group, the whole match first; then those of loops.
    slots: usize,
    groups: usize,
}

impl Program {
    /// Compiles what `source` was translated to.
    pub fn new(text: &str, source: &str, note: &Note<'_>) -> SqlResult<Program> {
        let tree = Expr::parse_tree(text).map_err(|error| super::refused(source, &error))?;
        let mut compiler = Compiler::new(note);
        compiler.whole(&tree.expr)?;
        let (groups, slots) = compiler.slots();
        Ok(Program { steps: compiler.steps, classes: compiler.classes, slots, groups })
    }

    /// The first match at or behind a byte offset, with its groups.
    pub fn search(&self, text: &str, from: usize, note: &Note<'_>) -> SqlResult<Option<Groups>> {
        let mut machine = Machine {
            program: self,
            text,
            slots: vec![None; self.slots],
            alternatives: Vec::new(),
            backtracks: 0,
            work: 0,
            note,
        };
        let mut at = from;
        loop {
            machine.slots.fill(None);
            machine.alternatives.clear();
            if let Some(end) = machine.run(0, at, None)? {
                let mut groups = vec![Some((at, end))];
                groups.extend((1..=self.groups).map(|group| machine.group(group)));
                return Ok(Some(groups));
            }
            match text[at..].chars().next() {
                Some(letter) => at += letter.len_utf8(),
                None => return Ok(None),
            }
        }
    }
}

/// What is to be done when an attempt fails, last first.
enum Alternative {
    /// Go on elsewhere.
    Branch { step: usize, at: usize },
    /// A run of characters that may end one earlier, as long as it ends behind `least`.
    Shorter { step: usize, least: usize, at: usize },
    /// A slot gets back what it held.
    Restore { slot: usize, held: Option<usize> },
}

struct Machine<'m> {
    program: &'m Program,
    text: &'m str,
    slots: Vec<Option<usize>>,
    alternatives: Vec<Alternative>,
    backtracks: usize,
    work: usize,
    note: &'m Note<'m>,
}

impl Machine<'_> {
    fn worked(&mut self, pieces: usize) -> SqlResult<()> {
        self.work += pieces;
        if self.work < WORK_NOTED {
            return Ok(());
        }
        (self.note)(std::mem::take(&mut self.work))
    }

    fn group(&self, group: usize) -> Option<(usize, usize)> {
        Some((self.slots[group * 2]?, self.slots[group * 2 + 1]?))
    }

    fn next(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn push(&mut self, alternative: Alternative) -> SqlResult<()> {
        if self.alternatives.len() == FRAMES {
            return Err(SqlError::regexp_stack_overflow());
        }
        self.alternatives.push(alternative);
        Ok(())
    }

    fn set(&mut self, slot: usize, value: Option<usize>) -> SqlResult<()> {
        let held = std::mem::replace(&mut self.slots[slot], value);
        self.push(Alternative::Restore { slot, held })
    }

    /// Runs from a step at a byte offset until `Accept`, at `goal` if there is one; where it ended. Attempts
    /// that are left are forgotten, changes of slots stay to be taken back by who comes next.
    fn run(&mut self, step: usize, at: usize, goal: Option<usize>) -> SqlResult<Option<usize>> {
        let base = self.alternatives.len();
        let mut next = Some((step, at));
        loop {
            let Some((step, at)) = next else {
                match self.retreat(base)? {
                    Some(place) => next = Some(place),
                    None => return Ok(None),
                }
                continue;
            };
            self.worked(1)?;
            if matches!(self.program.steps[step], Instruction::Accept) {
                if goal.is_none_or(|goal| goal == at) {
                    self.settle(base);
                    return Ok(Some(at));
                }
                next = None;
            } else {
                next = self.step(step, at)?;
            }
        }
    }

    /// Takes back what was done since the last attempt that is left, down to `base`.
    fn retreat(&mut self, base: usize) -> SqlResult<Option<(usize, usize)>> {
        while self.alternatives.len() > base {
            match self.alternatives.pop() {
                Some(Alternative::Restore { slot, held }) => self.slots[slot] = held,
                Some(Alternative::Branch { step, at }) => {
                    self.backtracked()?;
                    return Ok(Some((step, at)));
                }
                Some(Alternative::Shorter { step, least, at }) => {
                    self.backtracked()?;
                    let last = self.text[..at].chars().next_back().map_or(0, char::len_utf8);
                    let at = at - last;
                    if at > least {
                        self.alternatives.push(Alternative::Shorter { step, least, at });
                    }
                    return Ok(Some((step, at)));
                }
                None => break,
            }
        }
        Ok(None)
    }

    fn backtracked(&mut self) -> SqlResult<()> {
        self.backtracks += 1;
        if self.backtracks > BACKTRACKS { Err(SqlError::regexp_timeout()) } else { Ok(()) }
    }

    /// Forgets the attempts that are left above `base`.
    fn settle(&mut self, base: usize) {
        let kept = self.alternatives.split_off(base);
        self.alternatives.extend(
            kept.into_iter().filter(|alternative| matches!(alternative, Alternative::Restore { .. })),
        );
    }

    /// One step; where to go on, None if it fails.
    fn step(&mut self, step: usize, at: usize) -> SqlResult<Option<(usize, usize)>> {
        let program = self.program;
        let go_on = |fits: bool| fits.then_some((step + 1, at));
        Ok(match &program.steps[step] {
            Instruction::One(one) => {
                let letter = self.next(at).filter(|letter| one.fits(*letter, &program.classes));
                letter.map(|letter| (step + 1, at + letter.len_utf8()))
            }
            Instruction::Run { one, least, most } => {
                let (mut end, mut shortest, mut count) = (at, at, 0);
                while count < *most
                    && let Some(letter) = self.next(end).filter(|letter| one.fits(*letter, &program.classes))
                {
                    end += letter.len_utf8();
                    count += 1;
                    if count <= *least {
                        shortest = end;
                    }
                    self.worked(1)?;
                }
                if count < *least {
                    return Ok(None);
                }
                if end > shortest {
                    self.push(Alternative::Shorter { step: step + 1, least: shortest, at: end })?;
                }
                Some((step + 1, end))
            }
            Instruction::Place(place) => go_on(self.stands(place, at)),
            Instruction::Split { first, second } => {
                self.push(Alternative::Branch { step: *second, at })?;
                Some((*first, at))
            }
            Instruction::Jump(to) => Some((*to, at)),
            Instruction::Save(slot) => {
                self.set(*slot, Some(at))?;
                go_on(true)
            }
            // A round of a loop that has matched nothing is its last one.
            Instruction::Moved { slot, end } => {
                if self.slots[*slot] == Some(at) {
                    Some((*end, at))
                } else {
                    go_on(true)
                }
            }
            Instruction::Group { group, ignores_case } => {
                self.again(*group, *ignores_case, at)?.map(|at| (step + 1, at))
            }
            Instruction::Look { around, longest, end } => {
                go_on(self.looks(*around, step + 1, at, *longest)?).map(|_| (*end, at))
            }
            Instruction::Atomic { end } => self.run(step + 1, at, None)?.map(|at| (*end, at)),
            Instruction::Accept => None,
        })
    }

    fn stands(&self, place: &Assertion, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.next(at);
        let word = |letter: Option<char>| letter.is_some_and(is_word);
        match place {
            Assertion::StartText => at == 0,
            Assertion::EndText => after.is_none(),
            Assertion::StartLine { .. } => before.is_none_or(|letter| letter == '\n'),
            Assertion::EndLine { .. } => after.is_none_or(|letter| letter == '\n'),
            Assertion::WordBoundary => word(before) != word(after),
            Assertion::NotWordBoundary => word(before) == word(after),
            _ => false,
        }
    }

    /// Whether what a group matched comes once more; where it ends. A group that has not matched matches
    /// nothing.
    fn again(&mut self, group: usize, ignores_case: bool, at: usize) -> SqlResult<Option<usize>> {
        let Some((start, end)) = self.group(group) else { return Ok(None) };
        self.worked(end - start)?;
        let wanted = &self.text[start..end];
        if !ignores_case {
            return Ok(self.text[at..].starts_with(wanted).then(|| at + wanted.len()));
        }
        let mut after = self.text[at..].chars();
        for letter in wanted.chars() {
            if !after.next().is_some_and(|other| super::folding::same(letter, other)) {
                return Ok(None);
            }
        }
        Ok(Some(self.text.len() - after.as_str().len()))
    }

    fn looks(&mut self, around: LookAround, step: usize, at: usize, longest: usize) -> SqlResult<bool> {
        let base = self.alternatives.len();
        let (found, wanted) = match around {
            LookAround::LookAhead => (self.run(step, at, None)?.is_some(), true),
            LookAround::LookAheadNeg => (self.run(step, at, None)?.is_some(), false),
            LookAround::LookBehind => (self.looks_behind(step, at, longest)?, true),
            LookAround::LookBehindNeg => (self.looks_behind(step, at, longest)?, false),
        };
        if found && !wanted {
            self.retreat(base)?;
        }
        Ok(found == wanted)
    }

    fn looks_behind(&mut self, step: usize, at: usize, longest: usize) -> SqlResult<bool> {
        let mut start = at;
        for _ in 0..=longest {
            if self.run(step, start, Some(at))?.is_some() {
                return Ok(true);
            }
            match self.text[..start].chars().next_back() {
                Some(letter) => start -= letter.len_utf8(),
                None => break,
            }
        }
        Ok(false)
    }
}

/// A character of words, as `\w` has them.
fn is_word(letter: char) -> bool {
    letter == '_'
        || if letter.is_ascii() { letter.is_ascii_alphanumeric() } else { super::program::in_words(letter) }
}
