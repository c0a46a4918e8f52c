//! The loop that drives a group: what is ready is polled, then the turn ends. Only the thread that holds the
//! leader lock is in here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use turnstile_sys::sync::atomic::Ordering;
use turnstile_sys::sync::{MutexGuard, thread};
use turnstile_sys::{aside, due, handoff, relief};

use super::core::{Core, LINGER, TaskSlot};
use super::events::{Event, Told, tell};
use super::group::{Group, Member};
use super::task::{NOBODY, NewTask, TaskWaker, Work, drop_session, next_handed, take_woken};

/// Events taken from the kernel in one turn. A turn answers nobody before its sync: in long ones the clients
/// that were answered last have run dry while the rest is executed, in short ones the sync weighs more.
/// `bench/cell` with flash_sale and 1,024 or 4,096 threads shows what another number does.
const EVENTS_PER_TURN_MAX: usize = 128;
/// Tasks that a thread runs in one turn because they were handed a lock by one of its own.
const HANDED_PER_TURN_MAX: u32 = 128;
/// Polls of one task in a row because somebody wanted it meanwhile.
const AGAIN_MAX: u32 = 3;

/// The leader lock, in the hands of this thread.
type LeaderLock<'g> = MutexGuard<'g, Core>;

impl Group {
    /// Runs the loop until the group ends (true) or the leader lock is lost to another thread (false).
    pub fn drive(&self, core: LeaderLock<'_>) -> bool {
        let mut core = core;
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_PER_TURN_MAX);
        while !self.is_stopping() {
            self.collect(&mut core, &mut events);
            self.open_mail(&mut core);
            core.sort();
            handoff::open(HANDED_PER_TURN_MAX);
            let turned = self.turn(core);
            handoff::open(0);
            let Some(next) = turned else { return false };
            core = next;
            if self.ends_when_empty && self.session_count() == 0 {
                break;
            }
        }
        while core.owes_turn_end {
            core.owes_turn_end = self.host.turn_end();
        }
        let mut mail = self.inbox.mail.lock();
        let new_tasks = std::mem::take(&mut mail.new_tasks);
        drop(mail);
        // Sessions are dropped here, on their own thread, or by the thread that polls them just now.
        drop(new_tasks);
        core.slots.drain(..).flatten().for_each(|slot| slot.handle.close());
        self.roster.lock().clear();
        true
    }

    /// Polls what is ready by priority, then lets the host sync for all of them and polls those whom the sync
    /// woke.
    fn turn<'g>(&'g self, core: LeaderLock<'g>) -> Option<LeaderLock<'g>> {
        let high_ran = !core.high.is_empty();
        let mut core = self.poll_high(core)?;
        let kickup = Duration::from_millis(self.settings.kickup_ms.load(Ordering::Relaxed));
        if core.low_may_run(high_ran, kickup) {
            for _ in 0..core.low.len() {
                let Some(index) = core.low.pop_front() else { break };
                core = self.poll(core, index)?;
            }
        }
        if let Some(index) = core.yielded.pop_front() {
            core = self.poll(core, index)?;
            core.ran_long = true;
        }
        core = self.end_turn(core)?;
        core.take_woken(NOBODY);
        // Woken by others of this turn or by the sync: they have an answer to send, or a lock.
        let Core { ready, high, .. } = &mut *core;
        high.extend(ready.drain(..));
        core = self.poll_high(core)?;
        core.take_woken(NOBODY);
        // Who got a lock may have committed by now, after the sync.
        core.owes_turn_end |= due::settle();
        Some(core)
    }

    fn poll_high<'g>(&'g self, core: LeaderLock<'g>) -> Option<LeaderLock<'g>> {
        let mut core = core;
        for _ in 0..core.high.len() {
            let Some(index) = core.high.pop_front() else { break };
            core = self.poll(core, index)?;
        }
        Some(core)
    }

    /// Looks again and again for a moment, letting others run in between. True: there is something to do.
    fn linger(&self, events: &mut Vec<Event>) -> bool {
        let began = Instant::now();
        loop {
            self.events.look(events);
            if !events.is_empty() || !self.inbox.mail.lock().is_empty() || self.is_stopping() {
                return true;
            }
            if began.elapsed() >= LINGER {
                return false;
            }
            thread::yield_now();
        }
    }

    /// Blocks until there are events or mail.
    fn sleep(&self, events: &mut Vec<Event>) {
        self.inbox.asleep.store(true, Ordering::SeqCst);
        if self.inbox.mail.lock().is_empty() && !self.is_stopping() {
            self.events.block(events);
        }
        self.inbox.asleep.store(false, Ordering::SeqCst);
    }

    /// Waits for events, unless there is something to do already, and marks their tasks ready.
    fn collect(&self, core: &mut Core, events: &mut Vec<Event>) {
        events.clear();
        if !core.is_idle() || core.owes_turn_end {
            if std::mem::take(&mut core.ran_long) {
                // Without it a client that was just answered waits for the kernel's next tick if every
                // processor has a long statement.
                thread::yield_now();
            }
            self.events.look(events);
        } else if !(core.may_linger() && self.linger(events)) {
            let began = Instant::now();
            self.sleep(events);
            core.slept_shortly = began.elapsed() < LINGER;
        }
        core.lone_turns = match events.len() {
            0 => core.lone_turns,
            1 => core.lone_turns.saturating_add(1),
            _ => 0,
        };
        for event in events.iter() {
            let (index, readable, hung_up) = match tell(event) {
                Told::Wake => {
                    self.inbox.wake_fd.drain();
                    continue;
                }
                Told::Socket { index, readable, hung_up } => (index, readable, hung_up),
            };
            if let Some(Some(slot)) = core.slots.get(index as usize) {
                if readable {
                    slot.readiness.note_readable();
                }
                if hung_up {
                    slot.readiness.hang_up();
                }
                if slot.handle.task_cell.queue_here() {
                    core.ready.push(index);
                }
            }
        }
    }

    fn open_mail(&self, core: &mut Core) {
        let mut mail = self.inbox.mail.lock();
        core.ready.append(&mut mail.ready);
        if mail.is_empty() {
            return;
        }
        let (new_tasks, ended) = (std::mem::take(&mut mail.new_tasks), std::mem::take(&mut mail.ended));
        drop(mail);
        for index in ended {
            self.remove_task(core, index);
        }
        for task in new_tasks {
            self.insert_task(core, task);
        }
    }

    fn insert_task(&self, core: &mut Core, task: NewTask) {
        let NewTask { connection, socket, readiness, session } = task;
        let index = core.free.pop().unwrap_or_else(|| {
            core.slots.push(None);
            (core.slots.len() - 1) as u32
        });
        if self.events.watch(&socket, index).is_err() {
            core.free.push(index);
            self.sessions.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let handle = TaskWaker::new(index, self.inbox.clone(), session);
        let member = Member { connection, handle: handle.clone(), readiness: readiness.clone() };
        self.roster.lock().insert(index, member);
        core.slots[index as usize] = Some(TaskSlot { handle, socket, readiness });
        core.ready.push(index);
    }

    /// Frees the place of a session that has ended.
    fn remove_task(&self, core: &mut Core, index: u32) {
        if let Some(slot) = core.slots.get_mut(index as usize).and_then(Option::take) {
            self.events.forget(&slot.socket);
            core.free.push(index);
            self.roster.lock().remove(&index);
            slot.handle.close();
            self.sessions.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Polls one task of this group, and whom it hands a lock. None: the leader lock was lost.
    fn poll<'g>(&'g self, core: LeaderLock<'g>, index: u32) -> Option<LeaderLock<'g>> {
        let Some(Some(slot)) = core.slots.get(index as usize) else { return Some(core) };
        let task = slot.handle.clone();
        let mut core = self.run(core, &task)?;
        while let Some(handed) = next_handed() {
            core = self.run(core, &handed)?;
        }
        Some(core)
    }

    /// Polls a task of this group, or one that was handed a lock, without the leader lock. None: the poll
    /// outlasted the leader lock.
    fn run<'g>(&'g self, core: LeaderLock<'g>, task: &Arc<TaskWaker>) -> Option<LeaderLock<'g>> {
        let mut core = core;
        let at_home = task.inbox.group == self.inbox.group;
        for _ in 0..AGAIN_MAX {
            // Away with another thread, which looks after it.
            let Some(mut work) = task.task_cell.take() else { return Some(core) };
            if at_home {
                task.task_cell.unqueue();
            }
            core.take_woken(if at_home { task.index } else { NOBODY });
            aside::offer(at_home && self.aside.is_some() && core.has_queue());
            let polls = &self.counters.polls;
            polls.store(polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            drop(core);
            let mut context = Context::from_waker(&work.waker);
            relief::begin();
            turnstile_sys::trail!();
            let polled = catch_unwind(AssertUnwindSafe(|| work.session.as_mut().poll(&mut context)));
            if relief::end() {
                self.relieved.fetch_sub(1, Ordering::Relaxed);
            }
            let ended = !matches!(polled, Ok(Poll::Pending));
            let asked = aside::take_request();
            let wanted = if ended {
                drop_session(work);
                task.inbox.report_end(task.index);
                false
            } else if asked {
                self.let_aside(task, work)
            } else {
                task.put_back(work)
            };
            let Some(leader) = self.core.try_lock() else {
                if wanted {
                    task.inbox.send_home(task.index);
                }
                self.leave();
                return None;
            };
            core = leader;
            if !wanted {
                return Some(core);
            }
            if !at_home {
                break;
            }
        }
        task.inbox.send_home(task.index);
        Some(core)
    }

    /// Hands a task that asked for it to the thread aside; true if there is no room, so that it goes on here.
    fn let_aside(&self, task: &Arc<TaskWaker>, work: Work) -> bool {
        let refused = match &self.aside {
            Some(aside) => aside.take_in(task, work),
            None => Some(work),
        };
        refused.is_some_and(|work| {
            task.put_back(work);
            true
        })
    }

    /// Lets the host end the turn, without the leader lock. None: it was lost meanwhile.
    fn end_turn<'g>(&'g self, core: LeaderLock<'g>) -> Option<LeaderLock<'g>> {
        let mut core = core;
        core.take_woken(NOBODY);
        let polls = &self.counters.polls;
        polls.store(polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(core);
        due::settle();
        relief::begin();
        let owes = self.host.turn_end();
        if relief::end() {
            self.relieved.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(mut core) = self.core.try_lock() {
            core.owes_turn_end = owes;
            return Some(core);
        }
        while owes && self.host.turn_end() {}
        self.leave();
        None
    }

    /// The leader lock is lost, and this thread may sleep from here on: nobody else knows what it owes, and
    /// whom it woke.
    fn leave(&self) {
        if due::settle() {
            while self.host.turn_end() {}
        }
        self.mail_woken();
    }

    /// What this thread woke goes through the inbox when it has no leader lock, and the tasks it was to run
    /// go home.
    fn mail_woken(&self) {
        while let Some(handed) = next_handed() {
            handed.inbox.send_home(handed.index);
        }
        let (mut ready, mut yielded) = (Vec::new(), Vec::new());
        take_woken(&mut ready, &mut yielded, NOBODY);
        ready.append(&mut yielded);
        if !ready.is_empty() {
            self.inbox.mail.lock().ready.append(&mut ready);
            self.inbox.wake();
        }
    }
}
