//! SELECT, VALUES, TABLE, and what combines and ends them.

use super::error::Failure;
use super::{Deprecated, Parse, Parser};
use crate::ast::{
    Clause, CommonTable, Expr, Limit, Literal, LockStrength, LockWait, LockingClause, Name, OrderItem, Query,
    QueryBody, Select, SelectItem, SetOperator, With,
};
use crate::lexer::{Keyword, TokenKind};
use turnstile_values::error::SqlError;

/// Longest name MySQL gives a column after its expression, in characters.
const COLUMN_NAME_MAX: usize = 256;

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

    fn variables_after_into(&mut self) -> Parse<Vec<Name>> {
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
    fn group_item(&mut self) -> Parse<OrderItem> {
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

    fn select(&mut self) -> Parse<Query> {
        if self.selects > super::SELECTS_AROUND_MAX {
            return Err(self.refused(SqlError::selects_nested_too_deeply()));
        }
        self.selects += 1;
        let query = self.select_block()?;
        self.selects -= 1;
        Ok(query)
    }

    fn select_block(&mut self) -> Parse<Query> {
        self.advance();
        self.hints();
        let mut select = Select {
            distinct: false,
            straight_join: false,
            calc_found_rows: false,
            items: Vec::new(),
            from: Vec::new(),
            condition: None,
            group_by: Vec::new(),
            with_rollup: false,
            having: None,
        };
        self.select_modifiers(&mut select)?;
        select.items = self.comma_list(Self::select_item)?;
        let into = if self.at(Keyword::Into) { self.variables_after_into()? } else { Vec::new() };
        if self.eat(Keyword::From) && !self.eat(Keyword::Dual) {
            select.from = self.table_references()?;
        }
        select.condition = self.where_condition()?;
        if self.eat_all(Keyword::Group, &[Keyword::By])? {
            select.with_rollup = self.at(Keyword::Rollup) && self.peek() == TokenKind::LeftParen;
            if select.with_rollup {
                self.advance();
                self.expect_kind(TokenKind::LeftParen)?;
            }
            select.group_by = self.comma_list(Self::group_item)?;
            if select.with_rollup {
                self.expect_kind(TokenKind::RightParen)?;
            } else {
                select.with_rollup = self.eat_all(Keyword::With, &[Keyword::Rollup])?;
            }
        }
        if self.eat(Keyword::Having) {
            select.having = Some(self.expression()?);
        }
        if self.at(Keyword::Window) {
            return Err(self.not_supported("window functions"));
        }
        let mut query = plain(QueryBody::Select(Box::new(select)));
        query.into = into;
        Ok(query)
    }

    /// `[WHERE condition]`
    pub(super) fn where_condition(&mut self) -> Parse<Option<Expr>> {
        if self.eat(Keyword::Where) { self.expression().map(Some) } else { Ok(None) }
    }

    fn select_modifiers(&mut self, select: &mut Select) -> Parse<()> {
        let mut all = false;
        while let Some(keyword) = self.keyword() {
            match keyword {
                Keyword::Distinct | Keyword::Distinctrow => select.distinct = true,
                Keyword::All => all = true,
                Keyword::StraightJoin => select.straight_join = true,
                Keyword::SqlCalcFoundRows => {
                    self.deprecated(Deprecated::CountAllRows);
                    select.calc_found_rows = true;
                }
                Keyword::HighPriority => self.note(Clause::Priority),
                Keyword::SqlSmallResult | Keyword::SqlBigResult => self.note(Clause::ResultSize),
                // Not reserved, so maybe a column: a modifier only if a select list follows.
                Keyword::SqlNoCache | Keyword::SqlBufferResult => match self.peek() {
                    TokenKind::Comma | TokenKind::End | TokenKind::Semicolon => return Ok(()),
                    TokenKind::Keyword(Keyword::From | Keyword::As) => return Ok(()),
                    _ if keyword == Keyword::SqlBufferResult => self.note(Clause::ResultSize),
                    _ => self.deprecated(Deprecated::NoCache),
                },
                _ => break,
            }
            self.advance();
            if all && select.distinct {
                return Err(self.refused(SqlError::all_and_distinct()));
            }
        }
        Ok(())
    }

    fn select_item(&mut self) -> Parse<SelectItem> {
        if self.eat_kind(TokenKind::Star) {
            return Ok(SelectItem::Wildcard { schema: None, table: None });
        }
        if self.at_name()
            && self.peek() == TokenKind::Dot
            && let Some(wildcard) = self.qualified_wildcard()?
        {
            return Ok(wildcard);
        }
        let start = self.token.start as usize;
        let expr = self.expression()?;
        let end = self.previous_end as usize;
        if let Some(alias) = self.alias()? {
            return Ok(SelectItem::Expr { expr, name: alias, aliased: true });
        }
        let name = self.heading(&expr, start, end);
        Ok(SelectItem::Expr { expr, name, aliased: false })
    }

    /// The name of a select list's entry without an alias: a column's name, the first part of a string
    /// without the white space before it, a number without parentheses around it, else the text as written.
    fn heading(&self, expr: &Expr, start: usize, end: usize) -> Name {
        let text = String::from_utf8_lossy(&self.text[start..end]);
        let text = match expr {
            Expr::Function(call) if *call.name == *"name_const" => match call.arguments.first() {
                Some(Expr::Literal(Literal::String(name))) => {
                    return String::from_utf8_lossy(&name.bytes).into_owned().into();
                }
                _ => &*text,
            },
            Expr::Column(column) => return column.column.clone(),
            Expr::Literal(Literal::Null) => return "NULL".into(),
            Expr::Literal(Literal::String(string)) => {
                let first = string.bytes.get(..self.first_part).unwrap_or(&string.bytes);
                return String::from_utf8_lossy(first).trim_ascii_start().into();
            }
            Expr::Literal(Literal::Int(_) | Literal::Decimal(_) | Literal::Double(_)) => {
                text.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_ascii_whitespace())
            }
            _ => &text,
        };
        match text.char_indices().nth(COLUMN_NAME_MAX) {
            Some((cut, _)) => text[..cut].into(),
            None => text.into(),
        }
    }

    /// `t.*`, `s.t.*`: consumed only if it is one.
    fn qualified_wildcard(&mut self) -> Parse<Option<SelectItem>> {
        let mut ahead = self.lexer;
        let dot = ahead.next_token();
        let second = ahead.next_token();
        if second.kind == TokenKind::Star {
            let table = self.name()?;
            self.advance();
            self.advance();
            return Ok(Some(SelectItem::Wildcard { schema: None, table: Some(table) }));
        }
        if dot.kind == TokenKind::Dot
            && ahead.next_token().kind == TokenKind::Dot
            && ahead.next_token().kind == TokenKind::Star
        {
            let schema = self.name()?;
            self.advance();
            let table = self.any_name()?;
            self.advance();
            self.advance();
            return Ok(Some(SelectItem::Wildcard { schema: Some(schema), table: Some(table) }));
        }
        Ok(None)
    }

    /// `[[AS] alias]` of a select item: a name or a string.
    fn alias(&mut self) -> Parse<Option<Name>> {
        if self.eat(Keyword::As) {
            return self.name_or_text().map(Some);
        }
        if self.at_name() || self.is(TokenKind::String) {
            return self.name_or_text().map(Some);
        }
        Ok(None)
    }
}

/// A query without a tail.
fn plain(body: QueryBody) -> Query {
    Query { with: None, body, order_by: Vec::new(), limit: None, locking: Vec::new(), into: Vec::new() }
}
