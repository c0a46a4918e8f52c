//! Statements that find no room on the disk say which table is full.

use turnstile_sys::fault_disk::FaultDisk;

use super::*;

#[test]
fn a_full_disk_names_the_table() {
    let disk = FaultDisk::new(1);
    let engine = Engine::open(Arc::new(disk.clone()), Config::default()).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE few (id INT PRIMARY KEY, v LONGTEXT)");
    run(&mut session, "CREATE TABLE other (id INT PRIMARY KEY)");
    run(&mut session, "INSERT INTO few VALUES (1, REPEAT('a', 3000000)), (2, 'b')");
    run(&mut session, "INSERT INTO other VALUES (1), (2)");
    disk.set_capacity(disk.used());
    let grows = "CONCAT(REPEAT('b', 60000000), id)";
    for statement in [
        format!("INSERT INTO few SELECT id + 10, {grows} FROM other"),
        "REPLACE INTO few VALUES (2, REPEAT('c', 60000000))".into(),
        format!("UPDATE few SET v = {grows}"),
        format!("UPDATE few SET v = {grows} WHERE id = 2"),
        format!("UPDATE few JOIN other USING (id) SET v = {grows}"),
        "ALTER TABLE few ADD COLUMN w LONGTEXT DEFAULT (REPEAT('w', 60000000)), ALGORITHM=COPY".into(),
    ] {
        let answer = run(&mut session, &statement);
        assert_eq!(answer, "error 1114 The table 'few' is full\n", "{statement}");
    }
    disk.set_capacity(usize::MAX);
    assert_eq!(run(&mut session, "SELECT id, LENGTH(v) FROM few"), "1 | 3000000\n2 | 1\n");
}
