//! Source files as the rules see them: path, lines, which lines are code, which belong to tests.

use std::fs;
use std::path::{Path, PathBuf};

/// One Rust file.
pub struct Source {
    /// Path from the repository root, with forward slashes.
    pub path: String,
    /// Its lines.
    pub lines: Vec<String>,
}

impl Source {
    /// A file with this content.
    pub fn new(path: &str, content: &str) -> Self {
        Source { path: path.to_string(), lines: content.lines().map(str::to_string).collect() }
    }

    /// Whether the whole file is test code.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap();
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || self.path.contains("/examples/")
            || self.path.starts_with("examples/")
            || self.path.starts_with("fuzz/")
            || name == "tests.rs"
            || ["_tests.rs", "_model.rs", "_loom.rs", "_shuttle.rs", "_bench.rs"]
                .iter()
                .any(|end| name.ends_with(end))
    }

    /// Code lines: (line number from 1, text), without comments, blanks and in-file test modules.
    pub fn code(&self) -> Vec<(usize, &str)> {
        let mut code = Vec::new();
        let mut in_block_comment = false;
        for (number, line) in self.lines.iter().enumerate() {
            let text = line.trim();
            if text == "#[cfg(test)]"
                && self.lines.get(number + 1).is_some_and(|next| next.trim_end().ends_with('{'))
            {
                break;
            }
            if in_block_comment {
                in_block_comment = !text.contains("*/");
                continue;
            }
            if text.starts_with("/*") {
                in_block_comment = !text.contains("*/");
                continue;
            }
            if !text.is_empty() && !text.starts_with("//") {
                code.push((number + 1, line.as_str()));
            }
        }
        code
    }
}

/// All Rust files of the repository.
pub fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for top in ["src", "crates", "tests", "examples", "fuzz"] {
        collect(&root().join(top), &mut found);
    }
    assert!(found.len() > 10, "tidy found only {} files: it looks in the wrong place", found.len());
    found
}

/// The repository root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "node_modules"].contains(&name.as_str()) && !name.starts_with('.') {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") {
            let relative = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            found.push(Source::new(&relative, &fs::read_to_string(&path).unwrap()));
        }
    }
}
