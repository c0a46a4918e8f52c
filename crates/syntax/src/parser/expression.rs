//! Operators and their precedence.
//!
//! MySQL's grammar has strata rather than a flat list of precedences, and the strata are kept: an operand of
//! a comparison is a predicate, an operand of a predicate a bit expression, so `a LIKE b LIKE c` is an error
//! while `a = b = c` groups to the left.
//!
//! | rank | operators |
//! |---|---|
//! | [`OR`] | `OR`, `\|\|` |
//! | [`XOR`] | `XOR` |
//! | [`AND`] | `AND`, `&&` |
//! | [`NOT`] | `NOT`; `IS TRUE` gives this rank |
//! | [`COMPARISON`] | `= <=> <> < <= > >=`, `IS NULL` |
//! | [`PREDICATE`] | `IN`, `BETWEEN`, `LIKE`, `REGEXP` |
//! | [`BIT_OR`] to [`BIT_XOR`] | `\|`, `&`, `<< >>`, `+ -`, `* / DIV % MOD`, `^` |
//! | [`CONCAT`] | `\|\|` under PIPES_AS_CONCAT |
//! | [`SIMPLE`] | unary `- + ~ !`, `BINARY`, `COLLATE`, primaries |

use super::{Deprecated, Parse, Parser};
use crate::ast::{BinaryOp, Expr, FunctionCall, Quantifier, UnaryOp};
use crate::lexer::{Keyword, TokenKind};

pub(super) type Rank = u8;

const OR: Rank = 1;

const XOR: Rank = 2;

const AND: Rank = 3;

pub(super) const NOT: Rank = 4;

pub(super) const COMPARISON: Rank = 5;

pub(super) const PREDICATE: Rank = 6;

pub(super) const BIT_OR: Rank = 7;

const BIT_AND: Rank = 8;

const SHIFT: Rank = 9;

pub(super) const ADD: Rank = 10;

const MULTIPLY: Rank = 11;

const BIT_XOR: Rank = 12;

const CONCAT: Rank = 13;

pub(super) const SIMPLE: Rank = 14;

