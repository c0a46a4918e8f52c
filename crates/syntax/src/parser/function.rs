//! Function calls: plain ones, those with a syntax of their own, and those whose names are reserved words.

use super::name::lower;
use super::{Deprecated, Parse, Parser, native, window};
use crate::ast::{BinaryOp, Expr, FunctionCall, Literal, Name, Spelling, TrimSide};
use crate::lexer::{Keyword, Token, TokenKind};

impl Parser<'_> {
    /// At the parenthesis after `name`.
    pub(super) fn call_of(&mut self, name: Name) -> Parse<Expr> {
        let spelling = Spelling::of(&name);
        let name = lower(name);
        match &*name {
            "count" | "sum" | "avg" | "min" | "max" | "bit_and" | "bit_or" | "bit_xor" | "std" | "stddev"
            | "stddev_pop" | "stddev_samp" | "var_pop" | "var_samp" | "variance" | "group_concat"
            | "json_arrayagg" | "json_objectagg" => self.aggregate(name),
            "cast" => self.cast(),
            "extract" => self.extract(),
            "trim" => self.trim(),
            "substring" | "substr" | "mid" => self.substring(),
            "position" => self.position(),
            "date_add" | "adddate" => self.date_arithmetic(false, name.starts_with('a')),
            "date_sub" | "subdate" => self.date_arithmetic(true, name.starts_with('s')),
            "timestampadd" => self.timestamp_add(),
            "timestampdiff" => self.timestamp_diff(),
            "get_format" => self.get_format(),
            "weight_string" => self.weight_string(),
            "json_value" | "json_schema_valid" | "json_schema_validation_report" | "json_merge" => {
                self.json_call(name)
            }
            "found_rows" => {
                self.deprecated(Deprecated::FoundRows);
                self.plain_call(name).map(|call| spelt(call, spelling))
            }
            _ => self.plain_call(canonical(name)).map(|call| spelt(call, spelling)),
        }
    }

    /// Whether a name before a parenthesis is that of a function of the server's if one has that name.
    pub(super) fn calls_native(&self, name: Token) -> bool {
        let apart = name.end != self.token.start;
        match name.kind {
            TokenKind::QuotedIdentifier => {
                let span = self.span(name);
                !native::is_word(&span[1..span.len() - 1])
            }
            TokenKind::Identifier if apart && !self.options.ignore_space => {
                !native::is_word_before_parenthesis(self.span(name))
            }
            _ => true,
        }
    }

    /// At the parenthesis of a call that can only be that of a stored function.
    pub(super) fn stored_call(&mut self, schema: Option<Name>, name: Name) -> Parse<Expr> {
        let arguments = self.arguments("")?;
        match spelt(self.called(native::STORED.into(), arguments)?, Spelling::exactly(name)) {
            Expr::Function(mut function) => {
                function.schema = schema;
                Ok(Expr::Function(function))
            }
            other => Ok(other),
        }
    }

    /// At a reserved word that begins an operand only if it is a function.
    pub(super) fn reserved_call(&mut self, keyword: Keyword) -> Parse<Expr> {
        match keyword {
            Keyword::CurrentTimestamp | Keyword::Localtime | Keyword::Localtimestamp => {
                self.call_maybe_bare("now")
            }
            Keyword::CurrentDate => self.call_maybe_bare("curdate"),
            Keyword::CurrentTime => self.call_maybe_bare("curtime"),
            Keyword::CurrentUser => self.call_maybe_bare("current_user"),
            Keyword::UtcDate => self.call_maybe_bare("utc_date"),
            Keyword::UtcTime => self.call_maybe_bare("utc_time"),
            Keyword::UtcTimestamp => self.call_maybe_bare("utc_timestamp"),
            Keyword::If => self.call_named("if"),
            Keyword::Left => self.call_named("left"),
            Keyword::Right => self.call_named("right"),
            Keyword::Repeat => self.call_named("repeat"),
            Keyword::Replace => self.call_named("replace"),
            Keyword::Insert => self.call_named("insert"),
            Keyword::Database | Keyword::Schema => self.call_named("database"),
            Keyword::Grouping => self.call_named("grouping"),
            Keyword::Mod => self.modulo(),
            Keyword::Char => self.char_function(),
            Keyword::Convert => self.convert(),
            Keyword::Values => self.inserted_value(),
            Keyword::Match if self.peek() == TokenKind::LeftParen => {
                Err(self.not_supported("MATCH ... AGAINST"))
            }
            Keyword::Rank => window::window_call(self, "rank"),
            Keyword::DenseRank => window::window_call(self, "dense_rank"),
            Keyword::PercentRank => window::window_call(self, "percent_rank"),
            Keyword::CumeDist => window::window_call(self, "cume_dist"),
            Keyword::RowNumber => window::window_call(self, "row_number"),
            Keyword::Ntile => window::window_call(self, "ntile"),
            Keyword::Lag => window::window_call(self, "lag"),
            Keyword::Lead => window::window_call(self, "lead"),
            Keyword::FirstValue => window::window_call(self, "first_value"),
            Keyword::LastValue => window::window_call(self, "last_value"),
            Keyword::NthValue => window::window_call(self, "nth_value"),
            _ => Err(self.unexpected()),
        }
    }

    fn call_named(&mut self, name: &str) -> Parse<Expr> {
        self.advance();
        if !self.is(TokenKind::LeftParen) {
            return Err(self.unexpected());
        }
        self.plain_call(name.into())
    }

    fn call_maybe_bare(&mut self, name: &str) -> Parse<Expr> {
        self.advance();
        if self.is(TokenKind::LeftParen) {
            return self.plain_call(name.into());
        }
        Ok(super::expression::call(name, Vec::new()))
    }

    /// `(a, b, ...)` or `()`, as many as the grammar has the function take.
    fn arguments(&mut self, name: &str) -> Parse<Vec<Expr>> {
        self.expect_kind(TokenKind::LeftParen)?;
        let arguments = self.counted_arguments(name)?;
        self.close()?;
        Ok(arguments)
    }

    pub(super) fn close(&mut self) -> Parse<()> {
        self.expect_kind(TokenKind::RightParen).map(|_| ())
    }

    pub(super) fn plain_call(&mut self, name: Name) -> Parse<Expr> {
        let clock = matches!(&*name, "now" | "sysdate" | "curtime" | "utc_time" | "utc_timestamp");
        let arguments = if clock { self.digits_of_clock()? } else { self.arguments(&name)? };
        self.called(name, arguments)
    }

    fn called(&self, name: Name, arguments: Vec<Expr>) -> Parse<Expr> {
        Ok(super::expression::call(&name, arguments))
    }

    fn aggregate(&mut self, name: Name) -> Parse<Expr> {
        self.advance();
        let mut function = FunctionCall::named(&name);
        function.distinct = !name.starts_with("json_") && self.eat(Keyword::Distinct);
        if !function.distinct {
            self.eat(Keyword::All);
        }
        if *function.name == *"count" && !function.distinct && self.eat_kind(TokenKind::Star) {
            function.star = true;
        } else if function.name.starts_with("json_") {
            function.arguments.push(self.expression()?);
            if *function.name == *"json_objectagg" {
                self.expect_kind(TokenKind::Comma)?;
                function.arguments.push(self.expression()?);
            }
        } else if *function.name == *"count" && !function.distinct {
            function.arguments.push(self.expression()?);
        } else if matches!(&*function.name, "count" | "group_concat") {
            function.arguments = self.comma_list(Self::expression)?;
        } else {
            function.arguments = self.counted_arguments(&function.name)?;
        }
        if *function.name == *"group_concat" {
            function.order_by = self.order_by()?;
            if self.eat(Keyword::Separator) {
                function.separator = Some(if self.is(TokenKind::String) {
                    self.text()?
                } else {
                    let place = self.unexpected();
                    match self.literal()? {
                        Literal::Hex(bytes) | Literal::Bit(bytes) => bytes,
                        _ => return Err(place),
                    }
                });
            }
        }
        self.close()?;
        function.over = window::over(self)?.map(Box::new);
        Ok(Expr::Function(Box::new(function)))
    }

    fn modulo(&mut self) -> Parse<Expr> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        let left = Box::new(self.expression()?);
        self.expect_kind(TokenKind::Comma)?;
        let right = Box::new(self.expression()?);
        self.close()?;
        Ok(Expr::Binary { op: BinaryOp::Modulo, left, right })
    }

    /// A number, which may be hexadecimal.
    pub(super) fn number(&mut self) -> Parse<u64> {
        if !matches!(self.token.kind, TokenKind::HexNumber | TokenKind::HexString) {
            return self.integer();
        }
        let Literal::Hex(bytes) = self.literal()? else { return Err(self.unexpected()) };
        Ok(bytes.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte)))
    }

    /// `VALUES(column)`
    fn inserted_value(&mut self) -> Parse<Expr> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        let column = self.column_name()?;
        self.close()?;
        self.deprecated(Deprecated::InsertedValue);
        Ok(Expr::InsertedValue(column))
    }

    fn trim(&mut self) -> Parse<Expr> {
        self.advance();
        let side = match self.eat_any(&[Keyword::Both, Keyword::Leading, Keyword::Trailing]) {
            Some(Keyword::Leading) => TrimSide::Leading,
            Some(Keyword::Trailing) => TrimSide::Trailing,
            Some(_) => TrimSide::Both,
            None => {
                let first = Box::new(self.expression()?);
                let (remove, operand) = if self.eat(Keyword::From) {
                    (Some(first), Box::new(self.expression()?))
                } else {
                    (None, first)
                };
                self.close()?;
                return Ok(Expr::Trim { side: TrimSide::Both, remove, operand });
            }
        };
        let remove = if self.at(Keyword::From) { None } else { Some(Box::new(self.expression()?)) };
        self.expect(Keyword::From)?;
        let operand = Box::new(self.expression()?);
        self.close()?;
        Ok(Expr::Trim { side, remove, operand })
    }

    /// `SUBSTRING(s, from [, for])`, `SUBSTRING(s FROM from [FOR for])`
    fn substring(&mut self) -> Parse<Expr> {
        self.advance();
        let mut arguments = vec![self.expression()?];
        if self.eat(Keyword::From) {
            arguments.push(self.expression()?);
            if self.eat(Keyword::For) {
                arguments.push(self.expression()?);
            }
        } else {
            self.expect_kind(TokenKind::Comma)?;
            arguments.push(self.expression()?);
            if self.eat_kind(TokenKind::Comma) {
                arguments.push(self.expression()?);
            }
        }
        self.close()?;
        Ok(super::expression::call("substring", arguments))
    }

    /// `POSITION(a IN b)`
    fn position(&mut self) -> Parse<Expr> {
        self.advance();
        let needle = self.bit_expression()?;
        self.expect(Keyword::In)?;
        let arguments = vec![needle, self.expression()?];
        self.close()?;
        Ok(super::expression::call("locate", arguments))
    }

    /// `[(n)]`
    pub(super) fn optional_length(&mut self) -> Parse<Option<u64>> {
        if !self.eat_kind(TokenKind::LeftParen) {
            return Ok(None);
        }
        let length = self.integer()?;
        self.close()?;
        Ok(Some(length))
    }
}

/// The name under which synonyms are merged.
fn spelt(mut call: Expr, spelling: Spelling) -> Expr {
    if let Expr::Function(function) = &mut call {
        function.spelling = spelling;
    }
    call
}

fn canonical(name: Name) -> Name {
    match &*name {
        "curdate" | "current_date" => "curdate".into(),
        "curtime" | "current_time" => "curtime".into(),
        "now" | "current_timestamp" | "localtime" | "localtimestamp" => "now".into(),
        "schema" => "database".into(),
        _ => name,
    }
}
