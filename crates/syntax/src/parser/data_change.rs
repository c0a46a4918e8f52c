//! INSERT, REPLACE, UPDATE, DELETE.

use super::hint::finishing_words;
use super::{Parse, Parser};
use crate::ast::{
    Assignment, Clause, Delete, Expr, Insert, InsertSource, LiteralKind, LiteralRows, Name, RowAlias,
    Statement, TableFactor, TableRef, Update,
};
use crate::lexer::{Keyword, TokenKind};
use std::sync::Arc;

/// VALUES with at least so many bytes behind them are tried as [`LiteralRows`].
const LITERAL_ROWS_BYTES_MIN: usize = 16 * 1024;

/// Whole numbers of so many digits fit an `i64` with either sign.
const INTEGER_DIGITS_MAX: u32 = 18;

impl Parser<'_> {
    /// INSERT and REPLACE.
    pub(super) fn insert(&mut self) -> Parse<Statement> {
        let replace = self.advance().kind == TokenKind::Keyword(Keyword::Replace);
        let hints = self.hints();
        self.waiting_hints.insert(hints);
        finishing_words(self, Keyword::Insert);
        if !self.note_any(&[Keyword::LowPriority, Keyword::HighPriority], Clause::Priority) {
            self.note_any(&[Keyword::Delayed], Clause::Delayed(replace));
        }
        let ignore = !replace && self.eat(Keyword::Ignore);
        finishing_words(self, Keyword::Insert);
        self.eat(Keyword::Into);
        let table = self.table_name()?;
        self.refuse_partitions_of_table()?;
        let mut insert = Insert {
            replace,
            ignore,
            table,
            columns: Vec::new(),
            source: InsertSource::Rows(Vec::new()),
            row_alias: None,
            on_duplicate: Vec::new(),
        };
        let may_be_named = match self.eat(Keyword::Set) {
            true => self.insert_set(&mut insert)?,
            false => self.insert_columns_and_rows(&mut insert)?,
        };
        if !replace {
            self.insert_tail(&mut insert, may_be_named)?;
        }
        self.waiting_hints.insert_rows(&insert.table, &mut self.aside.hints);
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// `SET a = 1, b = 2`: the columns and one row, which may have a name.
    fn insert_set(&mut self, insert: &mut Insert) -> Parse<bool> {
        let mut row = Vec::new();
        for assignment in self.assignments()? {
            insert.columns.push(assignment.column.column);
            row.push(assignment.value);
        }
        insert.source = InsertSource::Rows(vec![row]);
        Ok(true)
    }

    /// Whether the row may have a name, which `VALUES ROW(...)` may not.
    fn insert_columns_and_rows(&mut self, insert: &mut Insert) -> Parse<bool> {
        let mut parenthesized_query = false;
        if self.is(TokenKind::LeftParen) {
            let next = self.peek();
            parenthesized_query = matches!(
                next,
                TokenKind::LeftParen | TokenKind::Keyword(Keyword::Select | Keyword::With | Keyword::Table)
            );
            if !parenthesized_query {
                insert.columns = self.insert_columns()?;
            }
        }
        let rows = !parenthesized_query && self.at(Keyword::Values) && self.peek_is(Keyword::Row);
        if rows && let Some(rows) = self.rows_of_rows()? {
            insert.source = InsertSource::Rows(rows);
            return Ok(false);
        }
        if !rows && !parenthesized_query && self.eat_any(&[Keyword::Values, Keyword::Value]).is_some() {
            insert.source = match self.literal_rows() {
                Some(rows) => InsertSource::Literals(Arc::new(rows)),
                None => InsertSource::Rows(self.value_rows()?),
            };
        } else if self.at_query() || self.is(TokenKind::LeftParen) {
            self.waiting_hints.insert_query();
            insert.source = InsertSource::Query(Box::new(self.nested(Self::query)?));
        } else {
            return Err(self.unexpected());
        }
        Ok(!matches!(insert.source, InsertSource::Query(_)))
    }

    fn insert_columns(&mut self) -> Parse<Vec<Name>> {
        self.expect_kind(TokenKind::LeftParen)?;
        if self.eat_kind(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let columns = self.comma_list(|parser| Ok(parser.column_name()?.column))?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(columns)
    }

    /// Many rows of plain literals; None, and nothing has been read, if they are few or there is anything
    /// else among them.
    fn literal_rows(&mut self) -> Option<LiteralRows> {
        let first = self.token.start as usize;
        if self.text.len() - first < LITERAL_ROWS_BYTES_MIN {
            return None;
        }
        let before = (self.lexer, self.token, self.previous_end);
        let mut rows = LiteralRows::new(!self.options.no_backslash_escapes);
        self.settle();
        self.metering.token_bytes = super::LITERAL_TOKEN_BYTES;
        let are_literal = self.read_literal_rows(&mut rows, first);
        self.settle();
        self.metering.token_bytes = super::TOKEN_BYTES;
        if are_literal {
            rows.set_text(&self.text[first..self.previous_end as usize]);
            return Some(rows);
        }
        (self.lexer, self.token, self.previous_end) = before;
        None
    }

    fn read_literal_rows(&mut self, rows: &mut LiteralRows, first: usize) -> bool {
        loop {
            if !self.eat_kind(TokenKind::LeftParen) {
                return false;
            }
            loop {
                let mut token = self.advance();
                let negative = token.kind == TokenKind::Minus;
                if negative {
                    token = self.advance();
                }
                let kind = match token.kind {
                    TokenKind::Integer if token.end - token.start > INTEGER_DIGITS_MAX => return false,
                    TokenKind::Integer if negative => LiteralKind::NegativeInteger,
                    TokenKind::Integer => LiteralKind::Integer,
                    TokenKind::String if !negative => LiteralKind::String,
                    TokenKind::Keyword(Keyword::Null) if !negative => LiteralKind::Null,
                    _ => return false,
                };
                rows.push(kind, token.start as usize - first, token.end as usize - first);
                match self.advance().kind {
                    TokenKind::Comma => {}
                    TokenKind::RightParen => break,
                    _ => return false,
                }
            }
            if !rows.end_row() {
                return false;
            }
            if !self.eat_kind(TokenKind::Comma) {
                return true;
            }
        }
    }

    /// `(1, 2), (3, DEFAULT)` and the empty row `()`
    fn value_rows(&mut self) -> Parse<Vec<Vec<Expr>>> {
        self.comma_list(Self::row_of_values)
    }

    /// The rows of `VALUES ROW(1, 2), ROW(3, DEFAULT)`; None, and nothing has been read, if they are part of
    /// a query.
    fn rows_of_rows(&mut self) -> Parse<Option<Vec<Vec<Expr>>>> {
        let before = (self.lexer, self.token, self.previous_end);
        self.advance();
        let rows = self.comma_list(|parser| {
            parser.expect(Keyword::Row)?;
            parser.row_of_values()
        })?;
        let goes_on = [
            Keyword::Order,
            Keyword::Limit,
            Keyword::Union,
            Keyword::Except,
            Keyword::Intersect,
            Keyword::For,
            Keyword::Lock,
            Keyword::Into,
        ];
        if goes_on.iter().any(|keyword| self.at(*keyword)) {
            (self.lexer, self.token, self.previous_end) = before;
            return Ok(None);
        }
        Ok(Some(rows))
    }

    /// `(1, 2)` and `()`
    pub(super) fn row_of_values(&mut self) -> Parse<Vec<Expr>> {
        self.expect_kind(TokenKind::LeftParen)?;
        if self.eat_kind(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let row = self.comma_list(Self::expression)?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(row)
    }

    fn insert_tail(&mut self, insert: &mut Insert, may_be_named: bool) -> Parse<()> {
        if may_be_named && self.eat(Keyword::As) {
            let table = self.name()?;
            let columns = if self.is(TokenKind::LeftParen) { self.name_list()? } else { Vec::new() };
            insert.row_alias = Some(RowAlias { table, columns });
        }
        if self.eat_all(Keyword::On, &[Keyword::Duplicate, Keyword::Key, Keyword::Update])? {
            insert.on_duplicate = self.assignments()?;
        }
        Ok(())
    }

    /// `a = 1, t.b := DEFAULT`
    fn assignments(&mut self) -> Parse<Vec<Assignment>> {
        self.comma_list(|parser| {
            let column = parser.column_name()?;
            if !parser.eat_kind(TokenKind::Equal) {
                parser.expect_kind(TokenKind::Assign)?;
            }
            Ok(Assignment { column, value: parser.expression()? })
        })
    }

    /// UPDATE.
    pub(super) fn update(&mut self) -> Parse<Statement> {
        self.advance();
        let hints = self.hints();
        finishing_words(self, Keyword::Update);
        self.note_any(&[Keyword::LowPriority], Clause::Priority);
        let ignore = self.eat(Keyword::Ignore);
        finishing_words(self, Keyword::Update);
        let tables = self.table_references()?;
        let hints = hints.advice(&tables, &mut self.aside.hints);
        self.expect(Keyword::Set)?;
        let assignments = self.assignments()?;
        let condition = self.where_condition()?;
        let mut update = Update {
            with: None,
            ignore,
            tables,
            assignments,
            condition,
            order_by: Vec::new(),
            limit: None,
            hints,
        };
        update.order_by = self.order_by()?;
        update.limit = self.row_limit()?;
        Ok(Statement::Update(Box::new(update)))
    }

    /// LIMIT of a data change: no offset.
    fn row_limit(&mut self) -> Parse<Option<crate::ast::Limit>> {
        let limit = self.limit()?;
        if limit.as_ref().is_some_and(|limit| limit.offset.is_some()) {
            return Err(self.unexpected());
        }
        Ok(limit)
    }

    /// DELETE.
    pub(super) fn delete(&mut self) -> Parse<Statement> {
        self.advance();
        let hints = self.hints();
        let mut delete = delete_of(self)?;
        delete.hints = hints.advice(&delete.from, &mut self.aside.hints);
        Ok(Statement::Delete(Box::new(delete)))
    }
}

/// What stands behind DELETE and its hints.
fn delete_of(parser: &mut Parser<'_>) -> Parse<Delete> {
    let mut ignore = false;
    finishing_words(parser, Keyword::Delete);
    while let Some(word) = parser.eat_any(&[Keyword::LowPriority, Keyword::Quick, Keyword::Ignore]) {
        match word {
            Keyword::Ignore => ignore = true,
            Keyword::Quick => parser.note(Clause::Quick),
            _ => parser.note(Clause::Priority),
        }
    }
    finishing_words(parser, Keyword::Delete);
    let mut delete = Delete {
        with: None,
        ignore,
        targets: Vec::new(),
        from: Vec::new(),
        condition: None,
        order_by: Vec::new(),
        limit: None,
        hints: Vec::new(),
    };
    if !parser.eat(Keyword::From) {
        // DELETE a, b FROM ...
        delete.targets = parser.comma_list(Parser::delete_target)?;
        parser.expect(Keyword::From)?;
        delete.from = parser.table_references()?;
        delete.condition = parser.where_condition()?;
        return Ok(delete);
    }
    let first = parser.delete_target()?;
    if parser.is(TokenKind::Comma) || parser.at(Keyword::Using) {
        // DELETE FROM a, b USING ...
        delete.targets.push(first);
        while parser.eat_kind(TokenKind::Comma) {
            delete.targets.push(parser.delete_target()?);
        }
        parser.expect(Keyword::Using)?;
        delete.from = parser.table_references()?;
        delete.condition = parser.where_condition()?;
        return Ok(delete);
    }
    parser.refuse_partitions_of_table()?;
    let alias = parser.table_alias()?;
    delete.from.push(TableRef::Table(TableFactor { name: first, alias, hints: Vec::new() }));
    delete.condition = parser.where_condition()?;
    delete.order_by = parser.order_by()?;
    delete.limit = parser.row_limit()?;
    Ok(delete)
}
