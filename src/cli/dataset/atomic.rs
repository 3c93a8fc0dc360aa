//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes `path` through a neighbour that takes its name when everything is on disk. Where something fails, the neighbour
/// is taken away and an older file of that name stays.
pub(super) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let neighbour = neighbour(path)?;
    let result = fill_file(&neighbour, fill).and_then(|()| fs::rename(&neighbour, path));
    if result.is_err() {
        // The first failure is the one to tell.
        let _ = fs::remove_file(&neighbour);
    }
    result
}

fn fill_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    fill(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()
}

fn neighbour(path: &Path) -> io::Result<PathBuf> {
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
    let name = path.file_name().ok_or_else(no_name)?.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{}.tmp", std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::write;
    use std::io;

    #[test]
    fn a_failed_write_leaves_the_older_file_and_no_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("out.jsonl");
        write(&path, |out| out.write_all(b"one")).expect("written");
        let failed = write(&path, |out| {
            out.write_all(b"two")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        assert_eq!(std::fs::read(&path).expect("there"), b"one");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
        assert!(write(std::path::Path::new("/"), |_| Ok(())).is_err());
    }
}
