//! Known differences from MySQL (`tests/mysql/*.differs`): each stands under a reason, and "we are wrong" is
//! none.

use std::fs;

use super::source::root;

/// Words of a reason that admits a fault instead of naming what MySQL's documentation says or what is not
/// there.
const ADMISSIONS: &[&str] = &["wrong", "not mended", "not examined", "unknown why", "to do"];

/// Every list.
pub fn reasons() -> Vec<String> {
    let mut findings = Vec::new();
    for entry in fs::read_dir(root().join("tests/mysql")).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.extension().is_some_and(|extension| extension == "differs") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            findings.extend(in_list(&name, &fs::read_to_string(&path).expect("a list is text")));
        }
    }
    findings
}

/// What is amiss in one list.
pub fn in_list(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut reason = None;
    for (nth, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", nth + 1);
        if let Some(said) = line.strip_prefix('#') {
            let said = said.trim().to_lowercase();
            if said.is_empty() || ADMISSIONS.iter().any(|words| said.contains(words)) {
                findings.push(format!("{place}: no reason: {said}"));
            }
            reason = Some(said);
        } else if line.starts_with("> ") && reason.is_none() {
            findings.push(format!("{place}: a difference without a reason"));
        }
    }
    findings
}
