//! JSON lines: our own records, or title and text, which `DSPy`'s abstracts have. A folder is read where it has `articles.jsonl`, and
//! a tar archive for the JSON lines in it.

use super::archive::{is_archive, members};
use super::lines::{self, Lines, Parsed, unpacked};
use super::{ImportError, Records, broken};
use crate::wiki::corpus::{lines_of, record};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    if is_archive(path) {
        let source = File::open(path).and_then(unpacked).map_err(|error| broken(&error))?;
        return Ok(archived(source));
    }
    let file = lines_of(path).unwrap_or_else(|| path.to_owned());
    lines::open(&file, parse)
}

fn parse(line: &[u8]) -> Parsed {
    record::parse(line).map(|record| vec![record])
}

/// An archive lends its members, so a thread of its own reads them.
fn archived(source: impl Read + Send + 'static) -> Records {
    let (send, found) = sync_channel(1 << 10);
    thread::spawn(move || {
        let wanted = |path: &Path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
        let whole = members(source, ".jsonl file", wanted, |name, member| {
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
