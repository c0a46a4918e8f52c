//! SELECT, VALUES, TABLE, and what combines and ends them.

use turnstile_values::error::SqlError;

use super::error::Failure;
use super::{Deprecated, Parse, Parser};
use crate::ast::{
    CommonTable, Expr, Limit, Literal, LockStrength, LockWait, LockingClause, Name, OrderItem, Query,
    QueryBody, SetOperator, With,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// True at the first word of a query.
    pub(super) fn at_query(&self) -> bool {
        match self.keyword() {
            Some(Keyword::Select | Keyword::With | Keyword::Table) => true,
            Some(Keyword::Values) => self.peek_is(Keyword::Row),
            _ => false,
        }
    }

    /// True where another operand of a set operation, or the tail of a query, may begin.
    fn at_query_tail(&self) -> bool {
        matches!(
            self.keyword(),
            Some(
                Keyword::Union
                    | Keyword::Except
                    | Keyword::Intersect
                    | Keyword::Order
                    | Keyword::Limit
                    | Keyword::For
                    | Keyword::Lock
                    | Keyword::Into
            )
        )
    }

    /// `(query)`
    pub(super) fn parenthesized_query(&mut self) -> Parse<Query> {
        self.expect_kind(TokenKind::LeftParen)?;
        let query = self.nested(Self::query)?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(query)
    }

    /// A whole query with its tail.
    pub(super) fn query(&mut self) -> Parse<Query> {
        if self.at(Keyword::With) {
            let with = self.with()?;
            return self.query_with(with);
        }
        let first = self.query_operand()?;
        self.query_after(first)
    }

    /// A query behind its WITH.
    pub(super) fn query_with(&mut self, with: With) -> Parse<Query> {
        // Each query of a WITH may read the one before it, and so a plan may become as deep as they are many.
        let deeper = with.tables.len() as u32;
        self.depth += deeper;
        let first = self.query_operand()?;
        let query = self.query_after(first)?;
        self.depth -= deeper;
        // A query in parentheses may have brought a WITH of its own.
        let mut query = if query.with.is_some() {
            plain(QueryBody::SetOperation { first: Box::new(query), rest: Vec::new() })
        } else {
            query
        };
        query.with = Some(Box::new(with));
        Ok(query)
    }

    /// `WITH [RECURSIVE] name [(columns)] AS (query), ...`
    pub(super) fn with(&mut self) -> Parse<With> {
        self.expect(Keyword::With)?;
        let recursive = self.eat(Keyword::Recursive);
        let mut count = 0;
        let (before, is_first) = (self.hinted, self.hinted == self.hinted_in_with);
        self.withs += 1;
        let tables = self.comma_list(|parser| {
            let name = parser.name()?;
            let columns = if parser.is(TokenKind::LeftParen) { parser.name_list()? } else { Vec::new() };
            parser.expect(Keyword::As)?;
            parser.depth += count;
            let query = Box::new(parser.nested(Self::parenthesized_query)?);
            parser.depth -= count;
            count += 1;
            Ok(CommonTable { name, columns, query })
        })?;
        self.withs -= 1;
        if is_first {
            self.hinted_in_with += self.hinted - before;
        }
        Ok(With { recursive, tables })
    }

    /// Goes on after `first`, an operand in parentheses or one SELECT without a tail.
    pub(super) fn query_after(&mut self, first: Query) -> Parse<Query> {
        if !self.at_query_tail() {
            return Ok(first);
        }
        let first = self.intersections(first)?;
        let mut rest = Vec::new();
        while let Some(word) = self.eat_any(&[Keyword::Union, Keyword::Except]) {
            let all = self.set_quantifier();
            let operand = self.query_operand()?;
            let operand = self.intersections(operand)?;
            let operator = match (word, all) {
                (Keyword::Union, true) => SetOperator::UnionAll,
                (Keyword::Union, false) => SetOperator::UnionDistinct,
                (_, true) => SetOperator::ExceptAll,
                (_, false) => SetOperator::ExceptDistinct,
            };
            rest.push((operator, operand));
        }
        let has_own_tail = first.limit.is_some() || !first.order_by.is_empty() || !first.locking.is_empty();
        let mut query = if !rest.is_empty() || (has_own_tail && self.at_query_tail()) {
            plain(QueryBody::SetOperation { first: Box::new(first), rest })
        } else {
            first
        };
        self.query_tail(&mut query)?;
        Ok(query)
    }

    /// INTERSECT binds tighter than UNION and EXCEPT.
    fn intersections(&mut self, first: Query) -> Parse<Query> {
        let mut rest = Vec::new();
        while self.eat(Keyword::Intersect) {
            let operator = if self.set_quantifier() {
                SetOperator::IntersectAll
            } else {
                SetOperator::IntersectDistinct
            };
            rest.push((operator, self.query_operand()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            plain(QueryBody::SetOperation { first: Box::new(first), rest })
        })
    }

    /// True for ALL.
    fn set_quantifier(&mut self) -> bool {
        self.eat_any(&[Keyword::All, Keyword::Distinct]) == Some(Keyword::All)
    }

    /// One SELECT, VALUES or TABLE, or a query in parentheses.
    fn query_operand(&mut self) -> Parse<Query> {
        match self.token.kind {
            TokenKind::LeftParen => self.parenthesized_query(),
            TokenKind::Keyword(Keyword::Select) => self.select(),
            TokenKind::Keyword(Keyword::Values) => {
                self.advance();
                let rows = self.comma_list(|parser| {
                    parser.expect(Keyword::Row)?;
                    parser.row_of_values()
                })?;
                Ok(plain(QueryBody::Values(rows)))
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.advance();
                Ok(plain(QueryBody::Table(self.table_name()?)))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn query_tail(&mut self, query: &mut Query) -> Parse<()> {
        if self.at(Keyword::Order) {
            query.order_by = self.order_by()?;
        }
        if self.at(Keyword::Limit) {
            query.limit = self.limit()?;
        }
        // INTO may stand before or after the locking clauses.
        loop {
            if self.at(Keyword::Into) && query.into.is_empty() {
                query.into = self.variables_after_into()?;
            } else if let Some(clause) = self.locking_clause()? {
                if !query.into.is_empty() && query.locking.is_empty() {
                    self.deprecated(Deprecated::IntoInside);
                }
                query.locking.push(clause);
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn variables_after_into(&mut self) -> Parse<Vec<Name>> {
        self.expect(Keyword::Into)?;
        if self.at(Keyword::Outfile) || self.at(Keyword::Dumpfile) {
            return Err(self.not_supported("SELECT ... INTO file"));
        }
        self.comma_list(|parser| match parser.at_name() {
            true => Err(parser.undeclared()?),
            false => parser.variable_name(),
        })
    }

    /// A name where one of a stored program's variables may stand: there are none.
    fn undeclared(&mut self) -> Parse<Failure> {
        let name = self.name()?;
        if self.is(TokenKind::Dot) {
            return Err(self.unexpected());
        }
        Ok(self.refused(SqlError::undeclared_variable(name)))
    }

    fn locking_clause(&mut self) -> Parse<Option<LockingClause>> {
        if self.eat_all(Keyword::Lock, &[Keyword::In, Keyword::Share, Keyword::Mode])? {
            let strength = LockStrength::Share;
            return Ok(Some(LockingClause { strength, tables: Vec::new(), wait: LockWait::Wait }));
        }
        if !self.eat(Keyword::For) {
            return Ok(None);
        }
        let strength = match self.eat_any(&[Keyword::Update, Keyword::Share]) {
            Some(Keyword::Update) => LockStrength::Update,
            Some(_) => LockStrength::Share,
            None => return Err(self.unexpected()),
        };
        let tables = if self.eat(Keyword::Of) { self.comma_list(Self::table_name)? } else { Vec::new() };
        let wait = if self.eat(Keyword::Nowait) {
            LockWait::NoWait
        } else if self.eat_all(Keyword::Skip, &[Keyword::Locked])? {
            LockWait::SkipLocked
        } else {
            LockWait::Wait
        };
        Ok(Some(LockingClause { strength, tables, wait }))
    }

    /// `[ORDER BY ...]`
    pub(super) fn order_by(&mut self) -> Parse<Vec<OrderItem>> {
        if !self.eat_all(Keyword::Order, &[Keyword::By])? {
            return Ok(Vec::new());
        }
        self.comma_list(Self::order_item)
    }

    /// A key of GROUP BY, which has no direction.
    pub(super) fn group_item(&mut self) -> Parse<OrderItem> {
        Ok(OrderItem { expr: self.expression()?, descending: false })
    }

    fn order_item(&mut self) -> Parse<OrderItem> {
        let expr = self.expression()?;
        let descending = self.eat_any(&[Keyword::Asc, Keyword::Desc]) == Some(Keyword::Desc);
        Ok(OrderItem { expr, descending })
    }

    /// `[LIMIT n]`, `LIMIT offset, n`, `LIMIT n OFFSET offset`
    pub(super) fn limit(&mut self) -> Parse<Option<Limit>> {
        if !self.eat(Keyword::Limit) {
            return Ok(None);
        }
        let first = self.limit_number()?;
        if self.eat_kind(TokenKind::Comma) {
            return Ok(Some(Limit { count: self.limit_number()?, offset: Some(first) }));
        }
        let offset = if self.eat(Keyword::Offset) { Some(self.limit_number()?) } else { None };
        Ok(Some(Limit { count: first, offset }))
    }

    fn limit_number(&mut self) -> Parse<Expr> {
        match self.token.kind {
            TokenKind::Parameter => self.simple(),
            TokenKind::Integer => {
                let beyond = self.unexpected();
                let number = self.integer().map_err(|_| beyond)?;
                Ok(Expr::Literal(Literal::Int(number)))
            }
            _ if self.at_name() => Err(self.undeclared()?),
            _ => Err(self.unexpected()),
        }
    }
}

/// A query without a tail.
pub(super) fn plain(body: QueryBody) -> Query {
    Query { with: None, body, order_by: Vec::new(), limit: None, locking: Vec::new(), into: Vec::new() }
}
