//! The console as a whole: a thread that accepts, one that takes samples while somebody watches, and one for
//! each client for as long as its request takes. It costs nothing while nobody asks.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Scope};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use turnstile_observe::status::Observed;

use crate::address::Settings;
use crate::connections::Place;
use crate::host::Host;
use crate::request::{self, Method, Request};
use crate::response::{Response, begin_stream, close_gently, send_event, status};
use crate::routes::{self, Answer};
use crate::sampler::Watch;
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
    threads: [JoinHandle<()>; 2],
}

impl Console {
    /// Opens it.
    ///
    /// # Errors
    /// When its address cannot be bound, or its thread not be made.
    pub fn start(database: Arc<Observed>, host: Arc<dyn Host>, settings: Settings) -> io::Result<Console> {
        let address = &settings.address;
        let listener = TcpListener::bind((address.host.as_str(), address.port))?;
        listener.set_nonblocking(true)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let wake_fd = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let site = Site::new(database, host, settings);
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
        let samples = site.sampler.start(site.database.clone(), site.host.clone(), STACK_BYTES)?;
        match thread::Builder::new().name("console".into()).spawn(accepts) {
            Ok(thread) => Ok(Console { site, stopping, wake_fd, threads: [thread, samples] }),
            Err(error) => {
                site.sampler.stop();
                Err(error)
            }
        }
    }

    /// Ends it: what is being answered or watched ends where it stands.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&*self.wake_fd, &1u64.to_ne_bytes());
        self.site.sampler.stop();
        self.site.connections.stop();
        for thread in self.threads {
            // One that panicked has been reported already.
            let _ = thread.join();
        }
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
    match routes::answer(site, &request, peer) {
        Answer::Whole(response) => {
            if response.send(socket, is_head).is_ok() {
                place.answered();
                close_gently(socket);
            }
        }
        Answer::Samples(watch, login) if place.streaming() => {
            // The client has gone, or does not read: it is as good as gone.
            let _ = stream(site, socket, &request, watch, login.is_some());
        }
        Answer::Samples(..) => {
            let _ = Response::refusal(status::UNAVAILABLE).with("Retry-After", "5").send(socket, false);
        }
    }
}

/// Sends sample after sample, until the client goes, its login ends or the console does.
fn stream(
    site: &Site,
    socket: &TcpStream,
    request: &Request,
    mut watch: Watch,
    has_login: bool,
) -> io::Result<()> {
    begin_stream(socket)?;
    while let Some(sample) = watch.next() {
        if has_login && site.login(request).is_none() {
            break;
        }
        send_event(socket, &sample)?;
    }
    Ok(())
}
