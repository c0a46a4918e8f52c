//! Matching of plain patterns in long texts, byte by byte with a lazily built automaton (`regex-automata`),
//! so that who searches is told of the work and can end it. The library's own search has no such place, and
//! takes minutes for a pattern of many states in a text of megabytes.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

use super::backtrack::Note;
use crate::error::SqlResult;

/// Bytes between two notes; each can cost as much as the pattern has states.
const BYTES_NOTED: usize = 1 << 10;
/// Room for states that were built; beyond it they are built again.
const CACHE_BYTES: usize = 1 << 20;

/// A pattern, forwards to where a match ends and backwards to where it begins.
pub(super) struct Automaton {
    forward: DFA,
    reverse: DFA,
    /// Of the pattern: what one byte can cost.
    pub states: usize,
}

/// States built so far.
pub(super) struct Caches {
    forward: Cache,
    reverse: Cache,
}

/// The automaton cannot say: there is a word boundary beside a character that is not ASCII.
pub(super) struct Quit;

type Found<T> = SqlResult<Result<Option<T>, Quit>>;

impl Automaton {
    /// None if the pattern is too large for one.
    pub fn new(text: &str, ignores_case: bool, size_limit: usize) -> Option<Automaton> {
        let nfa = |reverse| {
            let config = thompson::Config::new().nfa_size_limit(Some(size_limit)).reverse(reverse);
            let config = config.which_captures(thompson::WhichCaptures::None);
            let syntax = syntax::Config::new().case_insensitive(ignores_case);
            NFA::compiler().configure(config).syntax(syntax).build(text).ok()
        };
        let config = DFA::config()
            .unicode_word_boundary(true)
            .cache_capacity(CACHE_BYTES)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(None);
        let forward = nfa(false)?;
        let states = forward.states().len();
        let reverse = config.clone().match_kind(MatchKind::All);
        Some(Automaton {
            forward: DFA::builder().configure(config).build_from_nfa(forward).ok()?,
            reverse: DFA::builder().configure(reverse).build_from_nfa(nfa(true)?).ok()?,
            states,
        })
    }

    /// Fresh caches of states, one for each direction.
    pub fn caches(&self) -> Caches {
        Caches { forward: self.forward.create_cache(), reverse: self.reverse.create_cache() }
    }

    /// Whether there is a match at or behind a byte offset.
    pub fn is_match(
        &self,
        caches: &mut Caches,
        text: &str,
        from: usize,
        note: &Note<'_>,
    ) -> SqlResult<Result<bool, Quit>> {
        let end = self.end(&mut caches.forward, text, from, true, note)?;
        Ok(end.map(|end| end.is_some()))
    }

    /// The first match at or behind a byte offset.
    pub fn find(
        &self,
        caches: &mut Caches,
        text: &str,
        from: usize,
        note: &Note<'_>,
    ) -> Found<(usize, usize)> {
        let end = match self.end(&mut caches.forward, text, from, false, note)? {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(Ok(None)),
            Err(quit) => return Ok(Err(quit)),
        };
        let start = self.start(&mut caches.reverse, text, (from, end), note)?;
        Ok(start.map(|start| start.map(|start| (start, end))))
    }

    /// Where the first match ends; with `earliest` where it is clear that there is one.
    fn end(
        &self,
        cache: &mut Cache,
        text: &str,
        from: usize,
        earliest: bool,
        note: &Note<'_>,
    ) -> Found<usize> {
        let (dfa, bytes) = (&self.forward, text.as_bytes());
        let Ok(mut state) = dfa.start_state_forward(cache, &Input::new(text).range(from..)) else {
            return Ok(Err(Quit));
        };
        let mut last = None;
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            match dfa.next_state(cache, state, *byte) {
                Ok(next) => state = next,
                Err(_) => return Ok(Err(Quit)),
            }
            match of(state) {
                Of::Match => last = Some(at),
                Of::Dead => return Ok(Ok(last)),
                Of::Quit => return Ok(Err(Quit)),
                Of::Other => {}
            }
            if earliest && last.is_some() {
                return Ok(Ok(last));
            }
            if (at - from) % BYTES_NOTED == BYTES_NOTED - 1 {
                note(self.work(BYTES_NOTED))?;
            }
        }
        note(self.work((bytes.len() - from) % BYTES_NOTED))?;
        Ok(dfa.next_eoi_state(cache, state).map_err(|_| Quit).map(|state| match of(state) {
            Of::Match => Some(bytes.len()),
            _ => last,
        }))
    }

    /// Where the match begins that ends at `end`: as far in front as it can, but not before `from`.
    fn start(
        &self,
        cache: &mut Cache,
        text: &str,
        (from, end): (usize, usize),
        note: &Note<'_>,
    ) -> Found<usize> {
        let (dfa, bytes) = (&self.reverse, text.as_bytes());
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let Ok(mut state) = dfa.start_state_reverse(cache, &input) else { return Ok(Err(Quit)) };
        let mut last = None;
        for at in (from..end).rev() {
            match dfa.next_state(cache, state, bytes[at]) {
                Ok(next) => state = next,
                Err(_) => return Ok(Err(Quit)),
            }
            match of(state) {
                Of::Match => last = Some(at + 1),
                Of::Dead => return Ok(Ok(last)),
                Of::Quit => return Ok(Err(Quit)),
                Of::Other => {}
            }
            if (end - at) % BYTES_NOTED == 0 {
                note(self.work(BYTES_NOTED))?;
            }
        }
        let before = match from {
            0 => dfa.next_eoi_state(cache, state),
            _ => dfa.next_state(cache, state, bytes[from - 1]),
        };
        Ok(before.map_err(|_| Quit).and_then(|state| match of(state) {
            Of::Match => Ok(Some(from)),
            Of::Quit => Err(Quit),
            _ => Ok(last),
        }))
    }

    /// Bytes that would have cost as much if each were plainly read.
    fn work(&self, bytes: usize) -> usize {
        bytes.saturating_mul(self.states.clamp(16, 4096) / 16)
    }
}

/// What a state says of the text before its last byte: a match ends there, or no match can come any more.
enum Of {
    Match,
    Dead,
    Quit,
    Other,
}

fn of(state: LazyStateID) -> Of {
    match () {
        () if !state.is_tagged() => Of::Other,
        () if state.is_match() => Of::Match,
        () if state.is_dead() => Of::Dead,
        () if state.is_quit() => Of::Quit,
        () => Of::Other,
    }
}
