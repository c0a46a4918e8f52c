//! Finds the end of an answer without reading what is in it, as a client does that throws rows away: large
//! reads, and of each packet the header and one byte. So what a watcher costs is the server's and the
//! kernel's work, not this program's.

/// The first bytes of a packet: header, and what kind it is.
const HEAD_BYTES: usize = 5;
const HEADER_BYTES: usize = 4;
/// First byte of the packets that say how an answer goes on.
const OK: u8 = 0;
const EOF: u8 = 0xfe;
const ERROR: u8 = 0xff;
/// A packet that begins like an EOF and is longer than this is a row.
const EOF_BYTES_MAX: usize = 8;

/// How far an answer has come; it takes the bytes in whatever pieces they arrive.
#[derive(Debug, Default)]
pub struct Skim {
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
    /// Bytes of the packet under way that are still to come.
    skip: usize,
    packets: u64,
    /// EOF packets: behind the column definitions, and behind the rows.
    ends: u8,
    /// The packet under way is the last.
    last: bool,
}

impl Skim {
    /// Takes the next bytes; true when the answer is over.
    pub fn take(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            let skipped = self.skip.min(bytes.len());
            bytes = &bytes[skipped..];
            self.skip -= skipped;
            if self.skip == 0 && self.last {
                return true;
            }
            let [first, rest @ ..] = bytes else { return false };
            self.head[self.head_bytes] = *first;
            self.head_bytes += 1;
            bytes = rest;
            let len = u32::from_le_bytes([self.head[0], self.head[1], self.head[2], 0]) as usize;
            if self.head_bytes == HEAD_BYTES || self.head_bytes == HEADER_BYTES && len == 0 {
                self.begin(self.head[HEADER_BYTES], len);
            }
        }
    }

    /// A packet begins.
    fn begin(&mut self, kind: u8, len: usize) {
        (self.head_bytes, self.skip) = (0, len.saturating_sub(1));
        self.packets += 1;
        let is_end = kind == EOF && len <= EOF_BYTES_MAX;
        self.ends += u8::from(is_end);
        self.last = kind == ERROR || kind == OK && self.packets == 1 || is_end && self.ends == 2;
    }
}

#[cfg(test)]
mod tests {
    use super::Skim;
    use crate::client::packet;

    fn eof() -> Vec<u8> {
        packet(&[0xfe, 0, 0, 2, 0], 0)
    }

    /// Two columns, and rows: an empty text, one that begins like an EOF, one like an OK, a long one.
    fn answer() -> Vec<u8> {
        let long = [&[0xfd, 0, 0, 1][..], &[7; 65536]].concat();
        let rows = [vec![0, 0], [&[0xfe][..], &[0; 20]].concat(), vec![0, 1, b'a'], long];
        let mut bytes = packet(&[2], 1);
        [b"def a", b"def b"].iter().for_each(|one| bytes.extend(packet(&one[..], 2)));
        bytes.extend(eof());
        rows.iter().for_each(|row| bytes.extend(packet(row, 3)));
        bytes.extend(eof());
        bytes
    }

    /// Where the answer ends when it comes in pieces of so many bytes.
    fn end(bytes: &[u8], piece: usize) -> Option<usize> {
        let mut skim = Skim::default();
        let ended = bytes.chunks(piece).position(|piece| skim.take(piece));
        ended.map(|nth| (piece * (nth + 1)).min(bytes.len()))
    }

    #[test]
    fn the_end_is_found_however_the_bytes_come() {
        let bytes = answer();
        for piece in [1, 2, 3, 5, 7, 4096, bytes.len()] {
            assert_eq!(end(&bytes, piece), Some(bytes.len()), "in pieces of {piece}");
            assert_eq!(end(&bytes[..bytes.len() - 1], piece), None, "in pieces of {piece}, one byte short");
        }
    }

    #[test]
    fn an_error_or_an_ok_is_the_whole_answer() {
        for answer in [packet(&[0xff, 1, 2, b'x'], 1), packet(&[0, 0, 0, 2, 0, 0, 0], 1)] {
            assert_eq!(end(&answer, 1), Some(answer.len()));
        }
        let halfway = [packet(&[1], 1), packet(b"def a", 2), eof(), packet(&[0xff, 1, 2], 4)].concat();
        assert_eq!(end(&halfway, 3), Some(halfway.len()));
    }
}
