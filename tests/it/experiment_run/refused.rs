//! What no experiment can be.

use crate::common::WorkDir;

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

#[test]
fn a_file_that_is_no_text_is_refused() {
    let bench = WorkDir::new();
    bench.write("latin.toml", b"name = \"\xe9\"");
    bench.run(&["latin.toml"]).refused(3, &["`latin.toml` is not UTF-8 text"]);
}
