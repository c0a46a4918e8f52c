//! Files by name, read and written at positions, blocking: the only door to the disk. Two implementations:
//! [`RealDisk`] here, and the seeded [`FaultDisk`](crate::fault_disk::FaultDisk) that loses, tears and fails
//! for tests.
//!
//! What a caller may rely on after a crash, and no more:
//! - bytes written before a successful [`DiskFile::sync`] are there; later ones may be there, in any order,
//!   torn at sectors of [`SECTOR_SIZE`] bytes;
//! - a file created, renamed or removed is so for certain only after [`Disk::sync_dir`];
//! - after a **failed** sync nothing is known about any byte since the last good one. Never sync again and
//!   believe it.
//!
//! Only [`DiskFile::allocate`] says that the disk is full, by a type of its own. File systems that allocate
//! late report want of space at the sync, and that is a failed sync like any other.

use rustix::fs::{FallocateFlags, FlockOperation};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest unit a device writes whole, in bytes.
pub const SECTOR_SIZE: usize = 512;

/// Name of the file whose exclusive lock says that the directory is in use.
pub const LOCK_FILE: &str = "LOCK";

const ZERO_CHUNK: usize = 1 << 20;

/// A directory of files.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing; with `create` an empty one is made if there is none.
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>>;
    /// Whether there is a file of this name.
    fn exists(&self, name: &str) -> io::Result<bool>;
    /// All file names, sorted.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Removes a file. Those who have it open keep it.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Renames a file, replacing one of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Makes creations, renames and removals so far durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// Why a file did not grow.
#[derive(Debug)]
pub enum AllocateError {
    /// There is no room, and the file is as long as before: it may be tried again.
    Full(io::Error),
    /// The disk has failed.
    Failed(io::Error),
}

impl AllocateError {
    pub(crate) fn of(cause: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match cause.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => AllocateError::Full(cause),
            _ => AllocateError::Failed(cause),
        }
    }

    /// The operating system's error.
    pub fn into_cause(self) -> io::Error {
        match self {
            AllocateError::Full(cause) | AllocateError::Failed(cause) => cause,
        }
    }
}

impl std::fmt::Display for AllocateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AllocateError::Full(cause) | AllocateError::Failed(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for AllocateError {}

/// An open file. Safe to share: every call names its position.
pub trait DiskFile: Send + Sync {
    /// Fills the buffer from this byte offset. `UnexpectedEof` if the file ends before.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all bytes at this byte offset; the file grows if they end behind its end.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes everything written so far, and the length, durable (fdatasync).
    fn sync(&self) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts the file, or extends it by a hole.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Extends the file to at least this length by zeros that really occupy the disk, so that a later write
    /// there needs no space. A full disk is reported now and leaves the length as it was.
    fn allocate(&self, len: u64) -> Result<(), AllocateError>;
    /// Claims the file against every other process that claims it, until it is closed. `ResourceBusy` if one
    /// has it. A disk that no other process can see has nothing to do.
    fn claim(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a directory that only its owner and the group may look into, if it is not there.
///
/// # Errors
/// The operating system's.
pub fn make_directory(root: &Path) -> io::Result<()> {
    if root.is_dir() {
        return Ok(());
    }
    root.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::DirBuilder::new().mode(0o750).create(root)
}

/// A directory of the operating system, held exclusively while this value (or a clone of its lock) lives.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    directory: File,
    _lock: File,
}

impl RealDisk {
    /// Opens the directory, creating it if needed, and locks it against other processes.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref().to_path_buf();
        make_directory(&root)?;
        let directory = File::open(&root)?;
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o640)
            .open(root.join(LOCK_FILE))?;
        lock_file(&lock, || {
            format!("{} is in use by another process (its file {LOCK_FILE} is locked)", root.display())
        })?;
        Ok(RealDisk { root, directory, _lock: lock })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        check_name(name)?;
        Ok(self.root.join(name))
    }
}

fn lock_file(file: &File, in_use: impl FnOnce() -> String) -> io::Result<()> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|cause| match cause {
        rustix::io::Errno::WOULDBLOCK => io::Error::new(io::ErrorKind::ResourceBusy, in_use()),
        other => other.into(),
    })
}

/// A name is one plain path component.
pub(crate) fn check_name(name: &str) -> io::Result<()> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is not a file name")));
    }
    Ok(())
}

impl Disk for RealDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(create)
            .truncate(false)
            .mode(0o640)
            .open(self.path(name)?)?;
        Ok(Arc::new(RealFile { file, name: name.into() }))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.path(name)?.try_exists()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.root)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && entry.file_type()?.is_file()
                && name != LOCK_FILE
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path(from)?, self.path(to)?)
    }

    fn sync_dir(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.directory)?)
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
    /// As it was opened.
    name: Box<str>,
}

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        // Not `File::sync_data`: it tries again when interrupted, and a second sync may hide the first one's
        // failure.
        Ok(rustix::fs::fdatasync(&self.file)?)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn allocate(&self, len: u64) -> Result<(), AllocateError> {
        let old = self.len().map_err(AllocateError::Failed)?;
        if len <= old {
            return Ok(());
        }
        let grown = reserve(&self.file, old, len - old).and_then(|()| fill_with_zeros(&self.file, old, len));
        if grown.is_err() {
            // Best effort: the failure of the growth itself is what the caller must hear.
            let _ = self.file.set_len(old);
        }
        grown.map_err(AllocateError::of)
    }

    fn claim(&self) -> io::Result<()> {
        lock_file(&self.file, || format!("{} is in use by another process, which has it locked", self.name))
    }
}

/// Asks the file system for the space. One that cannot do so learns it from the zeros that follow.
fn reserve(file: &File, offset: u64, len: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, len) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Written zeros, unlike reserved ones, need no change of the file's block map at the sync that follows a
/// write there.
fn fill_with_zeros(file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; ZERO_CHUNK.min(usize::try_from(to - from).unwrap_or(ZERO_CHUNK))];
    let mut at = from;
    while at < to {
        let size = usize::try_from(to - at).map_or(zeros.len(), |rest| rest.min(zeros.len()));
        file.write_all_at(&zeros[..size], at)?;
        at += size as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
