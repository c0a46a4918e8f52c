//! Where to split a page and what to call the boundary: pure functions over lengths and keys.
//!
//! A separator `s` between a left key `a` and a right key `b` (`a < b`) must satisfy `a < s <= b`. The
//! shortest such string that is a prefix of `b` is the one that ends with the first byte in which they differ
//! (the "simple prefix B-tree" of Bayer and Unterauer, 1977). Short separators are what keeps the inner
//! levels small.

/// The shortest prefix of `right` that is greater than `left`. Requires `left < right`.
pub(crate) fn shortest_separator<'k>(left: &[u8], right: &'k [u8]) -> &'k [u8] {
    debug_assert!(left < right, "a separator divides two different keys in order");
    let shared = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    &right[..right.len().min(shared + 1)]
}

/// What a split has to make room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    /// The slot before which it is to be inserted.
    pub slot: usize,
    /// Bytes it needs, its slot included. 0 if nothing is inserted (an existing record grows, which `sizes`
    /// then counts).
    pub bytes: usize,
    /// Whether it continues a run of ascending insertions: then more of the kind are likely to come.
    pub ascending: bool,
}

/// The answer of [`choose_split`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// Records from this slot on move to the right page.
    pub slot: usize,
    /// Whether the newcomer belongs to the left page. Decides the separator if it stands right at the
    /// boundary.
    pub newcomer_left: bool,
}

/// How to divide a page whose record `i` takes `sizes[i]` bytes, its slot included. After the split the
/// newcomer fits its side, provided that it and every record take at most half of `capacity`. In order of
/// preference:
///
/// 1. Ascending insertions: at the newcomer's place, so that the left page stays full; at the very end of the
///    page the last record moves along, so that the new page is not empty.
/// 2. The division that balances the bytes, newcomer included.
/// 3. At the newcomer's place even if that leaves a side empty: when records are so large that nothing else
///    has room.
pub(crate) fn choose_split(sizes: &[usize], newcomer: Newcomer, capacity: usize) -> Division {
    let count = sizes.len();
    let mut below = Vec::with_capacity(count + 1);
    let mut total = 0;
    below.push(0);
    for size in sizes {
        total += size;
        below.push(total);
    }
    // Bytes of the fuller side, or None if a side overflows.
    let weigh = |division: Division| {
        let kept = below[division.slot];
        let (left, right) = if division.newcomer_left {
            (kept + newcomer.bytes, total - kept)
        } else {
            (kept, total - kept + newcomer.bytes)
        };
        (left <= capacity && right <= capacity).then_some(left.max(right))
    };
    if newcomer.ascending && count >= 2 {
        let slot = newcomer.slot.min(count - 1);
        let left = Division { slot, newcomer_left: newcomer.slot < count };
        let right = Division { slot, newcomer_left: false };
        for choice in [left, right] {
            if slot > 0 && weigh(choice).is_some() {
                return choice;
            }
        }
    }
    let mut best: Option<(usize, Division)> = None;
    for slot in 1..count {
        for newcomer_left in [true, false] {
            let possible = if newcomer_left { newcomer.slot <= slot } else { newcomer.slot >= slot };
            let division = Division { slot, newcomer_left };
            let Some(weight) = weigh(division).filter(|_| possible) else { continue };
            if best.is_none_or(|(least, _)| weight < least) {
                best = Some((weight, division));
            }
        }
    }
    if let Some((_, division)) = best {
        return division;
    }
    let slot = newcomer.slot;
    let left = Division { slot, newcomer_left: true };
    if slot < count && weigh(left).is_some() { left } else { Division { slot, newcomer_left: false } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;
    use turnstile_sys::rng::Rng;

    #[test]
    fn separators_are_short_and_divide() {
        assert_eq!(shortest_separator(b"abc", b"abd"), b"abd");
        assert_eq!(shortest_separator(b"a", b"bzzz"), b"b");
        assert_eq!(shortest_separator(b"ab", b"abzz"), b"abz");
        assert_eq!(shortest_separator(b"", b"x"), b"x");
        let mut rng = Rng::new(11);
        for _ in 0..2000 {
            let mut key = || -> Vec<u8> { (0..rng.below(6)).map(|_| rng.below(3) as u8).collect() };
            let (a, b) = (key(), key());
            if a < b {
                let s = shortest_separator(&a, &b);
                assert!(a.as_slice() < s && s <= b.as_slice());
            }
        }
    }

    #[test]
    fn every_division_makes_room() {
        let capacity = 100;
        for seed in 0..3000 {
            let mut rng = Rng::new(seed);
            let mut sizes = Vec::new();
            let mut total = 0;
            loop {
                let size = 1 + rng.below(50) as usize;
                if total + size > capacity {
                    break;
                }
                total += size;
                sizes.push(size);
            }
            let newcomer = Newcomer {
                slot: rng.below(sizes.len() as u64 + 1) as usize,
                bytes: 1 + rng.below(50) as usize,
                ascending: rng.chance(0.3),
            };
            let division = choose_split(&sizes, newcomer, capacity);
            let mut left: usize = sizes[..division.slot].iter().sum();
            let mut right: usize = sizes[division.slot..].iter().sum();
            if division.newcomer_left {
                assert!(newcomer.slot <= division.slot, "seed {seed}");
                left += newcomer.bytes;
            } else {
                assert!(newcomer.slot >= division.slot, "seed {seed}");
                right += newcomer.bytes;
            }
            assert!(
                left <= capacity && right <= capacity,
                "seed {seed}: {sizes:?} {newcomer:?} {division:?}"
            );
        }
    }

    #[test]
    fn ascending_insertions_leave_full_pages() {
        let newcomer = Newcomer { slot: 10, bytes: 10, ascending: true };
        assert_eq!(choose_split(&[10; 10], newcomer, 100), Division { slot: 9, newcomer_left: false });
        let newcomer = Newcomer { slot: 7, bytes: 10, ascending: true };
        assert_eq!(choose_split(&[10; 10], newcomer, 100), Division { slot: 7, newcomer_left: true });
    }
}
