//! A corpus as one file that people read, compare and publish: a line that says what it is, then its canonical lines.

use super::CorpusError;
use super::folder::Folder;
use super::manifest::{About, Manifest};
use super::record::Identity;
use crate::base::text::printable;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How hard a pack is packed: it is made once and copied often.
const ZSTD_LEVEL: i32 = 15;
/// Articles between two signs of progress.
const STEP: u32 = 1 << 10;

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes the corpus in `dir` to a file of this name, compressed by its ending. `progress` hears how many of its articles
/// were written.
pub fn pack(dir: &Path, name: &Path, out: impl Write, progress: &mut dyn FnMut(u32)) -> Result<(), PackError> {
    let manifest = Manifest::read(dir)?;
    let folder = Folder::open(dir, &manifest)?;
    let about = About::of_folder(dir, manifest)?;
    let out = BufWriter::with_capacity(1 << 18, out);
    match name.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            let packed = lines(&folder, &about, GzEncoder::new(out, flate2::Compression::best()), progress)?;
            packed.finish()?.flush()?;
        }
        Some("zst") => {
            let mut packed = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
            packed.include_checksum(true)?;
            lines(&folder, &about, packed, progress)?.finish()?.flush()?;
        }
        _ => lines(&folder, &about, out, progress)?.flush()?,
    }
    Ok(())
}

fn lines<W: Write>(folder: &Folder, about: &About, mut out: W, progress: &mut dyn FnMut(u32)) -> Result<W, PackError> {
    about.write_line(&mut out)?;
    let manifest = &about.manifest;
    let (mut identity, mut last) = (Identity::default(), None);
    for number in 0..manifest.articles {
        let article = folder.pages.article_in(number, &mut last)?;
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

// Whom to name for the texts of a corpus: the notice that their license asks for.

/// Writes the license, whom to name, what was changed, and each page with its revision, its date and where it can be read.
pub fn notice(dir: &Path, manifest: &Manifest, out: &mut impl Write) -> Result<(), PackError> {
    let folder = Folder::open(dir, manifest)?;
    write_head(manifest, out)?;
    let permalink = manifest.freeze.as_ref().map(|freeze| &freeze.permalink).filter(|permalink| !permalink.is_empty());
    let mut last = None;
    for number in 0..manifest.articles {
        let article = folder.pages.article_in(number, &mut last)?;
        let revid = article.revid.map(|revid| revid.to_string());
        let place = permalink.zip(revid.as_ref()).map(|(permalink, revid)| format!("{permalink}{revid}"));
        let place = place.or_else(|| revid.map(|revid| format!("revision {revid}")));
        let columns = [Some(article.title), article.timestamp, place];
        let columns: Vec<String> = columns.into_iter().flatten().map(|text| one_line(&text)).collect();
        writeln!(out, "{}", columns.join("\t"))?;
    }
    Ok(())
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
