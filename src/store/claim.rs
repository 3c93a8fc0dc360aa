//! Who may write the first manifest of a run, on a disk that has no links.
//!
//! A file that is created by one process only is the claim, and its creator locks it. A process that is killed gives its
//! lock back, so whoever finds a claim of this machine without a lock may take it. Where locks reach nobody else, the claim
//! of another machine is watched first, as that of a shard is.

use super::StoreError;
use super::lock::{WATCH, has_no_locks, read};
use crate::tape::{check_own, machine, signature};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Its name: that of half a manifest, so that it counts as left over.
pub(super) const NAME: &str = "manifest.claim.tmp";
const PAUSE: Duration = Duration::from_millis(20);

/// The right to write a manifest, given back on drop.
pub(super) struct Claim<'a> {
    manifest: &'a Path,
    path: PathBuf,
    _file: File,
}

impl<'a> Claim<'a> {
    /// Waits until this process may write the manifest; nothing once another has.
    fn take(manifest: &'a Path) -> Result<Option<Self>, StoreError> {
        let path = manifest.with_file_name(NAME);
        let begun = Instant::now();
        loop {
            if let Some(file) = claim(&path, begun.elapsed() >= WATCH).map_err(StoreError::io("write", &path))? {
                return Ok(Some(Self { manifest, path, _file: file }));
            }
            if manifest.exists() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Gives the file `beside` the name of the manifest, unless it is taken, and says whether this process did.
    pub(super) fn rename(beside: &Path, manifest: &'a Path) -> Result<bool, StoreError> {
        let Some(claim) = Self::take(manifest)? else { return Ok(false) };
        // Only now: whoever had the claim before may have written the manifest.
        if claim.manifest.exists() {
            return Ok(false);
        }
        fs::rename(beside, claim.manifest).map(|()| true).map_err(StoreError::io("write", manifest))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // One that stays is taken by whoever comes next.
        let _ = fs::remove_file(&self.path);
    }
}

/// Creates and locks the claim, or takes that of a process that is gone. Nothing if its creator may still be at work.
fn claim(path: &Path, watched: bool) -> io::Result<Option<File>> {
    check_own(path)?;
    let mut options = File::options();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Ok(mut file) => {
            // Others hold it for a look only, until this one has signed.
            file.lock().or_else(|error| if has_no_locks(&error) { Ok(()) } else { Err(error) })?;
            file.write_all(signature().as_bytes())?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = match options.open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                opened => opened?,
            };
            let is_locked = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) if has_no_locks(&error) => false,
                Err(TryLockError::Error(error)) => return Err(error),
            };
            let is_gone = is_locked && read(&file)?.ends_with(&format!(" on {}", machine()));
            Ok(Some(file).filter(|_| is_gone || watched))
        }
        Err(error) => Err(error),
    }
}
