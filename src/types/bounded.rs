//! Reading what may have no end: a device, a pipe, a packed file.

use std::io::{self, Read};

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
        let (size, unit) = match most {
            _ if most >= 1 << 30 => (most >> 30, "GiB"),
            _ if most >= 1 << 20 => (most >> 20, "MiB"),
            _ => (most >> 10, "KiB"),
        };
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {size} {unit}")));
    }
    Ok(())
}

/// The same as text, which must be UTF-8.
pub fn text_at_most(source: impl Read, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read_at_most(source, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::{read_at_most, text_at_most};

    #[test]
    fn what_has_no_end_is_refused_after_one_byte_more() {
        let mut zeros = std::io::repeat(b'0');
        let error = read_at_most(&mut zeros, 16 << 10).expect_err("no end");
        assert_eq!(error.to_string(), "it is larger than 16 KiB");
        assert_eq!(text_at_most(&b"four"[..], 4).expect("as much as may be"), "four");
        assert!(text_at_most(&b"fives"[..], 4).is_err() && text_at_most(&b"\xff"[..], 4).is_err());
    }
}
