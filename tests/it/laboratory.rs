//! Every experiment of the laboratory, in small: it runs to its end against our own server and the floor, its
//! JSON has all the cells, and nothing was lost. How fast anything was is not looked at here.

use std::process::Command;

use serde_json::Value;

use super::{Scratch, binary};

/// Runs `turnstile bench NAME --quick` and gives its JSON.
fn bench(name: &str, arguments: &[&str]) -> Value {
    let scratch = Scratch::new(&format!("laboratory-{name}"));
    let output = scratch.0.join("result.json");
    let run = Command::new(binary())
        .args(["bench", name, "--quick", &format!("--output={}", output.display())])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{name}: {text}\n{}", String::from_utf8_lossy(&run.stderr));
    let result: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
    for member in ["command", "date", "kernel", "cores"] {
        assert!(!result["manifest"][member].is_null(), "{name}: the manifest lacks {member}");
    }
    assert_eq!(result["servers"][0]["kind"], "own");
    assert!(result["servers"][0]["settings"]["innodb_buffer_pool_size"].is_string());
    for cell in result["cells"].as_array().unwrap() {
        assert!(cell["lost"].is_null() || cell["lost"] == 0, "{name}: {cell}");
        assert!(cell["errors"].is_null() || cell["errors"] == 0, "{name}: {cell}");
        assert!(cell["tps"].is_null() || cell["transactions"].as_u64() > Some(0), "{name}: {cell}");
    }
    result
}

/// How many cells have these members.
fn count(result: &Value, members: &[(&str, Value)]) -> usize {
    let cells = result["cells"].as_array().unwrap();
    cells.iter().filter(|cell| members.iter().all(|(name, value)| cell[name] == *value)).count()
}

#[test]
fn flash_sale_has_a_cell_for_each_number_of_buyers() {
    let result = bench("flash-sale", &["--floor", "--connections=8,64", "--rounds=2"]);
    for buyers in [8, 64] {
        for server in ["turnstile", "floor"] {
            let members = [("connections", buyers.into()), ("server", server.into())];
            assert_eq!(count(&result, &members), 2, "{server} at {buyers}");
        }
    }
    let ours = result["cells"].as_array().unwrap().iter().filter(|cell| cell["server"] == "turnstile");
    ours.for_each(|cell| assert_eq!(cell["lost"], 0, "{cell}"));
}

#[test]
fn two_servers_of_ours_take_turns() {
    let arguments = ["--own=first", "--own=second --innodb-deadlock-detect=OFF", "--connections=8"];
    let result = bench("flash-sale", &arguments);
    let order: Vec<_> = result["cells"].as_array().unwrap().iter().map(|cell| &cell["server"]).collect();
    assert_eq!(order, ["first", "second"]);
    assert_eq!(result["servers"][1]["settings"]["innodb_deadlock_detect"], "OFF");
}

#[test]
fn deadlock_switch_has_both_positions_and_breaks_the_planted_cycles() {
    let result = bench("deadlock-switch", &["--connections=16"]);
    for variant in ["plain", "private row first"] {
        for position in ["ON", "OFF"] {
            let members = [("variant", variant.into()), ("detect", position.into()), ("lost", 0.into())];
            assert_eq!(count(&result, &members), 1, "{variant}, {position}");
        }
    }
    let members = [("cell", "planted cycle".into()), ("wrong_victims", 0.into())];
    assert_eq!(count(&result, &members), 1);
}

#[test]
fn purge_lag_watches_every_second_and_the_snapshot_stays_exact() {
    let result = bench("purge-lag", &["--connections=8", "--seconds=3"]);
    let members = [("snapshot_exact", true.into()), ("lost", 0.into())];
    assert_eq!(count(&result, &members), 2, "without a cap and with one");
    let without = [("snapshot", "none".into()), ("lost", 0.into())];
    assert_eq!(count(&result, &without), 2, "as fast as it goes, and by the clock");
    let seconds = result["cells"][1]["seconds"].as_array().unwrap();
    assert_eq!(seconds.len(), 3);
    assert!(seconds.iter().all(|second| second["history"].is_i64()));
    assert!(seconds.iter().all(|second| second["server_cpu_us_per_tx"].as_f64() > Some(0.0)));
}

