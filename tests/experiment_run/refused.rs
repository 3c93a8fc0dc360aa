//! What no experiment can be.

use super::{Bench, errors};

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let bench = Bench::new();
    let with = |rest: &str| {
        bench.write("x/bad.toml", &format!("name = \"bad\"\ndataset = \"datasets/sample.jsonl\"\n{rest}\n"));
    };
    for (rest, message) in [
        ("[settings]\nprotocl = \"robust\"", "x/bad.toml:4: unknown key `settings.protocl`"),
        ("[settings]\ntemperature = 3", "x/bad.toml:4: `temperature`: invalid value '3' for '--temperature <T>'"),
        ("[settings]\ncompat = \"papr\"", "x/bad.toml:4: `compat`: invalid value 'papr'"),
        ("[settings]\nmax_steps = 0", "x/bad.toml:4: `max_steps`: invalid value '0'"),
        ("[settings]\nmodel = \"gpt\"", "--model `gpt` names no model"),
        ("[settings]\nprompt = \"none.toml\"", "x/bad.toml:1: cell `main`: cannot read prompt file `none.toml`"),
        ("[settings]\nshots = 100", "x/bad.toml:1: cell `main`: `prompts/hotpotqa.toml` has"),
        ("[settings]\nexemplar_seed = 3", "--exemplar-seed says how exemplars are shuffled"),
        ("[matrix]\nprotocol = [\"lagent\"]\nmethod = [\"act\"]", "x/bad.toml:3: cell `lagent/act`: "),
        ("[[include]]\nname = \"a\"\n[[include]]\nname = \"b\"\nmax_steps = 7", "variants `a` and `b` are the same"),
        (
            "[[include]]\nname = \"a\"\nmodel = \"openai:m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nserver = \"vlm\"",
            "x/bad.toml:7: `server`: invalid value 'vlm'",
        ),
    ] {
        with(rest);
        let output = bench.run(&["x/bad.toml", "--dry-run"]);
        let said = errors(&output);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{rest}\n{said}");
        assert!(said.contains(message) && said.contains("hint: "), "{rest}\n{said}");
    }
    with("");
    bench.refused(&["x/bad.toml", "--protocol", "robust"], 2, "--protocol is for the experiment file to say");
    bench.refused(&["x/bad.toml", "--prompt", "a.toml"], 2, "--prompt is for the experiment file to say");
    bench.refused(&["x/bad.toml", "--shuffle", "3"], 2, "set `shuffle` in [[dataset]] of x/bad.toml");
    bench.refused(&["none.toml"], 3, "cannot read `none.toml`");
    bench.write("two.toml", "name = \"two\"\n[[dataset]]\npath = \"datasets/sample.jsonl\"\nlimit = -1\n");
    bench.refused(&["two.toml"], 3, "two.toml:4: `dataset[1].limit` must be a whole number");
    bench.write("latin.toml", "");
    std::fs::write(bench.path("latin.toml"), b"name = \"\xe9\"").expect("a file");
    bench.refused(&["latin.toml"], 3, "`latin.toml` is not UTF-8 text");
}
