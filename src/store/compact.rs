//! Rewriting a trajectory file with one line an episode.

use super::{Records, StoreError, folder};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::path::Path;

/// Removes the lines of the file that later ones take the place of. Lines that cannot be read stay.
pub(super) fn compact(path: &Path, records: &Records) -> Result<(), StoreError> {
    let superseded = records.superseded(path);
    if superseded.is_empty() {
        return Ok(());
    }
    let mut old = BufReader::new(File::open(path).map_err(StoreError::io("open", path))?);
    let copy = |new: &mut dyn Write| -> io::Result<()> {
        let (mut line, mut offset) = (Vec::new(), 0);
        loop {
            line.clear();
            let length = old.read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                return Ok(());
            }
            if !superseded.contains(&offset) {
                new.write_all(&line)?;
            }
            offset += length;
        }
    };
    folder::replace_with(path, copy)
}
