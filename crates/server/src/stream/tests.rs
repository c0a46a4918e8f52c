//! The stream over a socket pair: packets in pieces, too long, out of order; output held back by a full
//! socket.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use turnstile_scheduler::Readiness;

use super::{ReadError, Stream};

fn pair() -> (Stream, UnixStream, Arc<Readiness>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let readiness = Arc::new(Readiness::default());
    (Stream::new(Arc::new(ours.into()), readiness.clone()), theirs, readiness)
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_packet_may_come_byte_by_byte() {
    let (mut stream, mut client, readiness) = pair();
    let mut payload = Vec::new();
    for byte in [3, 0, 0, 0, b'a', b'b'] {
        client.write_all(&[byte]).unwrap();
        readiness.note_readable();
        assert!(poll(stream.read_packet(&mut payload, 100)).is_pending());
    }
    client.write_all(b"c\x01\0\0\0z").unwrap();
    readiness.note_readable();
    assert!(matches!(poll(stream.read_packet(&mut payload, 100)), Poll::Ready(Ok(()))));
    assert_eq!(payload, b"abc");
    assert_eq!(stream.writer.sequence, 1);
    // The second packet came with the first: no further system call is needed.
    assert!(matches!(poll(stream.read_packet(&mut payload, 100)), Poll::Ready(Ok(()))));
    assert_eq!(payload, b"z");
}

#[test]
fn what_is_too_long_is_read_to_its_end_and_refused() {
    let (mut stream, mut client, readiness) = pair();
    client.write_all(&[0xd0, 0x07, 0, 4]).unwrap();
    let mut payload = Vec::new();
    let mut asked = Box::pin(stream.read_packet(&mut payload, 1000));
    let mut ask = || asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(ask().is_pending(), "the client is still sending");
    client.write_all(&[7; 2000]).unwrap();
    client.write_all(b"\x01\0\0\0z").unwrap();
    readiness.note_readable();
    let refused = ask();
    assert!(matches!(refused, Poll::Ready(Err(ReadError::TooLarge))), "{refused:?}");
    drop(asked);
    assert_eq!(stream.writer.sequence, 5, "the error's number follows the message's");
}

/// A message of two packets whose first alone is as long as a packet can be.
#[test]
fn a_message_of_several_packets_counts_as_a_whole() {
    let (mut stream, mut client, readiness) = pair();
    let sending = std::thread::spawn(move || {
        client.write_all(&[0xff, 0xff, 0xff, 0]).unwrap();
        client.write_all(&vec![1; 0xff_ffff]).unwrap();
        client.write_all(&[0x64, 0, 0, 1]).unwrap();
        client.write_all(&[2; 100]).unwrap();
        client
    });
    let mut payload = Vec::new();
    let mut asked = Box::pin(stream.read_packet(&mut payload, 0xff_ffff + 50));
    let refused = loop {
        readiness.note_readable();
        if let Poll::Ready(done) = asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            break done;
        }
        std::thread::yield_now();
    };
    assert!(matches!(refused, Err(ReadError::TooLarge)));
    drop(asked);
    assert_eq!(stream.writer.sequence, 2);
    drop(sending.join().unwrap());
}

#[test]
fn a_client_that_takes_nothing_is_waited_for_no_longer_than_its_patience() {
    let (mut stream, _client, _) = pair();
    stream.write_patience = std::time::Duration::ZERO;
    let refused = loop {
        stream.writer.begin().extend_from_slice(&[5; 50_000]);
        stream.writer.end();
        match stream.poll_flush(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => break error,
            Poll::Pending => panic!("it waits though its patience is over"),
        }
    };
    assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn the_end_of_the_stream_is_told() {
    let (mut stream, client, readiness) = pair();
    drop(client);
    readiness.note_readable();
    let mut payload = Vec::new();
    assert!(matches!(poll(stream.read_packet(&mut payload, 1000)), Poll::Ready(Err(ReadError::Closed))));
}

#[test]
fn a_full_socket_holds_the_output_back() {
    let (mut stream, mut client, _) = pair();
    let mut sent = 0;
    let waiting = loop {
        stream.writer.begin().extend_from_slice(&[5; 50_000]);
        stream.writer.end();
        sent += 50_004;
        if stream.poll_flush(&mut Context::from_waker(Waker::noop())).is_pending() {
            break sent;
        }
    };
    client.set_nonblocking(true).unwrap();
    let mut got = 0;
    let mut landing = vec![0; 1 << 20];
    while got < waiting {
        if let Ok(len) = client.read(&mut landing) {
            got += len;
        }
        let _ = stream.poll_flush(&mut Context::from_waker(Waker::noop()));
    }
    assert_eq!(got, waiting);
    assert!(stream.poll_flush(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// A client that sends as fast as it is read: with all that it has sent there, the wait for it ends all the
/// same now and then.
#[test]
fn who_sends_without_end_gives_others_their_turn() {
    for refused in [false, true] {
        let (mut stream, client, readiness) = pair();
        let sending = std::thread::spawn(move || {
            let (mut client, piece) = (client, vec![7; 1 << 20]);
            // Messages of the greatest length, until nobody reads them any more.
            while client.write_all(&[0xff, 0xff, 0xff, 0]).is_ok() {
                for _ in 0..15 {
                    let _ = client.write_all(&piece);
                }
                let _ = client.write_all(&piece[1..]);
            }
        });
        let (mut payload, waker) = (Vec::new(), Arc::new(WakeCount::default()));
        let wakes = Waker::from(waker.clone());
        let mut asked: std::pin::Pin<Box<dyn Future<Output = ()>>> = if refused {
            Box::pin(async { stream.close_gently(std::time::Duration::from_secs(3600)).await })
        } else {
            Box::pin(async { drop(stream.read_packet(&mut payload, 1000).await) })
        };
        while waker.0.load(Ordering::Relaxed) < 8 {
            readiness.note_readable();
            assert!(asked.as_mut().poll(&mut Context::from_waker(&wakes)).is_pending());
        }
        drop(asked);
        drop(stream);
        sending.join().unwrap();
    }
}

/// How often somebody who yielded was to be polled again.
#[derive(Default)]
struct WakeCount(AtomicUsize);

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
