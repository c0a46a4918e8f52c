//! Measurements of the paths every statement takes. Run with tiny counts as tests, so that they never rot; for
//! numbers: `cargo test --release -p turnstile-engine --lib buffer::tests::speed -- --ignored --nocapture`.

use super::*;
use std::time::Instant;

fn nanoseconds_each(rounds: u64, mut work: impl FnMut(u64)) -> u64 {
    let start = Instant::now();
    (0..rounds).for_each(&mut work);
    start.elapsed().as_nanos() as u64 / rounds
}

/// The hit path and a small mini-transaction, over `page_count` pages in turn.
fn measure(rounds: u64, page_count: u64) {
    let (_scratch, disk) = Scratch::new(&format!("speed{rounds}of{page_count}"));
    let config = StorageConfig { pool_bytes: 64 << 20, redo_capacity_bytes: 1 << 30, reader_threads: 0 };
    let storage = Storage::create(disk, &config).unwrap();
    let pages = counter_pages(&storage, page_count as usize);
    let page = |nth: u64| pages[(nth * 7 % page_count) as usize];
    let mut sum = 0;
    let pin_ns = nanoseconds_each(rounds, |nth| drop(storage.pool.try_pin(page(nth)).unwrap()));
    let hit_ns = nanoseconds_each(rounds, |nth| {
        sum += storage.pool.try_pin(page(nth)).unwrap().read().u64_at(HEADER_SIZE);
    });
    let mtr_ns = nanoseconds_each(rounds, |nth| {
        let guard = storage.pool.try_pin(page(nth)).unwrap().write();
        let mut mtr = Mtr::begin(&storage);
        let page = mtr.take(guard);
        mtr.write(page, 100, &nth.to_le_bytes());
        mtr.write(page, 200, &nth.to_le_bytes());
        mtr.write(page, 300, &nth.to_le_bytes());
        mtr.commit();
    });
    let append_ns = nanoseconds_each(rounds, |_| {
        storage.wal.append(&[7; 40]);
    });
    println!(
        "{page_count} pages: pin {pin_ns} ns; pin, latch, read, release {hit_ns} ns; \
         mini-transaction of 3 writes {mtr_ns} ns, log append alone {append_ns} ns ({sum})"
    );
}

#[test]
fn the_measurement_runs() {
    measure(100, 10);
}

#[test]
#[ignore = "a measurement, not a check"]
fn hit_path_and_small_mini_transaction() {
    for page_count in [1, 10, 100, 1000] {
        measure(1_000_000, page_count);
    }
}
