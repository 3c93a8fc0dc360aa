//! Where a key comes from: a file, a variable that was named, or the usual variable.

use super::{ModelSettings, ModelSettingsError};
use crate::run::RunError;
use crate::types::bounded::text_at_most;
use secrecy::SecretString;
use std::fs::File;
use std::path::Path;

/// Largest key file, in bytes; a key is a line.
const MAX_KEY_FILE: u64 = 16 << 10;

impl ModelSettings<'_> {
    /// The key, from the file or the variable that was named, else from the variable `usual` where it is set.
    pub(super) fn key(self, usual: &str) -> Result<Option<SecretString>, RunError> {
        self.check_key_env()?;
        if let Some(file) = &self.0.key_file {
            return key_from(Path::new(file)).map(Some).map_err(|error| error.failure());
        }
        let name = self.0.key_env.as_deref().unwrap_or(usual);
        let value = std::env::var(name).unwrap_or_default();
        match (value.trim(), &self.0.key_env) {
            ("", Some(name)) => Err(ModelSettingsError::NoEnv(name.clone()).failure()),
            ("", None) => Ok(None),
            (key, _) if !is_key(key) => Err(ModelSettingsError::BadEnv(name.to_owned()).failure()),
            (key, _) => Ok(Some(SecretString::from(key))),
        }
    }

    /// A key in the place of a variable's name must neither be shown nor recorded, even where none is needed.
    pub(super) fn check_key_env(self) -> Result<(), RunError> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        match self.0.key_env.as_deref() {
            // A variable of another name may exist, but a key that exists as a variable is hardly one.
            Some(name) if !is_name(name) && std::env::var_os(name).is_none() => {
                Err(ModelSettingsError::KeyForName.failure())
            }
            _ => Ok(()),
        }
    }
}

/// A key is one word; anything else cannot be sent, and every request would fail.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

pub(super) fn key_from(file: &Path) -> Result<SecretString, ModelSettingsError> {
    let shown = file.display().to_string();
    let unreadable = |error| ModelSettingsError::KeyFile(shown.clone(), error);
    let text = File::open(file).and_then(|file| text_at_most(file, MAX_KEY_FILE)).map_err(unreadable)?;
    match text.trim() {
        key if !is_key(key) => Err(ModelSettingsError::NoKey(shown)),
        key => Ok(SecretString::from(key)),
    }
}
