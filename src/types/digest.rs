//! SHA-256 as lower-case hexadecimal text, the form of every digest that a run stores.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// SHA-256 of `parts` laid end to end, as 64 lower-case hexadecimal digits.
///
/// Taking parts spares a copy of a long prompt whose prefix is shared between requests.
pub fn sha256_hex<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::sha256_hex;

    #[test]
    fn digest_is_the_published_one_and_does_not_depend_on_the_split() {
        let whole = sha256_hex([b"abc".as_slice()]);
        assert_eq!(whole, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(whole, sha256_hex([b"a".as_slice(), b"", b"bc"]));
    }
}
