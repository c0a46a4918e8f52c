//! Documents from text to text, against results that MySQL's manual documents.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::path::Path;
use super::*;

fn parse(text: &str) -> Result<Json, Malformed> {
    let parsed = super::parse(text, &mut Held::free());
    let checked = check(text, None);
    assert_eq!(parsed.as_ref().err(), checked.as_ref().err(), "{text:.100}");
    parsed
}

fn parse_kept(text: &str) -> Result<Json, Malformed> {
    super::parse_kept(text, &mut Held::free())
}

fn write(document: &Json) -> String {
    super::write(document, &mut Held::free()).unwrap()
}

fn path(text: &str) -> SqlResult<Path> {
    let parsed = Path::parse(text, &mut Held::free());
    assert_eq!(parsed.as_ref().err(), Path::check(text).as_ref().err(), "{text}");
    parsed
}

fn key(document: &Json) -> Vec<u8> {
    order::key(document, &mut Held::free()).unwrap()
}

fn normal(text: &str) -> String {
    write(&parse(text).unwrap())
}

#[test]
fn the_normal_form() {
    for (text, wanted) in [
        (" {\"bb\":1,\"a\":2 , \"b\" : [ ] } ", "{\"a\": 2, \"b\": [], \"bb\": 1}"),
        ("{\"x\": 17, \"x\": \"red\", \"x\": [3, 5, 7]}", "{\"x\": [3, 5, 7]}"),
        ("[1,2.50,1e2,-0.0,true,null,\"a\\u00e9\\n\\/\"]", "[1, 2.5, 100.0, -0.0, true, null, \"aé\\n/\"]"),
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
    ] {
        assert_eq!(normal(text), wanted);
        assert_eq!(normal(wanted), wanted, "written again it stays");
    }
    for text in ["", "{", "[1,]", "{\"a\":}", "nul", "'a'", "1 2", "\"\\x\"", "{1: 2}"] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert_eq!(
        parse("[1, 2,\n oops]").unwrap_err(),
        Malformed::Syntax { why: "Invalid value.", position: 8 }
    );
    // Nothing a client sends may exhaust the stack.
    assert!(parse(&"[".repeat(100_000)).is_err());
}

#[test]
fn paths_lead_where_the_manual_says() {
    let document = parse("[3, {\"a\": [5, 6], \"b\": 10}, [99, 100]]").unwrap();
    for (text, wanted) in [
        ("$", "[3, {\"a\": [5, 6], \"b\": 10}, [99, 100]]"),
        ("$[0]", "3"),
        ("$[1].a[1]", "6"),
        ("$[1].b[0]", "10"),
        ("$[last][last-1]", "99"),
        ("$[ 2 ] [ 0 ]", "99"),
        ("$[1].\"b\"", "10"),
        ("$[0 to 1]", "3|{\"a\": [5, 6], \"b\": 10}"),
        ("$[last-1 to last]", "{\"a\": [5, 6], \"b\": 10}|[99, 100]"),
        ("$[1].*", "[5, 6]|10"),
        ("$[*][*]", "99|100"),
        ("$**.b", "10"),
        ("$[3]", ""),
        ("$[1].c", ""),
        ("$[last-3]", ""),
    ] {
        let found = path(text).unwrap().select(&document, &mut Held::free()).unwrap();
        let found: Vec<String> = found.into_iter().map(write).collect();
        assert_eq!(found.join("|"), wanted, "{text}");
    }
    for text in
        ["", "a", "$.", "$.1a", "$[", "$[a]", "$[-1]", "$**", "$.a.", "$[1 to]", "$\"a\"", "$[99999999999]"]
    {
        assert_eq!(path(text).unwrap_err().code, 3143, "{text}");
    }
    assert_eq!(Path::parse_single("$[*]", &mut Held::free()).unwrap_err().code, 3149);
}

