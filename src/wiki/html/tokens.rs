//! A tokenizer that behaves like Python's `html.parser`, which the paper's environment read pages with.
//!
//! An HTML5 tokenizer agrees with it on well-formed pages only. Unfinished tags, unterminated comments and stray
//! references are treated exactly as in Python, because they change the text of the page.

use super::entities;
use super::start_tag::{self, StartTag};
use crate::types::python::is_python_space;
use memchr::{memchr, memchr2};

/// Receives the tokens in order.
pub(super) trait TokenSink {
    /// Text between tags, in parts of any size.
    fn data(&mut self, text: &str);
    /// A start tag; `closed` if it is written `<tag/>`. The name is in lower case.
    fn start(&mut self, name: &str, tag: &StartTag<'_>, closed: bool);
    /// An end tag, its name in lower case.
    fn end(&mut self, name: &str);
    /// A comment, declaration or processing instruction: the text before it and the text after it are two nodes.
    fn interruption(&mut self);
    /// The text of a `<![CDATA[...]]>` section, which is a separate node.
    fn section(&mut self, text: &str);
}

/// Markup that `html.parser` raises an exception on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejected;

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

/// The state of one reading.
struct Reader<'a, S> {
    text: &'a str,
    bytes: &'a [u8],
    sink: &'a mut S,
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
pub(super) fn read_tokens<S: TokenSink>(text: &str, sink: &mut S) -> Result<(), Rejected> {
    let mut reader = Reader { text, bytes: text.as_bytes(), sink, raw: None, last: false, name: String::new() };
    let at = reader.pass(0)?;
    reader.last = true;
    let at = reader.pass(at)?;
    if at < text.len() && reader.raw.is_none() {
        reader.sink.data(&text[at..]);
    }
    Ok(())
}

impl<S: TokenSink> Reader<'_, S> {
    /// Reads from `at` until the end or a halt, and returns the position reached.
    fn pass(&mut self, mut at: usize) -> Result<usize, Rejected> {
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

    fn markup(&mut self, at: usize) -> Result<Step, Rejected> {
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
        self.sink.interruption();
        Step::To(end)
    }

    fn marked_section(&mut self, at: usize) -> Result<Step, Rejected> {
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
            _ => return Err(Rejected),
        };
        let Some((start, end)) = section_close(inner, mark) else { return Ok(Step::Open(self.text.len())) };
        match inner.get(..6) {
            Some(head) if head.eq_ignore_ascii_case("cdata[") => self.sink.section(&inner[6.min(start)..start]),
            _ => self.sink.interruption(),
        }
        Ok(Step::To(at + 3 + end))
    }

    fn start_tag(&mut self, at: usize) -> Step {
        let tag = match start_tag::scan_tag(self.text, at) {
            start_tag::TagScan::Tag(tag) => tag,
            start_tag::TagScan::Open(reached) => return Step::Open(reached),
            start_tag::TagScan::Text(end) => {
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
        let name = strict_end_name(inner).unwrap_or_else(|| start_tag::tag_name_at(self.text, at + 2));
        if !name.is_empty() {
            lower(name, &mut self.name);
            self.sink.end(&self.name);
        } else if !inner.is_empty() {
            self.sink.interruption();
        }
        Step::To(close + 1)
    }

    fn reference(&mut self, at: usize) -> Step {
        let rest = &self.bytes[at..];
        if rest.get(1) == Some(&b'#') {
            return match entities::numeric_reference(rest) {
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
        let Some((name, length)) = entities::reference_name(&self.text[at..]) else {
            // The name reaches the end of the text. If it is one letter, only the `&` is dropped.
            return Step::Halt(if self.last && rest.len() == 2 { at + 1 } else { at });
        };
        if let Some(text) = entities::named_reference(name) {
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
