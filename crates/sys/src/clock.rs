//! Time as a thing that can be handed in: the machine's, or one that a simulation turns by hand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A source of time.
pub trait Clock: Send + Sync {
    /// Microseconds since a fixed moment; never goes backwards.
    fn now_us(&self) -> u64;
    /// Microseconds since 1970-01-01 UTC by the wall; may jump.
    fn wall_us(&self) -> u64;
}

/// The machine's clock; its fixed moment is when it was made.
#[derive(Clone, Copy, Debug)]
pub struct RealClock {
    start: Instant,
}

impl RealClock {
    /// A clock that begins now.
    pub fn new() -> Self {
        RealClock { start: Instant::now() }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn now_us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn wall_us(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug, Default)]
pub struct SimClock {
    now_us: AtomicU64,
    wall_start_us: u64,
}

impl SimClock {
    /// A clock at zero whose wall shows this many microseconds since 1970.
    pub fn new(wall_start_us: u64) -> Self {
        SimClock { now_us: AtomicU64::new(0), wall_start_us }
    }

    /// Lets time pass.
    pub fn advance_us(&self, us: u64) {
        self.now_us.fetch_add(us, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn now_us(&self) -> u64 {
        self.now_us.load(Ordering::SeqCst)
    }

    fn wall_us(&self) -> u64 {
        self.wall_start_us + self.now_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_clock_moves_when_told() {
        let clock = SimClock::new(1_000);
        assert_eq!((clock.now_us(), clock.wall_us()), (0, 1_000));
        clock.advance_us(5);
        assert_eq!((clock.now_us(), clock.wall_us()), (5, 1_005));
    }

    #[test]
    fn the_real_clock_does_not_go_back() {
        let clock = RealClock::new();
        let first = clock.now_us();
        assert!(clock.now_us() >= first && clock.wall_us() > 1_600_000_000_000_000);
    }
}
