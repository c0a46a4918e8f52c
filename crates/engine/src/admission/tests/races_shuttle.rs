//! Random schedules over entering, making way, stepping out, sleeping, kills, vanishing clients and changes
//! of the limit. Run with
//! `RUSTFLAGS="--cfg shuttle" cargo test -p turnstile-engine --lib admission::tests::races_shuttle`.

use super::*;
use shuttle::future::block_on;
use shuttle::rand::Rng;
use shuttle::sync::atomic::{AtomicU64 as Counter, Ordering as Order};
use shuttle::thread;

/// A coin that shuttle tosses, so that a schedule replays.
fn flip() -> bool {
    shuttle::rand::thread_rng().gen_bool(0.5)
}

/// A statement of three rows; it may wait for a lock in the middle, vanish while it queues, or be killed by
/// somebody.
fn statement(gate: &Arc<Gate>, inside: &Counter, most: u64, interrupt: &Interrupt) {
    let admission = AdmissionState::new();
    let Some(mut ticket) = gate.ticket(&admission) else { return };
    for row in 0..3 {
        if ticket.is_due() {
            if flip() && row == 0 {
                let mut entering = Box::pin(ticket.come_in(interrupt));
                if poll(&mut entering).is_none() {
                    return;
                }
            } else if block_on(ticket.come_in(interrupt)).is_err() {
                return;
            }
        }
        if interrupt.is_killed() {
            return;
        }
        assert!(inside.fetch_add(1, Order::SeqCst) < most);
        inside.fetch_sub(1, Order::SeqCst);
        ticket.spend(1);
        if flip() {
            ticket.step_out();
        }
    }
}

fn run(limit: u64, delay_us: u64, change: Option<u64>) {
    shuttle::check_random(
        move || {
            let settings = settings(limit, 2);
            settings.thread_sleep_delay_us.store(delay_us, Ordering::Relaxed);
            settings.adaptive_max_sleep_delay_us.store(0, Ordering::Relaxed);
            let gate = Gate::new(settings.clone(), Purpose::Statements);
            let inside = Arc::new(Counter::new(0));
            let most = change.map_or(limit, |_| u64::MAX);
            let victim = Arc::new(Interrupt::new());
            let mut threads: Vec<_> = (0..3)
                .map(|nth| {
                    let (gate, inside) = (gate.clone(), inside.clone());
                    let interrupt = if nth == 0 { victim.clone() } else { Arc::default() };
                    thread::spawn(move || statement(&gate, &inside, most, &interrupt))
                })
                .collect();
            let (victim, changed) = (victim.clone(), gate.clone());
            threads.push(thread::spawn(move || {
                victim.kill_query();
                if let Some(limit) = change {
                    settings.thread_concurrency.store(limit, Ordering::Relaxed);
                    changed.limit_changed();
                }
            }));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(gate.counts(), counts(0, 0), "a slot or a place was lost");
        },
        2_000,
    );
}

#[test]
fn one_slot() {
    run(1, 0, None);
}

#[test]
fn one_slot_and_sleepers() {
    run(1, 1_000, None);
}

#[test]
fn two_slots() {
    run(2, 0, None);
}

#[test]
fn the_limit_goes_away() {
    run(1, 1_000, Some(0));
}

#[test]
fn the_limit_rises() {
    run(1, 0, Some(2));
}
