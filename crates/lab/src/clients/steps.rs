//! The statements of one transaction as packets, back to back in one buffer that is filled again and again.

/// A parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// An integer, sent as BIGINT.
    Number(i64),
    /// A text shorter than 251 bytes.
    Text(&'a str),
}

/// Packets of a transaction, in the order in which they are sent.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    statements: Vec<u32>,
    withdraws: bool,
}

impl Steps {
    /// No steps yet; `statements` are the numbers that the server gave to the prepared statements.
    pub fn new(statements: Vec<u32>) -> Steps {
        Steps { statements, ..Steps::default() }
    }

    /// Forgets the steps, keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.withdraws = false;
    }

    /// Says that the transaction is to leave nothing behind: it is counted apart.
    pub fn withdraw(&mut self) {
        self.withdraws = true;
    }

    /// Whether the transaction is to leave nothing behind.
    pub fn withdraws(&self) -> bool {
        self.withdraws
    }

    /// Adds a statement as text.
    pub fn push(&mut self, text: String) {
        self.say(&text);
    }

    /// Adds a statement as text.
    pub fn say(&mut self, text: &str) {
        let at = self.open(3);
        self.bytes.extend_from_slice(text.as_bytes());
        self.close(at);
    }

    /// Adds the execution of the prepared statement with this index.
    pub fn execute(&mut self, statement: usize, parameters: &[Parameter<'_>]) {
        let at = self.open(0x17);
        self.bytes.extend_from_slice(&self.statements[statement].to_le_bytes());
        self.bytes.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor, once
        if !parameters.is_empty() {
            self.bytes.resize(self.bytes.len() + parameters.len().div_ceil(8), 0); // none is NULL
            self.bytes.push(1); // types follow
            for parameter in parameters {
                let kind = if matches!(parameter, Parameter::Number(_)) { 8 } else { 253 };
                self.bytes.extend_from_slice(&[kind, 0]);
            }
        }
        for parameter in parameters {
            match parameter {
                Parameter::Number(number) => self.bytes.extend_from_slice(&number.to_le_bytes()),
                Parameter::Text(text) => {
                    debug_assert!(text.len() < 251, "longer texts need a longer length");
                    self.bytes.push(text.len() as u8);
                    self.bytes.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.close(at);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// One of them, ready to be sent.
    pub fn packet(&self, step: usize) -> &[u8] {
        let from = if step == 0 { 0 } else { self.ends[step - 1] };
        &self.bytes[from..self.ends[step]]
    }

    fn open(&mut self, command: u8) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0, 0, 0, 0, command]);
        at
    }

    fn close(&mut self, at: usize) {
        let len = ((self.bytes.len() - at - 4) as u32).to_le_bytes();
        self.bytes[at..at + 3].copy_from_slice(&len[..3]);
        self.ends.push(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::{Parameter, Steps};

    #[test]
    fn packets_have_the_protocols_bytes() {
        let mut steps = Steps::new(vec![7, 9]);
        steps.say("BEGIN");
        steps.execute(1, &[Parameter::Number(-2), Parameter::Text("ab")]);
        steps.execute(0, &[]);
        assert_eq!(steps.count(), 3);
        assert_eq!(steps.packet(0), b"\x06\0\0\0\x03BEGIN");
        let mut expected = vec![27, 0, 0, 0, 0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0];
        expected.extend_from_slice(&[0, 1, 8, 0, 253, 0]); // no NULLs, types
        expected.extend_from_slice(&(-2i64).to_le_bytes());
        expected.extend_from_slice(b"\x02ab");
        assert_eq!(steps.packet(1)[4..], expected[4..]);
        assert_eq!(steps.packet(1)[0] as usize, expected.len() - 4);
        assert_eq!(steps.packet(2), [10, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0]);
        steps.clear();
        steps.push("COMMIT".into());
        assert_eq!(steps.packet(0), b"\x07\0\0\0\x03COMMIT");
    }
}
