//! The bytes of a file: read, unpacked and decoded as a whole, or line by line; their digests.

use super::DatasetError;
use super::error::Problem;
use crate::base::bounded::fill_at_most;
use encoding_rs::{Encoding, UTF_8};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of a file, and most bytes that a packed one may unpack to; the largest known dataset has two thirds of it.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 30;
const FIRST: u64 = 64 << 10;

/// The bytes of a file, packed or not. What can be no dataset is not read to its end.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, DatasetError> {
    let shown = path.display().to_string();
    let failed = |error| DatasetError::of_file(&shown, Problem::Io(error));
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len().min(MAX_FILE_BYTES);
    bytes_from(&shown, file, size)
}

/// The same of what a reader gives, about so many bytes, that messages call `file`.
pub fn bytes_from(file: &str, reader: impl Read, size: u64) -> Result<Vec<u8>, DatasetError> {
    let is_text = |first: &[u8]| !is_packed(first) && wide(first).is_none();
    read_whole(file, reader, size, MAX_FILE_BYTES, Problem::Io, is_text)
}

/// The bytes of a reader that gives about `size` of them. Where the first ones are to be text, none of them is NUL.
fn read_whole(
    file: &str,
    mut reader: impl Read,
    size: u64,
    most: u64,
    problem: fn(io::Error) -> Problem,
    is_text: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, DatasetError> {
    let mut bytes = Vec::new();
    // Without memory for all of them it grows.
    let _ = bytes.try_reserve_exact(usize::try_from(size + 1).unwrap_or_default());
    let failed = |error| DatasetError::of_file(file, problem(error));
    (&mut reader).take(FIRST).read_to_end(&mut bytes).map_err(failed)?;
    if is_text(&bytes) {
        refuse_binary(file, &bytes)?;
    }
    fill_at_most(&mut bytes, reader, most).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => DatasetError::of_file(file, Problem::TooLarge(error)),
        _ => failed(error),
    })?;
    Ok(bytes)
}

/// The text of a file that is called `file`: unpacked where it is gzip, without byte order mark.
pub fn text_of<'a>(file: &str, raw: &'a [u8]) -> Result<Cow<'a, str>, DatasetError> {
    decoded(file, raw).map(|(text, _)| text)
}

/// The same, and the name of the encoding where it is not UTF-8.
pub(super) fn decoded<'a>(file: &str, raw: &'a [u8]) -> Result<(Cow<'a, str>, Option<&'static str>), DatasetError> {
    let bytes = if is_packed(raw) { Cow::Owned(unpacked(file, raw, MAX_FILE_BYTES)?) } else { Cow::Borrowed(raw) };
    if let Some(encoding) = wide(&bytes) {
        let (_, mark) = Encoding::for_bom(&bytes).unwrap_or((encoding, 0));
        let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
        let text = text.ok_or_else(|| DatasetError::of_file(file, Problem::NotUtf16))?;
        return Ok((Cow::Owned(text.into_owned()), Some(encoding.name())));
    }
    let text = match bytes {
        Cow::Borrowed(raw) => {
            let text = std::str::from_utf8(raw).map_err(|error| not_utf8(file, raw, error))?;
            Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text))
        }
        Cow::Owned(bytes) => {
            let mut text =
                String::from_utf8(bytes).map_err(|error| not_utf8(file, error.as_bytes(), error.utf8_error()))?;
            if text.starts_with('\u{feff}') {
                text.drain(..'\u{feff}'.len_utf8());
            }
            Cow::Owned(text)
        }
    };
    Ok((text, None))
}

/// UTF-16, by the byte order mark with which spreadsheets save "Unicode text".
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    encoding.filter(|encoding| *encoding != UTF_8 && !is_utf32(bytes))
}

/// UTF-32, by its byte order mark, whose first half is that of UTF-16 in one of the two orders.
fn is_utf32(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff])
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn unpacked(file: &str, raw: &[u8], most: u64) -> Result<Vec<u8>, DatasetError> {
    // A packed file ends in its size, which may be wrong.
    let size = raw.last_chunk().map_or(0, |size| u64::from(u32::from_le_bytes(*size)));
    let is_text = |first: &[u8]| wide(first).is_none();
    read_whole(file, MultiGzDecoder::new(raw), size.min(most), most, Problem::Gzip, is_text)
}

/// Text has no NUL bytes; a device or a packed bomb often has nothing else.
fn refuse_binary(file: &str, first: &[u8]) -> Result<(), DatasetError> {
    if is_utf32(first) {
        return Err(DatasetError::of_file(file, Problem::Utf32));
    }
    let Some(at) = memchr::memchr(0, first) else { return Ok(()) };
    // Of UTF-16 without a mark about every second byte is NUL, where the text is in a European language.
    let wide = memchr::memchr_iter(0, first).count() > first.len() / 4;
    Err(DatasetError::at_line(file, 1 + newlines(&first[..at]), Problem::Binary { wide }))
}

fn not_utf8(file: &str, bytes: &[u8], error: std::str::Utf8Error) -> DatasetError {
    let line = 1 + newlines(&bytes[..error.valid_up_to()]);
    DatasetError::at_line(file, line, Problem::NotUtf8)
}

pub(super) fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, decoded, unpacked};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;
    use std::path::Path;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    }

    #[test]
    fn what_is_no_text_or_has_no_end_is_refused_while_it_is_read() {
        let refused = |bytes: &[u8], most| unpacked("x.gz", &packed(bytes), most).expect_err("refused").to_string();
        assert_eq!(refused(&[b'\n'; 2049], 2048), "`x.gz`: it is larger than 2 KiB");
        assert_eq!(refused(b"one\ntwo\0\n", 2048), "`x.gz`, line 2: contains NUL bytes, so it is not text");
        assert_eq!(unpacked("x.gz", &packed(&[b'\n'; 2048]), 2048).expect("fits").len(), 2048);
        if cfg!(target_os = "linux") {
            let error = bytes_of(Path::new("/dev/zero")).expect_err("refused").to_string();
            assert_eq!(error, "`/dev/zero`, line 1: contains NUL bytes, so it is not text");
        }
    }

    #[test]
    fn wide_text_is_read_packed_too_and_what_is_not_text_gets_the_hint_that_helps() {
        let units: Vec<u8> = "\u{feff}question\n\u{142}?\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for raw in [units.clone(), packed(&units)] {
            let (text, name) = decoded("x.csv.gz", &raw).expect("text");
            assert_eq!((&*text, name), ("question\n\u{142}?\n", Some("UTF-16BE")));
        }
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.csv");
        for (bytes, problem, hint) in [
            (&b"question\nA\0?\n"[..], "line 2: contains NUL", "tr -d '\\000'"),
            (b"q\0u\0e\0s\0t\0", "line 1: contains NUL", "iconv -f UTF-16 "),
            (b"\xff\xfe\0\0q\0\0\0", ": this is UTF-32", "iconv -f UTF-32 "),
            (b"\0\0\xfe\xff\0\0\0q", ": this is UTF-32", "iconv -f UTF-32 "),
        ] {
            std::fs::write(&path, bytes).expect("written");
            for error in [bytes_of(&path).expect_err("refused"), decoded("x", &packed(bytes)).expect_err("refused")] {
                assert!(error.to_string().contains(problem) && error.hint().contains(hint), "{error} {}", error.hint());
            }
        }
    }
}
