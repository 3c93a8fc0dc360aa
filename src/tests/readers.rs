//! Pages, datasets, prompts, experiments and recorded episodes that are rubble: whatever is in a file or an answer, reading
//! it ends in what it says or in a reason.

use crate::base::{Compat, Method};
use crate::dataset::{ReadOptions, load, read_answers, read_scores, read_values};
use crate::net::Answer;
use crate::prompting::protocol::{Options, find};
use crate::prompting::{Checked, ExemplarOrder, ProtocolTexts, RenderSettings, check, render};
use crate::runner::experiment::Overrides;
use crate::runner::import::notebook;
use crate::runner::load_experiment;
use crate::tests::repository;
use crate::tests::rubble::Rubble;
use crate::wikipedia::corpus::{BuildError, BuildSettings, Corpus, Format, LEAST_MEMORY, build};
use crate::wikipedia::html::{ArticleOptions, article, describe, paper_page};
use crate::wikipedia::{HtmlSource, LiveSettings};

/// Texts that each reader gets.
const TEXTS: usize = 1_000;

const PIECES: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<ul><li>",
    "<table><tr><td>",
    "<b>",
    "<a href=\"/wiki/X\">",
    "<svg>",
    "<template>",
    "<script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<!doctype html>",
    "<h1 id=firstHeading>",
    "<sup class=reference>[1]</sup>",
    "&amp;",
    "&#0;",
    "&#xd800;",
    "&#99999999;",
    "&notit;",
    "class=\"",
    "mw-parser-output",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "{{",
    "}}",
    "{{ question }}",
    "{% for x in range(9) %}",
    "\"",
    "'",
    ",",
    ":",
    ";",
    "=",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "null",
    "true",
    "-1",
    "1e999",
    "NaN",
    "\\ud800",
    "\\u0000",
    "question",
    "answer",
    "supporting_facts",
    "_id",
    "id",
    "steps",
    "é",
    "東",
    "\u{feff}",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{301}",
    "\0",
    "\"\"\"",
    "[[exemplar]]",
    "[matrix]",
    "0x",
    "1979-05-27",
    "#",
];

const PAGE: &str = r#"<!DOCTYPE html><html class="client-nojs"><head><meta charset="UTF-8"><title>Milhouse - Wikipedia</title>
<meta name="generator" content="MediaWiki 1.44"></head><body class="mediawiki ltr ns-0"><h1 id="firstHeading">Milhouse</h1>
<div id="mw-content-text" class="mw-body-content"><div class="mw-parser-output"><p><b>Milhouse</b> is a <a href="/wiki/Boy"
title="Boy">boy</a>.<sup class="reference">[1]</sup> He is ten. </p><ul><li><a href="/wiki/A" title="A">A</a>, one</li></ul>
<table class="infobox"><tr><td>x</td></tr></table><p>Second &amp; last.</p></div></div>
<div class="mw-search-result-heading"><a href="/wiki/B" title="B">B</a></div></body></html>"#;

/// Gives a reader as many damaged texts as it is to get, each made from one of `whole`.
fn each<W: AsRef<[u8]>>(name: &str, whole: &[W], usual: usize, mut reader: impl FnMut(&mut Rubble, Vec<u8>)) {
    let (count, mut rubble) = (Rubble::count(usual), Rubble::new());
    for n in 0..count {
        let text = rubble.damaged(whole[n % whole.len()].as_ref(), PIECES);
        reader(&mut rubble, text);
    }
    println!("{name}: {count} texts");
}

