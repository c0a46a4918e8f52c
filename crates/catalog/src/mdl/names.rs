//! Metadata locks of names: what keeps two sessions from giving one name at once.
//!
//! A table's metadata lock is part of the table, so a name that no table has yet has no metadata lock there.
//! Between the look whether a name is free and the moment from which everybody sees who has it lies a sync of
//! the log: without a metadata lock two statements found it free, and one of two tables, rows and all, was
//! seen by nobody any more. Whoever gives a name holds the name's metadata lock from before the look until
//! the new definition is seen; whoever comes second waits, as at MySQL's metadata locks, and then looks.
//!
//! | statement | databases | names of tables | names of constraints |
//! |---|---|---|---|
//! | CREATE, ALTER, DROP DATABASE | alone | | |
//! | CREATE TABLE, also as a query's | with others | its own alone, its parents' with others | its own, alone
//! |
//! | CREATE, ALTER, DROP VIEW | its own, with others | its own, alone | |
//! | RENAME TABLE, ALTER ... RENAME | the new one, with others | the new ones, alone | the new ones, alone |
//! | ALTER TABLE | | its new parents', with others | those that are new, alone |
//!
//! `Alone` is [`Mode::Exclusive`], `with others` is [`Mode::Write`]. Parents: a child may come before its
//! parent, and the parent then has to fit the children that wait for its name.
//!
//! **Order.** Names are taken in the order of [`Name`], those of databases and tables before the metadata
//! locks of tables, those of constraints last: what a statement calls its constraints is known when it knows
//! its tables. LOCK TABLES takes tables before; cycles with it are found ([`super::deadlock`]).
//!
//! **Race argument.** The metadata lock of a name stays the same while anybody holds it or waits at it: it is
//! looked up and thrown away under one mutex, and thrown away only when nobody has a reference to it.

use std::collections::HashMap;
use std::sync::Arc;

use turnstile_sys::ranked::RankedMutex;

use super::{MetadataLock, Mode};
use crate::rank;

/// A name that a definition gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// Of a database.
    Schema(Box<str>),
    /// Of a table in a database.
    Table(Box<str>, Box<str>),
    /// Of a CHECK constraint or foreign key in a database, in lower case: the case of its letters does not
    /// count.
    Constraint(Box<str>, Box<str>),
}

impl Name {
    /// Of a constraint, as written.
    pub fn constraint(schema: &str, name: &str) -> Name {
        Name::Constraint(schema.into(), name.to_lowercase().into())
    }
}

/// A name, and how it is held.
pub type Claim = (Name, Mode);

/// Brings claims into the order in which they are taken; each name once, in the stronger of its modes.
pub fn in_order(claims: &mut Vec<Claim>) {
    claims.sort_by(|(one, mode), (other, other_mode)| {
        let weak = |mode: &Mode| *mode != Mode::Exclusive;
        one.cmp(other).then(weak(mode).cmp(&weak(other_mode)))
    });
    claims.dedup_by(|(one, _), (other, _)| one == other);
}

/// The metadata locks of names that somebody holds or waits for.
#[derive(Debug)]
pub struct NameLocks {
    metadata_locks: RankedMutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<Name, Arc<MetadataLock>>,
    /// So many were left when those that nobody had were last thrown away.
    left: usize,
}

impl Default for NameLocks {
    fn default() -> Self {
        NameLocks { metadata_locks: RankedMutex::new(rank::SHORT, &rank::METADATA_NAMES, Known::default()) }
    }
}

impl NameLocks {
    /// The metadata lock of a name. Metadata locks that nobody has any more go, once there may be as many as
    /// others.
    pub fn mdl(&self, name: &Name) -> Arc<MetadataLock> {
        let known = &mut *self.metadata_locks.lock();
        if known.by_name.len() >= 2 * known.left {
            known.by_name.retain(|_, mdl| Arc::strong_count(mdl) > 1);
            known.left = known.by_name.len();
        }
        known.by_name.entry(name.clone()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_gate_while_somebody_has_it() {
        let names = NameLocks::default();
        let (t, u) = (Name::Table("d".into(), "t".into()), Name::Table("d".into(), "u".into()));
        let mdl = names.mdl(&t);
        assert!(Arc::ptr_eq(&mdl, &names.mdl(&t)));
        assert!(!Arc::ptr_eq(&mdl, &names.mdl(&u)));
        drop(mdl);
        drop(names.mdl(&u));
        assert_eq!(names.metadata_locks.lock().by_name.len(), 1, "metadata locks that nobody has are kept");
        let held: Vec<_> = (0..100).map(|nth| names.mdl(&Name::Schema(nth.to_string().into()))).collect();
        assert!(names.metadata_locks.lock().by_name.len() >= 100);
        drop(held);
        for nth in 100..200 {
            drop(names.mdl(&Name::Schema(nth.to_string().into())));
        }
        assert_eq!(names.metadata_locks.lock().by_name.len(), 1, "metadata locks that nobody has are kept");
        assert_eq!(Name::constraint("d", "T_Chk_1"), Name::constraint("d", "t_chk_1"));
    }

    #[test]
    fn the_stronger_mode_of_a_name_is_taken() {
        let schema = |name: &str| Name::Schema(name.into());
        let table = |name: &str| Name::Table("b".into(), name.into());
        let mut claims = vec![
            (table("t"), Mode::Write),
            (schema("b"), Mode::Write),
            (table("t"), Mode::Exclusive),
            (schema("a"), Mode::Write),
            (schema("b"), Mode::Write),
        ];
        in_order(&mut claims);
        let wanted = [(schema("a"), Mode::Write), (schema("b"), Mode::Write), (table("t"), Mode::Exclusive)];
        assert_eq!(claims, wanted);
    }
}
