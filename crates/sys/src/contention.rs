//! How contended latches and mutexes are: classes with counters, the settings of spinning, and who is parked
//! now.
//!
//! Only a thread that could not enter at once comes here, so an uncontended latch writes nothing. The
//! counters of a class lie in shards, one cache line each, and a thread always uses the same one: counting
//! must not be the contention.
//!
//! | name | means |
//! |---|---|
//! | spin | a wait: somebody could not enter at once |
//! | round | one look at the latch while spinning |
//! | park | a wait that outlasted its spinning, so the operating system put the thread to sleep |

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// `innodb_sync_spin_loops` unless set.
pub const SPIN_ROUNDS_DEFAULT: u32 = 30;
/// `innodb_spin_wait_delay` unless set.
pub const SPIN_DELAY_DEFAULT: u32 = 6;
/// `innodb_spin_wait_pause_multiplier` unless set.
pub const PAUSE_MULTIPLIER_DEFAULT: u32 = 50;

static SPIN_ROUNDS: AtomicU32 = AtomicU32::new(SPIN_ROUNDS_DEFAULT);
static SPIN_DELAY: AtomicU32 = AtomicU32::new(SPIN_DELAY_DEFAULT);
static PAUSE_MULTIPLIER: AtomicU32 = AtomicU32::new(PAUSE_MULTIPLIER_DEFAULT);

/// Sets how often a thread looks again before it parks, for all latches and ranked mutexes, from now on.
pub fn set_spin_rounds(rounds: u32) {
    SPIN_ROUNDS.store(rounds, Ordering::Relaxed);
}

/// Sets the longest pause between two looks; its unit is the pause multiplier.
pub fn set_spin_delay(delay: u32) {
    SPIN_DELAY.store(delay, Ordering::Relaxed);
}

/// Sets how many processor pauses one unit of the spin delay is.
pub fn set_pause_multiplier(pauses: u32) {
    PAUSE_MULTIPLIER.store(pauses, Ordering::Relaxed);
}

/// Looks again and again for a while; true once `enter` says so. Between two looks the thread pauses for a
/// random time up to the spin delay, the first rounds at most one, two, four ... processor pauses; from
/// [`YIELD_FROM`] on it first offers the processor to others, one of which may be who keeps us out.
pub(crate) fn spin(rounds_done: &mut u64, enter: impl Fn() -> bool) -> bool {
    // A model has no time to pass, only interleavings: spinning would add none and cost all.
    let rounds = if cfg!(any(loom, shuttle)) { 0 } else { SPIN_ROUNDS.load(Ordering::Relaxed) };
    let delay = SPIN_DELAY.load(Ordering::Relaxed);
    let multiplier = PAUSE_MULTIPLIER.load(Ordering::Relaxed);
    let mut random = thread_number().wrapping_mul(0x9E37_79B9) | 1;
    for round in 0..rounds {
        random = random.wrapping_mul(0x2C92_77B5).wrapping_add(0xAC56_4B05);
        let units = (u64::from(random) * (u64::from(delay) + 1)) >> 32;
        let pauses = units * u64::from(multiplier) / PAUSE_FRACTION;
        if round >= YIELD_FROM {
            std::thread::yield_now();
            (0..pauses).for_each(|_| std::hint::spin_loop());
        } else {
            (0..pauses.clamp(u64::from(delay > 0), 1 << round)).for_each(|_| std::hint::spin_loop());
        }
        *rounds_done += 1;
        if enter() {
            return true;
        }
    }
    false
}

/// The round from which a spinning thread yields.
const YIELD_FROM: u32 = 4;
/// The multiplier counts pauses of the length they had when the settings got their defaults, some ten cycles.
/// Since then the instruction has become about this many times as long.
const PAUSE_FRACTION: u64 = 16;

/// Whether a wait is for a shared hold, the exclusive one, or a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A shared hold of a latch.
    Shared,
    /// The exclusive hold of a latch.
    Exclusive,
    /// A mutex.
    Mutex,
}

/// What one kind of wait has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitStats {
    /// Waits: those that could not enter at once.
    pub spins: u64,
    /// Looks while spinning.
    pub rounds: u64,
    /// Waits that parked the thread.
    pub parks: u64,
    /// Time spent parked, in nanoseconds.
    pub parked_ns: u64,
}

impl std::ops::AddAssign for WaitStats {
    fn add_assign(&mut self, other: Self) {
        self.spins += other.spins;
        self.rounds += other.rounds;
        self.parks += other.parks;
        self.parked_ns += other.parked_ns;
    }
}

