//! A request in canonical form, and its key.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Model,
    Wiki,
}

impl Kind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Wiki => "wiki",
        }
    }
}

pub(super) type Digest = [u8; 32];

/// A request as recordings store it: its JSON text and the digest of that.
#[derive(Debug, Clone)]
pub struct CanonicalRequest {
    pub(super) kind: Kind,
    pub(super) request: Box<RawValue>,
    pub(super) digest: Digest,
}

impl CanonicalRequest {
    /// Equal requests must serialise to the same text. The fields that differ most should come first: the nearest
    /// recorded request is the one with the longest common prefix.
    pub fn new<R: Serialize>(kind: Kind, request: &R) -> Self {
        // Plain data with string keys always serialises.
        let request = to_raw_value(request).unwrap_or_default();
        let digest = digest(kind, request.get());
        Self { kind, request, digest }
    }
}

/// The key of a request.
pub(super) fn digest(kind: Kind, request: &str) -> Digest {
    sha256([kind.name().as_bytes(), b"\n", request.as_bytes()])
}

/// SHA-256 of the concatenated `parts`.
pub(super) fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// A digest as lower-case hexadecimal text.
pub(super) fn hex(digest: &Digest) -> String {
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
