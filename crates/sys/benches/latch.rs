//! The latch beside `std::sync::RwLock` and `parking_lot::RwLock`: 1 to 64 threads, from reading only to writing only.
//! Every contest is the same amount of work, so the time of one is the inverse of throughput.
//!
//! `cargo bench -p turnstile-sys --bench latch [-- latch/write-only]`

#[path = "latch/contest.rs"]
mod contest;
#[path = "latch/contestants.rs"]
mod contestants;

use contest::{Contestant, OPERATIONS, contest};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, measurement::WallTime};
use std::time::Duration;
use turnstile_sys::latch::Latch;

const MIXES: [(&str, u64); 4] = [("read-only", 0), ("95-5", 5), ("50-50", 50), ("write-only", 100)];

fn point<C: Contestant>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, threads: u64, writes: u64) {
    group.bench_function(BenchmarkId::new(name, threads), |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| contest::<C>(threads, writes)).sum());
    });
}

fn main() {
    let mut criterion = Criterion::default().nresamples(1000).configure_from_args();
    for (mix, writes) in MIXES {
        let mut group = criterion.benchmark_group(format!("latch/{mix}"));
        group.throughput(Throughput::Elements(OPERATIONS)).sample_size(10);
        group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(100));
        for threads in [1, 2, 4, 8, 16, 32, 64] {
            point::<Latch>(&mut group, "latch", threads, writes);
            point::<std::sync::RwLock<()>>(&mut group, "std", threads, writes);
            point::<parking_lot::RwLock<()>>(&mut group, "parking_lot", threads, writes);
        }
        group.finish();
    }
    criterion.final_summary();
}
