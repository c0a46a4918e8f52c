//! Cycles of two to a thousand transactions through rows, gaps, tables and AUTO_INCREMENT locks in one
//! graph, against a model that knows every edge and nothing of classes. After each wait: who was rolled back
//! lay on a cycle of the model and was the one that had written least in it (of equals the youngest), nobody
//! else was touched, and no cycle is left.

use super::*;
use crate::api::TableLock;
use crate::ids::TableId;
use LockKind::{Gap, InsertIntention, NextKey, Record};
use LockMode::{S, X};
use TableLock::{AutoIncrement, Exclusive, IntentionExclusive, IntentionShared, Shared};
use parking_lot::Mutex as PlainMutex;
use std::collections::{HashMap, HashSet};
use turnstile_sys::rng::Rng;

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Row(LockMode, LockKind),
    Table(TableLock),
}
use What::{Row, Table};

impl What {
    fn on_record(self) -> Option<LockMode> {
        matches!(self, Row(_, Record | NextKey)).then(|| self.mode()).flatten()
    }
    fn on_gap(self) -> Option<LockMode> {
        matches!(self, Row(_, Gap | NextKey)).then(|| self.mode()).flatten()
    }
    fn mode(self) -> Option<LockMode> {
        if let Row(mode, _) = self { Some(mode) } else { None }
    }
    fn must_wait_for(self, other: What) -> bool {
        match (self, other) {
            (Table(one), Table(two)) => !tables_agree(one, two) && !tables_agree(two, one),
            (Row(_, InsertIntention), _) => other.on_gap().is_some(),
            _ => match (self.on_record(), other.on_record()) {
                (Some(one), Some(two)) => one == X || two == X,
                _ => false,
            },
        }
    }
    /// Whether who holds `self` need not ask for `other`.
    fn covers_part(self, other: What) -> (bool, bool) {
        let strong = |own: Option<LockMode>, asked: Option<LockMode>| match (own, asked) {
            (_, None) => true,
            (own, Some(S)) => own.is_some(),
            (own, Some(X)) => own == Some(X),
        };
        match (self, other) {
            (Table(own), Table(asked)) => {
                let covers = own == asked
                    || own == Exclusive
                    || asked == IntentionShared && matches!(own, IntentionExclusive | Shared);
                (covers, covers)
            }
            _ => (strong(self.on_record(), other.on_record()), strong(self.on_gap(), other.on_gap())),
        }
    }
}

fn tables_agree(one: TableLock, two: TableLock) -> bool {
    matches!(
        (one, two),
        (IntentionShared, IntentionShared | IntentionExclusive | Shared | AutoIncrement)
            | (IntentionExclusive, IntentionExclusive | AutoIncrement)
            | (Shared, Shared)
    )
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    txn: usize,
    what: What,
    granted: bool,
}

/// Claims by place, in order of arrival; where each transaction waits.
#[derive(Default)]
struct Model {
    places: HashMap<u32, Vec<Claim>>,
    held: HashMap<usize, HashSet<u32>>,
    waits: HashMap<usize, u32>,
}

