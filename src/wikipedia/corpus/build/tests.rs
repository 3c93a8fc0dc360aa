//! Tests over folders that are built here.

use super::{BuildError, BuildSettings, Built, OnDuplicate, build};
use crate::base::Provenance;
use crate::wikipedia::Found;
use crate::wikipedia::corpus::import::Format;
use crate::wikipedia::corpus::manifest::Manifest;
use crate::wikipedia::corpus::{Corpus, CorpusError, folder, verify};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn settings(sources: &[PathBuf]) -> BuildSettings {
    BuildSettings {
        sources: sources.iter().map(|path| (Format::Jsonl, path.clone())).collect(),
        threads: 2,
        memory: 1 << 30,
        ..BuildSettings::default()
    }
}

/// Builds `NAME` in a folder from lines.
fn built(dir: &Path, name: &str, lines: &str) -> Result<Built, BuildError> {
    let file = dir.join(format!("{name}.jsonl"));
    fs::write(&file, lines).expect("a file");
    build(&dir.join(name), &settings(&[file]), &mut |_| {})
}

/// A corpus that is built from lines, and what it was left in.
fn corpus(lines: &str) -> (tempfile::TempDir, Built, Corpus) {
    let dir = tempfile::tempdir().expect("a folder");
    let built = built(dir.path(), "c", lines).expect("a corpus");
    let corpus = Corpus::open(&dir.path().join("c")).expect("a corpus");
    (dir, built, corpus)
}

/// Many articles, with redirects and redirects of redirects.
fn many(count: usize) -> Vec<String> {
    let word = |n: usize| format!("w{}", n.wrapping_mul(2_654_435_761) % 997);
    let line = |n: usize| {
        let text: Vec<String> = (0..n % 40 + 3).map(|at| word(n * 7 + at)).collect();
        let (text, chain) = (text.join(" "), n / 3);
        match n % 10 {
            7 => format!("{{\"title\": \"To {n}\", \"redirect\": \"Page {}\"}}", chain / 10 * 10),
            8 => format!("{{\"title\": \"To {n}\", \"redirect\": \"To {}\"}}", n - 1),
            _ => format!("{{\"title\": \"Page {n}\", \"text\": \"{text}\", \"redirects\": [\"Seite {n}\"]}}"),
        }
    };
    (0..count).map(line).collect()
}

/// What a search finds: the title of the page, or the titles of the list.
fn found(corpus: &Corpus, query: &str) -> Vec<String> {
    match corpus.find(query).expect("an answer") {
        Found::Page { title, .. } => vec![format!("page {title}")],
        Found::Disambiguation { title, entries, .. } => vec![format!("list {title}"), entries.join("|")],
        Found::Titles { titles, .. } => titles.to_vec(),
        Found::Passages { .. } | Found::Nothing { .. } => Vec::new(),
    }
}

#[test]
fn memory_threads_and_order_change_neither_identity_nor_answers() {
    let dir = tempfile::tempdir().expect("a folder");
    let lines = many(3_000);
    let backwards: Vec<String> = lines.iter().rev().cloned().collect();
    let [one, two, three] = ["all", "first", "second"].map(|name| dir.path().join(format!("{name}.jsonl")));
    fs::write(&one, lines.join("\n")).expect("a file");
    fs::write(&two, backwards[..1_000].join("\n")).expect("a file");
    fs::write(&three, backwards[1_000..].join("\r\n")).expect("a file");
    let mut seen = Vec::new();
    for (at, (sources, threads, memory)) in [
        (std::slice::from_ref(&one), 1, 1 << 30),
        (&[two, three][..], 2, 1 << 30),
        (std::slice::from_ref(&one), 4, 64 << 10),
        (std::slice::from_ref(&one), 1, 32 << 10),
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(format!("c{at}"));
        let made =
            build(&path, &BuildSettings { threads, memory, ..settings(sources) }, &mut |_| {}).expect("a corpus");
        assert_eq!((made.manifest.articles, made.manifest.redirects, made.notes.len()), (2_400, 3_000, 0));
        assert_eq!(verify(&path, true).expect("a corpus"), Vec::<String>::new());
        let corpus = Corpus::open(&path).expect("a corpus");
        assert_eq!(corpus.id(), made.manifest.id);
        let answers = ["To 2998", "seite 5", "w12 w15 w700", "[Page 11]", "Pagx"].map(|query| found(&corpus, query));
        assert_eq!(answers[0], ["page Page 990"]);
        assert_eq!(answers[2].len(), 20);
        let of = |file: &str| made.manifest.files[file].sha256.clone();
        let files = ["pages.bin", "pages.idx", "pages.dict", "names.fst", "keys.fst", "redirects.fst"].map(of);
        seen.push((made.manifest.id, answers, files));
    }
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:#?}");
}

