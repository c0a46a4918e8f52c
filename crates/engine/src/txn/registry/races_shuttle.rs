//! The registry under every schedule that shuttle thinks of: purge and pruning against views that open
//! meanwhile. `RUSTFLAGS="--cfg shuttle" cargo test -p turnstile-engine --lib txn::registry::races_shuttle`.

use std::sync::Arc;
use std::sync::Mutex as Plain;

use shuttle::thread;

use super::*;

/// What purge has taken. A plain mutex: the test's own notes are not part of the race.
type Gone = Arc<Plain<Vec<TxnId>>>;

/// A registry with ids to hand out.
fn ready(first: TxnId) -> Registry {
    let registry = Registry::new(first, CommitNo(1));
    registry.extend(TxnId(1 << 20));
    registry
}

fn gone_but_not_seen(gone: &Gone, cut: &ReadView) -> bool {
    gone.lock().unwrap().iter().any(|id| !cut.sees(*id))
}

/// Writers end, purge takes what is below the limit, readers open views, and a writer keeps the oldest view
/// open while it walks a chain: whoever has a view open never misses what it does not see.
#[test]
fn purge_takes_nothing_that_an_open_view_does_not_see() {
    shuttle::check_random(
        || {
            let registry = Arc::new(ready(TxnId(1)));
            let gone: Gone = Arc::default();
            let ended: Arc<Plain<Vec<(CommitNo, TxnId)>>> = Arc::default();
            let mut threads = Vec::new();
            for _ in 0..2 {
                let (registry, ended) = (registry.clone(), ended.clone());
                threads.push(thread::spawn(move || {
                    for _ in 0..2 {
                        let id = registry.enter().unwrap();
                        thread::yield_now();
                        let number = registry.reserve();
                        ended.lock().unwrap().push((number, id));
                        thread::yield_now();
                        registry.leave(id, Some(number));
                    }
                }));
            }
            {
                let (registry, gone, ended) = (registry.clone(), gone.clone(), ended.clone());
                threads.push(thread::spawn(move || {
                    for _ in 0..3 {
                        let limit = registry.purge_limit();
                        thread::yield_now();
                        let below: Vec<TxnId> = ended
                            .lock()
                            .unwrap()
                            .iter()
                            .filter(|(n, _)| *n < limit)
                            .map(|(_, id)| *id)
                            .collect();
                        gone.lock().unwrap().extend(below);
                    }
                }));
            }
            {
                let (registry, gone) = (registry.clone(), gone.clone());
                threads.push(thread::spawn(move || {
                    for _ in 0..2 {
                        let view = registry.open_view();
                        thread::yield_now();
                        assert!(!gone_but_not_seen(&gone, &view));
                        thread::yield_now();
                        assert!(!gone_but_not_seen(&gone, &view));
                    }
                }));
            }
            for id in 1..=4 {
                if let Some(oldest) = registry.oldest_hiding(TxnId(id)) {
                    thread::yield_now();
                    assert!(!gone_but_not_seen(&gone, &oldest));
                    assert!(!gone.lock().unwrap().contains(&TxnId(id)));
                }
            }
            for thread in threads {
                thread.join().unwrap();
            }
        },
        3000,
    );
}
