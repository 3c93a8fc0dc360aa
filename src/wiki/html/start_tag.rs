//! Start tags as Python's `html.parser` reads them.

use crate::types::python::is_python_space;
use memchr::memchr;

#[derive(Debug, Clone, Copy)]
pub(super) struct StartTag<'a> {
    /// The name as written.
    pub(super) name: &'a str,
    /// Whether it is written `<tag/>`.
    pub(super) closed: bool,
    /// Offset after its `>`.
    pub(super) end: usize,
    /// The whole text, and where the attributes start in it.
    text: &'a str,
    attributes: usize,
}

/// What is found where a tag seems to start.
pub(super) enum TagScan<'a> {
    Tag(StartTag<'a>),
    /// An unterminated tag; the search for its end reached this offset.
    Open(usize),
    /// Text up to this offset.
    Text(usize),
}

/// An attribute: its name, its value without quotes, and where the next one may start.
struct Attribute<'a> {
    name: &'a str,
    value: &'a str,
    end: usize,
}

impl<'a> StartTag<'a> {
    /// The value of the attribute `wanted` (in lower case). If it is repeated, the last one counts.
    pub(super) fn attribute(&self, wanted: &str) -> Option<&'a str> {
        let mut at = self.attributes;
        let mut value = None;
        while at < self.end
            && let Some(attribute) = attribute_at(self.text, at)
        {
            if attribute.name.eq_ignore_ascii_case(wanted) {
                value = Some(attribute.value);
            }
            at = attribute.end;
        }
        value
    }
}

/// Reads the tag that starts at `at` with `<` and a letter.
pub(super) fn scan_tag(text: &str, at: usize) -> TagScan<'_> {
    let bytes = text.as_bytes();
    let name = tag_name_at(text, at + 1);
    let name_end = at + 1 + name.len();
    let attributes = skip_filler(text, name_end);
    // Slashes before the `>` belong to the end of the tag only if no attribute is between them.
    let mut stop = skip_while(text, name_end, |c| c == '/' || is_python_space(c));
    let mut rest = attributes;
    while let Some(attribute) = attribute_at(text, stop) {
        stop = attribute.end;
        rest = stop;
    }
    stop = skip_while(text, stop, is_python_space);
    let end = match bytes.get(stop) {
        Some(b'>') => stop + 1,
        Some(b'/') if bytes.get(stop + 1) == Some(&b'>') => stop + 2,
        None | Some(b'/' | b'=' | b'a'..=b'z' | b'A'..=b'Z') => return TagScan::Open(stop),
        Some(_) => return TagScan::Text(stop),
    };
    match text[rest..end].trim_matches(is_python_space) {
        ">" => TagScan::Tag(StartTag { name, closed: false, end, text, attributes }),
        "/>" => TagScan::Tag(StartTag { name, closed: true, end, text, attributes }),
        _ => TagScan::Text(end),
    }
}

/// The tag name at `at`; empty if there is no letter.
pub(super) fn tag_name_at(text: &str, at: usize) -> &str {
    let bytes = &text.as_bytes()[at..];
    if !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return "";
    }
    let length = bytes
        .iter()
        .position(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | b' ' | b'/' | b'>' | 0))
        .unwrap_or(bytes.len());
    &text[at..at + length]
}

/// The offset after white space and slashes that are not part of `/>`.
fn skip_filler(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        let next = skip_while(text, at, is_python_space);
        if bytes.get(next) != Some(&b'/') || bytes.get(next + 1) == Some(&b'>') {
            return next;
        }
        at = next + 1;
    }
}

/// The offset of the first character at or after `at` for which `skipped` is false.
fn skip_while(text: &str, at: usize, skipped: impl Fn(char) -> bool) -> usize {
    text.len() - text[at..].trim_start_matches(skipped).len()
}

/// The attribute that starts at `at`, if one may start there.
fn attribute_at(text: &str, at: usize) -> Option<Attribute<'_>> {
    let first = text[at..].chars().next().filter(|&c| !(c == '/' || c == '>' || is_python_space(c)))?;
    let before = text[..at].chars().next_back()?;
    if !(matches!(before, '\'' | '"' | '/') || is_python_space(before)) {
        return None;
    }
    let name_end = skip_while(text, at + first.len_utf8(), |c| !(matches!(c, '/' | '=' | '>') || is_python_space(c)));
    let (value, end) = value_at(text, name_end).unwrap_or(("", name_end));
    Some(Attribute { name: &text[at..name_end], value, end: skip_filler(text, end) })
}

/// The value of the attribute whose name ends at `at`, and where the value ends. `None` without an equals sign.
fn value_at(text: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let sign = skip_while(text, at, is_python_space);
    let signs_end = skip_while(text, sign, |c| c == '=');
    if signs_end == sign {
        return None;
    }
    let from = skip_while(text, signs_end, is_python_space);
    let bare = |from: usize| {
        let end = skip_while(text, from, |c| !(c == '>' || is_python_space(c)));
        (&text[from..end], end)
    };
    let Some(&quote @ (b'"' | b'\'')) = bytes.get(from) else { return Some(bare(from)) };
    if let Some(length) = memchr(quote, &bytes[from + 1..]) {
        let end = from + 1 + length;
        return Some((&text[from + 1..end], end + 1));
    }
    // The quote is not closed: Python's pattern backtracks over white space first, then over an equals sign.
    if from > signs_end {
        Some(("", from))
    } else if signs_end - sign > 1 {
        Some(bare(signs_end - 1))
    } else {
        None
    }
}
