//! JSON lines: our own records, or title and text. A folder is read where it has `articles.jsonl`.
//!
//! The first line of a packed corpus says what it is. What follows are its articles as they are, and nothing else: their
//! identity is compared with the one in that line.

use super::{ImportError, Imported, Place, Records, text_of};
use crate::types::bounded::{read_line, too_long};
use crate::types::text::printable;
use crate::wiki::corpus::lines_of;
use crate::wiki::corpus::record::{self, Identity, Record};
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let file = lines_of(path).unwrap_or_else(|| path.to_owned());
    let source = File::open(file).and_then(text_of).map_err(|error| broken(&error))?;
    Ok(Box::new(Lines { source, line: Vec::new(), number: 0, ended: false, packed: None }))
}

fn broken(error: &io::Error) -> ImportError {
    ImportError::Broken { reason: error.to_string() }
}

struct Lines {
    source: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    ended: bool,
    /// Of a packed corpus, the identity that it has to have, and that of the articles until now.
    packed: Option<(String, Identity)>,
}

impl Lines {
    fn parse(&mut self, line: &[u8]) -> Result<Record, String> {
        let record = if self.packed.is_some() { record::parse_canonical(line)? } else { record::parse(line)? };
        match (&record, &mut self.packed) {
            (Record::Article(article), Some((_, identity))) => {
                identity.add(article).map_err(|error| error.to_string())?;
            }
            (Record::About(manifest), None) if self.number == 1 => {
                self.packed = Some((manifest.id.clone(), Identity::default()));
            }
            (Record::About(_), _) => return Err("only the first line may describe a corpus".to_owned()),
            _ => {}
        }
        Ok(record)
    }

    /// Whether all articles of a packed corpus came.
    fn end(&mut self) -> Option<Result<Imported, ImportError>> {
        let (said, identity) = self.packed.take()?;
        let found = identity.finish();
        let reason =
            format!("its articles have the identity {found}, and its first line says {}", printable(&said, 80));
        (found != said).then_some(Err(ImportError::Broken { reason }))
    }
}

impl Iterator for Lines {
    type Item = Result<Imported, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let length = match read_line(&mut self.source, &mut self.line) {
                Ok(length) => length,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(broken(&error)));
                }
            };
            self.ended = length == 0;
            self.number += 1;
            let first = self.number == 1;
            let text = std::mem::take(&mut self.line);
            let line = text.strip_prefix("\u{feff}".as_bytes()).filter(|_| first).unwrap_or(&text);
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = Place { member: None, line: self.number };
            let parsed = match too_long(&text, length) {
                Some(reason) => Err(format!("it is {reason}")),
                None => self.parse(line),
            };
            self.line = text;
            return Some(match parsed {
                Ok(record) => Ok(Imported { record, place }),
                Err(reason) if self.packed.is_some() || self.number == 1 && record::is_head(&self.line) => {
                    self.ended = true;
                    self.packed = None;
                    Err(ImportError::Broken { reason: format!("line {}: {reason}", self.number) })
                }
                Err(reason) => Err(ImportError::Record { place, reason }),
            });
        }
        self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportError, Record, open};
    use crate::wiki::corpus::Format;
    use crate::wiki::corpus::record::Identity;
    use crate::wiki::corpus::{BuildSettings, Packing, build, pack};
    use std::fs;
    use std::path::Path;

    /// The identity of what is read, or why it is not.
    fn read(path: &Path) -> Result<String, String> {
        let mut identity = Identity::default();
        for found in open(path).map_err(|error| format!("{error:?}"))? {
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