/// What a class has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatchStats {
    /// Waits for shared holds.
    pub shared: WaitStats,
    /// Waits for exclusive holds, and for mutexes.
    pub exclusive: WaitStats,
    /// Shortest time parked, in nanoseconds; 0 if nobody ever was.
    pub parked_ns_min: u64,
    /// Longest time parked, in nanoseconds.
    pub parked_ns_max: u64,
}

impl LatchStats {
    /// Shared and exclusive together.
    pub fn total(&self) -> WaitStats {
        let mut total = self.shared;
        total += self.exclusive;
        total
    }
}

/// What the holds of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// Reader-writer latches.
    Latch,
    /// Mutexes.
    Mutex,
}

const SHARDS: usize = 16;

#[repr(align(128))]
#[derive(Debug)]
struct Shard {
    spins: [AtomicU64; 2],
    rounds: [AtomicU64; 2],
    parks: [AtomicU64; 2],
    parked_ns: [AtomicU64; 2],
}

impl Shard {
    #[expect(clippy::declare_interior_mutable_const, reason = "the initial value of each shard")]
    const NEW: Shard = Shard {
        spins: [AtomicU64::new(0), AtomicU64::new(0)],
        rounds: [AtomicU64::new(0), AtomicU64::new(0)],
        parks: [AtomicU64::new(0), AtomicU64::new(0)],
        parked_ns: [AtomicU64::new(0), AtomicU64::new(0)],
    };

    fn read(&self, side: usize) -> WaitStats {
        let load = |counters: &[AtomicU64; 2]| counters[side].load(Ordering::Relaxed);
        WaitStats {
            spins: load(&self.spins),
            rounds: load(&self.rounds),
            parks: load(&self.parks),
            parked_ns: load(&self.parked_ns),
        }
    }
}

/// Latches or mutexes of one purpose, and how contended they are. Make it a `static`.
#[derive(Debug)]
pub struct LatchClass {
    name: &'static str,
    kind: ClassKind,
    listed: AtomicBool,
    parked_ns_min: AtomicU64,
    parked_ns_max: AtomicU64,
    /// A bit for each shard that has counted something: who looks reads no others.
    used: AtomicU32,
    shards: [Shard; SHARDS],
}

impl LatchClass {
    /// A class of reader-writer latches.
    pub const fn new(name: &'static str) -> Self {
        Self::of(name, ClassKind::Latch)
    }

    /// A class of mutexes.
    pub const fn mutexes(name: &'static str) -> Self {
        Self::of(name, ClassKind::Mutex)
    }

