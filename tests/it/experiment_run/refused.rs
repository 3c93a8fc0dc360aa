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
