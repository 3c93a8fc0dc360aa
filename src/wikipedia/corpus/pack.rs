//! A corpus as one file that people read, compare and publish: a line that says what it is, then its canonical lines.

use super::CorpusError;
use super::folder::Folder;
use super::frozen::{self, NoPage, SearchAnswer};
use super::manifest::{self, Build, Manifest};
use super::record::Identity;
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::json_error;
use crate::base::text::printable;
use crate::wikipedia::api_source::LeftOut;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How hard a pack is packed: it is made once and copied often.
const ZSTD_LEVEL: i32 = 15;
/// Articles between two signs of progress.
const STEP: u32 = 1 << 10;

/// How lines are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Zstd,
    Gzip,
    /// Not at all.
    Plain,
}

impl Packing {
    /// By the name of a file.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("zst") => Self::Zstd,
            Some("gz") => Self::Gzip,
            _ => Self::Plain,
        }
    }
}

/// Why a pack was not written.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes the corpus in `dir`. `progress` hears how many of its articles were written.
pub fn pack(dir: &Path, packing: Packing, out: impl Write, progress: &mut dyn FnMut(u32)) -> Result<(), PackError> {
    let manifest = Manifest::read(dir)?;
    let folder = Folder::open(dir, &manifest)?;
    let about = About::of_folder(dir, manifest)?;
    let out = BufWriter::with_capacity(1 << 18, out);
    match packing {
        Packing::Plain => lines(&folder, &about, out, progress)?.flush()?,
        Packing::Gzip => {
            let packed = lines(&folder, &about, GzEncoder::new(out, flate2::Compression::best()), progress)?;
            packed.finish()?.flush()?;
        }
        Packing::Zstd => {
            let mut packed = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
            packed.include_checksum(true)?;
            lines(&folder, &about, packed, progress)?.finish()?.flush()?;
        }
    }
    Ok(())
}

fn lines<W: Write>(folder: &Folder, about: &About, mut out: W, progress: &mut dyn FnMut(u32)) -> Result<W, PackError> {
    about.write_line(&mut out)?;
    let manifest = &about.manifest;
    let (mut identity, mut last) = (Identity::default(), None);
    for number in 0..manifest.articles {
        let article = folder.article_in(number, &mut last)?;
        identity.add(&article)?;
        article.write_line(&mut out)?;
        if number % STEP == 0 {
            progress(number);
        }
    }
    let found = identity.finish();
    if found != manifest.id {
        let reason = format!("its articles have the identity {found}, and corpus.toml says {}", manifest.id);
        return Err(CorpusError::Damaged { file: super::pages::BLOCKS.to_owned(), reason }.into());
    }
    Ok(out)
}

// What a corpus says of itself, beside its articles: in its folder, and in the first line of a pack.

/// Keys of the manifest that are true of one folder only.
const OF_THE_FOLDER: [&str; 2] = ["build", "files"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) manifest: Manifest,
    /// Searches that were frozen with it.
    pub(super) searches: BTreeMap<String, SearchAnswer>,
    /// Titles without a page in what was frozen.
    pub(super) left_out: BTreeSet<(LeftOut, String)>,
}

/// The first line of a pack.
#[derive(Serialize, Deserialize)]
struct Head<T> {
    corpus: T,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    searches: Vec<frozen::SearchLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NoPage>,
}

impl About {
    /// From a folder that was built.
    pub(super) fn of_folder(dir: &Path, manifest: Manifest) -> Result<Self, CorpusError> {
        let searches = frozen::read_searches(dir, &manifest)?.into_iter().collect();
        let left_out = frozen::read_left_out(dir, &manifest)?;
        Ok(Self { manifest, searches, left_out })
    }

