//! Group commit under every schedule that shuttle thinks of: the real log with its leader, its waiters and
//! its thread, over a disk in memory.
//! `RUSTFLAGS="--cfg shuttle" cargo test -p turnstile-engine --lib wal::races_shuttle`.
//!
//! Each thread is a worker that commits once or twice: append, wait, and at the end of its turn what the host
//! does there. Afterwards nothing but a wake-up brings it back. So a lost one is a deadlock, which shuttle
//! reports. After a crash every group that was acknowledged must be there.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex as Plain;
use std::task::Poll;

use shuttle::rand::{Rng, thread_rng};
use shuttle::{future, thread};
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::*;

/// Eight small segments, so that a schedule is cheap.
const CAPACITY: u64 = 8 * 8 * 1024;
const WORKERS_MAX: u8 = 3;
const SCHEDULES: usize = 2000;

/// How slow the disk seems to whoever ends a turn.
#[derive(Clone, Copy)]
enum Pace {
    /// Workers sync.
    Fast,
    /// The log's thread syncs.
    Slow,
    /// It changes from turn to turn.
    Mixed,
}

/// Ends a turn, and again as long as others have left their waiters to this thread.
fn end_turns(wal: &Wal, pace: Pace) {
    while end_turn(wal, pace) {}
}

fn end_turn(wal: &Wal, pace: Pace) -> bool {
    let slow = match pace {
        Pace::Fast => false,
        Pace::Slow => true,
        Pace::Mixed => thread_rng().gen_bool(0.5),
    };
    wal.end_turn(slow)
}

/// One commit as a worker does it: the session is polled, the turn ends, and from then on it is polled only
/// when woken.
fn commit(wal: &Wal, body: &[u8], pace: Pace) -> Result<()> {
    let (_, end) = wal.append(body);
    future::block_on(async {
        let mut wait = pin!(wal.wait_flushed(end));
        let mut turn_is_over = false;
        poll_fn(|context| {
            if let Poll::Ready(outcome) = wait.as_mut().poll(context) {
                return Poll::Ready(outcome);
            }
            if !std::mem::replace(&mut turn_is_over, true) {
                end_turns(wal, pace);
            }
            Poll::Pending
        })
        .await
    })
}

/// Commits of all workers, then a crash. The number of acknowledged groups that are gone, and of those that
/// were refused.
fn commits(pace: Pace, prepare: impl Fn(&FaultDisk)) -> (usize, usize) {
    commits_beside(pace, prepare, None)
}

/// As [`commits`], with somebody beside the workers.
fn commits_beside(pace: Pace, prepare: impl Fn(&FaultDisk), beside: Option<fn(&Wal)>) -> (usize, usize) {
    let disk = FaultDisk::new(1);
    let wal = Wal::create_sized(Arc::new(disk.clone()), CAPACITY).unwrap();
    prepare(&disk);
    let acknowledged: Arc<Plain<Vec<Vec<u8>>>> = Arc::default();
    let refused: Arc<Plain<usize>> = Arc::default();
    let count = thread_rng().gen_range(1..=WORKERS_MAX);
    let workers: Vec<_> = (0..count)
        .map(|worker| {
            let (wal, acknowledged, refused) = (wal.clone(), acknowledged.clone(), refused.clone());
            thread::spawn(move || {
                for nth in 0..thread_rng().gen_range(1..=2) {
                    let body = vec![worker * 10 + nth; 20];
                    match commit(&wal, &body, pace) {
                        Ok(()) => acknowledged.lock().unwrap().push(body),
                        Err(_) => *refused.lock().unwrap() += 1,
                    }
                }
            })
        })
        .collect();
    let beside = beside.map(|act| {
        let wal = wal.clone();
        thread::spawn(move || act(&wal))
    });
    // Somebody who needs the log on disk and blocks for it, as the flusher does, and has no turn to come back
    // in.
    for nth in 0..thread_rng().gen_range(0..=4) {
        let (_, end) = wal.append(&[100 + nth; 20]);
        let _ = wal.flush_to(end);
    }
    for worker in workers.into_iter().chain(beside) {
        worker.join().unwrap();
    }
    drop(wal);
    let mut found = Vec::new();
    if let Ok(wal) = Wal::open(Arc::new(disk.crash()), 0) {
        wal.scan(wal.checkpoint_lsn(), |_, _, body| {
            found.push(body.to_vec());
            Ok(())
        })
        .unwrap();
    }
    let acknowledged = acknowledged.lock().unwrap();
    let refused = *refused.lock().unwrap();
    (acknowledged.iter().filter(|body| !found.contains(body)).count(), refused)
}

#[test]
fn every_commit_is_woken_and_there_after_a_crash() {
    for pace in [Pace::Fast, Pace::Slow, Pace::Mixed] {
        shuttle::check_random(move || assert_eq!(commits(pace, |_| ()), (0, 0)), SCHEDULES);
    }
}

#[test]
fn a_failed_disk_refuses_and_nobody_sleeps_on() {
    for pace in [Pace::Fast, Pace::Slow, Pace::Mixed] {
        for nth in 1..6 {
            shuttle::check_random(
                move || {
                    let (lost, _) = commits(pace, |disk| disk.fail_from(nth, FaultKind::InputOutput));
                    assert_eq!(lost, 0);
                },
                SCHEDULES / 10,
            );
        }
    }
}

/// The flusher stops the log when a page cannot be written, at any moment of anybody's turn. Others go on to
/// append. It needs many steps in one of a worker's gaps, which schedules by priority (`check_pct`) give it
/// and random ones hardly ever do.
fn stop_from_outside(wal: &Wal) {
    wal.stop("a page could not be written");
    wal.append(&[7; 20]);
}

#[test]
fn a_stop_from_outside_makes_no_acknowledgement_false() {
    let refused: Arc<Plain<usize>> = Arc::default();
    for pace in [Pace::Fast, Pace::Slow, Pace::Mixed] {
        let sum = refused.clone();
        shuttle::check_pct(
            move || {
                let (lost, refused) = commits_beside(pace, |_| (), Some(stop_from_outside));
                assert_eq!(lost, 0);
                *sum.lock().unwrap() += refused;
            },
            SCHEDULES,
            3,
        );
    }
    assert!(*refused.lock().unwrap() > 0);
}

/// The model can fail: a log that does not sync loses what it acknowledged.
#[test]
fn a_sync_that_does_nothing_is_noticed() {
    let lost: Arc<Plain<usize>> = Arc::default();
    let sum = lost.clone();
    shuttle::check_random(
        move || *sum.lock().unwrap() += commits(Pace::Mixed, |disk| disk.skip_sync_of("redo")).0,
        SCHEDULES / 20,
    );
    assert!(*lost.lock().unwrap() > 0);
}
