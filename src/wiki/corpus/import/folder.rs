//! A corpus that was built, as it is.

use super::{ImportError, Imported, Place, Records};
use crate::wiki::corpus::CorpusError;
use crate::wiki::corpus::about::About;
use crate::wiki::corpus::folder::Folder;
use crate::wiki::corpus::manifest::Manifest;
use crate::wiki::corpus::record::Record;
use std::path::Path;

pub(super) fn open_corpus_folder(path: &Path) -> Result<Records, ImportError> {
    let manifest = Manifest::read(path).map_err(|error| unusable_corpus(&error))?;
    let folder = Folder::open(path, &manifest).map_err(|error| unusable_corpus(&error))?;
    let (count, mut last) = (manifest.articles, None);
    let about = About::of_folder(path, manifest).map_err(|error| unusable_corpus(&error))?;
    let about = Imported { record: Record::About(Box::new(about)), place: Place::default() };
    let articles = (0..count).map(move |number| {
        let article = folder.article_in(number, &mut last).map_err(|error| unusable_corpus(&error))?;
        // Its number counts from 0, lines from 1.
        Ok(Imported { record: Record::Article(article), place: Place { member: None, line: u64::from(number) + 1 } })
    });
    Ok(Box::new(std::iter::once(Ok(about)).chain(articles)))
}

fn unusable_corpus(error: &CorpusError) -> ImportError {
    ImportError::Broken { reason: error.to_string() }
}
