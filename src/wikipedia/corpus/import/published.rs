//! Published files of pages: KILT's knowledge source, and dumps of `HotpotQA`'s abstracts.
//!
//! `HotpotQA`'s dumps, abstracts and whole pages, are a `tar.bz2` or the folder that it unpacks to. A member `ROOT/AA/wiki_00.bz2` has
//! JSON lines. Their `text` is a list of sentences, or of paragraphs that are lists of sentences and begin with the title; sentences
//! have the spaces between them, and links as `<a href="…">`. Members are small and many, and are read on several threads.
//!
//! KILT's knowledge source: whole pages of August 2019, one on each line, as lists of paragraphs. `Section::::` marks a heading,
//! `BULLET::::` an item of a list.

use super::lines::{self, Batch, Compression, Lines, Parsed, RECORD, on_all_processors, unpacked, unpacked_text};
use super::{Facts, ImportError, Place, Records, deserialize_id, files_below, passage_record};
use crate::base::bounded::read_at_most;
use crate::net::recording::Inside;
use crate::wikipedia::corpus::record::{Article, Block, Record, check_title, from_json, number, page_number};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

#[derive(Deserialize)]
struct KiltLine {
    wikipedia_title: String,
    #[serde(default, deserialize_with = "page_number")]
    wikipedia_id: Option<u64>,
    text: Vec<String>,
    #[serde(default)]
    history: Value,
}

/// As `--compat fixed` shows a page: paragraphs and lists without headings, a list as one block with a line per item.
pub(super) fn parse_kilt(line: &[u8]) -> Parsed {
    let KiltLine { wikipedia_title: title, wikipedia_id, text, history } = from_json(line)?;
    check_title("wikipedia_title", &title)?;
    let first = usize::from(text.first().is_some_and(|first| first.trim() == title.trim()));
    let (mut blocks, mut in_list) = (Vec::<String>::new(), false);
    for paragraph in text.iter().skip(first).map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let item = paragraph.strip_prefix("BULLET::::").map(without_mark);
        match (item, blocks.last_mut()) {
            (Some(item), Some(list)) if in_list => {
                list.push('\n');
                list.push_str(item);
            }
            (Some(text), _) => blocks.push(text.to_owned()),
            (None, _) if paragraph.starts_with("Section::::") => {}
            (None, _) => blocks.push(paragraph.to_owned()),
        }
        in_list = item.is_some();
    }
    let blocks = blocks.into_iter().map(Block::Text).collect();
    let (revid, timestamp) = (history.get("revid").and_then(number), history.get("timestamp").and_then(Value::as_str));
    let timestamp = timestamp.map(str::to_owned);
    let article = Article::of_blocks(title, wikipedia_id, blocks);
    Ok(vec![Record::Article(Article { revid, timestamp, ..article })])
}

/// An item without its `- ` or `1. `.
fn without_mark(item: &str) -> &str {
    let unnumbered = item.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if unnumbered.len() < item.len() { ". " } else { "- " };
    unnumbered.strip_prefix(mark).unwrap_or(item).trim_start()
}

// FEVER's pages of Wikipedia: the folder of `wiki-001.jsonl` to `wiki-109.jsonl`, or one of the files. `lines` has the sentences
// with their numbers, which are those of the evidence.

/// How brackets, braces and colons are written.
const ESCAPES: [(&str, &str); 7] =
    [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}"), ("-COLON-", ":")];
/// So many numbers of sentences may be left out on a page.
const MAX_GAPS: usize = 1_000;

pub(super) fn open_fever(path: &Path) -> Result<Records, ImportError> {
    if !path.is_dir() {
        return lines::open_json(path, RECORD, parse_fever);
    }
    let files = fever_files(path)?;
    let root = path.to_owned();
    let inside = Inside::of(path)?;
    let records = files.into_iter().flat_map(move |path| -> Records {
        let member = Arc::from(path.strip_prefix(&root).unwrap_or(&path).to_string_lossy());
        match inside.open(&path).and_then(unpacked_text) {
            Ok(source) => Box::new(Lines::new(source, Some(member), parse_fever)),
            Err(error) => Box::new(std::iter::once(Err(error.into()))),
        }
    });
    Ok(Box::new(records))
}

pub(super) fn fever_files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    files_below(folder, "wiki-NNN.jsonl", |name| name.starts_with("wiki-") && name.contains(".jsonl"))
}

