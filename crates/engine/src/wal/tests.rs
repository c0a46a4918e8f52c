//! The log over disks real and faulty: what was flushed is read back, in order, whole.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use std::sync::atomic::AtomicUsize;
use std::task::{Wake, Waker};
use turnstile_sys::disk::RealDisk;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};
use turnstile_sys::relief;
use turnstile_sys::rng::Rng;

/// Small enough that a test goes round the ring several times.
const SMALL: u64 = 8 * 8 * 1024;

/// A directory of its own that goes when it is dropped.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        Directory(std::env::temp_dir().join(format!("turnstile-wal-{name}-{}", std::process::id())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn bodies(wal: &Wal) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    wal.scan(wal.checkpoint_lsn(), |_, _, body| {
        found.push(body.to_vec());
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn a_real_log_is_read_back() {
    let directory = Directory::new("real");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(&directory.0).unwrap());
    let wal = Wal::create(Arc::clone(&disk), 0).unwrap();
    assert_eq!(wal.append(b""), (FIRST_LSN, FIRST_LSN));
    for nth in 0..100u8 {
        let (start, end) = wal.append(&vec![nth; 1 + 37 * usize::from(nth)]);
        assert!(start < end && wal.current_lsn() == end);
        wal.flush_to(end).unwrap();
        assert!(wal.flushed_lsn() >= end);
    }
    drop(wal);
    let wal = Wal::open(Arc::clone(&disk), 0).unwrap();
    let found = bodies(&wal);
    assert_eq!(found.len(), 100);
    assert!(found.iter().enumerate().all(|(nth, body)| *body == vec![nth as u8; 1 + 37 * nth]));
}

