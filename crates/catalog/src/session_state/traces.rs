//! What `information_schema.OPTIMIZER_TRACE` shows: traces of the session's statements.
//!
//! The trace of the statement that runs is *pending* until another one is planned, so that a query of the
//! table does not show its own. Which are kept: `optimizer_trace_offset` and `optimizer_trace_limit`, counted
//! from when one of them was set. All that is kept is charged to the session's memory.

use std::collections::VecDeque;
use std::sync::Arc;

use turnstile_values::memory::{Account as MemoryAccount, Charge};

use crate::variables::Tracing;

/// A trace.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The statement; empty if the account may not see how it is run.
    pub query: String,
    /// What was done to plan it, in JSON; likewise.
    pub text: String,
    /// Bytes of it that were cut off.
    pub missing: u64,
    /// The account may not see it.
    pub withheld: bool,
}

/// A session's traces.
pub(super) struct Traces {
    kept: VecDeque<Trace>,
    pending: Option<Trace>,
    /// Traces since the window was set.
    made: u64,
    /// The offset and limit by which they were kept.
    window: (i64, u64),
    charge: Charge,
}

impl Traces {
    pub(super) fn on(memory: &Arc<MemoryAccount>) -> Traces {
        Traces {
            kept: VecDeque::new(),
            pending: None,
            made: 0,
            window: (0, 0),
            charge: Charge::on(Some(memory)),
        }
    }

    /// The statement that runs now has this trace.
    pub(super) fn begin(&mut self, trace: Trace, wanted: &Tracing) {
        self.settle(wanted);
        self.pending = Some(trace);
    }

    /// Those that are shown. While traces are made the pending one is that of the statement that asks.
    pub(super) fn shown(&mut self, wanted: &Tracing) -> Vec<Trace> {
        if !wanted.enabled {
            self.settle(wanted);
        }
        self.window_of(wanted);
        let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
        self.kept.iter().take(limit).cloned().collect()
    }

    /// Another window forgets what was kept by the one before.
    fn window_of(&mut self, wanted: &Tracing) {
        let window = (wanted.offset, wanted.limit);
        if self.window != window {
            (self.window, self.made) = (window, 0);
            self.kept.clear();
            self.charge.clear();
        }
    }

    /// What was pending is kept, if the window has it.
    fn settle(&mut self, wanted: &Tracing) {
        self.window_of(wanted);
        let Some(trace) = self.pending.take() else { return };
        self.made += 1;
        let back = match u64::try_from(wanted.offset) {
            Ok(offset) if self.made <= offset || self.kept.len() as u64 >= wanted.limit => return,
            Ok(_) => u64::MAX,
            Err(_) => wanted.offset.unsigned_abs(),
        };
        if wanted.limit == 0 {
            return;
        }
        while self.kept.len() as u64 >= back {
            self.kept.pop_front();
        }
        self.kept.push_back(trace);
        let bytes = |one: &Trace| one.query.len() + one.text.len();
        let before: usize = self.kept.iter().rev().skip(1).map(bytes).sum();
        let room = usize::try_from(wanted.bytes_max).unwrap_or(usize::MAX).saturating_sub(before);
        self.charge.clear();
        if let Some(last) = self.kept.back_mut() {
            cut(last, room);
            if self.charge.add(before + bytes(last)).is_err() {
                cut(last, last.query.len());
                self.charge.clear();
            }
        }
    }
}

/// Leaves as much of a trace as there is room for.
fn cut(trace: &mut Trace, room: usize) {
    let mut left = room.saturating_sub(trace.query.len()).min(trace.text.len());
    while !trace.text.is_char_boundary(left) {
        left -= 1;
    }
    trace.missing += (trace.text.len() - left) as u64;
    trace.text.truncate(left);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: i64, limit: u64, bytes_max: u64) -> Tracing {
        Tracing { enabled: false, one_line: false, orders: true, ranges: true, offset, limit, bytes_max }
    }

    fn kept(wanted: &Tracing) -> Vec<(String, u64)> {
        let mut traces = Traces {
            kept: VecDeque::new(),
            pending: None,
            made: 0,
            window: (0, 0),
            charge: Charge::on(None),
        };
        for text in ["one", "two", "three", "four"] {
            traces.begin(Trace { text: text.into(), ..Trace::default() }, wanted);
        }
        traces.shown(wanted).into_iter().map(|trace| (trace.text, trace.missing)).collect()
    }

    #[test]
    fn a_window_keeps_what_it_says() {
        let texts = |offset, limit| -> Vec<String> {
            kept(&window(offset, limit, 100)).into_iter().map(|(text, _)| text).collect()
        };
        assert_eq!(texts(-1, 1), ["four"]);
        assert_eq!(texts(-2, 2), ["three", "four"]);
        assert_eq!(texts(-3, 1), ["two"]);
        assert_eq!(texts(0, 2), ["one", "two"]);
        assert_eq!(texts(2, 5), ["three", "four"]);
        assert!(texts(4, 5).is_empty());
        assert!(texts(-1, 0).is_empty());
    }

    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        assert_eq!(kept(&window(-1, 1, 3)), [("fou".to_owned(), 1)]);
        assert_eq!(kept(&window(-2, 2, 6)), [("thr".to_owned(), 2), ("fou".to_owned(), 1)]);
    }
}
