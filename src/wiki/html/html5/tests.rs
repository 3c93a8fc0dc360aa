//! The tokens are those of the library's tokenizer, but for what is passed over.

use super::attributes::Wanted;
use super::{ATTRIBUTES, Tokenizer, input};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, StartTag, Tag, Token, TokenSink, TokenSinkResult, TokenizerOpts};
use html5ever::{TokenizerResult, tokenizer};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

/// Writes tokens down, and asks for raw text where a tree builder would.
#[derive(Default)]
struct Written {
    lines: RefCell<Vec<String>>,
    /// The text since the last other token.
    text: RefCell<String>,
    /// Whether the markup is that of a drawing or a formula, in which there are sections.
    foreign: Cell<bool>,
}

impl Written {
    fn line(&self, line: String) {
        let text = self.text.take();
        if !text.is_empty() {
            self.lines.borrow_mut().push(format!("text {text:?}"));
        }
        self.lines.borrow_mut().push(line);
    }

    fn tag(&self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        let wanted = if tag.kind == StartTag { Wanted::of(&tag.name) } else { Wanted::Nothing };
        let taken = tag.attrs.iter().filter(|attribute| wanted.takes(&attribute.name.local));
        let attributes: Vec<_> = taken.map(|attribute| (&*attribute.name.local, &*attribute.value)).collect();
        self.line(format!("{:?} {name:?} {} {attributes:?}", tag.kind, tag.self_closing));
        if name == "svg" {
            self.foreign.set(tag.kind == StartTag);
        }
        match name {
            _ if tag.kind != StartTag => TokenSinkResult::Continue,
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" => TokenSinkResult::RawData(RawKind::Rawtext),
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }
}

impl TokenSink for Written {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => return self.tag(&tag),
            Token::CharacterTokens(text) => self.text.borrow_mut().push_str(&text),
            Token::NullCharacterToken => self.text.borrow_mut().push('\0'),
            Token::CommentToken(_) => self.line("comment".to_owned()),
            Token::DoctypeToken(doctype) => self.line(format!("{doctype:?}")),
            Token::EOFToken => self.line("end".to_owned()),
            Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.foreign.get()
    }
}

fn tokens(page: &str) -> Vec<String> {
    let sink = Written::default();
    let page = input(page);
    let mut tokenizer = Tokenizer::new(&page, &sink);
    while tokenizer.step().expect("few attributes") {}
    tokenizer.end();
    sink.lines.into_inner()
}

fn library_tokens(page: &str) -> Vec<String> {
    let tokenizer = tokenizer::Tokenizer::new(Written::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(page));
    while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.lines.into_inner()
}

/// Names with rules of their own, and some without.
const NAMES: &str = "a b P p div li ul table tr td caption select option button h1 pre sup template html body head \
    frameset form title textarea style script xmp noscript svg math mi annotation-xml foreignObject br \
    image input plaintext x\0y";
/// What may stand in a tag behind its name.
const INSIDES: &[&str] = &[
    "",
    " ",
    "/",
    " class=a",
    " class='b c'",
    " CLASS=\"d&amp;e\"",
    " id=&lt",
    " id=&ltx",
    " id=&lt=",
    " title",
    " title=",
    " role = 'x>y'",
    " href=/w/x&y=1",
    " class=a\0b",
    " type=hidden",
    " type",
    "=",
    " =x=y",
    " a\"b'c<d",
    " x y/z",
    "\n\tid\n=\n'q'\n",
    " encoding=text/html",
    " class=a class=b",
    " é=ü",
    " color=red",
    " 'class=x",
    " id=\"&notit;&not=1&#x41;\"",
];
/// What may stand between tags.
const TEXTS: &[&str] = &[
    "x",
    " ",
    "\n",
    "\r\n",
    "\r",
    "é ",
    "\0",
    "&",
    "&amp;",
    "&ampx",
    "&notit;",
    "&notin;",
    "&#65;",
    "&#65x",
    "&#x41;",
    "&#",
    "&#x",
    "&#0;",
    "&#150;",
    "&#xd800;",
    "&#99999999999;",
    "&nosuch;",
    "&NotEqualTilde;",
    "&lt",
    "<",
    "<3",
    "</",
    "</>",
    "</3>",
    "<?x>",
    "<!",
    "<!x>",
    "<!-",
    "<!-->",
    "<!--->",
    "<!---->",
    "<!--x-->",
    "<!-- --!>",
    "<!--",
    "-->",
    "--!>",
    "--->",
    "-",
    "--",
    ">",
    "<!--<!-->",
    "<!doctype html>",
    "<!DOCTYPE x PUBLIC \"-//W3C//DTD HTML 4.01//EN\">",
    "<!doctype",
    "<![CDATA[",
    "]]>",
    "]",
    "<![CDATA[a\0]b]]>",
    "<script",
    "</script",
    "</SCRIPT >",
    "</title",
    "</titles>",
    "<",
];

/// A piece of markup or of something close to it.
pub(in crate::wiki::html) fn markup() -> impl Strategy<Value = String> {
    let one_of = |choices: &[&'static str]| prop::sample::select(choices.to_vec());
    let name = || one_of(&NAMES.split(' ').collect::<Vec<_>>());
    let insides = prop::collection::vec(one_of(INSIDES), 0..3);
    let opening = (name(), insides, one_of(&[">", "/>", " >", ""]));
    let closing = (name(), one_of(&[">", " x=y>", ""]));
    prop_oneof![
        4 => opening.prop_map(|(name, insides, end)| format!("<{name}{}{end}", insides.concat())),
        3 => closing.prop_map(|(name, end)| format!("</{name}{end}")),
        4 => one_of(TEXTS).prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_markup_gives_the_librarys_tokens(pieces in prop::collection::vec(markup(), 0..24)) {
        let page = pieces.concat();
        prop_assert_eq!(tokens(&page), library_tokens(&page), "{:?}", page);
    }
}

#[test]
fn a_byte_order_mark_is_dropped_where_the_page_begins() {
    for page in ["\u{feff}<p>x\u{feff}", "\u{feff}\u{feff}", "\u{feff}"] {
        assert_eq!(tokens(page), library_tokens(page), "{page:?}");
    }
}

#[test]
fn scripts_hide_their_end_behind_comments() {
    for page in [
        "<script><!--</script>x",
        "<script><!--<script></script>x</script>y",
        "<script><!--<script>--></script>x",
        "<script><!--><script></script>x",
        "<script><!---><script></script>x",
        "<script><!--<scripts></script>x",
        "<script><!--<script/</script/</script>x",
        "<script><!-<!--<script></scripts></script></script >x",
        "<script>a</scrip</script",
    ] {
        assert_eq!(tokens(page), library_tokens(page), "{page}");
    }
}

#[test]
fn tags_with_masses_of_attributes_are_not_read() {
    let page = |count: usize| format!("<x{}>", " a".repeat(count));
    let read = |count: usize| Tokenizer::new(&input(&page(count)), &Written::default()).step();
    assert_eq!((read(ATTRIBUTES), read(ATTRIBUTES + 1)), (Some(true), None));
}
