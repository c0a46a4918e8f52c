//! How many arguments the functions take whose calls the grammar itself knows: another number is no call at
//! all (1064), where that of any other function is only wrong (1582).

use super::{Parse, Parser};
use crate::ast::Expr;
use crate::lexer::TokenKind;

/// The least and the greatest number of arguments; any number where the grammar knows nothing of the
/// function.
fn of_call(name: &str) -> (usize, usize) {
    match name {
        "curdate" | "current_user" | "database" | "row_count" | "session_user" | "system_user" | "user"
        | "utc_date" => (0, 0),
        "ascii" | "charset" | "collation" | "date" | "day" | "hour" | "microsecond" | "minute" | "month"
        | "quarter" | "reverse" | "second" | "time" | "year" => (1, 1),
        "avg" | "bit_and" | "bit_or" | "bit_xor" | "max" | "min" | "std" | "stddev" | "stddev_pop"
        | "stddev_samp" | "sum" | "var_pop" | "var_samp" | "variance" | "json_arrayagg" => (1, 1),
        "log" | "timestamp" | "week" => (1, 2),
        "coalesce" | "grouping" => (1, usize::MAX),
        "left" | "repeat" | "right" | "truncate" => (2, 2),
        "format" | "substring" => (2, 3),
        "if" | "replace" => (3, 3),
        "insert" => (4, 4),
        _ => (0, usize::MAX),
    }
}

impl Parser<'_> {
    /// The arguments of a call up to its closing parenthesis: `a, b, ...`.
    pub(super) fn counted_arguments(&mut self, name: &str) -> Parse<Vec<Expr>> {
        let (least, most) = of_call(name);
        let mut arguments = Vec::new();
        if most == 0 && !self.is(TokenKind::RightParen) {
            return Err(self.unexpected());
        }
        if least > 0 || !self.is(TokenKind::RightParen) {
            arguments.push(self.expression()?);
            while arguments.len() < most && self.eat_kind(TokenKind::Comma) {
                arguments.push(self.expression()?);
            }
        }
        if arguments.len() < least { Err(self.unexpected()) } else { Ok(arguments) }
    }
}
