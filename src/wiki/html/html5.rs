//! Tokens of markup as the HTML standard cuts them, for the standard's tree builder.
//!
//! `html5ever` has a tokenizer for streams: it looks at one character at a time and makes a string of every name and
//! value. Here the whole page is at hand, so that texts and values are stretches of it, and attributes that neither the
//! tree builder nor the reader of articles asks for are passed over. The tokens are otherwise the same, which the tests
//! hold it to.

mod attributes;
mod raw_text;
mod reference;

use attributes::{Names, Wanted};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, CharacterTokens, CommentToken, Doctype, DoctypeToken, EOFToken, EndTag, NullCharacterToken, StartTag,
    Tag, TagKind, TagToken, Token, TokenSink, TokenSinkResult, TokenizerOpts,
};
use html5ever::{LocalName, TokenizerResult, tokenizer};
use memchr::{memchr, memchr_iter, memchr3, memmem};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

/// How many attributes one tag may have written in it, those that are passed over included.
const ATTRIBUTES: usize = 16_384;

/// A page as the standard's input stream has it: line ends are line feeds, and no byte order mark stands in front.
pub(super) fn input(page: &str) -> StrTendril {
    let page = page.strip_prefix('\u{feff}').unwrap_or(page);
    let page = match memchr(b'\r', page.as_bytes()) {
        None => Cow::Borrowed(page),
        Some(_) => Cow::Owned(page.replace("\r\n", "\n").replace('\r', "\n")),
    };
    StrTendril::from_slice(&page)
}

/// How the text at the current position is read.
enum State {
    /// As markup.
    Data,
    /// As text up to the closing tag of this name.
    Raw(RawKind, LocalName),
    /// As text to the end of the page.
    Plaintext,
}

/// Why a tag was not read to its end.
enum Unread {
    /// The page ends inside it, which drops it.
    PageEnds,
    /// It has more attributes than any real one.
    TooManyAttributes,
}

/// A page on its way into a sink.
pub(super) struct Tokenizer<'a, S> {
    page: &'a StrTendril,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    state: State,
    sink: &'a S,
    names: Names,
}

impl<'a, S: TokenSink> Tokenizer<'a, S> {
    /// Reads `page`, which [`input`] has made.
    pub(super) fn new(page: &'a StrTendril, sink: &'a S) -> Self {
        Self { page, text: page, bytes: page.as_bytes(), at: 0, state: State::Data, sink, names: Names::default() }
    }

    /// Hands on the next token or tokens. Whether there was one; nothing where a tag has too many attributes.
    pub(super) fn step(&mut self) -> Option<bool> {
        if self.at == self.bytes.len() {
            return Some(false);
        }
        match std::mem::replace(&mut self.state, State::Data) {
            State::Data => return self.data(),
            State::Plaintext => self.raw_text(self.bytes.len(), false),
            State::Raw(kind, name) => {
                let end = match kind {
                    RawKind::ScriptData | RawKind::ScriptDataEscaped(_) => raw_text::script_end(self.bytes, self.at),
                    RawKind::Rcdata | RawKind::Rawtext => raw_text::end(self.bytes, self.at, name.as_bytes()),
                };
                self.raw_text(end.unwrap_or(self.bytes.len()), kind == RawKind::Rcdata);
                if end.is_some() {
                    return self.tag(EndTag, self.at + 2);
                }
            }
        }
        Some(true)
    }

    /// Says that the page is over.
    pub(super) fn end(self) {
        self.send(EOFToken);
        self.sink.end();
    }

    fn send(&self, token: Token) {
        // Without raw text to come there is nothing to obey; scripts are not run, and the encoding is settled.
        let _ = self.sink.process_token(token, 1);
    }

    fn piece(&self, range: Range<usize>) -> StrTendril {
        match (u32::try_from(range.start), u32::try_from(range.len())) {
            (Ok(start), Ok(length)) => self.page.subtendril(start, length),
            _ => StrTendril::from_slice(&self.text[range]),
        }
    }

