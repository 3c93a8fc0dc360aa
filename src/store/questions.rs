//! The questions of a run, read one at a time: a large run has more of them than need be held at once.

use super::index::{is_of_another, json};
use super::{RunFolder, StoreError};
use crate::types::Question;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};

/// What a line begins with.
const BEGINNING: &str = "{\"id\":\"";

impl RunFolder {
    /// The questions that the run asks; none for a run from before they were kept. With `id`, lines of other questions are
    /// not parsed.
    pub(crate) fn questions<'a>(
        &self,
        id: Option<&'a str>,
    ) -> Result<Option<impl Iterator<Item = Result<Question, StoreError>> + use<'a>>, StoreError> {
        let path = self.questions_path();
        if !path.is_file() {
            return Ok(None);
        }
        let mut file = BufReader::new(File::open(&path).map_err(StoreError::io("read", &path))?);
        let (mut bytes, mut number) = (Vec::new(), 0);
        Ok(Some(std::iter::from_fn(move || {
            loop {
                match next_line(&mut file, &mut bytes) {
                    Ok(false) => return None,
                    Ok(true) => number += 1,
                    Err(error) => return Some(Err(StoreError::io("read", &path)(error))),
                }
                if id.is_none_or(|id| !is_of_another(&bytes, BEGINNING, id)) {
                    let bad = |error: serde_json::Error| StoreError::BadQuestion {
                        path: path.clone(),
                        line: number,
                        message: error.to_string(),
                    };
                    return Some(json(&bytes).map_err(bad));
                }
            }
        })))
    }
}

/// Reads a line without its end, if there is one.
fn next_line(file: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let length = file.read_until(b'\n', line)?;
    for end in [b'\n', b'\r'] {
        line.pop_if(|last| *last == end);
    }
    Ok(length > 0)
}
