//! The console as a whole: a thread that accepts, and a thread for each client for as long as its request
//! takes. It costs nothing while nobody asks.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Scope};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use turnstile_session::database::Database;

use crate::address::Settings;
use crate::connections::Place;
use crate::request::{self, Method};
use crate::response::{Response, close_gently, status};
use crate::routes;
use crate::site::Site;

/// The stack of a thread that answers: statements are parsed and run on it.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 16 << 20 } else { 4 << 20 };
/// A pause where the process is out of descriptors or threads for a moment.
const BREATH: Duration = Duration::from_millis(10);

/// A running console.
pub struct Console {
    site: Arc<Site>,
    stopping: Arc<AtomicBool>,
    wake_fd: Arc<OwnedFd>,
    thread: JoinHandle<()>,
}

impl Console {
    /// Opens it.
    ///
    /// # Errors
    /// When its address cannot be bound, or its thread not be made.
    pub fn start(database: Arc<Database>, settings: Settings) -> io::Result<Console> {
        let address = &settings.address;
        let listener = TcpListener::bind((address.host.as_str(), address.port))?;
        listener.set_nonblocking(true)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let wake_fd = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let site = Site::new(database, settings);
        let (theirs, stop, wake) = (site.clone(), stopping.clone(), wake_fd.clone());
        let accepts = move || {
            thread::scope(|scope| {
                while !stop.load(Ordering::SeqCst) {
                    wait(&listener, &wake);
                    while !stop.load(Ordering::SeqCst)
                        && let Some((socket, from)) = accepted(&listener)
                    {
                        adopt(scope, &theirs, socket, from);
                    }
                }
            });
        };
        let thread = thread::Builder::new().name("console".into()).spawn(accepts)?;
        Ok(Console { site, stopping, wake_fd, thread })
    }

    /// Ends it: what is being answered or watched ends where it stands.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&*self.wake_fd, &1u64.to_ne_bytes());
        self.site.connections.stop();
        // A thread that panicked has been reported already.
        let _ = self.thread.join();
    }
}

fn wait(listener: &TcpListener, wake_fd: &OwnedFd) {
    let mut watched = [PollFd::new(wake_fd, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
    if poll(&mut watched, None).is_err() {
        // Out of memory for a moment: do not spin.
        thread::sleep(BREATH);
    }
}

/// None when nobody waits, or when the process is out of descriptors: then a pause, since the client stays
/// in the backlog and would be reported again at once.
fn accepted(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept() {
        Ok(accepted) => Some(accepted),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Err(_) => {
            thread::sleep(BREATH);
            None
        }
    }
}

/// Gives a client a place and a thread; without a place it is told so and left.
fn adopt<'scope>(
    scope: &'scope Scope<'scope, '_>,
    site: &'scope Arc<Site>,
    socket: TcpStream,
    from: SocketAddr,
) {
    if socket.set_nonblocking(false).is_err() {
        return;
    }
    let _ = socket.set_nodelay(true);
    let socket = Arc::new(socket);
    let Some(place) = site.connections.admit(&socket) else {
        // A new socket has room for so few bytes, so this does not wait.
        let _ = Response::refusal(status::UNAVAILABLE).with("Retry-After", "1").send(&socket, false);
        return;
    };
    let builder = thread::Builder::new().name("console-client".into()).stack_size(STACK_BYTES);
    // Without a thread the client's socket closes, and its place is given up.
    if builder.spawn_scoped(scope, move || serve(site, &socket, from.ip(), &place)).is_err() {
        thread::sleep(BREATH);
    }
}

/// Answers one request. Errors of the socket end it silently: there is nobody to tell.
fn serve(site: &Arc<Site>, socket: &TcpStream, peer: IpAddr, place: &Place) {
    let request = match request::read(socket) {
        Ok(Some(request)) => request,
        Ok(None) => return,
        Err(refusal) => {
            if refusal.send(socket, false).is_ok() {
                close_gently(socket);
            }
            return;
        }
    };
    place.answering();
    let is_head = request.method == Method::Head;
    if routes::answer(site, &request, peer).send(socket, is_head).is_ok() {
        close_gently(socket);
    }
}
