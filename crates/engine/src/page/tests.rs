//! The slotted page against a `BTreeMap`, with random operations; and its redo, replayed on the old image,
//! against the page itself.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use crate::ids::PageNo;
use std::collections::BTreeMap;

enum Action {
    Write(usize, Vec<u8>),
    Move(usize, usize, usize),
}

struct Recorder {
    bytes: Box<[u8; PAGE_SIZE]>,
    steps: Vec<Action>,
}

impl PageEdit for Recorder {
    fn view(&self) -> &PageView {
        PageView::from_bytes(&self.bytes)
    }
    fn write(&mut self, off: usize, bytes: &[u8]) {
        self.bytes[off..off + bytes.len()].copy_from_slice(bytes);
        self.steps.push(Action::Write(off, bytes.to_vec()));
    }
    fn move_bytes(&mut self, src: usize, dst: usize, len: usize) {
        self.bytes.copy_within(src..src + len, dst);
        self.steps.push(Action::Move(src, dst, len));
    }
}

fn replay(bytes: &mut [u8; PAGE_SIZE], steps: &[Action]) {
    for step in steps {
        match step {
            Action::Write(off, new) => bytes[*off..off + new.len()].copy_from_slice(new),
            Action::Move(src, dst, len) => bytes.copy_within(*src..src + len, *dst),
        }
    }
}

fn fresh() -> Recorder {
    let mut bytes = Box::new([0; PAGE_SIZE]);
    edit::init_bytes(&mut bytes, PageNo(7), PageKind::TreeLeaf);
    Recorder { bytes, steps: Vec::new() }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
    fn bytes(&mut self, length_max: usize) -> Vec<u8> {
        let length = self.below(length_max + 1);
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

type Model = BTreeMap<Vec<u8>, (u8, Vec<u8>)>;

fn compare(page: &PageView, model: &Model, seed: u64) {
    page.check().unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    assert_eq!(page.slot_count(), model.len(), "seed {seed}");
    for (slot, (key, (flags, value))) in model.iter().enumerate() {
        let expected = Record { flags: *flags, key, value };
        assert_eq!(page.record(slot), expected, "seed {seed} slot {slot}");
    }
}

fn step(page: &mut Recorder, model: &mut Model, random: &mut Random, value_max: usize) {
    let key = vec![random.below(12) as u8, random.below(12) as u8];
    match (page.view().search(&key), random.below(10)) {
        (Err(slot), _) => {
            let value = random.bytes(value_max);
            let fits = page.view().fits(key.len(), value.len());
            assert_eq!(edit::insert(page, slot, 0, &key, &value).is_ok(), fits);
            if fits {
                model.insert(key, (0, value));
            }
        }
        (Ok(slot), 0..=2) => {
            edit::remove(page, slot);
            model.remove(&key);
        }
        (Ok(slot), 3) => {
            edit::set_flags(page, slot, DELETE_MARK);
            model.get_mut(&key).unwrap().0 = DELETE_MARK;
        }
        (Ok(slot), 4) => {
            let mut value = model[&key].1.clone();
            if let Some(byte) = value.last_mut() {
                *byte = byte.wrapping_add(1);
            }
            let steps = page.steps.len();
            edit::replace_value(page, slot, &value).unwrap();
            assert!(page.steps.len() <= steps + 1);
            model.get_mut(&key).unwrap().1 = value;
        }
        (Ok(slot), _) => {
            let value = random.bytes(value_max);
            let fits = page.view().fits_value(slot, value.len());
            assert_eq!(edit::replace_value(page, slot, &value).is_ok(), fits);
            if fits {
                model.get_mut(&key).unwrap().1 = value;
            }
        }
    }
}

#[test]
fn slotted_page_matches_a_map_and_its_redo_matches_the_page() {
    for seed in 0..24 {
        let mut random = Random(seed);
        let (mut page, mut model) = (fresh(), Model::new());
        let value_max = [8, 60, 300, 3000][seed as usize % 4];
        let mut old = page.bytes.clone();
        for nth in 0..1500 {
            step(&mut page, &mut model, &mut random, value_max);
            if nth % 97 == 0 {
                compare(page.view(), &model, seed);
                replay(&mut old, &page.steps);
                assert!(old == page.bytes, "seed {seed}: redo differs");
                page.steps.clear();
            }
        }
        compare(page.view(), &model, seed);
    }
}

#[test]
fn split_copies_and_truncates() {
    let mut left = fresh();
    for n in 0..100u8 {
        edit::insert(&mut left, usize::from(n), 0, &[n], &[n; 50]).unwrap();
    }
    let mut right = fresh();
    edit::append_records(&mut right, left.view(), 60..100).unwrap();
    edit::truncate(&mut left, 60);
    left.view().check().unwrap();
    right.view().check().unwrap();
    assert_eq!((left.view().slot_count(), right.view().slot_count()), (60, 40));
    assert_eq!(right.view().key(0), [60]);
    edit::append_records(&mut left, right.view(), 0..40).unwrap();
    edit::compact(&mut left);
    left.view().check().unwrap();
    assert_eq!((left.view().slot_count(), left.view().garbage()), (100, 0));
}

#[test]
fn redo_of_an_insert_is_small() {
    let mut page = fresh();
    for n in 0..50u8 {
        edit::insert(&mut page, usize::from(n), 0, &[n * 2], &[n; 50]).unwrap();
    }
    page.steps.clear();
    edit::insert(&mut page, 10, 0, &[19], &[1; 50]).unwrap();
    let bytes: usize = page.steps.iter().map(|s| if let Action::Write(_, b) = s { b.len() } else { 0 }).sum();
    assert_eq!(page.steps.len(), 4);
    assert!(bytes <= 5 + 51 + 2 + 6);
}

#[test]
fn a_damaged_structure_is_found_and_a_damaged_byte_breaks_the_checksum() {
    let mut page = fresh();
    edit::insert(&mut page, 0, 0, b"b", b"1").unwrap();
    edit::insert(&mut page, 1, 0, b"c", b"1").unwrap();
    page.view().check().unwrap();
    checksum::seal(&mut page.bytes);
    assert!(checksum::matches(&page.bytes));
    page.bytes[HEADER_SIZE + RECORD_HEADER] = b'd';
    assert!(!checksum::matches(&page.bytes));
    assert!(page.view().check().is_err());
    page.bytes[PAGE_SIZE - 1] = 0xff;
    assert!(page.view().check().is_err());
}
