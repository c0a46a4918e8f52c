//! INTERVAL and its units, and ODBC's words for them.

use super::expression::{ADD, call};
use super::name::lower;
use super::{Parse, Parser};
use crate::ast::{Expr, IntervalUnit};
use crate::lexer::{Keyword, TokenKind};

/// What INTERVAL began: an amount with its unit, or a call of the function of that name.
pub(super) type Interval = Result<(Expr, IntervalUnit), Expr>;

impl Parser<'_> {
    /// `INTERVAL amount unit + date`, or the function INTERVAL.
    pub(super) fn interval_first(&mut self) -> Parse<Expr> {
        match self.interval()? {
            Err(function) => Ok(function),
            Ok((amount, unit)) => {
                self.expect_kind(TokenKind::Plus)?;
                let date = Box::new(self.operand(ADD + 1)?);
                Ok(Expr::DateArithmetic { date, amount: Box::new(amount), unit, subtract: false })
            }
        }
    }

    /// At INTERVAL: `INTERVAL amount unit` or `INTERVAL(a, b, ...)`.
    pub(super) fn interval(&mut self) -> Parse<Interval> {
        self.expect(Keyword::Interval)?;
        let amount = if self.is(TokenKind::LeftParen) {
            match self.parenthesized()? {
                Expr::Row(items) => return Ok(Err(call("interval", items))),
                first => self.expression_after(first)?,
            }
        } else {
            self.expression()?
        };
        Ok(Ok((amount, self.interval_unit()?)))
    }

    pub(super) fn interval_unit(&mut self) -> Parse<IntervalUnit> {
        use IntervalUnit as Unit;
        let unit = match self.keyword() {
            Some(Keyword::Microsecond) => Unit::Microsecond,
            Some(Keyword::Second) => Unit::Second,
            Some(Keyword::Minute) => Unit::Minute,
            Some(Keyword::Hour) => Unit::Hour,
            Some(Keyword::Day) => Unit::Day,
            Some(Keyword::Week) => Unit::Week,
            Some(Keyword::Month) => Unit::Month,
            Some(Keyword::Quarter) => Unit::Quarter,
            Some(Keyword::Year) => Unit::Year,
            Some(Keyword::SecondMicrosecond) => Unit::SecondMicrosecond,
            Some(Keyword::MinuteMicrosecond) => Unit::MinuteMicrosecond,
            Some(Keyword::MinuteSecond) => Unit::MinuteSecond,
            Some(Keyword::HourMicrosecond) => Unit::HourMicrosecond,
            Some(Keyword::HourSecond) => Unit::HourSecond,
            Some(Keyword::HourMinute) => Unit::HourMinute,
            Some(Keyword::DayMicrosecond) => Unit::DayMicrosecond,
            Some(Keyword::DaySecond) => Unit::DaySecond,
            Some(Keyword::DayMinute) => Unit::DayMinute,
            Some(Keyword::DayHour) => Unit::DayHour,
            Some(Keyword::YearMonth) => Unit::YearMonth,
            _ => return self.odbc_unit(),
        };
        self.advance();
        Ok(unit)
    }

    /// SQL_TSI_DAY and its like.
    pub(super) fn odbc_unit(&mut self) -> Parse<IntervalUnit> {
        use IntervalUnit as Unit;
        let place = self.unexpected();
        let name = lower(self.name()?);
        Ok(match &*name {
            "sql_tsi_second" => Unit::Second,
            "sql_tsi_minute" => Unit::Minute,
            "sql_tsi_hour" => Unit::Hour,
            "sql_tsi_day" => Unit::Day,
            "sql_tsi_week" => Unit::Week,
            "sql_tsi_month" => Unit::Month,
            "sql_tsi_quarter" => Unit::Quarter,
            "sql_tsi_year" => Unit::Year,
            _ => return Err(place),
        })
    }
}
