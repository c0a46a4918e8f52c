//! Whether what the engine says is right: the answers of statements, and the whole database after a restart.

use std::collections::HashMap;
use std::ops::Bound;

use turnstile_engine::ids::IndexId;
use turnstile_engine::{
    DICTIONARY_INDEX, Error, Isolation, LockWait, Read, ScanIndex, ScanSpec, Txn, TxnOptions, Updated, Visit,
};

use crate::session::{Answer, Asked, Session, Statement, Work, at_once};
use crate::table::{NULL, Row, Rows, State, Table, a_of, b_of, id_of};
use crate::world::{Verdict, World};

/// Index key, primary key and row.
type Entry = (Vec<u8>, Vec<u8>, Vec<u8>);

impl World {
    /// Polls some of the sessions whose wakers were called.
    pub fn poll_some(&mut self) -> Verdict {
        for at in 0..self.sessions.len() {
            if self.sessions[at].statement.as_ref().is_some_and(Statement::is_woken) && self.rng.chance(0.7) {
                self.poll(at)?;
            }
        }
        Ok(())
    }

    /// Polls every session whose waker was called. False if there is none.
    pub fn poll_woken(&mut self) -> Verdict<bool> {
        let mut any = false;
        for at in 0..self.sessions.len() {
            if self.sessions[at].statement.as_ref().is_some_and(Statement::is_woken) {
                any = true;
                self.poll(at)?;
            }
        }
        Ok(any)
    }

    /// Polls a session's statement, and judges it when it is done.
    pub fn poll(&mut self, at: usize) -> Verdict {
        let Some(mut statement) = self.sessions[at].statement.take() else { return Ok(()) };
        let Some((txn, outcome)) = statement.poll() else {
            self.totals.waits += 1;
            self.note(format!("s{at} waits"));
            self.sessions[at].statement = Some(statement);
            return Ok(());
        };
        let session = &mut self.sessions[at];
        session.txn = Some(txn);
        let mut work = session.work.take().expect("a statement belongs to a transaction");
        let judged = match outcome {
            Ok(answer) => self.judge(&statement, &mut work, answer),
            Err(error) => {
                self.note(format!("s{at} {error}"));
                self.sessions[at].work = Some(work);
                return self.failed(at, &statement, &error);
            }
        };
        self.sessions[at].work = Some(work);
        self.note(format!("s{at} done"));
        judged.map_err(|what| format!("s{at} {:?}: {what}", brief(&statement.asked)))?;
        match statement.asked {
            Asked::Update { id, .. } | Asked::Delete { id, .. } if self.has_ended(at) => self.end(at, id),
            _ => Ok(()),
        }
    }

    fn has_ended(&self, at: usize) -> bool {
        self.sessions[at].txn.as_ref().is_some_and(Txn::has_ended)
    }

    /// A change has committed its transaction. Now and then the client is gone before anybody is told.
    fn end(&mut self, at: usize, id: u32) -> Verdict {
        self.totals.ended += 1;
        if !id.is_multiple_of(8) {
            return self.commit(at);
        }
        self.note(format!("s{at} vanishes at its end"));
        let Some(work) = std::mem::take(&mut self.sessions[at]).work else { return Ok(()) };
        let newest = self.versions.last().expect("there is always a version");
        let after = newest.with(&work.overlay);
        self.versions.push(after);
        Ok(())
    }

    /// A statement failed: what it did is taken back, as the layer above would.
    fn failed(&mut self, at: usize, statement: &Statement, error: &Error) -> Verdict {
        match error {
            Error::Deadlock => {
                self.totals.deadlocks += 1;
                let mut txn = self.sessions[at].txn.take().expect("the statement gave it back");
                self.sessions[at] = Session::default();
                return at_once(txn.rollback()).or_else(|error| self.tolerate("rollback", &error));
            }
            Error::NoWait if matches!(statement.asked, Asked::LockRead { wait: LockWait::NoWait, .. }) => {}
            Error::DuplicateKey { nth, .. } => self.judge_duplicate(at, statement, *nth)?,
            error => self.tolerate("statement", error)?,
        }
        if self.stopped {
            return Ok(());
        }
        let txn = self.sessions[at].txn.as_mut().expect("the statement gave it back");
        let outcome = at_once(txn.rollback_to(statement.savepoint));
        outcome.or_else(|error| self.give_up(at, "rollback of a statement", &error))
    }

