//! What is said about texts that are not statements.

use super::*;

const PREFIX: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                      version for the right syntax to use near ";

#[test]
fn syntax_errors_name_the_place() {
    let cases = [
        ("SELEC 1", "'SELEC 1' at line 1"),
        ("SELECT 1 FROM", "'' at line 1"),
        ("SELECT * FROM t WHERE", "'' at line 1"),
        ("SELECT *\nFROM t\nWHERE a = = 1", "'= 1' at line 3"),
        ("SELECT a FROM t LIMIT -1", "'-1' at line 1"),
        ("INSERT INTO t VALUES (1,)", "')' at line 1"),
        ("UPDATE t SET WHERE a = 1", "'WHERE a = 1' at line 1"),
        ("SELECT 'abc", "''abc' at line 1"),
        ("SELECT 1 /* x", "'/* x' at line 1"),
        ("SELECT 1 1", "'1' at line 1"),
        ("DELETE FROM t WHERE a = 1 GROUP BY b", "'GROUP BY b' at line 1"),
        ("SELECT select FROM t", "'select FROM t' at line 1"),
        ("CREATE TABLE t (a varchar)", "')' at line 1"),
        ("SELECT (1", "'' at line 1"),
        ("SELECT 1)", "')' at line 1"),
    ];
    for (text, expected) in cases {
        let error = error_of(text);
        assert_eq!(error.to_string(), format!("{PREFIX}{expected}"), "{text}");
        assert_eq!((error.code(), error.sqlstate()), (1064, *b"42000"));
    }
    let long = format!("SELECT 1 = ={}", "é".repeat(100));
    assert_eq!(error_of(&long).near.chars().count(), 80);
}

#[test]
fn lines_count_from_the_statement() {
    let text = b"SELECT 1;\n\nSELECT\n= 2";
    let first = parse(text, ParseOptions::default()).unwrap();
    assert_eq!(&text[..first.statement_end], b"SELECT 1");
    let error = parse_at(text, first.next, ParseOptions::default()).unwrap_err();
    assert_eq!((error.line, error.near.as_str(), error.offset), (2, "= 2", 18));
}

#[test]
fn empty_texts() {
    for text in ["", "  \n", ";", " ;\x0b;", "\0"] {
        let error = error_of(text);
        assert_eq!((error.code(), error.to_string().as_str()), (1065, "Query was empty"), "{text}");
    }
}

#[test]
fn comments_alone_do_nothing() {
    for text in ["-- x", "/* x */", "#", "/*!999999 x */;", "/*M!999999\\- sandbox */;\n", "-- a\n-- b\n;;"] {
        let parsed = parse(text.as_bytes(), ParseOptions::default()).unwrap();
        assert_eq!((parsed.statement, parsed.next), (Statement::Nothing, text.len()), "{text}");
    }
    for text in [";SELECT 1", "/* a */; SELECT 1", "-- a"] {
        assert_eq!(parse(text.as_bytes(), ParseOptions::default()).is_err(), text.contains(';'), "{text}");
    }
}

#[test]
fn comments_are_no_second_statement() {
    let second = |text: &str| {
        let next = parse(text.as_bytes(), ParseOptions::default()).unwrap().next;
        second_statement(text.as_bytes(), next, ParseOptions::default()).map(|error| (error.line, error.near))
    };
    assert_eq!(second("SELECT 1; /* a */ -- b\n;"), None);
    assert_eq!(second("SELECT 1;;\n"), None);
    assert_eq!(second("\nSELECT 1;\n SELECT 2;"), Some((2, "SELECT 2".to_owned())));
    assert_eq!(second("SELECT 1; /* a */ ; b"), Some((1, "; b".to_owned())));
}

