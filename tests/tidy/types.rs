//! How many methods a type has of its own, in all the files that add to it: a type that has many has more
//! than one duty. Methods of traits are not counted, nor those of tests.

use std::collections::BTreeMap;

use super::source::sources;

/// Methods that a type may have.
const METHODS_MAX: usize = 60;

/// Types with more, and why that is one duty. The counts only shrink.
const LARGER: &[(&str, &str, usize)] = &[
    // Recursive descent: a method for each rule of the grammar.
    ("syntax", "Parser", 309),
];

/// The crate of a file.
fn crate_of(path: &str) -> &str {
    path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or("turnstile")
}

/// The type that an `impl` line without a trait is for, behind its generic parameters.
fn own_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("unsafe ").unwrap_or(line).strip_prefix("impl")?;
    if line.contains(" for ") {
        return None;
    }
    let rest = match rest.strip_prefix('<') {
        Some(generic) => {
            let mut depth = 1;
            let end = generic.find(|c| {
                depth += i32::from(c == '<') - i32::from(c == '>');
                depth == 0
            })?;
            &generic[end + 1..]
        }
        None => rest,
    };
    let name = rest.trim_start().split([' ', '<', '{']).next()?;
    name.rsplit("::").next().filter(|name| !name.is_empty())
}

/// Whether a line within an `impl` begins a method.
fn is_method(line: &str) -> bool {
    let Some(text) = line.strip_prefix("    ").filter(|text| !text.starts_with([' ', '/'])) else {
        return false;
    };
    text.split("fn ").next().is_some_and(|before| {
        before.len() < text.len()
            && before.split_whitespace().all(|word| {
                ["const", "async", "unsafe"].contains(&word) || word.starts_with("pub") || word.ends_with(')')
            })
    })
}

/// Own methods by crate and type.
fn methods() -> BTreeMap<(String, String), usize> {
    let mut found = BTreeMap::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let mut within = None;
        for (_, line) in source.code() {
            if !line.starts_with([' ', '}']) {
                within = own_type(line).filter(|_| line.trim_end().ends_with('{'));
            } else if line.starts_with('}') {
                within = None;
            } else if let Some(name) = within.filter(|_| is_method(line)) {
                *found.entry((crate_of(&source.path).to_string(), name.to_string())).or_insert(0) += 1;
            }
        }
    }
    found
}

/// Types with more methods than they may have, and entries of the list that are too high by now.
pub fn findings() -> Vec<String> {
    let found = methods();
    assert!(found.len() > 100, "tidy counted the methods of {} types: it does not see them", found.len());
    let mut findings = Vec::new();
    for ((crate_name, name), &count) in &found {
        let listed = LARGER.iter().find(|(at, one, _)| at == crate_name && one == name);
        let most = listed.map_or(METHODS_MAX, |entry| entry.2);
        if count > most {
            findings.push(format!("{name} of {crate_name} has {count} methods, at most {most}"));
        }
    }
    for (crate_name, name, most) in LARGER {
        let count = found.get(&(crate_name.to_string(), name.to_string())).copied().unwrap_or_default();
        if count < *most {
            findings.push(format!("{name} of {crate_name} has {count} methods: lower its entry of {most}"));
        }
    }
    findings
}

#[test]
fn the_rule_sees_types_and_methods() {
    assert_eq!(own_type("impl Exec<'_> {"), Some("Exec"));
    assert_eq!(own_type("impl<'e, T: Into<Vec<u8>>> crate::Exec<'e, T> {"), Some("Exec"));
    assert_eq!(own_type("impl Drop for Exec<'_> {"), None);
    assert!(is_method("    pub(super) async fn run(&mut self) {"));
    assert!(is_method("    fn run(&mut self) {"));
    assert!(
        !is_method("        fn inner() {")
            && !is_method("    // fn old")
            && !is_method("    let f: fn (u8) = g;")
    );
}
