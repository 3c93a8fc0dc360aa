//! Opening the files that this program writes, none of which may lead elsewhere, and the members of folders, which may not
//! lead out of them.
//!
//! A folder may come from somebody else. A symbolic link in it would have what is written, and what is cut off a torn last
//! line, happen to a file of its maker's choice, or what is read be one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("it is {0}, which may lead anywhere")]
struct NotOwn(&'static str);

/// What to do about [`is_not_own`].
pub(crate) const NOT_OWN_HINT: &str = "look at where it leads, and remove it or name another path";

/// Whether a file was refused because of what it is.
pub(crate) fn is_not_own(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<NotOwn>)
}

/// Opens a file for reading and writing, and creates it if needed. Anything else than a regular file is refused.
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    // A pipe or a device may do something when it is opened.
    check_own(path)?;
    let file = options().create(true).truncate(false).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other(NotOwn("no regular file"))) }
}

/// Opens a file that this program wrote, for reading only. Anything else than a regular file is refused.
pub(crate) fn read_own(path: &Path) -> io::Result<File> {
    check_own(path)?;
    open_regular(path)
}

/// Opens a regular file for reading without following a link. A pipe or a device is refused, and not waited for.
fn open_regular(path: &Path) -> io::Result<File> {
    let refused = || io::Error::other("it is not a regular file");
    // A device may do something when it is opened.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(refused());
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// A folder that somebody named, of which nothing is read that a link has outside of it.
#[derive(Debug)]
pub(crate) struct Inside(PathBuf);

impl Inside {
    /// The folder; a link to it is followed, as it was named.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        folder.canonicalize().map(Self)
    }

    /// Where a member is once links are resolved; an error where that is outside of the folder.
    pub(crate) fn member(&self, path: &Path) -> io::Result<PathBuf> {
        let real = path.canonicalize()?;
        let Ok(below) = real.strip_prefix(&self.0) else {
            return Err(io::Error::other("it is a link that leads out of the folder"));
        };
        // What is hidden has to be named by its own name.
        let mut hidden = below.components().filter(|part| is_hidden(*part));
        if hidden.any(|part| !path.components().any(|named| named == part)) {
            return Err(io::Error::other("it is a link to a hidden file, or into a hidden folder"));
        }
        Ok(real)
    }

    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        open_regular(&self.member(path)?)
    }
}

/// Whether this part of a path has a name that begins with a dot.
pub(crate) fn is_hidden(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."))
}

/// Creates a file beside `path` under a name that nobody else has, to be renamed to `path`.
pub(crate) fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    make_beside(path, |beside| options().create_new(true).open(beside))
}

/// The same for a file that only its owner can read, where the system has permissions.
#[cfg(feature = "serve")]
pub(crate) fn create_private_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut options = options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    make_beside(path, |beside| options.clone().create_new(true).open(beside))
}

/// A folder that is being filled beside its place. One that is not given its name is removed.
///
/// It holds a locked file until then, so that the next start can tell what a killed process has left from what another
/// process is filling.
#[derive(Debug)]
pub(crate) struct FolderBeside {
    path: PathBuf,
    /// Open and locked until the folder is given its name or removed.
    lock: Option<File>,
    /// Folders of the same place that may be left over, and cannot be told from those that are being filled.
    pub(crate) doubtful: Vec<PathBuf>,
}

/// The locked file in such a folder.
const FILLING: &str = ".filling";

impl FolderBeside {
    /// Makes one, after removing those that processes of this machine left when they were killed.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let doubtful = remove_left_over(path);
        let (lock, beside) = make_beside(path, |beside| {
            fs::create_dir(beside)?;
            let mut lock = options().create_new(true).open(beside.join(FILLING))?;
            // A disk without locks: then the folder is never removed by others.
            if lock.try_lock().is_ok() {
                lock.write_all(signature().as_bytes())?;
            }
            Ok(lock)
        })?;
        Ok(Self { path: beside, lock: Some(lock), doubtful })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.path.join(FILLING))?;
        // Windows renames no folder with an open file in it.
        let lock = self.lock.take();
        drop(lock);
        fs::rename(&self.path, path).inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        })
    }
}

