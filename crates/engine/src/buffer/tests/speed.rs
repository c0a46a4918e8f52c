//! Measurements of the paths every statement takes. Run with tiny counts as tests, so that they never rot;
//! for numbers:
//! `cargo test --release -p turnstile-engine --lib buffer::tests::speed -- --ignored --nocapture`.

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
    let config = StorageConfig {
        pool_bytes: 64 << 20,
        redo_capacity_bytes: rounds.max(1 << 14) << 9,
        reader_threads: 0,
        ..StorageConfig::default()
    };
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

/// Redo of `groups` small mini-transactions over `page_count` pages, none of which was flushed.
fn measure_recovery(groups: u64, page_count: usize, pool_bytes: u64) {
    let write_pool_bytes = (page_count as u64 * 2 + 200) * PAGE_SIZE as u64;
    let (_scratch, disk) = Scratch::new(&format!("recovery{groups}"));
    let mut config = StorageConfig {
        pool_bytes: write_pool_bytes,
        redo_capacity_bytes: groups.max(1 << 14) << 8,
        reader_threads: 0,
        ..StorageConfig::default()
    };
    let storage = Storage::create(Arc::clone(&disk), &config).unwrap();
    let pages = counter_pages(&storage, page_count);
    let mut rng = Rng::new(1);
    let row = [7; 100];
    for nth in 0..groups {
        let mut mtr = Mtr::begin(&storage);
        let page_no = pages[rng.index(page_count)];
        let page = mtr.take(storage.pool.load_blocking(page_no).unwrap().write());
        mtr.write(page, 100 + (nth % 100) as usize * 100, &row);
        mtr.move_bytes(page, 16000, 16002, 300);
        mtr.write(page, HEADER_SIZE, &nth.to_le_bytes());
        mtr.write(page, 18, &[1, 2, 3, 4, 5, 6]);
        mtr.commit();
        if nth % 10_000 == 0 {
            storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
        }
    }
    storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
    let redo_bytes = storage.wal.age();
    drop(storage);
    config.pool_bytes = pool_bytes;
    let start = Instant::now();
    let (_storage, recovered) = Storage::recover(disk, &config).unwrap();
    assert_eq!(recovered.groups, groups + page_count as u64);
    println!(
        "recovery of {} MiB of redo, {groups} groups, {page_count} pages, pool of {} MiB: {:?}",
        redo_bytes >> 20,
        pool_bytes >> 20,
        start.elapsed()
    );
}

#[test]
fn the_recovery_measurement_runs() {
    measure_recovery(1000, 50, 1 << 20);
}

#[test]
#[ignore = "a measurement, not a check; needs 3 GiB of disk"]
fn recovery_of_a_gigabyte() {
    measure_recovery(6_500_000, 20_000, 512 << 20);
    measure_recovery(6_500_000, 20_000, 128 << 20);
}
