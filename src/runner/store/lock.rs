//! Who writes a run's folder: one process, or one for each shard.
//!
//! A process that writes all of it locks `.lock` for itself. A shard shares that lock, so that nobody writes all of the
//! folder meanwhile, and locks `.lock.<i>-of-<n>` for itself. Two shards never wait for one another.
//!
//! Who asks models about a run locks `.lock.verdicts` or `.lock.classifications` for itself, and nothing else.
//!
//! Between machines, locks are as good as the file system. Therefore a shard's lock file names process and machine, is
//! touched now and then, and is emptied at the end. Whoever finds the name of another machine in it watches whether it is
//! still touched, before it takes the shard for itself.
//!
//! Windows lets nobody read a locked file but through the handle that locked it. Therefore a lock file that is held is
//! read through that handle alone, and whoever does not get a lock names its holder only where that can be read.

use super::StoreError;
use crate::base::Shard;
use crate::net::recording::{check_own, machine, open_own, signature};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// How often the lock file of a shard is touched.
const TOUCH_INTERVAL: Duration = Duration::from_secs(5);
/// How long to watch a shard whose process may still run on another machine.
pub(crate) const WATCH: Duration = Duration::from_secs(20);
const MAX_LOCK_BYTES: u64 = 200;
const MAX_LISTED: usize = 7;

/// How long to wait before another look at who has the claim, and before another attempt at a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Attempts at a lock: [`is_held`] has it for a moment.
const ATTEMPTS: usize = 4;

const NAME: &str = ".lock";

pub(super) const VERDICTS: &str = "verdicts.jsonl";
pub(super) const CLASSIFICATIONS: &str = "classifications.jsonl";
pub(super) const NOTES: &str = "notes.json";

#[derive(Debug)]
pub(crate) struct Lock {
    /// The shard that is locked; none for the whole folder.
    pub(crate) shard: Option<Shard>,
    file: File,
    path: PathBuf,
    /// That of the whole folder, which shards have in common.
    _common: Option<File>,
    /// Who had the shard before, if that may still be running.
    before: Option<Sign>,
    touching: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Debug, PartialEq, Eq)]
struct Sign {
    holder: String,
    touched: Option<SystemTime>,
}

impl Lock {
    pub(super) fn take(folder: &Path, shard: Option<Shard>) -> Result<Self, StoreError> {
        let path = folder.join(NAME);
        let file = open(&path)?;
        match shard {
            None => Self::whole(folder, path, file),
            Some(shard) => Self::of_shard(folder, shard, &path, file),
        }
    }

    /// Locks a file that a process appends to while it asks models, beside runs, readers and people.
    pub(crate) fn of_file(file: &Path) -> Result<Self, StoreError> {
        let path = lock_of(file);
        let mut lock = Self { shard: None, file: open(&path)?, path, _common: None, before: None, touching: None };
        if attempted(lock.file.try_lock(), &lock.path)? == Attempt::Held {
            return Err(StoreError::Asking { path: file.to_owned(), holder: holder(&lock.file) });
        }
        let _ = write(&mut lock.file, &format!("process {}", std::process::id()));
        Ok(lock)
    }

    fn whole(folder: &Path, path: PathBuf, mut file: File) -> Result<Self, StoreError> {
        if let Err(error) = try_lock(&file) {
            if let TryLockError::Error(source) = error {
                return Err(StoreError::Io { action: "lock", path, source });
            }
            return Err(busy(folder, &file)?);
        }
        // Only for the error message of a second process.
        let _ = write(&mut file, &format!("process {}", std::process::id()));
        Ok(Self { shard: None, file, path, _common: None, before: None, touching: None })
    }

