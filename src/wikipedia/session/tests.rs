//! Tests of the session over findings made up here.

use super::{PageError, Session, SessionError, SessionOptions};
use crate::base::{Compat, Provenance, Tool, Wording};
use crate::wikipedia::html::ExtractError;
use crate::wikipedia::{Found, FoundPassage, Retrieval, SentenceMap, Source, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex};

/// Answers from a function, and remembers what it was asked.
struct Made {
    answer: fn(&str) -> Result<Found, SourceError>,
    asked: Mutex<Vec<String>>,
}

impl Source for Made {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let answer = |query: &str| {
            self.asked.lock().expect("sound").push(query.to_owned());
            (self.answer)(query)
        };
        std::future::ready(asked.of_site().and_then(answer)).boxed()
    }
}

fn provenance() -> Provenance {
    Provenance { source: "made".to_owned(), status: 200, ..Provenance::default() }
}

fn page(blocks: &[&str]) -> Found {
    let blocks = blocks.iter().map(|block| (*block).to_owned()).collect();
    Found::Page { title: "T".to_owned(), blocks, sentences: None, provenance: provenance() }
}

fn session(compat: Compat, answer: fn(&str) -> Result<Found, SourceError>) -> (Session, Arc<Made>) {
    let source = Arc::new(Made { answer, asked: Mutex::default() });
    (Session::new(source.clone(), compat, SessionOptions::default()), source)
}

fn chinese(compat: Compat, answer: fn(&str) -> Result<Found, SourceError>) -> Session {
    let source = Arc::new(Made { answer, asked: Mutex::default() });
    Session::new(source, compat, SessionOptions { wording: Wording::Chinese, ..SessionOptions::default() })
}

/// Does each action, and checks what the tool answers.
async fn assert_told(session: &mut Session, actions: &[(Tool, &str, &str)]) {
    for (tool, input, text) in actions {
        let given = session.call(*tool, input).await.expect("an observation").text;
        assert_eq!(given, *text, "{tool:?} {input}");
    }
}

/// Articles, lists and faults by name.
fn library(query: &str) -> Result<Found, SourceError> {
    let titles = |titles: &[&str]| Found::Titles {
        titles: titles.iter().map(|title| (*title).to_owned()).collect(),
        provenance: provenance(),
    };
    Ok(match query {
        "北京" => page(&["北京是中国的首都。北京有故宫！它建于1420年", "参见", "Beijing is a city. It is big."]),
        "math" => page(&[r"a \xi here", "two words"]),
        "empty" => page(&[]),
        "loop" | "[loop]" | "[[loop]]" | "[[[loop]]]" | "[[[[loop]]]]" | "[[[[[loop]]]]]" => page(&["may refer to: x"]),
        "broken" => {
            return Err(SourceError::Extract { url: "made:".to_owned(), error: ExtractError::Rejected });
        }
        "gone" => return Err(SourceError::Internal("gone".to_owned())),
        _ => titles(&["It's", r"\u", "c", "d", "e", "f"]),
    })
}

