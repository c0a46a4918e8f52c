//! The sections about files, pages and the log.

use std::fmt::Write;

use super::super::sample::Sample;
use super::{Span, heading};
use turnstile_catalog::catalog::Catalog;

/// Bytes of a page.
const PAGE_BYTES: u64 = 16384;

/// Data file and log together.
fn writes(sample: &Sample) -> u64 {
    sample.pool.writes + sample.log.writes
}

/// Every batch of the double-write area and every checkpoint syncs the data file.
fn syncs(sample: &Sample) -> u64 {
    sample.log.syncs + sample.pool.batches + sample.pool.checkpoints
}

/// FILE I/O; whether a session waits for the log now.
pub fn file_io(out: &mut String, log_waits: bool, span: &Span) {
    heading(out, "FILE I/O");
    let threads = ["read thread", "read thread", "write thread", "log thread"];
    for (number, purpose) in threads.iter().enumerate() {
        let _ = writeln!(out, "I/O thread {number} state: waiting for i/o request ({purpose})");
    }
    out.push_str("Pending normal aio reads: [0, 0] , aio writes: [0] ,\n");
    out.push_str(" ibuf aio reads:, log i/o's:, sync i/o's:\n");
    let pending = usize::from(log_waits);
    let _ = writeln!(out, "Pending flushes (fsync) log: {pending}; buffer pool: 0");
    let now = &span.now;
    let (written, synced) = (writes(now), syncs(now));
    let _ = writeln!(out, "{} OS file reads, {written} OS file writes, {synced} OS fsyncs", now.pool.reads);
    let average = if span.growth(|one| one.pool.reads) == 0 { 0 } else { PAGE_BYTES };
    let _ = writeln!(
        out,
        "{:.2} reads/s, {average} avg bytes/read, {:.2} writes/s, {:.2} fsyncs/s",
        span.rate(|one| one.pool.reads),
        span.rate(writes),
        span.rate(syncs)
    );
}

/// INSERT BUFFER AND ADAPTIVE HASH INDEX. There is no insert buffer.
pub fn adaptive_hash(out: &mut String, db: &Catalog, span: &Span) {
    heading(out, "INSERT BUFFER AND ADAPTIVE HASH INDEX");
    out.push_str("Ibuf: size 1, free list len 0, seg size 2, 0 merges\n");
    for group in ["merged", "discarded"] {
        let _ = writeln!(out, "{group} operations:\n insert 0, delete mark 0, delete 0");
    }
    for part in db.engine().adaptive_hash().counts().parts {
        let _ = writeln!(out, "Hash table size {}, node heap has 0 buffer(s)", part.cells);
    }
    let (hits, others) = (span.rate(|one| one.hash.searches), span.rate(|one| one.hash.tree_searches));
    let _ = writeln!(out, "{hits:.2} hash searches/s, {others:.2} non-hash searches/s");
}

/// LOG; whether a session waits for it now.
pub fn log(out: &mut String, log_waits: bool, span: &Span) {
    heading(out, "LOG");
    let log = &span.now.log;
    let _ = writeln!(out, "Log sequence number          {}", log.current_lsn.0);
    let _ = writeln!(out, "Log written up to            {}", log.written_lsn.0);
    let _ = writeln!(out, "Log flushed up to            {}", log.flushed_lsn.0);
    let _ = writeln!(out, "Pages flushed up to          {}", log.checkpoint_lsn.0);
    let _ = writeln!(out, "Last checkpoint at           {}", log.checkpoint_lsn.0);
    let pending = usize::from(log_waits);
    let _ = writeln!(out, "{pending} pending log flushes, 0 pending chkp writes");
    let rate = span.rate(|one| one.log.writes);
    let _ = writeln!(out, "{} log i/o's done, {rate:.2} log i/o's/second", log.writes);
}

/// BUFFER POOL AND MEMORY
pub fn buffer_pool(out: &mut String, span: &Span) {
    heading(out, "BUFFER POOL AND MEMORY");
    let pool = &span.now.pool;
    let data = pool.frames - pool.free_frames;
    let _ = writeln!(out, "Total large memory allocated {}", pool.frames * PAGE_BYTES);
    out.push_str("Dictionary memory allocated 0\n");
    let _ = writeln!(out, "Buffer pool size   {}", pool.frames);
    let _ = writeln!(out, "Free buffers       {}", pool.free_frames);
    let _ = writeln!(out, "Database pages     {data}");
    out.push_str("Old database pages 0\n");
    let _ = writeln!(out, "Modified db pages  {}", pool.dirty_frames);
    out.push_str("Pending reads      0\n");
    out.push_str("Pending writes: LRU 0, flush list 0, single page 0\n");
    out.push_str("Pages made young 0, not young 0\n0.00 youngs/s, 0.00 non-youngs/s\n");
    let _ = writeln!(out, "Pages read {}, created 0, written {}", pool.reads, pool.writes);
    let _ = writeln!(
        out,
        "{:.2} reads/s, 0.00 creates/s, {:.2} writes/s",
        span.rate(|one| one.pool.reads),
        span.rate(|one| one.pool.writes)
    );
    let gets = span.growth(|one| one.pool.lookups);
    if gets == 0 {
        out.push_str("No buffer pool page gets since the last printout\n");
    } else {
        let misses = span.growth(|one| one.pool.reads).min(gets);
        let hits = 1000 - (misses as f64 * 1000.0 / gets as f64).round() as u64;
        let _ = writeln!(out, "Buffer pool hit rate {hits} / 1000, young-making rate 0 / 1000 not 0 / 1000");
    }
    out.push_str("Pages read ahead 0.00/s, evicted without access 0.00/s, Random read ahead 0.00/s\n");
    let _ = writeln!(out, "LRU len: {data}, unzip_LRU len: 0");
    out.push_str("I/O sum[0]:cur[0], unzip sum[0]:cur[0]\n");
}
