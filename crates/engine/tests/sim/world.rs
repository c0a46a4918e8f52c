//! One seed: an engine on a faulty disk, sessions, and what everybody may believe about the data; lives,
//! crashes, restarts.
//!
//! `versions` are the states of the database after each commit, in commit order. A crash keeps a beginning of
//! them: at least up to the last acknowledged one.

use std::collections::VecDeque;
use std::sync::Arc;

use turnstile_engine::buffer::DATA_FILE;
use turnstile_engine::ids::{IndexId, Lsn};
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{Config, Engine, Error, Isolation, LockWait, TxnOptions};
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};
use turnstile_sys::rng::Rng;

use crate::quiet::Quiet;
use crate::session::{Asked, Session, Statement, Work, at_once, run};
use crate::swarm::{Action, Swarm};
use crate::table::{NULL, Overlay, Row, State, Table, row};

/// The error is what is wrong with the engine.
pub type Verdict<T = ()> = Result<T, String>;

/// Tables at one time.
const TABLES_MAX: usize = 3;
/// Every so many seeds there are a few rows that are larger than the whole redo.
const GIANTS_EVERY: u64 = 50;
/// So many are drawn at most; three of four drawn rows are not used. Each costs as much as a thousand others.
const GIANTS_MAX: u64 = 12;
/// In every so many seeds processes are killed in the middle of what they do to the disk, lives follow upon
/// lives, and only then the power goes: what one process left in the operating system's cache meets the next
/// one's writes.
const KILLS_EVERY: u64 = 3;
/// Steps shown when a seed fails; `SIM_TRACE` asks for more.
const TRACE_STEPS: usize = 25;

/// What was done, to see that the simulation is not an idle one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub steps: u64,
    pub commits: u64,
    pub acknowledged: u64,
    pub waits: u64,
    pub deadlocks: u64,
    pub restarts: u64,
    pub stops: u64,
    pub disk_full: u64,
    pub losers: u64,
    /// Processes killed in the middle of an operation of the disk.
    pub kills: u64,
    /// Rows that the redo cannot hold.
    pub giants: u64,
    /// Transactions that their change committed.
    pub ended: u64,
    pub redo_bytes: u64,
    /// Transactions that changed nothing.
    pub idle: u64,
    /// Transactions that changed every row right after a restart.
    pub reworked: u64,
}

impl Totals {
    /// Adds another seed's.
    pub fn add(&mut self, other: &Totals) {
        self.steps += other.steps;
        self.commits += other.commits;
        self.acknowledged += other.acknowledged;
        self.waits += other.waits;
        self.deadlocks += other.deadlocks;
        self.restarts += other.restarts;
        self.stops += other.stops;
        self.disk_full += other.disk_full;
        self.losers += other.losers;
        self.kills += other.kills;
        self.giants += other.giants;
        self.ended += other.ended;
        self.redo_bytes += other.redo_bytes;
        self.idle += other.idle;
        self.reworked += other.reworked;
    }

    /// A simulation in which something never happens proves nothing about it.
    pub fn assert_busy(&self) {
        let counts = [
            self.commits,
            self.acknowledged,
            self.waits,
            self.deadlocks,
            self.stops,
            self.disk_full,
            self.kills,
        ];
        assert!(
            counts.iter().all(|count| *count > 0)
                && [self.losers, self.giants, self.ended, self.idle, self.reworked]
                    .iter()
                    .all(|count| *count > 0),
            "an idle simulation: {self:?}"
        );
    }
}

/// A seed's whole state.
pub struct World {
    pub rng: Rng,
    /// Decides which rows are giants: a generator of its own, so that the seeds go on to mean what they
    /// meant.
    giants: Option<Rng>,
    /// Decides where a process is killed in the middle of an operation, in seeds that have that: a generator
    /// of its own, too.
    kills: Option<Rng>,
    /// Of one double write; few in seeds with kills, so that there are many of them.
    batch_pages: usize,
    pub swarm: Swarm,
    pub quiet: Quiet,
    pub disk: FaultDisk,
    pub engine: Option<Arc<Engine>>,
    pub tables: Vec<Table>,
    next_table: u32,
    pub versions: Vec<State>,
    /// The newest version that was acknowledged.
    pub acknowledged: usize,
    unacknowledged: Vec<(Lsn, usize)>,
    pub sessions: Vec<Session>,
    /// Trees whose drop succeeded.
    pub dropped: Vec<IndexId>,
    /// Trees whose creation or drop failed: they may be there or not.
    pub doubtful: Vec<IndexId>,
    full: bool,
    /// A failure was planted, so that the engine may stop.
    pub faulty: bool,
    pub stopped: bool,
    /// Files whose syncs are lies: the planted bug.
    lie: Option<&'static str>,
    pub trace: VecDeque<String>,
    trace_steps: usize,
    pub totals: Totals,
}

