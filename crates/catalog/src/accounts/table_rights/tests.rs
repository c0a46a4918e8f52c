//! Privileges on tables and columns: their text, their bytes, and what REVOKE leaves.

use super::*;

fn some() -> TableRights {
    let mut rights = TableRights { whole: Privileges::DELETE, ..TableRights::default() };
    rights.grantor = "root@localhost".into();
    rights.granted = 77;
    rights.grant_column("b", Privileges::INSERT);
    rights.grant_column("A", Privileges::INSERT.with(Privileges::SELECT));
    rights
}

#[test]
fn text_is_in_the_order_of_privileges_and_columns() {
    assert_eq!(some().list(), "SELECT (`A`), INSERT (`A`, `b`), DELETE");
    assert_eq!(TableRights::default().list(), "USAGE");
    let all = TableRights { whole: Privileges::all_of_tables(), ..TableRights::default() };
    assert_eq!(all.list(), "ALL PRIVILEGES");
}

#[test]
fn bytes_come_back() {
    let mut row = Writer::new(1);
    some().encode(&mut row);
    let read = TableRights::decode(&mut Reader::new(&row.0, 1).expect("the row that was written"));
    assert_eq!(read, Ok(some()));
}

#[test]
fn what_is_taken_from_the_table_is_taken_from_its_columns() {
    let mut rights = some();
    rights.revoke_whole(Privileges::INSERT);
    assert_eq!(rights.list(), "SELECT (`A`), DELETE");
    rights.revoke_column("a", Privileges::SELECT);
    assert_eq!(rights.list(), "DELETE");
    assert_eq!(rights.on_column("a"), Privileges::NONE, "absent means no");
}