fn shared(disk: &FaultDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// A group that says which one it is.
fn body(rng: &mut Rng, serial: u64) -> Vec<u8> {
    let most = if rng.chance(0.1) { 3000 } else { 200 };
    let mut body = vec![0; 8 + rng.index(most)];
    rng.fill(&mut body[8..]);
    body[..8].copy_from_slice(&serial.to_le_bytes());
    body
}

/// What the model knows of one appended group.
struct Appended {
    start: Lsn,
    end: Lsn,
    body: Vec<u8>,
}

/// The log beside its specification: a list of groups of which a known beginning must survive.
struct Model {
    seed: u64,
    rng: Rng,
    disk: FaultDisk,
    /// Groups from some checkpoint on.
    groups: Vec<Appended>,
    acknowledged: Lsn,
    checkpoint: Lsn,
    /// Differs from the checkpoint if setting it failed: then either may be found.
    wanted_checkpoint: Lsn,
    serial: u64,
    skip_syncs: bool,
}

impl Model {
    fn new(seed: u64) -> (Self, Arc<Wal>) {
        let disk = FaultDisk::new(seed);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        let model = Model {
            seed,
            rng: Rng::new(seed ^ 0x5eed),
            disk,
            groups: Vec::new(),
            acknowledged: FIRST_LSN,
            checkpoint: FIRST_LSN,
            wanted_checkpoint: FIRST_LSN,
            serial: 0,
            skip_syncs: false,
        };
        (model, wal)
    }

    /// Some random steps, or fewer if one fails.
    fn steps(&mut self, wal: &Wal) -> Result<()> {
        for _ in 0..self.rng.index(60) {
            match self.rng.index(10) {
                0..=5 if wal.try_reserve()? => {
                    self.serial += 1;
                    let body = body(&mut self.rng, self.serial);
                    let (start, end) = wal.append(&body);
                    self.groups.push(Appended { start, end, body });
                }
                6 => wal.write_to(self.boundary())?,
                7 | 8 => {
                    let lsn = self.boundary();
                    wal.flush_to(lsn)?;
                    self.acknowledged = self.acknowledged.max(lsn);
                }
                _ => {
                    let lsn = if self.rng.chance(0.3) { wal.current_lsn() } else { self.boundary() };
                    self.wanted_checkpoint = self.checkpoint.max(lsn);
                    wal.set_checkpoint(lsn)?;
                    self.checkpoint = self.wanted_checkpoint;
                    self.acknowledged = self.acknowledged.max(lsn);
                }
            }
        }
        Ok(())
    }

    fn boundary(&mut self) -> Lsn {
        match self.groups.len() {
            0 => self.checkpoint,
            some => self.groups[self.rng.index(some)].end,
        }
    }

    /// Crashes, opens again, and compares; what is wrong, if anything.
    fn crash_and_check(&mut self) -> std::result::Result<Arc<Wal>, String> {
        self.disk = if self.rng.chance(0.2) { self.disk.kill() } else { self.disk.crash() };
        let wal = Wal::open_sized(shared(&self.disk), SMALL).map_err(|e| e.to_string())?;
        if wal.checkpoint_lsn() == self.wanted_checkpoint {
            self.checkpoint = self.wanted_checkpoint;
        }
        self.wanted_checkpoint = self.checkpoint;
        if wal.checkpoint_lsn() != self.checkpoint {
            return Err(format!("checkpoint {} for {}", wal.checkpoint_lsn(), self.checkpoint));
        }
        let mut found = Vec::new();
        let read = wal.scan(self.checkpoint, |start, end, body| {
            found.push(Appended { start, end, body: body.to_vec() });
            Ok(())
        });
        read.map_err(|e| e.to_string())?;
        let expected = self.groups.iter().filter(|group| group.start >= self.checkpoint);
        for (mine, its) in expected.zip(&found) {
            if (mine.start, mine.end, &mine.body) != (its.start, its.end, &its.body) {
                return Err(format!("group at {} differs", mine.start));
            }
        }
        // A mark may stand behind the last group.
        if wal.current_lsn() < self.acknowledged {
            return Err(format!("ends at {}, acknowledged was {}", wal.current_lsn(), self.acknowledged));
        }
        if let Some(its) = found.last()
            && self.groups.last().is_none_or(|mine| mine.end < its.end)
        {
            return Err(format!(
                "a group was read at {} that this life and the last one did not have",
                its.start
            ));
        }
        self.groups = found;
        self.acknowledged = wal.flushed_lsn();
        if self.skip_syncs {
            self.plant();
        }
        Ok(wal)
    }

    fn plant(&mut self) {
        self.skip_syncs = true;
        self.disk.skip_sync_of("redo.0");
    }

    fn run(mut self, mut wal: Arc<Wal>, crashes: usize) -> std::result::Result<(), String> {
        for life in 0..crashes {
            let fails = self.rng.chance(0.4);
            if fails {
                let (nth, lasting) = (1 + self.rng.below(30), self.rng.chance(0.5));
                let plant = if lasting { FaultDisk::fail_from } else { FaultDisk::fail_at };
                plant(&self.disk, nth, FaultKind::InputOutput);
            }
            let stepped = self.steps(&wal);
            assert!(fails || stepped.is_ok(), "seed {}: {stepped:?}", self.seed);
            wal = self.crash_and_check().map_err(|what| format!("seed {} life {life}: {what}", self.seed))?;
        }
        Ok(())
    }
}

#[test]
fn model_what_was_flushed_survives_every_crash() {
    for seed in 0..60 {
        let (model, wal) = Model::new(seed);
        if let Err(what) = model.run(wal, 12) {
            panic!("{what}");
        }
    }
}

#[test]
fn model_notices_a_skipped_sync() {
    let noticed = (0..30).filter(|seed| {
        let (mut model, wal) = Model::new(*seed);
        model.plant();
        model.run(wal, 12).is_err()
    });
    assert!(noticed.count() > 20);
}

#[test]
fn bytes_of_an_earlier_life_are_not_resurrected() {
    // Groups of equal size, so that a survivor behind the end lies exactly where a new group ends.
    let mut survivors_behind = 0;
    for seed in 0..300u64 {
        let disk = FaultDisk::new(seed);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        for nth in 0..40u8 {
            let (_, end) = wal.append(&[nth; 500]);
            wal.write_to(end).unwrap();
        }
        let disk = disk.crash();
        let wal = Wal::open_sized(shared(&disk), SMALL).unwrap();
        let old = bodies(&wal).len();
        survivors_behind += usize::from(old < 40);
        let (_, end) = wal.append(&[99; 500]);
        wal.flush_to(end).unwrap();
        // Half of the time the checkpoint lies right before a possible survivor.
        if seed % 2 == 0 {
            wal.set_checkpoint(end).unwrap();
        }
        let wal = Wal::open_sized(shared(&disk.crash()), SMALL).unwrap();
        let found = bodies(&wal);
        let expected = if seed % 2 == 0 { 0 } else { old + 1 };
        assert_eq!(found.len(), expected, "seed {seed}");
    }
    assert!(survivors_behind > 50);
}

#[test]
fn damage_before_the_known_end_is_an_error_with_its_place() {
    let mut reported = 0;
    for nth in 0..60u64 {
        let disk = FaultDisk::new(nth);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        for _ in 0..20 {
            let (_, end) = wal.append(&[7; 300]);
            wal.flush_to(end).unwrap();
        }
        let end = wal.flushed_lsn().0;
        let at = FIRST_LSN.0 + nth * (end - FIRST_LSN.0) / 60;
        let name = segments::segment_name((at / (SMALL / 8)) as usize);
        disk.flip_bit(&name, at % (SMALL / 8), nth as u8);
        match Wal::open_sized(shared(&disk.kill()), SMALL) {
            Err(Error::Corrupt { file, offset, .. }) => {
                // The group that holds the bit may begin in the segment before.
                let offset = if file == "redo.000001" { offset } else { offset + SMALL / 8 };
                assert!(offset <= at && at - offset < 400, "{file} {offset} {at}");
                reported += 1;
            }
            Ok(wal) => assert!(wal.current_lsn().0 >= end - 2 * 312, "only the last batch may go unnoticed"),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(reported >= 55, "{reported}");
}

#[derive(Default)]
struct WakeCount(AtomicUsize);

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll(wait: &mut WaitFlushed<'_>, wakes: &Arc<WakeCount>) -> Poll<Result<()>> {
    let waker = Waker::from(Arc::clone(wakes));
    Pin::new(wait).poll(&mut Context::from_waker(&waker))
}

#[test]
fn one_sync_answers_all_who_wait() {
    let disk = FaultDisk::new(1);
    let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
    let wakes = Arc::new(WakeCount::default());
    let mut waits: Vec<_> = (0..50).map(|_| wal.wait_flushed(wal.append(&[1; 30]).1)).collect();
    due::settle();
    assert!(waits.iter_mut().all(|wait| poll(wait, &wakes).is_pending()));
    assert!(due::settle(), "the host of this thread learns that it owes a sync");
    let syncs = disk.counts().syncs;
    assert!(wal.pending_waiters());
    assert!(!wal.flush_waiters(), "nobody else was here");
    assert_eq!((disk.counts().syncs - syncs, wakes.0.load(Ordering::SeqCst)), (1, 50));
    assert!(waits.iter_mut().all(|wait| poll(wait, &wakes) == Poll::Ready(Ok(()))));
    assert!(!wal.pending_waiters());
}

#[test]
fn a_failed_sync_stops_the_log_for_good() {
    for failing in 1..=2 {
        let disk = FaultDisk::new(2);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        let (_, first) = wal.append(b"first");
        wal.flush_to(first).unwrap();
        let wakes = Arc::new(WakeCount::default());
        let (_, lost) = wal.append(b"lost");
        let mut wait = wal.wait_flushed(lost);
        assert!(poll(&mut wait, &wakes).is_pending());
        disk.fail_at(failing, FaultKind::InputOutput);
        assert!(!wal.flush_waiters());
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
        assert!(matches!(poll(&mut wait, &wakes), Poll::Ready(Err(Error::Stopped(_)))));
        let syncs = disk.counts().syncs;
        assert!(wal.flush_to(lost).is_err() && wal.check_running().is_err() && wal.try_reserve().is_err());
        let (start, end) = wal.append(b"after");
        assert!(start == lost && end > start && wal.flush_to(end).is_err());
        assert!(wal.set_checkpoint(first).is_err());
        assert_eq!(disk.counts().syncs, syncs, "never a second sync");
        wal.flush_to(first).unwrap();
    }
}

#[test]
fn the_thread_syncs_for_those_who_wait() {
    let disk = FaultDisk::new(3);
    let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
    let ready = || {
        let (_, end) = wal.append(&[5; 100]);
        let waiting = std::thread::current();
        struct Unpark(std::thread::Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(waiting)));
        let mut wait = wal.wait_flushed(end);
        while Pin::new(&mut wait).poll(&mut Context::from_waker(&waker)).is_pending() {
            std::thread::park();
        }
        assert!(wal.flushed_lsn() >= end && !due::settle(), "the host owes nothing");
    };
    wal.set_drive(Drive::Thread);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| ready()));
        }
    });
    assert!(wal.stats().syncs <= 80 && wal.stats().woken > 0);
}

