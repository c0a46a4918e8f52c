//! A text that a client sent: through one of the caches if it is known, else through parser and planner.

use crate::memory::Metered;
use crate::session::{measured, prepared, statement};
use turnstile_sys::relief;

use crate::ast::Statement;
use crate::collation::Collation;
use crate::error::SqlResult;
use crate::memory::Charge;
use crate::parser::{Aside, Parsed, parse, parse_metered, second_statement};
use crate::sink::ResultSink;
use crate::statement_cache::{CachedTemplate, TEXT_BYTES_MAX, hash};
use crate::template::{Scan, Template};
use std::sync::Arc;
use turnstile_engine::yield_now::Slice;
use turnstile_sys::known::Known;

use super::prepared::is_row_statement;
use super::{CachedStatement, Session};

/// A text of this length takes milliseconds to read, copy and drop, whatever is in it.
const LONG_TEXT_BYTES: usize = 256 << 10;

/// Has others let in before a long text is gone through.
pub(super) fn announce(text: &[u8]) {
    if text.len() >= LONG_TEXT_BYTES {
        relief::ahead();
    }
}

/// What is left to do with a text.
enum Course {
    /// Nothing is known of it.
    Unknown,
    /// It has a key, but no template yet.
    Keyed,
}

impl Session {
    /// What the session's memory is charged with for something that it keeps; nothing yet.
    pub fn charge(&self) -> Charge {
        Charge::on(self.state.memory())
    }
}

pub(super) async fn query_text(
    session: &mut Session,
    text: &[u8],
    out: &mut dyn ResultSink,
) -> SqlResult<()> {
    turnstile_sys::trail!();
    session.entry.counts.questions.add(1);
    let looks = session.known.looks_for_text();
    if let Some((hash, statement, text)) = known_text(session, text, looks) {
        measured::begin_kept(session, hash, &text, &statement);
        session.entry.show(|shown| shown.text = Some(text));
        return prepared::run_kept(session, &statement, &[], out).await;
    }
    let mut scan = std::mem::take(&mut session.scan);
    let course = match find_template(session, text, &mut scan) {
        Ok((hash, template)) => {
            session.entry.show(|shown| shown.text = Some(text.into()));
            measured::begin_kept(session, hash, text, &template.statement);
            template.signs.apply(scan.values_mut());
            if looks {
                offer_served(session, text);
                session.known.skip_texts();
            }
            let result = prepared::run_kept(session, &template.statement, scan.values(), out).await;
            scan.clear();
            session.scan = scan;
            return result;
        }
        Err(course) => course,
    };
    // Nothing serves it but, perhaps, what nobody has looked for yet.
    if !looks && let Some((hash, statement, text)) = known_text(session, text, true) {
        scan.clear();
        session.scan = scan;
        measured::begin_kept(session, hash, &text, &statement);
        session.entry.show(|shown| shown.text = Some(text));
        return prepared::run_kept(session, &statement, &[], out).await;
    }
    session.entry.show(|shown| shown.text = Some(text.into()));
    Box::pin(parse_and_run(session, text, &mut scan, course, out)).await
}

/// The statement of a text that is known to the session, or, if it `looks` there, to the shared cache; with
/// the text's hash, and the text as it may be shown.
fn known_text(
    session: &mut Session,
    text: &[u8],
    looks: bool,
) -> Option<(u64, Known<CachedStatement>, Arc<[u8]>)> {
    let (hash, mode) = (hash(text), session.settings.reading_mode());
    if let Some((statement, shown)) = session.known.text(hash, text, mode) {
        return Some((hash, statement, shown));
    }
    if !looks {
        return None;
    }
    let (statement, shown) = session.db.statements().find(hash, text, mode)?;
    Some((hash, session.known.keep_text(hash, text, mode, statement), shown))
}

