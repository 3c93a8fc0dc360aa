//! Tests of the other datasets' formats: their layouts, and how they are detected.

use super::tests::{message, read};
use super::*;
use crate::base::{AnswerKind, Paragraph, SupportingFact};

fn first(file: &str, text: &str) -> (&'static str, Arc<Question>) {
    let dataset = read(file, text).unwrap();
    (dataset.format.name(), dataset.questions.into_iter().next().expect("a question"))
}

#[test]
fn every_format_has_a_name_of_its_own() {
    for format in Format::ALL {
        assert_eq!(Format::parse(format.name()), Some(format));
    }
}

#[test]
fn the_documentation_lists_every_format() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/commands.md")).expect("the page");
    let paragraph = page.split("\n- ").find(|part| part.starts_with("**Datasets**")).expect("a paragraph on datasets");
    let paragraph = paragraph.to_lowercase().replace("json lines", "jsonl");
    for format in Format::ALL {
        assert!(paragraph.contains(format.name()), "docs/commands.md lacks {}", format.name());
    }
}

#[test]
fn wiki2_has_triples() {
    let line = r#"{"_id": "w", "question": "Q?", "answer": "A", "type": "compositional", "entity_ids": "Q1_Q2", "answer_id": "Q9",
        "supporting_facts": [["T", 1]], "evidences": [["s", "r", "o"]], "evidences_id": []}"#
        .replace('\n', " ");
    let (format, question) = first("x.json", &line);
    assert_eq!((format, question.dataset.as_str(), question.id.as_str()), ("2wiki", "2wiki", "w"));
    assert_eq!(question.evidence_triples, [["s".to_owned(), "r".into(), "o".into()]]);
    assert_eq!(question.meta.keys().collect::<Vec<_>>(), ["entity_ids", "answer_id", "evidences_id"]);
    let broken = line.replace(r#"["s", "r", "o"]"#, r#"["s", "r"]"#);
    assert_eq!(
        message("x.json", &broken),
        "`x.json`, line 1, record 1, field `evidences`: expected a subject, a relation and an object, found `[\"s\",\"r\"]`"
    );
}

fn musique(answerable: bool) -> String {
    format!(
        r#"{{"id": "3hop1__1_2_3", "question": "Q?", "answer": "A", "answer_aliases": ["B", "A"], "answerable": {answerable},
            "question_decomposition": [{{"id": 1}}], "paragraphs": [
            {{"idx": 0, "title": "T", "paragraph_text": "One. Two.", "is_supporting": true}},
            {{"idx": 1, "title": "U", "paragraph_text": "Three.", "is_supporting": false}}]}}"#
    )
    .replace('\n', " ")
}

#[test]
fn musique_twins_share_a_cluster() {
    let dataset = read("x.jsonl", &format!("{}\n{}\n", musique(false), musique(true))).unwrap();
    let [one, two] = &dataset.questions[..] else { panic!("two questions") };
    assert_eq!(
        (dataset.format.name(), one.id.as_str(), two.id.as_str()),
        ("musique", "3hop1__1_2_3", "3hop1__1_2_3#answerable")
    );
    assert_eq!((one.answerable, two.answerable), (false, true));
    assert_eq!((one.cluster.as_deref(), two.cluster.as_deref()), (Some("3hop1__1_2_3"), Some("3hop1__1_2_3")));
    assert_eq!((one.kind.as_deref(), one.answers.join("|").as_str()), (Some("3hop1"), "A|B"));
    assert_eq!(one.supporting_facts, [SupportingFact("T".into(), 0)]);
    assert_eq!(one.context[1], Paragraph { title: "U".into(), sentences: vec!["Three.".into()] });
    let twice = format!("{}\n{}\n", musique(true), musique(true));
    assert_eq!(
        message("x.jsonl", &twice),
        "`x.jsonl`, line 2, record 2: the id `3hop1__1_2_3` was already used at line 1, record 1"
    );
}

