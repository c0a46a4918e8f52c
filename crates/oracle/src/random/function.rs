//! Functions and operators by what they give. In braces stand what they take: `n` a number, `f` a double, `t`
//! a text, `d` a date, `m` a time, `b` bytes, `j` a document, `x` any of them, `c` a condition, `k` a small
//! number. None depends on the moment or on chance.

use super::{Kind, Maker};

const NUMBERS: &[&str] = &[
    "({n} + {n})",
    "({n} - {n})",
    "({n} * {n})",
    "({n} / {n})",
    "({n} DIV {n})",
    "({n} % {n})",
    "ABS({n})",
    "CHAR_LENGTH({t})",
    "YEAR({d})",
    "({c})",
    "ROUND({n}, {k})",
    "ROUND({n})",
    "TRUNCATE({n}, {k})",
    "FLOOR({n})",
    "CEILING({n})",
    "SIGN({n})",
    "-({n})",
    "LENGTH({x})",
    "LOCATE({t}, {t})",
    "INSTR({t}, {t})",
    "FIELD({t}, {t}, {t})",
    "FIELD({n}, {n}, {n})",
    "FIND_IN_SET({t}, 'a,b,ab')",
    "STRCMP({t}, {t})",
    "ASCII({t})",
    "ORD({t})",
    "MONTH({d})",
    "DAYOFMONTH({d})",
    "WEEK({d}, {k})",
    "DATEDIFF({d}, {d})",
    "TO_DAYS({d})",
    "DAYOFWEEK({d})",
    "QUARTER({d})",
    "EXTRACT(YEAR_MONTH FROM {d})",
    "TIMESTAMPDIFF(DAY, {d}, {d})",
    "HOUR({m})",
    "MINUTE({m})",
    "MICROSECOND({m})",
    "TIME_TO_SEC({m})",
    "INTERVAL({n}, 0, 2, 5)",
    "BIT_COUNT({n})",
    "({n} & {n})",
    "({n} | {k})",
    "({n} ^ {k})",
    "({n} << {k})",
    "({n} >> {k})",
    "CRC32({t})",
    "JSON_LENGTH({j})",
    "JSON_DEPTH({j})",
    "JSON_VALID({x})",
    "JSON_CONTAINS({j}, {j})",
    "CAST({x} AS SIGNED)",
    "CAST({n} AS UNSIGNED)",
    "CAST({n} AS DECIMAL(10,2))",
    "CAST({x} AS DECIMAL(8,3))",
    "ISNULL({x})",
    "COERCIBILITY({t})",
    "({d} + {k})",
    "({m} + {k})",
    "MOD({n}, {n})",
    "YEAR({d}) * 100",
    "CONVERT({n}, DECIMAL(12,4))",
];

const DOUBLES: &[&str] = &[
    "({f} + {f})",
    "({f} * {n})",
    "-({f})",
    "({f} / {n})",
    "ABS({f})",
    "ROUND({f}, {k})",
    "({t} + {n})",
    "SQRT({n})",
    "POW({n}, {k})",
    "CAST({x} AS DOUBLE)",
    "FLOOR({f})",
    "({f} % {n})",
    "CAST({n} AS FLOAT)",
    "({t} * {k})",
];

const TEXTS: &[&str] = &[
    "CONCAT({t}, {t})",
    "CONCAT({t}, {x})",
    "CONCAT({x}, {x})",
    "UPPER({t})",
    "LOWER({t})",
    "LEFT({t}, {k})",
    "RIGHT({t}, {k})",
    "SUBSTRING({t}, {k}, {k})",
    "SUBSTRING({t}, {n})",
    "REPLACE({t}, 'a', 'b')",
    "REPLACE({t}, 'a', 'xyz')",
    "REPLACE({t}, 'ab', '')",
    "REPLACE({t}, {t}, {t})",
    "CAST({n} AS CHAR)",
    "CAST({x} AS CHAR)",
    "CAST({x} AS CHAR(3))",
    "CONCAT_WS('-', {t}, {n})",
    "CONCAT_WS({t}, {x}, {x})",
    "TRIM({t})",
    "TRIM(LEADING 'a' FROM {t})",
    "REVERSE({t})",
    "LPAD({t}, {k}, {t})",
    "RPAD({t}, {k}, 'xy')",
    "REPEAT({t}, {k})",
    "INSERT({t}, {k}, {k}, {t})",
    "HEX({x})",
    "CONV({n}, 10, 16)",
    "BIN({n})",
    "OCT({n})",
    "ELT({n}, {t}, {t})",
    "QUOTE({t})",
    "SUBSTRING_INDEX({t}, 'a', {k})",
    "DATE_FORMAT({d}, '%Y-%m-%d %H:%i:%s.%f')",
    "DATE_FORMAT({d}, '%a %b %e %j %u')",
    "TIME_FORMAT({m}, '%H:%i:%s')",
    "DAYNAME({d})",
    "MONTHNAME({d})",
    "FORMAT({n}, {k})",
    "MAKE_SET({n}, {t}, {t})",
    "EXPORT_SET({n}, 'Y', 'N', ',', 4)",
    "SOUNDEX({t})",
    "JSON_UNQUOTE({j})",
    "JSON_TYPE({j})",
    "JSON_UNQUOTE(JSON_EXTRACT({j}, '$.a'))",
    "TO_BASE64({x})",
    "CHARSET({x})",
    "COLLATION({t})",
];

