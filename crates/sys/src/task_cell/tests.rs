//! The task cell by hand, and under loom: no condition goes unseen, no future is in two hands, none is
//! kept after the end.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

#[cfg(not(any(loom, shuttle)))]
#[test]
fn a_future_is_in_one_hand_and_who_missed_it_is_told() {
    let task_cell = TaskCell::new_queued();
    assert!(!task_cell.queue() && !task_cell.queue_here() && task_cell.is_queued());
    assert_eq!(task_cell.put_back(7), Ok(false));
    let work = task_cell.take().unwrap();
    task_cell.unqueue();
    assert!(task_cell.queue() && !task_cell.queue());
    assert_eq!(task_cell.take(), None, "another has it");
    assert_eq!(task_cell.put_back(work), Ok(true), "and is told");
    let work = task_cell.take().unwrap();
    assert_eq!(task_cell.put_back(work), Ok(false), "once");
    let work = task_cell.take().unwrap();
    assert_eq!(task_cell.close(), None);
    assert_eq!(task_cell.put_back(work), Err(7), "too late");
    assert_eq!(task_cell.take(), None);
}

#[cfg(loom)]
mod loom_models {
    use super::*;
    use crate::sync::atomic::AtomicUsize;
    use crate::sync::{Arc, Condvar, thread, wait_on};
    use loom::cell::Cell;

    /// A task that ends when it has seen all its conditions, and the list of its home.
    struct Home {
        task_cell: TaskCell<Future>,
        /// Conditions that hold. Relaxed: only the cell makes them visible to the poll.
        conditions: Vec<AtomicUsize>,
        list: Mutex<Vec<()>>,
        came: Condvar,
    }

    /// Loom reports it if two threads touch it without an order between them.
    struct Future {
        polls: Cell<usize>,
        alive: Arc<AtomicUsize>,
    }

    impl Drop for Future {
        fn drop(&mut self) {
            assert_eq!(self.alive.fetch_sub(1, Ordering::Relaxed), 1, "dropped twice");
        }
    }

    impl Home {
        fn new(conditions: usize) -> Arc<Home> {
            let home = Home {
                task_cell: TaskCell::new_queued(),
                conditions: (0..conditions).map(|_| AtomicUsize::new(0)).collect(),
                list: Mutex::default(),
                came: Condvar::new(),
            };
            let future = Future { polls: Cell::new(0), alive: Arc::new(AtomicUsize::new(1)) };
            assert!(home.task_cell.put_back(future).is_ok_and(|missed| !missed));
            home.task_cell.unqueue();
            Arc::new(home)
        }

        fn fulfil(&self, condition: usize) {
            self.conditions[condition].store(1, Ordering::Relaxed);
        }

        fn put_on_list(&self) {
            self.list.lock().push(());
            self.came.notify_one();
        }

        fn wake(&self, condition: usize) {
            self.fulfil(condition);
            if self.task_cell.queue() {
                self.put_on_list();
            }
        }

        /// True: it has seen them all.
        fn poll(&self, future: &Future) -> bool {
            future.polls.set(future.polls.get() + 1);
            self.conditions.iter().all(|condition| condition.load(Ordering::Relaxed) == 1)
        }

        /// The thread that keeps the list; returns when the task has seen everything.
        fn drive(&self) {
            loop {
                let mut list = self.list.lock();
                while list.pop().is_none() {
                    list = wait_on(&self.came, list);
                }
                drop(list);
                while let Some(future) = self.task_cell.take() {
                    self.task_cell.unqueue();
                    if self.poll(&future) {
                        drop(self.task_cell.close());
                        return;
                    }
                    let missed =
                        self.task_cell.put_back(future).unwrap_or_else(|_| panic!("nobody closes it"));
                    if !missed {
                        break;
                    }
                }
            }
        }

        /// What a thread does to whom it was handed: polls it without a list.
        fn host(&self) {
            let Some(future) = self.task_cell.take() else { return };
            self.poll(&future);
            if let Ok(true) = self.task_cell.put_back(future) {
                self.put_on_list();
            }
        }
    }

    /// Two wake up a task; the one that finds it queued leaves its condition to the other's poll.
    #[test]
    fn loom_two_wake_one_task() {
        loom::model(|| {
            let home = Home::new(2);
            let other = home.clone();
            let waking = thread::spawn(move || other.wake(0));
            let other = home.clone();
            let second = thread::spawn(move || other.wake(1));
            home.drive();
            waking.join().unwrap();
            second.join().unwrap();
        });
    }

    /// The thread that keeps the list marks a task because of an event, while another wakes it.
    #[test]
    fn loom_an_event_and_a_wake_up() {
        loom::model(|| {
            let home = Home::new(2);
            let other = home.clone();
            let waking = thread::spawn(move || other.wake(0));
            home.fulfil(1);
            if home.task_cell.queue_here() {
                home.put_on_list();
            }
            home.drive();
            waking.join().unwrap();
        });
    }

    /// The thread that was handed it and its home want it at once, and somebody wakes it.
    #[test]
    fn loom_home_and_host_want_one_task() {
        loom::model(|| {
            let home = Home::new(1);
            let other = home.clone();
            let waking = thread::spawn(move || other.wake(0));
            let other = home.clone();
            let hosting = thread::spawn(move || other.host());
            home.drive();
            waking.join().unwrap();
            hosting.join().unwrap();
        });
    }

    /// It ends while another thread polls it: its future is dropped once, by whoever has it last.
    #[test]
    fn loom_an_end_while_it_is_away() {
        loom::model(|| {
            let home = Home::new(1);
            let future = home.task_cell.take().unwrap();
            let alive = future.alive.clone();
            assert!(home.task_cell.put_back(future).is_ok());
            let threads = [0, 1].map(|_| {
                let other = home.clone();
                thread::spawn(move || other.host())
            });
            drop(home.task_cell.close());
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(alive.load(Ordering::Relaxed), 0, "somebody has kept it");
        });
    }
}
