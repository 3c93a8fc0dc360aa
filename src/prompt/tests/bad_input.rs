//! Errors of prompt files, word by word.

use super::{SOUND, load_bytes, load_toml, no_builtin};
use crate::prompt::{MAX_FILE_BYTES, PromptError, load};

/// Message and hint of an error, the file's folder left out.
fn said(error: &PromptError) -> (String, String) {
    let message = error.to_string();
    let mut shown = String::new();
    for part in message.split_inclusive([' ', '`', '\n']) {
        shown += part.rsplit('/').next().unwrap();
    }
    (shown, error.hint().unwrap_or_default())
}

/// Message and hint for the sound file with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> (String, String) {
    assert!(SOUND.contains(from), "{from}");
    said(&load_toml(&SOUND.replacen(from, to, 1)).unwrap_err())
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "keeps the cases below on one line each")]
fn expect(got: (String, String), message: &str, hint: &str) {
    assert_eq!((got.0.as_str(), got.1.as_str()), (message, hint));
}

const KEY_BY_KEY: &str = "prompts/README.md explains the file key by key";

#[test]
fn unknown_keys_and_labels_are_named_with_their_line_and_the_likely_meaning() {
    expect(
        changed("question_label", "question_lable"),
        "2 problems\ntrial.toml:1: missing key `question_label`\n\
         trial.toml:3: unknown key `question_lable`\nhint: did you mean `question_label`?",
        KEY_BY_KEY,
    );
    expect(
        changed("lookup = \"finds.\"", "lookup = \"finds.\"\nlokup = \"\""),
        "trial.toml:14: unknown key `tools.lokup`",
        "did you mean `lookup`?",
    );
    expect(
        changed("observation =", "colour = 1\nobservation ="),
        "trial.toml:27: unknown key `exemplar[1].step[1].colour`",
        KEY_BY_KEY,
    );
    expect(
        changed("\"Question\"", "\"Claims\""),
        "trial.toml:3: unknown label `Claims` in `question_label`",
        "did you mean `Claim`?",
    );
}

#[test]
fn unknown_placeholders_are_named_with_their_line() {
    expect(
        changed("{{ max_steps }} steps:", "{{ max_steps }}\nand {{ max_step }}:"),
        "trial.toml:8: unknown placeholder `max_step` in `instruction.react`",
        "did you mean `max_steps`?",
    );
    expect(
        changed("{{ max_steps }}", "{{ colour }}"),
        "trial.toml:7: unknown placeholder `colour` in `instruction.react`",
        "use one of: {{ question_label }}, {{ max_steps }}, {{ tools }}",
    );
    expect(
        changed("{{ tools }}", "{{ tools }"),
        "trial.toml:8: `instruction.react` has `{{` that does not begin a placeholder such as `{{ tools }}`",
        KEY_BY_KEY,
    );
    expect(
        changed("{{ tools }}", "{% if tools %}"),
        "trial.toml:8: `instruction.react` has `{%`, which is not a placeholder such as `{{ tools }}`",
        KEY_BY_KEY,
    );
    expect(
        changed("[tools]\nsearch = \"opens.\"\nlookup = \"finds.\"\nfinish = \"ends.\"\n", ""),
        "trial.toml:8: `instruction.react` uses the placeholder `tools`, but the file has no [tools]",
        "add [tools] with search, lookup and finish",
    );
}

#[test]
fn not_utf8() {
    let mut bytes = SOUND.as_bytes().to_vec();
    let at = SOUND.find("[tools]").unwrap();
    bytes[at] = 0xff;
    expect(
        said(&load_bytes("trial.toml", "", &bytes).unwrap_err()),
        "`trial.toml` is not UTF-8 text: line 11 has an invalid byte",
        "save the file as UTF-8",
    );
}

#[test]
fn not_toml() {
    expect(
        changed("language = \"en\"", "language = en"),
        "trial.toml:2: not valid TOML: string values must be quoted, expected literal string",
        KEY_BY_KEY,
    );
}