impl World {
    pub fn new(seed: u64, lie: Option<&'static str>, quiet: Quiet) -> Verdict<World> {
        let mut rng = Rng::new(seed);
        let mut swarm = Swarm::draw(&mut rng);
        quiet.calm(&mut swarm);
        let kills = seed.is_multiple_of(KILLS_EVERY) && lie.is_none();
        let mut world = World {
            disk: FaultDisk::new(rng.next_u64()),
            giants: seed.is_multiple_of(GIANTS_EVERY).then(|| Rng::new(!seed)),
            batch_pages: if kills { 1 + (seed / KILLS_EVERY % 9) as usize } else { usize::MAX },
            kills: kills.then(|| Rng::new(seed ^ 0x6b69_6c6c)),
            rng,
            swarm,
            quiet,
            engine: None,
            tables: Vec::new(),
            next_table: 1,
            versions: vec![State::default()],
            acknowledged: 0,
            unacknowledged: Vec::new(),
            sessions: Vec::new(),
            dropped: Vec::new(),
            doubtful: Vec::new(),
            full: false,
            faulty: false,
            stopped: false,
            lie,
            trace: VecDeque::new(),
            trace_steps: crate::setting("SIM_TRACE", TRACE_STEPS as u64) as usize,
            totals: Totals::default(),
        };
        world.open()?;
        world.create_table()?;
        Ok(world)
    }

    /// Whether the disk has been filled.
    pub fn is_full(&self) -> bool {
        self.full
    }

    pub fn engine(&self) -> &Arc<Engine> {
        self.engine.as_ref().expect("an engine is open between two crashes")
    }

    pub fn note(&mut self, what: String) {
        if self.trace.len() == self.trace_steps {
            self.trace.pop_front();
        }
        self.trace.push_back(what);
    }

    /// An error that a fault explains is no finding: it ends the life, or just the statement.
    pub fn tolerate(&mut self, doing: &str, error: &Error) -> Verdict {
        match error {
            Error::Stopped(_) if self.faulty => {
                self.totals.stops += u64::from(!self.stopped);
                self.stopped = true;
                Ok(())
            }
            Error::DiskFull if self.full || self.faulty => {
                self.totals.disk_full += 1;
                Ok(())
            }
            error => Err(format!("{doing}: {error}")),
        }
    }

    // -- lives

    /// How many lives it is to have.
    pub fn lives(&mut self) -> u64 {
        let lives = 2 + self.rng.below(3);
        if self.kills.is_some() { 4 * lives } else { lives }
    }

    /// Runs sessions until the steps are done or the engine has stopped.
    pub fn live(&mut self) -> Verdict {
        self.sessions = (0..self.swarm.sessions).map(|_| Session::default()).collect();
        if self.rng.chance(0.5) {
            let scale = [5, 40, 300][self.rng.index(3)];
            let nth = 1 + self.rng.below(scale);
            let kind = if self.rng.chance(0.8) { FaultKind::InputOutput } else { FaultKind::NoSpace };
            let lasting = self.rng.chance(0.7);
            self.note(format!("operation {nth} of the disk will fail: {kind:?}, lasting {lasting}"));
            if lasting {
                self.disk.fail_from(nth, kind)
            } else {
                self.disk.fail_at(nth, kind)
            }
            self.faulty = true;
        }
        if !self.faulty {
            self.faulty = self.plan_kill(0.8);
        }
        // Many short lives where processes die.
        let steps = if self.kills.is_some() { self.swarm.steps / 4 } else { self.swarm.steps };
        for _ in 0..steps {
            self.totals.steps += 1;
            self.poll_some()?;
            self.idle()?;
            let step = self.swarm.step(&mut self.rng);
            self.step(step)?;
            if self.stopped {
                return self.after_stop();
            }
        }
        self.last_words()
    }

