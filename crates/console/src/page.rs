//! The page: four files that are part of the program, and need nothing from elsewhere.

use crate::response::Response;

/// The file at a path, if there is one.
pub fn file(path: &str) -> Option<Response> {
    let (kind, text) = match path {
        "/" => ("text/html; charset=utf-8", include_str!("../page/index.html")),
        "/console.css" => ("text/css; charset=utf-8", include_str!("../page/console.css")),
        "/console.js" => ("text/javascript; charset=utf-8", include_str!("../page/console.js")),
        "/icon.svg" => ("image/svg+xml", include_str!("../page/icon.svg")),
        _ => return None,
    };
    Some(Response::file(kind, text))
}
