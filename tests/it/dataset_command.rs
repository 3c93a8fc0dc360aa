//! `dataset info`, `convert`, `split` and `fetch`: what they print, write and refuse.

use crate::common::server::Server;
use crate::common::{self, Ran, WorkDir, wikitrail};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use wikitrail::score::{ReadOptions, load_file};

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
    names.sort();
    names
}

/// Tables as spreadsheets save them: other separators, UTF-16, names of columns with capitals. What was assumed is said.
#[test]
fn tables_are_read_as_people_have_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let wide = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect()
    };
    let german = "ID;Question;Answer\n7;\"Who; and, why?\";Lw\u{f3}w\n";
    for (name, bytes, note) in [
        ("german.csv", german.as_bytes().to_vec(), "the cells are separated by `;`"),
        ("german.tsv", german.as_bytes().to_vec(), "`Question` is `question`, `Answer` is `answer`, `ID` is `id`"),
        ("german", german.as_bytes().to_vec(), "the cells are separated by `;`"),
        (
            "tabs.csv",
            german.replace(';', "\t").replace("Who\t", "Who;").into_bytes(),
            "the cells are separated by tabs",
        ),
        ("wide.txt", wide(german), "read as UTF-16LE"),
        ("commas.tsv", german.replace(';', ",").replace("Who,", "Who;").into_bytes(), "the cells are separated by `,`"),
    ] {
        std::fs::write(dir.path().join(name), bytes).expect("written");
        let output = wikitrail(dir.path(), &["dataset", "convert", name]).ok();
        assert!(
            output.stderr.contains(&format!("note: {name}: ")) && output.stderr.contains(note),
            "{}",
            output.stderr
        );
        let question: serde_json::Value = serde_json::from_str(&output.stdout).expect("one question");
        assert_eq!((&question["id"], &question["answers"]), (&json!("7"), &json!(["Lw\u{f3}w"])), "{name}");
        assert_eq!(question["question"], "Who; and, why?", "{name}");
    }
    let mut broken = wide("question,answer\n");
    broken.extend([0x00, 0xd8, b'\n', 0]);
    std::fs::write(dir.path().join("broken.csv"), broken).expect("written");
    wikitrail(dir.path(), &["dataset", "info", "broken.csv"])
        .refused(3, &["`broken.csv` begins like UTF-16 but is not"]);
}

/// What was begun with an older program goes on with this one.
#[test]
fn an_unscored_run_and_one_with_an_empty_file_of_ids_are_resumed() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("written");
    write("q.csv", "question,gold\nWho?,Lem\nWhat?,It\n");
    write("some.ids", "q-0\nq-1\n");
    wikitrail(dir.path(), &["run", "q.csv", "--unscored", "--ids=some.ids", "--quiet", "--out=old"]).ok();
    let path = dir.path().join("old/manifest.json");
    let mut manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a manifest")).expect("JSON");
    manifest["dataset"]["selection"].as_object_mut().expect("an object").remove("ids");
    let line = manifest["command_line"].as_array_mut().expect("a list");
    line.retain(|word| word != "--unscored");
    std::fs::write(&path, manifest.to_string()).expect("written");
    write("some.ids", "# none\n\n");
    wikitrail(dir.path(), &["run", "--resume", "--out=old", "--quiet"]).ok();
    wikitrail(dir.path(), &["run", "q.csv", "--ids=some.ids", "--resume", "--out=old", "--quiet"]).ok();
    wikitrail(dir.path(), &["run", "q.csv", "--unscored", "--ids=some.ids", "--out=new"])
        .refused(3, &["`some.ids` holds no id"]);
}

