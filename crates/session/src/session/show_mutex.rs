//! SHOW ENGINE INNODB MUTEX: how contended each class of latches and mutexes was since the start.

use std::fmt::Write;

use turnstile_sys::latch::{ClassKind, LatchClass, classes};

use crate::error::SqlResult;
use crate::field::{Digits, FieldRef, RowWriter};

/// One row per class. `spins` had to wait, `rounds` are their looks at the latch, `waits` went to sleep.
pub(super) fn write(out: &mut RowWriter<'_>) -> SqlResult<()> {
    let (mut name, mut status) = (String::new(), String::new());
    classes().into_iter().try_for_each(|class| {
        describe(class, &mut name, &mut status);
        out(&[FieldRef::Text("InnoDB"), FieldRef::Text(&name), FieldRef::Text(&status)])
    })
}

fn describe(class: &LatchClass, name: &mut String, status: &mut String) {
    let kind = match class.kind() {
        ClassKind::Latch => "rwlock",
        ClassKind::Mutex => "mutex",
    };
    name.clear();
    // Writing into a string cannot fail.
    let _ = write!(name, "{kind}: {}", class.name());
    let total = class.stats().total();
    let numbers = [
        ("spins=", total.spins),
        (",waits=", total.parks),
        (",rounds=", total.rounds),
        (",wait_us=", total.parked_ns / 1000),
    ];
    status.clear();
    for (word, number) in numbers {
        status.push_str(word);
        status.push_str(Digits::of(number).as_str());
    }
}

#[cfg(test)]
mod tests {
    use crate::value::{Value, to_text};
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
        let mut found = None;
        let seen = super::write(&mut |line| {
            let [_, name, status] = line else { panic!("three fields") };
            if name.to_value() == Value::from("rwlock: test_of_the_report") {
                found = Some(to_text(&status.to_value()).to_string());
            }
            Ok(())
        });
        let status = found.expect("it is listed");
        assert!(seen.is_ok() && status.contains(",waits=1,") && !status.starts_with("spins=0,"), "{status}");
    }
}
