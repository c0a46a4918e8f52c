//! Golden scenarios: what sessions do to each other, as scripts in `tests/scripts/`.
//!
//! ```text
//! === title                  a scenario: a fresh database, in which `s0` first runs the lines above the
//! first title s1: BEGIN -> ok            a statement of session s1 and what it came to s2: UPDATE ... ->
//! waits    it waits for a lock s1: COMMIT -> ok s2 -> ok 1                 what a waiting statement came
//! to, below the line that let it go on s2 times out -> error 1205 only the clock lets it go on s1: KILL
//! QUERY {s2} -> ok  in braces: the connection id of a session with NAME=VALUE            first line of a
//! scenario: a global variable as the command line sets it the house takes a slot     a slot of the
//! admission gate, as if a long statement ran (`innodb_thread_concurrency`
//!                            must not be 0)
//! s1: SELECT ... -> queues   it waits to be let in; `sleeps`: it sleeps before it queues
//! s1 stands -> waiting in InnoDB queue    its state in SHOW ENGINE INNODB STATUS
//! the metadata lock -> 1 queries inside InnoDB, 1 queries in queue
//! the house uses up its tickets           it makes way, if it must, and comes in again when its turn comes
//! the house leaves
//! s1 vanishes                its client is gone
//! s1 -> is rolled back       between two statements, because others that it came after were
//! ```
//!
//! Results are `ok` with the rows affected, `error` with its number, or rows in parentheses. The engine runs
//! without threads, so whether a statement waits is known and not guessed: its waker was not called, and the
//! lock table counts it. `BLESS=1` writes what came out into the scripts; read the difference before you
//! commit it.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use turnstile_engine::admission::{AdmissionState, Place, Ticket};
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::session_status::{SessionStatus, WaitingFor};
use turnstile_engine::{Config, Engine};
use turnstile_session::accounts::AccountName;
use turnstile_session::value::to_text;
use turnstile_session::variables::Globals;
use turnstile_session::{ColumnMeta, Database, ResultSink, Session, SessionInit, SqlError, Value};
use turnstile_sys::fault_disk::FaultDisk;

/// Longest time a statement may need whose wait ends by the clock.
const CLOCK_MAX: Duration = Duration::from_secs(20);

/// Remembers that it was woken.
struct WakeFlag {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

impl WakeFlag {
    fn raised() -> Arc<WakeFlag> {
        Arc::new(WakeFlag { woken: Mutex::new(true), changed: Condvar::new() })
    }

    /// Polls while the flag is up. What yields wakes itself, and does so by the clock: as it goes
    /// on before anybody else does, the clock changes no scenario.
    fn answer<T>(self: &Arc<Self>, mut asked: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
        let waker = Waker::from(Arc::clone(self));
        let begun = std::time::Instant::now();
        while self.take() {
            assert!(begun.elapsed() < CLOCK_MAX, "it wakes itself again and again");
            if let Poll::Ready(done) = asked.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(done);
            }
        }
        None
    }

    fn take(&self) -> bool {
        std::mem::take(&mut *self.woken.lock().unwrap())
    }

    fn wait(&self) -> bool {
        let woken = self.woken.lock().unwrap();
        *self.changed.wait_timeout_while(woken, CLOCK_MAX, |woken| !*woken).unwrap().0
    }
}

/// A result as one line.
#[derive(Default)]
struct Line(Vec<String>);

impl ResultSink for Line {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), SqlError> {
        self.0.push("rows".into());
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let shown = |value: &Value| match value {
            Value::Null => "NULL".to_owned(),
            other => to_text(other).to_string(),
        };
        let values: Vec<String> = row.iter().map(shown).collect();
        self.0.push(format!("({})", values.join(", ")));
        Ok(())
    }
    fn end(&mut self, _: u16, _: u16) {
        if self.0.len() == 1 {
            self.0[0] = "no rows".into();
        } else {
            self.0.remove(0);
        }
    }
    fn ok(&mut self, affected: u64, _: u64, _: u16, _: &str, _: u16) {
        self.0.push(if affected > 0 { format!("ok {affected}") } else { "ok".into() });
    }
}