#[tokio::test]
async fn any_page_is_read_or_refused_and_no_failure_is_a_page() {
    let (runtime, base) = (tokio::runtime::Handle::current(), "http://127.0.0.1:1");
    let sources = [Compat::Fixed, Compat::Paper].map(|compat| {
        let settings = LiveSettings { compat, ..LiveSettings::default() };
        (compat, HtmlSource::new(base, &settings, ArticleOptions::default()).expect("a source"))
    });
    let reading = move || {
        each("markup", &[PAGE], TEXTS, |_, text| {
            let text = String::from_utf8_lossy(&text);
            let _ = describe(&text);
            let longest = |blocks: &[String]| blocks.iter().map(String::len).sum::<usize>();
            if let Ok(article) = article(&text, ArticleOptions::default()) {
                assert!(longest(&article.blocks) <= 3 * text.len() + 1_000, "{text}");
            }
            if let Ok(page) = paper_page(&text) {
                assert!(longest(&page.blocks) <= 1_000_000.max(40 * text.len()), "{text}");
            }
        });
        each("pages", &[PAGE], TEXTS, |rubble, body| {
            let status = rubble.of(&[200, 200, 200, 200, 201, 203, 204, 206, 403, 404, 414, 429, 500, 503]);
            let kind = rubble.of(&[
                "text/html",
                "text/html; charset=UTF-8",
                "text/html; charset=utf-16",
                "text/plain",
                "",
                "\u{1b}",
            ]);
            let content_type = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
            let marked =
                ["mw-", "mediawiki"].iter().any(|mark| String::from_utf8_lossy(&body).to_lowercase().contains(mark))
                    || kind.ends_with("16");
            let answer =
                Answer { status, content_type, url: format!("{base}/wiki/Milhouse"), body, ..Answer::default() };
            for (compat, source) in &sources {
                let found = runtime.block_on(source.read("Milhouse", answer.clone()));
                let is_page = (status == 200 && kind.starts_with("text/html") && marked) || status == 414;
                assert!(found.is_err() || *compat == Compat::Paper || is_page, "{answer:?} is {found:?}");
            }
        });
    };
    tokio::task::spawn_blocking(reading).await.expect("no panic");
}

#[test]
fn any_dataset_is_read_or_refused() {
    let lines = |name: &str| repository(&format!("datasets/{name}")).lines().take(3).collect::<Vec<_>>().join("\n");
    let whole = [
        ("x.jsonl", lines("sample.jsonl")),
        ("x.jsonl", lines("sample-claims.jsonl")),
        ("x.json", r#"[{"_id": "a", "question": "Q?", "answer": "yes", "type": "bridge", "level": "easy", "supporting_facts": [["T", 0]],
            "context": [["T", ["One.", "Two."]]]}]"#.to_owned()),
        ("x.json", r#"{"Version": 1.0, "Data": [{"QuestionId": "a", "Question": "Q?", "Answer": {"Value": "x", "Aliases": ["y"]}}]}"#.to_owned()),
        ("x.jsonl", r#"{"id": "a", "question": "Q?", "answer": "x", "answerable": true, "paragraphs": [{"idx": 0, "title": "T",
            "paragraph_text": "One.", "is_supporting": true}], "question_decomposition": []}"#.replace('\n', "")),
        ("x.csv", "id,question,answer,type\n1,\"Q, \"\"so\"\"?\",\"[\"\"x\"\", \"\"y\"\"]\",t\n2,R?,z,\n".to_owned()),
        ("x.tsv", "question\tanswer\nQ?\tx\nR?\ty\n".to_owned()),
    ];
    let texts: Vec<&String> = whole.iter().map(|(_, text)| text).collect();
    for skip_bad in [false, true] {
        let options = ReadOptions { skip_bad, ..ReadOptions::default() };
        let mut n = 0;
        each("datasets", &texts, TEXTS, |_, text| {
            let (file, _) = whole[n % whole.len()];
            n += 1;
            match load(file, &text, &options) {
                Ok(dataset) => assert!(dataset.questions.iter().all(|question| !question.id.is_empty())),
                Err(error) => assert!(!error.to_string().contains(|c: char| c.is_control() && c != '\n'), "{error}"),
            }
            let _ = read_scores(file, &text, &[]);
            let _ = read_values(file, &text, None);
            let _ = read_answers(file, &text);
        });
    }
}

/// Two articles, packed by Python with gzip, bzip2 and xz.
const PACKED_CORPORA: [&str; 3] = [
    "1f8b0800000000000203ab562ac92cc94955b25250724c4954d251502a49ad28817215ca8bf24b52150a8af2d38b12738bf51410622519\
    a9b90a99790a3ef97929f9797a4ab55cd508939c90cd4902ca0100422d38c966000000",
    "425a6839314159265359077999cd0000315d80001050050010300436e7dcca2000409448c8d3269a68313428d0d00000181c0d1dd75c1b\
    a46d90b01304df22f0620e516897ca88dd8a9eb0b2bd4253b34846ac35b5fe3dc0f2868a4061b98333f177245385090077999cd0",
    "fd377a585a0000016922de360200210116000000742fe5a3e00065004a5d003d888a86d454e9dd3778d3f208f330efb3b2a0390426c6d4\
    b01604d19dc537fe7045e1f6c9306106b8bd71cfd859d353f7795a05a023bbab33141317dc36b275ded4a235441c23df4000000000422d\
    38c90001626663789cd39042990d010000000001595a",
];