    /// Has the process die in the middle of something: of anything, or of the few operations on the data
    /// file, which are those of the batches.
    fn plan_kill(&mut self, chance: f64) -> bool {
        let Some(kills) = &mut self.kills else { return false };
        if !kills.chance(chance) {
            return false;
        }
        let (part, scale) =
            [("", 60), ("", 1500), (DATA_FILE, 2), (DATA_FILE, 2), (DATA_FILE, 20)][kills.index(5)];
        let nth = 1 + kills.below(scale);
        self.disk.die_in(part, nth);
        self.note(format!("the process will die in operation {nth} of the files {part:?}"));
        true
    }

    /// A stopped engine acknowledges nothing but what it had synced before; what it does acknowledge must
    /// survive.
    fn after_stop(&mut self) -> Verdict {
        for (lsn, version) in std::mem::take(&mut self.unacknowledged) {
            if at_once(self.engine().wait_durable(lsn)).is_ok() {
                self.acknowledged = self.acknowledged.max(version);
            }
        }
        Ok(())
    }

    /// Ends a life: power cut, killed process, or a clean close and then a power cut.
    pub fn end_life(&mut self) -> Verdict {
        let clean = !self.faulty && self.rng.chance(0.2);
        if clean {
            self.disk.set_capacity(usize::MAX);
            self.full = false;
            self.settle()?;
        }
        self.sessions.clear();
        if clean && !self.stopped {
            self.note("clean close".into());
            self.engine().close().map_err(|error| format!("close: {error}"))?;
            self.acknowledged = self.versions.len() - 1;
        }
        let mut killed = !clean && self.lie.is_none() && self.rng.chance(0.2);
        if let Some(kills) = &mut self.kills
            && self.disk.was_killed()
        {
            // In the middle of an operation the power may go as well.
            killed = kills.chance(0.5);
            self.totals.kills += 1;
        }
        self.note(if killed { "process killed".into() } else { "power cut".into() });
        let current = self.engine().storage().wal.current_lsn().0;
        self.totals.redo_bytes = self.totals.redo_bytes.max(current);
        self.disk = if killed { self.disk.kill() } else { self.disk.crash() };
        self.engine = None;
        self.unacknowledged.clear();
        (self.full, self.faulty, self.stopped) = (false, false, false);
        self.disk.set_capacity(usize::MAX);
        Ok(())
    }

    fn config(&mut self) -> Config {
        Config {
            buffer_pool_bytes: self.swarm.pool_bytes,
            redo_capacity_bytes: self.swarm.redo_bytes,
            doublewrite_pages: self.batch_pages,
            txn_ids_ahead: self.quiet.ids_ahead,
            ..Config::default()
        }
    }

    /// Opens the engine; sometimes the power is cut again during recovery.
    pub fn open(&mut self) -> Verdict {
        for _ in 0..4 {
            if let Some(lie) = self.lie {
                self.disk.skip_sync_of(lie);
            }
            let interrupted = self.rng.chance(0.15);
            if interrupted {
                let nth = 1 + self.rng.below(60);
                self.note(format!("opening, power cut at operation {nth}"));
                self.disk.fail_from(nth, FaultKind::InputOutput);
            } else {
                self.plan_kill(0.4);
            }
            let config = self.config();
            let opened = Engine::open_quiet(Arc::new(self.disk.clone()), config);
            self.totals.restarts += 1;
            match opened {
                _ if self.disk.was_killed() => {
                    let killed = self.kills.as_mut().is_some_and(|kills| kills.chance(0.5));
                    self.disk = if killed { self.disk.kill() } else { self.disk.crash() };
                }
                Ok(engine) if !interrupted => {
                    self.disk.heal();
                    self.totals.losers += engine.losers() as u64;
                    engine.adaptive_hash().set_enabled(self.swarm.hints());
                    self.engine = Some(engine);
                    return Ok(());
                }
                Err(error) if !interrupted => return Err(format!("it does not open: {error}")),
                _ => self.disk = self.disk.crash(),
            }
        }
        let config = self.config();
        let opened = Engine::open_quiet(Arc::new(self.disk.clone()), config);
        let engine = opened.map_err(|error| format!("it does not open: {error}"))?;
        engine.adaptive_hash().set_enabled(self.swarm.hints());
        self.engine = Some(engine);
        Ok(())
    }

    // -- steps