type Running = Pin<Box<dyn Future<Output = (Session, String)>>>;

/// A session on the stage: idle, or in the middle of a statement.
#[derive(Default)]
struct Actor {
    idle: Option<Session>,
    running: Option<(Running, Arc<WakeFlag>)>,
}

impl Actor {
    /// An idle session that must not wait for its client any longer rolls back.
    fn obey(&mut self) {
        let Some(mut session) = self.idle.take_if(|session| session.must_give_up()) else { return };
        let running: Running = Box::pin(async move {
            session.give_up().await;
            (session, "is rolled back".to_owned())
        });
        self.running = Some((running, WakeFlag::raised()));
    }

    /// Goes on with the statement if its waker was called; its result when it is done.
    fn poll(&mut self) -> Option<String> {
        let (running, flag) = self.running.as_mut()?;
        let (session, result) = flag.answer(running.as_mut())?;
        (self.idle, self.running) = (Some(session), None);
        Some(result)
    }

    fn is_rung(&self) -> bool {
        self.running.as_ref().is_some_and(|(_, flag)| *flag.woken.lock().unwrap())
    }
}

struct Stage {
    engine: Arc<Engine>,
    database: Arc<Database>,
    actors: BTreeMap<String, Actor>,
    ids: BTreeMap<String, u64>,
    /// The slots the house has, oldest first, and the one that it wants back.
    house: Vec<Ticket>,
    house_waits: Option<Pin<Box<dyn Future<Output = Ticket>>>>,
    output: String,
}

impl Stage {
    fn new(globals: Globals) -> Stage {
        let config = Config { buffer_pool_bytes: 4 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() };
        let engine = Engine::open_quiet(Arc::new(FaultDisk::new(1)), config).unwrap();
        let mut opening = Box::pin(Database::open_with(engine.clone(), globals));
        let database =
            WakeFlag::raised().answer(opening.as_mut()).expect("opening a database waits for nobody");
        drop(opening);
        Stage {
            engine,
            database: database.unwrap(),
            actors: BTreeMap::new(),
            ids: BTreeMap::new(),
            house: Vec::new(),
            house_waits: None,
            output: String::new(),
        }
    }

    fn session(&self) -> Session {
        let init = SessionInit {
            connection_id: self.database.registry().next_id(),
            user: "root".into(),
            host: "localhost".into(),
            account: AccountName::new("root", "localhost"),
            database: Some("test".into()),
            collation: 255,
            found_rows: false,
            multi_statements: false,
        };
        Session::new(self.database.clone(), init).unwrap()
    }

    /// One line of a script. What it gave, and what it let go on, is written to the output.
    fn line(&mut self, line: &str) {
        let asked = line.split(" -> ").next().unwrap().trim_end();
        if let Some((name, text)) = asked.split_once(": ").filter(|(name, _)| is_name(name)) {
            let result = self.say(name, self.with_ids(text));
            self.output += &format!("{asked} -> {result}\n");
        } else if let Some(name) = asked.strip_suffix(" times out") {
            let Some((_, flag)) = &self.actors[name].running else {
                self.output += &format!("{asked} -> it does not wait\n");
                return;
            };
            assert!(Arc::clone(flag).wait(), "{name} waits on after {CLOCK_MAX:?}");
            let result = self.actors.get_mut(name).unwrap().poll();
            self.output += &format!("{asked} -> {}\n", result.unwrap_or("waits".into()));
        } else if let Some(answer) = self.direction(asked) {
            self.output +=
                &if answer.is_empty() { format!("{asked}\n") } else { format!("{asked} -> {answer}\n") };
        } else if is_name(asked) || asked == "the house" {
            return; // the result of a statement that waited; it is written when it comes
        } else {
            self.output += &format!("{line}\n");
            return;
        }
        self.let_others_go_on();
    }

