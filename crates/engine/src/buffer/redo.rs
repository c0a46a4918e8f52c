//! Redo records: the body of a redo group is a row of them, each a physical change of one page.
//!
//! ```text
//!  tag u8: bits 0-1 kind (0 write, 1 move, 2 init), bit 2 same page as the record before
//!  page_no varint                      unless bit 2
//!  write: off varint, len varint, bytes
//!  move:  src varint, dst varint, len varint
//!  init:  page kind u8
//! ```
//!
//! Applying is idempotent by page LSN: a group is applied to a page only if the page is older than the
//! group's end.

use crate::error::Error;
use crate::ids::PageNo;
use crate::page::{PAGE_SIZE, PageKind, edit};

const KIND_WRITE: u8 = 0;
const KIND_MOVE: u8 = 1;
const KIND_INIT: u8 = 2;
const KIND_MASK: u8 = 3;
const SAME_PAGE: u8 = 4;

/// One change of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'b> {
    /// Bytes overwritten at an offset.
    Write {
        /// Where in the page.
        off: usize,
        /// The new bytes.
        bytes: &'b [u8],
    },
    /// Bytes moved inside the page.
    Move {
        /// From where.
        src: usize,
        /// To where.
        dst: usize,
        /// How many.
        len: usize,
    },
    /// The page becomes a fresh one.
    Init {
        /// Of this kind.
        kind: PageKind,
    },
}

fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_tag(out: &mut Vec<u8>, kind: u8, same_page: bool, page_no: PageNo) {
    if same_page {
        out.push(kind | SAME_PAGE);
    } else {
        out.push(kind);
        put_varint(out, page_no.0);
    }
}

fn position(value: usize) -> u32 {
    u32::try_from(value).expect("positions on a page are below 16384")
}

pub(crate) fn encode_write(out: &mut Vec<u8>, same_page: bool, page_no: PageNo, off: usize, bytes: &[u8]) {
    put_tag(out, KIND_WRITE, same_page, page_no);
    put_varint(out, position(off));
    put_varint(out, position(bytes.len()));
    out.extend_from_slice(bytes);
}

pub(crate) fn encode_move(
    out: &mut Vec<u8>,
    same_page: bool,
    page_no: PageNo,
    src: usize,
    dst: usize,
    len: usize,
) {
    put_tag(out, KIND_MOVE, same_page, page_no);
    put_varint(out, position(src));
    put_varint(out, position(dst));
    put_varint(out, position(len));
}

pub(crate) fn encode_init(out: &mut Vec<u8>, same_page: bool, page_no: PageNo, kind: PageKind) {
    put_tag(out, KIND_INIT, same_page, page_no);
    out.push(kind as u8);
}

/// Reads the records of one group's body.
pub struct Records<'b> {
    rest: &'b [u8],
    page_no: Option<PageNo>,
}

/// The records in `body`, in order. A malformed body yields one error and then ends.
pub fn records(body: &[u8]) -> Records<'_> {
    Records { rest: body, page_no: None }
}

impl<'b> Records<'b> {
    /// Bytes not read yet.
    pub(crate) fn rest_len(&self) -> usize {
        self.rest.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u32> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A stretch inside the page.
    fn stretch(off: usize, len: usize) -> Option<()> {
        (off <= PAGE_SIZE && len <= PAGE_SIZE - off).then_some(())
    }

    fn parse(&mut self) -> Option<(PageNo, Change<'b>)> {
        let tag = self.byte()?;
        if tag & SAME_PAGE == 0 {
            self.page_no = Some(PageNo(self.varint()?));
        }
        let page_no = self.page_no?;
        let change = match tag & KIND_MASK {
            KIND_WRITE => {
                let (off, len) = (self.varint()? as usize, self.varint()? as usize);
                Self::stretch(off, len)?;
                let (bytes, rest) = self.rest.split_at_checked(len)?;
                self.rest = rest;
                Change::Write { off, bytes }
            }
            KIND_MOVE => {
                let (src, dst) = (self.varint()? as usize, self.varint()? as usize);
                let len = self.varint()? as usize;
                Self::stretch(src, len)?;
                Self::stretch(dst, len)?;
                Change::Move { src, dst, len }
            }
            KIND_INIT => Change::Init { kind: PageKind::from_byte(self.byte()?)? },
            _ => return None,
        };
        Some((page_no, change))
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Result<(PageNo, Change<'b>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let parsed = self.parse();
        if parsed.is_none() {
            self.rest = &[];
        }
        Some(parsed.ok_or_else(|| Error::Corrupt {
            file: "redo".into(),
            offset: 0,
            what: "a redo group with a valid checksum holds a malformed record".into(),
        }))
    }
}

/// Applies one change of a group to a page image. Whether the page needs the group was decided before its
/// first record, by the page LSN; when the group is done the caller stamps its end.
pub fn apply(bytes: &mut [u8; PAGE_SIZE], page_no: PageNo, change: Change<'_>) {
    match change {
        Change::Write { off, bytes: new } => bytes[off..off + new.len()].copy_from_slice(new),
        Change::Move { src, dst, len } => bytes.copy_within(src..src + len, dst),
        Change::Init { kind } => edit::init_bytes(bytes, page_no, kind),
    }
}

/// For fuzzing: `data` as the body of a redo group, applied to one page.
pub fn fuzz_redo(data: &[u8]) {
    let mut page = Box::new([0; PAGE_SIZE]);
    for record in records(data) {
        let Ok((page_no, change)) = record else { return };
        apply(&mut page, page_no, change);
    }
}
