//! Rows of a correlated sub-query, kept for values around it that come again: a customer of many orders, a
//! part of many lines.
//!
//! Only sub-queries that say so ([`Subquery::repeats`](turnstile_plan::plan::query::Subquery)) are kept, and
//! only in statements that change nothing. Values are known again by their bytes, not by their collation.
//! What is kept is charged, and limited: sub-queries whose values seldom come again are soon kept no more.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, row_bytes};
use turnstile_values::value::{Rows, Value};

/// Bytes that are kept of one sub-query, about.
const BYTES_MAX: usize = 1 << 20;
/// Times that a sub-query is asked before it is judged.
const ASKED_MIN: u32 = 256;
/// One time in so many must find its rows.
const FOUND_SHARE: u32 = 4;
/// What an entry takes besides its rows, about.
const ENTRY_BYTES: usize = 128;

/// What is kept of one sub-query.
#[derive(Default)]
pub(in crate::exec) struct Repeated {
    rows: FxHashMap<Box<[u8]>, Arc<Rows>>,
    bytes: usize,
    asked: u32,
    found: u32,
    given_up: bool,
}

impl Repeated {
    /// The rows for the values at these places of a tuple; else what to keep them by, if they are to be kept.
    pub(in crate::exec) fn find(
        &mut self,
        outer: &[(usize, usize)],
        tuple: &[Value],
    ) -> Result<Arc<Rows>, Option<Key>> {
        if self.given_up {
            return Err(None);
        }
        let Some(key) = key_of(outer, tuple) else { return Err(None) };
        self.asked = self.asked.saturating_add(1);
        if let Some(rows) = self.rows.get(&*key) {
            self.found = self.found.saturating_add(1);
            return Ok(rows.clone());
        }
        if self.asked >= ASKED_MIN && self.found < self.asked / FOUND_SHARE {
            *self = Repeated { given_up: true, ..Repeated::default() };
            return Err(None);
        }
        Err((self.bytes < BYTES_MAX).then_some(key))
    }

    /// Keeps rows.
    pub(in crate::exec) fn keep(&mut self, key: Key, rows: &Arc<Rows>, charge: &mut Charge) -> SqlResult<()> {
        let bytes = rows.iter().map(|row| row_bytes(row)).sum::<usize>() + key.len() + ENTRY_BYTES;
        if self.bytes + bytes <= BYTES_MAX {
            charge.add(bytes)?;
            self.bytes += bytes;
            self.rows.insert(key, rows.clone());
        }
        Ok(())
    }
}

/// Values as bytes.
pub(in crate::exec) type Key = Box<[u8]>;

/// None where there is a value that is not known again.
fn key_of(outer: &[(usize, usize)], tuple: &[Value]) -> Option<Key> {
    let mut key = Vec::with_capacity(outer.len() * 9);
    for (there, _) in outer {
        match &tuple[*there] {
            Value::Null => key.push(0),
            Value::Int(number) => {
                key.push(1);
                key.extend_from_slice(&number.to_le_bytes());
            }
            Value::UInt(number) => {
                key.push(2);
                key.extend_from_slice(&number.to_le_bytes());
            }
            Value::Str(text) => append(3, text.as_bytes(), &mut key),
            Value::Bytes(bytes) => append(4, bytes, &mut key),
            Value::Date(date) => {
                key.push(5);
                key.extend_from_slice(&date.year().to_le_bytes());
                key.extend([date.month(), date.day()].map(|part| part as u8));
            }
            _ => return None,
        }
    }
    Some(key.into())
}

fn append(kind: u8, bytes: &[u8], key: &mut Vec<u8>) {
    key.push(kind);
    key.extend_from_slice(&bytes.len().to_le_bytes());
    key.extend_from_slice(bytes);
}
