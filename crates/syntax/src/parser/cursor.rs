//! The parser's place in the tokens: looking at the next, taking it, or telling what was expected.

use super::{BLOCK_BYTES, LONG_TOKEN_BYTES, Metering, Parse, Parser, TOKENS_NOTED};
use crate::lexer::{Keyword, Lexer, Token, TokenKind};

impl<'a> Parser<'a> {
    /// Steps over the current token and returns it.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.end;
        self.token = self.lexer.next_token();
        self.metering.tokens += 1;
        if self.metering.tokens == TOKENS_NOTED || self.token.end - token.end >= LONG_TOKEN_BYTES {
            self.settle();
        }
        token
    }

    /// Tells the meter what the last tokens take. If it refuses, the text ends here.
    pub(super) fn settle(&mut self) {
        let Metering { meter, tokens, token_bytes, blocks, refusal } = &mut self.metering;
        let bytes = std::mem::take(tokens) as usize * *token_bytes;
        let more_blocks = self.hinted.saturating_sub(std::mem::replace(blocks, self.hinted)) as usize;
        let Some(meter) = meter else { return };
        if refusal.is_none()
            && let Err(error) = meter(bytes + more_blocks * BLOCK_BYTES)
        {
            *refusal = Some(error);
        }
        if refusal.is_some() {
            self.token = Token { kind: TokenKind::End, ..self.token };
            self.lexer = Lexer::new(self.text, self.text.len(), self.options.lex_options());
        }
    }

    /// The kind of the token after the current one.
    pub(super) fn peek(&self) -> TokenKind {
        let mut ahead = self.lexer;
        ahead.next_token().kind
    }

    pub(super) fn span(&self, token: Token) -> &'a [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    pub(super) fn is(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    pub(super) fn at(&self, keyword: Keyword) -> bool {
        self.token.kind == TokenKind::Keyword(keyword)
    }

    /// The current token's keyword, if it is one.
    pub(super) fn keyword(&self) -> Option<Keyword> {
        match self.token.kind {
            TokenKind::Keyword(keyword) => Some(keyword),
            _ => None,
        }
    }

    pub(super) fn peek_is(&self, keyword: Keyword) -> bool {
        self.peek() == TokenKind::Keyword(keyword)
    }

    pub(super) fn eat_kind(&mut self, kind: TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn eat(&mut self, keyword: Keyword) -> bool {
        self.eat_kind(TokenKind::Keyword(keyword))
    }

    /// Steps over one of `keywords`, if it is there.
    pub(super) fn eat_any(&mut self, keywords: &[Keyword]) -> Option<Keyword> {
        let keyword = self.keyword().filter(|keyword| keywords.contains(keyword))?;
        self.advance();
        Some(keyword)
    }

    pub(super) fn expect_kind(&mut self, kind: TokenKind) -> Parse<Token> {
        if self.is(kind) { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    pub(super) fn expect(&mut self, keyword: Keyword) -> Parse<()> {
        self.expect_kind(TokenKind::Keyword(keyword)).map(|_| ())
    }

    /// All of `keywords`, in order.
    pub(super) fn expect_all(&mut self, keywords: &[Keyword]) -> Parse<()> {
        keywords.iter().try_for_each(|&keyword| self.expect(keyword))
    }

    /// `first` alone decides: when it is there, `rest` must follow.
    pub(super) fn eat_all(&mut self, first: Keyword, rest: &[Keyword]) -> Parse<bool> {
        if !self.eat(first) {
            return Ok(false);
        }
        self.expect_all(rest)?;
        Ok(true)
    }

    /// `if \[NOT\] EXISTS`
    pub(super) fn if_exists(&mut self) -> Parse<bool> {
        self.eat_all(Keyword::If, &[Keyword::Exists])
    }

    pub(super) fn if_not_exists(&mut self) -> Parse<bool> {
        self.eat_all(Keyword::If, &[Keyword::Not, Keyword::Exists])
    }

    /// `item [, item ...]`
    pub(super) fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_kind(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item [, item ...])`
    pub(super) fn parenthesized_list<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.expect_kind(TokenKind::LeftParen)?;
        let items = self.comma_list(item)?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(items)
    }
}