#[test]
fn adaptive_hash_runs_every_mix_in_memory_and_out_of_it() {
    let result = bench("adaptive-hash", &["--connections=4"]);
    for (pool, mixes) in [
        ("memory", &["point select", "read-only", "read-write"][..]),
        ("quarter", &["read-only", "read-write"]),
    ] {
        for &mix in mixes {
            let members = [("pool", pool.into()), ("mix", mix.into()), ("lost", 0.into())];
            assert!(count(&result, &members) > 0, "{pool}, {mix}");
        }
    }
}

#[test]
fn tickets_counts_right_with_every_setting() {
    let result = bench("tickets", &[]);
    for scans in ["one alone", "two, 500", "two, 10000000"] {
        assert_eq!(count(&result, &[("cell", scans.into())]), 1, "{scans}");
    }
    let members = [("cell", "point selects".into()), ("lost", 0.into())];
    assert_eq!(count(&result, &members), 5);
}

#[test]
fn update_key_loses_nothing() {
    let result = bench("update-key", &["--floor", "--connections=1,8"]);
    assert_eq!(count(&result, &[("server", "turnstile".into()), ("lost", 0.into())]), 2);
    assert_eq!(count(&result, &[("server", "floor".into())]), 2);
}

#[test]
fn beside_scans_has_point_selects_with_and_without_scans() {
    let result = bench("beside-scans", &[]);
    for scans in [0, 4] {
        assert_eq!(count(&result, &[("scans", scans.into()), ("lost", 0.into())]), 1, "{scans} scans");
    }
    assert!(result["cells"][1]["scans_done"].as_u64() > Some(0), "they ran beside the selects");
    assert_eq!(result["servers"][0]["settings"]["thread_pool_size"], "2");
}

#[test]
fn watching_looks_in_one_position_only_and_gives_an_interval() {
    let result = bench("watching", &["--seconds=8", "--rate=20"]);
    for position in ["watched", "alone"] {
        assert_eq!(count(&result, &[("cell", position.into()), ("lost", 0.into())]), 1, "{position}");
    }
    assert!(result["cells"][0]["looks_a_second"].as_f64() > Some(0.0));
    let summary = &result["summary"]["turnstile, 16, 20 a second"];
    for known in [&summary["watched_over_alone"]["rate"], &summary["ten_looks_percent"][0]] {
        assert_eq!(known.as_array().map(Vec::len), Some(3), "{summary}");
    }
}

#[test]
fn stock_order_keeps_its_books_with_buyers_far_away_who_change_their_minds() {
    let arguments = ["--floor", "--connections=8,64", "--rtt=1ms", "--rollbacks=20", "--rounds=2"];
    let result = bench("stock-order", &arguments);
    for buyers in [8, 64] {
        let ours = [("connections", buyers.into()), ("server", "turnstile".into()), ("lost", 0.into())];
        let cells = count(&result, &ours);
        let switched = count(&result, &[&ours[..], &[("hot_row", "ON".into())]].concat());
        // A server without the switch has one cell a round, one with it a pair.
        assert_eq!(cells, if switched == 0 { 2 } else { 4 }, "{buyers} buyers");
        assert_eq!(count(&result, &[("connections", buyers.into()), ("server", "floor".into())]), 2);
    }
    for cell in result["cells"].as_array().unwrap() {
        assert!(cell["check"].is_null() && cell["in_doubt"] == 0, "{cell}");
        assert!(cell["withdrawn"].as_u64() > Some(0), "somebody changed his mind: {cell}");
        assert!(cell["p50_ms"].as_f64() > Some(3.9), "four round trips: {cell}");
    }
    assert_eq!(result["settings"]["rtt_us"], 1000);
}

#[test]
fn deadlock_prone_commits_with_detection_and_without() {
    let result = bench("deadlock-prone", &[]);
    for position in ["ON", "OFF"] {
        let members = [("detect", position.into()), ("lost", 0.into()), ("check", Value::Null)];
        assert_eq!(count(&result, &members), 1, "{position}");
    }
    let detected = [("detect", "ON".into()), ("deadlocks", 0.into())];
    assert_eq!(count(&result, &detected), 0, "sixteen clients and ten rows: there were cycles");
}
