//! From the bytes of a file to its text.

use super::DatasetError;
use super::error::Problem;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read as _;

/// Most bytes that a packed file may unpack to; the largest known dataset has a third of it.
const MOST_UNPACKED: u64 = 2 << 30;

/// The text of a file that is called `file`: unpacked where it is gzip, without byte order mark.
pub fn text_of<'a>(file: &str, raw: &'a [u8]) -> Result<Cow<'a, str>, DatasetError> {
    if raw.starts_with(&[0x1f, 0x8b]) {
        let gzip = |source| DatasetError::of_file(file, Problem::Gzip(source));
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(raw).take(MOST_UNPACKED + 1).read_to_end(&mut unpacked).map_err(gzip)?;
        if unpacked.len() as u64 > MOST_UNPACKED {
            let reason = format!("it unpacks to more than {} GiB", MOST_UNPACKED >> 30);
            return Err(gzip(std::io::Error::other(reason)));
        }
        let mut text =
            String::from_utf8(unpacked).map_err(|error| not_utf8(file, error.as_bytes(), error.utf8_error()))?;
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        return Ok(Cow::Owned(text));
    }
    let text = std::str::from_utf8(raw).map_err(|error| not_utf8(file, raw, error))?;
    Ok(Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)))
}

fn not_utf8(file: &str, bytes: &[u8], error: std::str::Utf8Error) -> DatasetError {
    let line = 1 + newlines(&bytes[..error.valid_up_to()]);
    DatasetError::at_line(file, line, Problem::NotUtf8)
}

pub(super) fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}
