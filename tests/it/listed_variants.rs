//! Prompts and models listed in one flag: the variants that they make, what these are called, and what is refused.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, variant_names};
use serde_json::json;

fn prompt(name: &str, said: &str) -> String {
    format!(
        "name = \"{name}\"\nlanguage = \"en\"\nquestion_label = \"Question\"\nexemplar = []\n[instruction]\nreact = \"{said}\"\n"
    )
}

fn folder() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("a.toml", prompt("A-terse", "Find it."));
    std::fs::create_dir(dir.path("p2")).expect("made");
    dir.write("p2/a.toml", prompt("long", "Find it, please."));
    dir.write("b,c.toml", prompt("A-terse", "Find it now."));
    dir
}

#[test]
fn prompts_are_called_by_their_own_names() {
    let dir = folder();
    let summary = dir.run_json(&["--prompt", "a.toml,p2/a.toml", "--limit", "2", "--out", "r"]);
    assert_eq!(variant_names(&summary), ["A-terse", "long"]);
    dir.wikitrail(&["compare", "r", "--baseline", "long"]).ok();
    assert_eq!(dir.run(&["--resume", "--out", "r", "--limit", "3"]).ok().code, Some(0));
    assert_eq!(dir.records("r").len(), 6);
    // Two of one name are told apart by their files; a comma may be part of a file's name.
    let summary = dir.run_json(&["--prompt", "a.toml,b,c.toml", "--prompt", "p2/a.toml", "--limit", "1", "--out", "s"]);
    assert_eq!(variant_names(&summary), ["a", "b,c", "long"]);
    dir.write("p2/e.toml", "name = \"e\"\ndataset = { path = \"datasets/sample.jsonl\", limit = 1 }\nbaseline = \"long\"\n[matrix]\nprompt = [\"a.toml\", { name = \"mine\", prompt = \"../a.toml\" }, \"../b,c.toml\"]\n");
    // The path is tried from the working folder first.
    dir.run(&["p2/e.toml", "--out", "e"]).refused(3, &["unknown variant `long` in `baseline`"]);
    std::fs::rename(dir.path("a.toml"), dir.path("A.toml")).expect("renamed");
    dir.write("p2/e.toml", dir.read("p2/e.toml").replace("../a.toml", "../A.toml"));
    let summary = dir.run_json(&["p2/e.toml", "--out", "e"]);
    assert_eq!(variant_names(&summary), ["long", "mine", "A-terse"]);
    // What the folder holds is read without the prompts.
    std::fs::remove_dir_all(dir.path("p2")).expect("removed");
    dir.wikitrail(&["reproduce", "e"]).ok();
}

#[test]
fn models_make_variants_each() {
    let server = Server::start(|_, _, stream| {
        let message = json!({"content": "Thought 1: I know.\nAction 1: Finish[yes]"});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}}));
    });
    let dir = folder();
    let base = format!("{}/v1", server.url);
    let args = ["--model", "openai:org/small, openai:large", "--base-url", &base, "--limit", "2", "--out", "r"];
    let run = dir.run(&args).ok();
    assert!(run.stderr.contains("note: --base-url holds for each of the 2 models\n"), "{}", run.stderr);
    assert_eq!(dir.records("r").len(), 4);
    for model in ["org/small", "large"] {
        let asked =
            server.requests().iter().filter(|request| request.contains(&format!("\"model\":\"{model}\""))).count();
        assert_eq!(asked, 2, "{model}");
    }
    let listed = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!(variant_names(&listed), ["small", "large"]);
}
