//! The sessions that exist, for SHOW PROCESSLIST and KILL. A session owns its [`Entry`] and writes into it;
//! everybody else reads. The statement's text is shown through a short mutex that only its own session takes
//! on the hot path.

pub mod commands;
pub mod counts;
mod names;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::session_status::SessionStatus;
use turnstile_engine::tally::RowTotals;

use crate::accounts::AccountName;
use crate::digests::{Digests, Pending};
use crate::registry::counts::{SessionCounts, Totals};
use crate::variables::SessionSettings;

pub use names::Names;

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Waiting for its client.
    Sleep = 0,
    /// Running a statement's text.
    Query = 1,
    /// Running a prepared statement.
    Execute = 2,
    /// Preparing a statement.
    Prepare = 3,
    /// Before authentication is done.
    Connect = 4,
}

impl Command {
    fn of(code: u8) -> Command {
        match code {
            1 => Command::Query,
            2 => Command::Execute,
            3 => Command::Prepare,
            4 => Command::Connect,
            _ => Command::Sleep,
        }
    }

    /// As SHOW PROCESSLIST writes it.
    pub fn name(self) -> &'static str {
        match self {
            Command::Sleep => "Sleep",
            Command::Query => "Query",
            Command::Execute => "Execute",
            Command::Prepare => "Prepare",
            Command::Connect => "Connect",
        }
    }
}

/// The part of a session that others can see.
#[derive(Debug)]
pub struct Entry {
    /// Connection id.
    pub id: u64,
    /// Kills reach the session through it.
    pub interrupt: Arc<Interrupt>,
    /// What its transactions tell about themselves.
    pub status: Arc<SessionStatus>,
    command: AtomicU8,
    since_us: AtomicU64,
    idle_max_s: AtomicU64,
    ended_for_idleness: AtomicBool,
    shown: Mutex<Shown>,
    /// What it counts for SHOW STATUS.
    pub counts: SessionCounts,
    /// What it counts by digest. Nobody else takes this but who reads what all have counted.
    pub digests: Mutex<Pending>,
}

/// What SHOW PROCESSLIST shows besides numbers.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// User, host and database.
    pub names: Names,
    /// The account.
    pub account: AccountName,
    /// Its roles that are active.
    pub active: Arc<[AccountName]>,
    /// Text of the running statement.
    pub text: Option<Arc<[u8]>>,
    /// Its settings: what they make of the text, for EXPLAIN FOR CONNECTION.
    pub settings: Option<Arc<SessionSettings>>,
}

impl Entry {
    /// Records what the session does from `now_us` on; the text stays until the next call.
    pub fn set_command(&self, command: Command, now_us: u64) {
        self.command.store(command as u8, Ordering::Relaxed);
        self.since_us.store(now_us, Ordering::Relaxed);
    }

    /// What the session does.
    pub fn command(&self) -> Command {
        Command::of(self.command.load(Ordering::Relaxed))
    }

    /// Since when, on the clock of [`Registry::now_us`].
    pub fn since_us(&self) -> u64 {
        self.since_us.load(Ordering::Relaxed)
    }

    /// Seconds after which the session's owner is to end it when its client says nothing.
    pub fn set_idle_max_s(&self, seconds: u64) {
        self.idle_max_s.store(seconds, Ordering::Relaxed);
    }

    /// Ends the session if it has waited for its client too long.
    fn end_if_idle(&self, now_us: u64) {
        let idle_us = now_us.saturating_sub(self.since_us());
        let most_us = self.idle_max_s.load(Ordering::Relaxed).saturating_mul(1_000_000);
        if self.command() == Command::Sleep && idle_us >= most_us && !self.interrupt.is_connection_killed() {
            self.ended_for_idleness.store(true, Ordering::Release);
            self.interrupt.kill_connection();
        }
    }

    /// Whether it was [`Registry::end_idle`] that ended the session.
    pub fn was_ended_for_idleness(&self) -> bool {
        self.ended_for_idleness.load(Ordering::Acquire)
    }

