//! The one import seam for primitives that a model checker must be able to replace: real ones in a normal
//! build, loom's under `--cfg loom`, shuttle's under `--cfg shuttle`. The only file that names those crates.
//! `Mutex::lock` gives the guard itself everywhere: a panic while it is held does not poison it (the process
//! is about to end or the session is contained by its worker, and every guarded structure here is restored
//! before anything that can panic).

#[cfg(not(any(loom, shuttle)))]
mod chosen {
    pub use parking_lot::{Condvar, Mutex, MutexGuard};
    pub use std::hint::spin_loop;
    pub use std::sync::{Arc, atomic};
    pub use std::{thread, thread_local};

    /// Releases the mutex, sleeps until notified, takes the mutex again.
    pub fn wait_on<'a, T>(condvar: &Condvar, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(&mut guard);
        guard
    }

    /// As [`wait_on`], until this moment at most.
    pub fn wait_on_until<'a, T>(
        condvar: &Condvar,
        mut guard: MutexGuard<'a, T>,
        until: std::time::Instant,
    ) -> MutexGuard<'a, T> {
        condvar.wait_until(&mut guard, until);
        guard
    }

    /// Whether a thread has ended. A model's says no: its handles cannot be asked.
    pub fn has_ended<T>(thread: &thread::JoinHandle<T>) -> bool {
        thread.is_finished()
    }
}

#[cfg(loom)]
mod chosen {
    pub use loom::hint::spin_loop;
    pub use loom::sync::{Arc, Condvar, MutexGuard, atomic};
    pub use loom::thread;

    /// Loom's macro does not know `const`.
    macro_rules! model_local {
        ($(static $name:ident: $type:ty = const { $init:expr };)+) => {
            $(loom::thread_local! { static $name: $type = $init; })+
        };
    }
    pub(crate) use model_local as thread_local;

    /// Releases the mutex, sleeps until notified, takes the mutex again.
    pub fn wait_on<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(guard).expect("no thread of a model panics while it holds a mutex")
    }

    /// Loom's mutex with the shape of the real one.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A new, free mutex.
        pub fn new(value: T) -> Self {
            Mutex(loom::sync::Mutex::new(value))
        }
        /// Waits for the mutex.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no thread of a model panics while it holds a mutex")
        }
        /// Takes the mutex if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
        /// Whether somebody holds it. The answer is old when it comes, and a model, which could only try,
        /// always says no.
        pub fn is_locked(&self) -> bool {
            false
        }
        /// The value, for who has the mutex to itself.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().expect("no thread of a model panics while it holds a mutex")
        }
    }
}

#[cfg(shuttle)]
mod chosen {
    pub use shuttle::hint::spin_loop;
    pub use shuttle::sync::{Arc, Condvar, MutexGuard, atomic};
    pub use shuttle::{thread, thread_local};

    /// Releases the mutex, sleeps until notified, takes the mutex again.
    pub fn wait_on<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(guard).expect("no thread of a model panics while it holds a mutex")
    }

    /// Shuttle's mutex with the shape of the real one.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A new, free mutex.
        pub fn new(value: T) -> Self {
            Mutex(shuttle::sync::Mutex::new(value))
        }
        /// Waits for the mutex.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no thread of a model panics while it holds a mutex")
        }
        /// Takes the mutex if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
        /// Whether somebody holds it. The answer is old when it comes, and a model, which could only try,
        /// always says no.
        pub fn is_locked(&self) -> bool {
            false
        }
        /// The value, for who has the mutex to itself.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().expect("no thread of a model panics while it holds a mutex")
        }
    }
}

/// As the real one, but for the time: a model has none.
#[cfg(any(loom, shuttle))]
pub fn wait_on_until<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    _until: std::time::Instant,
) -> MutexGuard<'a, T> {
    wait_on(condvar, guard)
}

/// As the real one, but for the answer.
#[cfg(any(loom, shuttle))]
pub fn has_ended<T>(_thread: &thread::JoinHandle<T>) -> bool {
    false
}

/// Puts a thread to sleep, until another ends that. It has a flag of its own: the token of
/// [`std::thread::park`] belongs to whoever polls futures on the thread, and a sleep inside such a poll would
/// swallow the wake-up of the future.
#[derive(Debug, Default)]
pub struct Sleeper {
    roused: Mutex<bool>,
    wake: Condvar,
}

impl Sleeper {
    /// Sleeps until [`Sleeper::rouse`] was called since the last sleep.
    pub fn sleep(&self) {
        let mut roused = self.roused.lock();
        while !std::mem::take(&mut *roused) {
            roused = wait_on(&self.wake, roused);
        }
    }
    /// Ends the sleep, or the next one if there is none now.
    pub fn rouse(&self) {
        *self.roused.lock() = true;
        self.wake.notify_one();
    }
}

pub use chosen::*;