#[test]
fn threads_share_syncs_and_lose_nothing() {
    let disk = FaultDisk::new(4);
    let wal = Wal::create_sized(shared(&disk), 1 << 20).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            let wal = &wal;
            scope.spawn(move || {
                for nth in 0..200u8 {
                    let (_, end) = wal.append(&[writer, nth]);
                    wal.flush_to(end).unwrap();
                }
            });
        }
    });
    let wal = Wal::open_sized(shared(&disk.crash()), 1 << 20).unwrap();
    let found = bodies(&wal);
    for writer in 0..4u8 {
        let mine: Vec<u8> = found.iter().filter(|body| body[0] == writer).map(|body| body[1]).collect();
        assert_eq!(mine, (0..200).collect::<Vec<u8>>());
    }
}

#[test]
fn a_full_log_makes_newcomers_wait_for_the_checkpoint() {
    let disk = FaultDisk::new(5);
    let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    wal.set_pressure_hook(Box::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    }));
    while wal.try_reserve().unwrap() {
        wal.append(&[0; 400]);
    }
    assert!(asked.load(Ordering::SeqCst) > 1 && wal.age() * 10 > wal.capacity() * 9);
    let wakes = Arc::new(WakeCount::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut reserve = Box::pin(wal.reserve());
    assert!(reserve.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    wal.set_checkpoint(wal.current_lsn()).unwrap();
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
    assert_eq!(reserve.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(())));
}

