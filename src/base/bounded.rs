//! Reading what may have no end: a device, a pipe, a packed file.

use std::io::{self, BufRead, Read};

/// The longest line that is read of a run's folder or a recording, in bytes: more than any episode takes.
/// Tests have a shorter one.
pub const MAX_LINE_BYTES: u64 = if cfg!(test) { 16 << 20 } else { 64 << 20 };

/// The bytes of `source`; more than `most` are an error, for which one byte more is read.
pub fn read_at_most(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fill_at_most(&mut bytes, source, most)?;
    Ok(bytes)
}

/// The same behind the bytes that were read already, which count.
pub fn fill_at_most(bytes: &mut Vec<u8>, source: impl Read, most: u64) -> io::Result<()> {
    source.take((most + 1).saturating_sub(bytes.len() as u64)).read_to_end(bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(most))));
    }
    Ok(())
}

/// A limit in words: `64 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

/// Reads a line with its end; returns its length, 0 at the end of `source`. Of one that is [`too_long`], the rest is skipped.
pub fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', line)?;
    let cut = line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n');
    let rest = if cut { source.skip_until(b'\n')? } else { 0 };
    Ok(line.len() + rest)
}

/// Why a `line` of this length was not read whole.
pub fn too_long(line: &[u8], length: usize) -> Option<String> {
    (length > line.len()).then(|| format!("longer than {}", size(MAX_LINE_BYTES)))
}

/// Lines without their ends. One that is too long is an error, which says its number.
pub fn lines(source: impl BufRead) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    whole_lines(source).map(|line| {
        let mut line = line?;
        line.pop_if(|end| *end == b'\n');
        Ok(line)
    })
}

/// The same with their ends, which an incomplete last line lacks.
pub fn whole_lines<R: BufRead>(mut source: R) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    (1..).map_while(move |number| {
        let mut line = Vec::new();
        match read_line(&mut source, &mut line) {
            Ok(0) => return None,
            Ok(length) => {
                if let Some(why) = too_long(&line, length) {
                    return Some(Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("line {number} is {why}"))));
                }
            }
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(line))
    })
}

/// The same as text, which must be UTF-8.
pub fn text_at_most(source: impl Read, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read_at_most(source, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINE_BYTES, lines, read_at_most, read_line, text_at_most, too_long};
    use std::io::{BufReader, Read as _};

    #[test]
    fn what_has_no_end_is_refused_after_one_byte_more() {
        let mut zeros = std::io::repeat(b'0');
        let error = read_at_most(&mut zeros, 16 << 10).expect_err("no end");
        assert_eq!(error.to_string(), "it is larger than 16 KiB");
        assert_eq!(text_at_most(&b"four"[..], 4).expect("as much as may be"), "four");
        assert!(text_at_most(&b"fives"[..], 4).is_err() && text_at_most(&b"\xff"[..], 4).is_err());
    }

    #[test]
    fn a_line_without_end_is_skipped_and_told_by_its_number() {
        let length = MAX_LINE_BYTES + 5;
        let text = || BufReader::new((&b"one\n"[..]).chain(std::io::repeat(b'0').take(length)).chain(&b"\nthree"[..]));
        let (mut source, mut line) = (text(), Vec::new());
        let mut next = || {
            let read = read_line(&mut source, &mut line).expect("no source fails");
            (read as u64, line.len() as u64, too_long(&line, read))
        };
        assert_eq!(next(), (4, 4, None));
        assert_eq!(next(), (length + 1, MAX_LINE_BYTES, Some("longer than 16 MiB".to_owned())));
        assert_eq!((next(), next()), ((5, 5, None), (0, 0, None)));
        let told: Vec<_> = lines(text()).map(|line| line.map_err(|error| error.to_string())).collect();
        let known = [Ok(b"one".to_vec()), Err("line 2 is longer than 16 MiB".to_owned()), Ok(b"three".to_vec())];
        assert_eq!(told, known);
    }
}
