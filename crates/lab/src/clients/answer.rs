//! Answers as they come off the wire in pieces: affected rows, a count of result rows, or an error.

use crate::client::{lenenc, server_error};

/// One whole answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// OK, with the affected rows.
    Done(u64),
    /// A result with so many rows; their values are not looked at.
    Rows(u64),
    /// An error packet's number and text.
    Failed(u16, String),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Head,
    Definitions(u64),
    Rows(u64),
}

/// Collects bytes and gives answers.
#[derive(Debug)]
pub struct Reader {
    input: Vec<u8>,
    at: usize,
    state: State,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { input: Vec::new(), at: 0, state: State::Head }
    }
}

impl Reader {
    /// Bytes that came.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at == self.input.len() {
            self.input.clear();
            self.at = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// The next whole answer, if it has come.
    pub fn take(&mut self) -> Option<Answer> {
        loop {
            let rest = &self.input[self.at..];
            let header = rest.first_chunk::<4>()?;
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let payload = rest.get(4..4 + len)?;
            self.at += 4 + len;
            let first = payload.first().copied().unwrap_or(0);
            let is_end = first == 0xfe && len < 9;
            let (state, answer) = match (self.state, first) {
                (_, 0xff) => {
                    let error = server_error(payload);
                    let code = error.code().unwrap_or(0);
                    (State::Head, Some(Answer::Failed(code, error.to_string())))
                }
                (State::Head, 0) => {
                    let affected = lenenc(payload, 1).map_or(0, |(affected, _)| affected);
                    (State::Head, Some(Answer::Done(affected)))
                }
                // The definitions and the EOF behind them.
                (State::Head, _) => (State::Definitions(lenenc(payload, 0).map_or(0, |(n, _)| n) + 1), None),
                (State::Definitions(1), _) => (State::Rows(0), None),
                (State::Definitions(left), _) => (State::Definitions(left - 1), None),
                (State::Rows(rows), _) if is_end => (State::Head, Some(Answer::Rows(rows))),
                (State::Rows(rows), _) => (State::Rows(rows + 1), None),
            };
            self.state = state;
            if answer.is_some() {
                return answer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Reader};
    use crate::client::packet;

    #[test]
    fn answers_arrive_whole_however_the_bytes_are_cut() {
        let mut wire = packet(&[0, 3, 0, 2, 0, 0, 0], 1);
        for payload in
            [&[1u8][..], b"definition", &[0xfe, 0, 0, 2, 0], b"\x01a", b"\x01b", &[0xfe, 0, 0, 2, 0]]
        {
            wire.extend(packet(payload, 1));
        }
        wire.extend(packet(b"\xff\xbd\x04#40001Deadlock", 1));
        let failed = Answer::Failed(1213, "error 1213: Deadlock".into());
        let expected = [Answer::Done(3), Answer::Rows(2), failed];
        for piece in 1..wire.len() {
            let mut reader = Reader::default();
            let mut answers = Vec::new();
            for bytes in wire.chunks(piece) {
                reader.feed(bytes);
                while let Some(answer) = reader.take() {
                    answers.push(answer);
                }
            }
            assert_eq!(answers, expected, "in pieces of {piece}");
        }
    }
}
