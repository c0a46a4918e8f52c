//! The table against a naive list: random requests, releases, cancellations; after each step the same
//! transactions hold and wait. The list knows one rule (who conflicts with whom) and no classes, counters or
//! cursors.

use super::*;
use LockKind::{Gap, InsertIntention, NextKey, Record, Successor};
use LockMode::{S, X};
use turnstile_sys::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Claim {
    txn: usize,
    key: usize,
    mode: LockMode,
    kind: LockKind,
    granted: bool,
    /// It was put before others.
    first: bool,
    skipped: u64,
}

impl Claim {
    fn on_record(&self) -> bool {
        matches!(self.kind, Record | Successor | NextKey)
    }
    fn on_gap(&self) -> bool {
        matches!(self.kind, Gap | NextKey)
    }
    fn is_like(&self, other: &Claim) -> bool {
        let kinds = (self.on_record(), self.on_gap()) == (other.on_record(), other.on_gap());
        let modes = self.mode == other.mode || self.kind == InsertIntention;
        self.key == other.key && modes && kinds
    }
    fn must_wait_for(&self, other: &Claim) -> bool {
        self.txn != other.txn
            && self.key == other.key
            && match self.kind {
                Gap => false,
                InsertIntention => other.on_gap(),
                Record | Successor | NextKey => other.on_record() && (self.mode == X || other.mode == X),
            }
    }
}

/// Claims in order of arrival.
#[derive(Default)]
struct Naive {
    claims: Vec<Claim>,
}

