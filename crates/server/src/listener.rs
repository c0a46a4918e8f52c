//! Accepts connections and hands each to the worker with the fewest sessions.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use crate::connection::{Peer, serve};
use crate::scheduler::{Pool, Readiness};
use crate::server::Shared;
use crate::stream::Stream;

/// The listening thread: one for TCP and the Unix socket together.
pub struct Listeners {
    stopping: Arc<AtomicBool>,
    bell: Arc<OwnedFd>,
    thread: JoinHandle<()>,
}

/// Counts a connection for as long as it exists, however it ends.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connected.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Listeners {
    /// Starts to accept.
    ///
    /// # Errors
    /// When the thread or its doorbell cannot be made.
    pub fn start(
        tcp: Option<TcpListener>,
        unix: Option<UnixListener>,
        shared: Arc<Shared>,
        pool: Arc<Pool>,
    ) -> io::Result<Listeners> {
        let stopping = Arc::new(AtomicBool::new(false));
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        if let Some(listener) = &tcp {
            listener.set_nonblocking(true)?;
            // A thousand buyers arrive at once; the standard library's backlog of 128 would turn them away.
            rustix::net::listen(listener, 4096)?;
        }
        if let Some(listener) = &unix {
            listener.set_nonblocking(true)?;
            rustix::net::listen(listener, 4096)?;
        }
        let (stop, doorbell) = (stopping.clone(), bell.clone());
        let thread = thread::Builder::new().name("listener".into()).spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                wait(&doorbell, tcp.as_ref(), unix.as_ref());
                while let Some((socket, from)) = tcp.as_ref().and_then(|l| accepted(l.accept())) {
                    let _ = socket.set_nodelay(true);
                    let peer = tcp_peer(from);
                    adopt(socket.into(), peer, &shared, &pool);
                }
                while let Some((socket, _)) = unix.as_ref().and_then(|l| accepted(l.accept())) {
                    let peer = socket_peer();
                    adopt(socket.into(), peer, &shared, &pool);
                }
            }
        })?;
        Ok(Listeners { stopping, bell, thread })
    }

    /// Ends the thread; the sockets close.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
        // The thread has no failure of its own to report.
        let _ = self.thread.join();
    }
}

fn wait(bell: &OwnedFd, tcp: Option<&TcpListener>, unix: Option<&UnixListener>) {
    let mut watched = vec![PollFd::new(bell, PollFlags::IN)];
    let sockets = [tcp.map(AsFd::as_fd), unix.map(AsFd::as_fd)];
    for socket in sockets.iter().flatten() {
        watched.push(PollFd::new(socket, PollFlags::IN));
    }
    if poll(&mut watched, None).is_err() {
        // Out of descriptors or memory for a moment: do not spin.
        thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn tcp_peer(from: SocketAddr) -> Peer {
    let is_loopback = from.ip().is_loopback();
    Peer { host: from.ip().to_string(), shown: from.to_string(), is_loopback, is_local_socket: false }
}

fn socket_peer() -> Peer {
    Peer { host: "localhost".into(), shown: "localhost".into(), is_loopback: false, is_local_socket: true }
}

/// None when nobody waits, or when the process is out of descriptors: then a pause, since the client stays in the
/// backlog and would be reported again at once.
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

fn adopt(socket: OwnedFd, peer: Peer, shared: &Arc<Shared>, pool: &Arc<Pool>) {
    if rustix::io::ioctl_fionbio(&socket, true).is_err() {
        return;
    }
    let before = shared.connected.fetch_add(1, Ordering::Relaxed);
    shared.database.status().connected(before as u64 + 1);
    let socket = Arc::new(socket);
    let readiness = Arc::new(Readiness::default());
    let stream = Stream::new(socket.clone(), readiness.clone());
    let counted = Counted(shared.clone());
    let session = serve(stream, readiness.clone(), shared.clone(), peer);
    pool.least_loaded().spawn(
        socket,
        readiness,
        Box::pin(async move {
            let _counted = counted;
            session.await;
        }),
    );
}