    fn of_shard(folder: &Path, shard: Shard, common_path: &Path, common: File) -> Result<Self, StoreError> {
        if attempted(common.try_lock_shared(), common_path)? == Attempt::Held {
            return Err(StoreError::Locked { path: folder.to_owned(), holder: holder(&common) });
        }
        let path = folder.join(format!("{NAME}.{}", shard.name()));
        let file = open(&path)?;
        let attempt = attempted(try_lock(&file), &path)?;
        if attempt == Attempt::Held {
            return Err(StoreError::ShardLocked { path: folder.to_owned(), shard, holder: holder(&file) });
        }
        // Only now, so that of two that begin at once at least one sees the other.
        if let Some(other) = of_other_number(folder, shard)? {
            return Err(StoreError::OtherShards { path: folder.to_owned(), other });
        }
        let sign = Sign::read(&file, &path)?;
        // A process of this machine that still ran would have kept the lock.
        let is_gone = sign.holder.is_empty()
            || attempt == Attempt::Locked && sign.holder.ends_with(&format!(" on {}", machine()));
        let before = Some(sign).filter(|_| !is_gone);
        let mut lock = Self { shard: Some(shard), file, path, _common: Some(common), before, touching: None };
        if lock.before.is_none() {
            lock.sign()?;
        }
        Ok(lock)
    }

    /// Who had the shard before, if it may still run elsewhere: then [`confirm`](Self::confirm) comes after [`WATCH`].
    pub(crate) fn before(&self) -> Option<&str> {
        self.before.as_ref().map(|sign| sign.holder.as_str())
    }

    /// Takes the shard if the process that had it before has not touched the lock file since.
    pub(crate) fn confirm(&mut self) -> Result<(), StoreError> {
        let (Some(before), Some(shard)) = (self.before.take(), self.shard) else { return Ok(()) };
        if !self.reopen()? || Sign::read(&self.file, &self.path)? != before {
            let path = self.path.parent().unwrap_or(Path::new(".")).to_owned();
            return Err(StoreError::ShardLocked { path, shard, holder: Some(before.holder) });
        }
        self.sign()
    }

    /// Opens and locks the file anew, as a network file system may answer from memory; false if another process has it.
    fn reopen(&mut self) -> Result<bool, StoreError> {
        // Before the second handle: while the first one holds the lock, the second could not read.
        let _ = self.file.unlock();
        self.file = open(&self.path)?;
        Ok(attempted(self.file.try_lock(), &self.path)? != Attempt::Held)
    }

    /// Writes who has the shard, and touches the file from then on.
    fn sign(&mut self) -> Result<(), StoreError> {
        let signed = write(&mut self.file, &signature())
            .and_then(|()| self.file.sync_all())
            .and_then(|()| self.file.try_clone());
        let file = signed.map_err(StoreError::io("write", &self.path))?;
        let (stop, stopped) = channel();
        let touch = move || {
            while stopped.recv_timeout(TOUCH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // A disk that does not take it now may take it the next time.
                let _ = file.set_modified(SystemTime::now());
            }
        };
        let thread = std::thread::Builder::new().name("lock".to_owned()).spawn(touch);
        self.touching = Some((stop, thread.map_err(StoreError::io("touch", &self.path))?));
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.touching.take() {
            drop(stop);
            let _ = thread.join();
            // Says that it ended; nobody needs to watch.
            let _ = self.file.set_len(0);
        }
    }
}

impl Sign {
    /// Reads through the handle that holds the lock.
    fn read(file: &File, path: &Path) -> Result<Self, StoreError> {
        let touched = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Ok(Self { holder: read(file).map_err(StoreError::io("read", path))?, touched })
    }
}

/// Keeps others from writing a folder that is only read, where that can be had without changing anything in it.
pub(super) fn hold_still(folder: &Path) -> Result<Option<File>, StoreError> {
    let path = folder.join(NAME);
    let Some(file) = check_own(&path).and_then(|()| File::open(&path)).ok() else { return Ok(None) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(busy(folder, &file)?),
        _ => Ok(Some(file)),
    }
}

