//! The clients that are connected, at most so many at once. Where all places are taken, a newcomer gets that
//! of whoever has held one longest without having sent a whole request, or after having been answered: who
//! sends slowly, or nothing, or does not go, holds nobody up.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Clients at once.
pub const CONNECTIONS_MAX: usize = 48;
/// Of these, clients that watch: there are always places for short requests.
pub const STREAMS_MAX: usize = 24;
/// How long a newcomer waits for somebody's place. Whoever was shut out ends at once; the rest is for a
/// machine that has other things to do.
const PLACE_PATIENCE: Duration = Duration::from_millis(500);

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not sent its request yet, or has its answer: nothing is lost with it.
    Idle,
    /// It is answered.
    Answering,
    /// It watches.
    Streaming,
}

#[derive(Default)]
struct Open {
    stopping: bool,
    next: u64,
    clients: BTreeMap<u64, (Arc<TcpStream>, Phase)>,
}

impl Open {
    fn streams(&self) -> usize {
        self.clients.values().filter(|(_, phase)| *phase == Phase::Streaming).count()
    }
}

/// Who is connected.
#[derive(Default)]
pub struct Connections {
    open: Mutex<Open>,
    left: Condvar,
}

/// A client's place; given up when it is dropped.
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
}

impl Connections {
    /// A place for a client, if there is or comes to be one.
    pub fn admit(self: &Arc<Self>, socket: &Arc<TcpStream>) -> Option<Place> {
        let until = Instant::now() + PLACE_PATIENCE;
        let mut open = self.open.lock();
        while open.clients.len() >= CONNECTIONS_MAX && !open.stopping {
            let longest = open.clients.values().find(|(_, phase)| *phase == Phase::Idle);
            // Its thread sees the end of its socket, and leaves. Where all are busy, one of them may be done.
            longest.map(|(socket, _)| socket.shutdown(Shutdown::Both));
            if self.left.wait_until(&mut open, until).timed_out() {
                return None;
            }
        }
        if open.stopping {
            return None;
        }
        open.next += 1;
        let number = open.next;
        open.clients.insert(number, (socket.clone(), Phase::Idle));
        Some(Place { connections: self.clone(), number })
    }

    /// Clients, and those of them that watch.
    pub fn counts(&self) -> (usize, usize) {
        let open = self.open.lock();
        (open.clients.len(), open.streams())
    }

    /// Shuts everybody out, for good. Their threads end as soon as they look at their sockets.
    pub fn stop(&self) {
        let mut open = self.open.lock();
        open.stopping = true;
        for (socket, _) in open.clients.values() {
            // One that is gone already is as good.
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.left.notify_all();
    }
}

impl Place {
    /// The request is whole: from now on nobody takes the place.
    pub fn answering(&self) {
        self.enter(Phase::Answering);
    }

    /// The answer is out: what the client still does is nobody's affair.
    pub fn answered(&self) {
        self.enter(Phase::Idle);
    }

    /// The client watches from now on; false if too many do.
    pub fn streaming(&self) -> bool {
        let mut open = self.connections.open.lock();
        if open.streams() >= STREAMS_MAX {
            return false;
        }
        if let Some(client) = open.clients.get_mut(&self.number) {
            client.1 = Phase::Streaming;
        }
        true
    }

    fn enter(&self, phase: Phase) {
        if let Some(client) = self.connections.open.lock().clients.get_mut(&self.number) {
            client.1 = phase;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open.lock().clients.remove(&self.number);
        self.connections.left.notify_all();
    }
}