impl Model {
    fn converts(claims: &[Claim], claim: &Claim) -> bool {
        claims.iter().any(|own| {
            own.granted
                && own.txn == claim.txn
                && match claim.what {
                    Table(_) => true,
                    Row(_, InsertIntention) => true,
                    Row(..) => own.what.on_record().is_some(),
                }
        })
    }
    fn blockers_of(claims: &[Claim], claim: &Claim, before: usize) -> Vec<usize> {
        let converts = Model::converts(claims, claim);
        let in_the_way = |(position, other): (usize, &Claim)| {
            let ahead = other.granted || !converts && (position < before || Model::converts(claims, other));
            (ahead && other.txn != claim.txn && claim.what.must_wait_for(other.what)).then_some(other.txn)
        };
        claims.iter().enumerate().filter_map(in_the_way).collect()
    }
    /// Everybody this transaction waits for.
    fn edges(&self, txn: usize) -> Vec<usize> {
        let Some(claims) = self.waits.get(&txn).and_then(|place| self.places.get(place)) else {
            return Vec::new();
        };
        let position = claims.iter().position(|claim| claim.txn == txn && !claim.granted).unwrap();
        Model::blockers_of(claims, &claims[position], position)
    }
    fn is_on_cycle(&self, start: usize) -> bool {
        let (mut seen, mut next) = (HashSet::new(), self.edges(start));
        while let Some(txn) = next.pop() {
            if txn == start {
                return true;
            }
            if seen.insert(txn) {
                next.extend(self.edges(txn));
            }
        }
        false
    }
    /// Asks; a claim that must wait is entered only if `wait`.
    fn ask(&mut self, txn: usize, place: u32, what: What, wait: bool) -> Grant {
        let claims = self.places.entry(place).or_default();
        let covered = claims
            .iter()
            .filter(|own| own.granted && own.txn == txn)
            .map(|own| own.what.covers_part(what))
            .fold((false, false), |all, one| (all.0 || one.0, all.1 || one.1));
        if covered == (true, true) && what != Row(X, InsertIntention) {
            return Grant::Held;
        }
        let mut claim = Claim { txn, what, granted: false };
        claim.granted = Model::blockers_of(claims, &claim, claims.len()).is_empty();
        match (claim.granted, what) {
            (true, Row(_, InsertIntention)) => Grant::New,
            (true, _) => {
                claims.push(claim);
                self.held.entry(txn).or_default().insert(place);
                Grant::New
            }
            (false, _) => {
                if wait {
                    claims.push(claim);
                    self.waits.insert(txn, place);
                }
                Grant::Conflict
            }
        }
    }
    /// Ends a wait, not its transaction, and answers who can go now.
    fn leave(&mut self, txn: usize) -> Vec<usize> {
        let place = self.waits.remove(&txn).unwrap();
        self.places.get_mut(&place).unwrap().retain(|claim| claim.granted || claim.txn != txn);
        self.settle(place)
    }
    /// Forgets a transaction and answers who can go now.
    fn end(&mut self, txn: usize) -> Vec<usize> {
        let mut places = self.held.remove(&txn).unwrap_or_default();
        places.extend(self.waits.remove(&txn));
        let mut granted = Vec::new();
        for place in places {
            self.places.get_mut(&place).unwrap().retain(|claim| claim.txn != txn);
            granted.extend(self.settle(place));
        }
        granted
    }
    /// Grants what can be granted in one place, conversions first.
    fn settle(&mut self, place: u32) -> Vec<usize> {
        let claims = self.places.get_mut(&place).unwrap();
        let mut granted = Vec::new();
        loop {
            let can_go = |position: &usize| {
                !claims[*position].granted
                    && Model::blockers_of(claims, &claims[*position], *position).is_empty()
            };
            let mut ready: Vec<usize> = (0..claims.len()).filter(can_go).collect();
            ready.sort_by_key(|&position| !Model::converts(claims, &claims[position]));
            let Some(&position) = ready.first() else { return granted };
            let txn = claims[position].txn;
            match claims[position].what {
                Row(_, InsertIntention) => drop(claims.remove(position)),
                _ => {
                    claims[position].granted = true;
                    self.held.entry(txn).or_default().insert(place);
                }
            }
            self.waits.remove(&txn);
            granted.push(txn);
        }
    }
}

/// How one transaction of a ring holds a place, and how the one before it asks for it.
const LINKS: [(What, What); 12] = [
    (Row(X, Record), Row(X, Record)),
    (Row(X, Record), Row(S, Record)),
    (Row(S, Record), Row(X, NextKey)),
    (Row(X, NextKey), Row(S, NextKey)),
    (Row(X, Gap), Row(X, InsertIntention)),
    (Row(S, Gap), Row(X, InsertIntention)),
    (Row(S, NextKey), Row(X, InsertIntention)),
    (Table(IntentionExclusive), Table(Shared)),
    (Table(Exclusive), Table(IntentionShared)),
    (Table(Shared), Table(IntentionExclusive)),
    (Table(AutoIncrement), Table(AutoIncrement)),
    (Table(AutoIncrement), Table(Exclusive)),
];

