//! What a dataset says is needed for an answer: pages, and the sentences on them.
//!
//! Trajectory metrics compare an episode with this. It is plain data made from a [`Question`].
//!
//! Texts made comparable: page titles, sentences and answers against what the tool showed.
//!
//! The tool cuts pages at `. `, doubles full stops and leaves footnote marks in; datasets have other quotes and
//! dashes. So texts are compared word by word, and nothing but letters and digits counts.

use super::normalize::{is_article, normalize};
use crate::base::python::is_python_space;
use crate::base::text::cut;
use crate::base::{Evidence, Question, SupportingFact, unique};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A fact that the tool would show in more pieces than this is a paragraph: no dataset means that all of it is needed.
const SENTENCE_PIECES: usize = 3;

/// The gold evidence of one question: one group, or several of which any one is enough (FEVER).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldEvidence {
    groups: Vec<EvidenceGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceGroup {
    /// Titles of the pages as the dataset spells them, each once, in the dataset's order. Never empty.
    pub pages: Vec<String>,
    /// The needed sentences, each once, in the dataset's order.
    pub facts: Vec<GoldFact>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldFact {
    /// Title of its page as the dataset spells it.
    pub page: String,
    /// Its number on that page, from 0, where the dataset gives one.
    pub number: Option<i64>,
    /// The same, if a sentence can be meant: not where the question's context has none of that number, or whole
    /// paragraphs only (`MuSiQue`).
    pub sentence: Option<usize>,
    /// What it may read: one text as a rule, several where the context has the title more than once, and none where
    /// the question's context lacks it or names a whole paragraph only (`MuSiQue`).
    pub texts: Vec<String>,
}

impl GoldEvidence {
    /// The evidence that a question's record holds; `None` if it names no page.
    ///
    /// Supporting facts (`HotpotQA`, `2WikiMultiHopQA`, `MuSiQue`) are one group; FEVER's evidence sets are one each.
    pub fn of(question: &Question) -> Option<Self> {
        let facts = question.supporting_facts.iter().map(|SupportingFact(page, n)| (page.as_str(), Some(*n)));
        let of_set = |set: &Vec<Evidence>| {
            EvidenceGroup::of(question, set.iter().filter_map(|piece| Some((piece.0.as_deref()?, piece.1))))
        };
        let groups: Vec<EvidenceGroup> = if question.supporting_facts.is_empty() {
            question.evidence_sets.iter().map(of_set).collect()
        } else {
            vec![EvidenceGroup::of(question, facts)]
        };
        // Annotators of FEVER often gave the same evidence; it is one alternative.
        let groups = unique(groups.into_iter().filter(|group| !group.pages.is_empty()));
        (!groups.is_empty()).then_some(Self { groups })
    }

    /// The groups, in the dataset's order. Never empty.
    pub fn groups(&self) -> &[EvidenceGroup] {
        &self.groups
    }
}

impl EvidenceGroup {
    fn of<'a>(question: &Question, facts: impl Iterator<Item = (&'a str, Option<i64>)>) -> Self {
        let mut group = Self::default();
        let mut keys: Vec<String> = Vec::new();
        for (page, number) in facts {
            let key = page_key(page);
            if !keys.contains(&key) {
                keys.push(key.clone());
                group.pages.push(page.to_owned());
            }
            if !group.facts.iter().any(|fact| fact.number == number && page_key(&fact.page) == key) {
                group.facts.push(GoldFact::of(question, page, &key, number));
            }
        }
        group
    }
}

