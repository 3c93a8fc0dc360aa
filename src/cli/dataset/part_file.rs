//! A file while it is fetched: `NAME.part`, with the server's version of it in `NAME.part.version`.

use crate::analysis::report::progress::{Bar, download_bar};
use crate::net::download::Sink;
use crate::net::recording::open_own;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A longer version was not written by us.
const VERSION_BYTES: u64 = 1000;

pub(super) struct PartFile {
    path: PathBuf,
    version_path: PathBuf,
    file: File,
    position: u64,
    version: Option<String>,
    bar: Bar,
}

impl PartFile {
    /// Opens what an earlier attempt left beside `target`, or starts anew.
    pub(super) fn open(target: &Path, quiet: bool) -> io::Result<Self> {
        let (path, version_path) = (target.with_added_extension("part"), target.with_added_extension("part.version"));
        let mut file = open_own(&path)?;
        let position = file.seek(SeekFrom::End(0))?;
        let known = position > 0 && version_path.metadata().is_ok_and(|meta| meta.len() <= VERSION_BYTES);
        let version = if known { fs::read_to_string(&version_path).ok() } else { None };
        Ok(Self { path, version_path, file, position, version, bar: download_bar(quiet) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the complete file to disk and removes the bar.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.file.sync_all()
    }

    pub(super) fn keep(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        ignore_missing(fs::remove_file(&self.version_path))
    }

    pub(super) fn discard(self) -> io::Result<()> {
        ignore_missing(fs::remove_file(&self.version_path))?;
        fs::remove_file(&self.path)
    }

    /// Removes the bar, and the file if it is empty.
    pub(super) fn leave(self) {
        self.bar.finish_and_clear();
        if self.position == 0 {
            // The first error is the one to report.
            let _ = self.discard();
        }
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

impl Sink for PartFile {
    fn position(&self) -> u64 {
        self.position
    }

    fn version(&self) -> Option<String> {
        self.version.clone()
    }

    fn begin(&mut self, position: u64, total: Option<u64>, version: Option<&str>) -> io::Result<()> {
        self.file.set_len(position)?;
        self.position = self.file.seek(SeekFrom::Start(position))?;
        self.version = version.map(str::to_owned);
        match version {
            Some(version) => {
                let mut file = open_own(&self.version_path)?;
                file.set_len(0)?;
                file.write_all(version.as_bytes())?;
            }
            None => ignore_missing(fs::remove_file(&self.version_path))?,
        }
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        Ok(())
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)?;
        self.position += piece.len() as u64;
        self.bar.set_position(self.position);
        Ok(())
    }
}

/// Millions of bytes with one decimal.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

#[cfg(test)]
mod tests {
    use super::PartFile;
    use crate::net::download::Sink as _;

    #[test]
    fn a_part_is_found_again_with_its_version() {
        let dir = tempfile::tempdir().expect("a folder");
        let target = dir.path().join("data.json");
        let mut part = PartFile::open(&target, true).expect("opened");
        part.begin(0, Some(10), Some("\"v1\"")).expect("begun");
        part.write(b"01234").expect("written");
        part.leave();
        let mut part = PartFile::open(&target, true).expect("opened");
        assert_eq!((part.position(), part.version().as_deref()), (5, Some("\"v1\"")));
        part.begin(5, Some(10), None).expect("begun");
        part.write(b"56789").expect("written");
        part.finish().expect("on disk");
        part.keep(&target).expect("named");
        assert_eq!(std::fs::read(&target).expect("there"), b"0123456789");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
        PartFile::open(&target, true).expect("opened").leave();
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}
