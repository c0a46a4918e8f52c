//! SHOW ENGINE INNODB MUTEX: how contended each class of latches and mutexes was since the start.

use turnstile_sys::latch::{ClassKind, classes};

use super::show::Table;
use crate::value::Value;

/// One row per class. `spins` had to wait, `rounds` are their looks at the latch, `waits` went to sleep.
pub(super) fn mutex_report() -> Table {
    let mut table = Table::new(&[("Type", 's'), ("Name", 's'), ("Status", 's')]);
    for (name, status) in lines() {
        table.push(vec![Value::text("InnoDB"), Value::text(name), Value::text(status)]);
    }
    table
}

fn lines() -> impl Iterator<Item = (String, String)> {
    classes().into_iter().map(|class| {
        let kind = match class.kind() {
            ClassKind::Latch => "rwlock",
            ClassKind::Mutex => "mutex",
        };
        let total = class.stats().total();
        let (spins, waits, rounds) = (total.spins, total.parks, total.rounds);
        let status =
            format!("spins={spins},waits={waits},rounds={rounds},wait_us={}", total.parked_ns / 1000);
        (format!("{kind}: {}", class.name()), status)
    })
}

#[cfg(test)]
mod tests {
    use turnstile_sys::latch::{Latch, LatchClass, waiting_now};

    #[test]
    fn a_wait_is_counted_in_the_row_of_its_class() {
        static CLASS: LatchClass = LatchClass::new("test_of_the_report");
        let latch = Latch::of_class(&CLASS);
        std::thread::scope(|scope| {
            let writing = latch.write();
            scope.spawn(|| drop(latch.write()));
            while !waiting_now().iter().any(|one| one.class == CLASS.name()) {
                std::thread::yield_now();
            }
            drop(writing);
        });
        let mut lines = super::lines();
        let (_, status) = lines.find(|(name, _)| name == "rwlock: test_of_the_report").expect("it is listed");
        assert!(status.contains(",waits=1,") && !status.starts_with("spins=0,"), "{status}");
    }
}
