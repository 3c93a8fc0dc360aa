//! JSON, in lines or in one list: our own records, or title and text, which `DSPy`'s abstracts have. A folder is read where it has `articles.jsonl`, and
//! a tar archive for the JSON lines in it.
//!
//! The first line of a packed corpus says what it is. What follows are its articles as they are, and nothing else: their
//! identity is compared with the one in that line.

use super::lines::{self, Lines, Parsed, Parser, RECORD, archive_members, is_archive, on_thread, unpacked};
use super::{Found, ImportError, Imported, Place, Records};
use crate::base::bounded;
use crate::base::text::printable;
use crate::wikipedia::api_source::{Pin, SitePage};
use crate::wikipedia::corpus::folder::Folder;
use crate::wikipedia::corpus::lines_file;
use crate::wikipedia::corpus::manifest::{About, FetchedLine, Manifest};
use crate::wikipedia::corpus::record::{self, Article, Block, Identity, Record, from_json};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

pub(super) fn open_json_lines(path: &Path) -> Result<Records, ImportError> {
    if is_archive(path) {
        let source = File::open(path).and_then(unpacked)?;
        return Ok(archived(source));
    }
    match lines_file(path) {
        Some(file) => lines::open_member_json(path, &file, OwnLines::Begun),
        None => lines::open_json(path, RECORD, OwnLines::Begun),
    }
}

/// Lines of our own, which may be a packed corpus.
enum OwnLines {
    Begun,
    Lines,
    /// With the identity that it has to have, and that of the articles until now.
    Packed(String, Identity),
    /// A first line that is meant to describe a corpus and does not.
    Broken,
}

impl Parser for OwnLines {
    fn parse_line(&mut self, line: &[u8]) -> Parsed {
        if let Self::Packed(_, identity) = self {
            let article = from_json::<Article>(line)?;
            identity.add(&article).map_err(|error| error.to_string())?;
            return Ok(vec![Record::Article(article)]);
        }
        let first = matches!(self, Self::Begun);
        *self = Self::Lines;
        match record::parse(line) {
            Ok(Record::About(about)) if first => {
                *self = Self::Packed(about.manifest.id.clone(), Identity::default());
                Ok(vec![Record::About(about)])
            }
            Ok(Record::About(_)) => Err("only the first line may describe a corpus".to_owned()),
            Ok(record) => Ok(vec![record]),
            Err(reason) => {
                if first && About::is_meant(line) {
                    *self = Self::Broken;
                }
                Err(reason)
            }
        }
    }

    fn is_strict(&self) -> bool {
        matches!(self, Self::Packed(..) | Self::Broken)
    }

    fn end(&mut self) -> Result<(), ImportError> {
        let Self::Packed(claimed, identity) = std::mem::replace(self, Self::Lines) else { return Ok(()) };
        let (found, claimed) = (identity.finish(), printable(&claimed, 80));
        if found == claimed {
            return Ok(());
        }
        Err(ImportError::Edited { found, claimed })
    }
}

/// An archive lends its members, so a thread of its own reads them.
fn archived(source: impl Read + Send + 'static) -> Records {
    on_thread(1 << 10, move |send| {
        let wanted = |path: &Path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
        archive_members(source, ".jsonl file", wanted, |name, member| {
            let parse = |line: &[u8]| record::parse(line).map(|record| vec![record]);
            let mut records = Lines::new(BufReader::new(member), Some(name), parse);
            Ok(records.all(|record| send.send(record).is_ok()))
        })
        .map_err(ImportError::from)
    })
}

// A corpus that was built, as it is.

pub(super) fn open_corpus_folder(path: &Path) -> Result<Records, ImportError> {
    let manifest = Manifest::read(path)?;
    let folder = Folder::open(path, &manifest)?;
    let (count, mut last) = (manifest.articles, None);
    let about = About::of_folder(path, manifest)?;
    let about = Imported { record: Record::About(Box::new(about)), place: Place::default() };
    let articles = (0..count).map(move |number| {
        let article = folder.pages.article_in(number, &mut last)?;
        // Its number counts from 0, lines from 1.
        Ok(Imported { record: Record::Article(article), place: Place { member: None, line: u64::from(number) + 1 } })
    });
    Ok(Box::new(std::iter::once(Ok(about)).chain(articles)))
}

// What `corpus freeze` kept of a site. Only it writes this format, and it leaves nothing to guess.

pub(super) fn open_frozen(path: &Path) -> Result<Records, ImportError> {
    let file = File::open(path)?;
    // The first line says what was asked for.
    let lines = (1..).zip(bounded::lines(BufReader::new(file))).skip(1);
    Ok(Box::new(lines.flat_map(|(line, bytes)| frozen_records(line, bytes))))
}

fn frozen_records(line: u64, bytes: std::io::Result<Vec<u8>>) -> Vec<Found> {
    let place = Place { member: None, line };
    let kept = bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    let records = match kept {
        Err(error) => return vec![Err(ImportError::Broken { reason: format!("line {line}: {error}") })],
        Ok(FetchedLine::Revision { pin: Pin { title, names, .. }, .. }) => {
            let names = names.into_iter().filter(|name| *name != title);
            names.map(|name| Record::Redirect { title: name, to: title.clone() }).collect()
        }
        Ok(FetchedLine::Page { page, .. }) => vec![Record::Article(frozen_article(page))],
        Ok(FetchedLine::LeftOut { .. } | FetchedLine::Search { .. }) => Vec::new(),
    };
    records.into_iter().map(|record| Ok(Imported { record, place: place.clone() })).collect()
}

