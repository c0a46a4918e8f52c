//! `mysql.time_zone` and its kin: the zones that the binary brings along, as mysql_tzinfo_to_sql would load
//! them.

use super::{row, text};
use turnstile_values::datetime::{ZoneChange, zone_changes, zone_names};
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// Rows of one of the tables; none for every other name.
pub(super) fn rows(table: &str) -> Rows {
    match table {
        "time_zone" => each(|_, id| vec![row([id, text("N")])]),
        "time_zone_name" => each(|name, id| vec![row([text(name), id])]),
        "time_zone_transition" => each(|name, id| {
            let (changes, kinds) = changes_and_kinds(name);
            let kind_of = |change: &ZoneChange| kinds.iter().position(|kind| same_kind(kind, change));
            changes
                .iter()
                .map(|change| {
                    let kind = kind_of(change).unwrap_or_default() as u64;
                    row([id.clone(), Value::Int(change.second), Value::UInt(kind)])
                })
                .collect()
        }),
        "time_zone_transition_type" => each(|name, id| {
            let (_, kinds) = changes_and_kinds(name);
            let line = |(at, kind): (usize, &ZoneChange)| {
                row([
                    id.clone(),
                    Value::UInt(at as u64),
                    Value::Int(kind.offset.into()),
                    Value::Int(kind.summer.into()),
                    text(&kind.abbreviation),
                ])
            };
            kinds.iter().enumerate().map(line).collect()
        }),
        _ => Vec::new(),
    }
}

fn each(lines: impl Fn(&str, Value) -> Rows) -> Rows {
    let names = zone_names();
    names.iter().zip(1..).flat_map(|(name, id)| lines(name, Value::UInt(id))).collect()
}

fn same_kind(one: &ZoneChange, other: &ZoneChange) -> bool {
    (one.offset, one.summer, &one.abbreviation) == (other.offset, other.summer, &other.abbreviation)
}

/// A zone's changes of offset up to 2037 and the different kinds of time between them.
fn changes_and_kinds(name: &str) -> (Vec<ZoneChange>, Vec<ZoneChange>) {
    let changes = zone_changes(name);
    let mut kinds: Vec<ZoneChange> = Vec::new();
    for change in &changes {
        if !kinds.iter().any(|kind| same_kind(kind, change)) {
            kinds.push(change.clone());
        }
    }
    (changes, kinds)
}