#[test]
fn changes() {
    let changed = |document: &str, path: &str, value: &str, how: Change| {
        let mut document = parse(document).unwrap();
        let path = Path::parse_single(path, &mut Held::free()).unwrap();
        change(&mut document, &path, parse(value).unwrap(), how);
        write(&document)
    };
    let document = "{\"a\": 1, \"b\": [2, 3]}";
    assert_eq!(changed(document, "$.a", "10", Change::Set), "{\"a\": 10, \"b\": [2, 3]}");
    assert_eq!(changed(document, "$.a", "10", Change::Insert), document);
    assert_eq!(
        changed(document, "$.c", "[true]", Change::Insert),
        "{\"a\": 1, \"b\": [2, 3], \"c\": [true]}"
    );
    assert_eq!(changed(document, "$.c", "10", Change::Replace), document);
    assert_eq!(changed(document, "$.b[7]", "4", Change::Set), "{\"a\": 1, \"b\": [2, 3, 4]}");
    assert_eq!(changed(document, "$.a[1]", "4", Change::Set), "{\"a\": [1, 4], \"b\": [2, 3]}");
    assert_eq!(changed(document, "$.a[0]", "4", Change::Set), "{\"a\": 4, \"b\": [2, 3]}");
    assert_eq!(changed(document, "$.x.y", "4", Change::Set), document);
    assert_eq!(changed(document, "$", "4", Change::Set), "4");
    assert_eq!(changed(document, "$.b", "4", Change::Append), "{\"a\": 1, \"b\": [2, 3, 4]}");
    assert_eq!(changed(document, "$.a", "4", Change::Append), "{\"a\": [1, 4], \"b\": [2, 3]}");
    let removed = |path: &str| {
        let mut document = parse(document).unwrap();
        remove(&mut document, &Path::parse_single(path, &mut Held::free()).unwrap());
        write(&document)
    };
    assert_eq!(removed("$.b[0]"), "{\"a\": 1, \"b\": [3]}");
    assert_eq!(removed("$.a"), "{\"b\": [2, 3]}");
    assert_eq!(removed("$.z"), document);
}

#[test]
fn the_order_of_documents() {
    let rising = [
        "null",
        "-1e300",
        "-2",
        "-1.5",
        "0",
        "0.5",
        "1",
        "9",
        "10",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "1e30",
        "\"\"",
        "\"A\"",
        "\"a\"",
        "\"a\\u0000\"",
        "\"ab\"",
        "{\"a\": 1}",
        "[]",
        "[1]",
        "[1, 2]",
        "[2]",
        "[[]]",
        "false",
        "true",
    ];
    for pair in rising.windows(2) {
        let key = |text: &str| key(&parse(text).unwrap());
        assert!(key(pair[0]) < key(pair[1]), "{} < {}", pair[0], pair[1]);
    }
    let key = |text: &str| key(&parse(text).unwrap());
    assert_eq!(key("1"), key("1.0"));
    assert_eq!(key("{\"a\": 1, \"bc\": [2]}"), key("{\"bc\": [2.0], \"a\": 1}"));
    assert_eq!(key("0"), key("-0.0"));
}

#[test]
fn merging_and_containing() {
    let merged = |one: &str, other: &str| {
        write(&merge_patch(parse(one).unwrap(), parse(other).unwrap(), &mut Held::free()).unwrap())
    };
    assert_eq!(
        merged("{\"a\": 1, \"b\": 2}", "{\"b\": null, \"c\": {\"d\": null}}"),
        "{\"a\": 1, \"c\": {}}"
    );
    assert_eq!(merged("[1, 2]", "true"), "true");
    let kept = |one: &str, other: &str| {
        write(&merge_preserve(parse(one).unwrap(), parse(other).unwrap(), &mut Held::free()).unwrap())
    };
    assert_eq!(kept("[1, 2]", "true"), "[1, 2, true]");
    assert_eq!(kept("{\"a\": 1}", "{\"a\": [2], \"b\": 3}"), "{\"a\": [1, 2], \"b\": 3}");
    let holds = |one: &str, other: &str| {
        contains(&parse(one).unwrap(), &parse(other).unwrap(), &mut Held::free()).unwrap()
    };
    assert!(holds("{\"a\": 1, \"b\": {\"c\": [4, 5]}}", "{\"b\": {\"c\": [5]}}"));
    assert!(
        holds("[1, [2, 3]]", "[1.0]") && holds("[1, 2]", "2") && !holds("2", "[2]") && !holds("[1]", "\"1\"")
    );
}

