//! Pictures of small results: where lines are, and what is refused.

use serde_json::json;

use super::*;

fn result() -> Value {
    let cell = |server: &str, connections: u64, tps: f64| json!({"server": server, "connections": connections, "tps": tps});
    json!({
        "manifest": {"cores": 2, "date": "2026-11-26T01:02:03Z"},
        "published": {"1024": {"stock_tps": 30}},
        "cells": [
            cell("turnstile", 8, 10_000.0), cell("floor", 8, 40_000.0), cell("turnstile", 8, 30_000.0),
            cell("turnstile", 8, 20_000.0), cell("turnstile", 2048, 20_000.0), cell("floor", 2048, 20_100.0),
        ],
    })
}

#[test]
fn lines_go_through_the_medians() {
    let svg = draw(&result()).expect("a result with cells is drawn");
    // 40,000 is the scale's end, at the top; 20,000 lies in the middle between 44 and 344.
    assert!(svg.contains("points=\"84.0,194.0 650.0,194.0\""), "{svg}");
    assert!(svg.contains("points=\"84.0,44.0 650.0,193.3\""), "{svg}");
    assert!(svg.contains("MySQL 5.6 as published: 30"), "{svg}");
    assert!(svg.contains("2 cores, 2026-11-26"), "{svg}");
}

#[test]
fn names_of_lines_that_end_together_do_not_cover_each_other() {
    let svg = draw(&result()).expect("a result with cells is drawn");
    let height = |name: &str| -> f64 {
        let line = svg.lines().find(|line| line.ends_with(&format!(">{name}</text>"))).expect("a name");
        let at = line.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a height");
        at.parse().expect("a number")
    };
    assert!(height("turnstile") - height("floor") >= NAME_HEIGHT, "{svg}");
}

#[test]
fn what_has_no_cells_is_no_curve() {
    assert!(draw(&json!({})).is_err());
    assert!(draw(&json!({"cells": [{"server": "turnstile"}]})).is_err());
}

/// The README's picture is the drawing of the figures it names. Some ways of passing a tree on leave pictures
/// out; where it is missing it is drawn, so that only an outdated one fails.
#[test]
fn the_picture_that_the_readme_shows_is_the_drawing_of_its_figures() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read =
        |name: &str| fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let readme = read("README.md");
    assert!(readme.contains("](docs/flash-sale.svg)"), "README shows no docs/flash-sale.svg");
    let figures = readme.split("](bench/results/").nth(1).and_then(|rest| rest.split(')').next());
    let figures = format!("bench/results/{}", figures.expect("README names no figures behind its picture"));
    let result: Value = serde_json::from_str(&read(&figures)).expect("figures are JSON");
    let drawn = draw(&result).expect("figures are drawn");
    let picture = root.join("docs/flash-sale.svg");
    if !picture.exists() {
        fs::write(&picture, &drawn).expect("a picture is written");
    }
    assert!(
        drawn == read("docs/flash-sale.svg"),
        "docs/flash-sale.svg is not what `turnstile bench curve --from={figures} --output=docs/flash-sale.svg` makes"
    );
}
