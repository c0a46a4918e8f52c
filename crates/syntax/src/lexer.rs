//! Bytes to tokens, one at a time and without allocating.
//!
//! A [`Token`] is a kind and a span; what a literal says is decoded from the span when the parser wants it
//! ([`literal`]). The lexer is a small `Copy` value, so looking ahead is lexing on a copy. It never fails:
//! what is no token is [`TokenKind::Invalid`], which no grammar rule accepts. Whether a word is a keyword
//! depends on its surroundings, as in MySQL: next to a dot it is a name.
//!
//! `/*!80000 text */` is lexed as if only `text` stood there when the version is at most [`VERSION`].

pub mod keyword;
pub mod literal;
mod number;
mod token;

pub use keyword::Keyword;

pub use token::{Token, TokenKind};

/// The MySQL version whose conditional comments are executed.
pub const VERSION: u32 = 80_400;

/// Parts of `sql_mode` that change how text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LexOptions {
    /// ANSI_QUOTES: `"x"` is an identifier.
    pub ansi_quotes: bool,
    /// NO_BACKSLASH_ESCAPES: a backslash in a string is itself.
    pub no_backslash_escapes: bool,
}

/// The state of reading one text.
#[derive(Debug, Clone, Copy)]
pub struct Lexer<'a> {
    text: &'a [u8],
    position: usize,
    options: LexOptions,
    in_versioned_comment: bool,
    /// The token before was a dot directly before a word character: that word is a name.
    name_follows: bool,
}

/// Byte classes: bit 0 word character, bit 1 digit, bit 2 white space.
const WORD: u8 = 1;

const DIGIT: u8 = 2;

const SPACE: u8 = 4;

static CLASSES: [u8; 256] = build_classes();

const fn build_classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        classes[byte] = if this.is_ascii_digit() {
            WORD | DIGIT
        } else if this.is_ascii_alphabetic() || this == b'_' || this == b'$' || this >= 0x80 {
            WORD
        } else if this == b' ' || (this >= 9 && this <= 13) {
            SPACE
        } else {
            0
        };
        byte += 1;
    }
    classes
}

pub(crate) fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & WORD != 0
}

pub(crate) fn is_digit(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & DIGIT != 0
}

fn is_space(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & SPACE != 0
}

impl<'a> Lexer<'a> {
    /// Reads `text` from its byte `position`. The text is shorter than 4 GiB.
    #[must_use]
    pub fn new(text: &'a [u8], position: usize, options: LexOptions) -> Self {
        Lexer { text, position, options, in_versioned_comment: false, name_follows: false }
    }

