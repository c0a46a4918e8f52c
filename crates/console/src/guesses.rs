//! Wrong passwords, counted for each client address and user: after some, the next one has to wait, longer
//! each time. The check itself takes about a millisecond for `caching_sha2_password`, as on the SQL port.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Wrong passwords in a row that cost nothing: people mistype.
const FREE: u32 = 3;
/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Clients and users that are remembered; of more, who has been quiet longest is forgotten.
const REMEMBERED_MAX: usize = 1024;

struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// When the next try may be made.
    fn until(&self) -> Instant {
        let over = self.count.saturating_sub(FREE);
        let wait = Duration::from_secs(if over == 0 { 0 } else { 1 << over.min(6) });
        self.last + wait.min(WAIT_MAX)
    }
}

/// Who has failed how often.
#[derive(Default)]
pub struct Guesses(Mutex<HashMap<(IpAddr, String), Failures>>);

impl Guesses {
    /// How long a client has to wait before it may try to be this user; None: not at all.
    pub fn wait(&self, from: IpAddr, user: &str, now: Instant) -> Option<Duration> {
        let failures = self.0.lock();
        let until = failures.get(&(from, user.to_string()))?.until();
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// It has tried: in vain, or not.
    pub fn tried(&self, from: IpAddr, user: &str, has_failed: bool, now: Instant) {
        let mut failures = self.0.lock();
        let who = (from, user.to_string());
        if !has_failed {
            failures.remove(&who);
            return;
        }
        if failures.len() >= REMEMBERED_MAX && !failures.contains_key(&who) {
            let quiet = failures.iter().min_by_key(|(_, failed)| failed.last).map(|(who, _)| who.clone());
            if let Some(who) = quiet {
                failures.remove(&who);
            }
        }
        let failed = failures.entry(who).or_insert(Failures { count: 0, last: now });
        // Who has been quiet for long begins anew.
        let was_long_ago = now.saturating_duration_since(failed.last) > 10 * WAIT_MAX;
        failed.count = if was_long_ago { 1 } else { failed.count.saturating_add(1) };
        failed.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end_with_the_right_password() {
        let (guesses, from, now) = (Guesses::default(), IpAddr::from([10, 0, 0, 1]), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..12 {
            waits.push(guesses.wait(from, "a", now).map_or(0, |wait| wait.as_secs()));
            guesses.tried(from, "a", true, now);
        }
        assert_eq!(waits, [0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(guesses.wait(from, "b", now), None);
        assert_eq!(guesses.wait(from, "a", now + WAIT_MAX), None);
        guesses.tried(from, "a", false, now);
        assert_eq!(guesses.wait(from, "a", now), None);
    }

    #[test]
    fn no_more_are_remembered_than_the_bound() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        for nth in 0..3000u64 {
            let from = IpAddr::from((nth as u32).to_be_bytes());
            guesses.tried(from, "a", true, now + Duration::from_millis(nth));
        }
        assert_eq!(guesses.0.lock().len(), REMEMBERED_MAX);
    }
}