impl GoldFact {
    /// Its texts are the sentences of that number in the context's paragraphs of that title. An index past the end has none.
    fn of(question: &Question, page: &str, key: &str, number: Option<i64>) -> Self {
        let mut fact = Self { page: page.to_owned(), number, sentence: None, texts: Vec::new() };
        let Some(number) = number.and_then(|number| usize::try_from(number).ok()) else { return fact };
        let mut paragraphs = question.context.iter().filter(|paragraph| page_key(&paragraph.title) == key).peekable();
        if paragraphs.peek().is_none() {
            fact.sentence = Some(number);
        }
        let whole_paragraphs = question.context.iter().all(|paragraph| paragraph.sentences.len() <= 1);
        for paragraph in paragraphs {
            let Some(text) = paragraph.sentences.get(number) else { continue };
            match pieces(text).len() {
                0 => continue,
                1..=SENTENCE_PIECES => fact.texts.push(text.clone()),
                _ => {}
            }
            fact.sentence = Some(number).filter(|_| !whole_paragraphs);
        }
        fact
    }
}

/// Pieces with fewer words are the remains of an abbreviation (`Dr.`, `St.`) and need not be found by themselves.
const PIECE_WORDS: usize = 3;

/// Longest footnote mark, brackets not counted, in bytes.
const MARK_BYTES: usize = 24;

/// Whether two titles name one page, however a dataset spells them.
pub fn is_same_page(a: &str, b: &str) -> bool {
    page_key(a) == page_key(b)
}

/// A title as `MediaWiki` spells it, of one that a dataset spells: underscores are spaces, FEVER's escapes are undone.
pub fn page_title(title: &str) -> String {
    let is_plain = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_alphanumeric);
    if title.as_bytes().split(|b| *b == b' ').all(is_plain) {
        return title.to_owned();
    }
    let mut title = Cow::Borrowed(title);
    if title.contains('-') {
        for (escape, character) in [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-COLON-", ":")] {
            title = title.replace(escape, character).into();
        }
    }
    let words = title.split(|c| c == '_' || is_python_space(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A page title as it is compared: no case, underscores are spaces, runs of spaces are one, FEVER's escapes
/// (`-LRB-`, `-RRB-`, `-LSB-`, `-RSB-`, `-COLON-`) undone, composed characters (NFC).
pub(super) fn page_key(title: &str) -> String {
    let title = page_title(title);
    if title.is_ascii() {
        return title.to_ascii_lowercase();
    }
    composed(&title).chars().flat_map(char::to_lowercase).collect()
}

/// The words of a text, each between single spaces: `" ray charles "`, or one space for a text without words.
///
/// Letters and digits in lower case are words; everything else separates. Footnote marks and the articles a, an and
/// the are left out. Characters of scripts that are written without spaces are a word each, so that a name is found
/// inside a sentence.
pub(super) fn words(text: &str) -> String {
    let mut words = Words { out: String::with_capacity(text.len() + 2), start: 1 };
    words.out.push(' ');
    let text = composed(&without_marks(text)).to_ascii_lowercase();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (plain, others) = rest.split_at(rest.bytes().take_while(u8::is_ascii_alphanumeric).count());
        words.out.push_str(plain);
        let mut others = others.chars();
        match others.next() {
            Some(c) if !c.is_ascii() => c.to_lowercase().for_each(|c| words.add(c)),
            _ => words.end(),
        }
        rest = others.as_str();
    }
    words.end();
    words.out
}

struct Words {
    out: String,
    /// Where the last one begins.
    start: usize,
}

impl Words {
    fn add(&mut self, c: char) {
        if !c.is_alphanumeric() {
            self.end();
        } else if is_unspaced(c) {
            self.end();
            self.out.push(c);
            self.end();
        } else {
            self.out.push(c);
        }
    }

    fn end(&mut self) {
        if self.out.len() == self.start {
            return;
        }
        if is_article(&self.out[self.start..]) {
            self.out.truncate(self.start);
            return;
        }
        self.out.push(' ');
        self.start = self.out.len();
    }
}

fn composed(text: &str) -> Cow<'_, str> {
    // Most texts are composed already and need no copy.
    let is_composed = text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes;
    if is_composed { Cow::Borrowed(text) } else { text.nfc().collect() }
}

