//! Overflow chains of all lengths: written, read back, freed in pieces.

use super::harness::*;
use crate::btree::NO_PAGE;
use crate::btree::overflow::{CHUNK_BYTES, ChainReader, ChainWriter, free_first, free_tail_step};
use crate::buffer::Mtr;
use crate::error::Error;
use crate::ids::IndexId;

#[test]
fn chains_of_all_lengths() {
    let storage = storage();
    let before = pages_used(&storage);
    for len in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 50 * CHUNK_BYTES + 17] {
        let value: Vec<u8> = (0..len).map(|n| ((n * 31) >> 3) as u8).collect();
        let mut writer = ChainWriter::new(IndexId(3), &value);
        let first = write_chain(&storage, &mut writer);
        assert_eq!(writer.written(), Some(first));
        assert_eq!(pages_used(&storage) - before, len.div_ceil(CHUNK_BYTES).max(1));
        let mut reader = ChainReader::new(first, len);
        run(&storage, || reader.read(&storage));
        assert_eq!(reader.into_value(), value);
        let mut short = ChainReader::new(first, len.saturating_sub(1));
        assert!(len == 0 || matches!(short.read(&storage), Err(Error::Corrupt { .. })));
        while !run(&storage, || free_tail_step(&storage, first)) {}
        assert_eq!(pages_used(&storage) - before, 1);
        run(&storage, || {
            let mut mtr = Mtr::begin(&storage);
            free_first(&mut mtr, first);
            mtr.commit();
            Ok(())
        });
        assert_eq!(pages_used(&storage), before);
    }
}

#[test]
fn a_chain_is_freed_although_hardly_any_of_it_fits_into_the_pool() {
    // Found by the crash simulator with a giant row and 64 frames: purge wanted 17 pages of the chain at
    // once, and every one that it read evicted another of them, for ever.
    const PAGES: usize = 60;
    let storage = storage_of(64);
    let write = |pages: usize| {
        let value = vec![7; pages * CHUNK_BYTES];
        write_chain(&storage, &mut ChainWriter::new(IndexId(3), &value))
    };
    let (first, busy) = (write(PAGES), write(50));
    let mut pins = Vec::new();
    let mut at = busy;
    while at != NO_PAGE {
        pins.push(storage.pool.load_blocking(at).unwrap());
        at = storage.pool.try_pin(at).unwrap().read().next();
    }
    let before = pages_used(&storage);
    let mut misses = 0;
    loop {
        storage.reserve_blocking().unwrap();
        match free_tail_step(&storage, first) {
            Ok(true) => break,
            Ok(false) => {}
            Err(Error::Miss(page_no)) => {
                misses += 1;
                assert!(misses <= 4 * PAGES, "no end to it");
                drop(storage.pool.load_blocking(page_no).unwrap());
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(before - pages_used(&storage), PAGES - 1);
}
