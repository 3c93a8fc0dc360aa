//! Rewriting a trajectory file with one line an episode.

use super::{Records, StoreError, folder};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::Path;

/// How much of a line is copied at once, in bytes: one that is too long to be read may be in the file.
const MOST_AT_ONCE: u64 = 1 << 20;

/// Removes the lines of the file that later ones take the place of. Lines that cannot be read stay.
pub(super) fn compact(path: &Path, records: &Records) -> Result<(), StoreError> {
    let superseded = records.superseded(path);
    if superseded.is_empty() {
        return Ok(());
    }
    let mut old = BufReader::new(File::open(path).map_err(StoreError::io("open", path))?);
    let copy = |new: &mut dyn Write| -> io::Result<()> {
        let (mut piece, mut offset, mut is_kept) = (Vec::new(), 0, true);
        loop {
            if piece.last().is_none_or(|last| *last == b'\n') {
                is_kept = !superseded.contains(&offset);
            }
            piece.clear();
            let length = old.by_ref().take(MOST_AT_ONCE).read_until(b'\n', &mut piece)?;
            if length == 0 {
                return Ok(());
            }
            if is_kept {
                new.write_all(&piece)?;
            }
            offset += length as u64;
        }
    };
    folder::replace_with(path, copy)
}