/// What spreadsheets leave around a table, and a quote that takes rows, which nothing skips.
#[test]
fn a_table_is_read_through_its_debris_but_not_past_an_open_quote() {
    let dir = tempfile::tempdir().expect("a folder");
    let debris = "\u{feff}\n,,,\nsep=;\n\n\"id\";question;answer;;\n1;Who?;a;;\n;;\n;;;;\n2;What?;b\n3;Why?;c;;;;\n\n4;How?;d;;x\n";
    std::fs::write(dir.path().join("q.csv"), debris).expect("written");
    wikitrail(dir.path(), &["dataset", "info", "q.csv"])
        .refused(3, &["`q.csv`, line 12: the row has 5 cells where the header has 3"]);
    std::fs::write(dir.path().join("q.csv"), debris.replace(";x", ";")).expect("written");
    let rows = wikitrail(dir.path(), &["dataset", "convert", "q.csv"]).lines();
    let read: Vec<_> = rows.iter().map(|row| [&row["id"], &row["answers"][0], &row["index"]]).collect();
    assert_eq!(json!(read), json!([["1", "a", 0], ["2", "b", 1], ["3", "c", 2], ["4", "d", 3]]));
    assert_eq!(rows[0]["meta"], json!(null));
    let mut rows: Vec<String> = (0..200).map(|n| format!("q{n},Question {n}?,answer {n},t")).collect();
    let write = |rows: &[String]| {
        std::fs::write(dir.path().join("open.csv"), format!("id,question,answer,type\n{}\n", rows.join("\n")))
            .expect("written");
    };
    for cell in
        ["\"q70,Question?,answer,t", "q70,\"Question?,answer,t", "q70,Question?,\"answer,t", "q70,Question?,answer,\"t"]
    {
        cell.clone_into(&mut rows[70]);
        write(&rows);
        for flags in [&["dataset", "info", "open.csv"][..], &["run", "open.csv", "--skip-bad", "--dry-run"]] {
            wikitrail(dir.path(), flags).refused(
                3,
                &[
                    "`open.csv`, line 72: a quoted cell that begins here is not closed",
                    "hint: close it with a double quote",
                ],
            );
        }
    }
    rows[80] = "q80,Question?,\"answer\",t".to_owned();
    rows[70] = "q70,\"Question?,answer,t".to_owned();
    write(&rows);
    wikitrail(dir.path(), &["run", "open.csv", "--skip-bad", "--dry-run"])
        .refused(3, &["line 72: the row goes on to line 82 and has 3 cells where the header has 4"]);
    std::fs::write(dir.path().join("twice.csv"), "question,answer,note,note\nQ?,a,b,c\n").expect("written");
    wikitrail(dir.path(), &["dataset", "info", "twice.csv"])
        .refused(3, &["line 1: the column `note` appears twice", "hint: rename one of the two columns"]);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn convert_writes_what_the_readers_read() {
    let shared = common::shared();
    let dir = tempfile::tempdir().expect("a folder");
    for file in [
        "hotpot_dev_distractor_v1.partial.json",
        "fever_paper_dev.jsonl",
        "2wiki_dev.migres200.json",
        "musique_full.cas20.json",
        "hotpot_test_v1_simplified.json",
        "strategyqa_dev.json",
        "bamboogle.json",
        "nq_open_dev.jsonl",
        "triviaqa_sample.clivia.json",
        "popqa_test.corver.json",
        "webquestions_test.json",
        "simpleqa.corver.json",
        "frames.json",
    ] {
        let path = shared.join("data/datasets").join(file);
        let out = dir.path().join("out.jsonl");
        let path_text = path.to_str().expect("UTF-8");
        let output = wikitrail(dir.path(), &["dataset", "convert", path_text, "--out", "out.jsonl"]);
        assert_eq!(output.ok().stdout, "", "{file}");
        let load = |path: &Path| load_file(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let (before, after) = (load(&path), load(&out));
        assert_eq!((after.format.name(), after.questions.len()), ("jsonl", before.questions.len()), "{file}");
        for (before, after) in before.questions.iter().zip(&after.questions) {
            assert_eq!(after, before, "{file}");
        }
        assert_eq!(names(dir.path()), ["out.jsonl"]);
    }
}

#[cfg(unix)]
#[test]
fn convert_replaces_no_link_to_its_input() {
    let dir = WorkDir::new();
    dir.write("q.csv", "question,answer\nWho?,me\n");
    std::os::unix::fs::symlink("q.csv", dir.path("link")).expect("a link");
    dir.wikitrail(&["dataset", "convert", "q.csv", "--out", "link"]).refused(2, &["link"]);
    assert_eq!(dir.read("q.csv"), "question,answer\nWho?,me\n");
}

/// A site with one file, which it serves with this status and type; it cuts its first answers in the middle.
fn site(status: &'static str, kind: &'static str, body: &[u8], cuts: usize) -> Server {
    let body = body.to_vec();
    Server::start(move |number, request, stream| {
        let range =
            request.lines().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok());
        let start: usize = range.unwrap_or(0).min(body.len());
        let status = if range.is_some() && status.starts_with("200") { "206 Partial Content" } else { status };
        let (length, total) = (body.len() - start, body.len());
        let end = if number < cuts { start + length / 2 } else { total };
        // The test is over when the client hangs up; there is nobody to tell.
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nETag: \"v1\"\r\n\
             Connection: close\r\nContent-Range: bytes {start}-{}/{total}\r\n\r\n",
            total.saturating_sub(1)
        )
        .and_then(|()| stream.write_all(&body[start..end]));
    })
}

