//! A tokenizer that behaves like Python's `html.parser`, which the paper's environment read pages with.
//!
//! An HTML5 tokenizer agrees with it on well-formed pages only. Unfinished tags, unterminated comments and stray
//! references are treated exactly as in Python, because they change the text of the page.

use super::ExtractError;
use super::Walk;
use crate::base::python::is_python_space;
use html5ever::data::NAMED_ENTITIES;
use memchr::{memchr, memchr2};

/// The result of reading the construct at the current position.
enum Step {
    /// It ends at this offset.
    To(usize),
    /// It is not terminated; the search for its end reached this offset.
    Open(usize),
    /// Nothing more can be read in this pass.
    Halt(usize),
}

/// How many times the length of the text may be searched for the ends of unterminated constructs. Real pages need one
/// or two; the rest of a hostile page is then read as plain text.
const SEARCHES: usize = 16;

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    sink: &'a mut Walk,
    /// `script` or `style` while inside one.
    raw: Option<&'static str>,
    /// Whether the input is known to be complete.
    last: bool,
    /// Name in lower case, reused between tags.
    name: String,
}

/// Reads `text` to its end.
///
/// Like `html.parser`, this makes two passes: the first stops at a construct that more input could complete, the second
/// reads the rest knowing that the input is complete.
pub(super) fn read_tokens(text: &str, sink: &mut Walk) -> Result<(), ExtractError> {
    let mut reader = Reader { text, bytes: text.as_bytes(), sink, raw: None, last: false, name: String::new() };
    let at = reader.pass(0)?;
    reader.last = true;
    let at = reader.pass(at)?;
    if at < text.len() && reader.raw.is_none() {
        reader.sink.data(&text[at..]);
    }
    Ok(())
}

impl Reader<'_> {
    /// Reads from `at` until the end or a halt, and returns the position reached.
    fn pass(&mut self, mut at: usize) -> Result<usize, ExtractError> {
        let end = self.bytes.len();
        let mut searched = 0;
        while at < end {
            let next = if let Some(raw) = self.raw {
                match raw_end(self.bytes, at, raw) {
                    Some(next) => next,
                    None => return Ok(at),
                }
            } else {
                memchr2(b'<', b'&', &self.bytes[at..]).map_or(end, |found| at + found)
            };
            if at < next {
                self.sink.data(&self.text[at..next]);
            }
            at = next;
            if at == end {
                break;
            }
            let step = if self.bytes[at] == b'<' { self.markup(at)? } else { self.reference(at) };
            match step {
                Step::To(next) => at = next,
                Step::Halt(next) => return Ok(next),
                Step::Open(_) if !self.last => return Ok(at),
                Step::Open(reached) => {
                    searched += reached - at;
                    if searched / SEARCHES > end {
                        return Ok(at);
                    }
                    let after = self.give_up(at);
                    self.sink.data(&self.text[at..after]);
                    at = after;
                }
            }
        }
        Ok(at)
    }

    /// Where text resumes after an unterminated construct at `at`.
    fn give_up(&self, at: usize) -> usize {
        let rest = &self.bytes[at + 1..];
        match (memchr(b'>', rest), memchr(b'<', rest)) {
            (Some(found), _) => at + found + 2,
            (None, Some(found)) => at + 1 + found,
            (None, None) => at + 1,
        }
    }

    fn markup(&mut self, at: usize) -> Result<Step, ExtractError> {
        let rest = &self.bytes[at..];
        Ok(match rest.get(1) {
            Some(byte) if byte.is_ascii_alphabetic() => self.start_tag(at),
            Some(b'/') => self.end_tag(at),
            Some(b'!') if rest.starts_with(b"<!--") => {
                self.interrupt(section_close(&self.text[at + 4..], "--").map(|(_, end)| at + 4 + end))
            }
            Some(b'!') if rest.starts_with(b"<![") => return self.marked_section(at),
            Some(b'!' | b'?') => self.interrupt(memchr(b'>', rest).map(|found| at + found + 1)),
            Some(_) => {
                self.sink.data("<");
                Step::To(at + 1)
            }
            None => Step::Halt(at),
        })
    }

    /// A comment or similar that ends at `end`, or is not terminated.
    fn interrupt(&mut self, end: Option<usize>) -> Step {
        let Some(end) = end else { return Step::Open(self.text.len()) };
        self.sink.flush();
        Step::To(end)
    }

    fn marked_section(&mut self, at: usize) -> Result<Step, ExtractError> {
        let inner = &self.text[at + 3..];
        let name_end =
            inner.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(inner.len());
        let name = &inner[..name_end];
        if inner.is_empty() || inner[name_end..].trim_start_matches(is_python_space).is_empty() && !name.is_empty() {
            return Ok(Step::Open(self.text.len()));
        }
        let mark = match name.to_ascii_lowercase().as_str() {
            "temp" | "cdata" | "ignore" | "include" | "rcdata" => "]]",
            "if" | "else" | "endif" => "]",
            _ => return Err(ExtractError::Rejected),
        };
        let Some((start, end)) = section_close(inner, mark) else { return Ok(Step::Open(self.text.len())) };
        match inner.get(..6) {
            Some(head) if head.eq_ignore_ascii_case("cdata[") => self.sink.section(&inner[6.min(start)..start]),
            _ => self.sink.flush(),
        }
        Ok(Step::To(at + 3 + end))
    }

    fn start_tag(&mut self, at: usize) -> Step {
        let tag = match scan_tag(self.text, at) {
            TagScan::Tag(tag) => tag,
            TagScan::Open(reached) => return Step::Open(reached),
            TagScan::Text(end) => {
                self.sink.data(&self.text[at..end]);
                return Step::To(end);
            }
        };
        lower(tag.name, &mut self.name);
        self.sink.start(&self.name, &tag, tag.closed);
        if !tag.closed {
            self.raw = match self.name.as_str() {
                "script" => Some("script"),
                "style" => Some("style"),
                _ => None,
            };
        }
        Step::To(tag.end)
    }

    fn end_tag(&mut self, at: usize) -> Step {
        let Some(close) = memchr(b'>', &self.bytes[at + 1..]).map(|found| at + 1 + found) else {
            return Step::Open(self.text.len());
        };
        if self.raw.is_some() {
            // Raw text ends only at its own end tag.
            let name = self.raw.take().unwrap_or_default();
            self.sink.end(name);
            return Step::To(close + 1);
        }
        let inner = &self.text[at + 2..close];
        // If the tag has more than a name, the name must follow the slash directly. The rest is ignored.
        let name = strict_end_name(inner).unwrap_or_else(|| tag_name_at(self.text, at + 2));
        if !name.is_empty() {
            lower(name, &mut self.name);
            self.sink.end(&self.name);
        } else if !inner.is_empty() {
            self.sink.flush();
        }
        Step::To(close + 1)
    }

    fn reference(&mut self, at: usize) -> Step {
        let rest = &self.bytes[at..];
        if rest.get(1) == Some(&b'#') {
            return match numeric_reference(rest) {
                Some((character, length)) => {
                    self.sink.data(character.encode_utf8(&mut [0; 4]));
                    Step::To(at + length)
                }
                None if memchr(b';', rest).is_some() => {
                    self.sink.data("&#");
                    Step::Halt(at + 2)
                }
                None => Step::Halt(at),
            };
        }
        if !rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
            if rest.len() == 1 {
                return Step::Halt(at);
            }
            self.sink.data("&");
            return Step::To(at + 1);
        }
        let Some((name, length)) = reference_name(&self.text[at..]) else {
            // The name reaches the end of the text. If it is one letter, only the `&` is dropped.
            return Step::Halt(if self.last && rest.len() == 2 { at + 1 } else { at });
        };
        if let Some(text) = named_reference(name) {
            self.sink.data(&text);
        } else {
            self.sink.data("&");
            self.sink.data(name);
        }
        Step::To(at + length)
    }
}

