//! Where a key comes from: a file, a variable that was named, or the usual variable.

use super::{ModelArgs, ModelArgsError};
use secrecy::SecretString;
use std::path::Path;

/// Largest key file, in bytes; a key is a line.
const MAX_KEY_FILE: u64 = 16 << 10;

impl ModelArgs {
    /// The key, from the file or the variable that was named, else from the variable `usual` where it is set.
    pub(super) fn key(&self, usual: &str) -> anyhow::Result<Option<SecretString>> {
        if let Some(file) = &self.key_file {
            return key_from(file).map(Some).map_err(|error| error.failure());
        }
        let name = self.key_env.as_deref().unwrap_or(usual);
        let value = std::env::var(name).unwrap_or_default();
        match (value.trim(), &self.key_env) {
            ("", Some(name)) => Err(ModelArgsError::NoEnv(name.clone()).failure()),
            ("", None) => Ok(None),
            (key, _) => Ok(Some(SecretString::from(key))),
        }
    }
}

/// A key is one word; anything else cannot be sent, and every request would fail.
fn is_key(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_graphic())
}

/// The key in a file.
pub(in crate::cli) fn key_from(file: &Path) -> Result<SecretString, ModelArgsError> {
    let shown = file.display().to_string();
    let unreadable = |error| ModelArgsError::KeyFile(shown.clone(), error);
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    let text = if length > MAX_KEY_FILE { String::new() } else { std::fs::read_to_string(file).map_err(unreadable)? };
    match text.trim() {
        key if key.is_empty() || !is_key(key) => Err(ModelArgsError::NoKey(shown)),
        key => Ok(SecretString::from(key)),
    }
}