    /// Changes what is shown.
    pub fn show(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.shown.lock());
    }

    /// Reads what is shown, without a copy. A statement that begins or ends waits meanwhile: no more than a
    /// line may be made of it.
    pub fn look<T>(&self, read: impl FnOnce(&Shown) -> T) -> T {
        read(&self.shown.lock())
    }

    /// Asks for the memory that [`Entry::look`] will read, and does not wait for it: see [`ahead`].
    fn touch(&self) {
        std::hint::black_box((self.interrupt.is_connection_killed(), self.command()));
    }

    /// A copy of what is shown.
    pub fn shown(&self) -> Shown {
        self.shown.lock().clone()
    }
}

/// A session in the list of all, with what can be read without its entry's mutex. A session that waits for
/// its client has no more to show, so who looks at a thousand of them writes nothing into memory that their
/// own thread needs for the next statement.
#[derive(Debug)]
pub struct Listed {
    entry: Arc<Entry>,
    /// What its transactions tell about themselves.
    pub status: Arc<SessionStatus>,
    /// User, host and database, as they were when the list was made; a change of them ends the list
    /// ([`Registry::renamed`]).
    pub names: Names,
}

impl Listed {
    fn of(entry: &Arc<Entry>) -> Listed {
        let names = entry.look(|shown| shown.names.clone());
        Listed { entry: entry.clone(), status: entry.status.clone(), names }
    }

    /// Looks at the text of the statement that it runs; none between statements. A statement that begins or
    /// ends waits meanwhile: no more than a line may be made of it.
    pub fn with_text<T>(&self, look: impl FnOnce(Option<&[u8]>) -> T) -> T {
        if self.command() == Command::Sleep {
            look(None)
        } else {
            self.look(|shown| look(shown.text.as_deref()))
        }
    }
}

impl Deref for Listed {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

/// Sessions whose memory is asked for at once.
const AHEAD: usize = 16;

/// Sessions one after the other, for who looks at each. A look at a statement's text takes a mutex, and the
/// processor begins nothing behind that before it is done; so the memory of some sessions is asked for
/// together, ahead of their looks, and they wait for it once.
pub fn ahead(sessions: &[Listed]) -> impl Iterator<Item = &Listed> {
    sessions.chunks(AHEAD).flat_map(|some| {
        some.iter().for_each(|entry| entry.touch());
        some
    })
}

/// The sessions there are.
#[derive(Debug, Default)]
struct Sessions {
    by_id: BTreeMap<u64, Arc<Entry>>,
    /// All of them, by id, as [`Registry::list`] made them last; none once one has come or gone since.
    listed: Option<Arc<[Listed]>>,
    /// What those have counted that are gone.
    ended: Totals,
}

impl Sessions {
    fn list(&mut self) -> Arc<[Listed]> {
        let Sessions { by_id, listed, .. } = self;
        listed.get_or_insert_with(|| by_id.values().map(Listed::of).collect()).clone()
    }
}

/// All sessions by connection id.
#[derive(Debug)]
pub struct Registry {
    sessions: Mutex<Sessions>,
    next_id: AtomicU64,
    started: std::time::Instant,
    /// The same moment in microseconds since 1970.
    started_unix_us: u64,
    digests: Digests,
}

impl Default for Registry {
    fn default() -> Self {
        Registry::new(0)
    }
}

impl Registry {
    /// One that counts statements by so many digests at most.
    pub fn new(digests_max: usize) -> Self {
        Registry {
            digests: Digests::new(digests_max),
            sessions: Mutex::default(),
            next_id: AtomicU64::new(1),
            started: std::time::Instant::now(),
            started_unix_us: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.as_micros() as u64),
        }
    }

    /// A connection id that was never given before.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Microseconds since the server began.
    pub fn now_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// A moment of [`Registry::now_us`] in microseconds since 1970.
    pub fn unix_us(&self, moment_us: u64) -> u64 {
        self.started_unix_us + moment_us
    }

