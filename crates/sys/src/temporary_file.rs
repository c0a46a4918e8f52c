//! Temporary files: made in a folder, without a name there, so that they are gone with the process that has
//! them open, however that ends.
//!
//! Where the file system can, a file never has a name (`O_TMPFILE`); elsewhere it has one for the moment
//! between its making and its removal. Only its owner may open it, and it is written and read at positions,
//! blocking. Nothing is ever synced: nobody reads it after a crash.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};

/// Who may open a file that has a name for a moment.
const OWNER_ONLY: u32 = 0o600;
/// What is written to a file at all.
const KEPT_BYTES_MIN: u64 = 4 << 20;
/// Names to try where files have one for a moment.
const ATTEMPTS: u32 = 32;

/// A folder for temporary files.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Most bytes of a file: what tests know as a full disk.
    file_bytes_max: AtomicU64,
    /// See [`TemporaryFolder::kept_bytes_min`].
    kept_bytes_min: AtomicU64,
    made: AtomicU64,
}

impl TemporaryFolder {
    /// The folder of this path; nothing is looked at yet.
    pub fn new(path: impl Into<PathBuf>) -> TemporaryFolder {
        TemporaryFolder {
            path: path.into(),
            file_bytes_max: AtomicU64::new(u64::MAX),
            kept_bytes_min: AtomicU64::new(KEPT_BYTES_MIN),
            made: AtomicU64::new(0),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Files made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// From now on a file that is to become longer than this finds no space; for tests.
    pub fn set_file_bytes_max(&self, bytes: u64) {
        self.file_bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Who has fewer bytes keeps them in memory, whatever its own limit is: a file is not worth it.
    pub fn kept_bytes_min(&self) -> u64 {
        self.kept_bytes_min.load(Ordering::Relaxed)
    }

    /// Sets it; for tests, whose rows are few.
    pub fn set_kept_bytes_min(&self, bytes: u64) {
        self.kept_bytes_min.store(bytes, Ordering::Relaxed);
    }

    /// Whether files can be made here.
    ///
    /// # Errors
    /// What is wrong with the path, or what the operating system says.
    pub fn check(&self) -> io::Result<()> {
        if !self.path.is_absolute() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not absolute"));
        }
        if !fs::metadata(&self.path)?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        self.open().map(drop)
    }

    /// A new file, empty.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(&self) -> io::Result<TemporaryFile> {
        let file = self.open()?;
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(TemporaryFile { file, bytes_max: self.file_bytes_max.load(Ordering::Relaxed) })
    }

    fn open(&self) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(&self.path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(File::from(file)),
            // File systems and kernels without nameless files say so in several ways.
            Err(_) => self.open_named(),
        }
    }

    fn open_named(&self) -> io::Result<File> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..ATTEMPTS {
            let nth = self.made.fetch_add(1, Ordering::Relaxed);
            let path = self.path.join(format!("turnstile-{}-{nth}-{attempt}", std::process::id()));
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true).mode(OWNER_ONLY);
            match options.open(&path) {
                Ok(file) => return fs::remove_file(&path).map(|()| file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

/// A file without a name; gone when it is dropped.
#[derive(Debug)]
pub struct TemporaryFile {
    file: File,
    bytes_max: u64,
}

impl TemporaryFile {
    /// What it is called in messages: it has no name.
    pub fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Writes all bytes at this byte offset; `StorageFull` if there is no space.
    ///
    /// # Errors
    /// The operating system's.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if offset.saturating_add(bytes.len() as u64) > self.bytes_max {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.file.write_all_at(bytes, offset)
    }

    /// Fills the buffer from this byte offset. `UnexpectedEof` if the file ends before.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder(name: &str) -> TemporaryFolder {
        let path = std::env::temp_dir().join(format!("turnstile-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        TemporaryFolder::new(path)
    }

    #[test]
    fn a_file_has_no_name_and_keeps_what_is_written() {
        let folder = folder("temporary");
        folder.check().unwrap();
        for file in [folder.open().unwrap(), folder.open_named().unwrap()] {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, OWNER_ONLY);
            let file = TemporaryFile { file, bytes_max: 10 };
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it has a name");
            file.write_at(b"abc", 0).unwrap();
            file.write_at(b"defg", 3).unwrap();
            let mut read = [0; 4];
            file.read_at(&mut read, 2).unwrap();
            assert_eq!(&read, b"cdef");
            assert_eq!(file.read_at(&mut read, 4).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            let full = file.write_at(b"xxxx", 7).unwrap_err();
            assert_eq!((full.kind(), full.raw_os_error()), (io::ErrorKind::StorageFull, Some(28)));
        }
        fs::remove_dir(folder.path()).unwrap();
        assert!(folder.create().is_err(), "the folder is gone");
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_told() {
        let kind = |path: &str| TemporaryFolder::new(path).check().unwrap_err().kind();
        assert_eq!(kind("tmp"), io::ErrorKind::InvalidInput);
        assert_eq!(kind(""), io::ErrorKind::InvalidInput);
        assert_eq!(kind("/no/such/folder"), io::ErrorKind::NotFound);
        assert_eq!(kind("/proc/self/status"), io::ErrorKind::NotADirectory);
    }
}
