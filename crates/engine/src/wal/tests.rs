//! The log over disks real and faulty: what was flushed is read back, in order, whole.
#![allow(clippy::unwrap_used)]

use super::*;
use turnstile_sys::disk::RealDisk;

/// A directory of its own that goes when it is dropped.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        Directory(std::env::temp_dir().join(format!("turnstile-wal-{name}-{}", std::process::id())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn bodies(wal: &Wal) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    wal.scan(wal.checkpoint_lsn(), |_, _, body| {
        found.push(body.to_vec());
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn a_real_log_is_read_back() {
    let directory = Directory::new("real");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(&directory.0).unwrap());
    let wal = Wal::create(Arc::clone(&disk), 0).unwrap();
    assert_eq!(wal.append(b""), (FIRST_LSN, FIRST_LSN));
    for nth in 0..100u8 {
        let (start, end) = wal.append(&vec![nth; 1 + 37 * usize::from(nth)]);
        assert!(start < end && wal.current_lsn() == end);
        wal.flush_to(end).unwrap();
        assert!(wal.flushed_lsn() >= end);
    }
    drop(wal);
    let wal = Wal::open(Arc::clone(&disk), 0).unwrap();
    let found = bodies(&wal);
    assert_eq!(found.len(), 100);
    assert!(found.iter().enumerate().all(|(nth, body)| *body == vec![nth as u8; 1 + 37 * nth]));
}