/// The lock table beside the model.
struct Stage {
    table: &'static LockTable,
    txns: Vec<&'static Arc<TxnLocks>>,
    waits: Vec<Option<Hand<'static>>>,
    model: Model,
    broken: Arc<PlainMutex<Vec<Arc<DeadlockRecord>>>>,
    victims: Vec<usize>,
    place: String,
}

impl Stage {
    fn new(place: String, undo_records: &[u64], rng: &mut Rng) -> Stage {
        let settings = Settings::default();
        // The model knows first come, first served.
        settings.queues.skips.store(0, Ordering::Relaxed);
        let table: &'static LockTable = Box::leak(Box::new(LockTable::new(Arc::new(settings))));
        let broken: Arc<PlainMutex<Vec<Arc<DeadlockRecord>>>> = Arc::default();
        let sink = broken.clone();
        table.set_deadlock_hook(Box::new(move |record| {
            let (sink, record) = (sink.clone(), record.clone());
            Box::new(move || sink.lock().push(record))
        }));
        let mut ages: Vec<u64> = (0..undo_records.len() as u64).collect();
        (1..ages.len()).for_each(|at| ages.swap(at, rng.below(at as u64 + 1) as usize));
        let begin = |(at, age): (usize, u64)| -> &'static Arc<TxnLocks> {
            // The session's number finds the transaction again in a record.
            let txn = TxnLocks::new(age, at as u64);
            txn.set_undo_records(undo_records[at]);
            Box::leak(Box::new(txn))
        };
        let txns: Vec<_> = ages.into_iter().enumerate().map(begin).collect();
        let waits = txns.iter().map(|_| None).collect();
        Stage { table, txns, waits, model: Model::default(), broken, victims: Vec::new(), place }
    }

    /// Asks the table and the model, which agree; if it must wait, the model takes it to wait as `wait` says.
    fn ask(&mut self, txn: usize, place: u32, what: What, wait: bool) -> Grant {
        let name = place.to_be_bytes();
        let found = match what {
            Row(mode, kind) => self.table.try_acquire(self.txns[txn], row(&name), mode, kind),
            Table(lock) => self.table.try_acquire_table(self.txns[txn], TableId(place), lock),
        };
        assert_eq!(found, self.model.ask(txn, place, what, wait), "{}: {txn} {place} {what:?}", self.place);
        found
    }

    /// Waits if need be, and looks at everything the wait did.
    fn wait(&mut self, txn: usize, place: u32, what: What) {
        if self.ask(txn, place, what, true) != Grant::Conflict {
            return;
        }
        let name = place.to_be_bytes();
        let table = self.table;
        let wait = match what {
            Row(mode, kind) => table.enqueue(self.txns[txn], row(&name), mode, kind, FOR_LONG),
            Table(lock) => table.enqueue_table(self.txns[txn], TableId(place), lock, FOR_LONG),
        };
        self.waits[txn] = Some(Hand { wait: Box::pin(wait), wakes: Arc::default() });
        let records = std::mem::take(&mut *self.broken.lock());
        assert_eq!(records.is_empty(), !self.model.is_on_cycle(txn), "{}: wait of {txn}", self.place);
        let mut ending = Vec::new();
        for record in records {
            let victim = self.judge(&record);
            let granted = self.model.leave(victim);
            granted.iter().for_each(|granted| self.expect(*granted, Outcome::Granted));
            ending.push(victim);
            ending.extend(granted);
        }
        assert!(!self.model.is_on_cycle(txn), "{}: a cycle is left", self.place);
        self.finish(ending);
    }

    fn expect(&mut self, txn: usize, outcome: Outcome) {
        let ended = self.waits[txn].take().unwrap().poll();
        assert_eq!(ended, Some(outcome), "{}: {txn}", self.place);
    }

    /// A deadlock: a cycle of the model, and its lightest member is the victim.
    fn judge(&mut self, record: &DeadlockRecord) -> usize {
        let members: Vec<usize> = record.members.iter().map(|member| member.session as usize).collect();
        for (one, next) in members.iter().zip(members.iter().cycle().skip(1)) {
            assert!(self.model.edges(*one).contains(next), "{}: {one} does not wait for {next}", self.place);
        }
        let order =
            |txn: &usize| (self.txns[*txn].undo_records(), u64::MAX - self.txns[*txn].start_sequence());
        let lightest = *members.iter().min_by_key(|txn| order(txn)).unwrap();
        assert_eq!(members[record.victim], lightest, "{}: {members:?}", self.place);
        self.expect(lightest, Outcome::Victim);
        self.victims.push(lightest);
        lightest
    }

    /// Ends transactions, then everybody whose wait that ends, and so on.
    fn finish(&mut self, mut ending: Vec<usize>) {
        while let Some(txn) = ending.pop() {
            self.table.release_all(self.txns[txn]);
            for granted in self.model.end(txn) {
                self.expect(granted, Outcome::Granted);
                ending.push(granted);
            }
        }
    }

    /// Everybody who does not wait ends; then nobody is left.
    fn curtain(&mut self) -> LockStatistics {
        for txn in 0..self.txns.len() {
            if self.waits[txn].is_none() {
                self.finish(vec![txn]);
            }
        }
        assert!(self.waits.iter().all(Option::is_none), "{}: somebody waits for ever", self.place);
        let statistics = self.table.statistics();
        assert_eq!((statistics.names, statistics.current_waits), (0, 0), "{}", self.place);
        assert_eq!(statistics.deadlocks, self.victims.len() as u64, "{}", self.place);
        statistics
    }
}

