//! The table of digests: folding, truncation, and what has no place.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn ended(at_us: u64, took_us: u64) -> Ended {
    Ended { at_us, took_us, ..Ended::default() }
}

fn texts(digests: &Digests) -> Vec<(Option<String>, u64)> {
    let rows = digests.rows();
    let mut texts: Vec<_> = rows
        .iter()
        .map(|row| {
            let text = row.identity.as_ref().map(|identity| identity.text.to_string());
            (text, row.look(|numbers| numbers.counts.statements))
        })
        .collect();
    texts.sort();
    texts
}

#[test]
fn what_sessions_count_comes_together() {
    let digests = Digests::new(10);
    let (mut one, mut two) = (Pending::default(), Pending::default());
    assert!(one.assign(&digests, 0, None, "SELECT ?") && !one.assign(&digests, 0, None, "SELECT ?"));
    assert!(two.assign(&digests, 3, None, "SELECT ?"));
    for at in 1..=40 {
        let (_, full) = one.cell(0).unwrap().count(&ended(at, at));
        assert_eq!(full, at == WAITS_MAX as u64);
        if full {
            one.cell(0).unwrap().fold(&digests);
        }
    }
    two.cell(3).unwrap().count(&Ended { failed: true, examined: 7, ..ended(50, 1000) });
    assert_eq!(texts(&digests), [(Some("SELECT ?".to_string()), WAITS_MAX as u64)]);
    one.fold(&digests);
    two.fold(&digests);
    let rows = digests.rows();
    rows[0].look(|numbers| {
        let counts = &numbers.counts;
        assert_eq!((counts.statements, counts.sum_us, counts.errors, counts.examined), (41, 1820, 1, 7));
        assert_eq!((numbers.min_us, numbers.max_us), (1, 1000));
        assert_eq!((numbers.first_us, numbers.last_us, numbers.waits.total()), (1, 50, 41));
    });
    assert_eq!((digests.all().0.total(), digests.all().1), (41, 1820));
}

#[test]
fn a_cell_that_is_given_away_is_folded() {
    let digests = Digests::new(10);
    let mut one = Pending::default();
    let shop: Arc<str> = "shop".into();
    one.assign(&digests, 0, None, "COMMIT");
    one.cell(0).unwrap().count(&ended(1, 1));
    assert!(one.assign(&digests, 0, Some(&shop), "COMMIT"), "of another database");
    one.cell(0).unwrap().count(&ended(2, 1));
    one.fold(&digests);
    assert_eq!(texts(&digests).len(), 2);
}

#[test]
fn what_has_no_place_is_counted_without_a_digest() {
    let digests = Digests::new(2);
    let mut one = Pending::default();
    for (place, text) in ["A", "B", "C", "D"].into_iter().enumerate() {
        one.assign(&digests, place, None, text);
        one.cell(place).unwrap().count(&ended(1, 1));
    }
    one.fold(&digests);
    let (a, b) = (Some("A".to_string()), Some("B".to_string()));
    assert_eq!(texts(&digests), [(None, 2), (a, 1), (b, 1)]);
}

#[test]
fn a_row_that_was_truncated_comes_again_with_what_follows() {
    let digests = Digests::new(1);
    let mut one = Pending::default();
    for (place, text) in ["A", "B"].into_iter().enumerate() {
        one.assign(&digests, place, None, text);
        one.cell(place).unwrap().count(&ended(1, 1));
    }
    one.fold(&digests);
    digests.truncate();
    one.renew();
    assert_eq!(texts(&digests), []);
    // The cell keeps its digest, and finds the place that is free now.
    let cell = one.cell(1).unwrap();
    let last = ended(9, 5);
    assert!(cell.count(&last).0, "its text is wanted again");
    cell.offer_sample(&digests, b"b", &last);
    cell.fold(&digests);
    assert_eq!(texts(&digests), [(Some("B".to_string()), 1)]);
    digests.rows()[0].look(|numbers| {
        assert_eq!((numbers.first_us, numbers.max_us), (9, 5));
        assert_eq!(*numbers.sample.as_ref().unwrap().text, *b"b");
    });
    assert_eq!(digests.all().0.total(), 3, "the histogram of all goes on");
}

#[test]
fn the_sample_is_the_slowest_of_a_minute() {
    let digests = Digests::new(1);
    let mut one = Pending::default();
    one.assign(&digests, 0, None, "A");
    let mut offer = |text: &[u8], at_us, took_us| {
        let cell = one.cell(0).unwrap();
        let (wanted, _) = cell.count(&ended(at_us, took_us));
        if wanted {
            cell.offer_sample(&digests, text, &ended(at_us, took_us));
        }
        cell.fold(&digests);
        digests.rows()[0].look(|numbers| numbers.sample.as_ref().unwrap().text[0])
    };
    assert_eq!(offer(b"1", 0, 10), b'1');
    assert_eq!(offer(b"2", 1, 10), b'1');
    assert_eq!(offer(b"3", 2, 11), b'3');
    assert_eq!(offer(b"4", 2 + SAMPLE_AGE_US - 1, 1), b'3');
    assert_eq!(offer(b"5", 2 + SAMPLE_AGE_US, 1), b'5');
}