const DATES: &[&str] = &[
    "DATE_ADD({d}, INTERVAL {k} DAY)",
    "DATE_ADD({d}, INTERVAL {n} MONTH)",
    "DATE_ADD({d}, INTERVAL {k} YEAR)",
    "DATE_SUB({d}, INTERVAL {n} HOUR)",
    "LAST_DAY({d})",
    "CAST({d} AS DATE)",
    "CAST({d} AS DATETIME)",
    "CAST({d} AS DATETIME(2))",
    "DATE({d})",
    "TIMESTAMP({d})",
    "TIMESTAMP({d}, {m})",
    "MAKEDATE(2024, {k})",
    "STR_TO_DATE('2024-05-06', '%Y-%m-%d')",
    "FROM_DAYS(738000 + {k})",
    "({d} + INTERVAL {k} SECOND)",
    "ADDTIME({d}, {m})",
];

const TIMES: &[&str] = &[
    "CAST({m} AS TIME)",
    "CAST({m} AS TIME(3))",
    "TIME({d})",
    "MAKETIME({k}, {k}, {k})",
    "SEC_TO_TIME({n})",
    "TIMEDIFF({m}, {m})",
    "ADDTIME({m}, {m})",
    "SUBTIME({m}, '00:30:00')",
];

const BYTES: &[&str] =
    &["CAST({x} AS BINARY)", "UNHEX({t})", "CONCAT({b}, {b})", "LEFT({b}, {k})", "UNHEX(HEX({x}))"];

const DOCUMENTS: &[&str] = &[
    "JSON_ARRAY({x}, {x})",
    "JSON_OBJECT('a', {x})",
    "JSON_EXTRACT({j}, '$.a')",
    "JSON_EXTRACT({j}, '$[0]')",
    "JSON_SET({j}, '$.a', {x})",
    "JSON_MERGE_PATCH({j}, {j})",
    "JSON_MERGE_PRESERVE({j}, {j})",
    "CAST({n} AS JSON)",
    "JSON_KEYS({j})",
];

impl Maker<'_> {
    /// A function or operator that gives this kind.
    pub(super) fn function(&mut self, kind: Kind, depth: usize) -> String {
        let of = match kind {
            Kind::Number => NUMBERS,
            Kind::Double => DOUBLES,
            Kind::Text => TEXTS,
            Kind::Date => DATES,
            Kind::Time => TIMES,
            Kind::Bytes => BYTES,
            Kind::Json => DOCUMENTS,
        };
        // The first ones are what people write most.
        let among = if self.once_in(2) { of.len().min(12) } else { of.len() };
        let template = of[self.rng.index(among)];
        self.fill(template, depth)
    }

    fn fill(&mut self, template: &str, depth: usize) -> String {
        let mut text = String::new();
        let mut rest = template;
        let mut first = true;
        while let Some((before, behind)) = rest.split_once('{') {
            text += before;
            let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
            // Only one operand is deep, so that statements stay readable.
            let deep = if first { depth } else { 0 };
            first = false;
            text += &match name {
                "n" => self.mostly(Kind::Number, deep),
                "f" => self.mostly(Kind::Double, deep),
                "t" => self.mostly(Kind::Text, deep),
                "d" => self.mostly(Kind::Date, deep),
                "m" => self.mostly(Kind::Time, deep),
                "b" => self.mostly(Kind::Bytes, deep),
                "j" => self.value(Kind::Json, deep),
                "c" => self.condition(deep),
                "k" => self.rng.below(5).to_string(),
                _ => {
                    let kind = self.any_kind();
                    self.value(kind, deep)
                }
            };
            rest = after;
        }
        text + rest
    }

    /// A value of a kind; in statements that mix kinds, sometimes of another.
    pub(super) fn mostly(&mut self, kind: Kind, depth: usize) -> String {
        let kind = if self.mixes && self.once_in(5) { self.any_kind() } else { kind };
        self.value(kind, depth)
    }
}
