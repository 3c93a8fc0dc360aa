//! What people note about a run: tags and a text, in a file of its own that no run writes.

use super::folder::{pretty, read_versioned, replace};
use super::{RunFolder, StoreError};
use crate::types::Notes;
use crate::types::notes::NOTES_VERSION;

/// Name of the file.
pub(super) const NOTES: &str = "notes.json";

impl RunFolder {
    /// The notes of the run; empty ones if nobody noted anything.
    pub(crate) fn notes(&self) -> Result<Notes, StoreError> {
        let path = self.path().join(NOTES);
        if path.is_file() { read_versioned(&path, NOTES_VERSION) } else { Ok(Notes::default()) }
    }

    /// Writes the notes, atomically replacing older ones.
    pub(crate) fn write_notes(&self, notes: &Notes) -> Result<(), StoreError> {
        let path = self.path().join(NOTES);
        replace(&path, pretty(notes, &path)?.as_bytes())
    }
}