    /// Puts connection ids in place of `{s1}`.
    fn with_ids(&self, text: &str) -> String {
        self.ids
            .iter()
            .fold(text.to_owned(), |text, (name, id)| text.replace(&format!("{{{name}}}"), &id.to_string()))
    }

    fn say(&mut self, name: &str, text: String) -> String {
        if !self.actors.contains_key(name) {
            let session = self.session();
            self.ids.insert(name.to_owned(), session.id());
            let idle = Some(session);
            self.actors.insert(name.to_owned(), Actor { idle, running: None });
        }
        let actor = self.actors.get_mut(name).unwrap();
        let Some(mut session) = actor.idle.take() else { return "not said: it still waits".into() };
        let flag = WakeFlag::raised();
        let running: Running = Box::pin(async move {
            let mut out = Line::default();
            let outcome = session.query(text.as_bytes(), &mut out).await;
            let result = outcome.map_or_else(|error| format!("error {}", error.code), |()| out.0.join(" "));
            (session, result)
        });
        actor.running = Some((running, flag));
        actor.poll().unwrap_or_else(|| self.describe_wait(name))
    }

    /// Directions that are not statements; `None` if it is none. The answer is empty if there is nothing to
    /// tell.
    fn direction(&mut self, asked: &str) -> Option<String> {
        let mdl = self.engine.gate().clone();
        if let Some(name) = asked.strip_suffix(" stands") {
            let activity = self.status(name).activity();
            return Some(if activity.is_empty() { "outside".to_owned() } else { activity });
        } else if let Some(name) = asked.strip_suffix(" vanishes") {
            self.actors.remove(name);
        } else {
            match asked {
                "the metadata lock" => {
                    let counts = mdl.counts();
                    return Some(format!(
                        "{} queries inside InnoDB, {} queries in queue",
                        counts.inside, counts.queued
                    ));
                }
                "the house takes a slot" => {
                    let mut ticket = mdl.ticket(&AdmissionState::new()).expect("there is a limit");
                    let entered = Box::pin(ticket.come_in(&Interrupt::new()))
                        .as_mut()
                        .poll(&mut Context::from_waker(Waker::noop()));
                    assert_eq!(entered, Poll::Ready(Ok(())), "the slot is free");
                    self.house.push(ticket);
                }
                "the house uses up its tickets" => {
                    let mut ticket = self.house.pop().expect("it has a slot");
                    ticket.spend(ticket.tickets_left());
                    self.house_waits = Some(Box::pin(async move {
                        ticket.come_in(&Interrupt::new()).await.unwrap();
                        ticket
                    }));
                    return Some(self.house_comes_in().to_owned());
                }
                "the house leaves" => self.house.clear(),
                _ => return None,
            }
        }
        Some(String::new())
    }