/// `size` transactions in a ring of links of all kinds, and `crowd` more that hold something of their own,
/// share what can be shared and wait for members of the ring.
fn run(seed: u64, size: usize, crowd: usize) -> (Vec<usize>, Vec<u64>, LockStatistics) {
    let mut rng = Rng::new(seed);
    let undo_records: Vec<u64> = (0..size + crowd).map(|_| rng.below(4)).collect();
    let mut stage = Stage::new(format!("seed {seed} size {size} crowd {crowd}"), &undo_records, &mut rng);
    let links: Vec<(What, What)> = (0..size).map(|_| LINKS[rng.below(LINKS.len() as u64) as usize]).collect();
    for (at, (held, _)) in links.iter().enumerate() {
        stage.ask(at, at as u32, *held, false);
    }
    for member in size..size + crowd {
        stage.ask(member, member as u32, Row(X, Record), false);
        let place = rng.below(size as u64) as usize;
        stage.ask(member, place as u32, links[place].0, false);
    }
    let mut order: Vec<usize> = (0..size + crowd).collect();
    (1..order.len()).for_each(|at| order.swap(at, rng.below(at as u64 + 1) as usize));
    for txn in order {
        if stage.victims.contains(&txn) || stage.model.held.get(&txn).is_none_or(HashSet::is_empty) {
            continue; // it has ended
        }
        let place = if txn < size { (txn + 1) % size } else { rng.below(size as u64) as usize };
        stage.wait(txn, place as u32, links[place].1);
    }
    let statistics = stage.curtain();
    (stage.victims, undo_records, statistics)
}

#[test]
fn rings_of_all_kinds_of_links() {
    for size in [2, 3, 4, 7, 30, 200, 1000] {
        for seed in 0..if size > 100 { 3 } else { 40 } {
            let (victims, undo_records, statistics) = run(seed, size, 0);
            assert_eq!(victims.len(), 1, "seed {seed} size {size}");
            assert_eq!(undo_records[victims[0]], *undo_records.iter().min().unwrap());
            assert!(
                statistics.edges <= 40 * size as u64,
                "seed {seed} size {size}: {} edges in {} searches",
                statistics.edges,
                statistics.searches
            );
        }
    }
}

#[test]
fn rings_in_a_crowd() {
    let mut several = 0;
    for seed in 0..150 {
        let size = 2 + seed as usize % 12;
        let (victims, ..) = run(seed, size, 2 * size);
        several += usize::from(victims.len() > 1);
    }
    assert!(several > 20, "histories with several deadlocks: {several}");
    run(1, 1000, 1000);
}