#[test]
fn an_overrun_stops_instead_of_overwriting() {
    let disk = FaultDisk::new(6);
    let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
    for _ in 0..SMALL / 1000 + 1 {
        wal.append(&[0; 1000]);
    }
    assert!(matches!(wal.flush_to(wal.current_lsn()), Err(Error::Stopped(why)) if why.contains("full")));
}

#[test]
fn modes_decide_what_a_commit_waits_for() {
    let disk = FaultDisk::new(7);
    let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
    let commit = |wal: &Wal| {
        let lsn = wal.append(&[1; 10]).1;
        let mut durable = Box::pin(wal.wait_durable(lsn));
        durable.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };
    assert!(!commit(&wal));
    wal.shared.set_flush_mode(FlushMode::Lazy);
    let before = disk.counts();
    assert!(commit(&wal));
    assert_eq!(disk.counts(), before);
    wal.shared.set_flush_mode(FlushMode::Write);
    assert!(commit(&wal));
    assert!(wal.written_lsn() == wal.current_lsn() && wal.flushed_lsn() < wal.current_lsn());
    assert_eq!(disk.counts().syncs, before.syncs);
    drop(wal);
    assert_eq!(bodies(&Wal::open_sized(shared(&disk.kill()), SMALL).unwrap()).len(), 3);
}