/// Whether a process writes the folder or a shard of it. A disk without locks cannot tell, so the answer is yes.
pub(super) fn is_held(folder: &Path) -> bool {
    let is_locked = |path: &Path| {
        let file = check_own(path).and_then(|()| File::open(path));
        file.is_ok_and(|file| file.try_lock_shared().is_err())
    };
    // The lock of another machine's process may not reach this one.
    let is_touched = |path: &Path| {
        let signed = path.metadata().ok().filter(|metadata| metadata.len() > 0);
        let age = signed.and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age < WATCH)
    };
    let mut shards = locks_of_shards(folder).unwrap_or_default().into_iter();
    is_locked(&folder.join(NAME)) || shards.any(|(_, path)| is_locked(&path) || is_touched(&path))
}

#[derive(PartialEq, Eq)]
enum Attempt {
    Locked,
    Held,
    /// The file system has none.
    NoLocks,
}

fn attempted(attempt: Result<(), TryLockError>, path: &Path) -> Result<Attempt, StoreError> {
    match attempt {
        Ok(()) => Ok(Attempt::Locked),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Held),
        Err(TryLockError::Error(source)) if has_no_locks(&source) => Ok(Attempt::NoLocks),
        Err(TryLockError::Error(source)) => Err(StoreError::io("lock", path)(source)),
    }
}

fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
    file.try_lock()
}

/// The error of a folder whose lock, in `file`, others hold.
fn busy(folder: &Path, file: &File) -> Result<StoreError, StoreError> {
    let is_signed = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    let shards = locks_of_shards(folder)?.into_iter().filter(|(_, path)| is_signed(path));
    let shards: Vec<Shard> = shards.map(|(shard, _)| shard).collect();
    let holder = if shards.is_empty() { holder(file) } else { Some(names(&shards)) };
    Ok(StoreError::Locked { path: folder.to_owned(), holder })
}

fn locks_of_shards(folder: &Path) -> Result<Vec<(Shard, PathBuf)>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?.flatten();
    let mut shards: Vec<_> =
        entries.filter_map(|entry| Some((in_name(entry.file_name().to_str()?)?, entry.path()))).collect();
    shards.sort();
    Ok(shards)
}

