//! Opening the files that this program writes, none of which may lead elsewhere, and the members of folders, which may not
//! lead out of them.
//!
//! A folder may come from somebody else. A symbolic link in it would have what is written, and what is cut off a torn last
//! line, happen to a file of its maker's choice, or what is read be one.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Why a path is not written to, in words.
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

/// Opens a regular file for reading without following a link. What is none, such as a pipe or a device, is refused, and not
/// waited for.
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
        if real.starts_with(&self.0) {
            Ok(real)
        } else {
            Err(io::Error::other("it is a link that leads out of the folder"))
        }
    }

    /// Opens a member that is a regular file.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        open_regular(&self.member(path)?)
    }
}

/// Creates a file beside `path` under a name that nobody else has, to be renamed to `path`.
pub(crate) fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    make_beside(path, |beside| options().create_new(true).open(beside))
}

/// The same for a folder.
pub(crate) fn create_folder_beside(path: &Path) -> io::Result<PathBuf> {
    make_beside(path, |beside| fs::create_dir(beside)).map(|((), beside)| beside)
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