#[test]
fn any_packed_or_listed_corpus_is_built_or_refused() {
    let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    let bytes = |hex: &str| (0..hex.len()).step_by(2).map(|at| byte(hex, at)).collect::<Vec<u8>>();
    let list =
        br#"[{"title": "Ada", "text": "Ada wrote."}, {"title": "B", "text": ["One.", "Two."], "redirects": ["C"]}]"#;
    let whole: Vec<Vec<u8>> = PACKED_CORPORA.map(bytes).into_iter().chain([list.to_vec()]).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let (input, built) = (dir.path().join("x"), dir.path().join("c"));
    let try_build = |bytes: &[u8]| {
        std::fs::write(&input, bytes).expect("a file");
        let sources = vec![(Format::Jsonl, input.clone())];
        let settings = BuildSettings { sources, memory: LEAST_MEMORY, ..BuildSettings::default() };
        let result = build(&built, &settings, &mut |_| {});
        if result.is_ok() {
            std::fs::remove_dir_all(&built).expect("removed");
        }
        result
    };
    for bytes in &whole {
        assert_eq!(try_build(bytes).expect("a corpus").manifest.articles, 2);
    }
    each("packed and listed corpora", &whole, TEXTS / 5, |_, text| {
        if let Err(error) = try_build(&text) {
            let shown = error.to_string();
            assert!(!shown.contains(|c: char| c.is_control()), "{shown}");
            assert!(matches!(error, BuildError::Input { .. } | BuildError::Empty(_)), "{shown}");
        }
        let _ = Corpus::open(&input);
    });
}

#[test]
fn any_prompt_or_experiment_is_read_or_refused() {
    let prompts = ["prompts/hotpotqa.toml", "prompts/fever.toml", "prompts/protocols/en.toml"].map(repository);
    let dir = tempfile::tempdir().expect("a folder");
    let (prompt, experiment) = (dir.path().join("p.toml"), dir.path().join("e.toml"));
    let protocol = find("react-paper", &Options::default()).expect("known").expect("no options");
    let shows = |error: &str| !error.contains(|c: char| c.is_control() && c != '\n');
    each("prompts", &prompts, TEXTS / 5, |_, text| {
        std::fs::write(&prompt, text).expect("a file");
        match check(prompt.to_str().expect("UTF-8"), &|_| None) {
            Ok(Checked::Prompt(source)) => {
                let settings = RenderSettings {
                    protocol: protocol.as_ref(),
                    method: Method::React,
                    shots: None,
                    order: ExemplarOrder::File,
                    max_steps: 7,
                };
                let _ = render(&source, &ProtocolTexts::default(), &settings);
            }
            Ok(Checked::Texts(_)) => {}
            Err(error) => assert!(shows(&error.to_string()), "{error}"),
        }
    });
    let experiments = ["sample", "table1"].map(|name| repository(&format!("experiments/{name}.toml")));
    each("experiments", &experiments, TEXTS / 5, |_, text| {
        std::fs::write(&experiment, text).expect("a file");
        // An error may name a path as the file has it: whoever prints it escapes it.
        let _ = load_experiment(&experiment, &Overrides::default());
    });
}

#[test]
fn any_recorded_episode_is_read_or_refused() {
    let line = r#"{"order": 0, "question": "Q?", "gold": "x", "steps": [{"n": 1, "thought": "t", "action_text": "Search[x]",
        "observation": "o", "bad_call": false}], "calls": [{"prompt_sha256": "0", "prompt_chars": 3, "stop": ["\n"],
        "completion": "Thought 1: t\nAction 1: Finish[x]"}], "final_answer": "x", "em": 1.0, "f1": 1.0, "info": {"steps": 1},
        "n_calls": 1, "n_badcalls": 0}"#.replace('\n', "");
    assert!(notebook::import(&line).is_ok());
    each("recorded episodes", &[line], 20 * TEXTS, |_, text| {
        let _ = notebook::import(&String::from_utf8_lossy(&text));
    });
    let traces =
        "1 Claim: c\nThought 1: t\nAction 1: Finish[x]\nObservation 1: o\n{'answer': 'x'}\nohh... 1".to_owned();
    each("printed traces", &[traces], 20 * TEXTS, |_, text| {
        let _ = notebook::printed(&String::from_utf8_lossy(&text));
    });
}