/// A shard that another process is writing, of another number of shards than these. Shards of the same number are not looked
/// at: the look is a lock for a moment, which one that is just about to begin would take for that of another process.
fn of_other_number(folder: &Path, shard: Shard) -> Result<Option<Shard>, StoreError> {
    for (other, path) in locks_of_shards(folder)?.into_iter().filter(|(other, _)| other.count() != shard.count()) {
        if matches!(open(&path)?.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

fn in_name(name: &str) -> Option<Shard> {
    Shard::in_name(name.strip_prefix(NAME)?.strip_prefix('.')?)
}

/// The lock file of a file in a run's folder: `.lock.notes` of `notes.json`.
fn lock_of(file: &Path) -> PathBuf {
    file.with_file_name(format!("{NAME}.{}", file.file_stem().unwrap_or_default().to_string_lossy()))
}

/// Whether a file is the lock of a folder, of a shard, or of a file in a folder.
pub(super) fn is_lock(name: &str) -> bool {
    let of_file = |file: &str| Path::new(name) == lock_of(Path::new(file));
    name == NAME || in_name(name).is_some() || [VERDICTS, CLASSIFICATIONS, NOTES].into_iter().any(of_file)
}

/// Locks a file from reading it to replacing it. Waits for other processes, which hold the lock for a moment.
pub(super) fn await_lock(file: &Path) -> Result<File, StoreError> {
    let path = lock_of(file);
    let file = open(&path)?;
    match file.lock() {
        Err(error) if !has_no_locks(&error) => Err(StoreError::io("lock", &path)(error)),
        _ => Ok(file),
    }
}

fn names(shards: &[Shard]) -> String {
    let first: Vec<String> = shards.iter().take(MAX_LISTED).map(Shard::to_string).collect();
    let more = if shards.len() > MAX_LISTED { ", …" } else { "" };
    format!("{} {}{more}", if shards.len() == 1 { "shard" } else { "shards" }, first.join(", "))
}

fn open(path: &Path) -> Result<File, StoreError> {
    #[cfg(test)]
    tests::OPENED.with_borrow_mut(|opened| opened.push(path.to_owned()));
    open_own(path).map_err(StoreError::io("open", path))
}

/// Who holds a lock that was not to be had, where that can be read.
fn holder(file: &File) -> Option<String> {
    read(file).ok().filter(|holder| !holder.is_empty())
}

pub(super) fn read(mut file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MAX_LOCK_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(file: &mut File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// Whether a file system has no locks at all, as some of clusters do.
fn has_no_locks(error: &io::Error) -> bool {
    const ENOLCK: i32 = 37;
    error.kind() == io::ErrorKind::Unsupported || cfg!(target_os = "linux") && error.raw_os_error() == Some(ENOLCK)
}

/// Name of the claim: that of half a manifest, so that it counts as left over.
pub(super) const CLAIM: &str = "manifest.claim.tmp";

/// The right to write the first manifest of a run on a disk that has no links, given back on drop.
///
/// A file that is created by one process only is the claim, and its creator locks it. A process that is killed gives its
/// lock back, so whoever finds a claim of this machine without a lock may take it. Where locks reach nobody else, the claim
/// of another machine is watched first, as that of a shard is.
pub(super) struct Claim {
    path: PathBuf,
    _file: File,
}

impl Claim {
    /// Waits until this process may write the manifest; nothing once another has.
    fn take(manifest: &Path) -> Result<Option<Self>, StoreError> {
        let path = manifest.with_file_name(CLAIM);
        let begun = Instant::now();
        loop {
            if let Some(file) = claim(&path, begun.elapsed() >= WATCH).map_err(StoreError::io("write", &path))? {
                return Ok(Some(Self { path, _file: file }));
            }
            if manifest.exists() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Gives the file `beside` the name of the manifest, unless it is taken, and says whether this process did.
    pub(super) fn rename(beside: &Path, manifest: &Path) -> Result<bool, StoreError> {
        let Some(_claim) = Self::take(manifest)? else { return Ok(false) };
        // Only now: whoever had the claim before may have written the manifest.
        if manifest.exists() {
            return Ok(false);
        }
        fs::rename(beside, manifest).map(|()| true).map_err(StoreError::io("write", manifest))
    }
}

impl Drop for Claim {
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

#[cfg(test)]
mod tests {
    use super::{Lock, hold_still, is_held, is_lock};
    use crate::base::Shard;
    use crate::runner::store::StoreError;
    use std::cell::RefCell;
    use std::fs;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    thread_local! {
        /// The lock files that this thread has opened.
        pub(super) static OPENED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    fn shard(text: &str) -> Shard {
        Shard::parse(text).expect("a shard")
    }

    #[test]
    fn shards_exclude_themselves_other_numbers_of_shards_and_the_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let take = |text: &str| Lock::take(dir.path(), Some(text).filter(|text| !text.is_empty()).map(shard));
        let first = take("1/3").expect("free");
        let second = take("2/3").expect("free");
        let error = take("1/3").expect_err("held").to_string();
        let pid = format!("(process {} on ", std::process::id());
        assert!(error.starts_with("shard 1/3 of `") && error.contains(&pid), "{error}");
        let error = take("1/4").expect_err("other shards").to_string();
        assert!(error.contains("in 3 shards (1/3 among them)"), "{error}");
        let error = take("").expect_err("held").to_string();
        assert!(error.contains("(shards 1/3, 2/3)"), "{error}");
        assert!([".lock", ".lock.1-of-3", ".lock.verdicts"].into_iter().all(is_lock));
        assert!(![".lock.3", ".lockfile", ".lock.verdicts.jsonl"].into_iter().any(is_lock));
        assert!(matches!(hold_still(dir.path()), Err(StoreError::Locked { .. })));
        drop(first);
        drop(take("1/3").expect("free again"));
        assert!(is_held(dir.path()), "the second shard is written");
        drop(second);
        assert!(!is_held(dir.path()));
        let whole = take("").expect("free");
        assert!(is_held(dir.path()));
        let error = take("2/3").expect_err("held").to_string();
        assert!(error.contains(&format!("(process {})", std::process::id())), "{error}");
        drop(whole);
        let still = hold_still(dir.path()).expect("nobody writes");
        assert!(still.is_some() && take("1/3").is_err());
        drop(still);
        take("1/4").expect("nobody writes 3 shards any more");
    }

    #[test]
    fn of_two_that_ask_models_about_a_run_the_second_learns_of_the_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let take = |name: &str| Lock::of_file(&dir.path().join(name));
        let held = take("verdicts.jsonl").expect("free");
        let error = take("verdicts.jsonl").expect_err("held").to_string();
        let words = format!("another process (process {}) is asking models", std::process::id());
        assert!(error.starts_with(&words) && error.ends_with("verdicts.jsonl`"), "{error}");
        // Neither another question nor a run is kept from going on.
        drop((take("classifications.jsonl").expect("free"), Lock::take(dir.path(), None).expect("free")));
        drop(held);
        drop(take("verdicts.jsonl").expect("free again"));
        let names = fs::read_dir(dir.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        assert!(names.map(|name| name.into_string().expect("text")).all(|name| is_lock(&name)));
    }

    /// Windows refuses to read a locked file through a second handle.
    #[test]
    fn no_lock_file_is_opened_again_while_it_is_held() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(".lock.1-of-2");
        let opened = || {
            let names = OPENED.take().into_iter().map(|path| path.file_name().expect("a name").to_owned());
            names.map(|name| name.into_string().expect("text")).collect::<Vec<_>>()
        };
        fs::write(&path, "process 7 on elsewhere").expect("written by an older program");
        opened();
        let mut lock = Lock::take(dir.path(), Some(shard("1/2"))).expect("free");
        assert_eq!(lock.before(), Some("process 7 on elsewhere"));
        assert_eq!(opened(), [".lock", ".lock.1-of-2"], "each of them once");
        lock.confirm().expect("nothing moved");
        assert_eq!(opened(), [".lock.1-of-2"], "once more, without the lock");
        assert!(matches!(Lock::take(dir.path(), Some(shard("1/2"))), Err(StoreError::ShardLocked { .. })), "held");
        opened();
        drop(lock);
        assert!(opened().is_empty());
        // Of two that watch, the one that is later to look again learns of the other.
        fs::write(&path, "process 7 on elsewhere").expect("killed elsewhere");
        let mut lock = Lock::take(dir.path(), Some(shard("1/2"))).expect("free");
        lock.file.unlock().expect("locked before");
        let other = fs::File::open(&path).expect("there");
        other.lock().expect("free");
        assert!(matches!(lock.confirm(), Err(StoreError::ShardLocked { .. })));
    }

    #[test]
    fn a_shard_that_may_run_on_another_machine_is_watched() {
        let dir = tempfile::tempdir().expect("a folder");
        let take = || Lock::take(dir.path(), Some(shard("1/2"))).expect("locks do not reach other machines");
        let path = dir.path().join(".lock.1-of-2");
        // Killed here: the lock is free, so it is gone.
        let here = take();
        let sign = fs::read_to_string(&path).expect("a name");
        drop(here);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "", "an end is told");
        fs::write(&path, sign).expect("written");
        assert_eq!(take().before(), None);
        // Killed elsewhere.
        fs::write(&path, "process 7 on elsewhere").expect("written");
        let mut lock = take();
        assert_eq!(lock.before(), Some("process 7 on elsewhere"));
        lock.confirm().expect("nothing moved");
        assert!(fs::read_to_string(&path).expect("a name").starts_with(&format!("process {}", std::process::id())));
        drop(lock);
        // Running elsewhere.
        fs::write(&path, "process 7 on elsewhere").expect("written");
        let mut lock = take();
        let file = fs::File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() + Duration::from_secs(5)).expect("touched");
        assert!(matches!(lock.confirm(), Err(StoreError::ShardLocked { .. })));
        drop(lock);
        assert_eq!(fs::read_to_string(&path).expect("a name"), "process 7 on elsewhere", "it is not ours");
    }
}
