//! For which values a plan is good. What was chosen by how many rows there are of some value is asked about
//! again before the plan is run for another one.

use super::super::query::{Access, Costed, TableSource};

/// A plan is made anew when a way to read finds so many times what it found.
const OFF: f64 = 4.0;

/// So many rows more or less make no other plan.
const FEW: f64 = 100.0;

/// Notes what was weighed for a table, and drops what is only needed to make the plan.
pub(super) fn note(source: &mut TableSource) {
    let offers = std::mem::take(&mut source.offers);
    if !source.also.is_empty() || !source.within.is_empty() {
        let most = match source.within.is_empty() {
            true => source.rows * OFF + FEW,
            // Each finds many, and together they find few.
            false => source.table_rows / OFF + FEW,
        };
        let ways = [&source.access].into_iter().chain(&source.also).chain(&source.within).cloned();
        source.costed = ways.map(|access| Costed { access, rows: 0.0..=most }).collect();
        return;
    }
    if source.access.unique {
        return;
    }
    let by_key = source.access.key.is_some() && !source.access.is_full();
    // With one key to read by there is nothing to choose; but a pattern may begin with anything.
    let by_pattern = source.access.ranges.iter().any(|range| range.like.is_some());
    if by_key && !by_pattern && offers.len() < 2 && source.wanted.is_none() {
        return;
    }
    if by_key && source.counted {
        let most = source.rows * OFF + FEW;
        source.costed.push(Costed { access: source.access.clone(), rows: 0.0..=most });
    }
    let least = source.rows / OFF;
    if least <= FEW {
        return;
    }
    let same = |access: &Access| access.key == source.access.key && by_key;
    let known = |access: &Access| source.costed.iter().any(|one| one.access.key == access.key);
    let left: Vec<Access> = offers
        .into_iter()
        .filter(|offer| offer.counted && !same(&offer.access) && !known(&offer.access))
        .map(|offer| offer.access)
        .collect();
    source.costed.extend(left.into_iter().map(|access| Costed { access, rows: least..=f64::INFINITY }));
}
