//! User, host and database of a session, kept together.

use smallvec::SmallVec;

/// Longest names, together, that lie in the session's entry itself.
const NAMES_INLINE: usize = 64;

/// User, host and database in one piece beside the session's numbers: who looks at a thousand sessions
/// fetches most of what it reads from far memory, so a session should be one place and not four.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// One behind the other.
    bytes: SmallVec<[u8; NAMES_INLINE]>,
    user_end: u32,
    /// Where the host ends and its port begins.
    bare_host_end: u32,
    host_end: u32,
    has_database: bool,
}

impl Names {
    /// User name; client host and port; current database.
    pub fn new(user: &str, host: &str, database: Option<&str>) -> Names {
        let mut bytes = SmallVec::new();
        for name in [user, host, database.unwrap_or_default()] {
            bytes.extend_from_slice(name.as_bytes());
        }
        let user_end = user.len() as u32;
        Names {
            bytes,
            user_end,
            bare_host_end: user_end + without_port(host).len() as u32,
            host_end: user_end + host.len() as u32,
            has_database: database.is_some(),
        }
    }

    /// User name.
    pub fn user(&self) -> &[u8] {
        &self.bytes[..self.user_end as usize]
    }

    /// Client host and port.
    pub fn host(&self) -> &[u8] {
        &self.bytes[self.user_end as usize..self.host_end as usize]
    }

    /// Client host alone.
    pub fn bare_host(&self) -> &[u8] {
        &self.bytes[self.user_end as usize..self.bare_host_end as usize]
    }

    /// Current database.
    pub fn database(&self) -> Option<&[u8]> {
        self.has_database.then(|| &self.bytes[self.host_end as usize..])
    }

    /// The same client with another database.
    pub fn set_database(&mut self, database: &str) {
        self.bytes.truncate(self.host_end as usize);
        self.bytes.extend_from_slice(database.as_bytes());
        self.has_database = true;
    }
}

/// A host without its port. An address of version 6 keeps its colons.
fn without_port(host: &str) -> &str {
    host.split_once(':').filter(|(_, port)| !port.contains(':')).map_or(host, |(host, _)| host)
}
