//! Encoding: packets appended to one output buffer, headers filled in when a payload is complete.

use turnstile_values::field::Digits;

use super::{HEADER_BYTES, PAYLOAD_BYTES_MAX};

/// Appends packets to a connection's output and numbers them.
#[derive(Debug, Default)]
pub struct PacketWriter {
    /// Complete packets, ready to be sent.
    pub output: Vec<u8>,
    /// Sequence number of the next packet.
    pub sequence: u8,
    start: usize,
}

impl PacketWriter {
    /// Opens a packet; what is appended to `output` until [`end`](Self::end) is its payload.
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.output
    }

    /// Completes the packet: fills in its header, and splits a payload that is too long for one packet.
    pub fn end(&mut self) {
        let mut at = self.start;
        loop {
            let len = self.output.len() - at - HEADER_BYTES;
            let piece = len.min(PAYLOAD_BYTES_MAX);
            let header = (piece as u32).to_le_bytes();
            self.output[at..at + 3].copy_from_slice(&header[..3]);
            self.output[at + 3] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            if piece < PAYLOAD_BYTES_MAX {
                return;
            }
            // A full piece is always followed by another, which may be empty.
            at += HEADER_BYTES + piece;
            let tail = self.output.split_off(at);
            self.output.extend_from_slice(&[0; HEADER_BYTES]);
            self.output.extend_from_slice(&tail);
        }
    }

    /// Takes back the packet that was opened last and not ended.
    pub fn abandon(&mut self) {
        self.output.truncate(self.start);
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Longest string whose length is one byte.
const SHORT_BYTES_MAX: usize = 0xfa;

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() <= SHORT_BYTES_MAX {
        out.reserve(1 + bytes.len());
        out.push(bytes.len() as u8);
    } else {
        put_lenenc(out, bytes.len() as u64);
    }
    if !bytes.is_empty() {
        out.extend_from_slice(bytes);
    }
}

/// Appends a number's decimal digits as a length-encoded string.
#[inline]
pub fn put_lenenc_digits(out: &mut Vec<u8>, number: u64) {
    if number < 10 {
        out.extend_from_slice(&[1, b'0' + number as u8]);
    } else {
        put_lenenc_bytes(out, Digits::of(number).as_bytes());
    }
}

/// Appends the payload of an OK packet. `header` is 0x00, or 0xfe where OK stands for EOF.
pub fn put_ok(
    out: &mut Vec<u8>,
    header: u8,
    affected: u64,
    last_id: u64,
    status: u16,
    warnings: u16,
    info: &str,
) {
    out.push(header);
    put_lenenc(out, affected);
    put_lenenc(out, last_id);
    out.extend_from_slice(&status.to_le_bytes());
    out.extend_from_slice(&warnings.to_le_bytes());
    // The protocol's description says "to the end of the packet"; servers and clients have always used a
    // length.
    if !info.is_empty() {
        put_lenenc_bytes(out, info.as_bytes());
    }
}

/// Appends the payload of an EOF packet.
pub fn put_eof(out: &mut Vec<u8>, status: u16, warnings: u16) {
    out.push(0xfe);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.to_le_bytes());
}

/// Appends the payload of an ERR packet; `message` is in the client's character set.
pub fn put_err(out: &mut Vec<u8>, code: u16, sqlstate: &[u8; 5], message: &[u8]) {
    out.push(0xff);
    out.extend_from_slice(&code.to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(sqlstate);
    out.extend_from_slice(message);
}
