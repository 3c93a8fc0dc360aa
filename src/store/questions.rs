//! The questions of a run, read one at a time: a large run has more of them than need be held at once.

use super::index::{is_of_another, json};
use super::{RunFolder, StoreError};
use crate::types::Question;
use crate::types::bounded::{read_line, too_long};
use crate::types::json_error;
use std::fs::File;
use std::io::BufReader;

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
                let length = match read_line(&mut file, &mut bytes) {
                    Ok(0) => return None,
                    Ok(length) => length,
                    Err(error) => return Some(Err(StoreError::io("read", &path)(error))),
                };
                number += 1;
                let bad = |message| StoreError::BadQuestion { path: path.clone(), line: number, message };
                if let Some(why) = too_long(&bytes, length) {
                    return Some(Err(bad(format!("it is {why}"))));
                }
                if id.is_none_or(|id| !is_of_another(&bytes, BEGINNING, id)) {
                    return Some(json(&bytes).map_err(|error| bad(json_error::in_line(&error))));
                }
            }
        })))
    }
}