fn copy(document: &Json) -> Json {
    let copied = document.copy(&mut Held::free()).unwrap();
    assert_eq!(&copied, document);
    copied
}

/// Every kind of scalar, alone and inside others.
fn kinds() -> Vec<Json> {
    use crate::decimal::Decimal;
    let mut all = vec![
        Json::Null,
        Json::Bool(true),
        Json::Int(-1),
        Json::Int(i64::from(u32::MAX)),
        Json::Int(5_000_000_000),
        Json::UInt(0),
        Json::UInt(u64::from(u32::MAX) + 1),
        Json::UInt(u64::MAX),
        Json::Double(1.0),
        Json::Double(-1e300),
        Json::Decimal(Decimal::parse("-1.50").unwrap()),
        Json::String("a\u{1}\"b\n".into()),
        Json::Opaque(Kind::Date, "2020-01-02".into()),
        Json::Opaque(Kind::Time, "-800:00:00.000000".into()),
        Json::Opaque(Kind::DateTime, "2020-01-02 03:04:05.000000".into()),
        Json::Opaque(Kind::Timestamp, "2020-01-02 03:04:05.000000".into()),
        Json::Opaque(Kind::Bytes, "base64:type252:AAEC".into()),
    ];
    let members = all.iter().enumerate().map(|(nth, one)| (format!("\u{2}{nth}").into(), copy(one)));
    let object = Json::Object(Object::new(members.collect()));
    all.push(Json::Array(all.iter().map(copy).collect()));
    all.push(object);
    all
}

#[test]
fn marked_text_keeps_every_kind() {
    for document in kinds() {
        let mut marked = String::from("\u{1}");
        append_marked(&document, &mut marked).unwrap();
        assert_eq!(parse_kept(&marked).unwrap(), document, "{marked:?}");
        let plain = write(&document);
        assert_eq!(without_marks(&marked), plain);
        assert_eq!(parse(&plain).unwrap() == document, document.is_plain(), "{plain}");
    }
}

#[test]
fn marks_are_no_part_of_a_clients_text() {
    for text in ["\u{1}1", "\u{2}1.5", "[\u{4}\"2020-01-02\"]", "\u{1}\u{2}1.5", "{\"a\": \u{3}1}"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    for text in
        ["\u{1}", "\u{1}\u{2}", "\u{1}\u{2}x", "\u{1}\u{4}1", "\u{1}\u{1f}1", "\u{1}\u{3}-1", "\u{1}[\u{2}"]
    {
        assert!(parse_kept(text).is_err(), "{text:?}");
    }
}

#[test]
fn numbers_of_all_kinds_compare_exactly() {
    use crate::decimal::Decimal;
    let decimal = |text: &str| Json::Decimal(Decimal::parse(text).unwrap());
    let rising = [
        Json::Double(-1e300),
        decimal(&format!("-{}", "9".repeat(65))),
        Json::Int(i64::MIN),
        decimal("-1.50"),
        Json::Double(-1.25),
        Json::Int(-1),
        Json::Double(-1e-300),
        Json::UInt(0),
        Json::Double(1e-300),
        decimal("0.000000000000000000000000000001"),
        Json::Double(0.1),
        Json::Int(1),
        decimal("1.01"),
        Json::Double(9_007_199_254_740_992.0),
        Json::Int(9_007_199_254_740_993),
        Json::UInt(u64::MAX),
        Json::Double(1e300),
    ];
    for (one, other) in rising.windows(2).map(|pair| (&pair[0], &pair[1])) {
        assert!(key(one) < key(other), "{one:?} < {other:?}");
    }
    for (one, other) in [(Json::Int(1), decimal("1.00")), (Json::Double(0.1), decimal("0.10"))] {
        assert_eq!(key(&one), key(&other));
    }
    assert_eq!(key(&Json::UInt(7)), key(&Json::Double(7.0)));
}
