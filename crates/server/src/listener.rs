//! Accepts connections and hands each to what runs it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use crate::connection::{Arrival, serve};
use crate::hosts::Hosts;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::stream::Stream;
use turnstile_scheduler::Readiness;

/// The listening thread: one for TCP, `extra_port` and the Unix socket together. It only accepts and hands
/// over, so a pool that is held up does not keep it from serving `extra_port`.
pub struct Listeners {
    stopping: Arc<AtomicBool>,
    wake_fd: Arc<OwnedFd>,
    thread: JoinHandle<()>,
}

/// Counts a connection for as long as it exists, however it ends.
struct Counted {
    shared: Arc<Shared>,
    extra: bool,
    /// Wakes the listener, if it waits for a connection to end.
    wake_fd: Option<Arc<OwnedFd>>,
}

impl Counted {
    fn counter(shared: &Shared, extra: bool) -> &AtomicUsize {
        if extra { &shared.extra_connected } else { &shared.connected }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        Counted::counter(&self.shared, self.extra).fetch_sub(1, Ordering::SeqCst);
        if let Some(wake_fd) = &self.wake_fd {
            // As with the workers' descriptors there is nothing to handle.
            let _ = rustix::io::write(wake_fd, &1u64.to_ne_bytes());
        }
    }
}

impl Listeners {
    /// Starts to accept.
    ///
    /// # Errors
    /// When the thread or its descriptor cannot be made.
    pub fn start(
        [tcp, extra]: [Option<TcpListener>; 2],
        unix: Option<UnixListener>,
        shared: Arc<Shared>,
        hosts: Arc<Hosts>,
    ) -> io::Result<Listeners> {
        let stopping = Arc::new(AtomicBool::new(false));
        let wake_fd = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let back_log = shared.limit("back_log").clamp(1, 65535) as i32;
        for listener in [&tcp, &extra].into_iter().flatten() {
            listener.set_nonblocking(true)?;
            // A thousand buyers arrive at once; the standard library's backlog of 128 would turn them away.
            rustix::net::listen(listener, back_log)?;
        }
        if let Some(listener) = &unix {
            listener.set_nonblocking(true)?;
            rustix::net::listen(listener, back_log)?;
        }
        let (stop, theirs) = (stopping.clone(), wake_fd.clone());
        let thread = thread::Builder::new().name("listener".into()).spawn(move || {
            let one_by_one = hosts.takes_one_by_one();
            let takes_more = || !one_by_one || shared.connected.load(Ordering::SeqCst) == 0;
            let adopt = |socket: OwnedFd, peer: Peer, extra: bool| {
                let wake_fd = (one_by_one && !extra).then(|| theirs.clone());
                adopt(socket, peer, Counted { shared: shared.clone(), extra, wake_fd }, &hosts);
            };
            while !stop.load(Ordering::SeqCst) {
                let open = takes_more();
                wait(
                    &theirs,
                    [tcp.as_ref().filter(|_| open), extra.as_ref()],
                    unix.as_ref().filter(|_| open),
                );
                let next =
                    |listener: &Option<TcpListener>| listener.as_ref().and_then(|l| accepted(l.accept()));
                while let Some((socket, from)) = next(&extra) {
                    let _ = socket.set_nodelay(true);
                    adopt(socket.into(), tcp_peer(from), true);
                }
                while takes_more()
                    && let Some((socket, from)) = next(&tcp)
                {
                    let _ = socket.set_nodelay(true);
                    adopt(socket.into(), tcp_peer(from), false);
                }
                let next = || unix.as_ref().and_then(|l| accepted(l.accept()));
                while takes_more()
                    && let Some((socket, _)) = next()
                {
                    adopt(socket.into(), socket_peer(), false);
                }
            }
        })?;
        Ok(Listeners { stopping, wake_fd, thread })
    }

    /// Ends the thread; the sockets close.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&*self.wake_fd, &1u64.to_ne_bytes());
        // The thread has no failure of its own to report.
        let _ = self.thread.join();
    }
}

fn wait(wake_fd: &OwnedFd, [tcp, extra]: [Option<&TcpListener>; 2], unix: Option<&UnixListener>) {
    let mut watched = vec![PollFd::new(wake_fd, PollFlags::IN)];
    let sockets = [tcp.map(AsFd::as_fd), extra.map(AsFd::as_fd), unix.map(AsFd::as_fd)];
    for socket in sockets.iter().flatten() {
        watched.push(PollFd::new(socket, PollFlags::IN));
    }
    if poll(&mut watched, None).is_err() {
        // Out of descriptors or memory for a moment: do not spin.
        thread::sleep(std::time::Duration::from_millis(10));
    }
    // Without a wake-up there is nothing to drain: the read then fails at once.
    let _ = rustix::io::read(wake_fd, &mut [0u8; 8]);
}

fn tcp_peer(from: SocketAddr) -> Peer {
    let is_loopback = from.ip().is_loopback();
    Peer { host: from.ip().to_string(), shown: from.to_string(), is_loopback, is_local_socket: false }
}

fn socket_peer() -> Peer {
    Peer { host: "localhost".into(), shown: "localhost".into(), is_loopback: false, is_local_socket: true }
}

/// None when nobody waits, or when the process is out of descriptors: then a pause, since the client stays in
/// the backlog and would be reported again at once.
fn accepted<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(accepted) => Some(accepted),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Err(_) => {
            thread::sleep(std::time::Duration::from_millis(10));
            None
        }
    }
}

fn adopt(socket: OwnedFd, peer: Peer, counted: Counted, hosts: &Arc<Hosts>) {
    let (shared, extra) = (counted.shared.clone(), counted.extra);
    // From here on the connection counts, whatever becomes of it.
    let before = Counted::counter(&shared, extra).fetch_add(1, Ordering::SeqCst);
    if rustix::io::ioctl_fionbio(&socket, true).is_err() {
        return;
    }
    let fits = extra || (before as u64) < shared.limit("max_connections");
    let now = shared.connected.load(Ordering::Relaxed) + shared.extra_connected.load(Ordering::Relaxed);
    shared.database.status().connected(fits.then_some(now as u64));
    let socket = Arc::new(socket);
    let readiness = Arc::new(Readiness::default());
    let stream = Stream::new(socket.clone(), readiness.clone());
    let id = shared.database.registry().next_id();
    let events = readiness.clone();
    // The session's future is made inside: made outside and awaited here, it would take its room twice for
    // life.
    let session = Box::pin(async move {
        let _counted = counted;
        serve(stream, events, shared, peer, Arrival { id, extra }).await;
    });
    hosts.spawn(extra, id, socket, readiness, session);
}
