//! What `corpus freeze` kept of a site. Only it writes this format, and it leaves nothing to guess.

use super::{ImportError, Imported, Place, Records};
use crate::types::bounded;
use crate::wiki::corpus::frozen::FetchedLine;
use crate::wiki::corpus::record::{Article, Block, Record};
use crate::wiki::site_page::SitePage;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

pub(super) fn open_frozen(path: &Path) -> Result<Records, ImportError> {
    let file = File::open(path).map_err(|error| ImportError::Broken { reason: error.to_string() })?;
    // The first line says what was asked for.
    let lines = (1..).zip(bounded::lines(BufReader::new(file))).skip(1);
    Ok(Box::new(lines.flat_map(|(line, bytes)| frozen_records(line, bytes))))
}

fn frozen_records(line: u64, bytes: std::io::Result<Vec<u8>>) -> Vec<Result<Imported, ImportError>> {
    let place = Place { member: None, line };
    let kept = bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    match kept {
        Err(error) => vec![Err(ImportError::Broken { reason: format!("line {line}: {error}") })],
        Ok(FetchedLine::Page { title, names, page, .. }) => {
            let redirects = names.into_iter().filter(|name| *name != title);
            let redirects = redirects.map(|name| Record::Redirect { title: name, to: title.clone() });
            let article = page.map(|page| Record::Article(frozen_article(page)));
            let records: Vec<Record> = redirects.chain(article).collect();
            records.into_iter().map(|record| Ok(Imported { record, place: place.clone() })).collect()
        }
        Ok(FetchedLine::LeftOut { .. } | FetchedLine::Search { .. }) => Vec::new(),
    }
}

fn frozen_article(page: SitePage) -> Article {
    let SitePage { title, pageid, revid, timestamp, blocks, entries } = page;
    let timestamp = Some(timestamp).filter(|timestamp| !timestamp.is_empty());
    let blocks = blocks.into_iter().map(Block::Text).collect();
    Article { title, pageid, revid: Some(revid), timestamp, blocks, entries, redirects: Vec::new() }
}
