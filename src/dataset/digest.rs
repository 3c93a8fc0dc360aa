//! The digest of a file that may be too large for the memory.

use crate::base::digest::{Digester, md5_hex};
use std::fs::File;
use std::io;
use std::path::Path;

/// SHA-256 of a file's bytes, as 64 lower-case hexadecimal digits.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut digester = Digester::default();
    io::copy(&mut File::open(path)?, &mut digester)?;
    Ok(digester.hex())
}

/// MD5 of a file's bytes, as 32 lower-case hexadecimal digits.
pub(super) fn md5_of_file(path: &Path) -> io::Result<String> {
    md5_hex(File::open(path)?)
}
