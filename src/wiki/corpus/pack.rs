//! A corpus as one file that people read, compare and publish: a line that says what it is, then its canonical lines.

use super::CorpusError;
use super::about::About;
use super::folder::Folder;
use super::manifest::Manifest;
use super::record::Identity;
use flate2::write::GzEncoder;
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