/// Sets `into` to `name` in lower case.
fn lower(name: &str, into: &mut String) {
    into.clear();
    if name.is_ascii() {
        into.push_str(name);
        into.make_ascii_lowercase();
    } else {
        into.push_str(&name.to_lowercase());
    }
}

/// The name of an end tag that has nothing else between `</` and `>`.
fn strict_end_name(inner: &str) -> Option<&str> {
    let name = inner.trim_matches(is_python_space);
    let mut bytes = name.bytes();
    let fits = bytes.next()?.is_ascii_alphabetic()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'_'));
    fits.then_some(name)
}

/// The position of `</name>` at or after `from`, with white space where Python allows it.
fn raw_end(bytes: &[u8], from: usize, name: &str) -> Option<usize> {
    memchr::memmem::find_iter(&bytes[from..], b"</").map(|found| from + found).find(|&at| {
        let inner = trim_ascii_like_python(&bytes[at + 2..]);
        inner.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            && trim_ascii_like_python(&inner[name.len()..]).first() == Some(&b'>')
    })
}

fn trim_ascii_like_python(bytes: &[u8]) -> &[u8] {
    let blank = bytes.iter().take_while(|byte| matches!(byte, 9..=13 | 28..=32)).count();
    &bytes[blank..]
}

/// Start and end of the first closing sequence: the characters of `mark` with white space between them where there are
/// brackets, then white space, then `>`.
fn section_close(text: &str, mark: &str) -> Option<(usize, usize)> {
    let first = mark.as_bytes()[0];
    let mut from = 0;
    while let Some(found) = memchr(first, &text.as_bytes()[from..]) {
        let start = from + found;
        let mut rest = &text[start + 1..];
        if mark.len() == 2 {
            let second = if first == b']' { rest.trim_start_matches(is_python_space) } else { rest };
            let Some(after) = second.strip_prefix(char::from(first)) else {
                from = start + 1;
                continue;
            };
            rest = after;
        }
        if let Some(after) = rest.trim_start_matches(is_python_space).strip_prefix('>') {
            return Some((start, text.len() - after.len()));
        }
        from = start + 1;
    }
    None
}