/// What an infix token does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Or,
    And,
    Is,
    Comparison(BinaryOp),
    Predicate,
    Binary(BinaryOp),
}

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.operand(OR)
    }

    /// An expression whose outermost operator has at least rank `least`.
    pub(super) fn operand(&mut self, least: Rank) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.deepest, self.depth);
        let result = self.nested(|parser| {
            let (left, rank) = parser.prefix(least)?;
            parser.infix(left, rank, least)
        });
        self.deepest = self.deepest.max(outer);
        result
    }

    /// An operand of a predicate: neither IN nor LIKE nor comparisons.
    pub(super) fn bit_expression(&mut self) -> Parse<Expr> {
        self.operand(BIT_OR)
    }

    /// Goes on after `left`, a complete operand of the highest rank.
    pub(super) fn expression_after(&mut self, left: Expr) -> Parse<Expr> {
        self.infix(left, SIMPLE, OR)
    }

    /// A NOT, or an operand without infix operators; and its rank.
    fn prefix(&mut self, least: Rank) -> Parse<(Expr, Rank)> {
        if !self.at(Keyword::Not) {
            return Ok((self.simple()?, SIMPLE));
        }
        if self.options.high_not_precedence {
            self.advance();
            let operand = Box::new(self.nested(Self::simple)?);
            return Ok((Expr::Unary { op: UnaryOp::Not, operand }, SIMPLE));
        }
        if least > NOT {
            return Err(self.unexpected());
        }
        self.advance();
        let operand = Box::new(self.operand(NOT)?);
        Ok((Expr::Unary { op: UnaryOp::Not, operand }, NOT))
    }

    /// What the current token does between two operands, and its rank.
    fn infix_token(&self) -> Option<(Infix, Rank)> {
        let binary = |op, rank| Some((Infix::Binary(op), rank));
        let comparison = |op| Some((Infix::Comparison(op), COMPARISON));
        match self.token.kind {
            TokenKind::Equal => comparison(BinaryOp::Equal),
            TokenKind::NullSafeEqual => comparison(BinaryOp::NullSafeEqual),
            TokenKind::NotEqual => comparison(BinaryOp::NotEqual),
            TokenKind::Less => comparison(BinaryOp::Less),
            TokenKind::LessOrEqual => comparison(BinaryOp::LessOrEqual),
            TokenKind::Greater => comparison(BinaryOp::Greater),
            TokenKind::GreaterOrEqual => comparison(BinaryOp::GreaterOrEqual),
            TokenKind::Plus => binary(BinaryOp::Add, ADD),
            TokenKind::Minus => binary(BinaryOp::Subtract, ADD),
            TokenKind::Star => binary(BinaryOp::Multiply, MULTIPLY),
            TokenKind::Slash => binary(BinaryOp::Divide, MULTIPLY),
            TokenKind::Percent => binary(BinaryOp::Modulo, MULTIPLY),
            TokenKind::Pipe => binary(BinaryOp::BitOr, BIT_OR),
            TokenKind::Ampersand => binary(BinaryOp::BitAnd, BIT_AND),
            TokenKind::ShiftLeft => binary(BinaryOp::ShiftLeft, SHIFT),
            TokenKind::ShiftRight => binary(BinaryOp::ShiftRight, SHIFT),
            TokenKind::Caret => binary(BinaryOp::BitXor, BIT_XOR),
            TokenKind::PipePipe if self.options.pipes_as_concat => binary(BinaryOp::Concat, CONCAT),
            TokenKind::PipePipe => Some((Infix::Or, OR)),
            TokenKind::AndAnd => Some((Infix::And, AND)),
            TokenKind::Keyword(keyword) => match keyword {
                Keyword::And => Some((Infix::And, AND)),
                Keyword::Or => Some((Infix::Or, OR)),
                Keyword::Xor => binary(BinaryOp::Xor, XOR),
                Keyword::Div => binary(BinaryOp::IntegerDivide, MULTIPLY),
                Keyword::Mod => binary(BinaryOp::Modulo, MULTIPLY),
                Keyword::Is => Some((Infix::Is, COMPARISON)),
                Keyword::In
                | Keyword::Between
                | Keyword::Like
                | Keyword::Regexp
                | Keyword::Rlike
                | Keyword::Not => Some((Infix::Predicate, PREDICATE)),
                Keyword::Sounds if self.peek_is(Keyword::Like) => Some((Infix::Predicate, PREDICATE)),
                Keyword::Member if self.peek_is(Keyword::Of) || self.peek() == TokenKind::LeftParen => {
                    Some((Infix::Predicate, PREDICATE))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn infix(&mut self, mut left: Expr, mut rank: Rank, least: Rank) -> Parse<Expr> {
        while let Some((infix, infix_rank)) = self.infix_token() {
            // A predicate's operand is a bit expression, so predicates do not chain.
            let left_least = if infix_rank == PREDICATE { BIT_OR } else { infix_rank };
            if infix_rank < least || rank < left_least {
                break;
            }
            rank = infix_rank;
            left = match infix {
                Infix::Or => {
                    if self.advance().kind == TokenKind::PipePipe {
                        self.deprecated(Deprecated::OrSign);
                    }
                    let right = self.operand(XOR)?;
                    self.join_chain(left, right, true)?
                }
                Infix::And => {
                    if self.advance().kind == TokenKind::AndAnd {
                        self.deprecated(Deprecated::AndSign);
                    }
                    let right = self.operand(NOT)?;
                    self.join_chain(left, right, false)?
                }
                Infix::Is => {
                    self.deepen()?;
                    let (expr, is_rank) = self.is_test(left)?;
                    rank = is_rank;
                    expr
                }
                Infix::Comparison(op) => {
                    self.deepen()?;
                    self.advance();
                    self.comparison(left, op)?
                }
                Infix::Predicate => {
                    self.deepen()?;
                    self.predicate(left)?
                }
                Infix::Binary(op) => {
                    self.deepen()?;
                    self.binary(left, op, infix_rank)?
                }
            };
        }
        Ok(left)
    }

    /// `left AND right`, `left OR right`: chains to the left become one flat list.
    fn join_chain(&mut self, left: Expr, right: Expr, is_or: bool) -> Parse<Expr> {
        match left {
            Expr::Or(mut terms) if is_or => {
                terms.push(right);
                Ok(Expr::Or(terms))
            }
            Expr::And(mut terms) if !is_or => {
                terms.push(right);
                Ok(Expr::And(terms))
            }
            _ => {
                self.deepen()?;
                let terms = vec![left, right];
                Ok(if is_or { Expr::Or(terms) } else { Expr::And(terms) })
            }
        }
    }

    fn comparison(&mut self, left: Expr, op: BinaryOp) -> Parse<Expr> {
        let words = [Keyword::Any, Keyword::Some, Keyword::All];
        if self.keyword().is_some_and(|word| words.contains(&word)) && self.peek() == TokenKind::LeftParen {
            let quantifier = if self.at(Keyword::All) { Quantifier::All } else { Quantifier::Any };
            self.advance();
            let query = Box::new(self.parenthesized_query()?);
            return Ok(Expr::Quantified { operand: Box::new(left), op, quantifier, query });
        }
        let right = self.operand(PREDICATE)?;
        Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right) })
    }

    fn binary(&mut self, left: Expr, op: BinaryOp, rank: Rank) -> Parse<Expr> {
        self.advance();
        if rank == ADD && self.at(Keyword::Interval) {
            return match self.interval()? {
                Ok((amount, unit)) => Ok(Expr::DateArithmetic {
                    date: Box::new(left),
                    amount: Box::new(amount),
                    unit,
                    subtract: op == BinaryOp::Subtract,
                }),
                Err(function) => {
                    let right = self.infix(function, SIMPLE, ADD + 1)?;
                    Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right) })
                }
            };
        }
        let right = self.operand(rank + 1)?;
        Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right) })
    }
}

/// A call of a function in plain syntax.
pub(super) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(Box::new(FunctionCall { arguments, ..FunctionCall::named(name) }))
}
