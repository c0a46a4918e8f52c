//! One thread that takes a sample each second and hands it to all who watch. It sleeps while nobody does.
//! What needs an account is read once a second for each account that watches, by one session of it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde_json::{Map, Value as Json};
use turnstile_engine::interrupt::Interrupt;
use turnstile_observe::status::Observed;

use crate::account::Owner;
use crate::host::Host;
use crate::samples;
use crate::visitor::{Visitor, in_words};

/// From one sample to the next.
const PERIOD: Duration = Duration::from_secs(1);

/// Somebody who watches: with an account, or without.
type Audience = Option<Owner>;

#[derive(Default)]
struct State {
    stopping: bool,
    /// How many of each watch.
    watching: HashMap<Audience, usize>,
    /// The sample's number, from 1 on.
    number: u64,
    samples: HashMap<Audience, Arc<str>>,
    /// Ends the statement that is being run.
    running: Option<Arc<Interrupt>>,
}

/// The thread, and what it has seen last.
#[derive(Default)]
pub struct Sampler {
    state: Mutex<State>,
    changed: Condvar,
}

/// Somebody's eye on the samples, until it is dropped.
pub struct Watch {
    sampler: Arc<Sampler>,
    audience: Audience,
    seen: u64,
}

impl Sampler {
    /// Starts the thread.
    ///
    /// # Errors
    /// When there is none.
    pub fn start(
        self: &Arc<Self>,
        database: Arc<Observed>,
        host: Arc<dyn Host>,
        stack_bytes: usize,
    ) -> io::Result<JoinHandle<()>> {
        let sampler = self.clone();
        let builder = thread::Builder::new().name("console-sampler".into()).stack_size(stack_bytes);
        builder.spawn(move || sampler.live(&database, &*host))
    }

    /// Begins to watch.
    pub fn watch(self: &Arc<Self>, audience: Audience) -> Watch {
        let mut state = self.state.lock();
        *state.watching.entry(audience.clone()).or_default() += 1;
        self.changed.notify_all();
        // What lies there from when somebody watched last is old.
        Watch { sampler: self.clone(), audience, seen: state.number }
    }

    /// Ends the thread and whoever waits for it.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopping = true;
        state.running.iter().for_each(|interrupt| interrupt.kill_connection());
        self.changed.notify_all();
    }

    fn live(&self, database: &Observed, host: &dyn Host) {
        let mut visitors: HashMap<Owner, Visitor> = HashMap::new();
        let mut waits = None;
        while let Some(audiences) = self.audiences() {
            let next = Instant::now() + PERIOD;
            visitors.retain(|owner, _| audiences.iter().any(|audience| audience.as_ref() == Some(owner)));
            if audiences.is_empty() {
                self.wait_for_somebody();
                waits = None;
                continue;
            }
            let open = samples::open(database, &mut waits);
            let told = |audience: Audience| {
                let sample = match &audience {
                    Some(owner) => self.for_account(host, owner, &mut visitors, open.clone()),
                    None => open.clone(),
                };
                (audience, Arc::from(Json::Object(sample).to_string()))
            };
            let samples = audiences.into_iter().map(told).collect();
            self.publish(samples);
            self.sleep_until(next);
        }
    }

    /// Who watches. None: the thread is to end.
    fn audiences(&self) -> Option<Vec<Audience>> {
        let state = self.state.lock();
        (!state.stopping).then(|| state.watching.keys().cloned().collect())
    }

    fn wait_for_somebody(&self) {
        let mut state = self.state.lock();
        state.samples = HashMap::new();
        while !state.stopping && state.watching.is_empty() {
            self.changed.wait(&mut state);
        }
    }

    fn publish(&self, samples: HashMap<Audience, Arc<str>>) {
        let mut state = self.state.lock();
        state.number += 1;
        state.samples = samples;
        self.changed.notify_all();
    }

    fn sleep_until(&self, next: Instant) {
        let mut state = self.state.lock();
        while !state.stopping && !self.changed.wait_until(&mut state, next).timed_out() {}
    }

    /// A sample with what an account may see.
    fn for_account(
        &self,
        host: &dyn Host,
        owner: &Owner,
        visitors: &mut HashMap<Owner, Visitor>,
        mut sample: Map<String, Json>,
    ) -> Map<String, Json> {
        let visitor = match visitors.get_mut(owner) {
            Some(visitor) => visitor,
            None => match Visitor::enter(host, owner) {
                Ok(visitor) => visitors.entry(owner.clone()).or_insert(visitor),
                Err(error) => {
                    sample.insert("error".into(), in_words(&error).into());
                    return sample;
                }
            },
        };
        if !self.begin(visitor.interrupt()) {
            return sample;
        }
        sample.insert("account".into(), samples::for_account(visitor).into());
        self.state.lock().running = None;
        // Somebody ended it with KILL: the next second has another.
        if visitor.is_killed() {
            visitors.remove(owner);
        }
        sample
    }

    /// Makes a session one that `stop` ends; false if it is too late for it.
    fn begin(&self, interrupt: Arc<Interrupt>) -> bool {
        let mut state = self.state.lock();
        state.running = Some(interrupt);
        !state.stopping
    }
}

impl Watch {
    /// The next sample; None once the console ends.
    pub fn next(&mut self) -> Option<Arc<str>> {
        let mut state = self.sampler.state.lock();
        loop {
            if state.stopping {
                return None;
            }
            if state.number > self.seen
                && let Some(sample) = state.samples.get(&self.audience)
            {
                self.seen = state.number;
                return Some(sample.clone());
            }
            self.sampler.changed.wait(&mut state);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.sampler.state.lock();
        if let Some(count) = state.watching.get_mut(&self.audience) {
            *count -= 1;
            if *count == 0 {
                state.watching.remove(&self.audience);
            }
        }
        self.sampler.changed.notify_all();
    }
}