fn frozen_article(page: SitePage) -> Article {
    let SitePage { title, pageid, revid, timestamp, blocks, entries } = page;
    let timestamp = Some(timestamp).filter(|timestamp| !timestamp.is_empty());
    let blocks = blocks.into_iter().map(Block::Text).collect();
    Article { title, pageid, revid: Some(revid), timestamp, blocks, entries, redirects: Vec::new() }
}

// Redirects alone: a line is a name, a tab, and the title or the redirect that it leads to.
//
// Underscores are spaces, as in the tables that Wikipedia publishes.

pub(super) fn parse_redirect(line: &[u8]) -> Parsed {
    let names = str::from_utf8(line).unwrap_or_default().split_once('\t');
    let names = names.map(|(title, to)| [title, to].map(|name| name.replace('_', " ").trim().to_owned()));
    match names {
        Some([title, to]) if !title.is_empty() && !to.is_empty() && !to.contains('\t') => {
            Ok(vec![Record::Redirect { title, to }])
        }
        _ => Err("a name, a tab and its target are expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportError, Imported, Record, lines, open_json_lines, parse_redirect};
    use crate::wikipedia::corpus::record::Identity;
    use crate::wikipedia::corpus::{BuildSettings, Format, build, pack};
    use std::fs;
    use std::path::Path;

    /// The identity of what is read, or why it is not.
    fn read(path: &Path) -> Result<String, String> {
        let mut identity = Identity::default();
        for found in open_json_lines(path).map_err(|error| format!("{error:?}"))? {
            match found {
                Ok(imported) => {
                    if let Record::Article(article) = imported.record {
                        identity.add(&article).expect("memory");
                    }
                }
                Err(ImportError::Record { .. }) => {}
                Err(error) => return Err(format!("{error:?}")),
            }
        }
        Ok(identity.finish())
    }

    #[test]
    fn no_byte_of_a_pack_changes_unseen() {
        let dir = tempfile::tempdir().expect("a folder");
        let (lines, folder, file) = (dir.path().join("l.jsonl"), dir.path().join("c"), dir.path().join("c.jsonl"));
        fs::write(&lines, "{\"title\": \"é\", \"text\": [\"One.\", \"Two.\"], \"id\": 7}\n{\"title\": \"B\", \"text\": \"B may refer to:\\n\\nC, d\"}\n")
        .expect("written");
        let settings =
            BuildSettings { sources: vec![(Format::Jsonl, lines)], memory: 1 << 20, ..BuildSettings::default() };
        let built = build(&folder, &settings, &mut |_| {}).expect("a corpus");
        let mut whole = Vec::new();
        pack(&folder, Path::new("c.jsonl"), &mut whole, &mut |_| {}).expect("a pack");
        fs::write(&file, &whole).expect("written");
        assert_eq!(read(&file).as_ref(), Ok(&built.manifest.id));
        let head = whole.iter().position(|byte| *byte == b'\n').expect("lines");
        let mut refused = 0;
        for at in 0..whole.len() {
            for byte in [b'"', b'x', 0, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                fs::write(&file, &damaged).expect("written");
                let found = read(&file);
                refused += usize::from(found.is_err());
                // A head that is none any more is a bad line before lines without one.
                assert!(at <= head || found.is_err() || found.as_ref() == Ok(&built.manifest.id), "{at}: {found:?}");
            }
            fs::write(&file, &whole[..at]).expect("written");
            assert!(at <= head || at + 1 == whole.len() || read(&file).is_err(), "{at}");
        }
        assert!(refused > whole.len(), "{refused} of {}", whole.len());
    }

    #[test]
    fn lines_that_are_no_redirects_are_named_and_the_others_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r.tsv");
        let long = vec![b'x'; 17 << 20];
        let lines: [&[u8]; 9] = [
            "\u{feff}New_York_City\tNew York\r".as_bytes(),
            b"a\tb\tc",
            b"\xff\tb",
            b"\tb",
            b"a\t ",
            b"  ",
            b"one\ttwo",
            &long,
            b"last\tone",
        ];
        fs::write(&path, lines.join(&b'\n')).expect("written");
        let shown = |found| match found {
            Ok(Imported { record: Record::Redirect { title, to }, place }) => {
                format!("{}: {title} -> {to}", place.line)
            }
            Err(ImportError::Record { place, reason }) => format!("{}: {reason}", place.line),
            other => format!("{other:?}"),
        };
        let found: Vec<String> = lines::open_lines(&path, parse_redirect).expect("a file").map(shown).collect();
        let expected = "a name, a tab and its target are expected";
        assert_eq!(found[0], "1: New York City -> New York");
        assert_eq!(
            found[1..5],
            [2, 3, 4, 5].map(|line| format!("{line}: {}", if line == 3 { "it is not UTF-8 text" } else { expected }))
        );
        assert_eq!(found[5..], ["7: one -> two", "8: it is longer than 16 MiB", "9: last -> one"].map(str::to_owned));
        assert!(
            lines::open_lines(dir.path(), parse_redirect).is_err()
                || lines::open_lines(dir.path(), parse_redirect)
                    .is_ok_and(|mut found| matches!(found.next(), Some(Err(_))))
        );
    }
}
