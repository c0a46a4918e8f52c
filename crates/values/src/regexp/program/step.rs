//! The steps that a pattern becomes.

use fancy_regex::{Assertion, LookAround};

/// Matches one character.
#[derive(Clone, Copy)]
pub enum One {
    Letter(char),
    /// The number of a class.
    Of(usize),
    NotNewline,
    Any,
}

impl One {
    /// Whether a character is one of those that the step wants.
    pub fn fits(self, letter: char, classes: &[Box<[(char, char)]>]) -> bool {
        match self {
            One::Letter(one) => one == letter,
            One::Of(class) => is_within(&classes[class], letter),
            One::NotNewline => letter != '\n',
            One::Any => true,
        }
    }
}

pub(super) fn is_within(ranges: &[(char, char)], letter: char) -> bool {
    let behind = ranges.partition_point(|range| range.1 < letter);
    ranges.get(behind).is_some_and(|range| range.0 <= letter)
}

/// One step; unless it says otherwise, the next one follows.
pub enum Instruction {
    One(One),
    /// As many as there are, then one less after the other.
    Run {
        one: One,
        least: usize,
        most: usize,
    },
    Place(Assertion),
    /// Goes on at the first; at the second if that fails.
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    /// Remembers where it is.
    Save(usize),
    /// Goes to the end of a loop whose round began where it is.
    Moved {
        slot: usize,
        end: usize,
    },
    /// What a group matched.
    Group {
        group: usize,
        ignores_case: bool,
    },
    /// What follows up to its `Accept` matches here or does not, in front or behind; goes on at `end`.
    Look {
        around: LookAround,
        longest: usize,
        end: usize,
    },
    /// What follows up to its `Accept` matches in its first way; goes on at `end`.
    Atomic {
        end: usize,
    },
    Accept,
}
