//! Metrics: which family a status belongs to, and that gauges are statuses.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::variables::Globals;
use turnstile_engine::{Config, Engine};
use turnstile_sys::block_on::block_on;

use super::*;

#[test]
fn statuses_have_the_places_of_the_exporter() {
    let of = |name: &str| family_of(name).map(|(family, kind, label, _, of)| (family, kind, label, of));
    let is = |family: &str, kind, label, of: &str| Some((family.to_string(), kind, label, of.to_string()));
    assert_eq!(of("Com_alter_table"), is("commands", Kind::Counter, "command", "alter_table"));
    assert_eq!(of("Handler_read_rnd_next"), is("handlers", Kind::Counter, "handler", "read_rnd_next"));
    assert_eq!(of("Innodb_rows_read"), is("innodb_row_ops", Kind::Counter, "operation", "read"));
    assert_eq!(of("Innodb_buffer_pool_pages_free"), is("buffer_pool_pages", Kind::Gauge, "state", "free"));
    assert_eq!(of("Innodb_buffer_pool_pages_dirty"), is("buffer_pool_dirty_pages", Kind::Gauge, "", ""));
    assert_eq!(of("Innodb_buffer_pool_pages_total"), None);
    let flushed = is("buffer_pool_page_changes", Kind::Counter, "operation", "flushed");
    assert_eq!(of("Innodb_buffer_pool_pages_flushed"), flushed);
    assert_eq!(of("Threads_running"), is("threads_running", Kind::Gauge, "", ""));
    assert_eq!(of("Queries"), is("queries", Kind::Unknown, "", ""));
}

#[test]
fn every_gauge_and_every_variable_that_is_told_is_there() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let catalog = block_on(Catalog::open(engine, Globals::default())).unwrap();
    let db = Observed::new(catalog).unwrap();
    let known = status::list(&db, None);
    for gauge in status::GAUGES {
        assert!(known.iter().any(|(name, _)| name == gauge), "{gauge}");
    }
    for name in VARIABLES_TOLD {
        assert!(find(name).is_some() && number(&db.globals().named(name)).is_some(), "{name}");
    }
    let text = text(&db, (0, 0), Told { hot_rows: true, digests: true });
    assert!(text.contains("\nturnstile_hot_row{turnstile_hot_row=\"OFF\"} 1\n"), "{text}");
}
