//! Plain texts as prompts, from outside: what is sent under each protocol, what is refused, and whole runs.

use crate::common::{WorkDir, variant_names};
use serde_json::Value;

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

/// The request about `Who?`: its text, or its messages each as `role: content`.
fn sent(dir: &WorkDir, prompt: &str, args: &[&str]) -> String {
    let shown = dir.wikitrail(&[&["prompt", "show", prompt, "--question", "Who?", "--json"], args].concat()).json();
    let Some(messages) = shown["messages"].as_array() else {
        return shown["text"].as_str().expect("a text").to_owned();
    };
    let part = |message: &Value, name: &str| message[name].as_str().expect("a text").to_owned();
    let message = |message: &Value| format!("{}: {}", part(message, "role"), part(message, "content"));
    messages.iter().map(message).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn the_question_stands_where_the_text_says() {
    let dir = folder();
    let tools = "(1) Search[title] opens the Wikipedia page with that title and shows its first sentences; where there is none, \
                 similar titles are listed.\n(2) Lookup[keyword] shows the next sentence on the open page that contains the \
                 keyword; the same keyword again shows the one after it.\n(3) Finish[answer] gives the answer and ends the task.";
    let asked = format!("Find it, as {{\"json\": 1}} or {{x}}.\n{tools}\n\nQuestion: Who?\nBe brief.");
    assert_eq!(sent(&dir, "my.txt", &[]), format!("{asked}\nThought 1:"));
    assert_eq!(sent(&dir, "my.txt", &["--method", "act"]), format!("{asked}\nAction 1:"));
    assert_eq!(sent(&dir, "my.txt", &["--protocol", "robust"]), format!("user: {asked}"));
    assert!(sent(&dir, "my.txt", &["--protocol", "react-zh"]).contains("(1) Search[标题]："));
    let native = sent(&dir, "my.txt", &["--protocol", "tools"]);
    assert!(native.starts_with("user: Find it, as") && native.contains("\nsearch(query): Opens the "), "{native}");
    assert_eq!(sent(&dir, "direct.txt", &["--method", "cot"]), "Q: Who?\nThought:");
    assert_eq!(sent(&dir, "direct.txt", &["--method", "standard"]), "Q: Who?\nAnswer:");
    // Without a place of its own, it follows, as in the paper.
    assert_eq!(sent(&dir, "open.TXT", &[]), format!("Find it.\n{tools}\nQuestion: Who?\nThought 1:"));
    assert_eq!(
        sent(&dir, "open.TXT", &["--protocol", "robust"]),
        format!("system: Find it.\n{tools}\n---\nuser: Question: Who?")
    );
    // What is the same for every question.
    let stored = dir.wikitrail(&["prompt", "show", "my.txt"]).ok().stdout;
    assert_eq!(stored, asked.replace("Who?", "{question}") + "\n");
    assert_eq!(dir.wikitrail(&["prompt", "show", "my.txt", "--source"]).ok().stdout, TEXT);
    let check = dir.wikitrail(&["prompt", "check", "my.txt", "open.TXT"]).ok().stdout;
    assert_eq!(check, "my.txt: ok, a finished text\nopen.TXT: ok, a finished text; the question follows it\n");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = folder();
    dir.write("typo.txt", "é {qestion}\n");
    dir.write("asks.txt", "Find it.\nQuestion:\n");
    dir.write("label.txt", "Question: {question}\nThought 1:\n");
    let prompt = |args: &[&str]| dir.wikitrail(&[&["prompt"], args].concat());
    prompt(&["check", "typo.txt"])
        .refused(3, &["typo.txt:1: unknown placeholder `{qestion}` in column 3", "hint: did you mean `{question}`?"]);
    for id in ["qwen-agent", "llama-index", "go-blog", "lagent"] {
        let hint = format!("for --protocol {id} --texts FILE");
        prompt(&["show", "my.txt", "--protocol", id]).refused(3, &["`my.txt` is a plain text, and protocol", &hint]);
    }
    prompt(&["show", "my.txt", "--method", "cot"]).refused(3, &["method `cot` uses no tools", "hint: remove {tools}"]);
    prompt(&["show", "my.txt", "--shots", "1"]).refused(3, &["cannot be selected or reordered"]);
    prompt(&["show", "asks.txt"]).refused(3, &["`asks.txt` ends in `Question:`"]);
    prompt(&["show", "label.txt"]).refused(3, &["`label.txt` ends in `Thought 1:`", "hint: end the text before it"]);
    prompt(&["show", "my.txt", "--instruction", "x"]).refused(3, &["does not take the instruction file"]);
    prompt(&["show", "my.md"]).refused(3, &["is not a .toml file, a .txt file or a key"]);
    let oracle = ["--prompt", "direct.txt", "--method", "cot", "--oracle-context", "--out", "o"];
    dir.run(&oracle).refused(2, &["`direct.txt` says where the question stands", "--oracle-context"]);
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
