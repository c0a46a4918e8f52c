//! Every script in `tests/scripts`.

use super::run_script;

#[test]
fn all_scripts() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("SCRIPT").ok();
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        if only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let script = std::fs::read_to_string(&path).unwrap();
        let played = run_script(&script);
        if played == script {
            continue;
        }
        if std::env::var("BLESS").is_ok() {
            std::fs::write(&path, played).unwrap();
            continue;
        }
        for (nth, (expected, given)) in script.lines().zip(played.lines()).enumerate() {
            if expected != given {
                eprintln!("{name}:{}\n  expected {expected}\n  given    {given}", nth + 1);
                break;
            }
        }
        wrong.push(name);
    }
    assert!(wrong.is_empty(), "scripts that differ: {wrong:?}");
}
