//! The picture of a result: throughput over the number of connections, a line for each server, as SVG.
//!
//! The picture is made of the result's file alone, so the same file always gives the same picture, and a
//! picture in a document can be held against the figures that it claims to show.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::options::Options;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 400.0;
/// Room beside the lines: for the scale, for the names behind the lines' ends, above and below.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
/// Pixels between the names of two lines that end at one height.
const NAME_HEIGHT: f64 = 16.0;
/// Colour, width and dashes of the servers' lines, in the order of the result.
const LINES: [(&str, f64, &str); 5] = [
    ("#0b6e4f", 3.5, "none"),
    ("#c1440e", 2.5, "none"),
    ("#3b5ba9", 2.5, "none"),
    ("#7a3e9d", 2.5, "none"),
    ("#946c00", 2.5, "none"),
];
/// The floor is no server to compare with but the limit.
const FLOOR_LINE: (&str, f64, &str) = ("#8a8f98", 2.0, "6 5");

/// A server's medians: connections to transactions a second.
struct Line {
    name: String,
    points: BTreeMap<u64, f64>,
}

/// Reads the result `--from`, writes the picture to `--output`.
///
/// # Errors
/// When a file is not named, cannot be read or written, or holds no cells.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let from = options.from.as_ref().ok_or("curve draws a file of results: name it with --from")?;
    let to = options.output.as_ref().ok_or("curve writes a picture: name it with --output")?;
    let text = fs::read_to_string(from).map_err(|error| format!("--from={}: {error}", from.display()))?;
    fs::write(to, draw(&serde_json::from_str(&text)?)?)?;
    Ok(())
}

/// The picture of a result.
///
/// # Errors
/// A text when the result has no cells with connections and throughput.
pub fn draw(result: &Value) -> Result<String, String> {
    let lines = lines_of(result)?;
    let counts: Vec<u64> = lines.iter().flat_map(|line| line.points.keys().copied()).collect();
    let (least, most) = (*counts.iter().min().unwrap_or(&1), *counts.iter().max().unwrap_or(&1));
    let highest =
        lines.iter().flat_map(|line| line.points.values()).fold(1.0, |high: f64, &tps| high.max(tps));
    let step = scale_step(highest);
    let top = (highest / step).ceil() * step;
    let span = ((most as f64).log2() - (least as f64).log2()).max(1.0);
    let x =
        |count: u64| LEFT + ((count as f64).log2() - (least as f64).log2()) / span * (WIDTH - LEFT - RIGHT);
    let y = |tps: f64| HEIGHT - BOTTOM - tps / top * (HEIGHT - TOP - BOTTOM);

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    let mut put = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    put(words(LEFT, 24.0, "start", "#1b1f24", &title(result)));
    let mut mark = 0.0;
    while mark <= top {
        let at = y(mark);
        put(format!(
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e3e6ea\"/>",
            WIDTH - RIGHT
        ));
        put(words(LEFT - 8.0, at + 4.0, "end", "#57606a", &thousands(mark as u64)));
        mark += step;
    }
    let marks: BTreeMap<u64, ()> = counts.iter().map(|&count| (count, ())).collect();
    for &count in marks.keys() {
        put(words(x(count), HEIGHT - BOTTOM + 20.0, "middle", "#57606a", &thousands(count)));
    }
    put(words(
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 12.0,
        "middle",
        "#57606a",
        "connections, all wanting one row",
    ));
    let mut ends = ends_of(&lines, &y);
    for (nth, line) in lines.iter().enumerate() {
        let (colour, width, dashes) = look(&lines, nth);
        let points: Vec<String> =
            line.points.iter().map(|(&count, &tps)| format!("{:.1},{:.1}", x(count), y(tps))).collect();
        put(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-dasharray=\"{dashes}\"/>",
            points.join(" ")
        ));
        let end = ends.remove(0);
        put(words(WIDTH - RIGHT + 10.0, end + 4.0, "start", colour, &line.name));
    }
    if let Some((count, tps)) = published(result).filter(|(count, _)| (least..=most).contains(count)) {
        put(format!("<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"#b00020\"/>", x(count), y(tps)));
        let what = format!("MySQL 5.6 as published: {}", thousands(tps as u64));
        // Above the lines that run along the bottom, which are those this point is to be compared with.
        put(words(x(count), y(tps) - 26.0, "middle", "#b00020", &what));
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Medians over the rounds, servers in the order of their first cells.
fn lines_of(result: &Value) -> Result<Vec<Line>, String> {
    let cells = result["cells"].as_array().ok_or("the result has no cells")?;
    let mut names: Vec<&str> = Vec::new();
    let mut figures: BTreeMap<(&str, u64), Vec<f64>> = BTreeMap::new();
    for cell in cells {
        let (Some(name), Some(count), Some(tps)) =
            (cell["server"].as_str(), cell["connections"].as_u64(), cell["tps"].as_f64())
        else {
            continue;
        };
        if !names.contains(&name) {
            names.push(name);
        }
        figures.entry((name, count)).or_default().push(tps);
    }
    if names.is_empty() {
        return Err("no cell of the result has connections and throughput".into());
    }
    let points = |wanted: &str| {
        let own = figures.iter().filter(|((name, _), _)| *name == wanted);
        own.map(|(&(_, count), rounds)| (count, median(rounds))).collect()
    };
    Ok(names.into_iter().map(|name| Line { name: name.to_string(), points: points(name) }).collect())
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// Colour, width and dashes of a line.
fn look(lines: &[Line], nth: usize) -> (&'static str, f64, &'static str) {
    let is_floor = |line: &Line| line.name == "floor";
    if is_floor(&lines[nth]) {
        return FLOOR_LINE;
    }
    let servers = lines[..nth].iter().filter(|line| !is_floor(line)).count();
    LINES[servers % LINES.len()]
}

/// Heights of the lines' names: at the lines' ends, but none over another. In the order of the lines.
fn ends_of(lines: &[Line], y: &impl Fn(f64) -> f64) -> Vec<f64> {
    let end = |line: &Line| line.points.values().next_back().map_or(HEIGHT - BOTTOM, |&tps| y(tps));
    let mut order: Vec<(usize, f64)> = lines.iter().map(end).enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut last = f64::NEG_INFINITY;
    for (_, at) in &mut order {
        *at = at.max(last + NAME_HEIGHT);
        last = *at;
    }
    order.sort_by_key(|&(nth, _)| nth);
    order.into_iter().map(|(_, at)| at).collect()
}

/// A step of the scale that gives between four and ten lines: 1, 2 or 5 times a power of ten.
fn scale_step(highest: f64) -> f64 {
    let power = 10f64.powf((highest / 4.0).log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|times| times * power).find(|step| highest / step >= 4.0).unwrap_or(power)
}

/// The figure of the published article with the most connections: connections, transactions a second.
fn published(result: &Value) -> Option<(u64, f64)> {
    let figures = result["published"].as_object()?.iter();
    let known =
        figures.filter_map(|(count, figures)| Some((count.parse().ok()?, figures["stock_tps"].as_f64()?)));
    known.max_by_key(|&(count, _)| count)
}

/// What was measured, and on what day and machine.
fn title(result: &Value) -> String {
    let manifest = &result["manifest"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let day = text(&manifest["date"]).chars().take(10).collect::<String>();
    format!("Transactions a second, one hot row, every commit synced; {} cores, {day}", manifest["cores"])
}

fn words(x: f64, y: f64, anchor: &str, colour: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>")
}

/// 1024 as 1,024.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push(',');
        }
        let _ = write!(out, "{digit}");
    }
    out
}

#[cfg(test)]
mod tests;
