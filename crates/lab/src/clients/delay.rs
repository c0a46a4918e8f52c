//! What a network would cost: every statement goes out some time after it could.
//!
//! The delay is the same for all, so the statements that wait for their time stand in the order in which they
//! came: a queue, whatever the number of connections, and the thread that drives them sleeps until the first
//! is due.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The statements of one driver thread that wait for their time.
#[derive(Debug)]
pub struct Delay {
    time: Duration,
    /// When, and on which connection.
    waiting: VecDeque<(Instant, usize)>,
}

impl Delay {
    /// Everything goes out `time` late; None if that is no time at all.
    pub fn of(time: Duration) -> Option<Delay> {
        (!time.is_zero()).then(|| Delay { time, waiting: VecDeque::new() })
    }

    /// This connection has something to send; `now` is not before any earlier one.
    pub fn push(&mut self, connection: usize, now: Instant) {
        self.waiting.push_back((now + self.time, connection));
    }

    /// A connection whose statement is due.
    pub fn next(&mut self, now: Instant) -> Option<usize> {
        self.waiting.front().filter(|(due, _)| *due <= now)?;
        self.waiting.pop_front().map(|(_, connection)| connection)
    }

    /// How long until the next is due; None when nobody waits.
    pub fn until_due(&self, now: Instant) -> Option<Duration> {
        self.waiting.front().map(|(due, _)| due.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Delay;

    #[test]
    fn statements_go_out_when_they_are_due_and_in_their_order() {
        let begin = Instant::now();
        let at = |us| begin + Duration::from_micros(us);
        assert!(Delay::of(Duration::ZERO).is_none());
        let mut delay = Delay::of(Duration::from_micros(500)).expect("it is some time");
        assert_eq!((delay.next(at(900)), delay.until_due(at(900))), (None, None));
        delay.push(3, at(0));
        delay.push(1, at(100));
        assert_eq!(delay.next(at(499)), None);
        assert_eq!(delay.until_due(at(499)), Some(Duration::from_micros(1)));
        assert_eq!((delay.next(at(500)), delay.next(at(500))), (Some(3), None));
        assert_eq!((delay.next(at(2000)), delay.until_due(at(2000))), (Some(1), None));
    }
}
