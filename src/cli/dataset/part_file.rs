//! A file that is being fetched: `NAME.part`, with the version that the server named in `NAME.part.version`.

use crate::net::download::Sink;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A version longer than this is none of ours.
const VERSION_BYTES: u64 = 1000;
/// How often the bar is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// The beginning of a file, and how far it has come.
pub(super) struct PartFile {
    path: PathBuf,
    version_path: PathBuf,
    file: File,
    position: u64,
    version: Option<String>,
    bar: Bar,
}

impl PartFile {
    /// Opens what an earlier attempt left beside `target`, or begins.
    pub(super) fn open(target: &Path, quiet: bool) -> io::Result<Self> {
        let beside = |end: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (path, version_path) = (beside(".part"), beside(".part.version"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
        let position = file.seek(SeekFrom::End(0))?;
        let known = position > 0 && version_path.metadata().is_ok_and(|meta| meta.len() <= VERSION_BYTES);
        let version = if known { fs::read_to_string(&version_path).ok() } else { None };
        Ok(Self { path, version_path, file, position, version, bar: Bar::new(quiet) })
    }

    /// Where the bytes are.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Everything is here: puts it on disk and takes the bar away.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.bar.clear();
        self.file.sync_all()
    }

    /// The file takes its name.
    pub(super) fn keep(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        ignore_missing(fs::remove_file(&self.version_path))
    }

    /// What came is of no use.
    pub(super) fn discard(self) -> io::Result<()> {
        ignore_missing(fs::remove_file(&self.version_path))?;
        fs::remove_file(&self.path)
    }

    /// Takes an empty beginning away, which a later attempt has no use for.
    pub(super) fn leave(mut self) {
        self.bar.clear();
        if self.position == 0 {
            // The failure that led here is the one to tell.
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
            Some(version) => fs::write(&self.version_path, version)?,
            None => ignore_missing(fs::remove_file(&self.version_path))?,
        }
        self.bar.total = total;
        Ok(())
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)?;
        self.position += piece.len() as u64;
        self.bar.draw(self.position);
        Ok(())
    }
}

/// A bar on standard error, where that is a terminal.
struct Bar {
    shown: bool,
    total: Option<u64>,
    drawn: Option<Instant>,
}

impl Bar {
    fn new(quiet: bool) -> Self {
        Self { shown: !quiet && io::stderr().is_terminal(), total: None, drawn: None }
    }

    fn draw(&mut self, position: u64) {
        if !self.shown || self.drawn.is_some_and(|at| at.elapsed() < DRAW_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        // Progress is a courtesy: a closed standard error must not end a download.
        let _ = write!(io::stderr(), "\r{}\u{1b}[K", line(position, self.total));
    }

    fn clear(&mut self) {
        if self.shown && self.drawn.take().is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// `[#####               ]  25 %  1.0 of 4.0 MB`, or the bytes alone where their number is not known.
fn line(position: u64, total: Option<u64>) -> String {
    let Some(total) = total.filter(|total| *total > 0) else { return format!("{} MB", megabytes(position)) };
    let part = |of: u64| u128::from(position.min(total)) * u128::from(of) / u128::from(total);
    let done: String = (0..20).map(|step| if step < part(20) { '#' } else { ' ' }).collect();
    format!("[{done}] {:>3} %  {} of {} MB", part(100), megabytes(position), megabytes(total))
}

/// Millions of bytes with one decimal.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

#[cfg(test)]
mod tests {
    use super::{PartFile, line};
    use crate::net::download::Sink as _;

    #[test]
    fn the_bar_says_how_far_it_is() {
        assert_eq!(line(1_000_000, Some(4_000_000)), "[#####               ]  25 %  1.0 of 4.0 MB");
        assert_eq!(line(4_000_001, Some(4_000_000)), "[####################] 100 %  4.0 of 4.0 MB");
        assert_eq!(line(1_250_000, None), "1.2 MB");
        assert_eq!(line(0, Some(0)), "0.0 MB");
        assert_eq!(line(u64::MAX, Some(u64::MAX)).len(), line(1, Some(1)).len() + 2 * 13);
    }

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
