//! What is added to the headers of requests, and where the secrets among it come from.

use super::{KeyPolicy, ModelSettings, ModelSettingsError};
use crate::experiment::extra::{self, ExtraError, HeaderValue};
use crate::net::redact;
use crate::run::RunError;
use crate::types::text::printable;
use secrecy::SecretString;
use serde_json::{Map, Value};

/// Longest value of a header from a variable, in bytes.
const MAX_VALUE: usize = 8 << 10;

/// Headers beside those that every request has.
#[derive(Default)]
pub(super) struct ExtraHeaders {
    pub(super) plain: Vec<(String, String)>,
    /// Those from variables.
    pub(super) secret: Vec<(String, SecretString)>,
}

impl ExtraHeaders {
    /// The secret that is sent in place of the key.
    pub(super) fn key(&self, credential: Option<&(String, String)>) -> Option<&SecretString> {
        self.secret.iter().find(|(name, _)| credential.is_some_and(|(header, _)| header == name)).map(|(_, key)| key)
    }
}

impl ModelSettings<'_> {
    /// The header that is sent in place of the usual key, if one is: its name and the variable's.
    pub(super) fn credential(self) -> Option<(String, String)> {
        let (name, variable) = extra::credential(self.0.extra_header.as_ref()?)?;
        Some((name.to_owned(), variable.to_owned()))
    }

    /// The headers to add. Variables are read where a key would be, and nowhere else.
    pub(super) fn extra_headers(self, keys: KeyPolicy) -> Result<ExtraHeaders, RunError> {
        self.check_extra()?;
        let mut headers = ExtraHeaders::default();
        for (name, value) in self.0.extra_header.iter().flatten() {
            match HeaderValue::of(value) {
                HeaderValue::Plain(value) => headers.plain.push((name.clone(), value.to_owned())),
                HeaderValue::Variable(_) if keys == KeyPolicy::None => {}
                HeaderValue::Variable(variable) => {
                    let secret = self.secret(name, variable, keys).map_err(|error| error.failure())?;
                    headers.secret.push((name.clone(), secret));
                }
            }
        }
        Ok(headers)
    }

    /// The fields that are added to bodies.
    pub(in crate::run) fn extra_body(self) -> Map<String, Value> {
        match self.0.extra_body.clone().map(|body| extra::sorted(Value::Object(body))) {
            Some(Value::Object(body)) => body,
            _ => Map::new(),
        }
    }

    /// Settings that did not come from flags or a file are checked here.
    fn check_extra(self) -> Result<(), RunError> {
        let refused = |ExtraError { message, hint }| RunError::usage(message, hint);
        self.0.extra_body.as_ref().map_or(Ok(()), extra::check_body).map_err(refused)?;
        self.0.extra_header.as_ref().map_or(Ok(()), extra::check_headers).map_err(refused)?;
        let typed = [("--key-env", self.0.key_env.is_some()), ("--key-file", self.0.key_file.is_some())];
        match (self.credential(), typed.into_iter().find(|(_, typed)| *typed)) {
            (Some((header, _)), Some((flag, _))) => Err(ModelSettingsError::TwoKeys { header, flag }.failure()),
            _ => Ok(()),
        }
    }

    fn secret(self, name: &str, variable: &str, keys: KeyPolicy) -> Result<SecretString, ModelSettingsError> {
        if let (KeyPolicy::OfficialOnly, Some(url), Ok(provider)) = (keys, self.custom_base_url(), self.provider()) {
            let (url, provider) = (printable(&redact::url(url), 300), provider.kind());
            return Err(ModelSettingsError::Unconfirmed { flag: "--extra-header", url, provider });
        }
        let value = std::env::var(variable).unwrap_or_default();
        let value = value.trim();
        if value.is_empty() {
            return Err(ModelSettingsError::NoHeader { name: name.to_owned(), variable: variable.to_owned() });
        }
        if value.len() > MAX_VALUE || !value.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            return Err(ModelSettingsError::BadHeader(variable.to_owned()));
        }
        Ok(SecretString::from(value))
    }
}
