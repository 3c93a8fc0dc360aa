//! JSON lines: our own records, or title and text. A folder is read where it has `articles.jsonl`.

use super::{ImportError, Imported, Place, Records, text_of};
use crate::types::bounded::{read_line, too_long};
use crate::wiki::corpus::lines_of;
use crate::wiki::corpus::record;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let file = lines_of(path).unwrap_or_else(|| path.to_owned());
    let source = File::open(file).and_then(text_of).map_err(|error| broken(&error))?;
    Ok(Box::new(Lines { source, line: Vec::new(), number: 0, ended: false }))
}

fn broken(error: &io::Error) -> ImportError {
    ImportError::Broken { reason: error.to_string() }
}

struct Lines {
    source: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    ended: bool,
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
            let line = self.line.strip_prefix("\u{feff}".as_bytes()).filter(|_| first).unwrap_or(&self.line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = Place { member: None, line: self.number };
            let parsed = match too_long(&self.line, length) {
                Some(reason) => Err(format!("it is {reason}")),
                None => record::parse(line),
            };
            return Some(match parsed {
                Ok(record) => Ok(Imported { record, place }),
                Err(reason) => Err(ImportError::Record { place, reason }),
            });
        }
        None
    }
}
