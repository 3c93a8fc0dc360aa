//! Whom to name for the texts of a corpus: the notice that their license asks for.

use super::CorpusError;
use super::folder::Folder;
use super::manifest::Manifest;
use crate::types::text::printable;
use std::io::{self, Write};
use std::path::Path;

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
