//! What the kernel tells a group: events of its sockets, and the descriptor that ends its sleep. The only
//! file of the scheduler that makes system calls; the model has another in its place (`events_shuttle.rs`).

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

/// A socket to watch. The session holds its own handle of it.
pub type Socket = Arc<OwnedFd>;
/// An event as the kernel gives it.
pub type Event = epoll::Event;

/// Token of the descriptor that wakes; tasks have their slab index.
const WAKE: u64 = u64::MAX;

/// What an event says.
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
    let token = event.data.u64();
    if token == WAKE {
        return Told::Wake;
    }
    let flags = event.flags;
    let readable = EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
    Told::Socket {
        index: token as u32,
        readable: flags.intersects(readable),
        hung_up: flags.intersects(EventFlags::RDHUP | EventFlags::HUP),
    }
}

/// A group's doorbell.
pub struct WakeFd(OwnedFd);

impl WakeFd {
    /// Ends the group's sleep, or the next one.
    pub fn wake(&self) {
        // The counter of an eventfd only overflows after 2^64 - 2 unread wakes; nothing to handle.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Takes note of it.
    pub fn drain(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}

/// Where a group sleeps and looks.
pub struct Events(OwnedFd);

impl Events {
    /// Events of the descriptor that wakes, and of nothing else yet.
    ///
    /// # Errors
    /// When the kernel refuses an epoll instance or an eventfd.
    pub fn new() -> io::Result<(Events, WakeFd)> {
        let wake_fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &wake_fd, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok((Events(epoll), WakeFd(wake_fd)))
    }

    /// Watches a socket from now on; its state is told once at the beginning, and whenever it changes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn watch(&self, socket: &Socket, index: u32) -> io::Result<()> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.0, &**socket, EventData::new_u64(u64::from(index)), interest)?)
    }

    /// Watches it no longer. The kernel forgets a socket when its last handle closes, but the session may
    /// share it.
    pub fn forget(&self, socket: &Socket) {
        let _ = epoll::delete(&self.0, &**socket);
    }

    /// Takes the events that are there. EINTR is an empty turn.
    pub fn look(&self, events: &mut Vec<Event>) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let _ = epoll::wait(&self.0, spare_capacity(events), Some(&now));
    }

    /// Waits for events.
    pub fn block(&self, events: &mut Vec<Event>) {
        let _ = epoll::wait(&self.0, spare_capacity(events), None);
    }
}
