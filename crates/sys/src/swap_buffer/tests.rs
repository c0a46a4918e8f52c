//! Nothing appended is lost, doubled or reordered by the swaps.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::SwapBuffer;
use crate::latch::LatchClass;
use crate::ranked::Rank;
use crate::sync::{Arc, thread};

static CLASS: LatchClass = LatchClass::mutexes("test of the buffer");

fn appenders_and_a_drainer(appenders: u8, each: u8, drains: usize) {
    let buffer = Arc::new(SwapBuffer::new(Rank::new(1, "buffer"), &CLASS, 100, 16));
    let threads: Vec<_> = (0..appenders)
        .map(|appender| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || {
                for nth in 0..each {
                    let end = buffer.append(|active| {
                        active.push(&[appender, nth]);
                        active.end()
                    });
                    assert!(buffer.end() >= end);
                }
            })
        })
        .collect();
    let mut stream = Vec::new();
    let mut spare = Vec::new();
    for _ in 0..drains {
        let (start, bytes) = buffer.take(std::mem::take(&mut spare)).unwrap();
        assert_eq!(start, 100 + stream.len() as u64);
        stream.extend_from_slice(&bytes);
        spare = bytes;
    }
    for thread in threads {
        thread.join().unwrap();
    }
    stream.extend_from_slice(&buffer.take(spare).unwrap().1);
    assert_eq!(buffer.end(), 100 + stream.len() as u64);
    for appender in 0..appenders {
        let mine: Vec<u8> = stream.chunks(2).filter(|pair| pair[0] == appender).map(|pair| pair[1]).collect();
        assert_eq!(mine, (0..each).collect::<Vec<u8>>());
    }
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn appends_survive_the_swaps_in_order() {
    appenders_and_a_drainer(3, 200, 50);
}

#[test]
#[cfg(loom)]
fn loom_log_buffer_two_appenders_and_a_drainer() {
    loom::model(|| appenders_and_a_drainer(2, 1, 1));
}