#[test]
fn a_folder_answers_as_the_lines_it_was_built_from() {
    let dir = tempfile::tempdir().expect("a folder");
    for sample in ["datasets/sample-wiki", "datasets/sample-wiki-zh"] {
        let plain = Corpus::open(Path::new(sample)).expect("the shipped corpus");
        let path = dir.path().join(sample.replace('/', "-"));
        build(&path, &settings(&[sample.into()]), &mut |_| {}).expect("a corpus");
        // Corpora in memory keep the ranking of folders before the third.
        let manifest = path.join("corpus.toml");
        let text = fs::read_to_string(&manifest).expect("a manifest");
        let ranked = |rank: u32| text.replace("\nrank = 4\n", &format!("\nrank = {rank}\n"));
        assert_ne!(ranked(3), text);
        fs::write(&manifest, ranked(3)).expect("written");
        assert_eq!(Corpus::open(&path).expect("a corpus of rule 3").count(), plain.count());
        fs::write(&manifest, ranked(2)).expect("written");
        let built = Corpus::open(&path).expect("a corpus");
        for begun in ["a", "THE ", "her", "melb", "", "zzzz", "東"] {
            assert_eq!(built.beginning(begun, 10), plain.beginning(begun, 10), "{begun}");
        }
        assert_eq!(built.count(), plain.count());
        let lines = fs::read_to_string(Path::new(sample).join("articles.jsonl")).expect("lines");
        let mut compared = 0;
        for line in lines.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("a record");
            let names = line["redirects"].as_array().into_iter().flatten().chain([&line["title"]]);
            for name in names.filter_map(serde_json::Value::as_str) {
                for query in [name.to_owned(), name.to_uppercase(), format!("[{name}]"), format!("about {name}?")] {
                    // Only folders show names that begin alike.
                    let expected = unnamed(&plain, &query);
                    if !matches!(expected, Found::Nothing { .. }) {
                        assert_eq!(unnamed(&built, &query), expected, "{query}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 250, "{compared}");
    }
}

/// A finding without the corpus's own name and identity.
fn unnamed(corpus: &Corpus, query: &str) -> Found {
    let mut found = corpus.find(query).expect("an answer");
    let (Found::Page { provenance, .. }
    | Found::Disambiguation { provenance, .. }
    | Found::Titles { provenance, .. }
    | Found::Passages { provenance, .. }
    | Found::Nothing { provenance, .. }) = &mut found;
    assert!(!provenance.sha256.is_empty() && provenance.url.starts_with("corpus:"), "{provenance:?}");
    let title = std::mem::take(&mut provenance.title);
    *provenance = Provenance { title, ..Provenance::default() };
    found
}

#[test]
fn redirects_are_followed_to_their_ends_or_dropped_and_counted() {
    let (_dir, built, corpus) = corpus(concat!(
        "{\"title\": \"End\", \"text\": \"the end\", \"redirects\": [\"Near\"]}\n",
        "{\"title\": \"Other\", \"text\": \"another\", \"redirects\": [\"Zwei\", \"End\"]}\n",
        "{\"title\": \"Far\", \"redirect\": \"Nearer\"}\n",
        "{\"title\": \"Nearer\", \"redirect\": \"Near\"}\n",
        "{\"title\": \"Near\", \"redirect\": \"End\"}\n",
        "{\"title\": \"Ring\", \"redirect\": \"Rung\"}\n",
        "{\"title\": \"Rung\", \"redirect\": \"Ring\"}\n",
        "{\"title\": \"Self\", \"redirect\": \"Self\"}\n",
        "{\"title\": \"Into the ring\", \"redirect\": \"Rung\"}\n",
        "{\"title\": \"Lost\", \"redirect\": \"Nowhere\"}\n",
        "{\"title\": \"Zwei\", \"redirect\": \"End\"}\n",
    ));
    for name in ["Far", "nearer", "Near", "End", "zwei"] {
        assert_eq!(found(&corpus, name), ["page End"], "{name}");
    }
    let names = built.manifest.names;
    assert_eq!((names.redirect_is_title, names.redirect_twice), (1, 1));
    assert_eq!((names.redirect_to_nothing, names.redirect_circle), (1, 4));
    assert_eq!(built.manifest.redirects, 4);
}

#[test]
fn what_is_left_out_is_named_by_file_and_line() {
    let lines = concat!(
        "{\"title\": \"Ada\", \"text\": \"of page nine\", \"id\": 9}\n",
        "nonsense\n",
        "{\"title\": \"Ada\", \"text\": \"of page two\", \"id\": 2}\n",
        "{\"title\": \"Ada\", \"text\": \"of no page\"}\n",
        "\n",
        "{\"title\": \"Void\", \"blocks\": [\" \", []]}\n",
        "{\"title\": \"A\\u0000B\", \"text\": \"x\"}\n",
        "{\"title\": \"Caf\\u00e9\", \"text\": \"with an accent\", \"id\": 7}\n",
        "{\"title\": \"CAFE\", \"text\": \"without\", \"id\": 5, \"redirects\": [\"ada!\"]}\n",
    );
    let (dir, built, corpus) = corpus(lines);
    let Found::Page { blocks, provenance, .. } = corpus.find("ADA").expect("an answer") else { panic!("a page") };
    assert_eq!((blocks.to_vec(), provenance.pageid), (vec!["of page two".to_owned()], Some(2)));
    // By its first letter in upper case the one is found; without accents, the one of the lowest page number.
    assert_eq!(["café", "Cafè"].map(|name| found(&corpus, name)), [["page Café"], ["page CAFE"]]);
    let file = dir.path().join("c.jsonl").display().to_string();
    let expected = [
        format!("`{file}`, line 2: not valid JSON at column 2"),
        format!("`{file}`, line 6: `Void` has no text"),
        format!("`{file}`, line 7: the title holds a NUL"),
        format!("`{file}`, line 1: another record of `Ada` was kept"),
        format!("`{file}`, line 4: another record of `Ada` was kept"),
    ];
    assert_eq!(built.notes, expected);
    let source = &built.manifest.sources[0];
    assert_eq!((source.rows, source.skipped.bad, source.skipped.empty, source.skipped.duplicate_title), (8, 2, 1, 2));
    assert_eq!(built.manifest.names.collisions, 2);
    let refused = BuildSettings { on_duplicate: OnDuplicate::Error, ..settings(&[dir.path().join("c.jsonl")]) };
    let error = build(&dir.path().join("d"), &refused, &mut |_| {}).expect_err("twice").to_string();
    assert_eq!(error, format!("`{file}`, line 1: the title `Ada` is that of `{file}`, line 3"));
    assert!(!dir.path().join("d").exists() && !dir.path().join("d.partial").exists());
}

#[test]
fn a_title_in_lower_case_comes_before_others_that_fold_alike() {
    let lines = "{\"title\": \"IPod-Nano\", \"text\": \"One of them.\", \"id\": 1}\n{\"title\": \"ipod nano\", \"text\": \"Another.\", \"id\": 2}\n";
    let (_dir, _built, folder) = corpus(lines);
    let memory = Corpus::from_jsonl("mine", lines.as_bytes()).expect("a corpus");
    assert_eq!([folder, memory].map(|corpus| found(&corpus, "Ipod Nano")), [["page ipod nano"], ["page ipod nano"]]);
}

#[test]
fn given_sentences_large_pages_and_odd_titles_are_kept() {
    let large = "A long sentence of a long page. ".repeat(40_000);
    let titles =
        ["東京", "A\u{301}", "Ａ", "\u{1f600} 🙂", "<b>&\"\\", "\u{1b}[31m", " x ", "été", "e\u{301}te\u{301}"];
    let mut lines = format!("{{\"title\": \"Large\", \"text\": \"{large}\", \"revid\": 12}}\n");
    for title in titles {
        let line =
            serde_json::json!({"title": title, "blocks": [["One.", " Two."]], "timestamp": "2017-10-01T00:00:00Z"});
        let _ = writeln!(lines, "{line}");
    }
    let (dir, built, corpus) = corpus(&lines);
    let Found::Page { blocks, provenance, .. } = corpus.find("large").expect("an answer") else { panic!("a page") };
    assert_eq!((blocks[0].len(), provenance.revid), (large.len() - 1, Some(12)));
    for title in titles {
        // Brackets search texts.
        if !title.contains(['[', '<']) {
            assert_eq!(found(&corpus, title), [format!("page {title}")]);
        }
    }
    assert_eq!(built.manifest.sentences, crate::wikipedia::corpus::manifest::Sentences::Given);
    let manifest = Manifest::read(&dir.path().join("c")).expect("a manifest");
    assert_eq!(manifest, built.manifest);
    let folder = folder::Folder::open(&dir.path().join("c"), &manifest).expect("a corpus");
    let number = folder.names.exact("東京").expect("names").expect("a title");
    let article = folder.pages.article(number).expect("an article");
    assert_eq!((article.title.as_str(), article.timestamp.as_deref()), ("東京", Some("2017-10-01T00:00:00Z")));
    assert_eq!(serde_json::to_string(&article.blocks).expect("JSON"), r#"[["One."," Two."]]"#);
}

#[test]
fn names_that_begin_alike_are_shown_where_no_word_is_known() {
    let (_dir, _, corpus) = corpus(concat!(
        "{\"title\": \"Mercury (disambiguation)\", \"blocks\": [\"Mercury may refer to:\", \"Mercury (planet), a planet\"]}\n",
        "{\"title\": \"Mercury (planet)\", \"text\": \"near the sun\", \"redirects\": [\"Merkurius\"]}\n",
        "{\"title\": \"Merkel\", \"text\": \"a chancellor\"}\n",
        "{\"title\": \"東京都\", \"text\": \"a city\"}\n",
    ));
    assert_eq!(found(&corpus, "Merkurios"), ["Mercury (planet)"]);
    assert_eq!(found(&corpus, "merkx"), ["Merkel", "Mercury (planet)"]);
    assert_eq!(found(&corpus, "東京x"), ["東京都"]);
    assert_eq!(found(&corpus, "mexx"), Vec::<String>::new());
    assert_eq!(found(&corpus, "mercury"), ["list Mercury (disambiguation)", "Mercury (planet)"]);
}

#[test]
fn names_are_found_without_their_letters_accents_and_punctuation() {
    let lines = concat!(
        "{\"title\": \"Łódź\", \"text\": \"a city\"}\n",
        "{\"title\": \"US Route 66\", \"text\": \"a road\", \"redirects\": [\"Mother-Road\"]}\n",
        "{\"title\": \"M*A*S*H\", \"text\": \"a film\"}\n",
        "{\"title\": \"Spider-Man\", \"text\": \"a hero\"}\n",
        "{\"title\": \"Pulp\", \"text\": \"food\", \"redirects\": [\"Mash\"]}\n",
        "{\"title\": \"N.Y. (disambiguation)\", \"blocks\": [\"N.Y. may refer to:\", \"Pulp, food\"]}\n",
    );
    let (dir, _, built) = corpus(lines);
    let plain = Corpus::from_jsonl("c", lines.as_bytes()).expect("a corpus");
    for (query, title) in [
        ("Lodz", "Łódź"),
        ("Łodż", "Łódź"),
        ("U.S. Route 66", "US Route 66"),
        ("motherroad", "US Route 66"),
        ("spiderman", "Spider-Man"),
        ("Spider Man", "Spider-Man"),
        // A name with the spaces of the query comes before one without its punctuation.
        ("mash", "Pulp"),
        ("m a s h", "M*A*S*H"),
    ] {
        for corpus in [&plain, &built] {
            assert_eq!(found(corpus, query), [format!("page {title}")], "{query}");
        }
    }
    assert_eq!(found(&built, "NY"), ["list N.Y. (disambiguation)", "Pulp"]);
    assert_eq!(verify(&dir.path().join("c"), true).expect("a manifest"), Vec::<String>::new());
    // A folder of the first version is searched by its rules.
    let manifest = dir.path().join("c/corpus.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace("\nfold = 2\n", "\nfold = 1\n")).expect("written");
    let older = Corpus::open(&dir.path().join("c")).expect("a corpus of the first version");
    assert_eq!(found(&older, "Łodż"), [""; 0]);
    assert_eq!(found(&older, "any route"), ["US Route 66"]);
}

#[test]
fn only_new_folders_are_written_and_unfinished_ones_are_begun_anew() {
    let dir = tempfile::tempdir().expect("a folder");
    let line = "{\"title\": \"A\", \"text\": \"a\"}";
    for lines in ["", "nonsense", "{\"title\": \"A\", \"text\": \"\"}", "{\"title\": \"A\", \"redirect\": \"B\"}"] {
        assert!(matches!(built(dir.path(), "c", lines), Err(BuildError::Empty(_))), "{lines}");
    }
    let partial = dir.path().join("c.partial");
    fs::create_dir(&partial).expect("a folder");
    fs::write(partial.join("thesis.tex"), "years of work").expect("a file");
    assert!(matches!(built(dir.path(), "c", line), Err(BuildError::InTheWay(_))));
    // What a killed build leaves.
    fs::write(partial.join("build.lock"), "").expect("a file");
    fs::create_dir(partial.join("work")).expect("a folder");
    fs::write(partial.join("work/articles.0.run"), "half").expect("a file");
    let held = fs::File::open(partial.join("build.lock")).expect("a file");
    held.lock().expect("a lock");
    assert!(matches!(built(dir.path(), "c", line), Err(BuildError::Busy(_))));
    assert!(partial.join("thesis.tex").exists());
    drop(held);
    assert!(matches!(Corpus::open(&partial), Err(CorpusError::Nothing { .. })));
    built(dir.path(), "c", line).expect("a corpus");
    assert!(!partial.exists());
    assert!(matches!(built(dir.path(), "c", line), Err(BuildError::Exists(_))));
    let mut names: Vec<String> = fs::read_dir(dir.path().join("c"))
        .expect("a folder")
        .map(|file| super::file_name(&file.expect("a file").path()))
        .collect();
    names.sort();
    assert_eq!(names, ["bm25", "corpus.toml", "keys.fst", "names.fst", "pages.bin", "pages.idx", "redirects.fst"]);
}

/// Copies a corpus.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("bm25")).expect("a folder");
    for below in ["", "bm25"] {
        for entry in fs::read_dir(from.join(below)).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                fs::copy(&path, to.join(below).join(path.file_name().expect("a name"))).expect("a copy");
            }
        }
    }
}

#[test]
fn damaged_files_are_refused_by_name_and_never_a_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = dir.path().join("c");
    let manifest = built(dir.path(), "c", &many(1_300).join("\n")).expect("a corpus").manifest;
    let copied = dir.path().join("d");
    copy(&whole, &copied);
    let refused = |why: &str, file: &str| match Corpus::open(&copied) {
        Err(CorpusError::Damaged { file: named, .. }) => assert_eq!(named, file, "{why}"),
        other => panic!("{why} {file}: {:?}", other.map(|_| ())),
    };
    for (file, digest) in &manifest.files {
        let path = copied.join(file);
        let bytes = fs::read(&path).expect("a file");
        for at in [0, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            fs::write(&path, &damaged).expect("a file");
            refused("flipped", file);
            let differences = verify(&copied, true).expect("a manifest");
            assert!(differences[0].starts_with(&format!("{file}: it is not the file")), "{differences:?}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).expect("a file");
        refused("cut", file);
        fs::remove_file(&path).expect("removed");
        refused("gone", file);
        assert!(verify(&copied, false).expect("a manifest")[0].starts_with(&format!("{file}: ")));
        fs::write(&path, &bytes).expect("a file");
        assert_eq!(digest.bytes, bytes.len() as u64);
    }
    assert!(Corpus::open(&copied).is_ok());
    let text = fs::read_to_string(whole.join("corpus.toml")).expect("a manifest");
    for (from, to, what) in
        [("format = 1", "format = 2", "has format 2"), ("fold = 2", "fold = 9", "was built by rules")]
    {
        fs::write(copied.join("corpus.toml"), text.replace(from, to)).expect("a file");
        let error = Corpus::open(&copied).map(|_| ()).expect_err("another version");
        assert!(error.to_string().contains(what) && error.hint().is_some(), "{error}");
    }
    // A path may lead anywhere, and what is not listed is not compared.
    for (path, what) in
        [("/dev/zero", "not a file of a corpus"), ("../f", "not a file"), ("bm25/../../f", "not a file")]
    {
        let listed = format!("{text}\n[files.\"{path}\"]\nbytes = 0\nsha256 = \"x\"\n");
        fs::write(copied.join("corpus.toml"), listed).expect("a file");
        let error = Corpus::open(&copied).map(|_| ()).expect_err("a foreign path").to_string();
        assert!(error.contains(what), "{error}");
        assert!(verify(&copied, true).expect("a manifest").iter().any(|difference| difference.contains(what)));
    }
    let unlisted = text.split("[files.").filter(|part| !part.starts_with("\"keys.fst\""));
    fs::write(copied.join("corpus.toml"), unlisted.collect::<Vec<_>>().join("[files.")).expect("a file");
    let error = Corpus::open(&copied).map(|_| ()).expect_err("a file too few").to_string();
    assert!(error.contains("keys.fst"), "{error}");
    assert!(!verify(&copied, true).expect("a manifest").is_empty());
    for cut in (0..text.len()).step_by(97) {
        fs::write(copied.join("corpus.toml"), &text[..cut]).expect("a file");
        assert!(Corpus::open(&copied).is_err(), "{cut}");
    }
}

/// As in a folder that is too large to be compared with its digests whenever it is opened.
#[test]
fn damage_that_no_digest_tells_of_ends_in_an_answer_or_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = dir.path().join("c");
    let manifest = built(dir.path(), "c", &many(100).join("\n")).expect("a corpus").manifest;
    let copied = dir.path().join("d");
    let digests: BTreeMap<_, _> = manifest.files.clone();
    let (mut state, mut errors) = (1_u64, 0);
    for (file, digest) in &digests {
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            copy(&whole, &copied);
            let mut bytes = fs::read(whole.join(file)).expect("a file");
            let at = usize::try_from(state >> 33).expect("small") % bytes.len();
            bytes[at] ^= 1 << (state >> 29 & 7);
            fs::write(copied.join(file), &bytes).expect("a file");
            let text = fs::read_to_string(whole.join("corpus.toml")).expect("a manifest");
            let sha256 = crate::base::sha256_hex([&*bytes]);
            fs::write(copied.join("corpus.toml"), text.replace(&digest.sha256, &sha256)).expect("a file");
            let Ok(corpus) = Corpus::open(&copied) else {
                errors += 1;
                continue;
            };
            for query in ["Page 10", "seite 20", "To 18", "w12 w15 w700", "[Page 11]", "Pagx", "Page 99"] {
                errors += usize::from(corpus.find(query).is_err());
            }
            let _ = verify(&copied, true).expect("a manifest");
        }
    }
    assert!(errors > 20, "{errors}");
}