#[test]
fn the_capacity_changes_at_a_clean_open_even_through_crashes() {
    for failing in 1..60 {
        let disk = FaultDisk::new(failing);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        let (_, end) = wal.append(&[1; 700]);
        wal.flush_to(end).unwrap();
        drop(wal);
        let wal = Wal::open_sized(shared(&disk), 2 * SMALL).unwrap();
        assert!(wal.capacity() < SMALL, "there is something to recover");
        wal.set_checkpoint(end).unwrap();
        drop(wal);
        disk.fail_from(failing, FaultKind::InputOutput);
        let failed = Wal::open_sized(shared(&disk), 2 * SMALL).is_err();
        let disk = disk.crash();
        let wal = Wal::open_sized(shared(&disk), 2 * SMALL).unwrap();
        assert!(wal.capacity() > SMALL && wal.current_lsn() == end, "{failing} {failed}");
        let (_, end) = wal.append(&[2; 700]);
        wal.flush_to(end).unwrap();
        let wal = Wal::open_sized(shared(&disk.crash()), 2 * SMALL).unwrap();
        assert_eq!(bodies(&wal), [[2; 700]]);
    }
}

/// `cargo test --release -p turnstile-engine --lib wal::tests::speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn speed_of_append_and_commit() {
    const ROUNDS: u32 = 200_000;
    let directory = Directory::new("speed");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(&directory.0).unwrap());
    let wal = Wal::create(disk, 256 << 20).unwrap();
    let body = [7; 200];
    for threads in [1, 2] {
        wal.set_checkpoint(wal.current_lsn()).unwrap();
        let began = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..ROUNDS).for_each(|_| _ = std::hint::black_box(wal.append(&body))));
            }
        });
        let ns = began.elapsed().as_nanos() / u128::from(ROUNDS * threads);
        println!("append of 200 bytes, {threads} thread(s): {ns} ns of wall time each");
    }
    wal.set_checkpoint(wal.current_lsn()).unwrap();
    for group in [1, 100] {
        let began = std::time::Instant::now();
        for _ in 0..500 {
            (0..group).for_each(|_| _ = wal.append(&body));
            wal.flush_to(wal.current_lsn()).unwrap();
        }
        let us = began.elapsed().as_micros() / 500;
        println!("write and sync of {group} group(s): {us} us");
    }
    println!("{:?}", wal.stats());
}

#[test]
fn arbitrary_bytes_are_refused_without_a_panic() {
    for seed in 0..200 {
        let disk = FaultDisk::new(seed);
        let mut rng = Rng::new(seed);
        let wal = Wal::create_sized(shared(&disk), SMALL).unwrap();
        for _ in 0..rng.index(40) {
            wal.append(&body(&mut rng, 1));
        }
        wal.flush_to(wal.current_lsn()).unwrap();
        drop(wal);
        let names = disk.list().unwrap();
        let name = &names[rng.index(names.len())];
        let file = disk.open(name, false).unwrap();
        for _ in 0..=rng.index(4) {
            let mut bytes = vec![0; rng.index(600)];
            rng.fill(&mut bytes);
            if rng.chance(0.5) && bytes.len() > 30 {
                bytes[..4].copy_from_slice(&(group::MARK_FLAG | 8).to_le_bytes());
            }
            file.write_at(&bytes, rng.below(SMALL / 8 - 600)).unwrap();
        }
        if rng.chance(0.1) {
            file.set_len(rng.below(SMALL / 8)).unwrap();
        }
        match Wal::open_sized(shared(&disk), SMALL) {
            Ok(wal) => drop(bodies(&wal)),
            Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "seed {seed}: {error}"),
        }
    }
}

#[test]
fn a_long_write_is_announced() {
    let asked = std::rc::Rc::new(std::cell::Cell::new(0));
    let noted = asked.clone();
    relief::serve(Some(Box::new(move || {
        noted.set(noted.get() + 1);
        true
    })));
    let wal = Wal::create(shared(&FaultDisk::new(1)), 8 << 20).unwrap();
    let asked_for = |bytes: usize| {
        let ends: Vec<_> = (0..bytes.div_ceil(1000)).map(|_| wal.append(&[1; 1000]).1).collect();
        let end = *ends.last().unwrap();
        asked.set(0);
        relief::begin();
        wal.flush_to(end).unwrap();
        relief::end();
        asked.get()
    };
    assert_eq!((asked_for(100_000), asked_for(2_000_000)), (0, 1));
    relief::serve(None);
}