/// The template that serves a text, with its key's hash; its literals are in `scan` then. Else what is known
/// of the text.
fn find_template(
    session: &mut Session,
    text: &[u8],
    scan: &mut Scan,
) -> Result<(u64, Known<CachedTemplate>), Course> {
    if !reads_key(session, text, scan) {
        return Err(Course::Unknown);
    }
    let (key, mode) = (scan.key(), session.settings.reading_mode());
    let hash = hash(key);
    if let Some(known) = session.known.template(hash, key, mode) {
        return Ok((hash, known));
    }
    match session.db.statements().find_template(hash, key, mode) {
        Some(Some(template)) => Ok((hash, session.known.keep_template(hash, key, mode, template))),
        Some(None) => Err(Course::Unknown),
        None => Err(Course::Keyed),
    }
}

fn reads_key(session: &Session, text: &[u8], scan: &mut Scan) -> bool {
    let bytes = session.settings.collation_connection == Collation::Binary;
    text.len() <= TEXT_BYTES_MAX && scan.read(text, session.parse_options(false).lex_options(), bytes)
}

/// A text that comes again and again is better found whole.
fn offer_served(session: &Session, text: &[u8]) {
    let options = session.parse_options(false);
    let make = || {
        let parsed = parse(text, options).ok()?;
        Some(CachedStatement::new(parsed.statement, 0).with_aside(parsed.aside.as_deref()))
    };
    session.db.statements().offer_served(text, session.settings.reading_mode(), make);
}

async fn parse_and_run(
    session: &mut Session,
    text: &[u8],
    scan: &mut Scan,
    course: Course,
    out: &mut dyn ResultSink,
) -> SqlResult<()> {
    let mut start = 0;
    let mut slice = Slice::default();
    loop {
        // Given back when the statement has ended.
        let mut charge = session.charge();
        let parsed = parse_charged(session, text, start, false, &mut charge)
            .inspect_err(|_| session.state.warnings.clear())?;
        let mut more = parsed.next < text.len();
        if more && !session.multi_statements {
            ask_for_one(session, text, parsed.next, false)?;
            more = false;
        }
        let cached = parsed.aside.as_ref().is_none_or(|aside| aside.may_be_kept());
        if start == 0 && !more && cached && is_row_statement(&parsed.statement) {
            offer(session, text, (&parsed.statement, parsed.aside.as_deref()), scan, &course);
        }
        let shows = statement::keeps_warnings(&parsed.statement);
        measured::begin_parsed(session, &text[start..parsed.next], &parsed.statement, shows);
        let said = (&parsed.statement, parsed.aside.as_deref());
        let ran = statement::run_statement(session, said, &[], out, more).await;
        // Its tree is dropped next.
        charge.announce_drop();
        ran?;
        if !more {
            return Ok(());
        }
        measured::goes_on(session);
        // The client has what it is told so far before more is made.
        crate::sink::flush(out).await?;
        slice.breathe().await;
        start = parsed.next;
    }
}

/// Refuses a text that goes on behind its first statement with more than comments.
pub(super) fn ask_for_one(session: &Session, text: &[u8], next: usize, parameters: bool) -> SqlResult<()> {
    second_statement(text, next, session.parse_options(parameters)).map_or(Ok(()), |error| Err(error.into()))
}

/// Parses a statement, whose tree and plan the session's memory is charged with. KILL ends that too.
pub(super) fn parse_charged(
    session: &Session,
    text: &[u8],
    start: usize,
    parameters: bool,
    charge: &mut Charge,
) -> SqlResult<Parsed> {
    announce(&text[start..]);
    let mut meter = |bytes| {
        session.state.work(bytes)?;
        charge.add(bytes)
    };
    parse_metered(text, start, session.parse_options(parameters), &mut meter)
}

/// Offers a parsed text to the caches.
fn offer(
    session: &Session,
    text: &[u8],
    (statement, aside): (&Statement, Option<&Aside>),
    scan: &Scan,
    course: &Course,
) {
    let (cache, mode) = (session.db.statements(), session.settings.reading_mode());
    cache.offer(text, mode, || CachedStatement::new(statement.clone(), 0).with_aside(aside));
    if let Course::Keyed = course {
        let options = session.parse_options(false);
        cache.offer_template(scan.key(), mode, || Template::of(statement, scan, options));
    }
}
