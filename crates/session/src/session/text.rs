//! A text that a client sent: through one of the caches if it is known, else through parser and planner.

use crate::memory::Metered;
use turnstile_sys::relief;

use crate::ast::Statement;
use crate::collation::Collation;
use crate::error::SqlResult;
use crate::memory::Charge;
use crate::parser::{Aside, Parsed, parse, parse_metered, second_statement};
use crate::sink::ResultSink;
use crate::statement_cache::TEXT_BYTES_MAX;
use crate::template::{Scan, Template};
use turnstile_engine::yield_now::Slice;

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
    pub(super) async fn query_text(&mut self, text: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        turnstile_sys::trail!();
        self.entry.counts.questions.add(1);
        if let Some((statement, text)) = self.db.statements().find(text, self.settings.reading_mode()) {
            self.entry.show(|shown| shown.text = Some(text));
            return self.run_kept(&statement, &[], out).await;
        }
        self.entry.show(|shown| shown.text = Some(text.into()));
        let mut scan = std::mem::take(&mut self.scan);
        let course = if self.reads_key(text, &mut scan) {
            match self.db.statements().find_template(scan.key(), self.settings.reading_mode()) {
                Some(Some(template)) => {
                    template.signs.apply(scan.values_mut());
                    self.offer_served(text);
                    let result = self.run_kept(&template.statement, scan.values(), out).await;
                    scan.clear();
                    self.scan = scan;
                    return result;
                }
                Some(None) => Course::Unknown,
                None => Course::Keyed,
            }
        } else {
            Course::Unknown
        };
        Box::pin(self.parse_and_run(text, &mut scan, course, out)).await
    }

    fn reads_key(&self, text: &[u8], scan: &mut Scan) -> bool {
        let bytes = self.settings.collation_connection == Collation::Binary;
        text.len() <= TEXT_BYTES_MAX && scan.read(text, self.parse_options(false).lex_options(), bytes)
    }

    /// A text that comes again and again is better found whole.
    fn offer_served(&self, text: &[u8]) {
        let options = self.parse_options(false);
        let make = || {
            let parsed = parse(text, options).ok()?;
            Some(CachedStatement::new(parsed.statement, 0).with_aside(parsed.aside.as_deref()))
        };
        self.db.statements().offer_served(text, self.settings.reading_mode(), make);
    }

    async fn parse_and_run(
        &mut self,
        text: &[u8],
        scan: &mut Scan,
        course: Course,
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let mut start = 0;
        let mut slice = Slice::default();
        loop {
            // Given back when the statement has ended.
            let mut charge = self.charge();
            let parsed = self
                .parse_charged(text, start, false, &mut charge)
                .inspect_err(|_| self.state.warnings.clear())?;
            let mut more = parsed.next < text.len();
            if more && !self.multi_statements {
                self.ask_for_one(text, parsed.next, false)?;
                more = false;
            }
            let cached = parsed.aside.as_ref().is_none_or(|aside| aside.only_warns());
            if start == 0 && !more && cached && is_row_statement(&parsed.statement) {
                self.offer(text, (&parsed.statement, parsed.aside.as_deref()), scan, &course);
            }
            let said = (&parsed.statement, parsed.aside.as_deref());
            let ran = self.run_statement(said, &[], out, more).await;
            // Its tree is dropped next.
            charge.announce_drop();
            ran?;
            if !more {
                return Ok(());
            }
            // The client has what it is told so far before more is made.
            crate::sink::flush(out).await?;
            slice.breathe().await;
            start = parsed.next;
        }
    }

    /// Refuses a text that goes on behind its first statement with more than comments.
    pub(super) fn ask_for_one(&self, text: &[u8], next: usize, parameters: bool) -> SqlResult<()> {
        second_statement(text, next, self.parse_options(parameters)).map_or(Ok(()), |error| Err(error.into()))
    }

    /// Parses a statement, whose tree and plan the session's memory is charged with. KILL ends that too.
    pub(super) fn parse_charged(
        &self,
        text: &[u8],
        start: usize,
        parameters: bool,
        charge: &mut Charge,
    ) -> SqlResult<Parsed> {
        announce(&text[start..]);
        let mut meter = |bytes| {
            self.state.work(bytes)?;
            charge.add(bytes)
        };
        parse_metered(text, start, self.parse_options(parameters), &mut meter)
    }

    /// What the session's memory is charged with for something that it keeps; nothing yet.
    pub fn charge(&self) -> Charge {
        Charge::on(self.state.memory())
    }

    /// Offers a parsed text to the caches.
    fn offer(
        &self,
        text: &[u8],
        (statement, aside): (&Statement, Option<&Aside>),
        scan: &Scan,
        course: &Course,
    ) {
        let (cache, mode) = (self.db.statements(), self.settings.reading_mode());
        cache.offer(text, mode, || CachedStatement::new(statement.clone(), 0).with_aside(aside));
        if let Course::Keyed = course {
            let options = self.parse_options(false);
            cache.offer_template(scan.key(), mode, || Template::of(statement, scan, options));
        }
    }
}
