//! The faulty disk keeps what it must, loses what it may, and fails when told.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn read_all(disk: &FaultDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name, false).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn synced_bytes_survive_and_unsynced_ones_may_not() {
    let (mut kept, mut lost, mut torn) = (0, 0, 0);
    for seed in 0..200 {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        file.write_at(&[1; 4096], 0).unwrap();
        file.sync().unwrap();
        file.write_at(&[2; 2048], 1024).unwrap();
        let after = disk.crash();
        assert!(file.write_at(b"x", 0).is_err(), "the old machine is off");
        let bytes = read_all(&after, "a");
        assert!(bytes[..1024].iter().chain(&bytes[3072..]).all(|b| *b == 1), "seed {seed}");
        let sectors: Vec<u8> = bytes[1024..3072].chunks(512).map(|s| s[0]).collect();
        assert!(bytes[1024..3072].chunks(512).all(|s| s.iter().all(|b| *b == s[0])), "seed {seed}");
        match sectors.iter().filter(|b| **b == 2).count() {
            0 => lost += 1,
            4 => kept += 1,
            _ => torn += 1,
        }
    }
    assert!(kept > 10 && lost > 10 && torn > 10, "{kept} {lost} {torn}");
}

#[test]
fn of_one_sector_a_beginning_of_its_writes_survives() {
    for seed in 0..200 {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        file.allocate(512).unwrap();
        file.sync().unwrap();
        for nth in 0..10u8 {
            file.write_at(&[nth + 1], u64::from(nth)).unwrap();
        }
        let bytes = read_all(&disk.crash(), "a");
        let written = bytes.iter().position(|b| *b == 0).unwrap();
        assert!(bytes[written..].iter().all(|b| *b == 0), "seed {seed}: {:?}", &bytes[..10]);
    }
}

#[test]
fn names_are_durable_after_a_sync() {
    let mut renamed = 0;
    for seed in 0..100 {
        let disk = FaultDisk::new(seed);
        disk.open("a", true).unwrap().sync().unwrap();
        disk.open("b", true).unwrap();
        disk.sync_dir().unwrap();
        disk.open("c", true).unwrap();
        disk.rename("a", "d").unwrap();
        let after = disk.crash();
        assert!(after.exists("b").unwrap());
        assert!(after.exists("a").unwrap() != after.exists("d").unwrap());
        assert!(after.exists("c").unwrap() || after.exists("a").unwrap(), "the journal keeps its order");
        renamed += u32::from(after.exists("d").unwrap());
    }
    assert!((5..95).contains(&renamed));
}

#[test]
fn a_failed_sync_may_lose_data_for_good() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        file.allocate(512).unwrap();
        file.sync().unwrap();
        file.write_at(&[7], 0).unwrap();
        disk.fail_at(1, FaultKind::InputOutput);
        assert!(file.sync().is_err());
        file.sync().unwrap();
        assert_eq!(read_all(&disk, "a")[0], 7, "the cache still shows it");
        lost += u32::from(read_all(&disk.crash(), "a")[0] == 0);
    }
    assert!(lost > 5, "{lost}");
}

#[test]
fn failures_come_when_told_and_space_ends() {
    let disk = FaultDisk::new(1);
    let file = disk.open("a", true).unwrap();
    disk.fail_from(2, FaultKind::NoSpace);
    file.write_at(&[1], 0).unwrap();
    assert_eq!(file.write_at(&[1], 0).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(matches!(file.allocate(9), Err(AllocateError::Full(_))));
    file.sync().unwrap();
    disk.heal();
    disk.set_capacity(100);
    file.allocate(100).unwrap();
    assert!(matches!(file.allocate(101), Err(AllocateError::Full(_))));
    assert_eq!(file.len().unwrap(), 100);
    file.write_at(&[1; 100], 0).unwrap();
}

#[test]
fn a_killed_process_loses_nothing_and_a_skipped_sync_does() {
    let disk = FaultDisk::new(5);
    disk.open("a", true).unwrap().write_at(b"unsynced", 0).unwrap();
    assert_eq!(read_all(&disk.kill(), "a"), b"unsynced");
    let lost = (0..50).any(|seed| {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        disk.sync_dir().unwrap();
        disk.skip_sync_of("a");
        file.write_at(b"x", 0).unwrap();
        file.sync().unwrap();
        read_all(&disk.crash(), "a").is_empty()
    });
    assert!(lost);
}

#[test]
fn a_planted_failure_hits_the_operation_it_names() {
    let disk = FaultDisk::new(1);
    let file = disk.open("a", true).unwrap();
    disk.fail_at(2, FaultKind::InputOutput);
    file.write_at(b"x", 0).unwrap();
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    file.sync().unwrap();
    assert_eq!(disk.counts().operations, 4);
}

/// A process that dies in the middle of a write leaves what it had written in the cache, and nothing else
/// happens.
#[test]
fn a_process_may_die_in_the_middle_of_an_operation() {
    let mut parts = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        file.write_at(&[1; 8], 0).unwrap();
        disk.fail_at(1, FaultKind::Killed);
        assert!(file.write_at(&[2; 8], 0).is_err() && disk.was_killed());
        assert!(file.write_at(&[3; 8], 0).is_err() && file.sync().is_err() && file.allocate(9).is_err());
        let next = disk.kill();
        let found = read_all(&next, "a");
        parts.insert(found.iter().filter(|&&byte| byte == 2).count());
        assert!(!found.contains(&3));
        next.open("a", false).unwrap().sync().unwrap();
        assert_eq!(
            read_all(&next.crash(), "a"),
            found,
            "a sync of the next process covers the first one's writes"
        );
    }
    assert!(parts.len() > 4, "{parts:?}");
}

#[test]
fn a_sync_that_lacks_space_is_a_failed_sync() {
    let disk = FaultDisk::new(1);
    let file = disk.open("a", true).unwrap();
    disk.fail_from(1, FaultKind::NoSpaceAtSync);
    file.allocate(512).unwrap();
    file.write_at(&[1; 512], 0).unwrap();
    assert_eq!(file.sync().unwrap_err().kind(), io::ErrorKind::StorageFull);
    disk.heal();
    file.sync().unwrap();
    let lost = (0..50).any(|seed| {
        let disk = FaultDisk::new(seed);
        let file = disk.open("a", true).unwrap();
        file.write_at(&[1], 0).unwrap();
        disk.fail_at(1, FaultKind::NoSpaceAtSync);
        assert!(file.sync().is_err() && file.sync().is_ok() && disk.sync_dir().is_ok());
        read_all(&disk.crash(), "a").is_empty()
    });
    assert!(lost);
}
