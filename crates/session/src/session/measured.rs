//! Which digest the statement that runs is counted under, and what it has come to when it ends
//! ([`crate::digests`]).
//!
//! A session counts in [`PLACES`] cells. Statements that it keeps ([`super::known`]) have the first eight by
//! their places there, all others the rest: those of the protocol by their numbers, texts that are parsed by
//! hash, and where a text is short it is remembered, so that a COMMIT is normalised once.
//!
//! A cell is found again by its stamp, a number that it gets with its digest: whoever keeps a statement keeps
//! the stamp beside it. The current database is part of a digest, so all stamps end when that is set.
//!
//! A statement costs a comparison when it begins, and when it ends an addition to a dozen numbers of its
//! session: the clock is read anyway.

use super::known::PLACES as KEPT;
use super::{CachedStatement, Session};
use crate::ast::Statement;
use crate::digest::digest;
use crate::digests::{Counts, Ended, PLACES};
use crate::expr::{SessionView, SqlMode};
use crate::query_log::without_secrets;
use crate::registry::counts::SessionCounts;
use crate::statement_cache::hash;

/// Longest text that is remembered with its place, in bytes.
const REMEMBERED_BYTES_MAX: usize = 128;

/// Says which digest a cell has been given; 0 is that of none.
pub type Stamp = u64;

struct Remembered {
    text: Box<[u8]>,
    mode: SqlMode,
    place: usize,
    stamp: Stamp,
}

/// What is counted already of the session's counters.
#[derive(Default)]
struct Seen {
    rows_read: u64,
    /// All of `rare` added up.
    sum: u64,
    rare: Counts,
}

/// See the module.
pub struct Measured {
    /// Statements are counted at all.
    on: bool,
    stamps: [Stamp; PLACES],
    last_stamp: Stamp,
    schema_changes: u64,
    remembered: [Option<Box<Remembered>>; PLACES - KEPT],
    /// Where the statement that runs is counted.
    running: Option<usize>,
    /// It is a SELECT.
    selects: bool,
    /// It shows the warnings of the one before.
    shows_warnings: bool,
    /// When it began, if its text has others before it.
    began_us: Option<u64>,
    seen: Seen,
}

impl Measured {
    /// Of a new session; `on`: statements are counted.
    pub fn new(on: bool) -> Measured {
        Measured {
            on,
            stamps: [0; PLACES],
            last_stamp: 0,
            schema_changes: 0,
            remembered: [const { None }; PLACES - KEPT],
            running: None,
            selects: false,
            shows_warnings: false,
            began_us: None,
            seen: Seen::default(),
        }
    }
}

/// A statement that the session keeps begins.
#[inline]
pub(super) fn begin_kept(session: &mut Session, hash: u64, text: &[u8], kept: &CachedStatement) {
    if !session.measured.on {
        return;
    }
    let selects = matches!(kept.statement, Statement::Select(_));
    let (place, stamp) = session.known.stamp(hash);
    if resume(session, place, stamp) {
        session.measured.selects = selects;
        return;
    }
    begin_anew(session, Keeper::Known(hash), text, false);
    session.measured.selects = selects;
}

/// A statement of the protocol begins.
#[inline]
pub(super) fn begin_prepared(session: &mut Session, id: u32, prepared: &CachedStatement) {
    use std::sync::atomic::Ordering;
    if !session.measured.on {
        return;
    }
    let place = KEPT + id as usize % (PLACES - KEPT);
    let stamp = prepared.stamp.load(Ordering::Relaxed);
    if !resume(session, place, stamp) {
        let text = prepared.text.as_deref().unwrap_or_default();
        let stamp = begin_anew(session, Keeper::Other(Some(place)), text, true);
        prepared.stamp.store(stamp, Ordering::Relaxed);
    }
    session.measured.selects = matches!(prepared.statement, Statement::Select(_));
}

/// A statement that has been parsed begins.
pub(super) fn begin_parsed(session: &mut Session, text: &[u8], statement: &Statement, shows_warnings: bool) {
    if !session.measured.on {
        return;
    }
    let at = (hash(text) % (PLACES - KEPT) as u64) as usize;
    let mode = session.settings.reading_mode();
    let remembered = session.measured.remembered[at].as_deref();
    let remembered = remembered.filter(|old| old.mode == mode && *old.text == *text);
    let found = remembered.map(|old| (old.place, old.stamp));
    if !found.is_some_and(|(place, stamp)| resume(session, place, stamp)) {
        let stamp = begin_anew(session, Keeper::Other(None), text, false);
        if let Some(place) = session.measured.running
            && text.len() <= REMEMBERED_BYTES_MAX
        {
            let remembered = Remembered { text: text.into(), mode, place, stamp };
            session.measured.remembered[at] = Some(Box::new(remembered));
        }
    }
    session.measured.selects = matches!(statement, Statement::Select(_));
    session.measured.shows_warnings = shows_warnings;
}