fn file(body: &[u8], cuts: usize) -> Server {
    site("200 OK", "application/octet-stream", body, cuts)
}

fn fetch(folder: &Path, site: &Server, name: &str) -> Ran {
    wikitrail(folder, &["dataset", "fetch", name, "--out", "data", "--base-url", &site.url, "--json"])
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn fetch_goes_on_after_cuts_within_a_command_and_between_two() {
    let body = common::shared::bytes("data/datasets/nq_open_dev.jsonl");
    let dir = tempfile::tempdir().expect("a folder");
    let site = file(&body, 1);
    let fetched = fetch(dir.path(), &site, "nq-open").json();
    let half = body.len() / 2;
    let requests = site.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("GET /NQ-open.dev.jsonl "), "{}", requests[0]);
    assert!(requests[1].contains(&format!("range: bytes={half}-\r\n")), "{}", requests[1]);
    assert!(requests[1].contains("if-range: \"v1\"\r\n"), "{}", requests[1]);
    assert_eq!((&fetched["bytes"], &fetched["checked"]), (&json!(body.len()), &json!(true)));
    assert_eq!(fetched["licence"], "CC BY-SA 3.0");
    assert_eq!(std::fs::read(dir.path().join("data/nq_open_dev.jsonl")).expect("there"), body);
    assert_eq!(names(&dir.path().join("data")), ["nq_open_dev.jsonl"]);
    // What is there and right is not fetched again.
    fetch(dir.path(), &site, "nq-open").json();
    assert_eq!(site.requests().len(), 2);
    // An earlier command left the first part.
    let other = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(other.path().join("data")).expect("a folder");
    std::fs::write(other.path().join("data/nq_open_dev.jsonl.part"), &body[..1000]).expect("written");
    let fetched = fetch(other.path(), &site, "nq-open").json();
    assert_eq!(fetched["resumed_from"], 1000);
    assert!(site.requests()[2].contains("range: bytes=1000-\r\n"));
    assert_eq!(names(&other.path().join("data")), ["nq_open_dev.jsonl"]);
}

#[test]
fn fetch_keeps_nothing_whose_checksum_is_wrong() {
    let dir = tempfile::tempdir().expect("a folder");
    let site = file(b"{\"question\": \"?\", \"answer\": [\"!\"]}\n", 0);
    fetch(dir.path(), &site, "nq-open").refused(3, &["damaged or has changed", "f15567f38099f361"]);
    assert_eq!(names(&dir.path().join("data")), Vec::<String>::new());
    // A file of the name that is not the one wanted is not touched.
    std::fs::write(dir.path().join("data/nq_open_dev.jsonl"), "mine").expect("written");
    fetch(dir.path(), &site, "nq-open").refused(3, &["already exists", "nq_open_dev.jsonl"]);
    assert_eq!(std::fs::read(dir.path().join("data/nq_open_dev.jsonl")).expect("there"), b"mine");
    // Without a known checksum it is taken, and said.
    let output = wikitrail(dir.path(), &["dataset", "fetch", "squad11", "--out", "data", "--base-url", &site.url]);
    assert_eq!(output.stdout, "data/dev-v1.1.json\n");
    assert!(output.stderr.contains("no checksum is known") && output.stderr.contains("CC BY-SA 4.0"));
}

