//! Names and attributes of tags.

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};
use memchr::memchr;
use std::ops::Range;

/// Which attributes of a tag are taken.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// All: the tree builder compares formatting elements by them, lets later tags add to those of `html` and `body`,
    /// and templates have some of their own.
    All,
    /// Those that the tree builder or the reader of articles asks for.
    Some,
    /// None: a closing tag has no attributes.
    Nothing,
}

impl Wanted {
    /// What is taken of an opening tag.
    pub(super) fn of(name: &LocalName) -> Self {
        match *name {
            local_name!("a")
            | local_name!("b")
            | local_name!("big")
            | local_name!("body")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("html")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("template")
            | local_name!("tt")
            | local_name!("u") => Self::All,
            _ => Self::Some,
        }
    }

    /// Whether an attribute is taken.
    pub(super) fn takes(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some => {
                let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
                match name.len() {
                    2 => is("id"),
                    4 => is("role") || is("type"),
                    5 => is("class") || is("title"),
                    8 => is("encoding"),
                    _ => false,
                }
            }
            Self::Nothing => false,
        }
    }
}

/// Names that were met lately, so that a frequent one is not looked up each time.
pub(super) struct Names {
    met: Vec<Option<LocalName>>,
}

impl Default for Names {
    fn default() -> Self {
        Self { met: vec![None; Self::KEPT] }
    }
}

impl Names {
    /// How many names are kept.
    const KEPT: usize = 256;

    /// The name that is written so: in lower case, without null characters.
    pub(super) fn name(&mut self, written: &str) -> LocalName {
        let bytes = written.as_bytes();
        let byte = |at: usize| bytes.get(at).map_or(0, |byte| usize::from(*byte));
        let place =
            bytes.len().wrapping_mul(67) ^ byte(0).wrapping_mul(29) ^ byte(1).wrapping_mul(7) ^ byte(bytes.len() / 2);
        let kept = &mut self.met[place % Self::KEPT];
        if let Some(name) = kept.as_ref().filter(|name| ***name == *written) {
            return name.clone();
        }
        let name = if bytes.iter().any(|byte| *byte == 0 || byte.is_ascii_uppercase()) {
            LocalName::from(written.to_ascii_lowercase().replace('\0', "\u{fffd}"))
        } else {
            LocalName::from(written)
        };
        *kept = Some(name.clone());
        name
    }
}

/// Where the name of a tag ends that begins at `from`.
pub(super) fn name_end(bytes: &[u8], from: usize) -> Option<usize> {
    let ends = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0c | b' ' | b'/' | b'>');
    bytes[from..].iter().position(ends).map(|found| from + found)
}

/// The attribute that begins at `at`, where neither space nor `/` nor `>` stands: its name, its value, and the offset
/// after it. Nothing where the page ends before.
pub(super) fn read(bytes: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>, usize)> {
    let ends = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0c | b' ' | b'/' | b'>' | b'=');
    let name_end = at + 1 + bytes[at + 1..].iter().position(ends)?;
    let sign = skip_space(bytes, name_end);
    if bytes.get(sign) != Some(&b'=') {
        return Some((at..name_end, name_end..name_end, sign));
    }
    let from = skip_space(bytes, sign + 1);
    let (value, end) = match bytes.get(from)? {
        quote @ (b'"' | b'\'') => {
            let end = from + 1 + memchr(*quote, &bytes[from + 1..])?;
            (from + 1..end, end + 1)
        }
        b'>' => (from..from, from),
        _ => {
            let ends = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0c | b' ' | b'>');
            let end = from + bytes[from..].iter().position(ends)?;
            (from..end, end)
        }
    };
    Some((at..name_end, value, end))
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    let space = |byte: &&u8| matches!(byte, b'\t' | b'\n' | 0x0c | b' ');
    from + bytes[from..].iter().take_while(space).count()
}

/// An attribute as tokens have it.
pub(super) fn attribute(name: LocalName, value: StrTendril) -> Attribute {
    Attribute { name: QualName::new(None, ns!(), name), value }
}
