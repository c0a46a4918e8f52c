//! The sleep before joining the queue: off unless `innodb_thread_sleep_delay` is set. A statement that finds
//! the gate full sleeps so long, with a timer and no thread, and only then queues; a slot that becomes free
//! meanwhile is not offered to it.
//!
//! With `innodb_adaptive_max_sleep_delay` the delay follows the load: it halves whenever somebody enters and
//! nobody queues, grows by a quarter whenever somebody joins others in the queue, and is never above that
//! bound.

use super::gate::Gate;
use crate::settings::Settings;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;
use turnstile_sys::park::WaitCell;

/// How long to sleep now. Changed under the gate's mutex only.
#[derive(Debug)]
pub(super) struct NapDelay {
    adapted_us: std::sync::atomic::AtomicU64,
}

impl NapDelay {
    /// The delay that the settings begin with.
    pub fn new(settings: &Settings) -> Self {
        NapDelay { adapted_us: settings.thread_sleep_delay_us.load(Relaxed).into() }
    }

    /// Begins again from the settings: they have changed.
    pub fn reset(&self, settings: &Settings) {
        self.adapted_us.store(settings.thread_sleep_delay_us.load(Relaxed), Relaxed);
    }

    /// The delay; `None` if nobody is to sleep.
    pub fn get(&self, settings: &Settings) -> Option<Duration> {
        let us = match (settings.thread_sleep_delay_us.load(Relaxed), adaptive_max(settings)) {
            (0, _) => 0,
            (fixed, 0) => fixed,
            (_, most) => self.adapted_us.load(Relaxed).min(most),
        };
        (us > 0).then(|| Duration::from_micros(us))
    }

    /// Somebody entered and nobody queues.
    pub fn shrink(&self, settings: &Settings) {
        let us = self.adapted_us.load(Relaxed);
        if us > 0 && adaptive_max(settings) > 0 {
            self.adapted_us.store(us / 2, Relaxed);
        }
    }

    /// Somebody joined others in the queue.
    pub fn grow(&self, settings: &Settings) {
        let most = adaptive_max(settings);
        if most > 0 && settings.thread_sleep_delay_us.load(Relaxed) > 0 {
            let us = self.adapted_us.load(Relaxed);
            self.adapted_us.store((us + us / 4 + 1).min(most), Relaxed);
        }
    }
}

fn adaptive_max(settings: &Settings) -> u64 {
    settings.adaptive_max_sleep_delay_us.load(Relaxed)
}

/// The sleep as a future. It ends with the time or when the gate's settings change; dropping it ends it too.
pub(super) struct Nap {
    gate: Arc<Gate>,
    cell: Arc<WaitCell<()>>,
    alarm: Alarm,
}

impl Nap {
    /// A nap of this length, which `cell` ends before its time.
    pub fn new(gate: Arc<Gate>, cell: Arc<WaitCell<()>>, delay: Duration) -> Self {
        Nap { gate, cell, alarm: Alarm::new(delay) }
    }
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.cell.poll_wait(context).is_ready() {
            return Poll::Ready(());
        }
        self.alarm.poll(context)
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        self.gate.end_nap(&self.cell);
    }
}

/// The clock's part of a nap.
#[cfg(not(shuttle))]
struct Alarm {
    at: std::time::Instant,
    set: Option<(turnstile_sys::timer::TimerGuard, std::task::Waker)>,
}

#[cfg(not(shuttle))]
impl Alarm {
    fn new(delay: Duration) -> Self {
        Alarm { at: std::time::Instant::now() + delay, set: None }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if std::time::Instant::now() >= self.at {
            return Poll::Ready(());
        }
        if !self.set.as_ref().is_some_and(|(_, waker)| waker.will_wake(context.waker())) {
            let waker = context.waker().clone();
            let timer = turnstile_sys::timer::Timer::global();
            self.set = Some((timer.wake_at(self.at, waker.clone()), waker));
        }
        Poll::Pending
    }
}

/// A schedule has no clock: the time is over when the sleeper is next looked at.
#[cfg(shuttle)]
struct Alarm {
    rung: bool,
}

#[cfg(shuttle)]
impl Alarm {
    fn new(_delay: Duration) -> Self {
        Alarm { rung: false }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.rung, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