#[derive(Deserialize)]
struct FeverLine {
    id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    lines: String,
}

fn parse_fever(line: &[u8]) -> Parsed {
    let FeverLine { id, text, lines } = from_json(line)?;
    let title = without_escapes(&id).replace('_', " ");
    if title.trim().is_empty() {
        // Each file begins with a record in which nothing is.
        let nothing = text.is_empty() && lines.is_empty();
        return if nothing { Ok(Vec::new()) } else { Err("`id` is empty".to_owned()) };
    }
    let blocks = match fever_sentences(&lines) {
        sentences if sentences.is_empty() => vec![Block::Text(without_escapes(text.trim()))],
        sentences => vec![Block::spaced(sentences)],
    };
    Ok(vec![Record::Article(Article::of_blocks(title, None, blocks))])
}

/// Sentences in their places: of `12\tA sentence .\tlink\tTitle` the second field is the thirteenth. Text without a number
/// of its own belongs to the sentence before it.
fn fever_sentences(lines: &str) -> Vec<String> {
    let most = lines.split('\n').count() + MAX_GAPS;
    let mut sentences = Vec::<String>::new();
    for line in lines.split('\n') {
        let mut fields = line.split('\t').map(str::trim);
        let first = fields.next().unwrap_or_default();
        let number = first.parse().ok().filter(|number| (sentences.len()..most).contains(number));
        if let Some(number) = number {
            sentences.resize(number, String::new());
            sentences.push(without_escapes(fields.next().unwrap_or_default()));
        } else if let Some(last) = sentences.last_mut().filter(|_| !first.is_empty()) {
            last.push(' ');
            last.push_str(&without_escapes(first));
        } else if !first.is_empty() {
            sentences.push(without_escapes(first));
        }
    }
    sentences
}

fn without_escapes(text: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in ESCAPES {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    text
}

// The paragraphs that 2WikiMultiHopQA was made from, `para_with_hyperlink.jsonl`: the first of each page, in sentences.

#[derive(Deserialize)]
struct TwoWikiLine {
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    title: String,
    sentences: Vec<String>,
}

pub(super) fn parse_two_wiki(line: &[u8]) -> Parsed {
    let TwoWikiLine { id, title, sentences } = from_json(line)?;
    check_title("title", &title)?;
    let blocks =
        vec![if Block::has_spaces(&sentences) { Block::Sentences(sentences) } else { Block::spaced(sentences) }];
    Ok(vec![Record::Article(Article::of_blocks(title, id, blocks))])
}

// The passages of DPR, `psgs_w100.tsv`: id, text and title, separated by tabs, quoted as in CSV.

const DPR_COLUMNS: [&str; 3] = ["id", "text", "title"];

/// Reads a line. The first one may say that the columns are in another order.
pub(super) fn dpr_parser() -> impl FnMut(&[u8]) -> Parsed {
    let mut order = [0, 1, 2];
    move |line| {
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let fields = dpr_fields(line.trim_end_matches(['\r', '\n']))?;
        let at = DPR_COLUMNS.map(|column| fields.iter().position(|field| field == column));
        if let [Some(id), Some(text), Some(title)] = at {
            order = [id, text, title];
            return Ok(Vec::new());
        }
        let [id, text, title] = order.map(|at| fields[at].as_str());
        passage_record(title, id.to_owned(), text)
    }
}

/// The fields of a line. One that begins with a quotation mark goes to the next that is not doubled, and may hold tabs.
fn dpr_fields(line: &str) -> Result<[String; 3], String> {
    let mut fields = Vec::with_capacity(DPR_COLUMNS.len());
    let mut rest = Some(line);
    while let Some(mut field) = rest.filter(|_| fields.len() < DPR_COLUMNS.len()) {
        let mut text = String::new();
        if let Some(mut quoted) = field.strip_prefix('"') {
            loop {
                let closed = quoted.split_once('"').ok_or("a quotation mark is not closed on its line")?;
                text.push_str(closed.0);
                field = closed.1;
                let Some(doubled) = field.strip_prefix('"') else { break };
                text.push('"');
                quoted = doubled;
            }
        }
        let (own, after) = field.split_once('\t').map_or((field, None), |(own, after)| (own, Some(after)));
        fields.push(text + own);
        rest = after;
    }
    let expected = || "three fields are expected: id, text and title, with tabs between them".to_owned();
    if rest.is_some() {
        return Err(expected());
    }
    fields.try_into().map_err(|_| expected())
}

// Passages of Wikipedia of December 2018 as Search-R1 and `FlashRAG` publish them: `{"id": "0", "contents": "\"Title\"\ntext"}`.

#[derive(Deserialize)]
struct Wiki18Line {
    #[serde(deserialize_with = "deserialize_id")]
    id: String,
    contents: String,
}

/// The first line is the title. Its quotation marks are the format's; others are the title's own.
pub(super) fn parse_wiki18(line: &[u8]) -> Parsed {
    let Wiki18Line { id, contents } = from_json(line)?;
    let (title, text) = contents.split_once('\n').ok_or("`contents` has no text below its title")?;
    let title = title.trim();
    let bare = title.strip_prefix('"').and_then(|title| title.strip_suffix('"')).unwrap_or(title);
    passage_record(bare, id, text)
}

// A corpus of BEIR: `{"_id", "title", "text", "metadata"}` on each line of `corpus.jsonl`, which a folder of BEIR has.

/// The file of a folder that has the passages.
pub(super) const BEIR_FILE: &str = "corpus.jsonl";

pub(super) fn open_beir(path: &Path) -> Result<Records, ImportError> {
    if path.is_dir() {
        lines::open_member_json(path, &path.join(BEIR_FILE), parse_beir)
    } else {
        lines::open_json(path, RECORD, parse_beir)
    }
}

#[derive(Deserialize)]
struct BeirLine {
    #[serde(rename = "_id", default, deserialize_with = "some_id")]
    own: Option<String>,
    /// What passages of others have in its place.
    #[serde(default)]
    id: Value,
    title: String,
    text: String,
}

fn some_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    deserialize_id(deserializer).map(Some)
}

