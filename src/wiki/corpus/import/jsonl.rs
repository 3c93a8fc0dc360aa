//! JSON lines: our own records, or title and text, which `DSPy`'s abstracts have. A folder is read where it has `articles.jsonl`, and
//! a tar archive for the JSON lines in it.
//!
//! The first line of a packed corpus says what it is. What follows are its articles as they are, and nothing else: their
//! identity is compared with the one in that line.

use super::archive::{archive_members, is_archive};
use super::lines::{self, Lines, Parsed, Parser, unpacked};
use super::{ImportError, Records, broken};
use crate::types::text::printable;
use crate::wiki::corpus::about::About;
use crate::wiki::corpus::lines_file;
use crate::wiki::corpus::record::{self, Identity, Record};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

pub(super) fn open_json_lines(path: &Path) -> Result<Records, ImportError> {
    if is_archive(path) {
        let source = File::open(path).and_then(unpacked).map_err(|error| broken(&error))?;
        return Ok(archived(source));
    }
    match lines_file(path) {
        Some(file) => lines::open_member_lines(path, &file, OwnLines::Begun),
        None => lines::open_lines_with(path, OwnLines::Begun),
    }
}

/// Lines of our own, which may be a packed corpus.
enum OwnLines {
    /// The first line decides.
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
            let article = record::parse_canonical(line)?;
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
        let Self::Packed(said, identity) = std::mem::replace(self, Self::Lines) else { return Ok(()) };
        let (found, said) = (identity.finish(), printable(&said, 80));
        if found == said {
            return Ok(());
        }
        Err(ImportError::Edited { found, said })
    }
}

fn parse(line: &[u8]) -> Parsed {
    record::parse(line).map(|record| vec![record])
}

/// An archive lends its members, so a thread of its own reads them.
fn archived(source: impl Read + Send + 'static) -> Records {
    let (send, found) = sync_channel(1 << 10);
    thread::spawn(move || {
        let wanted = |path: &Path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
        let whole = archive_members(source, ".jsonl file", wanted, |name, member| {
            let mut records = Lines::new(BufReader::new(member), Some(name), parse);
            // Nobody listens after an error.
            Ok(records.all(|record| send.send(record).is_ok()))
        });
        if let Err(error) = whole {
            let _ = send.send(Err(broken(&error)));
        }
    });
    Box::new(found.into_iter())
}

#[cfg(test)]
mod tests {
    use super::{Record, open_json_lines};
    use crate::wiki::corpus::Format;
    use crate::wiki::corpus::import::ImportError;
    use crate::wiki::corpus::record::Identity;
    use crate::wiki::corpus::{BuildSettings, Packing, build, pack};
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
        let settings = BuildSettings { sources: vec![(Format::Jsonl, lines)], ..BuildSettings::default() };
        let built = build(&folder, &settings, &mut |_| {}).expect("a corpus");
        let mut whole = Vec::new();
        pack(&folder, Packing::Plain, &mut whole, &mut |_| {}).expect("a pack");
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
}
