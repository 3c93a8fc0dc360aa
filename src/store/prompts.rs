//! The rendered prompts of a run, by their digests.

use super::folder::{read_text, replace};
use super::{RunFolder, StoreError};
use crate::tape::create_own_folder;
use crate::types::text::printable;
use std::fs;

impl RunFolder {
    /// Stores a rendered prompt prefix under its digest, unless it is stored already.
    pub(crate) fn write_prompt(&self, sha256: &str, text: &str) -> Result<(), StoreError> {
        let folder = self.path().join("prompts");
        create_own_folder(&folder).map_err(StoreError::io("write to", &folder))?;
        let path = folder.join(format!("{sha256}.txt"));
        let is_stored = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_stored { Ok(()) } else { replace(&path, text.as_bytes()) }
    }

    /// The rendered prompt prefix with this digest.
    pub(crate) fn prompt(&self, sha256: &str) -> Result<String, StoreError> {
        let path = self.path().join("prompts").join(format!("{sha256}.txt"));
        // A manifest is somebody's: it names no other file.
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!("`prompt_sha256` is `{}`, which is not a SHA-256", printable(sha256, 80));
            return Err(StoreError::BadManifest { path: self.path().join("manifest.json"), message });
        }
        read_text(&path).map_err(StoreError::io("read", &path))
    }
}
