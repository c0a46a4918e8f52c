//! One SELECT block: its modifiers, its list, WHERE, GROUP BY and HAVING.

use turnstile_values::error::SqlError;

use super::hint::finishing_words;
use super::query::plain;
use super::{Deprecated, Parse, Parser};
use crate::ast::{Clause, Expr, Literal, Name, Query, QueryBody, Select, SelectItem};
use crate::lexer::{Keyword, TokenKind};

/// Longest name MySQL gives a column after its expression, in characters.
const COLUMN_NAME_MAX: usize = 256;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Parse<Query> {
        if self.selects > super::SELECTS_AROUND_MAX {
            return Err(self.refused(SqlError::selects_nested_too_deeply()));
        }
        self.selects += 1;
        let query = self.select_block()?;
        self.selects -= 1;
        Ok(query)
    }

    pub(super) fn select_block(&mut self) -> Parse<Query> {
        self.advance();
        let hints = self.hints();
        finishing_words(self, Keyword::Select);
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
            windows: Vec::new(),
            hints: Vec::new(),
        };
        self.select_modifiers(&mut select)?;
        select.items = self.comma_list(Self::select_item)?;
        let into = if self.at(Keyword::Into) { self.variables_after_into()? } else { Vec::new() };
        if self.eat(Keyword::From) && !self.eat(Keyword::Dual) {
            select.from = self.table_references()?;
        }
        select.hints = hints.advice(&select.from, &mut self.aside.hints);
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
                let with_rollup = self.peek_is(Keyword::Rollup) && self.eat(Keyword::With);
                select.with_rollup = with_rollup && self.eat(Keyword::Rollup);
            }
        }
        if self.eat(Keyword::Having) {
            select.having = Some(self.expression()?);
        }
        select.windows = super::window::windows(self)?;
        let mut query = plain(QueryBody::Select(Box::new(select)));
        query.into = into;
        Ok(query)
    }

    /// `[WHERE condition]`
    pub(super) fn where_condition(&mut self) -> Parse<Option<Expr>> {
        if self.eat(Keyword::Where) { self.expression().map(Some) } else { Ok(None) }
    }

    pub(super) fn select_modifiers(&mut self, select: &mut Select) -> Parse<()> {
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

    pub(super) fn select_item(&mut self) -> Parse<SelectItem> {
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
    pub(super) fn heading(&self, expr: &Expr, start: usize, end: usize) -> Name {
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
    pub(super) fn qualified_wildcard(&mut self) -> Parse<Option<SelectItem>> {
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
    pub(super) fn alias(&mut self) -> Parse<Option<Name>> {
        if self.eat(Keyword::As) {
            return self.name_or_text().map(Some);
        }
        if self.at_name() || self.is(TokenKind::String) {
            return self.name_or_text().map(Some);
        }
        Ok(None)
    }
}
