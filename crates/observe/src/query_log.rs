//! The general log and the slow query log, as files in the shapes that MySQL's tools read.
//!
//! A statement that is not logged costs one relaxed load. One that is logged is written by its own thread, in
//! one piece and under the file's mutex: the logs are for looking closer, and keep the order of what
//! happened.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;

use turnstile_catalog::variables::Globals;
use turnstile_syntax::lexer::{Keyword, LexOptions, Lexer, TokenKind};
use turnstile_values::datetime::DateTime;
use turnstile_values::value::Value;

/// Which log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// `general_log`: what clients send, as it comes.
    General,
    /// `slow_query_log`: statements that took `long_query_time`, when they end.
    Slow,
}

/// Both logs.
#[derive(Debug, Default)]
pub struct QueryLog {
    /// Bit 1: the general log is written; bit 2: the slow one.
    on: AtomicU8,
    general: Mutex<Target>,
    slow: Mutex<Target>,
}

#[derive(Debug, Default)]
struct Target {
    path: PathBuf,
    file: Option<File>,
}

impl Target {
    fn open(&mut self) -> io::Result<()> {
        self.file = None;
        let file = OpenOptions::new().create(true).append(true).mode(0o640).open(&self.path)?;
        self.file = Some(file);
        Ok(())
    }
}

/// What the slow log tells of a statement.
pub struct Slow<'s> {
    /// User as the client sent it.
    pub user: &'s str,
    /// Where the client is.
    pub host: &'s str,
    /// Connection id.
    pub id: u64,
    /// The current database.
    pub schema: Option<&'s str>,
    /// The statement.
    pub text: &'s [u8],
    /// How long it took.
    pub took_us: u64,
    /// Rows that the client got.
    pub rows_sent: u64,
    /// When it ended, since 1970.
    pub ended_us: u64,
}

impl QueryLog {
    /// Follows the variables: begins and ends the logs, and opens the files, that they name.
    ///
    /// # Errors
    /// When a file cannot be opened; its log is then as it was.
    pub fn follow(&self, globals: &Globals) -> io::Result<()> {
        let on = |name| globals.named(name) == Value::Int(1);
        let text = |name| match globals.named(name) {
            Value::Str(text) => text.to_string(),
            _ => String::new(),
        };
        let written = text("log_output") == "FILE";
        for (which, switch, file) in [
            (Which::General, "general_log", "general_log_file"),
            (Which::Slow, "slow_query_log", "slow_query_log_file"),
        ] {
            self.set(which, written && on(switch), &place_of(&text("datadir"), &text(file)))?;
        }
        Ok(())
    }

    fn bit(which: Which) -> u8 {
        1 << which as u8
    }

    fn target(&self, which: Which) -> &Mutex<Target> {
        match which {
            Which::General => &self.general,
            Which::Slow => &self.slow,
        }
    }

    /// Whether a log is written.
    pub fn is_on(&self, which: Which) -> bool {
        self.on.load(Ordering::Relaxed) & Self::bit(which) != 0
    }

    /// Begins or ends a log in this file.
    ///
    /// # Errors
    /// When the file cannot be opened; the log is then as it was.
    pub fn set(&self, which: Which, on: bool, path: &Path) -> io::Result<()> {
        let mut target = self.target(which).lock();
        if on && (target.file.is_none() || target.path != path) {
            let mut new = Target { path: path.into(), file: None };
            new.open()?;
            *target = new;
        }
        if on {
            self.on.fetch_or(Self::bit(which), Ordering::Relaxed);
        } else {
            self.on.fetch_and(!Self::bit(which), Ordering::Relaxed);
            target.file = None;
        }
        Ok(())
    }

    /// FLUSH LOGS: opens the files anew, for who has moved them away.
    pub fn reopen(&self) -> io::Result<()> {
        for which in [Which::General, Which::Slow] {
            if self.is_on(which) {
                self.target(which).lock().open()?;
            }
        }
        Ok(())
    }

    fn write(&self, which: Which, line: &[u8]) {
        if let Some(file) = &mut self.target(which).lock().file {
            // A log that cannot be written is not worth failing a statement for.
            let _ = file.write_all(line);
        }
    }

    /// A line of the general log.
    pub fn general(&self, id: u64, command: &str, argument: &[u8], now_us: u64) {
        let mut line = format!("{}\t{id:>5} {command}\t", moment(now_us)).into_bytes();
        line.extend_from_slice(&without_secrets(argument));
        line.push(b'\n');
        self.write(Which::General, &line);
    }

    /// An entry of the slow log.
    pub fn slow(&self, slow: &Slow<'_>) {
        let Slow { user, host, id, schema, .. } = slow;
        let seconds = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        let mut head = format!(
            "# Time: {}\n# User@Host: {user}[{user}] @ {host} []  Id: {id:>5}\n",
            moment(slow.ended_us)
        );
        // Writing into a string cannot fail.
        let _ = writeln!(
            head,
            "# Query_time: {}  Lock_time: 0.000000 Rows_sent: {}",
            seconds(slow.took_us),
            slow.rows_sent
        );
        if let Some(schema) = schema {
            let _ = writeln!(head, "use {schema};");
        }
        let _ = writeln!(head, "SET timestamp={};", slow.ended_us.saturating_sub(slow.took_us) / 1_000_000);
        let mut entry = head.into_bytes();
        entry.extend_from_slice(&without_secrets(slow.text));
        entry.extend_from_slice(b";\n");
        self.write(Which::Slow, &entry);
    }
}

