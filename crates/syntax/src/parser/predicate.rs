//! Predicates: IN, BETWEEN, LIKE, REGEXP, SOUNDS LIKE, MEMBER OF, and what follows IS.

use super::expression::{BIT_OR, COMPARISON, NOT, PREDICATE, Rank, SIMPLE, call};
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, IsTest};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn is_test(&mut self, operand: Expr) -> Parse<(Expr, Rank)> {
        self.advance();
        let negated = self.eat(Keyword::Not);
        let words = [Keyword::Null, Keyword::True, Keyword::False, Keyword::Unknown];
        let (test, rank) = match self.eat_any(&words) {
            Some(Keyword::Null) => (IsTest::Null, COMPARISON),
            Some(Keyword::True) => (IsTest::True, NOT),
            Some(Keyword::False) => (IsTest::False, NOT),
            Some(_) => (IsTest::Unknown, NOT),
            None => return Err(self.unexpected()),
        };
        Ok((Expr::Is { operand: Box::new(operand), test, negated }, rank))
    }

    pub(super) fn predicate(&mut self, operand: Expr) -> Parse<Expr> {
        let negated = self.eat(Keyword::Not);
        let operand = Box::new(operand);
        match self.keyword() {
            Some(Keyword::In) => self.in_predicate(operand, negated),
            Some(Keyword::Between) => {
                self.advance();
                let low = Box::new(self.operand(BIT_OR)?);
                self.expect(Keyword::And)?;
                let high = Box::new(self.operand(PREDICATE)?);
                Ok(Expr::Between { operand, low, high, negated })
            }
            Some(Keyword::Like) => {
                self.advance();
                let pattern = Box::new(self.operand(BIT_OR)?);
                let escape =
                    if self.eat(Keyword::Escape) { Some(Box::new(self.operand(SIMPLE)?)) } else { None };
                Ok(Expr::Like { operand, pattern, escape, negated })
            }
            Some(Keyword::Regexp | Keyword::Rlike) => {
                self.advance();
                let pattern = Box::new(self.operand(BIT_OR)?);
                Ok(Expr::Regexp { operand, pattern, negated })
            }
            Some(Keyword::Sounds) if !negated => {
                self.advance();
                self.expect(Keyword::Like)?;
                let right = self.operand(BIT_OR)?;
                let soundex = |argument| Box::new(call("soundex", vec![argument]));
                Ok(Expr::Binary { op: BinaryOp::Equal, left: soundex(*operand), right: soundex(right) })
            }
            Some(Keyword::Member) if !negated => self.member_of(*operand),
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn in_predicate(&mut self, operand: Box<Expr>, negated: bool) -> Parse<Expr> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        if self.at_query() {
            let query = Box::new(self.nested(Self::query)?);
            self.expect_kind(TokenKind::RightParen)?;
            return Ok(Expr::InSubquery { operand, query, negated });
        }
        let mut list = self.comma_list(Self::expression)?;
        if let [Expr::Subquery(_)] = list.as_slice()
            && !self.is(TokenKind::RightParen)
        {
            return self.in_set_operation(operand, list, negated);
        }
        self.expect_kind(TokenKind::RightParen)?;
        // Extra parentheses do not turn a subquery into a scalar.
        if list.len() == 1
            && let Some(Expr::Subquery(_)) = list.first()
            && let Some(Expr::Subquery(query)) = list.pop()
        {
            return Ok(Expr::InSubquery { operand, query, negated });
        }
        Ok(Expr::InList { operand, list, negated })
    }

    /// After `value MEMBER`. On its own, so that every level of nesting does not pay for it in stack.
    #[inline(never)]
    pub(super) fn member_of(&mut self, value: Expr) -> Parse<Expr> {
        self.advance();
        let _optional = self.eat(Keyword::Of);
        self.expect_kind(TokenKind::LeftParen)?;
        let array = self.operand(SIMPLE)?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(call("member of", vec![value, array]))
    }

    /// `IN ((SELECT ..) UNION ..)`: what looked like a value is a query's first operand.
    #[inline(never)]
    pub(super) fn in_set_operation(
        &mut self,
        operand: Box<Expr>,
        mut list: Vec<Expr>,
        negated: bool,
    ) -> Parse<Expr> {
        let Some(Expr::Subquery(first)) = list.pop() else { return Err(self.unexpected()) };
        let query = Box::new(self.nested(|parser| parser.query_after(*first))?);
        self.expect_kind(TokenKind::RightParen)?;
        Ok(Expr::InSubquery { operand, query, negated })
    }
}
