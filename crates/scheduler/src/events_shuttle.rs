//! The kernel in the model: the same promises as `events.rs` (edge-triggered, a new socket's state is told
//! once, a wake-up that came before the sleep ends it), made of a mutex and a condition variable that the
//! model's scheduler sees.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use turnstile_sys::sync::{Condvar, Mutex, wait_on};

/// A socket to watch. Its other side is the model's client.
pub type Socket = Arc<Line>;
/// An event.
pub type Event = Option<u32>;

/// What an event says.
#[derive(Clone, Copy)]
pub enum Told {
    /// Somebody wants the group awake.
    Wake,
    /// A socket's state has changed.
    Socket {
        /// Of the task with this place in the slab.
        index: u32,
        /// A read may bring something.
        readable: bool,
        /// The client has closed its side.
        hung_up: bool,
    },
}

/// Reads an event.
pub fn tell(event: &Event) -> Told {
    event.map_or(Told::Wake, |index| Told::Socket { index, readable: true, hung_up: false })
}

#[derive(Default)]
struct Kernel {
    /// A wake-up came and was not drained.
    woken: bool,
    /// Sockets with an event that nobody has taken.
    sockets: Vec<u32>,
}

#[derive(Default)]
struct Shared {
    kernel: Mutex<Kernel>,
    came: Condvar,
}

/// A connection.
#[derive(Default)]
pub struct Line {
    /// Sent and not yet received, in bytes.
    bytes: Mutex<usize>,
    watched: Mutex<Option<(Arc<Shared>, u32)>>,
}

impl Line {
    /// The client sends a byte.
    pub fn send(&self) {
        *self.bytes.lock() += 1;
        self.raise();
    }

    /// The system call of the session.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    pub fn receive(&self, room: usize) -> io::Result<usize> {
        let mut bytes = self.bytes.lock();
        let len = room.min(*bytes);
        *bytes -= len;
        drop(bytes);
        // A system call takes its time to return.
        for _ in 0..thread_rng().gen_range(0..30) {
            thread::yield_now();
        }
        if len == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(len) }
    }

    /// An event. What comes before the group watches is told when it begins to.
    fn raise(&self) {
        if let Some((shared, index)) = &*self.watched.lock() {
            let mut kernel = shared.kernel.lock();
            if !kernel.sockets.contains(index) {
                kernel.sockets.push(*index);
            }
            shared.came.notify_all();
        }
    }
}

/// A group's doorbell.
pub struct WakeFd(Arc<Shared>);

impl WakeFd {
    /// Ends the group's sleep, or the next one.
    pub fn wake(&self) {
        self.0.kernel.lock().woken = true;
        self.0.came.notify_all();
    }

    /// Takes note of it.
    pub fn drain(&self) {
        self.0.kernel.lock().woken = false;
    }
}

/// Where a group sleeps and looks.
pub struct Events(Arc<Shared>);

impl Events {
    /// Events of the descriptor that wakes, and of nothing else yet.
    ///
    /// # Errors
    /// None.
    pub fn new() -> io::Result<(Events, WakeFd)> {
        let shared = Arc::new(Shared::default());
        Ok((Events(shared.clone()), WakeFd(shared)))
    }

    /// Watches a socket from now on; its state is told once at the beginning, and whenever it changes.
    ///
    /// # Errors
    /// None.
    pub fn watch(&self, socket: &Socket, index: u32) -> io::Result<()> {
        *socket.watched.lock() = Some((self.0.clone(), index));
        socket.raise();
        Ok(())
    }

    /// Watches it no longer.
    pub fn forget(&self, socket: &Socket) {
        let watched = socket.watched.lock().take();
        if let Some((shared, index)) = watched {
            shared.kernel.lock().sockets.retain(|other| *other != index);
        }
    }

    /// Takes the events that are there.
    pub fn look(&self, events: &mut Vec<Event>) {
        let mut kernel = self.0.kernel.lock();
        take(&mut kernel, events);
    }

    /// Waits for events.
    pub fn block(&self, events: &mut Vec<Event>) {
        let mut kernel = self.0.kernel.lock();
        while !kernel.woken && kernel.sockets.is_empty() {
            kernel = wait_on(&self.0.came, kernel);
        }
        take(&mut kernel, events);
    }
}

/// A wake-up that is not drained is told again, as epoll does.
fn take(kernel: &mut Kernel, events: &mut Vec<Event>) {
    events.extend(kernel.woken.then_some(None));
    events.extend(kernel.sockets.drain(..).map(Some));
}
