//! Whether a folder is still what was built.

use super::folder::{self, Folder};
use super::manifest::Manifest;
use super::record::Identity;
use super::{CorpusError, names};
use crate::base::text::printable;
use std::path::Path;

/// Articles between two that are searched for.
const SEARCHED: u32 = 1_000;
/// Articles that are looked through for one of them.
const HITS: usize = 1_000;
/// Differences that are named; nobody reads more.
const MAX_LISTED: usize = 20;

/// Compares every file with the manifest. With `deep`, reads every article too: names lead to it, and all of them have the
/// identity of the corpus. Gives the differences, in words.
pub fn verify(dir: &Path, deep: bool) -> Result<Vec<String>, CorpusError> {
    let manifest = Manifest::read(dir)?;
    let mut differences = Vec::new();
    for (file, written) in &manifest.files {
        let path = dir.join(file);
        match folder::sized(dir, file, written).and_then(|()| {
            folder::digest(&[path])
                .map_err(|error| CorpusError::Damaged { file: file.clone(), reason: error.to_string() })
        }) {
            Err(CorpusError::Damaged { file, reason }) => differences.push(format!("{file}: {reason}")),
            Err(error) => differences.push(error.to_string()),
            Ok(sha256) if sha256 != written.sha256 => {
                differences.push(format!("{file}: it is not the file that was written (its SHA-256 is {sha256})"));
            }
            Ok(_) => {}
        }
    }
    if deep
        && differences.is_empty()
        && let Err(error) = read_all(dir, &manifest, &mut differences)
    {
        differences.push(error.to_string());
    }
    differences.truncate(MAX_LISTED);
    Ok(differences)
}

fn read_all(dir: &Path, manifest: &Manifest, differences: &mut Vec<String>) -> Result<(), CorpusError> {
    use super::Articles as _;
    let folder = Folder::open(dir, manifest)?;
    let (mut identity, mut redirects, mut last) = (Identity::default(), 0, None);
    for number in 0..manifest.articles {
        let article = folder.article_in(number, &mut last)?;
        let names = folder.names();
        let title = &article.title;
        let shown = || printable(title, 80);
        if names.title(number)? != *title || names.exact(title)? != Some(number) {
            differences.push(format!("the title `{}` does not lead to its article", shown()));
        }
        let key = names::fold_name(title);
        if !key.is_empty() && !leads_to(&folder, &key, number)? {
            differences.push(format!("the title `{}` is not found in lower case", shown()));
        }
        for redirect in &article.redirects {
            if names.redirect(redirect)? != Some(number) {
                differences.push(format!("the redirect `{}` does not lead to `{}`", printable(redirect, 80), shown()));
            }
        }
        redirects += article.redirects.len() as u64;
        if number % SEARCHED == 0 && !key.is_empty() {
            let hits = folder.similar(title, HITS)?;
            if hits.len() < HITS && hits.iter().all(|hit| hit.number != number) {
                differences.push(format!("`{}` is not found by its words", shown()));
            }
        }
        identity.add(&article).map_err(|error| CorpusError::Index { reason: error.to_string() })?;
    }
    if (redirects, folder.names().counts().1 as u64) != (manifest.redirects, manifest.redirects) {
        differences.push("there is another number of redirects than the manifest says".to_owned());
    }
    let id = identity.finish();
    if id != manifest.id {
        differences.push(format!("the articles have the identity {id}, and the manifest says {}", manifest.id));
    }
    Ok(())
}

/// Whether a folded name leads to an article, or to another one that has it as well.
fn leads_to(folder: &Folder, key: &str, number: u32) -> Result<bool, CorpusError> {
    use super::Articles as _;
    match folder.folded(key)? {
        Some(found) if found != number => {
            let other = folder.article_in(found, &mut None)?;
            Ok(other.redirects.iter().chain([&other.title]).any(|name| names::fold_name(name) == key))
        }
        found => Ok(found.is_some()),
    }
}
