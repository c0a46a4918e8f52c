//! The clock of a load by the clock: when the next transaction is due, and which connections rest.
//!
//! Transactions come due at equal distances whatever happens. One that is due begins on the connection that
//! has rested longest; where none rests it waits, and its latency counts from when it was due, so that a
//! server (or a machine) that stops for a while is seen in all the transactions that should have begun
//! meanwhile and not only in those that were under way.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The clock of one driver thread.
#[derive(Debug)]
pub struct Pace {
    begin: Instant,
    rate: f64,
    /// How many have begun.
    begun: u64,
    resting: VecDeque<usize>,
}

impl Pace {
    /// `rate` transactions a second, the first at `begin`; nobody rests yet.
    pub fn new(begin: Instant, rate: f64) -> Pace {
        Pace { begin, rate, begun: 0, resting: VecDeque::new() }
    }

    /// This connection is free.
    pub fn rest(&mut self, connection: usize) {
        self.resting.push_back(connection);
    }

    /// A connection that rests, for good.
    pub fn dismiss(&mut self) -> Option<usize> {
        self.resting.pop_front()
    }

    /// A connection to begin on and when it was due, if a transaction is due and somebody rests.
    pub fn next(&mut self, now: Instant) -> Option<(usize, Instant)> {
        let due = self.due();
        if due > now {
            return None;
        }
        let connection = self.resting.pop_front()?;
        self.begun += 1;
        Some((connection, due))
    }

    /// How long until something can begin by the clock alone; None when nobody rests.
    pub fn until_due(&self, now: Instant) -> Option<Duration> {
        (!self.resting.is_empty()).then(|| self.due().saturating_duration_since(now))
    }

    /// How many were due before `end` and have not begun.
    pub fn unsent(&self, end: Instant) -> u64 {
        let due = (end.saturating_duration_since(self.begin).as_secs_f64() * self.rate).ceil() as u64;
        due.saturating_sub(self.begun)
    }

    fn due(&self) -> Instant {
        self.begin + Duration::from_secs_f64(self.begun as f64 / self.rate)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    #[test]
    fn what_waits_for_a_free_connection_keeps_the_time_it_was_due() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut pace = Pace::new(begin, 100.0);
        assert_eq!((pace.next(at(50)), pace.until_due(at(50))), (None, None), "nobody rests");
        pace.rest(7);
        pace.rest(8);
        assert_eq!(pace.next(at(50)), Some((7, at(0))));
        assert_eq!(pace.next(at(50)), Some((8, at(10))));
        pace.rest(8);
        assert_eq!(pace.next(at(50)), Some((8, at(20))), "late, and due when it was due");
        pace.rest(7);
        assert_eq!(pace.next(at(29)), None, "the fourth is not due");
        assert_eq!(pace.until_due(at(29)), Some(Duration::from_millis(1)));
        assert_eq!(pace.unsent(at(50)), 2, "those at 30 and 40 ms");
        assert_eq!((pace.dismiss(), pace.dismiss()), (Some(7), None));
    }
}
