//! SHA-256 as lower-case hexadecimal text, the form of every digest that a run stores.

use sha2::{Digest as _, Sha256};
use std::io;

/// SHA-256 of `parts` laid end to end, as 64 lower-case hexadecimal digits.
///
/// Taking parts spares a copy of what is long.
pub fn sha256_hex<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    parts.into_iter().fold(Digester::default(), Digester::and).hex()
}

/// A digest under way; a copy of one goes on from where it is.
#[derive(Clone, Default)]
pub(crate) struct Digester(Sha256);

impl Digester {
    /// With `part` behind what was digested so far.
    pub(super) fn and(mut self, part: &[u8]) -> Self {
        self.0.update(part);
        self
    }

    /// The digest as 64 lower-case hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        // Every prompt, page and episode has one, so the formatter is spared.
        let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
        self.0.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
    }
}

impl io::Write for Digester {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.0.update(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
