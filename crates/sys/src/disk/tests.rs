//! The real disk over a temporary directory.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own that goes when it is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        Directory(std::env::temp_dir().join(format!("turnstile-disk-{}-{nth}", std::process::id())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_keeps_what_is_written_at_its_place() {
    let directory = Directory::new();
    let disk = RealDisk::open(&directory.0).unwrap();
    let file = disk.open("a", true).unwrap();
    file.allocate(10_000).unwrap();
    assert_eq!(file.len().unwrap(), 10_000);
    file.write_at(b"hello", 9_000).unwrap();
    file.sync().unwrap();
    disk.sync_dir().unwrap();
    let mut buffer = [1; 7];
    disk.open("a", false).unwrap().read_at(&mut buffer, 8_999).unwrap();
    assert_eq!(&buffer, b"\0hello\0");
    let past = file.read_at(&mut buffer, 9_995).unwrap_err();
    assert_eq!(past.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn names_are_listed_renamed_and_removed() {
    let directory = Directory::new();
    let disk = RealDisk::open(&directory.0).unwrap();
    assert_eq!(disk.open("b", false).err().unwrap().kind(), io::ErrorKind::NotFound);
    disk.open("b", true).unwrap();
    disk.rename("b", "c").unwrap();
    disk.open("a", true).unwrap();
    assert_eq!(disk.list().unwrap(), ["a", "c"]);
    disk.remove("a").unwrap();
    assert!(!disk.exists("a").unwrap() && disk.exists("c").unwrap());
    assert_eq!(disk.open("../x", true).err().unwrap().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_directory_has_one_opener() {
    let directory = Directory::new();
    let first = RealDisk::open(&directory.0).unwrap();
    let second = RealDisk::open(&directory.0).unwrap_err();
    assert!(second.to_string().contains("in use"), "{second}");
    drop(first);
    RealDisk::open(&directory.0).unwrap();
}
