//! What `--out` and its like replace: nothing that a person could miss.

use crate::common::{Ran, WorkDir};

/// A folder with a run of two variants over a table, and the table.
fn with_run() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("mine.csv", "question,answer\nWho wrote Solaris?,Lem\nWho wrote Dune?,Herbert\n");
    dir.run(&["mine.csv", "--method=react,standard", "--quiet", "--out=two"]).ok();
    dir
}

/// Commands that write a file, and what stands before its name.
const WRITERS: &[(&[&str], &str, &str)] = &[
    (&["report", "two"], "--out=", "x.html"),
    (&["export", "two"], "--out=", "x.csv"),
    (&["export", "two", "--rows=steps"], "--out=", "x.csv"),
    (&["export", "two", "--bom", "--raw"], "--out=", "x.csv.gz"),
    (&["export", "two"], "--out=", "x.jsonl"),
    (&["export", "two"], "--out=", "x.jsonl.gz"),
    (&["export", "two", "--rows=questions"], "--out=", "x.jsonl"),
    (&["export", "two", "--rows=steps"], "--out=", "x.jsonl"),
    (&["export", "two", "--format=chat", "--min-f1=0"], "--out=", "x.jsonl"),
    (&["export", "two", "--format=atif"], "--out=", "x.jsonl"),
    (&["export", "two", "--format=otlp"], "--out=", "x.jsonl"),
    (&["export", "two", "--variant=react"], "--out=", "x.json"),
    (&["compare", "two"], "--out=", "x.txt"),
    (&["compare", "two"], "--out=", "x.md"),
    (&["compare", "two"], "--out=", "x.tex"),
    (&["compare", "two"], "--out=", "x.csv"),
    (&["compare", "two"], "--out=", "x.json"),
    (&["dataset", "convert", "mine.csv"], "--out=", "x.jsonl"),
];

fn writes(dir: &WorkDir, (words, flag, name): (&[&str], &str, &str), more: &[&str]) -> Ran {
    let out = format!("{flag}{name}");
    dir.wikitrail(&[words, &[out.as_str()], more].concat())
}

#[test]
fn an_output_replaces_its_like_and_nothing_else() {
    let dir = with_run();
    let theirs = [
        "\n",
        "question,answer\nWho?,me\n",
        "id,em,f1\n1,0,1\n",
        "{\"question\": \"Who?\", \"answer\": \"me\"}\n",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n",
        "<!doctype html>\n<html lang=\"en\"><head><title>My notes</title></head></html>\n",
        "## Results on 3 questions\n",
        "% \\usepackage{booktabs}\n\\section{Mine}\n",
        "{\"version\":2,\"status\":\"success\",\"eval\":{\"task\":\"other\"}}\n",
        "Answer the question on 3 shared lines.\n",
    ];
    for writer in WRITERS {
        let (words, _, name) = *writer;
        writes(&dir, *writer, &[]).ok();
        let first = std::fs::read(dir.path(name)).expect("written");
        writes(&dir, *writer, &[]).ok();
        assert!(first.len() > 20, "{words:?}");
        for text in theirs {
            dir.write(name, text);
            writes(&dir, *writer, &[]).refused(2, &[&format!("`{name}` exists and is not "), "--force"]);
            assert_eq!(dir.read(name), text, "{words:?}");
        }
        writes(&dir, *writer, &["--force"]).ok();
        assert_eq!(std::fs::read(dir.path(name)).expect("written")[..8], first[..8], "{words:?}");
        dir.write(name, "");
        writes(&dir, *writer, &[]).ok();
        std::fs::remove_file(dir.path(name)).expect("removed");
    }
}

#[test]
fn outputs_of_other_kinds_do_not_replace_each_other() {
    let dir = with_run();
    for (at, writer) in WRITERS.iter().enumerate() {
        for other in
            WRITERS.iter().enumerate().filter(|(n, other)| *n != at && other.2 == writer.2).map(|(_, other)| other)
        {
            writes(&dir, *writer, &[]).ok();
            writes(&dir, *other, &[]).refused(2, &["exists and is not"]);
            std::fs::remove_file(dir.path(writer.2)).expect("removed");
        }
    }
    // A column of one's own is work of one's own.
    dir.wikitrail(&["export", "two", "--out=x.csv"]).ok();
    let table = dir.read("x.csv").replacen("\r\n", ",my notes\r\n", 1);
    dir.write("x.csv", &table);
    dir.wikitrail(&["export", "two", "--out=x.csv"]).refused(2, &["exists and is not"]);
    assert_eq!(dir.read("x.csv"), table);
}

#[test]
fn an_input_is_not_replaced_even_by_force() {
    let dir = with_run();
    let table = dir.read("mine.csv");
    let recorded = dir.read("two/trajectories.jsonl");
    let commands: &[&[&str]] = &[
        &["export", "two", "--out=mine.csv", "--force"],
        &["export", "two", "--out=./two/../mine.csv", "--force"],
        &["compare", "two", "--out=mine.csv", "--force"],
        &["dataset", "convert", "mine.csv", "--out=mine.csv", "--force"],
        &["export", "two", "--format=jsonl", "--out=two/trajectories.jsonl", "--force"],
        &["compare", "two", "--json", "--out=two/manifest.json", "--force"],
    ];
    for command in commands {
        dir.wikitrail(command).refused(2, &["name another file"]);
        assert_eq!((dir.read("mine.csv"), dir.read("two/trajectories.jsonl")), (table.clone(), recorded.clone()));
    }
    dir.wikitrail(&["export", "two", "--out=judged.csv"]).ok();
    let judged = dir.read("judged.csv");
    dir.wikitrail(&["compare", "--from-csv", "judged.csv", "--out=judged.csv", "--force"]).refused(2, &["is an input"]);
    assert_eq!(dir.read("judged.csv"), judged);
    #[cfg(unix)]
    for (target, name) in [("two/trajectories.jsonl", "link.jsonl"), ("mine.csv", "link.csv")] {
        std::os::unix::fs::symlink(target, dir.path(name)).expect("a link");
        dir.wikitrail(&["export", "two", &format!("--out={name}"), "--force"]).refused(2, &["name another file"]);
        assert!(dir.path(name).is_symlink());
    }
    // Hard links, too: they are the same file.
    std::fs::hard_link(dir.path("mine.csv"), dir.path("page.html")).expect("a link");
    dir.wikitrail(&["report", "two", "--out=page.html", "--force"]).refused(2, &["is an input"]);
}

/// What is neither a file nor a folder is written as it is.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written() {
    let dir = with_run();
    for name in ["/dev/null", "/dev/stdout"] {
        dir.wikitrail(&["report", "two", "--out", name]).ok();
        dir.wikitrail(&["export", "two", "--out", name]).ok();
        dir.wikitrail(&["compare", "two", "--out", name]).ok();
    }
    let ran = crate::common::shell(
        dir.root(),
        "mkfifo pipe && { cat pipe >kept & } && wikitrail report two --out pipe && wait",
    );
    ran.ok();
    assert!(dir.read("kept").starts_with("<!doctype html>"));
}