/// Another statement of the same text begins at this time.
pub(super) fn goes_on(session: &mut Session) {
    let now_us = session.db.registry().now_us();
    end(session, now_us, false);
    session.measured.began_us = Some(now_us);
}

/// Counts under the digest that a cell has, if it is the one that the stamp was given for.
#[inline]
fn resume(session: &mut Session, place: usize, stamp: Stamp) -> bool {
    let measured = &mut session.measured;
    let holds = stamp != 0
        && measured.schema_changes == session.state.schema_changes()
        && measured.stamps.get(place) == Some(&stamp);
    measured.running = holds.then_some(place);
    holds
}

/// Who keeps a stamp.
enum Keeper {
    /// What is known by this hash.
    Known(u64),
    /// Somebody else, who wants this place if there is one.
    Other(Option<usize>),
}

/// Normalises a text and gives a cell to its digest.
#[cold]
fn begin_anew(session: &mut Session, keeper: Keeper, text: &[u8], parameters: bool) -> Stamp {
    let digests = session.db.registry().digests();
    let changes = session.state.schema_changes();
    if session.measured.schema_changes != changes {
        session.measured.schema_changes = changes;
        session.measured.stamps = [0; PLACES];
    }
    let schema = session.state.schema();
    let normal = digest(text, session.parse_options(parameters).lex_options());
    let other = KEPT + (normal.hash % (PLACES - KEPT) as u64) as usize;
    let place = match keeper {
        Keeper::Known(hash) if session.known.keeps(hash) => session.known.stamp(hash).0,
        Keeper::Other(Some(place)) => place,
        _ => other,
    };
    let changed = session.entry.digests.lock().assign(digests, place, schema.as_ref(), &normal.text);
    let measured = &mut session.measured;
    if changed || measured.stamps[place] == 0 {
        measured.last_stamp += 1;
        measured.stamps[place] = measured.last_stamp;
    }
    measured.running = Some(place);
    let stamp = measured.stamps[place];
    if let Keeper::Known(hash) = keeper {
        session.known.set_stamp(hash, stamp);
    }
    stamp
}

/// The statement has ended.
#[inline]
pub(super) fn end(session: &mut Session, at_us: u64, failed: bool) {
    let Session { measured, entry, state, db, .. } = session;
    if !measured.on {
        return;
    }
    let rows_read = entry.status.rows().read.get();
    let examined = rows_read.wrapping_sub(std::mem::replace(&mut measured.seen.rows_read, rows_read));
    let sum = sum_of(&entry.counts);
    let rare = (sum != measured.seen.sum).then(|| rare_since(&mut measured.seen, sum, &entry.counts));
    let shows_warnings = std::mem::take(&mut measured.shows_warnings);
    let began_us = measured.began_us.take().unwrap_or_else(|| entry.since_us());
    let Some(place) = measured.running.take() else { return };
    let row_count = if failed { 0 } else { state.row_count() };
    let ended = Ended {
        at_us,
        took_us: at_us.saturating_sub(began_us),
        failed,
        warnings: if failed || shows_warnings { 0 } else { state.warnings.count().into() },
        affected: row_count.max(0) as u64,
        sent: if row_count == -1 && measured.selects { state.found_rows() } else { 0 },
        examined,
    };
    let mut pending = entry.digests.lock();
    let Some(cell) = pending.cell(place) else { return };
    let (sample, full) = cell.count(&ended);
    if let Some(rare) = rare {
        cell.add(&rare);
    }
    if sample && let Some(text) = entry.look(|shown| shown.text.clone()) {
        cell.offer_sample(db.registry().digests(), &without_secrets(&text), &ended);
    }
    if full {
        cell.fold(db.registry().digests());
    }
}

/// Changes whenever one of [`rare_of`] does: they only grow.
#[inline]
fn sum_of(counts: &SessionCounts) -> u64 {
    [
        &counts.disk_tables,
        &counts.full_joins,
        &counts.range_joins,
        &counts.ranges,
        &counts.scans,
        &counts.sort_merges,
        &counts.range_sorts,
        &counts.sorted_rows,
        &counts.scan_sorts,
    ]
    .into_iter()
    .fold(0, |sum, one| sum.wrapping_add(one.get()))
}

fn rare_of(counts: &SessionCounts) -> Counts {
    Counts {
        disk_tables: counts.disk_tables.get(),
        full_joins: counts.full_joins.get(),
        range_joins: counts.range_joins.get(),
        ranges: counts.ranges.get(),
        scans: counts.scans.get(),
        sort_merges: counts.sort_merges.get(),
        range_sorts: counts.range_sorts.get(),
        sorted_rows: counts.sorted_rows.get(),
        scan_sorts: counts.scan_sorts.get(),
        ..Counts::default()
    }
}

#[cold]
fn rare_since(seen: &mut Seen, sum: u64, counts: &SessionCounts) -> Counts {
    let now = rare_of(counts);
    let mut more = now.since(&seen.rare);
    more.without_index = u64::from(more.scans > 0 || more.full_joins > 0);
    (seen.sum, seen.rare) = (sum, now);
    more
}