#[test]
fn unsupported_is_not_syntax() {
    let cases = [
        ("CALL p(1)", "CALL"),
        ("XA START 'a'", "XA transactions"),
        ("HANDLER t OPEN", "HANDLER"),
        ("LOAD DATA INFILE 'x' INTO TABLE t", "LOAD DATA"),
        ("SELECT LAG(a) IGNORE NULLS OVER (ORDER BY a) FROM t", "IGNORE NULLS"),
        ("SELECT SUM(a) OVER (ORDER BY a GROUPS 1 PRECEDING) FROM t", "GROUPS"),
        ("CREATE DEFINER=`a`@`b` TRIGGER x", "triggers"),
        ("CREATE TABLE t (a INT) PARTITION BY HASH(a)", "PARTITION BY"),
        ("SELECT 1 INTO OUTFILE 'x'", "SELECT ... INTO file"),
        ("SELECT MATCH(a) AGAINST ('x') FROM t", "MATCH ... AGAINST"),
        ("SELECT MATCH (a) AGAINST ('x') FROM t", "MATCH ... AGAINST"),
        ("CREATE TABLE t (a GEOMETRY)", "spatial types"),
        ("LOCK INSTANCE FOR BACKUP", "LOCK INSTANCE"),
        ("LOAD INDEX INTO CACHE t", "LOAD INDEX INTO CACHE"),
        ("CHANGE REPLICATION SOURCE TO SOURCE_HOST='x'", "replication"),
        ("START GROUP_REPLICATION", "replication"),
        ("STOP REPLICA", "replication"),
        ("PURGE BINARY LOGS TO 'a'", "binary logs"),
        ("ALTER INSTANCE RELOAD TLS", "ALTER INSTANCE"),
        ("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'a')", "servers of federated tables"),
        ("DROP SERVER IF EXISTS s", "servers of federated tables"),
        ("CREATE RESOURCE GROUP g TYPE=USER", "resource groups"),
        ("ALTER LOGFILE GROUP g ADD UNDOFILE 'a'", "LOGFILE GROUP"),
        ("DROP UNDO TABLESPACE u", "tablespaces"),
        ("CREATE SPATIAL REFERENCE SYSTEM 1 NAME 'x'", "spatial reference systems"),
        ("DROP SPATIAL REFERENCE SYSTEM 4120", "spatial reference systems"),
        ("CREATE AGGREGATE FUNCTION f RETURNS INTEGER SONAME 'x'", "loadable functions"),
        ("CREATE LIBRARY l LANGUAGE JAVASCRIPT AS 'x'", "libraries"),
        ("HELP 'select'", "HELP"),
        ("HELP contents", "HELP"),
    ];
    for (text, feature) in cases {
        let error = error_of(text);
        assert_eq!(error.kind, ParseErrorKind::NotSupported(feature), "{text}");
        assert_eq!((error.code(), error.sqlstate()), (1235, *b"42000"));
    }
    assert_eq!(error_of("SELECT * FROM (SELECT 1)").code(), 1248);
}

/// What MySQL has dropped, and words that follow no such statement, are mistakes where they stand.
#[test]
fn unknown_forms_are_mistakes() {
    let cases = [
        ("SHOW MASTER STATUS", "MASTER STATUS"),
        ("SHOW MASTER LOGS", "MASTER LOGS"),
        ("SHOW SLAVE STATUS", "SLAVE STATUS"),
        ("SHOW SLAVE HOSTS", "SLAVE HOSTS"),
        ("SHOW INNODB STATUS", "INNODB STATUS"),
        ("CHANGE MASTER TO MASTER_HOST='x'", "MASTER TO"),
        ("START SLAVE", "SLAVE"),
        ("STOP SLAVE", "SLAVE"),
        ("RESET SLAVE ALL", "SLAVE ALL"),
        ("RESET MASTER", "MASTER"),
        ("RESET QUERY CACHE", "QUERY CACHE"),
        ("PURGE MASTER LOGS TO 'a'", "MASTER LOGS"),
        ("ALTER INSTANCE NONSENSE", "NONSENSE"),
        ("XA NONSENSE", "NONSENSE"),
        ("RESTART NOW", "NOW"),
        ("HELP", ""),
        ("SET PASSWORD = PASSWORD('x')", "PASSWORD('x')"),
    ];
    for (text, place) in cases {
        let error = error_of(text);
        assert_eq!(error.kind, ParseErrorKind::Syntax, "{text}");
        assert!(text[error.offset..].starts_with(place), "{text}: {}", error.offset);
    }
}

