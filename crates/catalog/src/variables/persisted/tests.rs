//! What SET PERSIST keeps, over a disk that fails and loses power at every operation.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::sync::Arc;

use turnstile_sys::disk::Disk;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::*;

fn entry(value: &str) -> Entry {
    Entry { value: value.into(), set_us: 7, user: "root".into(), host: "localhost".into() }
}

fn keep(name: &str, value: &str) -> Vec<Change> {
    vec![Change::Keep(name.into(), entry(value))]
}

fn opened(disk: &FaultDisk) -> Persisted {
    Persisted::read(Arc::new(disk.clone())).unwrap()
}

/// Values of one variable as another start of the server reads them.
fn found(disk: &FaultDisk, name: &str) -> Option<String> {
    opened(disk).entries().into_iter().find(|(one, _)| one == name).map(|(_, entry)| entry.value)
}

fn put(disk: &FaultDisk, text: &str) {
    disk.open(FILE, true).unwrap().write_at(text.as_bytes(), 0).unwrap();
}

#[test]
fn what_is_kept_is_read_again_with_its_origin() {
    let disk = FaultDisk::new(1);
    let persisted = opened(&disk);
    persisted.change(keep("max_connections", "500")).unwrap();
    persisted.change(keep("innodb_purge_threads", "2")).unwrap();
    let disk = disk.crash();
    let entries = opened(&disk).entries();
    assert_eq!(
        entries,
        [("innodb_purge_threads".to_string(), entry("2")), ("max_connections".to_string(), entry("500"))]
    );
    let globals = Globals::default();
    assert!(opened(&disk).apply(&globals).unwrap().is_empty());
    assert_eq!(globals.named("max_connections"), Value::UInt(500));
    let persisted = opened(&disk);
    persisted.change(vec![Change::Forget("max_connections".into())]).unwrap();
    assert!(!persisted.has("max_connections") && persisted.has("innodb_purge_threads"));
    persisted.change(vec![Change::ForgetAll]).unwrap();
    assert!(opened(&disk.crash()).entries().is_empty());
}

#[test]
fn power_lost_at_any_operation_leaves_the_file_before_or_after() {
    let (mut old, mut new) = (0, 0);
    for seed in 0..40 {
        for operation in 0..8 {
            let disk = FaultDisk::new(seed);
            let persisted = opened(&disk);
            persisted.change(keep("max_connections", "100")).unwrap();
            // A failure that lasts stands for the moment of the crash: nothing behind it reaches the disk.
            disk.fail_from(1 + operation, FaultKind::InputOutput);
            let done = persisted.change(keep("max_connections", "200")).is_ok();
            let after = found(&disk.crash(), "max_connections").unwrap();
            assert!(after == "200" || !done && after == "100", "seed {seed}, operation {operation}: {after}");
            if after == "200" { new += 1 } else { old += 1 }
        }
    }
    assert!(old > 0 && new > 0, "both sides of the change were seen: {old}, {new}");
}

#[test]
fn a_refused_change_changes_nothing_and_the_next_one_works() {
    for operation in 0..5 {
        let disk = FaultDisk::new(3);
        let persisted = opened(&disk);
        persisted.change(keep("max_connections", "100")).unwrap();
        disk.fail_at(1 + operation, FaultKind::InputOutput);
        if persisted.change(keep("max_connections", "200")).is_err() {
            assert_eq!(persisted.entries()[0].1.value, "100");
        }
        persisted.change(keep("max_connections", "300")).unwrap();
        assert_eq!(found(&disk.crash(), "max_connections").unwrap(), "300");
    }
}

#[test]
fn damage_is_refused_and_what_is_unknown_is_carried_along() {
    for text in
        ["{", "[]", "{\"mysql_dynamic_variables\": 1}", "{\"mysql_static_variables\": {\"port\": {}}}"]
    {
        let disk = FaultDisk::new(1);
        put(&disk, text);
        assert!(Persisted::read(Arc::new(disk)).unwrap_err().contains(FILE), "{text}");
    }
    let disk = FaultDisk::new(1);
    put(&disk, "{\"Version\": 2, \"mysql_dynamic_variables\": {\"of_another_server\": {\"Value\": \"1\"}}}");
    let persisted = opened(&disk);
    assert_eq!(persisted.apply(&Globals::default()).unwrap().len(), 1);
    persisted.change(keep("max_connections", "5")).unwrap();
    assert_eq!(found(&disk, "of_another_server").unwrap(), "1");
    let disk = FaultDisk::new(1);
    put(&disk, "{\"mysql_dynamic_variables\": {\"autocommit\": {\"Value\": \"maybe\"}}}");
    assert!(opened(&disk).apply(&Globals::default()).unwrap_err().contains("'maybe'"));
}