impl Naive {
    /// A claim converts if its owner has a granted claim on the same record, or, for an insert, on the gap.
    fn converts(&self, claim: &Claim) -> bool {
        self.claims.iter().any(|own| {
            own.granted
                && own.txn == claim.txn
                && own.key == claim.key
                && (own.on_record() || claim.kind == InsertIntention && own.on_gap())
        })
    }
    /// Owners of everything that keeps this claim, at this position, from being granted.
    fn blockers(&self, claim: &Claim, before: usize) -> impl Iterator<Item = usize> {
        let converts = self.converts(claim);
        self.claims.iter().enumerate().filter_map(move |(position, other)| {
            let ahead = other.granted || !converts && (position < before || self.converts(other));
            (ahead && claim.must_wait_for(other)).then_some(other.txn)
        })
    }
    fn is_blocked(&self, claim: &Claim, before: usize) -> bool {
        self.blockers(claim, before).next().is_some()
    }
    /// Whether following all edges from this transaction leads back to it.
    fn is_on_cycle(&self, start: usize) -> bool {
        let mut seen = Vec::new();
        let mut next = vec![start];
        while let Some(txn) = next.pop() {
            for (position, claim) in self.claims.iter().enumerate() {
                if claim.txn == txn && !claim.granted {
                    for blocker in self.blockers(claim, position) {
                        if blocker == start {
                            return true;
                        }
                        if !seen.contains(&blocker) {
                            seen.push(blocker);
                            next.push(blocker);
                        }
                    }
                }
            }
        }
        false
    }
    /// Who holds what somebody waits for is marked.
    fn check_marks(&self, current: &[&'static Arc<TxnLocks>], place: &str) {
        for claim in self.claims.iter().filter(|claim| !claim.granted) {
            let holders = self.claims.iter().filter(|other| other.granted && claim.must_wait_for(other));
            for holder in holders {
                assert!(current[holder.txn].is_waited_for(), "{place}: {holder:?} is not marked");
            }
        }
    }
    /// While somebody is on a cycle, somebody on a cycle gives way at the next look.
    fn check_who_gives_way(&self, table: &LockTable, current: &[&'static Arc<TxnLocks>], place: &str) {
        let on_cycle: Vec<usize> = (0..current.len()).filter(|txn| self.is_on_cycle(*txn)).collect();
        let gives_way = |txn: &usize| {
            let wait = current[*txn].inner.lock().wait.clone();
            let goes = |waiter: &Arc<crate::lock::wait::Waiter>| waiter.gives_way(&table.shard(waiter.shard));
            current[*txn].is_waited_for() && wait.as_ref().is_some_and(goes)
        };
        assert!(on_cycle.is_empty() || on_cycle.iter().any(gives_way), "{place}: {on_cycle:?} for ever");
    }
    fn covered(&self, claim: &Claim) -> bool {
        let own = |record: bool, mode: LockMode| {
            self.claims.iter().any(|own| {
                own.granted
                    && own.txn == claim.txn
                    && own.key == claim.key
                    && (if record { own.on_record() } else { own.on_gap() })
                    && (own.mode == X || mode == S)
            })
        };
        claim.kind != InsertIntention
            && (!claim.on_record() || own(true, claim.mode))
            && (!claim.on_gap() || own(false, claim.mode))
    }
    /// Where the claim of one that others wait for stands, if `skips` let it go before somebody.
    fn place(&mut self, claim: &Claim, skips: u64) -> Option<usize> {
        let converts = |other: &Claim| self.converts(other);
        if self.converts(claim) {
            return None;
        }
        let waits =
            |other: &Claim| !other.granted && !other.first && claim.is_like(other) && !converts(other);
        let oldest = self.claims.iter().position(waits)?;
        let skipped = &mut self.claims[oldest].skipped;
        (*skipped < skips).then(|| {
            *skipped += 1;
            oldest
        })
    }
    fn request(&mut self, mut claim: Claim, skips: u64) -> Grant {
        if self.covered(&claim) {
            return Grant::Held;
        }
        claim.granted = !self.is_blocked(&claim, self.claims.len());
        let acquire = if claim.granted { Grant::New } else { Grant::Conflict };
        if !(claim.granted && claim.kind == InsertIntention) {
            let place = if claim.granted { None } else { self.place(&claim, skips) };
            claim.first = place.is_some();
            self.claims.insert(place.unwrap_or(self.claims.len()), claim);
        }
        acquire
    }
    /// Grants until nothing more can be granted, conversions first; answers who was.
    fn settle(&mut self) -> Vec<usize> {
        let mut granted = Vec::new();
        let can_go = |naive: &Self, position: usize| {
            !naive.claims[position].granted && !naive.is_blocked(&naive.claims[position], position)
        };
        loop {
            let mut ready: Vec<usize> =
                (0..self.claims.len()).filter(|&position| can_go(self, position)).collect();
            ready.sort_by_key(|&position| !self.converts(&self.claims[position]));
            let Some(&position) = ready.first() else { break };
            granted.push(self.claims[position].txn);
            match self.claims[position].kind {
                InsertIntention => drop(self.claims.remove(position)),
                _ => self.claims[position].granted = true,
            }
        }
        granted
    }
}

const KEYS: [&[u8]; 3] = [b"a", b"bb", b"a key that is longer than sixteen bytes"];

/// One history. With `detect`, every wait is followed by a look at all edges of the naive graph: victims lay
/// on a cycle, and no cycle is left. Answers the number of victims.
fn run(seed: u64, detect: bool) -> usize {
    let mut victims_total = 0;
    let mut rng = Rng::new(seed);
    let settings = Settings::default();
    settings.deadlock_detect.store(detect, Ordering::Relaxed);
    // Nobody looks at the clock, so whoever is woken has its lock.
    settings.queues.blind_wait_ms.store(0, Ordering::Relaxed);
    let skips = seed % 4;
    settings.queues.skips.store(skips, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let transactions = 2 + rng.below(6) as usize;
    let kinds = [Record, Gap, NextKey, InsertIntention];
    let weights: Vec<u64> = (0..4).map(|_| rng.below(4)).collect();
    let mut naive = Naive::default();
    let mut sequence = 0;
    let mut fresh = || {
        sequence += 1;
        keep(TxnLocks::new(sequence, 0))
    };
    let mut current: Vec<_> = (0..transactions).map(|_| fresh()).collect();
    let mut waits: Vec<Option<Hand<'_>>> = (0..transactions).map(|_| None).collect();
    for step in 0..400 {
        let n = rng.below(transactions as u64) as usize;
        let place = format!("seed {seed} step {step} transaction {n}");
        let finish = rng.chance(0.15);
        if finish {
            if waits[n].take().is_some() {
                naive.claims.retain(|claim| claim.granted || claim.txn != n);
                expect_granted(&mut naive, &mut waits, &place);
            }
            table.release_all(current[n]);
            naive.claims.retain(|claim| claim.txn != n);
            current[n] = fresh();
            expect_granted(&mut naive, &mut waits, &place);
        } else if waits[n].is_none() {
            let key = rng.below(KEYS.len() as u64) as usize;
            let mode = if rng.chance(0.5) { S } else { X };
            let kind = rng.below(4) as usize;
            if rng.below(4) >= weights[kind] {
                continue;
            }
            let kind = kinds[kind];
            let claim = Claim { txn: n, key, mode, kind, granted: false, first: false, skipped: 0 };
            let expected = naive.request(claim, if current[n].is_waited_for() { skips } else { 0 });
            assert_eq!(
                table.try_acquire(current[n], row(KEYS[key]), mode, kind),
                expected,
                "{place} {claim:?}"
            );
            if expected == Grant::Conflict {
                let wait = table.enqueue(current[n], row(KEYS[key]), mode, kind, FOR_LONG);
                waits[n] = Some(Hand { wait: Box::pin(wait), wakes: Arc::default() });
                let victims = settle_victims(&mut naive, &mut waits, &place);
                victims_total += victims.len();
                for victim in victims {
                    table.release_all(current[victim]);
                    naive.claims.retain(|claim| claim.txn != victim);
                    current[victim] = fresh();
                    expect_granted(&mut naive, &mut waits, &place);
                }
                naive.check_marks(&current, &place);
                if !detect {
                    naive.check_who_gives_way(&table, &current, &place);
                }
                assert!(
                    !detect || (0..transactions).all(|txn| !naive.is_on_cycle(txn)),
                    "{place}: cycle left"
                );
            }
        }
    }
    waits.iter_mut().for_each(|wait| *wait = None);
    current.iter().for_each(|txn| table.release_all(txn));
    let statistics = table.statistics();
    assert_eq!((statistics.names, statistics.current_waits), (0, 0), "seed {seed}");
    assert_eq!(statistics.created, statistics.removed, "seed {seed}");
    assert_eq!(statistics.tables_created, statistics.tables_removed, "seed {seed}");
    victims_total
}

/// After a wait began: who was chosen, checked against the naive graph; who could go because the chosen left
/// the queues.
fn settle_victims(naive: &mut Naive, waits: &mut [Option<Hand<'_>>], place: &str) -> Vec<usize> {
    let mut victims = Vec::new();
    let mut granted = Vec::new();
    for (n, wait) in waits.iter_mut().enumerate() {
        match wait.as_mut().and_then(Hand::poll) {
            None => continue,
            Some(Outcome::Victim) => victims.push(n),
            Some(outcome) => {
                assert_eq!(outcome, Outcome::Granted, "{place}");
                granted.push(n);
            }
        }
        *wait = None;
    }
    assert!(victims.iter().all(|&victim| naive.is_on_cycle(victim)), "{place}: victims {victims:?}");
    naive.claims.retain(|claim| claim.granted || !victims.contains(&claim.txn));
    let mut expected = naive.settle();
    expected.sort_unstable();
    assert_eq!(granted, expected, "{place}");
    victims
}

fn expect_granted(naive: &mut Naive, waits: &mut [Option<Hand<'_>>], place: &str) {
    let mut expected = naive.settle();
    expected.sort_unstable();
    let mut granted = Vec::new();
    for (n, wait) in waits.iter_mut().enumerate() {
        if let Some(hand) = wait
            && let Some(outcome) = hand.poll()
        {
            assert_eq!((outcome, hand.wakes()), (Outcome::Granted, 1), "{place}");
            granted.push(n);
            *wait = None;
        }
    }
    assert_eq!(granted, expected, "{place}");
}

/// Keeps what a wait borrows until the test process ends.
fn keep(locks: Arc<TxnLocks>) -> &'static Arc<TxnLocks> {
    Box::leak(Box::new(locks))
}

#[test]
fn against_a_naive_list() {
    for seed in 0..300 {
        run(seed, false);
    }
}

#[test]
fn against_a_naive_graph() {
    let victims: usize = (0..300).map(|seed| run(seed, true)).sum();
    assert!(victims > 300, "the histories are full of deadlocks: {victims}");
}
