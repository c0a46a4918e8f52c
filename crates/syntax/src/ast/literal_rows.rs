//! VALUES of many rows that are nothing but plain literals, as a bulk load sends them: the text, and where
//! each literal stands.
//!
//! A tree of such rows would be several times as large as the text and would be built, bound and dropped for
//! rows that are looked at once. Here a literal becomes a value when its row is inserted.

/// Which literal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// NULL
    Null,
    /// A whole number of at most 18 digits.
    Integer,
    /// The same with a minus before it, which is not part of the text.
    NegativeInteger,
    /// A string, quotes included, escapes as written.
    String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LiteralSpan {
    kind: LiteralKind,
    start: u32,
    end: u32,
}

/// The rows; all have the same number of literals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LiteralRows {
    text: Box<[u8]>,
    escapes: bool,
    width: usize,
    spans: Vec<LiteralSpan>,
}

impl LiteralRows {
    /// No rows yet. `escapes`: a backslash in a string begins an escape.
    #[must_use]
    pub fn new(escapes: bool) -> Self {
        LiteralRows { text: Box::default(), escapes, width: 0, spans: Vec::new() }
    }

    /// Adds a literal to the row under way.
    pub fn push(&mut self, kind: LiteralKind, start: usize, end: usize) {
        self.spans.push(LiteralSpan { kind, start: start as u32, end: end as u32 });
    }

    /// The row under way has all its literals. False: another number than the first row.
    #[must_use]
    pub fn end_row(&mut self) -> bool {
        if self.width == 0 {
            self.width = self.spans.len();
        }
        self.width != 0 && self.spans.len().is_multiple_of(self.width)
    }

    /// The text that the literals are in: from where their places count, to the end of the last one at least.
    pub fn set_text(&mut self, text: &[u8]) {
        self.text = text.into();
    }

    /// Literals of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether a backslash in a string begins an escape.
    #[must_use]
    pub fn escapes(&self) -> bool {
        self.escapes
    }

    /// The literals of a row, in order, as they are written.
    pub fn row(&self, nth: usize) -> impl Iterator<Item = (LiteralKind, &[u8])> {
        let spans = &self.spans[nth * self.width..(nth + 1) * self.width];
        spans.iter().map(|span| (span.kind, &self.text[span.start as usize..span.end as usize]))
    }
}
