//! Things in memory of which there may be millions. Dropping them takes up to a second, and nothing yields
//! in the middle of that: so a [`Many`] has another thread look after its worker's other sessions first
//! (`sys::relief`), wherever it is dropped. Rows are kept in no other way (`tests/tidy`).

use std::ops::{Deref, DerefMut};

use turnstile_sys::relief;

use super::MANY;

/// So many things are about to be dropped at once.
#[inline]
pub fn dropping(count: usize) {
    if count >= MANY {
        #[cfg(any(test, feature = "testing"))]
        DROPS.set(DROPS.get() + 1);
        relief::ahead();
    }
}

/// A list that may be dropped anywhere, however long it is.
#[derive(Debug, Clone)]
pub struct Many<T>(Vec<T>);

impl<T> Many<T> {
    /// None yet.
    pub const fn new() -> Many<T> {
        Many(Vec::new())
    }

    /// None yet, with room for so many.
    pub fn with_capacity(count: usize) -> Many<T> {
        Many(Vec::with_capacity(count))
    }

    /// Keeps `count` behind the first `skipped`.
    pub fn keep(&mut self, skipped: usize, count: usize) {
        dropping(self.0.len().saturating_sub(count));
        self.0.truncate(skipped.saturating_add(count));
        self.0.drain(..skipped.min(self.0.len()));
    }
}

impl<T> Default for Many<T> {
    fn default() -> Many<T> {
        Many::new()
    }
}

impl<T> Drop for Many<T> {
    fn drop(&mut self) {
        dropping(self.0.len());
    }
}

impl<T> Deref for Many<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Many<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for Many<T> {
    fn from(list: Vec<T>) -> Many<T> {
        Many(list)
    }
}

impl<T> FromIterator<T> for Many<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Many<T> {
        Many(items.into_iter().collect())
    }
}

impl<T> IntoIterator for Many<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(mut self) -> IntoIter<T> {
        IntoIter(std::mem::take(&mut self.0).into_iter())
    }
}

impl<'m, T> IntoIterator for &'m Many<T> {
    type Item = &'m T;
    type IntoIter = std::slice::Iter<'m, T>;
    fn into_iter(self) -> std::slice::Iter<'m, T> {
        self.0.iter()
    }
}

impl<'m, T> IntoIterator for &'m mut Many<T> {
    type Item = &'m mut T;
    type IntoIter = std::slice::IterMut<'m, T>;
    fn into_iter(self) -> std::slice::IterMut<'m, T> {
        self.0.iter_mut()
    }
}

/// What is left of them.
#[derive(Debug)]
pub struct IntoIter<T>(std::vec::IntoIter<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        dropping(self.0.len());
    }
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    static DROPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drops_of(work: impl FnOnce()) -> usize {
        let before = DROPS.get();
        work();
        DROPS.get() - before
    }

    #[test]
    fn many_are_announced_before_they_are_dropped() {
        let many = || (0..MANY + 9).collect::<Many<usize>>();
        let half = || {
            let mut rest = many().into_iter();
            rest.next();
            rest
        };
        assert_eq!(drops_of(|| drop(many())), 1);
        assert_eq!(drops_of(|| drop(half())), 1);
        assert_eq!(drops_of(|| assert_eq!(many().into_iter().count(), MANY + 9)), 0, "they went one by one");
        assert_eq!(drops_of(|| drop((0..MANY - 1).collect::<Many<usize>>())), 0, "these are few");
        let mut some = many();
        assert_eq!(drops_of(|| some.keep(3, 2)), 1);
        assert_eq!(*some, [3, 4]);
        some.keep(5, 1);
        assert!(some.is_empty());
    }
}