    fn current(&self, statement: &Statement, work: &Work) -> std::sync::Arc<Rows> {
        let newest = self.versions.last().expect("there is always a version");
        newest.rows_with(statement.table, &work.overlay)
    }

    fn judge_duplicate(&self, at: usize, statement: &Statement, nth: Option<usize>) -> Verdict {
        let work = self.sessions[at].work.as_ref().expect("a statement belongs to a transaction");
        let rows = self.current(statement, work);
        let right = match (&statement.asked, nth) {
            (Asked::Insert { id, .. }, None) => rows.contains_key(id),
            (Asked::InsertRun { id, rows: new }, None) => {
                rows.range(id..&(id + new.len() as u32)).next().is_some()
            }
            (Asked::Insert { id, row } | Asked::Update { id, row, .. }, Some(1)) => shares_b(&rows, *id, row),
            _ => false,
        };
        if right { Ok(()) } else { Err(format!("{:?}: no duplicate in {nth:?}", brief(&statement.asked))) }
    }

    /// Compares an answer with the model, and does to the model what the statement did.
    fn judge(&self, statement: &Statement, work: &mut Work, answer: Answer) -> Verdict {
        let rows = self.current(statement, work);
        let table = statement.table;
        let unique = self.tables.iter().any(|known| known.number == table && known.is_unique());
        let seen = || self.versions[statement.view].rows_with(table, &work.overlay);
        match (&statement.asked, answer) {
            (Asked::Insert { id, row }, Answer::Inserted) => {
                if rows.contains_key(id) || (unique && shares_b(&rows, *id, row)) {
                    return Err("a duplicate was inserted".into());
                }
                work.overlay.insert((table, *id), Some(row.clone()));
            }
            (Asked::InsertRun { id, rows: new }, Answer::Inserted) => {
                if rows.range(id..&(id + new.len() as u32)).next().is_some() {
                    return Err("a duplicate was inserted in a run".into());
                }
                let numbered = (*id..).zip(new);
                work.overlay.extend(numbered.map(|(id, row)| ((table, id), Some(row.clone()))));
            }
            (Asked::Update { id, row, .. }, Answer::Updated(updated, old)) => {
                if rows.get(id) != old.as_ref() || (updated == Updated::Missing) != old.is_none() {
                    return Err(format!("{updated:?}, from another version than the newest"));
                }
                if old.is_some() {
                    if unique && shares_b(&rows, *id, row) {
                        return Err("a duplicate came to be".into());
                    }
                    work.overlay.insert((table, *id), Some(row.clone()));
                }
            }
            (Asked::Delete { id, .. }, Answer::Deleted(deleted)) => {
                if deleted != rows.contains_key(id) {
                    return Err(format!("deleted: {deleted}"));
                }
                if deleted {
                    work.overlay.insert((table, *id), None);
                }
            }
            (Asked::Read { id }, Answer::Row(row)) => same_row(row.as_ref(), seen().get(id))?,
            (Asked::LockRead { id, wait }, Answer::Row(row)) => {
                if row.is_some() || *wait != LockWait::SkipLocked {
                    same_row(row.as_ref(), rows.get(id))?;
                }
            }
            (Asked::Scan { .. }, Answer::Rows(found)) => same_rows(&found, &seen())?,
            (Asked::ChangeRange { from, to, modulus }, Answer::Changed(changed)) => {
                judge_range(&rows, (*from, *to, *modulus), &changed, work.isolation)?;
                for (id, _, new) in changed {
                    work.overlay.insert((table, id), new);
                }
            }
            (_, answer) => return Err(format!("an answer to another question: {answer:?}")),
        }
        Ok(())
    }

    // -- the whole database

