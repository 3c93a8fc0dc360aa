//! What no experiment can be.

use crate::common::WorkDir;

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let bench = WorkDir::new();
    let with = |rest: &str| {
        bench.write("x/bad.toml", format!("name = \"bad\"\ndataset = \"datasets/sample.jsonl\"\n{rest}\n"));
    };
    for (rest, message) in [
        ("[settings]\nprotocl = \"robust\"", "x/bad.toml:4: unknown key `settings.protocl`"),
        ("[settings]\ntemperature = 3", "x/bad.toml:4: `settings.temperature` must be a number from 0 to 2, but is 3"),
        ("[settings]\ncompat = \"papr\"", "x/bad.toml:4: unknown compat `papr` in `settings.compat`"),
        ("[settings]\nmodel = \"gpt\"", "invalid --model `gpt`"),
        ("[settings]\nprompt = \"none.toml\"", "x/bad.toml:4: cannot read prompt file `none.toml`"),
        ("[matrix]\nshots = [1, 90, 91]", "2 problems\nx/bad.toml:3: variant `shots=90`: `prompts/hotpotqa.toml` has"),
        (
            "[matrix]\nshots = [90]\ncompat = [\"paper\", \"fixed\"]",
            "x/bad.toml:3: variants `shots=90/paper`, `shots=90/fixed`: ",
        ),
        ("[settings]\nshots = 100", "x/bad.toml:1: variant `main`: `prompts/hotpotqa.toml` has"),
        ("[settings]\nexemplar_seed = 3", "--exemplar-seed is the seed of a shuffle"),
        ("[matrix]\nprotocol = [\"lagent\"]\nmethod = [\"act\"]", "x/bad.toml:3: variant `lagent/act`: "),
        ("[[include]]\nname = \"a\"\n[[include]]\nname = \"b\"\nmax_steps = 7", "variants `a` and `b` are the same"),
        (
            "[[include]]\nname = \"a\"\nmodel = \"openai:m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nserver = \"vlm\"",
            "x/bad.toml:7: unknown server `vlm` in `include[1].server`",
        ),
    ] {
        with(rest);
        let ran = bench.run(&["x/bad.toml", "--dry-run"]);
        let said = ran.stderr;
        assert!(matches!(ran.code, Some(2 | 3)), "{rest}\n{said}");
        assert!(said.contains(message) && said.contains("hint: "), "{rest}\n{said}");
    }
    with("");
    bench.run(&["x/bad.toml", "--protocol", "robust"]).refused(2, &["--protocol is set by the experiment file"]);
    bench.run(&["x/bad.toml", "--prompt", "a.toml"]).refused(2, &["--prompt is set by the experiment file"]);
    with("[settings]\nmodel = \"baseline\"\n");
    bench.run(&["x/bad.toml", "--model", "openai:m"]).refused(2, &["--model is set by the experiment file"]);
    with("");
    bench.run(&["x/bad.toml", "--shuffle", "3"]).refused(2, &["set `shuffle` in [[dataset]] of x/bad.toml"]);
    bench.run(&["none.toml"]).refused(3, &["cannot read `none.toml`"]);
    bench.write("two.toml", "name = \"two\"\n[[dataset]]\npath = \"datasets/sample.jsonl\"\nlimit = -1\n");
    bench.run(&["two.toml"]).refused(3, &["two.toml:4: `dataset[1].limit` must be a whole number"]);
    bench.write("latin.toml", b"name = \"\xe9\"");
    bench.run(&["latin.toml"]).refused(3, &["`latin.toml` is not UTF-8 text"]);
}

const MISSING: &str = r#"name = "missing"
[[dataset]]
name = "gone"
path = "gone.jsonl"
ids = "gone.txt"
[[dataset]]
path = "datasets/sample.jsonl"
[settings]
texts = "texts.toml"
wiki = "corpus:no-corpus"
[matrix]
protocol = ["react-paper", "robust"]
prompt = [
  "one.toml",
  "prompts/hotpotqa.toml",
  { name = "own", prompt = "paper.json#key", instruction = "instruction.txt" },
  "broken.toml",
]
"#;

