//! The latch beside `std::sync::RwLock` and `parking_lot::RwLock`: 1 to 64 threads, from reading only to
//! writing only. Every contest is the same amount of work, so the time of one is the inverse of throughput.
//!
//! `cargo bench -p turnstile-sys --bench latch [-- latch/write-only]` measures point after point.
//!
//! `cargo bench -p turnstile-sys --bench latch -- --table 50 [write-only]` is for a machine that does other
//! things too: for so many seconds it goes round all points, the three locks in turn at each, and prints the
//! medians, and the medians of the ratios within a round, as JSON lines.

#[path = "latch/contest.rs"]
mod contest;
#[path = "latch/contestants.rs"]
mod contestants;

use contest::{Contestant, OPERATIONS, contest};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, measurement::WallTime};
use std::time::{Duration, Instant};
use turnstile_sys::latch::Latch;

const MIXES: [(&str, u64); 4] = [("read-only", 0), ("95-5", 5), ("50-50", 50), ("write-only", 100)];
const THREADS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

fn point<C: Contestant>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, threads: u64, writes: u64) {
    group.bench_function(BenchmarkId::new(name, threads), |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| contest::<C>(threads, writes)).sum());
    });
}

fn measure() {
    let mut criterion = Criterion::default().nresamples(1000).configure_from_args();
    for (mix, writes) in MIXES {
        let mut group = criterion.benchmark_group(format!("latch/{mix}"));
        group.throughput(Throughput::Elements(OPERATIONS)).sample_size(10);
        group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(100));
        for threads in THREADS {
            point::<Latch>(&mut group, "latch", threads, writes);
            point::<std::sync::RwLock<()>>(&mut group, "std", threads, writes);
            point::<parking_lot::RwLock<()>>(&mut group, "parking_lot", threads, writes);
        }
        group.finish();
    }
    criterion.final_summary();
}

/// Millions of operations a second, of the latch, the standard library's lock and parking_lot's.
type Rates = [Vec<f64>; 3];

fn one_round(rates: &mut Rates, round: usize, threads: u64, writes: u64) {
    for turn in 0..rates.len() {
        let which = (turn + round) % rates.len();
        let time = match which {
            0 => contest::<Latch>(threads, writes),
            1 => contest::<std::sync::RwLock<()>>(threads, writes),
            _ => contest::<parking_lot::RwLock<()>>(threads, writes),
        };
        rates[which].push(OPERATIONS as f64 / time.as_secs_f64() / 1e6);
    }
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn table(time: Duration, only: Option<&str>) {
    let mixes = MIXES.iter().filter(|(mix, _)| only.is_none_or(|only| only == *mix));
    let points = mixes.flat_map(|(mix, writes)| THREADS.map(|threads| (*mix, *writes, threads)));
    let mut points: Vec<_> = points.map(|point| (point, Rates::default())).collect();
    let (start, mut round) = (Instant::now(), 0);
    while round == 0 || start.elapsed() < time {
        for ((_, writes, threads), rates) in &mut points {
            one_round(rates, round, *threads, *writes);
        }
        round += 1;
    }
    for ((mix, _, threads), rates) in &mut points {
        let [to_std, to_parking_lot] = [1, 2].map(|other| ratio(rates, other));
        let [latch, std, parking_lot] = rates.each_mut().map(|rates| median(rates));
        println!(
            "{{\"mix\": \"{mix}\", \"threads\": {threads}, \"rounds\": {round}, \"latch\": {latch:.2}, \"std\": {std:.2}, \
             \"parking_lot\": {parking_lot:.2}, \"latch_to_std\": {to_std:.2}, \"latch_to_parking_lot\": {to_parking_lot:.2}}}"
        );
    }
}

/// Median of the latch's rate over another's in the same round.
fn ratio(rates: &Rates, other: usize) -> f64 {
    let pairs = rates[0].iter().zip(&rates[other]);
    median(&mut pairs.map(|(latch, other)| latch / other).collect::<Vec<_>>())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--table") else { return measure() };
    let seconds = arguments.get(at + 1).and_then(|seconds| seconds.parse().ok()).unwrap_or(50);
    let only = arguments.get(at + 2).map(String::as_str).filter(|mix| !mix.starts_with('-'));
    table(Duration::from_secs(seconds), only);
}