#[test]
fn a_key_that_the_json_does_not_have() {
    let json = br#"{"webthink_simple": "a", "webthink_simple6": "b", "cot": "c"}"#;
    expect(
        said(&load_bytes("p.json", "#webthink_simpel6", json).unwrap_err()),
        "`p.json` has no key `webthink_simpel6`; it has: webthink_simple, webthink_simple6, cot",
        "did you mean `webthink_simple6`?",
    );
    let (message, hint) = said(&load_bytes("p.json", "", json).unwrap_err());
    assert_eq!(message, "`p.json` has no key ``; it has: webthink_simple, webthink_simple6, cot");
    assert!(hint.starts_with("name one of the keys: ") && hint.ends_with("p.json#KEY"), "{hint}");
}

#[test]
fn values_of_the_wrong_type() {
    let hint = "the paper's prompt files are objects of strings: {\"key\": \"prompt text\", …}";
    expect(
        said(&load_bytes("p.json", "#k", br#"{"k": ["a"]}"#).unwrap_err()),
        "key `k` of `p.json` must be a string, but is a list",
        hint,
    );
    expect(
        said(&load_bytes("p.json", "#k", br#"["k"]"#).unwrap_err()),
        "`p.json` must contain an object of strings, but contains a list",
        hint,
    );
    expect(said(&load_bytes("p.json", "#k", br#"{"k": ""}"#).unwrap_err()), "key `k` of `p.json` is empty", hint);
    expect(
        said(&load_bytes("p.json", "#k", b"{\"k\":\n \"a\",}").unwrap_err()),
        "p.json:2: not valid JSON: trailing comma",
        hint,
    );
    expect(
        changed("language = \"en\"", "language = 7"),
        "trial.toml:2: `language` must be a string, but is 7",
        KEY_BY_KEY,
    );
}

#[test]
fn missing_and_superfluous_files() {
    let hint = "check the path; `wikitrail prompt list` shows the prompts that are built in";
    let error = load("no/such.toml", None, &no_builtin).unwrap_err();
    assert!(error.to_string().starts_with("cannot read prompt file `no/such.toml`: "), "{error}");
    assert_eq!(error.hint().unwrap(), hint);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    std::fs::write(&path, r#"{"k": "text"}"#).unwrap();
    let error = load(&format!("{}#k", path.display()), Some("no/such.txt"), &no_builtin).unwrap_err();
    assert!(error.to_string().starts_with("cannot read instruction file `no/such.txt`: "), "{error}");
    assert_eq!(error.hint().unwrap(), "check the path");
    let error = load("hotpot", None, &no_builtin).unwrap_err();
    assert_eq!(error.to_string(), "`hotpot` names neither a .toml file nor a key of a .json file");
    let error = load("none.toml", Some("i.txt"), &|_: &str| Some(SOUND.as_bytes())).unwrap_err();
    assert!(error.to_string().ends_with("does not take the instruction file `i.txt`"), "{error}");
}

#[test]
fn empty_files() {
    for content in ["", " \n", "\u{feff}"] {
        expect(
            said(&load_bytes("trial.toml", "", content.as_bytes()).unwrap_err()),
            "`trial.toml` is empty",
            "prompts/README.md explains the contents of a prompt file",
        );
    }
}

#[test]
fn files_over_a_mebibyte() {
    let size = usize::try_from(MAX_FILE_BYTES).unwrap();
    let mut text = SOUND.to_owned();
    text += &"#".repeat(size - text.len());
    assert!(load_toml(&text).is_ok(), "exactly the limit");
    text.push('#');
    expect(
        said(&load_toml(&text).unwrap_err()),
        "`trial.toml` is larger than 1 MiB",
        "a prompt has a few kilobytes; check that this is the right file",
    );
}

#[test]
fn exemplars_must_hold_together() {
    expect(
        changed("Finish[Ada]", "Finish[Eva]"),
        "trial.toml:31: `exemplar[1].step[2].action` finishes with `Eva`, but the exemplar's answer is `Ada`",
        "both must be the same text",
    );
    let form = "write Search[…], Lookup[…] or Finish[…], and nothing after it";
    for action in ["Serch[It]", "Search It", "Search[It] ", "SEARCH[It]", "think[It]", "Search[It]."] {
        expect(
            changed("Search[It]", action),
            &format!("trial.toml:26: `exemplar[1].step[1].action` is not an action: `{action}`"),
            form,
        );
    }
    expect(
        changed("Search[It]", "Finish[Ada]"),
        "trial.toml:26: `exemplar[1].step[1].action` finishes, but steps follow",
        KEY_BY_KEY,
    );
    expect(
        changed("Finish[yes]", "Lookup[yes]"),
        "trial.toml:39: the last step's action `Lookup[yes]` is not `Finish[…]` (`exemplar[2].step[1].action`)",
        "end every exemplar with Finish[answer]",
    );
    expect(
        changed("Is it old?", "Who built it?"),
        "trial.toml:34: `exemplar[2].question` repeats the question of line 21",
        KEY_BY_KEY,
    );
    expect(
        changed("observation = \"It was built by Ada.\"\n", ""),
        "trial.toml:24: missing key `exemplar[1].step[1].observation`",
        KEY_BY_KEY,
    );
    expect(
        changed("action = \"Finish[yes]\"", "action = \"Finish[yes]\"\nobservation = \"\""),
        "trial.toml:40: `exemplar[2].step[1].observation` is never shown: the step finishes the exemplar",
        "leave the observation of the last step out",
    );
    expect(
        changed("thought = \"It is.\"", "thought = \" \""),
        "trial.toml:38: `exemplar[2].step[1].thought` is empty",
        KEY_BY_KEY,
    );
}

#[test]
fn empty_exemplars_are_refused_unless_meant() {
    let (head, _) = SOUND.split_once("[[exemplar]]").unwrap();
    expect(
        said(&load_toml(head).unwrap_err()),
        "trial.toml:1: missing key `exemplar`",
        "add [[exemplar]] blocks, or write `exemplar = []` for a prompt without examples",
    );
    assert!(load_toml(&format!("exemplar = []\n{head}")).is_ok());
    expect(
        said(&load_toml(&format!("{head}[[exemplar]]\nquestion = \"Why?\"\nanswer = \"so\"\n")).unwrap_err()),
        "trial.toml:19: `exemplar[1]` has no steps",
        KEY_BY_KEY,
    );
    expect(
        said(&load_toml(&format!("exemplar = \"none\"\n{head}")).unwrap_err()),
        "trial.toml:1: `exemplar` must be a list of tables, but is a string",
        KEY_BY_KEY,
    );
}

#[test]
fn hostile_files_neither_panic_nor_reach_the_terminal() {
    let error = load_toml(&SOUND.replacen("\"en\"", "\"en\"\n\"\\u001b[31mkey\" = 1", 1)).unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'), "{error}");
    for text in ["[".repeat(100_000), "a = ".to_owned() + &"[".repeat(100_000), "a.".repeat(100_000), "\0".repeat(9)] {
        assert!(load_toml(&text).is_err());
    }
    let placeholders: String = (0..50_000).fold(String::new(), |text, i| text + "{{ p" + &i.to_string() + " }}");
    let PromptError::Invalid(problems) = load_toml(&SOUND.replacen("{{ tools }}", &placeholders, 1)).unwrap_err()
    else {
        panic!("the placeholders are unknown")
    };
    assert_eq!(problems.list.len(), 20);
    let deep = "{\"k\": ".to_owned() + &"[".repeat(100_000);
    assert!(matches!(load_bytes("p.json", "#k", deep.as_bytes()), Err(PromptError::NotJson { .. })));
}
