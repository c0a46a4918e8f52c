//! GROUP_CONCAT: the texts of a group.

use turnstile_expr::expr::EvalContext;
use turnstile_expr::functions::text_of_bytes;
use turnstile_plan::plan::query::Aggregate;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, Many, row_bytes};
use turnstile_values::value::Value;

use super::super::sort::sort_in_one_go;
use super::saved::{bytes, number};

/// The texts of GROUP_CONCAT. What lies behind `group_concat_max_len` is not kept: without an order what
/// comes late, with one what is behind when they are sorted now and then.
#[derive(Default)]
pub(super) struct Texts {
    list: Many<(Vec<Value>, Vec<u8>)>,
    /// Bytes of the list with separators.
    bytes: usize,
    /// Entries at which the list is sorted and cut next.
    cut_at: usize,
    /// Something was left out.
    is_cut: bool,
}

/// Entries that are kept unsorted at least.
const UNSORTED_MIN: usize = 4096;

/// The longest result of GROUP_CONCAT.
fn concatenated_max(context: &EvalContext<'_>) -> usize {
    let most = context.settings.group_concat_bytes_max.min(context.settings.result_bytes_max);
    usize::try_from(most).unwrap_or(usize::MAX)
}

impl Texts {
    /// An entry.
    pub(super) fn add(
        &mut self,
        keys: Vec<Value>,
        text: Vec<u8>,
        aggregate: &Aggregate,
        context: &EvalContext<'_>,
        charge: &mut Charge,
    ) -> SqlResult<()> {
        let most = concatenated_max(context);
        if aggregate.order.is_empty() && self.bytes > most {
            self.is_cut = true;
            return Ok(());
        }
        charge.add(row_bytes(&keys) + text.len() + size_of::<(Vec<Value>, Vec<u8>)>())?;
        self.bytes += text.len() + aggregate.separator.len();
        self.list.push((keys, text));
        if self.list.len() > self.cut_at.max(UNSORTED_MIN) && self.bytes > most {
            self.cut(aggregate, most, charge, context)?;
        }
        Ok(())
    }

    fn sort(&mut self, aggregate: &Aggregate, context: &EvalContext<'_>) -> SqlResult<()> {
        if aggregate.order.is_empty() {
            return Ok(());
        }
        let directions: Vec<_> = aggregate.order.iter().map(|key| (key.descending, key.collation)).collect();
        sort_in_one_go(&mut self.list, |entry| &entry.0, &directions, context)
    }

    /// Keeps as many of the first as the result can hold.
    fn cut(
        &mut self,
        aggregate: &Aggregate,
        most: usize,
        charge: &mut Charge,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        self.sort(aggregate, context)?;
        let (mut kept, mut bytes) = (0, 0);
        for (_, text) in &self.list {
            if bytes > most {
                break;
            }
            kept += 1;
            bytes += text.len() + aggregate.separator.len();
        }
        for (keys, text) in self.list.drain(kept..) {
            self.is_cut = true;
            charge.subtract(row_bytes(&keys) + text.len() + size_of::<(Vec<Value>, Vec<u8>)>());
        }
        (self.bytes, self.cut_at) = (bytes, kept * 2);
        Ok(())
    }

    /// The whole text.
    pub(super) fn result(mut self, aggregate: &Aggregate, context: &EvalContext<'_>) -> SqlResult<Value> {
        if self.list.is_empty() {
            return Ok(Value::Null);
        }
        self.sort(aggregate, context)?;
        let most = concatenated_max(context);
        let binary = aggregate.result.is_binary_string();
        let mut charge = context.charge();
        charge.add(self.bytes)?;
        let mut all: Vec<u8> = Vec::with_capacity(self.bytes);
        let mut cut_at = None;
        for (nth, (_, text)) in self.list.iter().enumerate() {
            context.step()?;
            all.extend_from_slice(if nth > 0 { &aggregate.separator } else { b"" });
            all.extend_from_slice(text);
            if all.len() > most {
                cut_at = Some(nth + 1);
                break;
            }
        }
        // What is not in the list any more would have followed.
        if let Some(row) = cut_at.or(self.is_cut.then_some(self.list.len() + 1)) {
            if cut_at.is_none() {
                all.extend_from_slice(&aggregate.separator);
            }
            let mut end = most.min(all.len());
            while !binary && end > 0 && all.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
                end -= 1;
            }
            all.truncate(end);
            context.note(SqlError::group_concat_cut(row));
        }
        Ok(if binary { Value::bytes(all) } else { text_of_bytes(all) })
    }

    /// Appends all of it as values.
    pub(super) fn save(self, out: &mut Vec<Value>) {
        let numbers = [self.bytes, self.cut_at, usize::from(self.is_cut), self.list.len()];
        out.extend(numbers.map(|number| Value::UInt(number as u64)));
        for (keys, text) in self.list {
            out.extend(keys);
            out.push(Value::bytes(text));
        }
    }

    /// Takes back what was saved.
    pub(super) fn restore(&mut self, keys: usize, from: &mut dyn Iterator<Item = Value>) -> Option<()> {
        self.bytes = number(from)? as usize;
        self.cut_at = number(from)? as usize;
        self.is_cut = number(from)? == 1;
        for _ in 0..number(from)? {
            let keys = (0..keys).map(|_| from.next()).collect::<Option<_>>()?;
            self.list.push((keys, bytes(from)?));
        }
        Some(())
    }
}