    /// Whether the house has its slot back.
    fn house_comes_in(&mut self) -> &'static str {
        let Some(waits) = &mut self.house_waits else { return "goes on" };
        match waits.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => "makes way",
            Poll::Ready(ticket) => {
                self.house.push(ticket);
                self.house_waits = None;
                "goes on"
            }
        }
    }

    fn status(&self, name: &str) -> Arc<SessionStatus> {
        self.database.registry().find(self.ids[name]).unwrap().status.clone()
    }

    /// What a statement waits for: a lock, if the lock table counts as many waits as statements that are not
    /// at the metadata lock.
    fn describe_wait(&self, name: &str) -> String {
        let place = |name: &str| self.status(name).admission().place();
        match place(name) {
            Place::Queued => return "queues".into(),
            Place::Sleeping => return "sleeps".into(),
            Place::Outside | Place::Inside(_) => {}
        }
        let at_gate = |name: &str| matches!(place(name), Place::Queued | Place::Sleeping);
        let waits =
            |(name, actor): &(&String, &Actor)| actor.running.is_some() && !actor.is_rung() && !at_gate(name);
        let waiting = self.actors.iter().filter(waits).count();
        if let Some(what) = self.place_in_order(name) {
            return what.into();
        }
        let in_order = |(name, _): &(&String, &Actor)| self.place_in_order(name).is_some();
        let following = self.actors.iter().filter(waits).filter(in_order).count();
        let waiting = waiting - following;
        let counted = self.engine.locks().statistics().current_waits as usize;
        // Who was woken to look at the clock still waits for its lock.
        let rung = self.actors.values().filter(|actor| actor.running.is_some() && actor.is_rung()).count();
        assert!(counted <= waiting + rung, "{counted} lock waits by {waiting} sessions when {name} waits");
        if counted >= waiting { "waits".into() } else { "waits for a metadata lock".into() }
    }

    /// What a session waits for in the order of commits.
    fn place_in_order(&self, name: &str) -> Option<&'static str> {
        match self.status(name).waiting_for() {
            WaitingFor::Predecessors => Some("waits to commit"),
            WaitingFor::Successors => Some("waits for those behind it"),
            _ => None,
        }
    }

    /// Polls whoever was woken until nobody is.
    fn let_others_go_on(&mut self) {
        let begun = std::time::Instant::now();
        self.actors.values_mut().for_each(Actor::obey);
        while self.actors.values().any(Actor::is_rung) {
            assert!(begun.elapsed() < CLOCK_MAX, "somebody is woken again and again:\n{}", self.output);
            for (name, actor) in &mut self.actors {
                if let Some(result) = actor.poll() {
                    self.output += &format!("{name} -> {result}\n");
                }
            }
            self.actors.values_mut().for_each(Actor::obey);
        }
        if self.house_waits.is_some() && self.house_comes_in() == "goes on" {
            self.output += "the house -> goes on\n";
            self.let_others_go_on();
        }
    }
}

/// Session names are `s` and a digit.
fn is_name(text: &str) -> bool {
    text.len() == 2 && text.starts_with('s') && text.as_bytes()[1].is_ascii_digit()
}

/// Runs all scenarios of a script and gives it back with what really came out.
fn perform(script: &str) -> String {
    let mut scenarios = script.split("\n=== ");
    let opening = scenarios.next().unwrap();
    let mut output = Stage::run(&[opening]).trim_end().to_owned() + "\n";
    for scenario in scenarios {
        let (title, lines) = scenario.split_once('\n').unwrap_or((scenario, ""));
        let whole = Stage::run(&[opening, lines]);
        output += &format!("\n=== {title}\n{}\n", whole.trim());
    }
    output
}

impl Stage {
    /// Runs parts one after another in one database; the output of the last.
    fn run(parts: &[&str]) -> String {
        let globals = Globals::default();
        // Every victim is seen: one that is begun again waits for the clock first.
        globals.configure("turnstile_statement_retries", "0").unwrap();
        for line in parts.iter().flat_map(|part| part.lines()) {
            if let Some((name, value)) = line.strip_prefix("with ").and_then(|line| line.split_once('=')) {
                globals.configure(name, value).unwrap();
            }
        }
        let mut stage = Stage::new(globals);
        for part in parts {
            stage.output.clear();
            part.lines().for_each(|line| stage.line(line));
        }
        stage.output
    }
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn check(folder: &str) {
    let mut failures = String::new();
    for path in scripts(folder) {
        let wanted = std::fs::read_to_string(&path).unwrap();
        let found = perform(&wanted);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, found).unwrap();
        } else if found != wanted {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let differing =
                found.lines().zip(wanted.lines()).enumerate().find(|(_, (found, wanted))| found != wanted);
            let (nth, (found, wanted)) = differing.unwrap_or((0, ("more or fewer lines", "")));
            failures += &format!("\n{folder}/{name}:{}\n  wanted: {wanted}\n  found:  {found}", nth + 1);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn isolation() {
    check("isolation");
}

#[test]
fn lock() {
    check("lock");
}

#[test]
fn admission() {
    check("admission");
}