#[tokio::test]
async fn chinese_and_paper_is_the_script_in_words_and_state() {
    let mut session = chinese(Compat::Paper, library);
    let first = [
        (Tool::Lookup, "x", "没有页面内容可以查找。"),
        (Tool::Search, "math", r"a \xi here."),
        (Tool::Lookup, "A", r"(结果 1 / 1) a \xi here."),
        (Tool::Lookup, "A", "没有更多结果。"),
        (Tool::Invalid, "search[x]", "无效动作:search[x]"),
        (Tool::Think, "x", "无效动作:Think[x]"),
        // Chinese text has no full stop and space, and a block without spaces is too short.
        (Tool::Search, "北京", "Beijing is a city. It is big.."),
    ];
    assert_told(&mut session, &first).await;
    for (query, text) in [
        ("none", r#"找不到[none]。相似结果:["It's", '\\u', 'c', 'd', 'e']。"#),
        ("loop", "搜索出错:“loop”加方括号重试5次,得到的仍是消歧义页"),
        ("broken", "搜索出错:`made:`: the page's markup was rejected by the parser"),
    ] {
        assert_told(&mut session, &first[1..2]).await;
        session.call(Tool::Lookup, "a").await.expect("a result");
        let given = session.call(Tool::Search, query).await.expect("an observation");
        assert_eq!(given.text, text);
        assert_eq!((given.missed, given.note), (true, None));
        let state = session.state();
        assert_eq!((state.page_chars, state.lookup_keyword), (None, None), "{query}");
    }
    let empty = [(Tool::Search, "empty", ""), (Tool::Lookup, "a", "没有页面内容可以查找。")];
    assert_told(&mut session, &empty).await;
}

#[tokio::test]
async fn the_script_goes_on_after_an_empty_answer_and_loses_nothing_to_a_dead_line() {
    let mut session = chinese(Compat::Paper, library);
    assert_told(&mut session, &[(Tool::Search, "math", r"a \xi here."), (Tool::Finish, "", "任务完成。")]).await;
    assert!(!session.done());
    session.call(Tool::Lookup, "here").await.expect("a result");
    let before = session.state();
    assert!(session.call(Tool::Search, "gone").await.expect_err("no measurement").is_infrastructure());
    assert_eq!(session.state(), before);
    assert_told(&mut session, &[(Tool::Finish, "x", "任务完成。"), (Tool::Search, "math", "任务完成。")]).await;
    assert_eq!(session.state().answer.as_deref(), Some("x"));
}

#[tokio::test]
async fn chinese_and_fixed_reads_chinese_pages() {
    let mut session = chinese(Compat::Fixed, library);
    let actions = [
        (Tool::Lookup, "x", "没有页面内容可以查找。"),
        (Tool::Search, "北京", "北京是中国的首都。北京有故宫！它建于1420年。Beijing is a city. It is big.."),
        (Tool::Lookup, "北京", "(结果 1 / 2) 北京是中国的首都。"),
        (Tool::Lookup, "北京", "(结果 2 / 2) 北京有故宫！"),
        (Tool::Search, "none", r#"找不到[none]。相似结果:["It's", '\\u', 'c', 'd', 'e']。"#),
        (Tool::Lookup, "北京", "没有更多结果。"),
        (Tool::Think, "x", "想法不错。"),
        (Tool::Finish, "", "任务完成。"),
    ];
    assert_told(&mut session, &actions).await;
    assert!(session.done());
    assert_eq!(
        session.page().as_deref(),
        Some("北京是中国的首都。北京有故宫！它建于1420年\nBeijing is a city. It is big.\n")
    );
}

#[tokio::test]
async fn disambiguation_is_capped_and_leaves_the_state_alone() {
    let (mut session, source) = session(Compat::Paper, |_| Ok(page(&["it may refer to: more"])));
    let error = session.call(Tool::Search, "x").await.expect_err("no end");
    assert!(!error.is_infrastructure());
    let SessionError::Page(error) = error else { panic!("the original raises") };
    assert_eq!(error, PageError::Disambiguation { query: "x".to_owned(), retries: 5 });
    assert_eq!(error.kind(), "RecursionError");
    assert_eq!(source.asked.lock().expect("sound").len(), 6);
    assert_eq!(source.asked.lock().expect("sound")[2], "[[x]]");
    assert_eq!((session.state().steps, session.page()), (0, None));
}

#[tokio::test]
async fn an_exception_leaves_the_page_half_filled_and_the_lookup_standing() {
    let (mut session, _) = session(Compat::Paper, |query| match query {
        "good" => Ok(page(&["one two three", "too short"])),
        _ => Ok(page(&["kept as it is", r"a \xi here", "never read at all"])),
    });
    session.call(Tool::Search, "good").await.expect("a page");
    assert_eq!(session.page().as_deref(), Some("one two three\n"));
    session.call(Tool::Lookup, "TWO").await.expect("a result");
    let error = session.call(Tool::Search, "bad").await.expect_err("raises");
    assert!(!error.is_infrastructure());
    assert_eq!(
        error.to_string(),
        "the paper's environment raises `UnicodeDecodeError`: 'unicodeescape' codec can't decode bytes in position 2-3: \
         truncated \\xXX escape"
    );
    assert_eq!(session.observation(), "(Result 1 / 1) one two three.");
    assert_eq!(session.page().as_deref(), Some("kept as it is\n"));
    let state = session.state();
    assert_eq!((state.lookup_keyword.as_deref(), state.lookup_cnt, state.steps), (Some("TWO"), Some(1), 2));
}

#[tokio::test]
async fn fixed_skips_clean_str_and_reads_nothing_as_an_empty_list() {
    let (mut session, _) = session(Compat::Fixed, |query| match query {
        "math" => Ok(page(&[r"a \xi here", "x may refer to: y"])),
        "dis" => Ok(Found::Disambiguation {
            title: "T".to_owned(),
            entries: Arc::new(["A".to_owned(), "B".to_owned()]),
            blocks: Arc::default(),
            provenance: provenance(),
        }),
        "gone" => Err(SourceError::Internal("gone".to_owned())),
        _ => Ok(Found::Nothing { blocks: Arc::new(["There were no results.".to_owned()]), provenance: provenance() }),
    });
    let first = session.call(Tool::Search, "none").await.expect("an answer");
    assert_eq!((first.text.as_str(), first.note), ("Could not find none. Similar: [].", None));
    let math = session.call(Tool::Search, "math").await.expect("a page");
    assert_eq!(math.text, r"a \xi here. x may refer to: y.");
    assert_eq!(math.provenance, Some(provenance()));
    session.call(Tool::Lookup, "x").await.expect("a result");
    let dis = session.call(Tool::Search, "dis").await.expect("an answer");
    assert_eq!(dis.text, "Could not find dis. Similar: ['A', 'B'].");
    assert_eq!(dis.note.as_deref(), Some("no page was found; `T` stays open"));
    let before = session.state();
    let gone = session.call(Tool::Search, "gone").await.expect_err("no source");
    assert!(matches!(gone, SessionError::Source(_)) && gone.is_infrastructure());
    assert_eq!(session.state(), before);
    let next = session.call(Tool::Lookup, "x").await.expect("a result");
    assert_eq!(next.text, "(Result 2 / 2) x may refer to: y.");
    assert_eq!(session.call(Tool::Lookup, "x").await.expect("a result").text, "No more results.\n");
}

#[tokio::test]
async fn the_state_counts_characters_once_however_often_it_is_asked() {
    let (mut session, _) = session(Compat::Paper, |query| match query {
        "long" => Ok(page(&[&"é is. ".repeat(100_000), "and one more block"])),
        "bad" => Ok(page(&["ä ö ü", r"a \xi here"])),
        _ => Ok(page(&[r"one \x41\n two"])),
    });
    session.call(Tool::Search, "long").await.expect("a page");
    // A scan of the page at each of these would take minutes.
    for n in 1..=100_000 {
        session.call(Tool::Lookup, "IS").await.expect("a result");
        assert_eq!((session.state().page_chars, session.state().lookup_cnt), (Some(600_019), Some(n)));
    }
    session.call(Tool::Search, "bad").await.expect_err("raises");
    assert_eq!(session.state().page_chars, Some(6));
    // What `clean_str` makes of a block is what counts.
    session.call(Tool::Search, "other").await.expect("a page");
    assert_eq!((session.page().as_deref(), session.state().page_chars), (Some("one A\n two\n"), Some(11)));
}

#[tokio::test]
async fn a_search_without_a_page_is_marked_as_missed() {
    let answer = |query: &str| {
        let nothing = Arc::new(["There were no results matching the query.".to_owned()]);
        Ok(match query {
            "page" => page(&["one two three"]),
            "said" => page(&["There were no results matching the query."]),
            "list" | "[dis]" => Found::Titles { titles: Arc::default(), provenance: provenance() },
            "dis" => Found::Disambiguation {
                title: "T".to_owned(),
                entries: Arc::default(),
                blocks: Arc::new(["T may refer to:".to_owned()]),
                provenance: provenance(),
            },
            _ => Found::Nothing { blocks: nothing, provenance: provenance() },
        })
    };
    for (compat, said) in [(Compat::Fixed, false), (Compat::Paper, true)] {
        let (mut session, _) = session(compat, answer);
        for (query, missed) in [("page", false), ("list", true), ("dis", true), ("none", true), ("said", said)] {
            let given = session.call(Tool::Search, query).await.expect("an answer");
            assert_eq!(given.missed, missed, "{compat:?} {query}");
            assert!(!session.call(Tool::Lookup, "zz").await.expect("an answer").missed);
        }
    }
}

#[tokio::test]
async fn after_an_answer_nothing_moves() {
    let (mut session, source) = session(Compat::Fixed, |_| Ok(page(&[])));
    session.call(Tool::Finish, "").await.expect("an answer");
    assert!(session.done());
    let after = session.call(Tool::Search, "x").await.expect("the last observation");
    assert_eq!((after.text.as_str(), after.provenance), ("Episode finished.\n", None));
    assert_eq!((session.state().steps, session.state().answer.as_deref()), (1, Some("")));
    assert!(source.asked.lock().expect("sound").is_empty());
}

/// A page of given sentences, one of them empty, with a block that is not a list and one that is too short to be read.
#[expect(clippy::unnecessary_wraps, reason = "as a source answers")]
fn sentenced(query: &str) -> Result<Found, SourceError> {
    let lists: [&[&str]; 4] = match query {
        "math" => [&[r"Let \beta be a letter."], &[], &[], &[]],
        _ => [
            &["Ada was born in St. Ives. ", "", "Did she write? ", "She did. "],
            &["A text of one piece. It has no sentences."],
            &["Too short."],
            &["She met Dr. Babbage.", " It was late."],
        ],
    };
    let blocks = lists.iter().map(|list| list.concat()).collect();
    let ends = |(number, list): (usize, &&[&str])| {
        let mut end = 0;
        let list = if number == 1 { &[] } else { *list };
        list.iter().map(|sentence| (end += sentence.len(), end).1).collect()
    };
    let sentences = SentenceMap::of(lists.iter().enumerate().map(ends).collect());
    Ok(Found::Page { title: query.to_owned(), blocks, sentences, provenance: provenance() })
}

#[tokio::test]
async fn searches_and_lookups_say_which_given_sentences_they_show() {
    let shown = |observation: &super::Observation| observation.provenance.clone().and_then(|page| page.sentences);
    for compat in [Compat::Paper, Compat::Fixed] {
        let (mut session, _) = session(compat, sentenced);
        let plain = |query: &str| match sentenced(query)? {
            Found::Page { title, blocks, provenance, .. } => {
                Ok(Found::Page { title, blocks, sentences: None, provenance })
            }
            other => Ok(other),
        };
        let mut without = self::session(compat, plain).0;
        for (tool, input, sentences) in [
            (Tool::Lookup, "late", None),
            // Five pieces: `St. Ives` is two of them.
            (Tool::Search, "Ada", Some(vec![[0, 0, 1], [0, 2, 4]])),
            (Tool::Lookup, "she", Some(vec![[0, 2, 4]])),
            (Tool::Lookup, "she", Some(vec![])),
            (Tool::Lookup, "she", None),
            (Tool::Lookup, "babbage", Some(vec![])),
            (Tool::Lookup, "late", Some(vec![[3, 1, 2]])),
            (Tool::Lookup, "one piece", Some(vec![])),
            (Tool::Think, "babbage", None),
            (Tool::Search, "math", (compat == Compat::Fixed).then(|| vec![[0, 0, 1]])),
        ] {
            let given = session.call(tool, input).await.expect("an observation");
            assert_eq!(shown(&given), sentences, "{compat:?} {tool:?} {input}: {}", given.text);
            assert_eq!(without.call(tool, input).await.expect("an observation").text, given.text);
        }
    }
    for (limit, sentences) in
        [(23, vec![]), (39, vec![[0, 0, 1]]), (40, vec![[0, 0, 1], [0, 2, 3]]), (99, vec![[0, 0, 1], [0, 2, 4]])]
    {
        let source = Arc::new(Made { answer: sentenced, asked: Mutex::default() });
        let options = SessionOptions { observation_chars: Some(limit), ..SessionOptions::default() };
        let given = Session::new(source, Compat::Fixed, options).call(Tool::Search, "Ada").await.expect("a page");
        assert_eq!(shown(&given), Some(sentences), "{limit}: {}", given.text);
    }
}

/// Two passages for any query but `nothing`, the second with sentences; one document.
struct Retriever;

impl Source for Retriever {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let passage = |id: &str, title: &str, text: &str, sentences| FoundPassage {
            id: id.to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
            score: Some(1.5),
            sentences,
        };
        let found = match asked {
            Retrieval::Search { .. } => page(&["Open."]),
            Retrieval::Passages { query: "nothing", .. } | Retrieval::Document { id: "0" } => {
                Found::Nothing { blocks: Arc::default(), provenance: provenance() }
            }
            Retrieval::Passages { count, .. } => {
                let passages =
                    [passage("7.0", "Ada", "Ada wrote.", None), passage("", "", "Née. Two.", Some((4, vec![6, 10])))];
                let passages = passages.into_iter().take(count).collect();
                Found::Passages { passages, provenance: provenance() }
            }
            Retrieval::Document { .. } => {
                let blocks: Arc<[String]> = Arc::new(["One. Two.".to_owned(), "Three.".to_owned()]);
                let sentences = SentenceMap::of(vec![vec![5, 9], vec![6]]);
                Found::Page { title: "Ada".to_owned(), blocks, sentences, provenance: provenance() }
            }
        };
        std::future::ready(Ok(found)).boxed()
    }
}

fn over_retriever(passages: usize, observation_chars: Option<usize>) -> Session {
    let options = SessionOptions { passages, observation_chars, ..SessionOptions::default() };
    Session::new(Arc::new(Retriever), Compat::Fixed, options)
}

#[tokio::test]
async fn passages_are_shown_with_titles_and_ids_and_the_open_page_stays_open() {
    let mut session = over_retriever(5, None);
    session.call(Tool::Search, "T").await.expect("a page");
    let given = session.call(Tool::Passages, "who?").await.expect("passages");
    assert_eq!(given.text, "[1] Ada (id 7.0)\nAda wrote.\n\n[2]\nNée. Two.");
    let hits = given.provenance.expect("provenance").hits;
    let shown: Vec<_> = hits.iter().map(|hit| (hit.rank, hit.id.as_str(), hit.shown, hit.sentences.clone())).collect();
    assert_eq!(shown, [(1, "7.0", 10, None), (2, "", 9, Some(vec![[4, 0, 2]]))]);
    assert_eq!((hits[0].score, session.title()), (Some(1.5), Some("T")));
    assert_told(&mut over_retriever(1, None), &[(Tool::Passages, "who?", "[1] Ada (id 7.0)\nAda wrote.")]).await;
    let none = session.call(Tool::Passages, "nothing").await.expect("an answer");
    assert_eq!((none.text.as_str(), none.missed), ("No passages found.", true));
    assert_eq!(none.provenance.expect("provenance").hits, []);
}

#[tokio::test]
async fn what_an_observation_was_cut_before_was_not_shown() {
    let mut session = over_retriever(2, Some(38));
    let given = session.call(Tool::Passages, "who?").await.expect("passages");
    assert_eq!(given.text, "[1] Ada (id 7.0)\nAda wrote.\n\n[2]\nNée. …");
    let hits = given.provenance.expect("provenance").hits;
    assert_eq!((hits[0].shown, hits[1].shown, &hits[1].sentences), (10, 5, &Some(vec![[4, 0, 1]])));
    let mut session = over_retriever(2, Some(20));
    let hits = session.call(Tool::Passages, "who?").await.expect("passages").provenance.expect("provenance").hits;
    assert_eq!((hits[0].shown, hits[1].shown, &hits[1].sentences), (3, 0, &Some(vec![])));
}

#[tokio::test]
async fn a_document_is_shown_whole_or_as_far_as_observations_go() {
    let mut session = over_retriever(3, None);
    let given = session.call(Tool::Document, "7.0").await.expect("a document");
    assert_eq!(given.text, "Ada\nOne. Two.\nThree.");
    let sentences = given.provenance.expect("provenance").sentences;
    assert_eq!(sentences, Some(vec![[0, 0, 2], [1, 0, 1]]));
    let given = over_retriever(3, Some(10)).call(Tool::Document, "7").await.expect("a document");
    assert_eq!((given.text.as_str(), given.missed), ("Ada\nOne. T…", false));
    assert_eq!(given.provenance.expect("provenance").sentences, Some(vec![[0, 0, 1]]));
    let cut = over_retriever(3, Some(5)).call(Tool::Passages, "nothing").await.expect("an answer");
    assert_eq!(cut.text, "No pa…");
    let none = session.call(Tool::Document, "0").await.expect("an answer");
    assert_eq!((none.text.as_str(), none.missed), ("There is no document with the id 0.", true));
    let mut live = Session::new(
        Arc::new(Made { answer: library, asked: Mutex::default() }),
        Compat::Fixed,
        SessionOptions::default(),
    );
    let error = live.call(Tool::Passages, "x").await.expect_err("no passages");
    assert_eq!(error.to_string(), "the wikipedia source failed inside: this source has no passages");
}