    /// Hands on the text up to `end`.
    fn plain(&mut self, end: usize) {
        if self.at < end {
            self.send(CharacterTokens(self.piece(self.at..end)));
            self.at = end;
        }
    }

    fn data(&mut self) -> Option<bool> {
        let found = memchr3(b'<', b'&', 0, &self.bytes[self.at..]);
        self.plain(found.map_or(self.bytes.len(), |found| self.at + found));
        match self.bytes.get(self.at) {
            Some(b'<') => return self.markup(),
            Some(b'&') => self.reference(self.bytes.len()),
            Some(_) => {
                self.send(NullCharacterToken);
                self.at += 1;
            }
            None => {}
        }
        Some(true)
    }

    /// The reference that may begin here, in text that ends at `end`.
    fn reference(&mut self, end: usize) {
        match reference::resolve(&self.text[self.at..end], false) {
            Some((text, length)) => {
                self.send(CharacterTokens(StrTendril::from_slice(&text)));
                self.at += length;
            }
            None => self.plain(self.at + 1),
        }
    }

    /// Hands on text without tags up to `end`.
    fn raw_text(&mut self, end: usize, has_references: bool) {
        while self.at < end {
            let special = |byte: &u8| *byte == 0 || has_references && *byte == b'&';
            let found = self.bytes[self.at..end].iter().position(special);
            self.plain(found.map_or(end, |found| self.at + found));
            if self.at == end {
                return;
            }
            if self.bytes[self.at] == 0 {
                self.send(CharacterTokens(StrTendril::from_char(char::REPLACEMENT_CHARACTER)));
                self.at += 1;
            } else {
                self.reference(end);
            }
        }
    }

    fn markup(&mut self) -> Option<bool> {
        match self.bytes.get(self.at + 1) {
            Some(byte) if byte.is_ascii_alphabetic() => return self.tag(StartTag, self.at + 1),
            Some(b'!') => self.declaration(),
            Some(b'?') => self.bogus_comment(self.at + 1),
            Some(b'/') => match self.bytes.get(self.at + 2) {
                Some(byte) if byte.is_ascii_alphabetic() => return self.tag(EndTag, self.at + 2),
                Some(b'>') => self.at += 3,
                Some(_) => self.bogus_comment(self.at + 2),
                None => self.plain(self.at + 2),
            },
            _ => self.plain(self.at + 1),
        }
        Some(true)
    }

    fn declaration(&mut self) {
        let inner = &self.bytes[self.at + 2..];
        if inner.starts_with(b"--") {
            let from = self.at + 4;
            self.at = from + comment_end(&self.bytes[from..]).unwrap_or(self.bytes.len() - from);
            self.comment();
        } else if inner.get(..7).is_some_and(|name| name.eq_ignore_ascii_case(b"doctype")) {
            let end = memchr(b'>', inner).map_or(self.bytes.len(), |found| self.at + 2 + found + 1);
            if let Some(doctype) = doctype(&self.text[self.at..end]) {
                self.send(DoctypeToken(doctype));
            }
            self.at = end;
        } else if self.sink.adjusted_current_node_present_but_not_in_html_namespace() && inner.starts_with(b"[CDATA[") {
            self.at += 9;
            self.section();
        } else {
            self.bogus_comment(self.at + 2);
        }
    }

    /// Comments are known by their place alone; what they say is passed over.
    fn comment(&self) {
        self.send(CommentToken(StrTendril::new()));
    }

    fn bogus_comment(&mut self, from: usize) {
        self.at = memchr(b'>', &self.bytes[from..]).map_or(self.bytes.len(), |found| from + found + 1);
        self.comment();
    }

    /// The inside of a `<![CDATA[...]]>`.
    fn section(&mut self) {
        let found = memmem::find(&self.bytes[self.at..], b"]]>").map(|found| self.at + found);
        let end = found.unwrap_or(self.bytes.len());
        for null in memchr_iter(0, &self.bytes[self.at..end]).map(|found| self.at + found).collect::<Vec<_>>() {
            self.plain(null);
            self.send(NullCharacterToken);
            self.at += 1;
        }
        self.plain(end);
        self.at = found.map_or(end, |end| end + 3);
    }

