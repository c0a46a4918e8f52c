//! Expressions of definitions (CHECK, DEFAULT) and queries of views as text, and back.
//!
//! The text is canonical: every operator in parentheses of its own, names in backticks, functions in lower
//! case, as MySQL prints them. It means the same under every `sql_mode`, so it is what the dictionary keeps;
//! a definition in memory holds the tree that comes from the text. Columns of an expression have no table and
//! its strings their character set; columns of a query have database and table, where these are not another
//! name, and its strings are as they were written.

mod json_table;
mod output;
mod query;
mod write;

use turnstile_syntax::ast::{self, Expr, Statement};
use turnstile_syntax::parser::{ParseOptions, parse};
use turnstile_values::error::{SqlError, SqlResult};

use output::{Names, Output};
use query::write_query;
use write::write_expr;

/// A text in quotes, as expressions show it.
pub fn quote_in_expression(text: &str) -> String {
    quoted(text, "\\'")
}

/// A text in quotes, a quote in it written so.
pub fn quoted(text: &str, quote: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str(quote),
            '\0' => quoted.push_str("\\0"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// The tree of a canonical text; None if it is not one.
pub fn parse_expression(text: &str) -> Option<Expr> {
    let statement = format!("DO {text}");
    let parsed =
        parse(statement.as_bytes(), ParseOptions { parameters: false, ..ParseOptions::default() }).ok()?;
    let Statement::Do(mut list) = parsed.statement else { return None };
    if list.len() == 1 && parsed.statement_end == statement.len() { list.pop() } else { None }
}

/// The canonical text of an expression.
pub fn expression_text(expr: &Expr) -> String {
    let mut text = Output::new(Names::Column);
    write_expr(expr, &mut text);
    text.into_text()
}

/// The canonical text of a query; `short`: names without their database, as where all of them are in the
/// current one.
pub fn query_text(query: &ast::Query, short: bool) -> String {
    let mut text = Output::new(if short { Names::Short } else { Names::Full });
    write_query(query, &mut text);
    text.into_text()
}

/// The tree of a query's canonical text, and how many levels it has; None if it is not one.
pub fn parse_query(text: &str) -> Option<(ast::Query, u32)> {
    let options = ParseOptions { parameters: false, ..ParseOptions::default() };
    let parsed = parse(text.as_bytes(), options).ok()?;
    let Statement::Select(query) = parsed.statement else { return None };
    (parsed.statement_end == text.trim_end().len()).then_some((*query, parsed.depth))
}

/// The tree of an expression's canonical text. Its parentheses nest more deeply than what was written may do;
/// an expression that could not be read back is refused.
pub fn canonical(expr: &Expr) -> SqlResult<Expr> {
    let too_deep =
        || SqlError::unknown_error("The expression is nested too deeply to be kept in a definition");
    parse_expression(&expression_text(expr)).ok_or_else(too_deep)
}

/// Names of the columns that an expression reads, each once.
pub fn columns_of(expr: &Expr) -> Vec<ast::Name> {
    fn collect(expr: &Expr, into: &mut Vec<ast::Name>) {
        let read = match expr {
            Expr::Column(name) => Some(&name.column),
            Expr::Default(Some(name)) => Some(&name.column),
            _ => None,
        };
        if let Some(name) = read
            && !into.iter().any(|known| known.eq_ignore_ascii_case(name))
        {
            into.push(name.clone());
        }
        turnstile_syntax::walk::children(expr, &mut |child| collect(child, into));
    }
    let mut names = Vec::new();
    collect(expr, &mut names);
    names
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::*;

    /// What is written, and its canonical text; None where they are the same.
    const CASES: &[(&str, Option<&str>)] = &[
        ("a > 0", Some("(`a` > 0)")),
        ("t.a>=1 AND b<5 AND c", Some("((`a` >= 1) and (`b` < 5) and `c`)")),
        ("(a = 1 OR b = 2) AND NOT c", Some("(((`a` = 1) or (`b` = 2)) and (not(`c`)))")),
        ("a IN (1, -2, 'x')", Some("(`a` in (1,-(2),_utf8mb4'x'))")),
        ("a NOT IN (1.50, 1e3)", Some("(`a` not in (1.50,1e3))")),
        ("a NOT BETWEEN 1 AND b + 1", Some("(`a` not between 1 and (`b` + 1))")),
        ("s LIKE 'a\\'b%' ESCAPE '|'", Some("(`s` like _utf8mb4'a\\'b%' escape _utf8mb4'|')")),
        ("s NOT LIKE 'x'", Some("(not((`s` like _utf8mb4'x')))")),
        ("s REGEXP '^a\\\\d'", Some("regexp_like(`s`,_utf8mb4'^a\\\\d')")),
        ("s NOT REGEXP 'a'", Some("(not(regexp_like(`s`,_utf8mb4'a')))")),
        ("a IS NOT NULL OR b IS UNKNOWN", Some("((`a` is not null) or (`b` is unknown))")),
        ("CASE WHEN a THEN 1 ELSE 2 END", Some("(case when `a` then 1 else 2 end)")),
        ("CASE a WHEN 1 THEN 'x' END = 'x'", Some("((case `a` when 1 then _utf8mb4'x' end) = _utf8mb4'x')")),
        ("-a * +2 DIV 3 % 4", Some("(((-(`a`) * 2) DIV 3) % 4)")),
        ("~a & 1 | 2 ^ 3 << 1 >> 2 XOR TRUE", Some("(((~(`a`) & 1) | (((2 ^ 3) << 1) >> 2)) xor true)")),
        ("CHAR_LENGTH(s) <=> SUBSTRING(s, 1, 2)", Some("(char_length(`s`) <=> substr(`s`,1,2))")),
        ("CURRENT_DATE + INTERVAL 1 YEAR", Some("(curdate() + interval 1 year)")),
        ("d - INTERVAL '1:2' HOUR_MINUTE", Some("(`d` - interval _utf8mb4'1:2' hour_minute)")),
        (
            "TIMESTAMPDIFF(MONTH, a, b) > EXTRACT(DAY_HOUR FROM c)",
            Some("(timestampdiff(month,`a`,`b`) > extract(day_hour from `c`))"),
        ),
        ("TRIM(LEADING 'x' FROM s) <> TRIM(s)", Some("(trim(leading _utf8mb4'x' from `s`) <> trim(`s`))")),
        ("TRIM(TRAILING FROM s)", Some("trim(trailing  from `s`)")),
        (
            "CAST(a AS DECIMAL(10, 2)) = CAST(b AS CHAR(3) CHARACTER SET latin1)",
            Some("(cast(`a` as decimal(10,2)) = cast(`b` as char(3) charset latin1))"),
        ),
        (
            "CAST(a AS UNSIGNED) = CAST(b AS DATETIME(3))",
            Some("(cast(`a` as unsigned) = cast(`b` as datetime(3)))"),
        ),
        (
            "CONVERT(s USING utf8mb4) COLLATE utf8mb4_bin = _binary'x'",
            Some("((convert(`s` using utf8mb4) collate utf8mb4_bin) = _binary'x')"),
        ),
        (
            "a = 0x4D OR b = b'101' OR c = N'x'",
            Some("((`a` = x'4d') or (`b` = x'05') or (`c` = _utf8mb3'x'))"),
        ),
        (
            "DATE '2026-01-31' < d AND TIME '10:00:00' < e",
            Some("((DATE'2026-01-31' < `d`) and (TIME'10:00:00' < `e`))"),
        ),
        ("`odd ``name` <> BINARY 'x'", Some("(`odd ``name` <> (binary _utf8mb4'x'))")),
        ("IF(a, b, NULL) IS NULL", Some("(if(`a`,`b`,NULL) is null)")),
        ("UUID_TO_BIN(UUID())", Some("uuid_to_bin(uuid())")),
        ("CONCAT('a\\nb', \"q\"\"q\")", Some("concat(_utf8mb4'a\\nb',_utf8mb4'q\"q')")),
        ("(a > 0)", Some("(`a` > 0)")),
        ("(a, 1) = (1, b)", Some("((`a` = 1) and (1 = `b`))")),
        ("(a, (b, 2)) <> (1, (c, 3))", Some("((`a` <> 1) or ((`b` <> `c`) or (2 <> 3)))")),
        (
            "(a, b) IN ((1, 2), (3, 4)) OR (a, b) < (5, 6)",
            Some("(((`a`,`b`) in ((1,2),(3,4))) or ((`a`,`b`) < (5,6)))"),
        ),
        ("DEFAULT(a) > b", Some("(default(`a`) > `b`)")),
        ("uuid()", None),
    ];

    #[test]
    fn texts_are_canonical_and_come_back() {
        for (written, expected) in CASES {
            let text = expression_text(&parse_expression(written).unwrap());
            assert_eq!(text, expected.unwrap_or(written), "{written}");
            let again = parse_expression(&text).unwrap_or_else(|| panic!("{text} is not read back"));
            assert_eq!(expression_text(&again), text, "{written}");
            // Once canonical, the tree comes back as it is.
            assert_eq!(parse_expression(&expression_text(&again)), Some(again), "{written}");
        }
    }

    #[test]
    fn what_is_no_expression_is_none() {
        for text in ["", "1, 2", "1; DO 2", "1 +", "?"] {
            assert_eq!(parse_expression(text), None, "{text}");
        }
    }

    #[test]
    fn columns_are_named_once() {
        let expr = parse_expression("a > B AND t.A < IF(b, c, 1)").unwrap();
        let names: Vec<_> = columns_of(&expr).iter().map(|name| name.to_string()).collect();
        assert_eq!(names, ["a", "B", "c"]);
    }
}