    /// The byte at the current position plus `ahead`; 0 past the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token { kind, start: start as u32, end: self.position as u32 }
    }

    /// The next token; [`TokenKind::End`] for ever at the end.
    pub fn next_token(&mut self) -> Token {
        if std::mem::take(&mut self.name_follows) {
            let start = self.position;
            self.skip_word();
            return self.token(TokenKind::Identifier, start);
        }
        if !self.skip_blank() {
            let start = self.position;
            self.position = self.text.len();
            return self.token(TokenKind::Invalid, start);
        }
        // Some clients send the NUL byte that ends a string of C.
        if self.byte(0) == 0 && self.text[self.position..].iter().all(|&byte| byte == 0 || is_space(byte)) {
            self.position = self.text.len();
        }
        let start = self.position;
        let Some(&first) = self.text.get(start) else {
            let kind = if self.in_versioned_comment { TokenKind::Invalid } else { TokenKind::End };
            return self.token(kind, start);
        };
        let kind = if is_digit(first) {
            self.number()
        } else if is_word(first) {
            self.word(first)
        } else {
            self.punctuation(first)
        };
        self.token(kind, start)
    }

    /// Skips white space and comments; false on an unterminated comment, the position then at its start.
    fn skip_blank(&mut self) -> bool {
        loop {
            let byte = self.byte(0);
            if is_space(byte) {
                self.position += 1;
            } else if byte == b'#' || (byte == b'-' && self.byte(1) == b'-' && self.dashes_are_comment()) {
                let rest = &self.text[self.position..];
                let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                self.position += length;
            } else if byte == b'/' && self.byte(1) == b'*' {
                if !self.skip_comment() {
                    return false;
                }
            } else if byte == b'*' && self.in_versioned_comment && self.byte(1) == b'/' {
                self.in_versioned_comment = false;
                self.position += 2;
            } else {
                return true;
            }
        }
    }

    /// `--` begins a comment only before white space, a control character or the end.
    fn dashes_are_comment(&self) -> bool {
        self.byte(2) <= b' ' || self.byte(2) == 0x7F
    }

    /// At `/*`: skips the comment, or enters it when it is a conditional one for this version.
    fn skip_comment(&mut self) -> bool {
        let start = self.position;
        if self.byte(2) == b'!' && !self.in_versioned_comment {
            let digits = (3..9).take_while(|&ahead| is_digit(self.byte(ahead))).count();
            let version_length = if digits >= 5 { digits } else { 0 };
            let version = self.text[start + 3..start + 3 + version_length]
                .iter()
                .fold(0, |version, digit| version * 10 + u32::from(digit - b'0'));
            if version <= VERSION {
                self.in_versioned_comment = true;
                self.position += 3 + version_length;
                return true;
            }
        }
        self.position += 2;
        // A skipped conditional comment may hold ordinary comments, one level deep.
        let may_nest = self.byte(0) == b'!';
        let mut nested = false;
        while self.position < self.text.len() {
            if self.byte(0) == b'*' && self.byte(1) == b'/' {
                self.position += 2;
                if !nested {
                    return true;
                }
                nested = false;
            } else if may_nest && !nested && self.byte(0) == b'/' && self.byte(1) == b'*' {
                nested = true;
                self.position += 2;
            } else {
                self.position += 1;
            }
        }
        self.position = start;
        false
    }

    fn skip_word(&mut self) {
        while is_word(self.byte(0)) {
            self.position += 1;
        }
    }

    fn skip_digits(&mut self) {
        while is_digit(self.byte(0)) {
            self.position += 1;
        }
    }

    /// True when a dot and a word character follow: then the word before the dot is a name too.
    fn dot_and_word_follow(&self) -> bool {
        self.byte(0) == b'.' && is_word(self.byte(1))
    }

    fn word(&mut self, first: u8) -> TokenKind {
        if self.byte(1) == b'\'' {
            match first {
                b'x' | b'X' => return self.quoted_digits(TokenKind::HexString, u8::is_ascii_hexdigit, 2),
                b'b' | b'B' => {
                    return self.quoted_digits(TokenKind::BitString, |b| matches!(b, b'0' | b'1'), 1);
                }
                b'n' | b'N' => {
                    self.position += 1;
                    return self.quoted(b'\'', TokenKind::NationalString);
                }
                _ => {}
            }
        }
        let start = self.position;
        self.skip_word();
        if self.dot_and_word_follow() {
            return TokenKind::Identifier;
        }
        match Keyword::find(&self.text[start..self.position]) {
            Some(keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Identifier,
        }
    }

    /// At an opening quote: reads to the closing one.
    fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let escapes =
            quote != b'`' && kind != TokenKind::QuotedIdentifier && !self.options.no_backslash_escapes;
        self.position += 1;
        loop {
            let rest = self.text.get(self.position..).unwrap_or_default();
            self.position += literal::plain_length(rest, quote);
            let Some(&byte) = self.text.get(self.position) else { return TokenKind::Invalid };
            self.position += 1;
            if byte == quote {
                if self.byte(0) != quote {
                    return kind;
                }
                self.position += 1;
            } else if byte == b'\\' && escapes && self.position < self.text.len() {
                self.position += 1;
            }
        }
    }

    fn punctuation(&mut self, first: u8) -> TokenKind {
        use TokenKind as T;
        match first {
            b'\'' => return self.quoted(b'\'', T::String),
            b'"' if self.options.ansi_quotes => return self.quoted(b'"', T::QuotedIdentifier),
            b'"' => return self.quoted(b'"', T::String),
            b'`' => return self.quoted(b'`', T::QuotedIdentifier),
            b'@' => return self.at_sign(),
            b'.' => return self.dot(),
            _ => {}
        }
        let (kind, length) = match (first, self.byte(1), self.byte(2)) {
            (b'<', b'=', b'>') => (T::NullSafeEqual, 3),
            (b'-', b'>', b'>') => (T::ArrowText, 3),
            (b'<', b'=', _) => (T::LessOrEqual, 2),
            (b'<', b'>', _) | (b'!', b'=', _) => (T::NotEqual, 2),
            (b'<', b'<', _) => (T::ShiftLeft, 2),
            (b'>', b'=', _) => (T::GreaterOrEqual, 2),
            (b'>', b'>', _) => (T::ShiftRight, 2),
            (b'&', b'&', _) => (T::AndAnd, 2),
            (b'|', b'|', _) => (T::PipePipe, 2),
            (b':', b'=', _) => (T::Assign, 2),
            (b'-', b'>', _) => (T::Arrow, 2),
            (b'<', ..) => (T::Less, 1),
            (b'>', ..) => (T::Greater, 1),
            (b'=', ..) => (T::Equal, 1),
            (b'&', ..) => (T::Ampersand, 1),
            (b'|', ..) => (T::Pipe, 1),
            (b'!', ..) => (T::Bang, 1),
            (b'-', ..) => (T::Minus, 1),
            (b'+', ..) => (T::Plus, 1),
            (b'*', ..) => (T::Star, 1),
            (b'/', ..) => (T::Slash, 1),
            (b'%', ..) => (T::Percent, 1),
            (b'^', ..) => (T::Caret, 1),
            (b'~', ..) => (T::Tilde, 1),
            (b'(', ..) => (T::LeftParen, 1),
            (b')', ..) => (T::RightParen, 1),
            (b'{', ..) => (T::LeftBrace, 1),
            (b'}', ..) => (T::RightBrace, 1),
            (b',', ..) => (T::Comma, 1),
            (b';', ..) => (T::Semicolon, 1),
            (b'?', ..) => (T::Parameter, 1),
            _ => (T::Invalid, 1),
        };
        self.position += length;
        kind
    }

    fn at_sign(&mut self) -> TokenKind {
        self.position += 1;
        match self.byte(0) {
            b'@' => {
                self.position += 1;
                TokenKind::AtAt
            }
            quote @ (b'\'' | b'"' | b'`') => {
                let kind = if quote == b'`' { TokenKind::QuotedIdentifier } else { TokenKind::String };
                match self.quoted(quote, kind) {
                    TokenKind::Invalid => TokenKind::Invalid,
                    _ => TokenKind::UserVariable,
                }
            }
            byte if is_word(byte) || byte == b'.' => {
                while is_word(self.byte(0)) || self.byte(0) == b'.' {
                    self.position += 1;
                }
                TokenKind::UserVariable
            }
            _ => TokenKind::At,
        }
    }

    fn dot(&mut self) -> TokenKind {
        // After a name the dot is a separator even before digits.
        let after_name = self.position > 0 && {
            let before = self.text[self.position - 1];
            is_word(before) || before == b'`'
        };
        if is_digit(self.byte(1)) && !after_name {
            self.position += 1;
            return self.fraction();
        }
        self.position += 1;
        self.name_follows = is_word(self.byte(0));
        TokenKind::Dot
    }
}

#[cfg(test)]
mod tests;