    fn step(&mut self, step: Action) -> Verdict {
        match step {
            Action::Acknowledge => self.acknowledge(),
            Action::CreateTable if self.tables.len() < TABLES_MAX => self.create_table(),
            Action::DropTable if self.tables.len() > 1 => self.drop_table(),
            Action::Checkpoint => {
                let outcome = self.engine().checkpoint().map(drop);
                self.upkeep("checkpoint", outcome)
            }
            Action::Purge => {
                let outcome = self.engine().roll_back_abandoned();
                self.upkeep("rollback of the abandoned", outcome)?;
                // Without a draw, so that the seeds go on to mean what they meant.
                let history = self.engine().history_list_length();
                let outcome = match history % 3 {
                    0 => self.engine().purge_all().map(drop),
                    _ => self.engine().purge_some(history % 17 + 1).map(drop),
                };
                self.upkeep("purge", outcome)
            }
            Action::CheckNow if !self.faulty => self.check_now(),
            Action::FillDisk => {
                let room = self.rng.index(20_000);
                self.disk.set_capacity(self.disk.used() + room);
                self.full = true;
                Ok(())
            }
            Action::GiveSpace => {
                self.disk.set_capacity(usize::MAX);
                self.full = false;
                Ok(())
            }
            Action::CreateTable | Action::DropTable | Action::CheckNow => Ok(()),
            step => {
                let idle: Vec<usize> = (0..self.sessions.len()).filter(|&at| self.is_idle(at)).collect();
                if idle.is_empty() {
                    return self.unstick();
                }
                let at = idle[self.rng.index(idle.len())];
                self.session_step(step, at)
            }
        }
    }

    fn upkeep(&mut self, what: &str, outcome: turnstile_engine::Result<()>) -> Verdict {
        self.note(what.to_owned());
        outcome.or_else(|error| self.tolerate(what, &error))
    }

    fn is_idle(&self, at: usize) -> bool {
        self.sessions[at].statement.is_none()
    }

    fn session_step(&mut self, step: Action, at: usize) -> Verdict {
        match step {
            Action::Commit => self.commit(at),
            Action::RollBack => self.roll_back(at),
            Action::Abandon => {
                self.note(format!("s{at} abandons"));
                // Whoever is dropped in the middle of a wait is one more case.
                let victim = self.rng.index(self.sessions.len());
                self.sessions[victim] = Session::default();
                Ok(())
            }
            Action::Savepoint => {
                let session = &mut self.sessions[at];
                if let (Some(txn), Some(work)) = (&session.txn, &mut session.work) {
                    work.savepoints.push((txn.savepoint(), work.overlay.clone()));
                }
                Ok(())
            }
            Action::RollBackTo => self.roll_back_to(at),
            step => {
                let asked = self.draw(step);
                let Some((mut asked, table)) = asked else { return Ok(()) };
                if let Asked::Update { id, ends, .. } | Asked::Delete { id, ends } = &mut asked {
                    // Half of those that could be alone in their transaction are.
                    *ends = self.sessions[at].work.is_none() && id.is_multiple_of(2);
                }
                self.begin_statement(at, asked, &table);
                self.poll(at)
            }
        }
    }

    fn draw_row(&mut self) -> Row {
        let a = self.rng.below(u64::from(self.swarm.groups)) as u32;
        let b = self.rng.below(u64::from(self.swarm.uniques)) as u32;
        let b = if self.rng.chance(0.1) { NULL } else { b };
        let long = self.rng.chance(self.swarm.long);
        let mut len = if long { 4000 + self.rng.index(36_000) } else { self.rng.index(self.swarm.text_max) };
        if let Some(giants) = &mut self.giants
            && self.totals.giants < GIANTS_MAX
            && giants.chance(0.01)
        {
            len = self.swarm.redo_bytes as usize + giants.index(1 << 20);
            self.totals.giants += 1;
        }
        row(a, b, len, self.rng.below(256) as u8)
    }