impl Drop for FolderBeside {
    fn drop(&mut self) {
        if self.lock.take().is_some() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes folders beside `path` whose process is certainly gone, and returns those that are not certain.
fn remove_left_over(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_beside = |found: &str| {
        let middle = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(TEMPORARY));
        middle.is_some_and(|hex| hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let mut doubtful = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_str().is_some_and(is_beside) {
            continue;
        }
        match is_gone(&entry.path()) {
            Some(false) => {}
            Some(true) if fs::remove_dir_all(entry.path()).is_ok() => {}
            _ => doubtful.push(entry.path()),
        }
    }
    doubtful.sort();
    doubtful
}

/// Whether the process that filled a folder is gone; nothing if that is not certain.
fn is_gone(folder: &Path) -> Option<bool> {
    let path = folder.join(FILLING);
    check_own(&path).ok()?;
    let mut file = options().open(&path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Some(false),
        Err(TryLockError::Error(_)) => return None,
        Ok(()) => {}
    }
    let mut text = Vec::new();
    (&mut file).take(200).read_to_end(&mut text).ok()?;
    // Another machine's lock may not reach this one, and one that is not signed was created a moment ago.
    (String::from_utf8_lossy(&text).ends_with(&format!(" on {}", machine()))).then_some(true)
}

pub(crate) fn signature() -> String {
    format!("process {} on {}", std::process::id(), machine())
}

/// The name of this machine; in a container, the container's.
pub(crate) fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    let name = name.unwrap_or_default().trim().to_owned();
    if name.is_empty() { "this machine".to_owned() } else { name }
}

fn make_beside<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    loop {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}{TEMPORARY}", RandomState::new().hash_one(std::process::id())));
        let beside = path.with_file_name(name);
        match make(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return Ok((result?, beside)),
        }
    }
}

/// How the names of files end that were to be renamed.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Creates a folder inside one of this program's own, unless it is there. A link to a folder is refused.
pub(crate) fn create_own_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(found) if found.is_symlink() => Err(io::Error::other(NotOwn("a symbolic link"))),
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => match fs::create_dir(path) {
            // Another process was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => create_own_folder(path),
            created => created,
        },
    }
}

/// Refuses a path at which something else than a regular file is.
pub(crate) fn check_own(path: &Path) -> io::Result<()> {
    let what = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => "a symbolic link",
        Ok(found) if !found.is_file() => "no regular file",
        _ => return Ok(()),
    };
    Err(io::Error::other(NotOwn(what)))
}

/// A link that appears after it was looked for is not followed either.
fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options
}

#[cfg(test)]
mod tests {
    use super::{FILLING, FolderBeside, machine};
    use std::fs;
    use std::path::Path;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("run");
        let left = |name: &str, signed: Option<&str>| {
            fs::create_dir(dir.path().join(name)).expect("made");
            fs::write(dir.path().join(name).join("trajectories.jsonl"), "").expect("written");
            if let Some(signed) = signed {
                fs::write(dir.path().join(name).join(FILLING), signed).expect("written");
            }
        };
        let here = format!("process 1 on {}", machine());
        left("run.0123456789abcdef.tmp", Some(&here));
        left("run.1123456789abcdef.tmp", Some("process 1 on elsewhere"));
        left("run.2123456789abcdef.tmp", None);
        left("other.3123456789abcdef.tmp", Some(&here));
        left("run.mine.tmp", Some(&here));
        let held = FolderBeside::create(&path).expect("made");
        let doubtful = ["run.1123456789abcdef.tmp", "run.2123456789abcdef.tmp"].map(|name| dir.path().join(name));
        assert_eq!(held.doubtful, doubtful);
        let second = FolderBeside::create(&path).expect("made");
        assert!(held.path().is_dir(), "it is being filled");
        drop(second);
        fs::write(held.path().join("manifest.json"), "").expect("written");
        held.rename(&path).expect("nothing is there");
        assert_eq!(names(&path), ["manifest.json"]);
        let kept = ["other.3123456789abcdef.tmp", "run", "run.1123456789abcdef.tmp", "run.2123456789abcdef.tmp"];
        assert_eq!(names(dir.path()), [&kept[..], &["run.mine.tmp"]].concat());
    }
}
