//! Byte buffers kept per thread for their capacity, so that the hot path does not allocate.

use std::cell::RefCell;

const BUFFERS_MAX: usize = 16;
const BUFFER_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, perhaps with capacity.
pub fn take_buffer() -> Vec<u8> {
    SPARE.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Gives a buffer back.
pub fn give_buffer(mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 || buffer.capacity() > BUFFER_BYTES_MAX {
        return;
    }
    buffer.clear();
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < BUFFERS_MAX {
            spare.push(buffer);
        }
    });
}
