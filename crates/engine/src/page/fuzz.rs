//! For fuzzing: an arbitrary page image, sealed so that its checksum holds, read and changed as a page from
//! disk is.

use super::checksum;
use super::edit::{self, PageEdit};
use super::header::{HEADER_SIZE, OFF_SLOT_COUNT, PAGE_SIZE, PageKind};
use super::view::{PageView, SLOT_SIZE};

/// A page that nobody logs.
struct Image(Box<[u8; PAGE_SIZE]>);

impl PageEdit for Image {
    fn view(&self) -> &PageView {
        PageView::from_bytes(&self.0)
    }
    fn write(&mut self, off: usize, bytes: &[u8]) {
        self.0[off..off + bytes.len()].copy_from_slice(bytes);
    }
    fn move_bytes(&mut self, src: usize, dst: usize, len: usize) {
        self.0.copy_within(src..src + len, dst);
    }
}

/// Puts `data` into a page: the first byte says how many of the rest go to its end, where the slots are, and
/// whether the header's counts are made to fit, so that a fuzzer finds pages that pass.
fn image(data: &[u8]) -> Option<Image> {
    let (&[shape, slots], rest) = data.split_first_chunk::<2>()?;
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let tail = (usize::from(slots) * SLOT_SIZE).min(rest.len());
    let (front, back) = rest.split_at((rest.len() - tail).min(PAGE_SIZE - tail));
    let back = &back[..tail];
    bytes[..front.len()].copy_from_slice(front);
    bytes[PAGE_SIZE - tail..].copy_from_slice(back);
    if shape & 1 != 0 {
        bytes[16] = if shape & 2 != 0 { PageKind::TreeLeaf } else { PageKind::TreeInner } as u8;
        let top = front.len().max(HEADER_SIZE);
        bytes[OFF_SLOT_COUNT..OFF_SLOT_COUNT + 2].copy_from_slice(&((tail / SLOT_SIZE) as u16).to_le_bytes());
        bytes[OFF_SLOT_COUNT + 2..OFF_SLOT_COUNT + 4].copy_from_slice(&(top as u16).to_le_bytes());
    }
    checksum::seal(&mut bytes);
    Some(Image(bytes))
}

/// Reads every field and record of a page that passes [`PageView::check`], then changes it; it must go on
/// passing.
pub fn fuzz_page(data: &[u8]) {
    let Some(mut page) = image(data) else { return };
    assert!(checksum::matches(&page.0), "a sealed page has a matching checksum");
    let _ = format!("{:?}", page.view());
    let slotted = page.view().kind().is_some_and(PageKind::is_slotted);
    if page.view().check().is_err() || !slotted {
        return;
    }
    for slot in 0..page.view().slot_count() {
        let view = page.view();
        let record = view.record(slot);
        assert_eq!(view.search(record.key), Ok(slot), "a key is found where it is");
        assert!(
            view.value(slot) == record.value && view.value_offset(slot) + record.value.len() <= PAGE_SIZE
        );
    }
    assert!(page.view().used() <= PAGE_SIZE - HEADER_SIZE);
    let key = &data[..data.len().min(32)];
    if let Err(slot) = page.view().search(key) {
        let fits = page.view().fits(key.len(), key.len());
        let inserted = edit::insert(&mut page, slot, 0, key, key);
        assert_eq!(inserted.is_ok(), fits, "what fits can be inserted");
    }
    if page.view().slot_count() > 0 {
        let fits = page.view().fits_value(0, data.len());
        assert_eq!(edit::replace_value(&mut page, 0, data).is_ok(), fits, "what fits can be stored");
    }
    if page.view().slot_count() > 1 {
        edit::remove(&mut page, 1);
    }
    edit::compact(&mut page);
    if let Err(what) = page.view().check() {
        panic!("a good page became a bad one: {what}");
    }
}
