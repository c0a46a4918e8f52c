//! What the server says of the machine and of itself: `hostname`, `system_time_zone`, and `server_uuid`,
//! which names a data directory. It is kept in the file `auto.cnf`, in MySQL's layout, so that a directory
//! that is moved keeps its name; whoever copies a directory removes the file from the copy.

use std::fs;
use std::path::Path;

use turnstile_session::datetime::adopt_system_zone;
use turnstile_session::value::Value;
use turnstile_session::variables::{Globals, find};
use turnstile_sys::disk::make_directory;

use crate::log;

const FILE: &str = "auto.cnf";
const KEY: &str = "server-uuid=";
/// Where the hyphens of a UUID stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const UUID_BYTES: usize = 36;

/// Sets these variables.
pub fn adopt(globals: &Globals, datadir: &Path) {
    let set = |name: &str, value: &str| {
        if let Some(at) = find(name) {
            globals.set(at, Value::text(value));
        }
    };
    set("system_time_zone", adopt_system_zone());
    set("hostname", &rustix::system::uname().nodename().to_string_lossy());
    set("server_uuid", &name_of(datadir));
    // Tools put a file's name behind it.
    let datadir = datadir.to_string_lossy();
    if !datadir.is_empty() && !datadir.ends_with('/') {
        set("datadir", &format!("{datadir}/"));
    }
}

/// The name of a data directory, given now if it has none.
fn name_of(datadir: &Path) -> String {
    let path = datadir.join(FILE);
    let kept = fs::read_to_string(&path).ok();
    let kept = kept.as_deref().and_then(|text| text.lines().find_map(|line| line.trim().strip_prefix(KEY)));
    if let Some(name) = kept.map(str::trim).filter(|name| is_uuid(name)) {
        return name.to_owned();
    }
    let name = fresh();
    let kept = make_directory(datadir).and_then(|()| fs::write(&path, format!("[auto]\n{KEY}{name}\n")));
    if let Err(error) = kept {
        log::warning(&format!(
            "{}: {error}; server_uuid will be another one at the next start",
            path.display()
        ));
    }
    name
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match HYPHENS.contains(&at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    text.len() == UUID_BYTES && text.bytes().enumerate().all(fits)
}

/// A random UUID (version 4 of RFC 9562).
fn fresh() -> String {
    let mut bytes = [0; 16];
    // The kernel's generator only fails for flags it does not know.
    let _ = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(UUID_BYTES);
    for byte in bytes {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn a_directory_keeps_its_name() {
        let directory = std::env::temp_dir().join(format!("turnstile-identity-{}", std::process::id()));
        let place = directory.join("data");
        let first = name_of(&place);
        assert!(is_uuid(&first), "{first}");
        assert_eq!(name_of(&place), first);
        fs::write(place.join(FILE), "[auto]\nserver-uuid=nonsense\n").unwrap();
        let second = name_of(&place);
        assert!(is_uuid(&second) && second != first);
        assert_ne!(name_of(&directory.join("other")), second);
        fs::remove_dir_all(directory).unwrap();
    }
}
