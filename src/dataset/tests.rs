//! Tests of the readers: every layout, every fault with its place, selection and shuffles.

use super::*;
use crate::base::{AnswerKind, Evidence, Paragraph, Selection, SupportingFact};
use std::io::Write as _;

pub(super) fn read(file: &str, text: &str) -> Result<Dataset, DatasetError> {
    read_with(file, text.as_bytes(), &ReadOptions::default())
}

/// Reads the bytes, and a file of them, which must make no difference.
fn read_with(file: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, DatasetError> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(file);
    std::fs::create_dir_all(path.parent().expect("the folder")).expect("created");
    std::fs::write(&path, bytes).expect("written");
    let told =
        |read: Result<Dataset, DatasetError>| read.map(|all| format!("{all:?}")).map_err(|error| error.to_string());
    let shown = path.display().to_string();
    assert_eq!(told(load_file(&path, options)), told(load(&shown, bytes, options)), "{file}");
    load(file, bytes, options)
}

pub(super) fn message(file: &str, text: &str) -> String {
    read(file, text).map(|dataset| format!("{:?}", dataset.questions)).unwrap_err().to_string()
}

fn ids(dataset: &Dataset) -> Vec<&str> {
    dataset.questions.iter().map(|question| question.id.as_str()).collect()
}

const OFFICIAL: &str = r#"[
  {"_id": "a1", "question": "Q one?", "answer": "yes", "type": "comparison", "level": "hard",
   "supporting_facts": [["T", 0], ["U", 2]], "context": [["T", ["One.", " Two."]], ["U", []]], "dev_index": 7},
  {"_id": "a2", "question": "Q two?", "answer": "Paris", "type": "bridge", "level": "easy",
   "supporting_facts": [], "context": []}
]"#;

#[test]
fn hotpotqa_official() {
    let dataset = read("x.json", OFFICIAL).unwrap();
    assert_eq!((dataset.name.as_str(), dataset.format.name()), ("hotpotqa", "hotpotqa"));
    let first = &dataset.questions[0];
    assert_eq!((first.id.as_str(), first.answer_kind, first.gold()), ("a1", AnswerKind::YesNo, Some("yes")));
    assert_eq!(first.supporting_facts, [SupportingFact("T".into(), 0), SupportingFact("U".into(), 2)]);
    assert_eq!(first.context[0], Paragraph { title: "T".into(), sentences: vec!["One.".into(), " Two.".into()] });
    assert_eq!(first.meta["dev_index"], 7);
    assert_eq!(dataset.questions[1].answer_kind, AnswerKind::Span);
    assert_eq!(dataset.questions[1].index, 1);
    let reduce = Some((|question: &mut Question| question.context.clear()) as fn(&mut Question));
    let reduced = load("x.json", OFFICIAL.as_bytes(), &ReadOptions { reduce, ..ReadOptions::default() }).unwrap();
    assert!(reduced.questions.iter().all(|question| question.context.is_empty()));
    assert_eq!(reduced.questions[0].supporting_facts, first.supporting_facts);
}

#[test]
fn hotpotqa_hub_layout_as_lines() {
    let line = r#"{"id": "h", "question": "Q?", "answer": "A", "type": "bridge", "level": "easy", "supporting_facts": {"title": ["T"], "sent_id": [3]}, "context": {"title": ["T"], "sentences": [["S."]]}}"#;
    let dataset = read("x.jsonl", &format!("{line}\n")).unwrap();
    assert_eq!(dataset.format.name(), "hotpotqa");
    assert_eq!(dataset.questions[0].supporting_facts, [SupportingFact("T".into(), 3)]);
    assert_eq!(dataset.questions[0].context[0].sentences, ["S."]);
    let uneven = line.replace("\"sent_id\": [3]", "\"sent_id\": []");
    assert!(message("x.jsonl", &uneven).contains("field `supporting_facts`"));
}