#[test]
fn parameters_only_where_allowed() {
    let options = ParseOptions { parameters: false, ..ParseOptions::default() };
    assert_eq!(parse(b"SELECT ?", options).unwrap_err().near, "?");
    assert_eq!(parse(b"SELECT ?, a + ? FROM t LIMIT ?", ParseOptions::default()).unwrap().parameter_count, 3);
}

#[test]
fn several_statements_come_one_by_one() {
    let text = b"SELECT 1; ; SELECT ';' -- ;\n; # end\n";
    let first = parse(text, ParseOptions::default()).unwrap();
    assert_eq!(first.next, 10);
    assert_eq!(parse_at(text, first.next, ParseOptions::default()).unwrap_err().kind, ParseErrorKind::Syntax);
    let second = parse_at(text, 11, ParseOptions::default()).unwrap();
    assert_eq!((&text[second.next..], second.statement_end), (&b"# end\n"[..], 22));
    let last = parse_at(text, second.next, ParseOptions::default()).unwrap();
    assert_eq!((last.statement, last.next), (Statement::Nothing, text.len()));
}

#[test]
fn errors_reach_the_client_with_their_numbers() {
    let error = turnstile_values::error::SqlError::from(error_of("XA START 'a'"));
    assert_eq!((error.code, error.sqlstate), (1235, *b"42000"));
    assert_eq!(error.message, "This version of Turnstile doesn't yet support 'XA transactions'");
}

/// More statements that MySQL refuses.
#[test]
fn wrong_statements_are_refused() {
    let texts = [
        "SELECT",
        "SELECT * FROM",
        "SELECT a b c",
        "LOCK TABLES t LOW_PRIORITY WRITE",
        "INSERT INTO t VALUES (1), ROW(2)",
        "INSERT INTO t VALUES ROW(1) AS n",
        "SELECT count (*) FROM t",
        "CREATE TABLE count(a INT)",
        "CHECKSUM TABLE t QUICK EXTENDED",
        "GRANT PROXY, SELECT ON u TO v",
        "SELECT * FROM t WHERE a LIKE",
        "SELECT * FROM t FOR",
        "SELECT COUNT(DISTINCT *) FROM t",
        "SELECT CASE END",
        "SELECT ROW(1)",
        "INSERT INTO t",
        "INSERT INTO t (a VALUES (1)",
        "REPLACE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
        "UPDATE t SET a = 1 LIMIT 1, 2",
        "DELETE t WHERE a = 1",
        "DELETE FROM t JOIN u",
        "CREATE TABLE t ()",
        "CREATE TABLE t (a)",
        "CREATE TABLE t (a INT(1,2))",
        "CREATE TABLE t (a INT CHARACTER SET latin1)",
        "CREATE INDEX ON t (a)",
        "ALTER TABLE t ADD",
        "DROP t",
        "SET",
        "SET a",
        "SET TRANSACTION",
        "SET TRANSACTION READ ONLY, READ WRITE",
        "SET TRANSACTION ISOLATION LEVEL FAST",
        "BEGIN 1",
        "START",
        "COMMIT AND",
        "KILL",
        "LOCK TABLES t",
        "SHOW",
        "SHOW FULL DATABASES",
        "SHOW TABLES WHERE",
        "GRANT SELECT ON t",
        "USE",
        "USE a.b",
    ];
    for text in texts {
        assert_eq!(error_of(text).kind, ParseErrorKind::Syntax, "{text}");
    }
}
