//! Who is logged in to the page: a random token in a cookie stands for an account until it expires. A second
//! token, which no other page can read, comes with everything that changes something.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use turnstile_observe::status::Observed;

use crate::account::{Owner, is_still};

/// Who is logged in at once; of more, who has been quiet longest is logged out.
const LOGINS_MAX: usize = 64;
/// A login that is not used ends after this time.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Every login ends after this time.
pub const AGE_MAX: Duration = Duration::from_secs(12 * 60 * 60);
/// Bytes of a token: nobody guesses it.
const TOKEN_BYTES: usize = 32;

/// Somebody who is logged in.
#[derive(Clone, Debug)]
pub struct Login {
    /// Whose rights it has.
    pub owner: Owner,
    /// What the page sends back with everything that changes something.
    pub page_token: String,
    since: Instant,
    used: Instant,
}

impl Login {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) > AGE_MAX
            || now.saturating_duration_since(self.used) > IDLE_MAX
    }
}

/// Who is logged in, by the cookie's token.
#[derive(Default)]
pub struct Logins(Mutex<HashMap<String, Login>>);

/// A token that nobody guesses; None if the kernel has no random bytes.
fn token() -> Option<String> {
    let mut bytes = [0; TOKEN_BYTES];
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    (filled == Ok(TOKEN_BYTES)).then(|| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Logins {
    /// Logs somebody in: the cookie's token. None if there are no random bytes.
    pub fn begin(&self, owner: Owner, now: Instant) -> Option<String> {
        let (cookie, page_token) = (token()?, token()?);
        let mut logins = self.0.lock();
        logins.retain(|_, login| !login.is_over(now));
        if logins.len() >= LOGINS_MAX {
            let quiet = logins.iter().min_by_key(|(_, login)| login.used).map(|(token, _)| token.clone());
            quiet.and_then(|token| logins.remove(&token));
        }
        let login = Login { owner, page_token, since: now, used: now };
        logins.insert(cookie.clone(), login);
        Some(cookie)
    }

    /// Who a token stands for, if it still does: the login has not expired, and its account is still there
    /// and open.
    pub fn find(&self, cookie: &str, db: &Observed, now: Instant) -> Option<Login> {
        let mut logins = self.0.lock();
        let login = logins.get_mut(cookie)?;
        if login.is_over(now) || !is_still(db, &login.owner) {
            logins.remove(cookie);
            return None;
        }
        login.used = now;
        Some(login.clone())
    }

    /// Logs somebody out.
    pub fn end(&self, cookie: &str) {
        self.0.lock().remove(cookie);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use std::sync::Arc;

    use turnstile_catalog::catalog::Catalog;
    use turnstile_catalog::variables::Globals;
    use turnstile_engine::{Config, Engine};
    use turnstile_sys::block_on::block_on;

    use super::*;
    use crate::account::prove;

    fn house() -> (Arc<Observed>, Owner) {
        let engine = Engine::open_memory(Config::default()).unwrap();
        let catalog = block_on(Catalog::open(engine, Globals::default())).unwrap();
        let db = Observed::new(catalog).unwrap();
        let owner = prove(&db, [127, 0, 0, 1].into(), "root", "").unwrap();
        (db, owner)
    }

    #[test]
    fn logins_expire_with_time_and_with_silence() {
        let ((db, owner), logins, mut now) = (house(), Logins::default(), Instant::now());
        let cookie = logins.begin(owner.clone(), now).unwrap();
        let page = logins.find(&cookie, &db, now).unwrap().page_token;
        assert!(cookie.len() == 64 && cookie != page);
        assert!(logins.find("", &db, now).is_none() && logins.find(&page, &db, now).is_none());
        assert!(logins.find(&cookie, &db, now + IDLE_MAX).is_some());
        assert!(logins.find(&cookie, &db, now + 3 * IDLE_MAX).is_none());
        assert!(logins.find(&cookie, &db, now).is_none(), "what has expired is gone");
        let cookie = logins.begin(owner.clone(), now).unwrap();
        let end = now + AGE_MAX;
        while now < end {
            assert!(logins.find(&cookie, &db, now).is_some());
            now += IDLE_MAX;
        }
        assert!(logins.find(&cookie, &db, end + Duration::from_secs(1)).is_none());
        let cookie = logins.begin(owner, now).unwrap();
        logins.end(&cookie);
        assert!(logins.find(&cookie, &db, now).is_none());
    }

    #[test]
    fn no_more_are_logged_in_than_the_bound() {
        let ((db, owner), logins, now) = (house(), Logins::default(), Instant::now());
        let begin = |nth: u64| logins.begin(owner.clone(), now + Duration::from_millis(nth)).unwrap();
        let cookies: Vec<String> = (0..100).map(begin).collect();
        let still = cookies.iter().filter(|cookie| logins.find(cookie, &db, now).is_some()).count();
        assert!(still == LOGINS_MAX && logins.find(&cookies[0], &db, now).is_none());
    }
}
