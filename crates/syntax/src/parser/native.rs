//! Which names before a parenthesis are functions of the server's, and which can only be stored functions.
//!
//! Some functions are words of MySQL's grammar. In quotes or behind the name of a database these are no words
//! of it, so they name stored functions, of which there are none. A few of them are its words only where the
//! parenthesis follows at once, unless the `sql_mode` has IGNORE_SPACE; there they are no names of anything
//! else.

/// What a call is named that can only be that of a stored function: no function has this name.
pub const STORED: &str = "stored function";

/// Functions that are words of the grammar, in order.
static WORDS: &[&str] = &[
    "adddate",
    "ascii",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "char",
    "charset",
    "coalesce",
    "collation",
    "convert",
    "count",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "date",
    "date_add",
    "date_sub",
    "day",
    "extract",
    "format",
    "get_format",
    "group_concat",
    "grouping",
    "hour",
    "if",
    "insert",
    "interval",
    "json_arrayagg",
    "json_objectagg",
    "json_value",
    "lag",
    "left",
    "localtime",
    "localtimestamp",
    "log",
    "max",
    "microsecond",
    "mid",
    "min",
    "minute",
    "mod",
    "month",
    "now",
    "position",
    "quarter",
    "rank",
    "repeat",
    "replace",
    "reverse",
    "right",
    "row_count",
    "schema",
    "second",
    "session_user",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "time",
    "timestamp",
    "timestampadd",
    "timestampdiff",
    "trim",
    "truncate",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "values",
    "var_pop",
    "var_samp",
    "variance",
    "week",
    "weight_string",
    "year",
];

/// Those of them that are its words only before a parenthesis, in order.
static BEFORE_PARENTHESIS: &[&str] = &[
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "extract",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "mid",
    "min",
    "now",
    "position",
    "session_user",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "var_pop",
    "var_samp",
    "variance",
];

fn is_among(list: &[&str], name: &[u8]) -> bool {
    let lower = name.iter().map(u8::to_ascii_lowercase);
    list.binary_search_by(|word| word.bytes().cmp(lower.clone())).is_ok()
}

/// Whether a function of this name, in letters of either case, is a word of the grammar.
pub fn is_word(name: &[u8]) -> bool {
    is_among(WORDS, name)
}

/// Whether it is one only before a parenthesis.
pub(super) fn is_word_before_parenthesis(name: &[u8]) -> bool {
    is_among(BEFORE_PARENTHESIS, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(WORDS.is_sorted() && BEFORE_PARENTHESIS.is_sorted());
        assert!(BEFORE_PARENTHESIS.iter().all(|word| is_word(word.as_bytes())));
        assert!(is_word(b"Year") && !is_word(b"concat") && !is_word_before_parenthesis(b"avg"));
    }
}