fn parse_beir(line: &[u8]) -> Parsed {
    let BeirLine { own, id, title, text } = from_json(line)?;
    let id = own.map_or_else(|| deserialize_id(id).map_err(|_| "field `_id` is missing".to_owned()), Ok)?;
    passage_record(&title, id, &text)
}

// The paragraphs that come with the questions of a dataset: `context` of `HotpotQA`, `2WikiMultiHopQA` and our own files, `paragraphs`
// of `MuSiQue`. The file has a question on each line, or a list of them.

#[derive(Deserialize)]
struct Question {
    context: Option<Context>,
    paragraphs: Option<Vec<Paragraph>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`context` is not a list of [title, [sentence, …]]")]
enum Context {
    List(Vec<Sentences>),
    Columns { title: Vec<String>, sentences: Vec<Vec<String>> },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Sentences {
    Pair(String, Vec<String>),
    Fields { title: String, sentences: Vec<String> },
}

#[derive(Deserialize)]
struct Paragraph {
    title: String,
    paragraph_text: String,
}

/// A paragraph in sentences is an article; paragraphs of a text each are passages of theirs.
pub(super) fn parse_question(question: &[u8]) -> Parsed {
    let Question { context, paragraphs } = from_json(question)?;
    if context.is_none() && paragraphs.is_none() {
        return Err("the question has neither `context` nor `paragraphs`".to_owned());
    }
    let context: Vec<(String, Vec<String>)> = match context {
        None => Vec::new(),
        Some(Context::List(list)) => {
            let pair = |one| match one {
                Sentences::Pair(title, sentences) | Sentences::Fields { title, sentences } => (title, sentences),
            };
            list.into_iter().map(pair).collect()
        }
        Some(Context::Columns { title, sentences }) if title.len() == sentences.len() => {
            title.into_iter().zip(sentences).collect()
        }
        Some(Context::Columns { .. }) => return Err("`context` has another number of titles than of texts".to_owned()),
    };
    // HotpotQA's sentences have the spaces between them; a few begin without one.
    let spaced = context.iter().any(|(_, sentences)| Block::has_spaces(sentences));
    let articles = context.into_iter().map(|(title, sentences)| {
        let blocks = vec![if spaced { Block::Sentences(sentences) } else { Block::spaced(sentences) }];
        Record::Article(Article::of_blocks(title, None, blocks))
    });
    let passages = paragraphs.into_iter().flatten().map(|Paragraph { title, paragraph_text }| Record::Passage {
        title,
        id: None,
        text: paragraph_text.trim().to_owned(),
    });
    Ok(articles.chain(passages).collect())
}

/// Members between the thread that reads the archive and those that unpack them.
const WAITING: usize = 16;
/// No member unpacks to more, in bytes.
const MAX_UNPACKED_BYTES: u64 = 1 << 30;
const MEMBER: &str = "wiki_";

type Member = Result<(Arc<str>, Vec<u8>), ImportError>;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let (members, to_unpack) = sync_channel(WAITING);
    if path.is_dir() {
        let (files, inside, root) = (hotpotqa_files(path)?, Inside::of(path)?, path.to_owned());
        thread::spawn(move || send_files(&inside, &root, &files, &members));
    } else {
        let source = File::open(path).and_then(unpacked)?;
        thread::spawn(move || send_archive(source, &members));
    }
    let read = |member: Member| member.map_or_else(|error| vec![Err(error)], |(name, bytes)| records(&name, bytes));
    Ok(Box::new(on_all_processors(to_unpack, read).into_iter().flatten()))
}

pub(super) fn facts() -> Facts {
    Facts {
        license: Some("CC-BY-SA-4.0".to_owned()),
        attribution: Some("Wikipedia contributors, as published by HotpotQA".to_owned()),
        changes: Some("plain text, links removed".to_owned()),
        ..Facts::default()
    }
}

pub(super) fn hotpotqa_files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    files_below(folder, "wiki_NN.bz2", |name| name.starts_with(MEMBER))
}

