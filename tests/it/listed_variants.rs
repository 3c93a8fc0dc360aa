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
