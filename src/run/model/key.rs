//! Where a key comes from: a file, a variable that was named, or the usual variable.

use super::{ModelSettings, ModelSettingsError};
use crate::run::RunError;
use secrecy::SecretString;
use std::path::Path;

/// Largest key file, in bytes; a key is a line.
const MAX_KEY_FILE: u64 = 16 << 10;

impl ModelSettings<'_> {
    /// The key, from the file or the variable that was named, else from the variable `usual` where it is set.
    pub(super) fn key(self, usual: &str) -> Result<Option<SecretString>, RunError> {
        if let Some(file) = &self.0.key_file {
            return key_from(Path::new(file)).map(Some).map_err(|error| error.failure());
        }
        let name = self.0.key_env.as_deref().unwrap_or(usual);
        let value = std::env::var(name).unwrap_or_default();
        match (value.trim(), &self.0.key_env) {
            ("", Some(name)) => Err(ModelSettingsError::NoEnv(name.clone()).failure()),
            ("", None) => Ok(None),
            (key, _) => Ok(Some(SecretString::from(key))),
        }
    }
}

pub(super) fn key_from(file: &Path) -> Result<SecretString, ModelSettingsError> {
    let shown = file.display().to_string();
    let unreadable = |error| ModelSettingsError::KeyFile(shown.clone(), error);
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    let text = if length > MAX_KEY_FILE { String::new() } else { std::fs::read_to_string(file).map_err(unreadable)? };
    match text.trim() {
        // A key is one word; anything else cannot be sent, and every request would fail.
        key if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) => Err(ModelSettingsError::NoKey(shown)),
        key => Ok(SecretString::from(key)),
    }
}