    /// Writes the first line of a pack.
    pub(super) fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let mut corpus = serde_json::to_value(&self.manifest)?;
        if let Some(corpus) = corpus.as_object_mut() {
            corpus.retain(|key, _| !OF_THE_FOLDER.contains(&key.as_str()));
        }
        let searches = self.searches.iter().map(|(query, answer)| (query.clone(), answer.clone()).into());
        let left_out = self.left_out.iter().cloned().map(NoPage::from);
        let head = Head { corpus, searches: searches.collect(), left_out: left_out.collect() };
        let line = serde_json::to_vec(&head)?;
        if line.len() as u64 >= MAX_LINE_BYTES {
            let what = format!("its frozen searches take more than {} MiB", MAX_LINE_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        out.write_all(&line)?;
        out.write_all(b"\n")
    }

    /// Whether a line is meant to be the first one of a pack.
    pub(super) fn is_meant(line: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Meant {
            #[serde(rename = "corpus")]
            _corpus: serde::de::IgnoredAny,
        }
        serde_json::from_slice::<Meant>(line).is_ok()
    }

    /// Reads a line that is meant to be the first one of a pack; what is wrong with it is said in words.
    pub(super) fn parse(line: &[u8]) -> Option<Result<Self, String>> {
        Self::is_meant(line).then(|| Self::read(line))
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let wrong = |reason: &dyn Display| format!("`corpus`: {reason}");
        let head: Head<Map<String, Value>> =
            serde_json::from_slice(line).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let mut corpus = head.corpus;
        match corpus.get("format").and_then(Value::as_u64) {
            Some(found) if found > u64::from(manifest::FORMAT) => {
                let newest = manifest::FORMAT;
                return Err(wrong(&format_args!(
                    "it has format {found}, and this version reads formats up to {newest}"
                )));
            }
            _ => {}
        }
        let folder = [json!(Build::current()), json!({})];
        corpus.extend(OF_THE_FOLDER.map(str::to_owned).into_iter().zip(folder));
        let manifest: Manifest =
            serde_json::from_value(corpus.into()).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let text = toml::to_string(&manifest).map_err(|error| wrong(&error))?;
        // What cannot be read again would be known only when the corpus is built.
        text.parse::<toml::Table>().map_err(|error| wrong(&error.message()))?;
        if text.len() as u64 > manifest::LARGEST / 2 {
            return Err(wrong(&"it is larger than 512 KiB"));
        }
        let searches = head.searches.into_iter().map(<(String, SearchAnswer)>::from).collect();
        let left_out = head.left_out.into_iter().map(<(LeftOut, String)>::from).collect();
        Ok(Self { manifest, searches, left_out })
    }
}

// Whom to name for the texts of a corpus: the notice that their license asks for.

/// Writes the license, whom to name, what was changed, and each page with its revision, its date and where it can be read.
pub fn notice(dir: &Path, manifest: &Manifest, out: &mut impl Write) -> Result<io::Result<()>, CorpusError> {
    let folder = Folder::open(dir, manifest)?;
    if let Err(error) = write_head(manifest, out) {
        return Ok(Err(error));
    }
    let permalink = manifest.freeze.as_ref().map(|freeze| &freeze.permalink).filter(|permalink| !permalink.is_empty());
    let mut last = None;
    for number in 0..manifest.articles {
        let article = folder.article_in(number, &mut last)?;
        let revid = article.revid.map(|revid| revid.to_string());
        let place = permalink.zip(revid.as_ref()).map(|(permalink, revid)| format!("{permalink}{revid}"));
        let place = place.or_else(|| revid.map(|revid| format!("revision {revid}")));
        let columns = [Some(article.title), article.timestamp, place];
        let columns: Vec<String> = columns.into_iter().flatten().map(|text| one_line(&text)).collect();
        if let Err(error) = writeln!(out, "{}", columns.join("\t")) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// The longest text of a line, in characters.
const MAX_TEXT: usize = 1_000;

/// A text as a part of a line: the notice goes into files and onto terminals, and its texts are somebody's.
fn one_line(text: &str) -> String {
    printable(text, MAX_TEXT)
}

fn write_head(manifest: &Manifest, out: &mut impl Write) -> io::Result<()> {
    let license = &manifest.license;
    let place = manifest.freeze.as_ref().map(|freeze| format!(" of {}", one_line(&freeze.site))).unwrap_or_default();
    writeln!(out, "{}: {}{place}, {}", one_line(&manifest.name), manifest.contents(), one_line(&manifest.id))?;
    if let Some(attribution) = &license.attribution {
        writeln!(out, "Authors: {}", one_line(attribution))?;
    }
    writeln!(out, "License: {}", one_line(&license.id))?;
    if let Some(changes) = &license.changes {
        writeln!(out, "Changes: {}", one_line(changes))?;
    }
    writeln!(out)
}