fn send_files(inside: &Inside, root: &Path, files: &[PathBuf], members: &SyncSender<Member>) {
    for path in files {
        let name = Arc::from(path.strip_prefix(root).unwrap_or(path).to_string_lossy());
        let bytes = inside.open(path).and_then(|file| read_at_most(file, MAX_UNPACKED_BYTES));
        let member = bytes.map(|bytes| (name, bytes)).map_err(ImportError::from);
        // Nobody listens after an error.
        if members.send(member).is_err() {
            return;
        }
    }
}

fn send_archive(source: impl Read, members: &SyncSender<Member>) {
    let wanted = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(MEMBER));
    let whole = lines::archive_members(source, "wiki_NN.bz2", wanted, |name, member| {
        let bytes = read_at_most(member, MAX_UNPACKED_BYTES)?;
        Ok(members.send(Ok((name, bytes))).is_ok())
    });
    if let Err(error) = whole {
        let _ = members.send(Err(error.into()));
    }
}

fn records(member: &Arc<str>, bytes: Vec<u8>) -> Batch {
    let read = match Compression::of(&bytes) {
        Some(packed) => packed.unpacker(&*bytes).and_then(|text| read_at_most(text, MAX_UNPACKED_BYTES)),
        None => Ok(bytes),
    };
    let place = |line: u64| Place { member: Some(Arc::clone(member)), line };
    let text = match read {
        Ok(text) => text,
        // What could be unpacked of it may end inside a record, and is not taken.
        Err(error) => return vec![Err(ImportError::Record { place: place(0), reason: error.to_string() })],
    };
    let lines = (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    lines.map(|(number, line)| place(number).found(parse(line))).collect()
}

#[derive(Deserialize)]
struct Line {
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    title: String,
    text: Vec<Block>,
}

fn parse(line: &[u8]) -> Result<Record, String> {
    let Line { id, title, text } = from_json(line)?;
    check_title("title", &title)?;
    let whole = text.iter().any(|block| matches!(block, Block::Sentences(_)));
    let blocks = if whole {
        // The first is the title again.
        let first = usize::from(text.first().is_some_and(|block| block.text().trim() == title.trim()));
        text.into_iter().skip(first).map(without_links).collect()
    } else {
        let sentences: Vec<String> = text.into_iter().map(Block::into_text).collect();
        if sentences.is_empty() { Vec::new() } else { vec![Block::Sentences(sentences)] }
    };
    Ok(Record::Article(Article::of_blocks(title, id, blocks)))
}

fn without_links(block: Block) -> Block {
    match block {
        Block::Text(text) => Block::Text(without_tags(&text)),
        Block::Sentences(sentences) => Block::Sentences(sentences.iter().map(|text| without_tags(text)).collect()),
    }
}

/// A text without `<a href="…">` and `</a>`; other marks are the text's own.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        plain.push_str(before);
        let end = tag.find('>').filter(|_| tag.starts_with("<a href=") || tag.starts_with("</a>"));
        let taken = end.map_or(1, |end| end + 1);
        if end.is_none() {
            plain.push('<');
        }
        rest = &tag[taken..];
    }
    plain + rest
}

