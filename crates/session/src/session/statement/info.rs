//! The text of an OK packet. That of an UPDATE is put together only when it is sent, into memory that the
//! session keeps: a hot row's buyers wait for it.

/// What the OK packet of a statement says.
#[derive(Debug)]
pub enum Info {
    /// This text.
    Text(String),
    /// What an UPDATE did.
    Update {
        /// Rows that met its conditions.
        matched: u64,
        /// Rows that are different now.
        changed: u64,
        /// Its warnings.
        warnings: u16,
    },
}

impl Default for Info {
    fn default() -> Self {
        Info::Text(String::new())
    }
}

impl Info {
    /// Runs `tell` with the text, which may lie in `buffer`.
    pub fn with_text(&self, buffer: &mut String, tell: impl FnOnce(&str)) {
        match self {
            Info::Text(text) => tell(text),
            Info::Update { matched, changed, warnings } => {
                buffer.clear();
                let parts = [
                    ("Rows matched: ", *matched),
                    ("  Changed: ", *changed),
                    ("  Warnings: ", (*warnings).into()),
                ];
                for (label, number) in parts {
                    buffer.push_str(label);
                    push_number(buffer, number);
                }
                tell(buffer);
            }
        }
    }
}

fn push_number(out: &mut String, number: u64) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(&number.to_string()),
    }
}