    fn draw(&mut self, step: Action) -> Option<(Asked, Table)> {
        let table = self.tables.get(self.rng.index(self.tables.len().max(1)))?.clone();
        let id = self.rng.below(u64::from(self.swarm.keys)) as u32;
        let asked = match step {
            Action::Insert => Asked::Insert { id, row: self.draw_row() },
            Action::InsertRun if !table.def.secondaries.is_empty() => {
                Asked::Insert { id, row: self.draw_row() }
            }
            Action::InsertRun => {
                let newest = self.versions.last().expect("there is always a version").rows(table.number);
                let next = newest.keys().next_back().map_or(0, |last| last + 1);
                let behind = next < 4 * self.swarm.keys && self.rng.chance(0.7);
                let count = 2 + self.rng.index(60);
                let rows = (0..count).map(|_| self.draw_row()).collect();
                Asked::InsertRun { id: if behind { next } else { id }, rows }
            }
            Action::Update => Asked::Update { id, row: self.draw_row(), ends: false },
            Action::Delete => Asked::Delete { id, ends: false },
            Action::Read => Asked::Read { id },
            Action::LockRead => {
                let waits = [LockWait::Wait, LockWait::NoWait, LockWait::SkipLocked];
                Asked::LockRead { id, wait: waits[self.rng.index(3)] }
            }
            Action::Scan => Asked::Scan { secondary: false },
            Action::ScanSecondary => Asked::Scan { secondary: !table.def.secondaries.is_empty() },
            Action::ChangeRange => {
                let to = id + self.rng.below(u64::from(self.swarm.keys) / 2 + 2) as u32;
                Asked::ChangeRange { from: id, to, modulus: 2 + self.rng.below(3) as u32 }
            }
            step => unreachable!("{step:?} is no statement"),
        };
        Some((asked, table))
    }

    fn begin_statement(&mut self, at: usize, asked: Asked, table: &Table) {
        self.note(format!("s{at} {}", show(&asked, table.number)));
        let new = (0..3).map(|_| self.rng.chance(0.7).then(|| self.draw_row())).collect();
        let isolation =
            if self.rng.chance(0.5) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        let options = TxnOptions {
            isolation,
            read_only: false,
            autocommit: false,
            lock_wait_timeout_ms: 100_000_000,
            interrupt: Arc::new(Interrupt::new()),
            status: Default::default(),
        };
        let newest = self.versions.len() - 1;
        let engine = Arc::clone(self.engine());
        let session = &mut self.sessions[at];
        let work = session.work.get_or_insert_with(|| Work {
            isolation,
            overlay: Overlay::new(),
            savepoints: Vec::new(),
            view: None,
        });
        let mut txn = session.txn.take().unwrap_or_else(|| engine.begin(options));
        txn.start_statement(100_000_000);
        let consistent = matches!(asked, Asked::Read { .. } | Asked::Scan { .. });
        let view = match work.isolation {
            Isolation::RepeatableRead if consistent => *work.view.get_or_insert(newest),
            _ => newest,
        };
        let savepoint = txn.savepoint();
        let running = run(txn, table.clone(), asked.clone(), new);
        session.statement = Some(Statement::new(asked, table.number, savepoint, view, running));
    }

    pub fn commit(&mut self, at: usize) -> Verdict {
        let session = &mut self.sessions[at];
        let (Some(mut txn), Some(work)) = (session.txn.take(), session.work.take()) else { return Ok(()) };
        self.note(format!("s{at} commit {:?}", txn.id()));
        let newest = self.versions.last().expect("there is always a version");
        let after = newest.with(&work.overlay);
        match txn.commit() {
            Ok(Some(lsn)) => {
                self.totals.commits += 1;
                self.versions.push(after);
                self.unacknowledged.push((lsn, self.versions.len() - 1));
                Ok(())
            }
            Ok(None) if work.overlay.is_empty() => Ok(()),
            Ok(None) => Err("a commit of changes says that it wrote nothing".into()),
            Err(error @ Error::DiskFull) => Err(format!("commit: {error}")),
            Err(error) => {
                // Its record may have reached the disk.
                self.versions.push(after);
                self.tolerate("commit", &error)
            }
        }
    }

    fn roll_back(&mut self, at: usize) -> Verdict {
        let session = &mut self.sessions[at];
        session.work = None;
        let Some(mut txn) = session.txn.take() else { return Ok(()) };
        self.note(format!("s{at} rollback {:?}", txn.id()));
        at_once(txn.rollback()).or_else(|error| self.tolerate("rollback", &error))
    }

    fn roll_back_to(&mut self, at: usize) -> Verdict {
        let session = &mut self.sessions[at];
        let (Some(txn), Some(work)) = (&mut session.txn, &mut session.work) else { return Ok(()) };
        if work.savepoints.is_empty() {
            return Ok(());
        }
        let nth = self.rng.index(work.savepoints.len());
        let (savepoint, overlay) = work.savepoints[nth].clone();
        work.savepoints.truncate(nth + 1);
        work.overlay = overlay;
        let outcome = at_once(txn.rollback_to(savepoint));
        self.note(format!("s{at} rollback to {savepoint:?}"));
        outcome.or_else(|error| self.give_up(at, "rollback to a savepoint", &error))
    }

