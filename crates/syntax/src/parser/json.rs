//! JSON_VALUE and JSON_TABLE, which have a syntax of their own.

use super::{Deprecated, Parse, Parser};
use crate::ast::{
    self, CastType, Expr, JsonTable, JsonTableColumn, Literal, Name, Query, QueryBody, Select, SelectItem,
    StringLiteral, TableRef,
};
use crate::lexer::{Keyword, TokenKind};

/// Length of what JSON_VALUE returns if nothing is said.
const VALUE_LENGTH: u64 = 512;

/// What happens where there is no value, or none of the type.
pub(super) struct OnMissing {
    /// `null`, `error` or `default`
    mode: &'static str,
    default: Expr,
}

impl OnMissing {
    fn null() -> OnMissing {
        OnMissing { mode: "null", default: Expr::Literal(Literal::Null) }
    }
}

pub(super) fn word(text: &str) -> Expr {
    Expr::Literal(Literal::String(StringLiteral { bytes: text.as_bytes().into(), introducer: None }))
}

impl Parser<'_> {
    /// A call that is no plain one. The frame of who calls this is on the stack once for each level of an
    /// expression.
    #[inline(never)]
    pub(super) fn json_call(&mut self, name: Name) -> Parse<Expr> {
        match &*name {
            "json_value" => self.json_value(),
            "json_merge" => {
                self.deprecated(Deprecated::JsonMerge);
                self.plain_call(name)
            }
            _ => Err(self.not_supported("JSON schemas")),
        }
    }

    /// `(document, 'path' [RETURNING type] [... ON EMPTY] [... ON ERROR])`, as a CAST of a call whose last
    /// arguments are the modes and their defaults.
    fn json_value(&mut self) -> Parse<Expr> {
        self.expect_kind(TokenKind::LeftParen)?;
        let document = self.expression()?;
        self.expect_kind(TokenKind::Comma)?;
        let path = Literal::String(StringLiteral { bytes: self.text()?, introducer: None });
        let target = if self.eat(Keyword::Returning) {
            self.cast_type()?
        } else {
            CastType::Char { length: Some(VALUE_LENGTH), charset: None }
        };
        let (mut empty, mut error) = (OnMissing::null(), OnMissing::null());
        if let Some((given, on_error)) = self.on_missing()? {
            *(if on_error { &mut error } else { &mut empty }) = given;
            if !on_error && let Some((given, on_error)) = self.on_missing()? {
                if !on_error {
                    return Err(self.unexpected());
                }
                error = given;
            }
        }
        self.expect_kind(TokenKind::RightParen)?;
        let arguments = vec![
            document,
            Expr::Literal(path),
            word(empty.mode),
            empty.default,
            word(error.mode),
            error.default,
        ];
        let operand = Box::new(super::expression::call("json_value", arguments));
        Ok(Expr::Cast { operand, target })
    }

    /// `{NULL | ERROR | DEFAULT literal} ON {EMPTY | ERROR}`, and whether it is ON ERROR.
    fn on_missing(&mut self) -> Parse<Option<(OnMissing, bool)>> {
        let given = if self.eat(Keyword::Null) {
            OnMissing::null()
        } else if self.eat(Keyword::Error) {
            OnMissing { mode: "error", ..OnMissing::null() }
        } else if self.eat(Keyword::Default) {
            let negative = self.eat_kind(TokenKind::Minus);
            let literal = Expr::Literal(self.literal()?);
            let default = match negative {
                true => Expr::Unary { op: crate::ast::UnaryOp::Negate, operand: Box::new(literal) },
                false => literal,
            };
            OnMissing { mode: "default", default }
        } else {
            return Ok(None);
        };
        self.expect(Keyword::On)?;
        let on_error = match self.eat_any(&[Keyword::Empty, Keyword::Error]) {
            Some(word) => word == Keyword::Error,
            None => return Err(self.unexpected()),
        };
        Ok(Some((given, on_error)))
    }

    /// `JSON_TABLE(document, 'path' COLUMNS (...)) [AS] alias`: a query of the document, which reads the
    /// tables to its left.
    pub(super) fn json_table(&mut self) -> Parse<TableRef> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        let document = self.expression()?;
        self.expect_kind(TokenKind::Comma)?;
        let table = self.nested(Self::json_columns)?;
        self.expect_kind(TokenKind::RightParen)?;
        let alias = match self.table_alias()? {
            Some(alias) => alias,
            None => return Err(self.failure(super::ParseErrorKind::TableFunctionWithoutAlias)),
        };
        let select = Select {
            distinct: false,
            straight_join: false,
            calc_found_rows: false,
            items: vec![SelectItem::Expr { expr: document, name: "document".into(), aliased: false }],
            from: Vec::new(),
            condition: None,
            group_by: Vec::new(),
            with_rollup: false,
            having: None,
            windows: Vec::new(),
            hints: Vec::new(),
        };
        let query = Query {
            with: None,
            body: QueryBody::Select(Box::new(select)),
            order_by: Vec::new(),
            limit: None,
            locking: Vec::new(),
            into: Vec::new(),
        };
        let json_table = Some(Box::new(table));
        Ok(TableRef::Derived {
            query: Box::new(query),
            alias,
            columns: Vec::new(),
            lateral: true,
            json_table,
        })
    }

    /// `'path' COLUMNS (column, ...)`
    fn json_columns(&mut self) -> Parse<JsonTable> {
        let path = self.text()?;
        self.expect(Keyword::Columns)?;
        self.expect_kind(TokenKind::LeftParen)?;
        let columns = self.comma_list(Self::json_column)?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(JsonTable { path, columns })
    }

    fn json_column(&mut self) -> Parse<JsonTableColumn> {
        if self.at(Keyword::Nested) && (self.peek_is(Keyword::Path) || self.peek() == TokenKind::String) {
            self.advance();
            self.expect(Keyword::Path)?;
            return Ok(JsonTableColumn::Nested(self.nested(Self::json_columns)?));
        }
        let name = self.name()?;
        if self.eat(Keyword::For) {
            self.expect(Keyword::Ordinality)?;
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let kind = self.column_type()?;
        let exists = self.eat(Keyword::Exists);
        self.expect(Keyword::Path)?;
        let path = self.text()?;
        let (mut empty, mut error) = (ast::OnMissing::Null, ast::OnMissing::Null);
        if !exists {
            let mut given = [false; 2];
            while let Some((missing, on_error)) = self.on_missing()? {
                if std::mem::replace(&mut given[usize::from(on_error)], true) {
                    return Err(self.unexpected());
                }
                if !on_error && given[1] {
                    self.deprecated(Deprecated::EmptyBehindError);
                }
                *(if on_error { &mut error } else { &mut empty }) = match (missing.mode, missing.default) {
                    ("null", _) => ast::OnMissing::Null,
                    ("error", _) => ast::OnMissing::Error,
                    (_, Expr::Literal(Literal::String(text))) => ast::OnMissing::Default(text.bytes),
                    _ => return Err(self.unexpected()),
                };
            }
        }
        Ok(JsonTableColumn::Path { name, kind, path, exists, empty, error })
    }
}