#[cfg(test)]
mod contexts_tests;

#[cfg(test)]
mod tests {
    use super::{
        MAX_GAPS, dpr_parser, fever_sentences, parse_fever, parse_kilt, parse_question, parse_two_wiki, parse_wiki18,
    };
    use crate::wikipedia::corpus::import::tests::shown;

    #[test]
    fn a_page_has_its_paragraphs_and_lists_without_marks() {
        let line = serde_json::json!({
            "_id": "12", "wikipedia_id": "12", "wikipedia_title": "Lists",
            "text": [
                "Lists\n", "A first paragraph.\n", "Section::::History.\n", "BULLET::::- one\n", "BULLET::::2. two\n",
                "Section::::History.:Later.\n", "BULLET::::- 1984\n", "\n", "Lists\n", "BULLET::::x\n",
            ],
            "anchors": [{"text": "one"}], "categories": "A,B",
            "history": {"pageid": 12, "revid": 99, "timestamp": "2019-08-01T00:00:00Z", "pre_dump": true},
        });
        let article = r#"{"title":"Lists","id":12,"revid":99,"timestamp":"2019-08-01T00:00:00Z","blocks":["A first paragraph.","one\ntwo","1984","Lists","x"],"redirects":[]}"#;
        assert_eq!(shown(parse_kilt(line.to_string().as_bytes())), article);
        let bare = r#"{"wikipedia_title": "B", "wikipedia_id": 3, "text": ["B", "b"], "history": "gone"}"#;
        assert_eq!(shown(parse_kilt(bare.as_bytes())), r#"{"title":"B","id":3,"blocks":["b"],"redirects":[]}"#);
        assert_eq!(shown(parse_kilt(br#"{"wikipedia_title": " ", "text": []}"#)), "`wikipedia_title` is empty");
        assert_eq!(shown(parse_kilt(br#"{"wikipedia_title": "C"}"#)), "field `text` is missing at column 24");
    }

    #[test]
    fn sentences_have_the_numbers_of_the_evidence() {
        let lines = "0\tRed -LRB- a colour -RRB- is red .\tcolour\tColour\n1\t\n2\tIt is not blue .\n\n4\t";
        let line = serde_json::json!({"id": "Red_-LRB-film-COLON-_2-RRB-", "text": "x", "lines": lines});
        let article = r#"{"title":"Red (film: 2)","blocks":[["Red ( a colour ) is red .",""," It is not blue .","",""]],"redirects":[]}"#;
        assert_eq!(shown(parse_fever(line.to_string().as_bytes())), article);
        let without = r#"{"id": "A", "text": " -LSB-a-RSB- -LCB-b-RCB- "}"#;
        assert_eq!(shown(parse_fever(without.as_bytes())), r#"{"title":"A","blocks":["[a] {b}"],"redirects":[]}"#);
        assert_eq!(shown(parse_fever(br#"{"id": "", "text": "", "lines": ""}"#)), "");
        assert_eq!(shown(parse_fever(br#"{"id": "_", "text": "", "lines": "0\tx"}"#)), "`id` is empty");
        assert_eq!(shown(parse_fever(br#"{"id": 7}"#)), "integer `7` where a string is expected at column 8");
    }

    #[test]
    fn broken_numbers_lose_no_text_and_take_no_memory() {
        assert_eq!(
            fever_sentences("0\tA year\tx\n1984 was .\n1\tTwo .\n1\tAgain .\n2"),
            ["A year 1984 was .", "Two . 1", ""]
        );
        assert_eq!(fever_sentences("first\n\tlink\n18446744073709551615\tx"), ["first 18446744073709551615"]);
        assert_eq!(fever_sentences(&format!("{MAX_GAPS}\tx")).len(), MAX_GAPS + 1);
        assert_eq!(fever_sentences(&format!("{}\tx", MAX_GAPS + 1)).len(), 1);
    }

    #[test]
    fn sentences_keep_their_numbers_and_get_spaces_where_none_has_one() {
        let line = r#"{"id": "7", "title": "A", "sentences": ["One.", "Two.", "", "Four."], "mentions": [{"id": 0}]}"#;
        let article = r#"{"title":"A","id":7,"blocks":[["One."," Two.",""," Four."]],"redirects":[]}"#;
        assert_eq!(shown(parse_two_wiki(line.as_bytes())), article);
        let spaced = r#"{"id": 7, "title": "A", "sentences": ["One.", " Two?", "\" three."]}"#;
        let article = r#"{"title":"A","id":7,"blocks":[["One."," Two?","\" three."]],"redirects":[]}"#;
        assert_eq!(shown(parse_two_wiki(spaced.as_bytes())), article);
        assert_eq!(shown(parse_two_wiki(br#"{"title": "", "sentences": []}"#)), "`title` is empty");
    }

    #[test]
    fn quoted_fields_are_read_as_written_and_broken_lines_named() {
        let mut parse = dpr_parser();
        let mut read = |line: &str| shown(parse(line.as_bytes()));
        assert_eq!(read("id\ttext\ttitle\r\n"), "");
        assert_eq!(read("1\t\"Ada \"\"the\"\" Countess,\ttab\"\tAda\r\n"), "Ada #1 Ada \"the\" Countess,\ttab");
        assert_eq!(read("2\ta \"word\" inside\t\"\"\"Heroes\"\" (song)\"\n"), "\"Heroes\" (song) #2 a \"word\" inside");
        assert_eq!(read("3\t\"ended\" early\tAda"), "Ada #3 ended early");
        let three = "three fields are expected: id, text and title, with tabs between them";
        assert_eq!([read("4\ttext"), read("4\ta\tb\t")], [three, three]);
        assert_eq!(read("5\t\"open\tAda"), "a quotation mark is not closed on its line");
        assert_eq!(read("6\ttext\t \n"), "the title is empty");
        assert_eq!(read("title\tid\ttext"), "");
        assert_eq!(read("Ada\t7\tShe wrote."), "Ada #7 She wrote.");
    }

    #[test]
    fn titles_keep_the_quotation_marks_that_are_their_own() {
        let read = |contents: &str| {
            shown(parse_wiki18(serde_json::json!({"id": 7, "contents": contents}).to_string().as_bytes()))
        };
        assert_eq!(read("\"Ada\"\nShe wrote.\nMore."), "Ada #7 She wrote.\nMore.");
        assert_eq!(read("\"\"Heroes\" (song)\"\nA song."), "\"Heroes\" (song) #7 A song.");
        assert_eq!(read("\"\"Help!\"\"\nA song."), "\"Help!\" #7 A song.");
        assert_eq!(read("Ada\nno quotes"), "Ada #7 no quotes");
        assert_eq!(read("\"\nx"), "\" #7 x");
        assert_eq!(read("\"Ada\""), "`contents` has no text below its title");
        assert_eq!(read("\"\"\nx"), "the title is empty");
        assert_eq!(
            shown(parse_wiki18(b"{\"id\": [], \"contents\": \"a\\nb\"}")),
            "an id is a string or a number at column 9"
        );
    }

    #[test]
    fn contexts_are_read_in_every_shape() {
        let article = r#"{"title":"A","blocks":[["One."," Two."]],"redirects":[]}"#;
        for context in [
            r#"[["A", ["One.", "Two."]]]"#,
            r#"{"title": ["A"], "sentences": [["One.", "Two."]]}"#,
            r#"[{"title": "A", "sentences": ["One.", "Two."]}]"#,
        ] {
            let line = format!(r#"{{"_id": "x", "question": "?", "context": {context}}}"#);
            assert_eq!(shown(parse_question(line.as_bytes())), article, "{context}");
        }
        let spaced = br#"{"context": [["A", ["One?", "\" yes."]], ["B", ["One.", " Two."]]]}"#;
        assert!(shown(parse_question(spaced)).starts_with(r#"{"title":"A","blocks":[["One?","\" yes."]]"#));
        let paragraphs =
            br#"{"paragraphs": [{"idx": 0, "title": "A", "paragraph_text": " One. ", "is_supporting": true}]}"#;
        assert_eq!(shown(parse_question(paragraphs)), "A One.");
        for (line, reason) in [
            ("{\"question\": \"?\"}", "the question has neither `context` nor `paragraphs`"),
            ("{\"context\": \"a text\"}", "`context` is not a list of [title, [sentence, …]] at column 21"),
            (
                "{\"context\": {\"title\": [\"A\"], \"sentences\": []}}",
                "`context` has another number of titles than of texts",
            ),
        ] {
            assert_eq!(shown(parse_question(line.as_bytes())), reason);
        }
    }
}