/// Each with the line of the value that names it, whatever it is and however many cells share it.
#[test]
fn files_that_are_missing_or_wrong_are_named_all_at_once() {
    let bench = WorkDir::new();
    bench.write("x/missing.toml", MISSING);
    bench.write("x/paper.json", "{\"key\": \"a prompt\"}");
    bench.write("x/broken.toml", "name = \"broken\"\nlanguge = \"en\"\n");
    let output = bench.run(&["x/missing.toml", "--dry-run"]);
    let said = output.stderr;
    assert_eq!(output.code, Some(3), "{said}");
    let mut lines = said.lines().filter(|line| !line.starts_with("hint: "));
    for (start, rest) in [
        ("error: ", " problems"),
        ("x/missing.toml:4: ", "cannot read `gone.jsonl`: there is no such file"),
        ("x/missing.toml:5: ", "cannot read the ids in `gone.txt`"),
        ("x/missing.toml:9: ", "`texts.toml`"),
        ("x/missing.toml:10: ", "`no-corpus` does not exist"),
        ("x/missing.toml:14: ", "cannot read prompt file `one.toml`"),
        ("x/missing.toml:16: ", "cannot read instruction file `instruction.txt`"),
        ("x/broken.toml:1: ", "missing key"),
    ] {
        let line = lines.next().expect("a line");
        assert!(line.starts_with(start) && line.contains(rest), "{line}\n{said}");
    }
    assert!(said.contains("x/broken.toml:2: unknown key `languge`\nhint: did you mean `language`?"), "{said}");
    // What is typed stands in no line of the file.
    let mended = MISSING.replace("gone.jsonl", "datasets/sample.jsonl").replace("ids = \"gone.txt\"\n", "");
    bench.write(
        "x/missing.toml",
        mended.replace("texts = \"texts.toml\"\n", "").replace("no-corpus", "datasets/sample-wiki"),
    );
    bench.write("x/one.toml", "name = 1");
    bench.run(&["x/missing.toml", "--dry-run"]).refused(3, &["x/one.toml:1: `name` must be a string"]);
}

/// Whoever writes a file must not choose which of our keys is sent.
#[test]
fn a_file_does_not_say_where_a_key_is() {
    let bench = WorkDir::new();
    let model = "model = \"openai:m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_file = \"key.txt\"\n";
    bench.write("x/keys.toml", format!("name = \"keys\"\ndataset = \"gone.jsonl\"\n[settings]\n{model}"));
    bench.write("x/key.txt", "secret");
    bench.run(&["x/keys.toml", "--base-url", "http://127.0.0.1:1/v1"]).refused(
        3,
        &[
            "error: 2 problems\nx/keys.toml:2: cannot read `gone.jsonl`",
            "\nx/keys.toml:6: `key_file` says where a key is, which no file may say\nhint: remove it, and give --key-file on",
        ],
    );
    let matrix = "[matrix]\nkey_env = [\"HOME\", \"PATH\"]\n[settings]\nmodel = \"openai:m\"\n";
    bench.write("m.toml", format!("name = \"keys\"\ndataset = \"datasets/sample.jsonl\"\n{matrix}"));
    bench.run(&["m.toml", "--dry-run"]).refused(3, &["m.toml:4: `key_env` says where a key is"]);
}

/// A fault of a cell is one of all datasets; what only one of them has is said beside it.
#[test]
fn faults_of_all_datasets_are_said_each_once() {
    let bench = WorkDir::new();
    let datasets = "[[dataset]]\npath = \"datasets/sample.jsonl\"\n[[dataset]]\nname = \"other\"\npath = \"datasets/sample.jsonl\"\n";
    let cells = "[matrix]\nshots = [1, 90]\n[[dataset]]\nname = \"bad\"\npath = \"bad.jsonl\"\n";
    bench.write("two.toml", format!("name = \"two\"\n{datasets}{cells}"));
    bench.write("bad.jsonl", "{}\n");
    let output = bench.run(&["two.toml", "--dry-run"]);
    let said = output.stderr;
    assert!(said.starts_with("error: 2 problems\ntwo.toml:7: variant `shots=90`: "), "{said}");
    assert!(said.contains("\nhint: ") && said.contains("\n`bad.jsonl`"), "{said}");
    assert_eq!(said.matches("shots=90").count(), 1, "{said}");
}