// Start tags as Python's `html.parser` reads them.

#[derive(Debug, Clone, Copy)]
pub(super) struct StartTag<'a> {
    pub(super) name: &'a str,
    /// Whether it is written `<tag/>`.
    pub(super) closed: bool,
    /// Offset after its `>`.
    pub(super) end: usize,
    /// The whole text, and where the attributes start in it.
    text: &'a str,
    attributes: usize,
}

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

// Character references as Python's `html.parser` resolves them.

/// The characters of Windows-1252 from 0x80 to 0x9f, which pages use in numeric references; 0 where it has none.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

/// The numeric reference at the start of `bytes` (`&#`), and its length.
///
/// The next character must not be a hexadecimal digit, so `&#160a` is not a reference. A semicolon counts in the length.
pub(super) fn numeric_reference(bytes: &[u8]) -> Option<(char, usize)> {
    let (start, radix) = if matches!(bytes.get(2), Some(b'x' | b'X')) { (3, 16) } else { (2, 10) };
    let digits = bytes[start.min(bytes.len())..].iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let end = start + digits;
    let next = bytes.get(end)?;
    if digits == 0 || next.is_ascii_hexdigit() {
        return None;
    }
    let value = bytes[start..end].iter().fold(0_u32, |value, &byte| {
        value.saturating_mul(radix).saturating_add(char::from(byte).to_digit(radix).unwrap_or(0))
    });
    Some((reference_character(value), end + usize::from(*next == b';')))
}

/// "Numeric character reference end state" of the HTML standard.
fn reference_character(value: u32) -> char {
    let value = match value {
        0 => 0xfffd,
        0x80..=0x9f => match WINDOWS_1252[(value - 0x80) as usize] {
            0 => value,
            mapped => u32::from(mapped),
        },
        _ => value,
    };
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The name of the reference at the start of `text` (`&` and a letter), and the length of the whole reference.
///
/// Hyphens and full stops belong to a name unless the text ends there. `None` if the name reaches the end of the text.
pub(super) fn reference_name(text: &str) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let mut end = 1 + bytes[1..].iter().take_while(|byte| in_name(byte)).count();
    if end == bytes.len() {
        end = bytes[2..].iter().rposition(|byte| matches!(byte, b'-' | b'.'))? + 2;
    }
    Some((&text[1..end], end + usize::from(bytes[end] == b';')))
}

/// The text of a named reference. The standard's table has some names with a semicolon only.
pub(super) fn named_reference(name: &str) -> Option<String> {
    /// The longest name in the table, semicolon included.
    const MAX_LENGTH: usize = 33;
    if name.len() >= MAX_LENGTH {
        return None;
    }
    let found = |name: &str| NAMED_ENTITIES.get(name).filter(|(first, _)| *first != 0);
    let (first, second) = found(&format!("{name};")).or_else(|| found(name))?;
    Some([*first, *second].into_iter().filter(|&point| point != 0).filter_map(char::from_u32).collect())
}

#[cfg(test)]
mod tests {
    use super::{named_reference, numeric_reference, reference_name};

    #[test]
    fn numbers_need_a_character_after_them() {
        assert_eq!(numeric_reference(b"&#160;"), Some(('\u{a0}', 6)));
        assert_eq!(numeric_reference(b"&#x201C "), Some(('\u{201c}', 7)));
        assert_eq!(numeric_reference(b"&#150;"), Some(('\u{2013}', 6)));
        assert_eq!(numeric_reference(b"&#129;"), Some(('\u{81}', 6)));
        assert_eq!(numeric_reference(b"&#99999999999;"), Some(('\u{fffd}', 14)));
        for text in [&b"&#160a "[..], b"&#160", b"&#;", b"&#x;", b"&#"] {
            assert_eq!(numeric_reference(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_end_as_the_parser_ends_them() {
        assert_eq!(reference_name("&amp; x"), Some(("amp", 5)));
        assert_eq!(reference_name("&amp x"), Some(("amp", 4)));
        assert_eq!(reference_name("&T-b c"), Some(("T-b", 4)));
        assert_eq!(reference_name("&T-b"), Some(("T", 2)));
        assert_eq!(reference_name("&T"), None);
        assert_eq!(named_reference("amp").as_deref(), Some("&"));
        assert_eq!(named_reference("nbsp").as_deref(), Some("\u{a0}"));
        assert_eq!(named_reference("NotEqualTilde").as_deref(), Some("\u{2242}\u{338}"));
        assert_eq!(named_reference("notit"), None);
        assert_eq!(named_reference("hel"), None);
    }
}