/// Where a log of this name lies: relative to the data directory.
pub fn place_of(datadir: &str, name: &str) -> PathBuf {
    Path::new(datadir).join(name)
}

fn moment(us: u64) -> String {
    let time = i64::try_from(us).ok().and_then(|us| DateTime::from_unix_us(us, 6));
    time.map(|time| format!("{}Z", time.to_string().replace(' ', "T"))).unwrap_or_default()
}

/// A statement with its passwords left out: the strings of one that speaks of accounts and passwords.
pub fn without_secrets(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii_end();
    if !speaks_of_passwords(text) {
        return text.to_vec();
    }
    let mut lexer = Lexer::new(text, 0, LexOptions { ansi_quotes: false, no_backslash_escapes: false });
    let (mut kept, mut from, mut secret) = (Vec::with_capacity(text.len()), 0, false);
    loop {
        let token = lexer.next_token();
        let (start, end) = (token.start as usize, token.end as usize);
        match token.kind {
            TokenKind::End | TokenKind::Invalid => break,
            TokenKind::String if secret || speaks_of_passwords(&text[start..end]) => {
                kept.extend_from_slice(&text[from..start]);
                kept.extend_from_slice(b"'<secret>'");
                from = end;
            }
            _ => {}
        }
        // A password follows BY, AS, REPLACE, an equals sign or an opening parenthesis.
        secret = matches!(
            token.kind,
            TokenKind::Keyword(Keyword::By | Keyword::As | Keyword::Replace)
                | TokenKind::Equal
                | TokenKind::Assign
                | TokenKind::LeftParen
        );
    }
    // What cannot be read may hide anything.
    let rest = &text[from..];
    let whole = Lexer::new(text, from, LexOptions { ansi_quotes: false, no_backslash_escapes: false });
    if is_readable(whole) {
        kept.extend_from_slice(rest)
    } else {
        kept.extend_from_slice(b"<secret>")
    }
    kept
}

fn is_readable(mut lexer: Lexer<'_>) -> bool {
    loop {
        match lexer.next_token().kind {
            TokenKind::End => return true,
            TokenKind::Invalid => return false,
            _ => {}
        }
    }
}

fn speaks_of_passwords(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    has(b"identified") || has(b"password")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn passwords_stay_out() {
        let kept = |text: &str| String::from_utf8(without_secrets(text.as_bytes())).unwrap();
        assert_eq!(kept("SELECT 'by' "), "SELECT 'by'");
        assert_eq!(
            kept("CREATE USER 'a'@'b' IDENTIFIED BY 'x''y' REQUIRE SSL"),
            "CREATE USER 'a'@'b' IDENTIFIED BY '<secret>' REQUIRE SSL"
        );
        assert_eq!(kept("SET PASSWORD FOR 'a' = 'b'"), "SET PASSWORD FOR 'a' = '<secret>'");
        assert_eq!(kept("SET PASSWORD = PASSWORD('b')"), "SET PASSWORD = PASSWORD('<secret>')");
        assert_eq!(
            kept("ALTER USER a IDENTIFIED WITH mysql_native_password AS '*AB' "),
            "ALTER USER a IDENTIFIED WITH mysql_native_password AS '<secret>'"
        );
        assert_eq!(kept("PREPARE p FROM 'CREATE USER a IDENTIFIED BY ''x'''"), "PREPARE p FROM '<secret>'");
        assert_eq!(kept("CREATE USER a IDENTIFIED BY 'open"), "<secret>");
    }

    #[test]
    fn entries_have_the_shapes_that_tools_read() {
        let folder = std::env::temp_dir().join(format!("turnstile-query-log-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = QueryLog::default();
        let (general, slow) = (folder.join("general.log"), folder.join("slow.log"));
        log.general(7, "Query", b"not written", 0);
        log.set(Which::General, true, &general).unwrap();
        log.set(Which::Slow, true, &slow).unwrap();
        assert!(log.is_on(Which::General) && log.is_on(Which::Slow));
        log.general(7, "Query", b"SELECT 1", 1_000_001);
        log.slow(&Slow {
            user: "root",
            host: "localhost",
            id: 7,
            schema: Some("shop"),
            text: b"SELECT SLEEP(1)",
            took_us: 1_500_000,
            rows_sent: 1,
            ended_us: 3_000_000,
        });
        std::fs::rename(&general, folder.join("moved.log")).unwrap();
        log.reopen().unwrap();
        log.general(8, "Quit", b"", 2_000_000);
        log.set(Which::General, false, &general).unwrap();
        log.general(8, "Query", b"not written", 0);
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("moved.log"), "1970-01-01T00:00:01.000001Z\t    7 Query\tSELECT 1\n");
        assert_eq!(read("general.log"), "1970-01-01T00:00:02.000000Z\t    8 Quit\t\n");
        assert_eq!(
            read("slow.log"),
            "# Time: 1970-01-01T00:00:03.000000Z\n# User@Host: root[root] @ localhost []  Id:     7\n\
             # Query_time: 1.500000  Lock_time: 0.000000 Rows_sent: 1\nuse shop;\n\
             SET timestamp=1;\nSELECT SLEEP(1);\n"
        );
        assert!(log.set(Which::General, true, &folder).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
