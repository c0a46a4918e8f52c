//! What the faulty disk must keep, may lose, and how it fails when told to.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn what_was_synced_survives_and_what_was_not_may_be_torn() {
    let mut moods = [0; 3];
    for seed in 0..60 {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        disk.sync_dir().unwrap();
        file.write_at(&[1; 4096], 0).unwrap();
        file.sync().unwrap();
        file.write_at(&[2; 4096], 0).unwrap();
        let after = disk.crash();
        assert!(file.write_at(&[3], 0).is_err(), "the old disk is dead");
        let mut bytes = [0; 4096];
        after.open("a", false).unwrap().read_at(&mut bytes, 0).unwrap();
        let new = bytes.chunks(SECTOR_BYTES).filter(|sector| sector.iter().all(|&b| b == 2)).count();
        let old = bytes.chunks(SECTOR_BYTES).filter(|sector| sector.iter().all(|&b| b == 1)).count();
        assert_eq!(new + old, 8, "seed {seed}: sectors are whole");
        moods[if new == 0 { 0 } else { 1 + usize::from(old > 0) }] += 1;
    }
    assert!(moods.iter().all(|&count| count > 0), "lost, kept and torn all happen: {moods:?}");
}

#[test]
fn names_need_a_directory_sync() {
    let mut lost = 0;
    for seed in 0..40 {
        let disk = FaultDisk::new(seed);
        disk.open("kept", true).unwrap();
        disk.sync_dir().unwrap();
        disk.rename("kept", "moved").unwrap();
        let after = disk.crash();
        assert!(after.exists("kept").unwrap() != after.exists("moved").unwrap());
        lost += usize::from(after.exists("kept").unwrap());
    }
    assert!(lost > 0 && lost < 40);
}

#[test]
fn planted_faults_hit_the_operation_they_name() {
    let disk = FaultDisk::new(1);
    let file = disk.open("a", true).unwrap();
    disk.fail_at(2, FaultKind::InputOutput);
    file.write_at(b"x", 0).unwrap();
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    file.sync().unwrap();
    disk.set_capacity(100);
    file.allocate(100).unwrap();
    assert_eq!(file.allocate(101).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.len().unwrap(), 100);
}

#[test]
fn a_lying_sync_loses_data() {
    let lost = (0..20).filter(|&seed| {
        let disk = FaultDisk::new(seed);
        disk.skip_sync_of("redo");
        let file = disk.open("redo.1", true).unwrap();
        disk.sync_dir().unwrap();
        file.write_at(b"x", 0).unwrap();
        file.sync().unwrap();
        disk.crash().open("redo.1", false).unwrap().len().unwrap() == 0
    });
    assert!(lost.count() > 0);
}
