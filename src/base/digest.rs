//! Digests as lower-case hexadecimal text: SHA-256, the form of every digest that a run stores, and MD5 where others give it.

use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io;
use std::path::Path;

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
        hex(&self.0.finalize())
    }
}

/// SHA-256 of files, one behind the other.
pub(crate) fn sha256_of_files(files: &[impl AsRef<Path>]) -> io::Result<String> {
    let mut digester = Digester::default();
    for path in files {
        io::copy(&mut io::BufReader::with_capacity(1 << 18, File::open(path)?), &mut digester)?;
    }
    Ok(digester.hex())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    // Every prompt, page and episode has one, so the formatter is spared.
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// MD5 of all that `source` gives, as 32 lower-case hexadecimal digits: to compare with what a publisher names, and for
/// nothing else.
pub(crate) fn md5_hex(mut source: impl io::Read) -> io::Result<String> {
    let (mut digest, mut bytes) = (Md5::new(), vec![0; 1 << 18]);
    loop {
        match source.read(&mut bytes) {
            Ok(0) => return Ok(hex(&digest.finalize())),
            Ok(read) => digest.update(&bytes[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
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
    use super::{md5_hex, sha256_hex};

    #[test]
    fn digest_is_the_published_one_and_does_not_depend_on_the_split() {
        let whole = sha256_hex([b"abc".as_slice()]);
        assert_eq!(whole, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(whole, sha256_hex([b"a".as_slice(), b"", b"bc"]));
        assert_eq!(md5_hex(&b"abc"[..]).expect("memory"), "900150983cd24fb0d6963f7d28e17f72");
    }
}
