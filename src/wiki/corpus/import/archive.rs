//! The members of an archive, one after the other.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Whether a file is a tar archive, packed or not, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
    [".tar", ".tar.gz", ".tgz", ".tar.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Hands every file that is wanted to `each`, until that returns `false`; without one, `what` is missing. What is behind the
/// last member is read too, because it says whether the archive is whole.
pub(super) fn members(
    source: impl Read,
    what: &str,
    wanted: impl Fn(&Path) -> bool,
    mut each: impl FnMut(Arc<str>, &mut dyn Read) -> io::Result<bool>,
) -> io::Result<()> {
    let mut archive = tar::Archive::new(source);
    let mut found = false;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if !entry.header().entry_type().is_file() || !wanted(&path) {
            continue;
        }
        found = true;
        if !each(Arc::from(path.to_string_lossy()), &mut entry)? {
            return Ok(());
        }
    }
    if !found {
        return Err(io::Error::other(format!("there is no {what} in it")));
    }
    io::copy(&mut archive.into_inner(), &mut io::sink()).map(|_| ())
}