#[test]
fn strategyqa_answers_yes_or_no() {
    let text =
        r#"[{"qid": "s", "term": "T", "question": "Q?", "answer": false, "decomposition": ["One?"], "facts": ["F"]}]"#;
    let (format, question) = first("x.json", text);
    assert_eq!((format, question.gold(), question.answer_kind), ("strategyqa", Some("no"), AnswerKind::YesNo));
    assert_eq!((question.id.as_str(), question.decomposition.len()), ("s", 1));
    assert_eq!(question.meta.keys().collect::<Vec<_>>(), ["term", "facts"]);
    assert!(message("x.json", &text.replace("false", "\"no\"")).contains("field `answer`: expected true or false"));
}

#[test]
fn kilt_has_an_alternative_of_answer_and_pages_in_each_output() {
    let text = r#"{"id": 7, "input": "Q?", "meta": {"m": 1}, "output": [{"answer": " A ", "meta": {},
        "provenance": [{"wikipedia_id": "1", "title": "P", "start_paragraph_id": 2}, {"wikipedia_id": "2", "title": "R"}]},
        {"answer": "A"}, {"answer": "B"}, {"provenance": [{"wikipedia_id": "3", "title": "S"}]}]}"#
        .replace('\n', " ");
    let (format, question) = first("eli5-dev-kilt.jsonl", &text);
    assert_eq!((format, question.id.as_str(), question.dataset.as_str()), ("kilt", "7", "eli5-dev-kilt"));
    assert_eq!((question.answers.join("|").as_str(), question.answer_kind), ("A|B", AnswerKind::Span));
    let pages: Vec<Vec<_>> = question
        .evidence_sets
        .iter()
        .map(|set| set.iter().map(|page| (page.0.as_deref().unwrap_or_default(), page.1)).collect())
        .collect();
    assert_eq!(pages, [vec![("P", None), ("R", None)], vec![("S", None)]]);
    let (_, claim) = first("x.jsonl", r#"{"id": "a", "input": "C.", "output": [{"answer": "REFUTES"}]}"#);
    assert_eq!(claim.answer_kind, AnswerKind::Label);
    let (_, hidden) = first("x.jsonl", r#"{"id": "a", "input": "Q?", "meta": {}}"#);
    assert!(hidden.answers.is_empty() && hidden.evidence_sets.is_empty());
    assert!(message("x.jsonl", r#"{"id": "a", "input": "Q?", "output": [{"answer": 3}]}"#).contains("`output.answer`"));
}

#[test]
fn bamboogle_and_frames_are_told_apart() {
    let (format, question) =
        first("x.json", r#"[{"Question": "Q?", "Answer": "A", "Q1": "One?", "A1": ["x"], "Q2": "Q?", "A2": ["A"]}]"#);
    assert_eq!((format, question.id.as_str(), question.gold()), ("bamboogle", "bamboogle-0", Some("A")));
    assert_eq!(question.decomposition[0], serde_json::json!({"question": "One?", "answer": ["x"]}));
    let (format, question) = first(
        "x.json",
        r#"[{"Question": "Q?", "Answer": "A", "answer": ["A", "B"], "wiki_links": "[]", "reasoning_types": "Numerical"}]"#,
    );
    assert_eq!(
        (format, question.answers.join("|").as_str(), question.kind.as_deref()),
        ("frames", "A|B", Some("Numerical"))
    );
    let (format, question) = first("x.tsv", "\tPrompt\tAnswer\twiki_links\n0\tQ?\tA\t['u']\n");
    assert_eq!((format, question.question.as_str(), question.gold()), ("frames", "Q?", Some("A")));
}

#[test]
fn triviaqa_in_three_layouts() {
    let official = "{\n\"Data\": [\n{\"QuestionId\": \"t1\", \"Question\": \"Q?\", \"Answer\": {\"Value\": \"A\", \"Aliases\": [\"A\", \"B\"], \"NormalizedAliases\": [\"a\", \"b\"]}},\n{\"QuestionId\": \"t2\", \"Question\": \"R?\"}\n],\n\"Version\": 1.0}";
    let dataset = read("x.json", official).unwrap();
    assert_eq!((dataset.format.name(), dataset.questions.len()), ("triviaqa", 2));
    assert_eq!((dataset.questions[0].id.as_str(), dataset.questions[0].answers.join("|").as_str()), ("t1", "A|B|a|b"));
    assert!(dataset.questions[1].answers.is_empty());
    let broken = official.replace("\"R?\"", "7");
    assert_eq!(message("x.json", &broken), "`x.json`, line 4, record 2, field `Question`: expected a text, found `7`");
    let (format, question) =
        first("x.jsonl", r#"{"question_id": "h", "question": "Q?", "answer": {"value": "A", "aliases": ["B"]}}"#);
    assert_eq!((format, question.id.as_str(), question.answers.join("|").as_str()), ("triviaqa", "h", "A|B"));
    let (format, question) = first(
        "x.json",
        r#"[{"qid": "f", "dataset": "triviaqa", "question": "Q?", "gold_answer": "A", "aliases": ["B", "A"]}]"#,
    );
    assert_eq!((format, question.id.as_str(), question.answers.join("|").as_str()), ("triviaqa", "f", "A|B"));
}

#[test]
fn lists_of_answers_are_all_gold() {
    let (format, question) = first("x.json", r#"[{"qId": "w", "qText": "Q?", "answers": ["A", "B"]}]"#);
    assert_eq!((format, question.id.as_str(), question.answers.len()), ("webquestions", "w", 2));
    let nq = "{\"question\": \"Q?\", \"answer\": [\"A\", \"B\"]}\n";
    for (file, format, id) in [("d/NQ-open.dev.jsonl", "nq-open", "nq-open-0"), ("d/mine.jsonl", "jsonl", "mine-0")] {
        let (found, question) = first(file, nq);
        assert_eq!((found, question.id.as_str(), question.answers.join("|").as_str()), (format, id, "A|B"));
    }
    let aliases = r#"[{"question": "Q?", "answer": "A", "aliases": ["A", "B"]}]"#;
    for (file, format) in [("popqa_test.json", "popqa"), ("simpleqa.json", "simpleqa"), ("x.json", "jsonl")] {
        let (found, question) = first(file, aliases);
        assert_eq!((found, question.answers.join("|").as_str(), question.meta.len()), (format, "A|B", 0));
    }
}

#[test]
fn tables_of_other_datasets() {
    let tsv = "id\tprop\tquestion\tpossible_answers\n7\toccupation\tQ?\t\"[\"\"A\"\", \"\"B\"\"]\"\n";
    let (format, question) = first("x.tsv", tsv);
    assert_eq!((format, question.id.as_str(), question.kind.as_deref()), ("popqa", "7", Some("occupation")));
    assert_eq!(question.answers, ["A", "B"]);
    assert!(message("x.tsv", &tsv.replace("\"[\"\"A\"\", \"\"B\"\"]\"", "A")).contains("field `possible_answers`"));
    let (format, question) = first("x.csv", "metadata,problem,answer\n{},Q?,A\n");
    assert_eq!((format, question.question.as_str(), question.gold()), ("simpleqa", "Q?", Some("A")));
}

/// A dataset is recognised by the fields that only it has: an extra column of a name that it uses changes nothing.
#[test]
fn a_question_wins_over_what_other_datasets_call_it() {
    for (file, text) in [
        ("x.csv", "id,question,answer,problem\n7,Q?,A,other\n"),
        ("x.csv", "id,Question,Answer,Prompt\n7,Q?,A,other\n"),
        ("x.csv", "id,problem,answer\n7,Q?,A\n"),
        ("x.csv", "ID,Prompt,Answer\n7,Q?,A\n"),
        ("x.json", r#"[{"id": "7", "question": "Q?", "answer": "A", "problem": "other"}]"#),
        ("x.jsonl", r#"{"ID": "7", "Question": "Q?", "Answer": "A", "Prompt": "other"}"#),
        ("x.jsonl", r#"{"ID": 7, "prompt": "Q?", "Answer": "A"}"#),
    ] {
        let (format, question) = first(file, text);
        assert_eq!((format, question.id.as_str()), (if file == "x.csv" { "csv" } else { "jsonl" }, "7"), "{text}");
        assert_eq!((question.question.as_str(), question.gold()), ("Q?", Some("A")), "{text}");
        assert_eq!(question.dataset, "x", "{text}");
    }
    let (format, question) = first("x.csv", "ID,Question,Answer,Prompt,wiki_links\n7,Q?,A,other,u\n");
    assert_eq!((format, question.id.as_str(), question.question.as_str()), ("frames", "7", "Q?"));
    let message = message("x.csv", "id,Prompt,label\n7,Q?,A\n");
    assert!(message.starts_with("`x.csv`, line 1: no column `question`; the columns are `id`, `Prompt`"), "{message}");
}

#[test]
fn keys_of_json_are_read_in_any_case() {
    let text = r#"{"ID": "x7", "Question": "a?", "Answer": "b", "Aliases": ["c"], "Type": "t", "Extra": 1}"#;
    let dataset = read("x.jsonl", text).unwrap();
    let question = &dataset.questions[0];
    assert_eq!((dataset.format.name(), question.id.as_str(), question.kind.as_deref()), ("jsonl", "x7", Some("t")));
    assert_eq!((question.answers.join("|").as_str(), question.meta.keys().next().unwrap().as_str()), ("b|c", "Extra"));
    assert_eq!(
        dataset.notes,
        ["case is ignored in the names of keys: `Question` is `question`, `Answer` is `answer`, `ID` is `id`, \
          `Type` is `type`, `Aliases` is `aliases`"]
    );
    let plain = r#"[{"Question": "Q?", "Answer": "A"}]"#;
    assert_eq!((first("bamboogle.json", plain).0, first("mine.json", plain).0), ("bamboogle", "jsonl"));
    let both = first("x.jsonl", r#"{"Question": "no", "question": "Q?", "answer": "A"}"#).1;
    assert_eq!((both.question.as_str(), both.meta["Question"].as_str()), ("Q?", Some("no")));
    let format = ReadOptions { format: Format::parse("bamboogle"), ..ReadOptions::default() };
    let forced = load("x.jsonl", text.as_bytes(), &format).unwrap();
    assert_eq!((forced.questions[0].id.as_str(), forced.questions[0].answers.len()), ("x7", 2));
    assert_eq!(forced.questions[0].meta["Type"], "t");
}

#[test]
fn plain_pairs_are_our_own_form() {
    assert_eq!(first("x.json", r#"[{"question": "Q?", "answer": "A"}]"#).0, "jsonl");
}

#[test]
fn an_empty_gold_is_a_hidden_one() {
    for text in [r#"{"question": "Q?", "answer": " "}"#, r#"{"_id": "1", "question": "Q?", "answer": ""}"#] {
        assert!(first("x.jsonl", text).1.answers.is_empty(), "{text}");
    }
    let odd = r#"{"question": "Q?", "answer": {"x": 1}}"#;
    assert_eq!(
        message("x.jsonl", odd),
        "`x.jsonl`, line 1, record 1, field `answer`: expected a text or a list of texts, found `{\"x\":1}`"
    );
}

#[test]
fn rows_are_counted_as_an_editor_does() {
    let text = "question,answer\r\n\r\n\r\n\"Q\r\nR?\",a\r\n,b\r\n";
    assert_eq!(message("x.csv", text), "`x.csv`, line 6, record 2, field `question`: missing");
    let text = "question,answer\r\n\r\nQ?\r\n";
    assert_eq!(message("x.csv", text), "`x.csv`, line 3: the row has 1 cells where the header has 2");
    assert_eq!(message("x.csv", "question,a,a\n"), "`x.csv`, line 1: the column `a` appears twice");
}

#[test]
fn nothing_panics_wherever_a_file_is_cut() {
    let whole = format!("[{}, {{\"question\": \"é?\"}}]", musique(true));
    for cut in 0..whole.len() {
        for file in ["x.json", "x.csv", "x.tsv"] {
            let _ = load(file, &whole.as_bytes()[..cut], &ReadOptions::default());
        }
    }
}