#[test]
fn fetch_names_the_md5_of_an_archive_and_the_way_to_a_corpus() {
    let dir = tempfile::tempdir().expect("a folder");
    let site = file(b"PK of somebody else", 0);
    let wrong = ["its MD5 is `", "d4d3d2e48787a744b6f6e691ff534307"];
    fetch(dir.path(), &site, "beir-nq").refused(3, &["damaged or has changed", wrong[0], wrong[1]]);
    std::fs::write(dir.path().join("data/beir-nq.zip"), "mine").expect("written");
    fetch(dir.path(), &site, "beir-nq").refused(3, &["already exists", wrong[0], wrong[1]]);
    let to = ["--out", "my DIR", "--base-url", &site.url];
    let fetched = wikitrail(dir.path(), &[&["dataset", "fetch", "wiki-fever"], &to[..]].concat()).ok();
    assert_eq!(fetched.stdout, "my DIR/wiki-pages.zip\n");
    let next = "next:\n  unzip 'my DIR/wiki-pages.zip' -d 'my DIR'\n  wikitrail corpus build fever17 --from fever:'my DIR'/wiki-pages ";
    assert!(fetched.stderr.contains(next), "{}", fetched.stderr);
    assert!(site.requests().last().is_some_and(|request| request.starts_with("GET /wiki-pages.zip ")));
}

#[test]
fn fetch_says_what_came_instead_of_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let gone = site("404 Not Found", "text/plain", b"no such file", 0);
    fetch(dir.path(), &gone, "fever").refused(1, &["/paper_dev.jsonl` answered with status 404"]);
    let page = b"\n <!DOCTYPE html><html>log in</html>";
    for kind in ["text/html; charset=utf-8", "application/octet-stream"] {
        fetch(dir.path(), &site("200 OK", kind, page, 0), "squad20").refused(3, &["page"]);
    }
    fetch(dir.path(), &site("200 OK", "text/plain", b"", 0), "squad20").refused(3, &["empty"]);
    assert_eq!(names(&dir.path().join("data")), Vec::<String>::new());
    fetch(dir.path(), &gone, "squadron").refused(2, &["`squadron`", "hotpotqa, "]);
    let output = wikitrail(dir.path(), &["dataset", "fetch", "fever", "--base-url", "ftp://x"]);
    output.refused(2, &["ftp"]);
}

/// Six questions, of which `a` and `b` are one cluster and `c` and `d` the same text.
fn six() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut lines = String::new();
    for (id, question, cluster) in [
        ("a", "One?", json!("x")),
        ("b", "Two?", json!("x")),
        ("c", "Three?", json!(null)),
        ("d", "three", json!(null)),
        ("e", "Four?", json!(null)),
        ("f", "Five?", json!(null)),
    ] {
        let question = json!({"id": id, "question": question, "answer": "y", "cluster": cluster});
        lines += &question.to_string();
        lines.push('\n');
    }
    std::fs::write(dir.path().join("six.jsonl"), lines).expect("written");
    dir
}

#[test]
fn split_writes_two_lists_that_runs_read_and_whose_digests_can_be_checked() {
    let dir = six();
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let split =
            ["dataset", "split", "six.jsonl", "--holdout", "3", "--seed", seed, "--out", &format!("l{seed}"), "--json"];
        let written = wikitrail(dir.path(), &split).json();
        let bytes = std::fs::read(dir.path().join("six.jsonl")).expect("there");
        assert_eq!(written["dataset_sha256"], json!(crate::common::sha256_hex(&bytes[..])));
        let mut all = Vec::new();
        for name in ["development", "holdout"] {
            let list = &written[name];
            let text = std::fs::read_to_string(dir.path().join(list["file"].as_str().expect("a path"))).expect("there");
            let ids: String = text.lines().filter(|line| !line.starts_with('#')).flat_map(|id| [id, "\n"]).collect();
            let sha256 = crate::common::sha256_hex(ids.as_bytes());
            assert_eq!((&list["sha256"], &list["questions"]), (&json!(sha256), &json!(ids.lines().count())));
            assert!(text.contains(&format!("# sha256 of the lines below: {sha256}\n")), "{text}");
            assert!(text.starts_with(&format!("# {name}: ")) && text.contains(&format!("of six, seed {seed}\n")));
            for pair in [["a", "b"], ["c", "d"]] {
                assert_ne!(pair.iter().filter(|id| ids.lines().any(|line| line == **id)).count(), 1, "{ids}");
            }
            all.extend(ids.lines().map(str::to_owned));
        }
        all.sort();
        assert_eq!(all, ["a", "b", "c", "d", "e", "f"]);
    }
    let run = wikitrail(dir.path(), &["run", "six.jsonl", "--ids", "l1/holdout.ids", "--dry-run", "--json"]).json();
    let ids = std::fs::read_to_string(dir.path().join("l1/holdout.ids")).expect("there");
    assert!(run.to_string().contains(ids.lines().last().expect("an id")), "{run}");
}