    /// After a restart: some version from the last acknowledged one on, sound, and nothing besides.
    pub fn check_after_restart(&mut self) -> Verdict {
        self.check_indexes()?;
        let found = self.read_all()?;
        let versions = &self.versions[self.acknowledged..];
        let Some(survived) = versions.iter().position(|version| version.same(&found)) else {
            let (last, acknowledged) =
                (&self.versions[self.versions.len() - 1], &self.versions[self.acknowledged]);
            return Err(format!(
                "what survived is none of {} versions; from the acknowledged one:{} from the last:{}",
                versions.len(),
                found.difference(acknowledged),
                found.difference(last),
            ));
        };
        self.note(format!("version {} of {} survived", self.acknowledged + survived, self.versions.len()));
        self.versions = vec![found];
        self.acknowledged = 0;
        if self.engine().active_transactions() != 0 {
            return Err("a transaction is active after a restart".into());
        }
        self.check_trees(false)?;
        self.engine().purge_all().map_err(|error| format!("purge after restart: {error}"))?;
        self.check_trees(true)?;
        let again = self.read_all()?;
        if !again.same(&self.versions[0]) {
            return Err(format!("purge changed:{}", again.difference(&self.versions[0])));
        }
        Ok(())
    }

    /// In the middle of a life: what a new transaction sees, and the trees.
    pub fn check_now(&mut self) -> Verdict {
        let found = self.read_all()?;
        let newest = &self.versions[self.versions.len() - 1];
        if !found.same(newest) {
            return Err(format!("a new transaction sees:{}", found.difference(newest)));
        }
        self.check_trees(false)
    }

    /// The trees that must be there are, the others are not.
    fn check_indexes(&mut self) -> Verdict {
        let there = self.engine().indexes();
        let wanted: Vec<IndexId> = self.tables.iter().flat_map(Table::indexes).collect();
        if let Some(missing) = wanted.iter().find(|index| !there.contains(index)) {
            return Err(format!("{missing:?} is gone"));
        }
        if let Some(dropped) = self.dropped.iter().find(|index| there.contains(index)) {
            return Err(format!("{dropped:?}, dropped, is back"));
        }
        for index in there {
            if index != DICTIONARY_INDEX && !wanted.contains(&index) {
                // Its creation or drop failed in the life before.
                self.engine().drop_index(index).map_err(|error| format!("drop of {index:?}: {error}"))?;
            }
        }
        self.doubtful.clear();
        Ok(())
    }