/// [`words`] after the official normalisation, which deletes ASCII punctuation: `U.S.` is `us`.
pub(super) fn official_words(text: &str) -> String {
    words(&normalize(&without_marks(text)))
}

/// Whether `needle` has words and they are in `haystack` side by side. Both come from [`words`].
pub(super) fn is_in(needle: &str, haystack: &str) -> bool {
    needle.len() > 1 && haystack.contains(needle)
}

/// Whether a text has the words of another one side by side, read as they are or after the official normalisation.
pub fn has_words(text: &str, wanted: &str) -> bool {
    is_in(&words(wanted), &words(text)) || is_in(&official_words(wanted), &official_words(text))
}

/// The pieces into which the tool cuts a sentence that has `. ` inside, as [`words`]; those too short to mean anything
/// are left out, unless all are.
pub(super) fn pieces(sentence: &str) -> Vec<String> {
    let all: Vec<String> = sentence.split(". ").map(words).filter(|piece| piece.len() > 1).collect();
    let long = |piece: &&String| piece.split_ascii_whitespace().count() >= PIECE_WORDS;
    if all.iter().any(|piece| long(&piece)) { all.iter().filter(long).cloned().collect() } else { all }
}

/// The text without `[2]`, `[a]`, `[note 3]`, `[citation needed]`.
fn without_marks(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    if memchr::memchr(b'[', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    while let Some(at) = memchr::memchr(b'[', rest.as_bytes()) {
        let (before, bracket) = rest.split_at(at);
        out.push_str(before);
        let window = &bracket.as_bytes()[1..bracket.len().min(MARK_BYTES + 2)];
        let inside = memchr::memchr(b']', window).and_then(|end| std::str::from_utf8(&window[..end]).ok());
        if let Some(mark) = inside.filter(|mark| is_mark(mark)) {
            rest = &bracket[mark.len() + 2..];
        } else {
            out.push('[');
            rest = &bracket[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_mark(inside: &str) -> bool {
    let numbered = |text: &str| !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    let lettered = |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_lowercase());
    numbered(inside)
        || lettered(inside)
        || inside.ends_with(" needed")
        || ["note ", "nb ", "n "].iter().any(|kind| inside.strip_prefix(kind).is_some_and(numbered))
}

/// Scripts without spaces between words, and Korean, whose particles cling to names.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// A text for an explanation: one line, between backticks, at most 80 characters.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let shown = cut(text.trim(), SHOWN).replace(|c: char| c.is_control() || c == '`', " ");
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::{EvidenceGroup, GoldEvidence, GoldFact, is_in, official_words, page_key, pieces, quoted, words};
    use crate::base::{Evidence, Paragraph, Question, SupportingFact};

    fn fact(page: &str, number: Option<i64>, texts: &[&str]) -> GoldFact {
        let sentence = match (page, number) {
            ("Ada Byron", Some(1)) | ("The_A_-LRB-film-RRB-" | "B", Some(0 | 3)) => {
                number.and_then(|n| n.try_into().ok())
            }
            _ => None,
        };
        GoldFact { page: page.into(), number, sentence, texts: texts.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn supporting_facts_are_one_group_with_the_texts_that_the_context_has() {
        let mut question = Question::new("q", "?", vec!["x".into()]);
        assert_eq!(GoldEvidence::of(&question), None);
        question.context =
            vec![Paragraph { title: "Ada_Byron".into(), sentences: vec!["One.".into(), " Two.".into()] }];
        question.supporting_facts = [("Ada Byron", 1), ("ada byron", 1), ("Ada Byron", 9), ("Ada Byron", -1), ("B", 0)]
            .map(|(page, n)| SupportingFact(page.into(), n))
            .into();
        let group = EvidenceGroup {
            pages: vec!["Ada Byron".into(), "B".into()],
            facts: vec![
                fact("Ada Byron", Some(1), &[" Two."]),
                fact("Ada Byron", Some(9), &[]),
                fact("Ada Byron", Some(-1), &[]),
                fact("B", Some(0), &[]),
            ],
        };
        assert_eq!(GoldEvidence::of(&question).expect("evidence").groups(), [group]);
    }

    #[test]
    fn evidence_sets_are_alternatives_and_empty_ones_are_none() {
        let mut question = Question::new("q", "?", vec!["SUPPORTS".into()]);
        let piece = |page: Option<&str>, n| Evidence(page.map(str::to_owned), n);
        question.evidence_sets = vec![vec![piece(None, None)]];
        assert_eq!(GoldEvidence::of(&question), None);
        let pair = vec![piece(Some("The_A_-LRB-film-RRB-"), Some(0)), piece(Some("B"), Some(3))];
        question.evidence_sets = vec![pair.clone(), vec![piece(Some("C"), None)], pair];
        let evidence = GoldEvidence::of(&question).expect("evidence");
        assert_eq!(evidence.groups().len(), 2);
        assert_eq!(evidence.groups()[0].pages, ["The_A_-LRB-film-RRB-", "B"]);
        assert_eq!(evidence.groups()[1].facts, [fact("C", None, &[])]);
    }

    #[test]
    fn a_paragraph_is_no_sentence() {
        let mut question = Question::new("q", "?", vec!["x".into()]);
        let text = "It is one thing. It is two things. It is three things. It is four things.";
        question.context = vec![Paragraph { title: "P".into(), sentences: vec![text.into()] }];
        question.supporting_facts = vec![SupportingFact("P".into(), 0)];
        assert_eq!(GoldEvidence::of(&question).expect("evidence").groups()[0].facts, [fact("P", Some(0), &[])]);
    }

    #[test]
    fn titles_are_the_same_page_in_any_spelling() {
        assert_eq!(page_key("The_Leopard_-LRB-1963_film-RRB-"), page_key(" the leopard  (1963 Film)"));
        assert_eq!(page_key("Rene\u{301}e"), page_key("Ren\u{e9}e"));
        assert_eq!(page_key("Mission-COLON-Impossible"), "mission:impossible");
        assert_ne!(page_key("The Leopard"), page_key("Leopard"));
    }

    #[test]
    fn words_are_letters_and_digits_alone() {
        assert_eq!(
            words("The Palme d’Or.. was given[2] [note 1]to\nAda[citation needed]!"),
            " palme d or was given to ada "
        );
        assert_eq!(words("1990–1992 [1943] ['a']"), " 1990 1992 1943 ");
        assert_eq!(words("他生于北京市。"), " 他 生 于 北 京 市 ");
        assert_eq!([words(""), words("the ..."), words("[")], [" ", " ", " "]);
        assert_eq!(official_words("The U.S.[3] Navy"), " us navy ");
        assert_eq!(words("[é".repeat(3).as_str()), " é é é ");
    }

    #[test]
    fn only_whole_words_are_found() {
        assert!(is_in(&words("Ada"), &words("It was Ada.")));
        assert!(!is_in(&words("Ada"), &words("It was Adam.")));
        assert!(!is_in(&words("the"), &words("It was the end.")));
        assert!(is_in(&words("北京"), &words("他生于北京市。")));
    }

    #[test]
    fn pieces_are_cut_as_the_tool_cuts() {
        assert_eq!(
            pieces(" He met Dr. Ito in St. Louis once or twice."),
            [" he met dr ", " ito in st ", " louis once or twice "]
        );
        assert_eq!(pieces("J. R. R. Tolkien wrote it down."), [" tolkien wrote it down "]);
        assert_eq!(pieces("No. 5."), [" no ", " 5 "]);
        assert!(pieces(" . ").is_empty());
    }

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quoted(" a\nb`c\u{1b}d "), "`a b c d`");
        assert_eq!(quoted(&"é".repeat(81)), format!("`{}…`", "é".repeat(80)));
    }
}