    const fn of(name: &'static str, kind: ClassKind) -> Self {
        LatchClass {
            name,
            kind,
            listed: AtomicBool::new(false),
            parked_ns_min: AtomicU64::new(u64::MAX),
            parked_ns_max: AtomicU64::new(0),
            used: AtomicU32::new(0),
            shards: [Shard::NEW; SHARDS],
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Latches or mutexes.
    pub fn kind(&self) -> ClassKind {
        self.kind
    }

    /// What it has seen so far. Sums of counters that go on counting: each is right for some moment of the
    /// call.
    pub fn stats(&self) -> LatchStats {
        let mut stats = LatchStats::default();
        let mut used = self.used.load(Ordering::Relaxed);
        while used != 0 {
            let shard = &self.shards[used.trailing_zeros() as usize % SHARDS];
            used &= used - 1;
            stats.shared += shard.read(0);
            stats.exclusive += shard.read(1);
        }
        stats.parked_ns_max = self.parked_ns_max.load(Ordering::Relaxed);
        if stats.parked_ns_max > 0 {
            stats.parked_ns_min = self.parked_ns_min.load(Ordering::Relaxed);
        }
        stats
    }

    /// The shard of this thread, to count in.
    fn shard(&self) -> &Shard {
        let number = thread_number() as usize % SHARDS;
        if self.used.load(Ordering::Relaxed) & 1 << number == 0 {
            self.used.fetch_or(1 << number, Ordering::Relaxed);
        }
        &self.shards[number]
    }

    /// Counts a wait with this many looks.
    pub(crate) fn count_spin(&'static self, wanted: Wanted, rounds: u64) {
        let (shard, side) = (self.shard(), usize::from(wanted != Wanted::Shared));
        shard.spins[side].fetch_add(1, Ordering::Relaxed);
        shard.rounds[side].fetch_add(rounds, Ordering::Relaxed);
    }

    /// The thread is about to sleep; it sleeps until the result is dropped.
    pub(crate) fn park(&'static self, wanted: Wanted, place: &'static Location<'static>) -> Parked {
        RESERVATIONS.fetch_add(1, Ordering::Relaxed);
        let since = Instant::now();
        let now = WaitingNow { thread: thread_number(), class: self.name, wanted, place, since };
        Parked { class: self, wanted, since, slot: take_slot(now) }
    }

    fn count_park(&self, wanted: Wanted, parked: Duration) {
        let ns = u64::try_from(parked.as_nanos()).unwrap_or(u64::MAX).max(1);
        let (shard, side) = (self.shard(), usize::from(wanted != Wanted::Shared));
        shard.parks[side].fetch_add(1, Ordering::Relaxed);
        shard.parked_ns[side].fetch_add(ns, Ordering::Relaxed);
        if ns > self.parked_ns_max.load(Ordering::Relaxed) {
            self.parked_ns_max.fetch_max(ns, Ordering::Relaxed);
        }
        if ns < self.parked_ns_min.load(Ordering::Relaxed) {
            self.parked_ns_min.fetch_min(ns, Ordering::Relaxed);
        }
    }

    /// Puts the class on the list of all classes, once. Whoever makes a latch or mutex of the class does
    /// this.
    pub(crate) fn list(&'static self) {
        if !self.listed.load(Ordering::Relaxed) && !self.listed.swap(true, Ordering::Relaxed) {
            CLASSES.lock().push(self);
        }
    }
}

/// All classes of which there is, or was, a latch or mutex. Not part of any protocol, so no model needs to
/// see it.
static CLASSES: parking_lot::Mutex<Vec<&'static LatchClass>> = parking_lot::Mutex::new(Vec::new());

/// Every class of which there was ever a latch or mutex in this process, by name.
pub fn classes() -> Vec<&'static LatchClass> {
    let mut classes = CLASSES.lock().clone();
    classes.sort_by_key(|class| class.name);
    classes
}

/// Name and counters of every class, by name.
pub fn latch_classes() -> Vec<(&'static str, LatchStats)> {
    classes().into_iter().map(|class| (class.name, class.stats())).collect()
}

static RESERVATIONS: AtomicU64 = AtomicU64::new(0);
static SIGNALS: AtomicU64 = AtomicU64::new(0);

/// Parks begun and ended, of all classes: the reservation and signal counts of the wait array.
pub fn wait_array() -> (u64, u64) {
    // Signals first: there are never more of them than reservations.
    let signals = SIGNALS.load(Ordering::Relaxed);
    (RESERVATIONS.load(Ordering::Relaxed), signals)
}

static NEXT_THREAD: AtomicU32 = AtomicU32::new(1);

thread_local! {
    static THREAD: u32 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
}

/// A small number of this thread.
pub fn thread_number() -> u32 {
    THREAD.try_with(|number| *number).unwrap_or(0)
}

/// A thread that is parked at a latch or mutex.
#[derive(Clone, Copy, Debug)]
pub struct WaitingNow {
    /// Its number ([`thread_number`]).
    pub thread: u32,
    /// Class of what it waits for.
    pub class: &'static str,
    /// The hold it waits for.
    pub wanted: Wanted,
    /// Where in the program.
    pub place: &'static Location<'static>,
    /// Since when.
    pub since: Instant,
}

/// Threads shown at once; who finds no slot is counted all the same.
const WAIT_SLOTS: usize = 64;

static WAITING: [parking_lot::Mutex<Option<WaitingNow>>; WAIT_SLOTS] =
    [const { parking_lot::Mutex::new(None) }; WAIT_SLOTS];

/// Nobody ever waits for a slot: an occupied one, or one being looked at, is passed by.
fn take_slot(now: WaitingNow) -> Option<usize> {
    (0..WAIT_SLOTS).map(|step| (now.thread as usize + step) % WAIT_SLOTS).find(|slot| {
        match WAITING[*slot].try_lock() {
            Some(mut slot) if slot.is_none() => slot.replace(now).is_none(),
            _ => false,
        }
    })
}

/// Threads parked at this moment, longest first; at most 64 of them.
pub fn waiting_now() -> Vec<WaitingNow> {
    let mut waiting: Vec<WaitingNow> = WAITING.iter().filter_map(|slot| *slot.lock()).collect();
    waiting.sort_by_key(|one| one.since);
    waiting
}

/// A thread is parked, until dropped: counts the time.
#[must_use]
pub(crate) struct Parked {
    class: &'static LatchClass,
    wanted: Wanted,
    since: Instant,
    slot: Option<usize>,
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.class.count_park(self.wanted, self.since.elapsed());
        if let Some(slot) = self.slot {
            *WAITING[slot].lock() = None;
        }
        SIGNALS.fetch_add(1, Ordering::Relaxed);
    }
}
