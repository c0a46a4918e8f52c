//! A list that grows and goes in blocks, so no step of it moves, copies or frees more than a block, however
//! long it is.

use std::collections::VecDeque;

use super::dropping;

/// Things in a block.
const BLOCK: usize = 512;

/// Taken from the front, added to at the end.
#[derive(Debug)]
pub struct Blocks<T> {
    /// None is empty.
    blocks: VecDeque<VecDeque<T>>,
    len: usize,
}

impl<T> Blocks<T> {
    /// None yet.
    pub const fn new() -> Blocks<T> {
        Blocks { blocks: VecDeque::new(), len: 0 }
    }

    /// Things there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one.
    pub fn push(&mut self, one: T) {
        self.len += 1;
        match self.blocks.back_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push_back(one),
            None => self.blocks.push_back(VecDeque::from([one])),
        }
    }

    /// The first one.
    pub fn first(&self) -> Option<&T> {
        self.blocks.front()?.front()
    }

    /// Adds another list's blocks.
    pub fn append(&mut self, other: &mut Blocks<T>) {
        self.len += std::mem::take(&mut other.len);
        self.blocks.append(&mut other.blocks);
    }

    /// Takes the first block away.
    pub fn pop_block(&mut self) -> Option<Blocks<T>> {
        let block = self.blocks.pop_front()?;
        self.len -= block.len();
        Some(Blocks { len: block.len(), blocks: VecDeque::from([block]) })
    }

    /// The blocks, one after the other.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.blocks.iter_mut().map(|block| block.make_contiguous())
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Blocks<T> {
        Blocks::new()
    }
}

impl<T> Iterator for Blocks<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let block = self.blocks.front_mut()?;
        let one = block.pop_front();
        if block.is_empty() {
            self.blocks.pop_front();
        }
        self.len -= usize::from(one.is_some());
        one
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T> Drop for Blocks<T> {
    fn drop(&mut self) {
        dropping(self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_their_order() {
        let mut list = Blocks::new();
        (0..BLOCK * 2 + 5).for_each(|nth| list.push(nth));
        assert_eq!((list.len(), list.blocks_mut().count(), list.first()), (BLOCK * 2 + 5, 3, Some(&0)));
        assert_eq!((list.next(), list.len()), (Some(0), BLOCK * 2 + 4));
        let mut front = list.pop_block().unwrap_or_default();
        assert_eq!((front.len(), list.len()), (BLOCK - 1, BLOCK + 5));
        let mut end = Blocks::new();
        end.push(BLOCK * 2 + 5);
        list.append(&mut end);
        list.push(BLOCK * 2 + 6);
        front.append(&mut list);
        assert_eq!((list.len(), end.is_empty()), (0, true));
        assert!(list.pop_block().is_none());
        assert!(front.eq(1..BLOCK * 2 + 7));
    }
}