#[test]
fn hotpotqa_simplified_gets_ids_and_the_test_file_hides_answers() {
    let dataset =
        read("x.json", r#"[{"question": "A?", "answer": "no", "type": "bridge"}, {"question": "B?"}]"#).unwrap();
    assert_eq!(ids(&dataset), ["hotpotqa-0", "hotpotqa-1"]);
    assert!(dataset.questions[1].answers.is_empty());
}

#[test]
fn fever_lines() {
    let text = r#"{"id": 75, "verifiable": "VERIFIABLE", "label": "SUPPORTS", "claim": "C.", "evidence": [[[1, 2, "P", 7], [1, 3, "Q", 0]], [[4, null, null, null]]]}
{"id": 76, "claim": "Hidden."}
"#;
    let dataset = read("x.jsonl", text).unwrap();
    assert_eq!((dataset.format.name(), ids(&dataset)), ("fever", vec!["75", "76"]));
    let first = &dataset.questions[0];
    assert_eq!((first.answer_kind, first.gold()), (AnswerKind::Label, Some("SUPPORTS")));
    assert_eq!(
        first.evidence_sets,
        [vec![Evidence(Some("P".into()), Some(7)), Evidence(Some("Q".into()), Some(0))], vec![Evidence(None, None)]]
    );
    assert!(dataset.questions[1].answers.is_empty());
}

#[test]
fn our_own_lines_need_only_a_question() {
    let text = r#"{"question": "A?", "answer": ["x", "y"], "source": "me"}
{"id": 5, "question": "B?", "answer": true, "type": "t", "level": "l"}
{"question": "C?", "answers": ["REFUTES"], "meta": {"k": 1}}
{"question": "D?", "answer": 1867}
"#;
    let dataset = read("dir/mine.v2.jsonl", text).unwrap();
    assert_eq!((dataset.name.as_str(), dataset.format.name()), ("mine", "jsonl"));
    assert_eq!(ids(&dataset), ["mine-0", "5", "mine-2", "mine-3"]);
    let kinds: Vec<_> = dataset.questions.iter().map(|question| question.answer_kind).collect();
    assert_eq!(kinds, [AnswerKind::Span, AnswerKind::YesNo, AnswerKind::Label, AnswerKind::Span]);
    assert_eq!(dataset.questions[0].answers, ["x", "y"]);
    assert_eq!(dataset.questions[0].meta["source"], "me");
    assert_eq!(dataset.questions[2].meta["k"], 1);
    assert_eq!(dataset.questions[3].answers, ["1867"]);
}

#[test]
fn tables() {
    let csv = "question,answer,id,type\n\"Who, \"\"what\"\"\nand why?\",\"[\"\"a\"\", \"\"b\"\"]\",q1,bridge\nB?,[not json,q2,\n";
    let dataset = read("t.csv", csv).unwrap();
    assert_eq!(dataset.questions[0].question, "Who, \"what\"\nand why?");
    assert_eq!(dataset.questions[0].answers, ["a", "b"]);
    assert_eq!(dataset.questions[1].answers, ["[not json"]);
    assert_eq!(dataset.questions[1].kind, None);
    let tsv = read("noname", "id\tquestion\tanswer\n1\tA?\tx\n").unwrap();
    assert_eq!((tsv.format.name(), tsv.questions[0].gold()), ("tsv", Some("x")));
    let options = ReadOptions {
        columns: Columns { question: Some("q".into()), answer: Some("a".into()), ..Columns::default() },
        ..ReadOptions::default()
    };
    assert_eq!(load("t.csv", b"q,a\nA?,x\n", &options).unwrap().questions[0].answers, ["x"]);
    for table in ["frage,answer\nA?,x\n", "frage;answer\nA?;x\n"] {
        assert_eq!(message("t.csv", table), "`t.csv`, line 1: no column `question`; the columns are `frage`, `answer`");
    }
    assert_eq!(
        message("t.csv", "question,answer\nA?,x\nB?,x,z\n"),
        "`t.csv`, line 3: the row has 3 cells where the header has 2"
    );
}

#[test]
fn gzip_byte_order_mark_and_line_ends() {
    let text = format!("\u{feff}{}", OFFICIAL.replace('\n', "\r\n"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    for raw in [text.as_bytes(), &packed] {
        assert_eq!(load("x.json", raw, &ReadOptions::default()).unwrap().questions.len(), 2);
    }
    let error = load("x.json", &packed[..packed.len() / 2], &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, DatasetError { problem: Problem::Gzip(_), .. }), "{error}");
}

#[test]
fn faults_name_their_place() {
    for (text, expected) in [
        ("", "`x.json` has no questions"),
        (" \n\t\n", "`x.json` has no questions"),
        ("[]", "`x.json` has no questions"),
        ("hello\n", "`x.json`, line 1: not JSON: it begins with `hello`"),
        ("<html>", "`x.json`, line 1: this is an HTML page, not a dataset"),
        (
            "[\n{\"question\": \"A?\"},\n{\"question\": }]",
            "`x.json`, line 3: not JSON: expected value (column 14, record 2)",
        ),
        (
            "[\n{\"question\": \"A?\"},\n{\"question\": \"B",
            "`x.json`, line 3, record 2: the file ends in the middle of the record",
        ),
        ("[\n{\"question\": \"A?\"}", "`x.json`, line 2, record 1: the file ends in the middle of the record"),
        ("[{\"question\": \"A?\"} {}]", "`x.json`, line 1: not JSON: expected `,` or `]` after record 1"),
        ("[{\"question\": \"A?\"}]\nmore", "`x.json`, line 2: not JSON: more text follows the list"),
        ("[{\"question\": \"A?\"}, 5]", "`x.json`, line 1, record 2, field `(record)`: expected an object, found `5`"),
        ("[{\"question\": 7}]", "`x.json`, line 1, record 1, field `question`: expected a text, found `7`"),
        ("[{\"question\": \" \"}]", "`x.json`, line 1, record 1, field `question`: the question is empty: ` `"),
        ("[{\"answer\": \"x\"}]", "`x.json`, line 1, record 1, field `question`: missing"),
        (
            "{\"id\": \"a\", \"question\": \"A?\"}\n\n{\"id\": \"a\", \"question\": \"B?\"}\n",
            "`x.json`, line 3, record 2: the id `a` was already used at line 1, record 1",
        ),
        (
            "{\"foo\": 1, \"bar\": 2}",
            "`x.json`, line 1: the first record has no known format; its keys are `foo`, `bar`",
        ),
        ("{\"question\": \"A?\", \"supporting_facts\": 3}", "`x.json`, line 1, record 1, field `supporting_facts`: "),
    ] {
        let message = message("x.json", text);
        assert!(message.starts_with(expected), "{text:?} gives {message}");
    }
    let error = load("x.json", b"[\n\"\xff\"]", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "`x.json`, line 2: not UTF-8");
}

#[test]
fn bad_records_are_counted_when_asked() {
    let text = "{\"id\": \"a\", \"question\": \"A?\"}\n{\"id\": \"b\"}\nnonsense\n{\"id\": \"a\", \"question\": \"C?\"}\n{\"id\": \"d\", \"question\": \"D?\"}\n";
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let dataset = load("x.jsonl", text.as_bytes(), &options).unwrap();
    assert_eq!(ids(&dataset), ["a", "d"]);
    assert_eq!(dataset.skipped.len(), 3);
    assert_eq!(dataset.questions[1].index, 4, "positions count the file's records");
    let nothing = load("x.jsonl", b"{\"id\": \"b\", \"question\": 1}\n", &options);
    assert!(nothing.unwrap_err().to_string().contains("field `question`"));
}

#[test]
fn hostile_values_are_shown_short_and_escaped() {
    let text = format!("[{{\"question\": [\"\\u001b[31m{}\"]}}]", "x".repeat(10_000));
    let message = message("x.json", &text);
    assert!(message.len() < 300 && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn objects_over_several_lines_are_read() {
    let text = "{\n  \"question\": \"A?\",\n  \"answer\": \"x\"\n}\n{\n  \"question\": \"B?\"\n}\n";
    assert_eq!(read("x.json", text).unwrap().questions.len(), 2);
    let bad = "{\n  \"question\": \"A?\"\n}\n{\n  \"question\": 5\n}\n";
    assert_eq!(message("x.json", bad), "`x.json`, line 4, record 2, field `question`: expected a text, found `5`");
}

fn numbered(n: usize) -> Vec<Arc<Question>> {
    let kind = |i: usize| Some(if i.is_multiple_of(2) { "even" } else { "odd" }.to_owned());
    (0..n).map(|i| Arc::new(Question { kind: kind(i), ..Question::new(i.to_string(), "?", vec![]) })).collect()
}

fn selected(n: usize, selection: &Selection) -> Vec<usize> {
    select(numbered(n), selection).unwrap().iter().map(|question| question.id.parse().unwrap()).collect()
}

#[test]
fn selection_filters_shuffles_and_limits_in_this_order() {
    let selection = Selection {
        ids: read_ids("\u{feff}# mine\n4\n\n 2 \n7\n2\n"),
        types: vec!["even".to_owned()],
        ..Selection::default()
    };
    assert_eq!(selected(10, &selection), [4, 2]);
    assert_eq!(selected(5, &Selection { limit: Some(2), ..Selection::default() }), [0, 1]);
    let shuffled = selected(100, &Selection { shuffle: Some(1), ..Selection::default() });
    assert_eq!(shuffled, selected(100, &Selection { shuffle: Some(1), ..Selection::default() }));
    assert_ne!(shuffled, selected(100, &Selection { shuffle: Some(2), ..Selection::default() }));
    let mut sorted = shuffled;
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
}

#[test]
fn impossible_selections_are_named() {
    let error = |selection| select(numbered(3), &selection).unwrap_err().to_string();
    assert_eq!(
        error(Selection { ids: vec!["1".into(), "x".into()], ..Selection::default() }),
        "1 ids are not in the dataset: `x`"
    );
    assert_eq!(
        error(Selection { types: vec!["prime".into()], ..Selection::default() }),
        "no question has the type `prime`; the types are `even`, `odd`"
    );
    assert_eq!(error(Selection { limit: Some(0), ..Selection::default() }), "the selection leaves no question");
}

/// Values printed by `python3 -c "import random; x = list(range(10)); random.Random(S).shuffle(x); print(x)"`.
#[test]
fn the_papers_shuffle_is_pythons() {
    let order = |seed| selected(10, &Selection { shuffle_like_paper: Some(seed), ..Selection::default() });
    assert_eq!(order(233), [5, 9, 0, 1, 4, 7, 6, 3, 8, 2]);
    assert_eq!(order(0), [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]);
    assert_eq!(order(1 << 40), [7, 8, 2, 4, 6, 0, 3, 9, 5, 1]);
}

#[test]
fn a_table_keeps_its_other_columns_and_reads_lists_of_answers() {
    let csv = "question,answers,context,split,type\nA?,\"[\"\"Ann\"\", 3]\",plain text,mine,7\n";
    let dataset = read("t.csv", csv).unwrap();
    let question = &dataset.questions[0];
    assert_eq!(question.answers, ["Ann", "3"]);
    assert_eq!((&question.meta["context"], &question.meta["split"]), (&"plain text".into(), &"mine".into()));
    assert_eq!((question.kind.as_deref(), question.split.as_deref()), (Some("7"), None));
}

#[test]
fn other_uses_of_our_names_go_to_meta() {
    let text = r#"{"question": "A?", "answer": "x", "context": "a passage", "answer_kind": "person", "type": 2, "level": "hard"}"#;
    let dataset = read("t.jsonl", text).unwrap();
    let question = &dataset.questions[0];
    assert!(question.context.is_empty());
    assert_eq!((&question.meta["context"], &question.meta["answer_kind"]), (&"a passage".into(), &"person".into()));
    assert_eq!((question.kind.as_deref(), question.level.as_deref()), (Some("2"), Some("hard")));
    assert_eq!(question.answer_kind, AnswerKind::Span);
}

#[test]
fn named_keys_choose_the_general_format() {
    let options = ReadOptions {
        columns: Columns { question: Some("q".into()), answer: Some("a".into()), ..Columns::default() },
        ..ReadOptions::default()
    };
    for text in ["{\"q\": \"A?\", \"a\": \"x\"}\n", "[{\"q\": \"A?\", \"a\": \"x\"}]"] {
        let dataset = load("t.json", text.as_bytes(), &options).unwrap();
        assert_eq!(dataset.questions[0].answers, ["x"], "{text}");
    }
    let hidden = read("t.jsonl", "{\"question\": \"A?\", \"answer\": \"\"}").unwrap();
    assert!(hidden.questions[0].answers.is_empty());
}

#[test]
fn a_quote_that_is_not_closed_is_found_where_it_begins() {
    assert_eq!(
        message("t.csv", "question,answer\nA?,x\nB?,\"y\nC?,z\nD?,w\n"),
        "`t.csv`, line 3: a quoted cell that begins here is not closed"
    );
    for last in ["B?,\"two\nlines\"\n", "a 5\" disk?,\"two\nlines\"", "B?,\"two\nlines\"\n\n"] {
        let sound = read("t.csv", &format!("question,answer\nA?,a 5\" disk\n{last}")).unwrap();
        assert_eq!(sound.questions[1].answers, ["two\nlines"]);
    }
    assert_eq!(
        message("t.csv", "\n\"question,answer\nA?,x\n"),
        "`t.csv`, line 2: a quoted cell that begins here is not closed"
    );
}

#[test]
fn numbers_that_are_answers_stay_as_they_are_written() {
    let numbers = "[12345678901234567890123, 3.50, 1e3, -0, 7, \"x\", true]";
    let expected = ["12345678901234567890123", "3.50", "1e3", "-0", "7", "x", "yes"];
    let object = format!("{{\"question\": \"A?\", \"score\": 3.50, \"Answer\": {numbers}}}");
    for text in [object.clone(), format!("[{object}]"), object.replacen(',', ",\n", 1)] {
        let question = read("t.json", &text).unwrap().questions.remove(0);
        assert_eq!(question.answers, expected, "{text}");
        assert_eq!(question.meta["score"], 3.5);
    }
    for (text, expected) in [("12345678901234567890123", "12345678901234567890123"), ("3.50", "3.50"), ("1867", "1867")]
    {
        let options = ReadOptions {
            columns: Columns { answer: Some("gold".into()), ..Columns::default() },
            ..ReadOptions::default()
        };
        let line = format!("{{\"question\": \"A?\", \"gold\": {text}}}\n");
        assert_eq!(load("t.jsonl", line.as_bytes(), &options).unwrap().questions[0].answers, [expected]);
    }
    let table = format!("question,answer\nA?,\"{}\"\n", numbers.replace('"', "\"\""));
    assert_eq!(read("t.csv", &table).unwrap().questions[0].answers, expected);
}

#[test]
fn lines_are_read_one_by_one_as_they_are_read_together() {
    let dir = tempfile::tempdir().expect("a folder");
    let lines = |text: &str| {
        let path = dir.path().join("q.jsonl");
        std::fs::write(&path, text).expect("written");
        Lines::open(&path, "q.jsonl", &ReadOptions::default()).map(Iterator::count)
    };
    let good = "{\"id\": \"a\", \"question\": \"A?\", \"answer\": \"x\"}\r\n";
    assert_eq!(lines(&format!("{good}\n\u{a0}\n{good}{{broken\n5")), Some(4));
    let wrapped = "{\"Data\": [{\"Question\": \"A?\"}]}";
    let long = format!("{{\"question\": \"{}\"}}\n", "x".repeat(70_000));
    for whole in ["", "\n", "[", "{\n", wrapped, "5\n", "\u{feff}{}\n", "{\"a\": \"\0\"}\n", &long] {
        assert_eq!(lines(whole), None, "{whole:?}");
    }
    let other = good.replace("\"a\"", "\"b\"");
    let bad = "{\"question\": 5}\n";
    let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let table = ReadOptions { format: Format::parse("csv"), ..ReadOptions::default() };
    for text in [
        format!("{good}{other}"),
        format!("{good}{good}"),
        format!("{good}{bad}{other}"),
        format!("{good}{bad}{{\"question\"\n{other}{good}"),
        format!("{good}{other}{{\"question\": \"C"),
        format!("{good}\n\u{2028}\n{other}"),
        format!("{good}{long}"),
        format!("{{\"unknown\": 1}}\n{good}"),
        bad.to_owned(),
        wrapped.to_owned(),
    ] {
        for options in [&ReadOptions::default(), &skipping, &table] {
            let _ = read_with("q.jsonl", text.as_bytes(), options);
        }
    }
    for options in [&ReadOptions::default(), &skipping] {
        let error = read_with("q.jsonl", &[good.as_bytes(), bad.as_bytes(), b"\xff\n"].concat(), options).unwrap_err();
        assert_eq!(error.to_string(), "`q.jsonl`, line 3: not UTF-8");
    }
}