    /// The tag whose name begins at `name_start`.
    fn tag(&mut self, kind: TagKind, name_start: usize) -> Option<bool> {
        match self.read_tag(kind, name_start) {
            Ok(tag) => {
                let name = tag.name.clone();
                match self.sink.process_token(TagToken(tag), 1) {
                    TokenSinkResult::RawData(kind) => self.state = State::Raw(kind, name),
                    TokenSinkResult::Plaintext => self.state = State::Plaintext,
                    _ => {}
                }
                Some(true)
            }
            Err(Unread::PageEnds) => {
                self.at = self.bytes.len();
                Some(true)
            }
            Err(Unread::TooManyAttributes) => None,
        }
    }

    fn read_tag(&mut self, kind: TagKind, name_start: usize) -> Result<Tag, Unread> {
        let name_end = attributes::name_end(self.bytes, name_start).ok_or(Unread::PageEnds)?;
        let name = self.names.name(&self.text[name_start..name_end]);
        let wanted = if kind == StartTag { Wanted::of(&name) } else { Wanted::Nothing };
        let mut tag = Tag { kind, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false };
        self.at = name_end;
        let mut written = 0;
        loop {
            match (self.bytes.get(self.at), self.bytes.get(self.at + 1)) {
                (None, _) | (Some(b'/'), None) => return Err(Unread::PageEnds),
                (Some(b'>'), _) => break self.at += 1,
                (Some(b'/'), Some(b'>')) => {
                    tag.self_closing = true;
                    break self.at += 2;
                }
                (Some(b'\t' | b'\n' | 0x0c | b' ' | b'/'), _) => self.at += 1,
                _ => {
                    let (name, value, end) = attributes::read(self.bytes, self.at).ok_or(Unread::PageEnds)?;
                    written += 1;
                    if written > ATTRIBUTES {
                        return Err(Unread::TooManyAttributes);
                    }
                    if wanted.takes(&self.text[name.clone()]) {
                        let name = self.names.name(&self.text[name]);
                        if tag.attrs.iter().all(|attribute| attribute.name.local != name) {
                            tag.attrs.push(attributes::attribute(name, self.value(value)));
                        }
                    }
                    self.at = end;
                }
            }
        }
        Ok(tag)
    }

    fn value(&self, range: Range<usize>) -> StrTendril {
        match reference::decoded(&self.text[range.clone()]) {
            Some(decoded) => StrTendril::from_slice(&decoded),
            None => self.piece(range),
        }
    }
}

/// The offset after a comment whose inside begins `text`; nothing where it does not end.
fn comment_end(text: &[u8]) -> Option<usize> {
    if text.starts_with(b">") {
        return Some(1);
    }
    if text.starts_with(b"->") {
        return Some(2);
    }
    memmem::find_iter(text, b"--").find_map(|found| match &text[found + 2..] {
        [b'>', ..] => Some(found + 3),
        // The second dash may be the first of a pair, which a search for pairs passes over.
        [b'!' | b'-', b'>', ..] => Some(found + 4),
        [b'-', b'!', b'>', ..] => Some(found + 5),
        _ => None,
    })
}

/// The token of a document type declaration, which a page has one of: the library may read it.
fn doctype(text: &str) -> Option<Doctype> {
    struct Last(RefCell<Option<Doctype>>);

    impl TokenSink for Last {
        type Handle = ();

        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            if let DoctypeToken(doctype) = token {
                self.0.replace(Some(doctype));
            }
            TokenSinkResult::Continue
        }
    }

    let reader = tokenizer::Tokenizer::new(Last(RefCell::default()), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(text));
    while !matches!(reader.feed(&input), TokenizerResult::Done) {}
    reader.end();
    reader.sink.0.into_inner()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::markup;
