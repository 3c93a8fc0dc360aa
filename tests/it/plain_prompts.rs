//! Plain texts as prompts, from outside: what is sent under each protocol, what is refused, and whole runs.

use crate::common::{WorkDir, variant_names};

const TEXT: &str = "\u{feff}Find it, as {\"json\": 1} or {{x}}.\r\n{tools}\r\n\r\nQuestion: {question}\r\nBe brief.";
/// Without a place for the question.
const OPEN: &str = "Find it.\n{tools}";
/// Without tools.
const DIRECT: &str = "Q: {question}\n";

fn folder() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("my.txt", TEXT);
    dir.write("open.TXT", OPEN);
    dir.write("direct.txt", DIRECT);
    dir
}

#[test]
fn runs_experiments_and_questions_take_a_plain_text() {
    let dir = folder();
    let em = |out: &str, args: &[&str]| {
        let summary = dir.run_json(&[&["--limit", "12", "--out", out], args].concat());
        dir.wikitrail(&["replay", out]).ok();
        summary["variants"][0]["em"].clone()
    };
    // The rules find the question in the text, and so answer as they do from a prompt file.
    let usual = em("usual", &[]);
    for (protocol, prompt) in [
        ("react-paper", "my.txt"),
        ("robust", "my.txt"),
        ("tools", "my.txt"),
        ("robust", "open.TXT"),
        ("react-zh", "open.TXT"),
    ] {
        let out = format!("{protocol}-{prompt}");
        assert_eq!(em(&out, &["--prompt", prompt, "--protocol", protocol]), usual, "{out}");
    }
    dir.write(
        "e.toml",
        "name = \"e\"\ndataset = { path = \"datasets/sample.jsonl\", limit = 2 }\n[matrix]\nprompt = [\"my.txt\", \"open.TXT\"]\n",
    );
    let summary = dir.run_json(&["e.toml", "--out", "e"]);
    assert_eq!(variant_names(&summary), ["my", "open"]);
    let asked = dir.wikitrail(&["ask", "Who was Blaise Pascal?", "--prompt", "my.txt", "--json"]).json();
    assert_eq!(asked["outcome"], "finished");
}