    /// A transaction whose partial rollback failed can only be dropped.
    pub fn give_up(&mut self, at: usize, doing: &str, error: &Error) -> Verdict {
        self.sessions[at] = Session::default();
        self.tolerate(doing, error)
    }

    fn acknowledge(&mut self) -> Verdict {
        if self.unacknowledged.is_empty() {
            return Ok(());
        }
        let nth = self.rng.index(self.unacknowledged.len());
        let (lsn, version) = self.unacknowledged.swap_remove(nth);
        match at_once(self.engine().wait_durable(lsn)) {
            Ok(()) => {
                self.note(format!("version {version} acknowledged"));
                self.totals.acknowledged += 1;
                self.acknowledged = self.acknowledged.max(version);
                Ok(())
            }
            Err(error) => self.tolerate("wait for the log", &error),
        }
    }

    pub fn create_table(&mut self) -> Verdict {
        let count = 1 + self.rng.index(3);
        let mut indexes = Vec::new();
        for _ in 0..count {
            match self.engine().create_index() {
                Ok(index) => indexes.push(index),
                Err(error) => {
                    self.doubtful.extend(indexes);
                    // The one that failed may be there as well; its number is not known.
                    return self.tolerate("create index", &error);
                }
            }
        }
        let table = Table::new(self.next_table, &indexes, self.swarm.pad);
        self.note(format!("table {} created over {indexes:?}", table.number));
        self.next_table += 1;
        self.tables.push(table);
        Ok(())
    }

    fn drop_table(&mut self) -> Verdict {
        self.settle()?;
        if self.stopped || self.sessions.iter().any(|session| session.work.is_some()) {
            return Ok(());
        }
        let table = self.tables.remove(self.rng.index(self.tables.len()));
        self.note(format!("drop table {}", table.number));
        for version in &mut self.versions {
            version.forget(table.number);
        }
        for index in table.indexes() {
            match self.engine().drop_index(index) {
                Ok(()) => self.dropped.push(index),
                Err(error) => {
                    self.doubtful.extend(table.indexes());
                    return self.tolerate("drop index", &error);
                }
            }
        }
        Ok(())
    }

    /// Ends every transaction. Afterwards nobody may be left waiting, but for one that was abandoned and
    /// finds no room for its rollback.
    pub fn settle(&mut self) -> Verdict {
        loop {
            let outcome = self.engine().roll_back_abandoned();
            let failed = outcome.is_err();
            self.upkeep("rollback of the abandoned", outcome)?;
            for at in 0..self.sessions.len() {
                if self.is_idle(at) && !self.stopped {
                    if self.rng.chance(0.7) { self.commit(at)? } else { self.roll_back(at)? }
                }
            }
            let waiting: Vec<usize> = (0..self.sessions.len()).filter(|&at| !self.is_idle(at)).collect();
            if waiting.is_empty() || self.stopped {
                return Ok(());
            }
            if !self.poll_woken()? {
                if failed {
                    // The disk is full: what was abandoned keeps its locks until there is room.
                    return Ok(());
                }
                return Err(format!("nobody holds anything, and {waiting:?} wait: a lost wakeup"));
            }
        }
    }

    /// All sessions wait. Somebody must be woken, unless an abandoned transaction still has its locks.
    fn unstick(&mut self) -> Verdict {
        if self.poll_woken()? {
            return Ok(());
        }
        let outcome = self.engine().roll_back_abandoned();
        let failed = outcome.is_err();
        self.upkeep("rollback of the abandoned", outcome)?;
        if failed || self.poll_woken()? {
            return Ok(());
        }
        let locks = self.engine().locks().snapshot();
        let locks: Vec<String> = locks
            .locks
            .iter()
            .map(|lock| format!("{lock:?}"))
            .chain(locks.waits.iter().map(|wait| format!("{wait:?}")))
            .collect();
        Err(format!(
            "all sessions wait and nobody is woken: an unseen deadlock or a lost wakeup\n{}",
            locks.join("\n")
        ))
    }
}

/// A statement for the trace.
fn show(asked: &Asked, table: u32) -> String {
    match asked {
        Asked::Insert { id, row } => format!("insert {id} of {} bytes into {table}", row.len()),
        Asked::InsertRun { id, rows } => format!("insert {} rows from {id} on into {table}", rows.len()),
        Asked::Update { id, row, .. } => format!("update {id} to {} bytes in {table}", row.len()),
        other => format!("{other:?} in {table}"),
    }
}