    /// Enters a session.
    pub fn enter(&self, id: u64, interrupt: Arc<Interrupt>, shown: Shown) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            id,
            interrupt,
            status: Arc::new(SessionStatus::new(id)),
            command: AtomicU8::new(Command::Sleep as u8),
            since_us: AtomicU64::new(self.now_us()),
            idle_max_s: AtomicU64::new(u64::MAX),
            ended_for_idleness: AtomicBool::new(false),
            shown: Mutex::new(shown),
            counts: SessionCounts::default(),
            digests: Mutex::default(),
        });
        self.change(|sessions| _ = sessions.by_id.insert(id, entry.clone()));
        entry
    }

    /// Statements by digest, without what sessions have not folded yet.
    #[inline]
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Statements by digest, with all that has ended.
    pub fn folded_digests(&self) -> &Digests {
        self.list().iter().for_each(|entry| entry.digests.lock().fold(&self.digests));
        &self.digests
    }

    /// Begins the table of statements by digest anew.
    pub fn truncate_digests(&self) {
        self.folded_digests().truncate();
        self.list().iter().for_each(|entry| entry.digests.lock().renew());
    }

    /// Forgets a session, but not what it has counted. It counts nothing from here on.
    pub fn leave(&self, id: u64) {
        if let Some(entry) = self.find(id) {
            entry.digests.lock().fold(&self.digests);
        }
        self.change(|sessions| {
            if let Some(entry) = sessions.by_id.remove(&id) {
                sessions.ended.add(&entry);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Sessions)) {
        let mut sessions = self.sessions.lock();
        change(&mut sessions);
        let listed = sessions.listed.take();
        // Its thousand owners are counted down without the lock.
        drop(sessions);
        drop(listed);
    }

    /// A session has another user, host or database: whoever looks from now on reads them anew.
    pub fn renamed(&self) {
        self.change(|_| ());
    }

    /// One session.
    pub fn find(&self, id: u64) -> Option<Arc<Entry>> {
        self.sessions.lock().by_id.get(&id).cloned()
    }

    /// All sessions, by id. Whoever looks again before one comes or goes gets the same list: to count the
    /// owners of a thousand entries up and down writes to a thousand cache lines of others.
    pub fn list(&self) -> Arc<[Listed]> {
        self.sessions.lock().list()
    }

    /// What all sessions have counted, those that are gone too.
    pub fn totals(&self) -> Totals {
        let (list, mut totals) = {
            let mut sessions = self.sessions.lock();
            (sessions.list(), sessions.ended.clone())
        };
        list.iter().for_each(|one| totals.add(one));
        totals
    }

    /// Of [`Registry::totals`] what the engine has done.
    pub fn rows(&self) -> RowTotals {
        let (list, mut rows) = {
            let mut sessions = self.sessions.lock();
            (sessions.list(), sessions.ended.rows)
        };
        list.iter().for_each(|one| rows.add(one.status.rows()));
        rows
    }

    /// Ends the sessions whose clients have been silent for longer than their `wait_timeout`. A statement
    /// that arrives in that very moment is ended with its connection.
    pub fn end_idle(&self) {
        let now_us = self.now_us();
        self.list().iter().for_each(|entry| entry.end_if_idle(now_us));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sessions.lock().by_id.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_taken_apart_as_they_were_put_together() {
        let long = "x".repeat(300);
        for (user, host) in [("root", "127.0.0.1:4711"), ("", ""), (&*long, "h"), ("u", &*long)] {
            let mut names = Names::new(user, host, None);
            assert_eq!(
                (names.user(), names.host(), names.database()),
                (user.as_bytes(), host.as_bytes(), None)
            );
            for database in ["shop", "", &long, "b"] {
                names.set_database(database);
                assert_eq!((names.user(), names.host()), (user.as_bytes(), host.as_bytes()));
                assert_eq!(names.database(), Some(database.as_bytes()));
            }
            assert_eq!(Names::new(user, host, Some("")).database(), Some(&b""[..]));
        }
    }

    #[test]
    fn a_host_alone_has_no_port() {
        for (host, bare) in [
            ("127.0.0.1:4711", "127.0.0.1"),
            ("localhost", "localhost"),
            ("::1", "::1"),
            ("", ""),
            ("h:", "h"),
        ] {
            assert_eq!(Names::new("root", host, Some("shop")).bare_host(), bare.as_bytes());
        }
    }
}