    /// Every tree is sound, no page belongs to two, and each is allocated. With `purged`, trees hold exactly
    /// the rows.
    fn check_trees(&self, purged: bool) -> Verdict {
        let engine = self.engine();
        let mut owners = HashMap::new();
        for table in &self.tables {
            let rows = self.versions[self.versions.len() - 1].rows(table.number).len() as u64;
            for index in table.indexes() {
                let report =
                    engine.verify_index(index).map_err(|error| format!("{index:?} is damaged: {error}"))?;
                if purged && report.records != rows {
                    return Err(format!("{index:?} has {} records for {rows} rows", report.records));
                }
                for page in report.pages {
                    if let Some(other) = owners.insert(page, index) {
                        return Err(format!("{page:?} belongs to {index:?} and {other:?}"));
                    }
                    let storage = engine.storage();
                    let allocated = storage.space.is_allocated(&storage.pool, page);
                    if !allocated.map_err(|error| format!("bitmap of {page:?}: {error}"))? {
                        return Err(format!("{page:?} of {index:?} is not allocated"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The rows of all tables as a new transaction sees them. Every secondary index must agree with them.
    fn read_all(&self) -> Verdict<State> {
        let mut state = State::default();
        for table in &self.tables {
            let rows: Rows = self
                .read(table, ScanIndex::Clustered)?
                .into_iter()
                .map(|(_, pk, row)| (id_of(&pk), Row::from(row)))
                .collect();
            if let Some((id, row)) = rows.iter().find(|(_, row)| row.len() < 8) {
                let versions: Vec<Option<usize>> = self
                    .versions
                    .iter()
                    .map(|version| version.rows(table.number).get(id).map(|row| row.len()))
                    .collect();
                return Err(format!(
                    "table {}: row {id} has {} bytes, in the versions from {}: {versions:?}",
                    table.number,
                    row.len(),
                    self.acknowledged
                ));
            }
            for nth in 0..table.def.secondaries.len() {
                let mut wanted: Vec<_> = rows
                    .iter()
                    .map(|(id, row)| {
                        let mut key = Vec::new();
                        table.def.keys.secondary_key(nth, row, &mut key);
                        (key, table.key(*id), row.to_vec())
                    })
                    .collect();
                wanted.sort();
                let found = self.read(table, ScanIndex::Secondary(nth))?;
                let agrees = found.len() == wanted.len()
                    && found.iter().zip(&wanted).all(|(found, wanted)| {
                        found.0.starts_with(&wanted.0) && found.1 == wanted.1 && found.2 == wanted.2
                    });
                if !agrees {
                    let (found, wanted) = (found.len(), wanted.len());
                    return Err(format!(
                        "table {}: secondary {nth} has {found} entries, the rows say {wanted}, or others",
                        table.number
                    ));
                }
            }
            state.set(table.number, rows);
        }
        Ok(state)
    }

    /// All that an index shows.
    fn read(&self, table: &Table, index: ScanIndex) -> Verdict<Vec<Entry>> {
        let options = TxnOptions {
            isolation: Isolation::RepeatableRead,
            read_only: true,
            autocommit: false,
            lock_wait_timeout_ms: 0,
            interrupt: Default::default(),
            status: Default::default(),
        };
        let spec = ScanSpec {
            index,
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            reverse: false,
            mode: Read::Consistent,
            fetch_row: true,
        };
        let mut txn = self.engine().begin(options);
        let mut found = Vec::new();
        let mut scan = txn.scan(&table.def, spec);
        loop {
            let more = at_once(txn.scan_batch(&mut scan, &mut |key, pk, row| {
                found.push((key.to_vec(), pk.to_vec(), row.to_vec()));
                Visit::Continue
            }));
            match more {
                Ok(true) => {}
                Ok(false) => return Ok(found),
                Err(error) => return Err(format!("reading table {}: {error}", table.number)),
            }
        }
    }
}

/// Whether another row has this one's `b`.
fn shares_b(rows: &Rows, id: u32, row: &Row) -> bool {
    b_of(row) != NULL && rows.iter().any(|(other, found)| *other != id && b_of(found) == b_of(row))
}

fn same_row(found: Option<&Row>, wanted: Option<&Row>) -> Verdict {
    if found == wanted {
        return Ok(());
    }
    let show = |row: Option<&Row>| row.map(|row| (a_of(row), b_of(row), row.len()));
    Err(format!("shows {:?}, it is {:?}", show(found), show(wanted)))
}

fn same_rows(found: &[(u32, Option<Row>)], wanted: &Rows) -> Verdict {
    let agrees = found.len() == wanted.len()
        && found.iter().zip(wanted).all(|((id, row), (wanted_id, wanted_row))| {
            id == wanted_id && row.as_ref().is_none_or(|row| row == wanted_row)
        });
    if agrees {
        return Ok(());
    }
    let ids: Vec<u32> = found.iter().map(|(id, _)| *id).collect();
    Err(format!("the scan shows {ids:?}, the rows are {:?}", wanted.keys().collect::<Vec<_>>()))
}

/// Every changed row was locked in its newest version. Under REPEATABLE READ they are all the rows of the
/// range, because nobody can come in between.
fn judge_range(
    rows: &Rows,
    (from, to, modulus): (u32, u32, u32),
    changed: &[(u32, Row, Option<Row>)],
    isolation: Isolation,
) -> Verdict {
    for (id, old, _) in changed {
        same_row(Some(old), rows.get(id)).map_err(|what| format!("row {id}: {what}"))?;
    }
    let changed: Vec<u32> = changed.iter().map(|(id, ..)| *id).collect();
    let wanted: Vec<u32> = rows
        .range(from..to)
        .filter(|(_, row)| !a_of(row).is_multiple_of(modulus))
        .map(|(id, _)| *id)
        .collect();
    if isolation == Isolation::RepeatableRead && changed != wanted {
        return Err(format!("changed {changed:?}, the range holds {wanted:?}"));
    }
    Ok(())
}

/// A statement without its row.
fn brief(asked: &Asked) -> Asked {
    let none = Row::from([]);
    match asked {
        Asked::Insert { id, .. } => Asked::Insert { id: *id, row: none },
        Asked::InsertRun { id, rows } => Asked::InsertRun { id: *id, rows: vec![none; rows.len()] },
        Asked::Update { id, .. } => Asked::Update { id: *id, row: none, ends: false },
        other => other.clone(),
    }
}
