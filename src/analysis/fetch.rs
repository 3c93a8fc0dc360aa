//! Files from public sources, resumable and checked: `NAME.part` while one is fetched, with the server's version of it in
//! `NAME.part.version`.

use crate::analysis::Notify;
use crate::analysis::report::progress::{Bar, download_bar};
use crate::base::sha256_of_files;
use crate::base::text::shell_word;
use crate::dataset::PublicSource;
use crate::net::download::{DownloadError, Sink};
use crate::net::recording::open_own;
use crate::net::{Client, ClientSettings, NetError, redact};
use crate::runner::RunError;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a file, in bytes.
const LARGEST: u64 = 64 << 30;
/// A longer version was not written by us.
const VERSION_BYTES: u64 = 1000;

pub(crate) struct Fetched {
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    pub(crate) resumed_from: u64,
}

/// The address of a file, that of a mirror where one is named.
pub(crate) fn address(source: &PublicSource, base: Option<&str>) -> String {
    base.map_or_else(
        || source.url.to_owned(),
        |base| format!("{}/{}", base.trim_end_matches('/'), source.remote_file()),
    )
}

/// An existing file, accepted if its digest matches or is unknown.
pub(crate) fn existing(source: &PublicSource, target: &Path, tell: Notify<'_>) -> Result<Option<Fetched>, RunError> {
    let Ok(meta) = target.metadata() else { return Ok(None) };
    let sha256 = sha256_of_files(&[target]).map_err(|error| cannot("read", target, &error))?;
    if let Some(wrong) = source.difference(target, &sha256).map_err(|error| cannot("read", target, &error))? {
        let message = format!("`{}` already exists with other contents: {wrong}", target.display());
        return Err(RunError::input(message, "remove it, or name another folder with --out"));
    }
    let how = if source.is_checked() { "its checksum matches" } else { "no checksum is known" };
    tell(format!("{} already exists; {how}", target.display()));
    Ok(Some(Fetched { sha256, bytes: meta.len(), resumed_from: meta.len() }))
}

pub(crate) async fn fetch(
    source: &PublicSource,
    url: &str,
    target: &Path,
    quiet: bool,
    tell: &(dyn Fn(String) + Sync),
) -> Result<Fetched, RunError> {
    let client = Client::new(ClientSettings::default()).map_err(|e| explain(&e.into()))?;
    let mut part = PartFile::open(target, quiet).map_err(|error| cannot("write", target, &error))?;
    let resumed_from = part.position();
    if resumed_from > 0 {
        tell(format!("{} MB already fetched", megabytes(resumed_from)));
    }
    if let Err(error) = client.download(url, LARGEST, &mut part).await {
        let kept = part.position();
        part.leave();
        if kept > 0 {
            tell(format!("{} MB kept; run the same command to continue", megabytes(kept)));
        }
        return Err(explain(&error));
    }
    part.finish().map_err(|error| cannot("write", target, &error))?;
    let failed = |error: io::Error| cannot("write", target, &error);
    let bytes = part.position();
    let sha256 = sha256_of_files(&[&part.path]).map_err(failed)?;
    if let Some(problem) = problem(source, &part.path, &sha256, bytes).map_err(failed)? {
        part.discard().map_err(failed)?;
        let message = format!("`{}`: {problem}", redact::url(url));
        return Err(RunError::input(message, "nothing was kept; try again, or open the address in a browser"));
    }
    part.keep(target).map_err(failed)?;
    Ok(Fetched { sha256, bytes, resumed_from })
}

fn problem(source: &PublicSource, path: &Path, sha256: &str, bytes: u64) -> io::Result<Option<String>> {
    if bytes == 0 {
        return Ok(Some("the response is empty".to_owned()));
    }
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(512).read_to_end(&mut start)?;
    if start.trim_ascii_start().starts_with(b"<") {
        return Ok(Some("the response is an HTML page, not a dataset".to_owned()));
    }
    let difference = source.difference(path, sha256)?;
    Ok(difference.map(|wrong| format!("the file is damaged or has changed: {wrong}")))
}

/// A page is bad input; other errors come from the network or the disk.
fn explain(error: &DownloadError) -> RunError {
    let hint = error.hint().unwrap_or("try again; the part fetched so far is kept");
    match error {
        DownloadError::Page { .. } => RunError::input(error, hint),
        DownloadError::Net(NetError::BadUrl { .. }) => RunError::usage(error, hint),
        _ => RunError::unexpected(error, hint),
    }
}

pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> RunError {
    RunError::unexpected(
        format!("cannot {what} `{}`: {error}", path.display()),
        "check that the folder exists, is writable and has space",
    )
}

/// The commands that make a corpus of a fetched file.
pub(crate) fn next(source: &PublicSource, target: &Path) -> Vec<String> {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, dir) = (word(target), word(dir));
    let command = |command: &&str| {
        // What is put in is not looked at again.
        let pieces: Vec<String> = command.split("DIR").map(|piece| piece.replace("FILE", &file)).collect();
        let command = pieces.join(&dir);
        if command.starts_with("corpus ") { format!("wikitrail {command}") } else { command }
    };
    source.corpus.iter().map(command).collect()
}

struct PartFile {
    path: PathBuf,
    version_path: PathBuf,
    file: File,
    position: u64,
    version: Option<String>,
    bar: Bar,
}

impl PartFile {
    /// Opens what an earlier attempt left beside `target`, or starts anew.
    fn open(target: &Path, quiet: bool) -> io::Result<Self> {
        let (path, version_path) = (target.with_added_extension("part"), target.with_added_extension("part.version"));
        let mut file = open_own(&path)?;
        let position = file.seek(SeekFrom::End(0))?;
        let known = position > 0 && version_path.metadata().is_ok_and(|meta| meta.len() <= VERSION_BYTES);
        let version = if known { fs::read_to_string(&version_path).ok() } else { None };
        Ok(Self { path, version_path, file, position, version, bar: download_bar(quiet) })
    }

    /// Flushes the complete file to disk and removes the bar.
    fn finish(&self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.file.sync_all()
    }

    fn keep(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        ignore_missing(fs::remove_file(&self.version_path))
    }

    fn discard(self) -> io::Result<()> {
        ignore_missing(fs::remove_file(&self.version_path))?;
        fs::remove_file(&self.path)
    }

    /// Removes the bar, and the file if it is empty.
    fn leave(self) {
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
pub(crate) fn megabytes(bytes: u64) -> String {
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

    #[cfg(feature = "index")]
    #[test]
    fn the_commands_that_follow_name_formats_that_there_are() {
        for source in crate::dataset::PUBLIC_SOURCES.iter().filter(|source| !source.corpus.is_empty()) {
            let commands = super::next(source, std::path::Path::new(source.file));
            let build = commands.last().and_then(|command| command.strip_prefix("wikitrail corpus build "));
            let from = build.and_then(|build| build.split(' ').skip_while(|word| *word != "--from").nth(1));
            let (format, path) = from.and_then(|from| from.split_once(':')).expect("a format");
            assert!(crate::wikipedia::corpus::Format::named(format).is_some(), "{}: {format}", source.name);
            let unpacked = commands.len() == 2 && path.starts_with("./");
            assert!(path == source.file || unpacked, "{}: {path}", source.name);
        }
    }
}
