//! Errors of prompt files, word by word: `snapshots/` holds them, and `INSTA_UPDATE=always cargo test --lib prompt::`
//! writes them anew.

use super::{SOUND, load_bytes, load_toml, no_builtin, refusal, refusals, with_file};
use crate::prompting::bytes::MAX_FILE_BYTES;
use crate::prompting::{PromptError, load};

#[test]
fn faults_are_named_with_their_line_and_the_likely_meaning() {
    let changes = [
        ("question_label", "question_lable"),
        ("lookup = \"finds.\"", "lookup = \"finds.\"\nlokup = \"\""),
        ("observation =", "colour = 1\nobservation ="),
        ("\"Question\"", "\"Claims\""),
        ("language = \"en\"", "language = en"),
        ("language = \"en\"", "language = 7"),
        // Placeholders.
        ("{{ max_steps }} steps:", "{{ max_steps }}\nand {{ max_step }}:"),
        ("{{ max_steps }}", "{{ colour }}"),
        ("{{ tools }}", "{{ tools }"),
        ("{{ tools }}", "{% if tools %}"),
        ("[tools]\nsearch = \"opens.\"\nlookup = \"finds.\"\nfinish = \"ends.\"\n", ""),
        // Exemplars.
        ("Finish[Ada]", "Finish[Eva]"),
        ("Search[It]", "Serch[It]"),
        ("Search[It]", "Search It"),
        ("Search[It]", "Search[It] "),
        ("Search[It]", "SEARCH[It]"),
        ("Search[It]", "think[It]"),
        ("Search[It]", "Search[It]."),
        ("Search[It]", "Finish[Ada]"),
        ("Finish[yes]", "Lookup[yes]"),
        ("Is it old?", "Who built it?"),
        ("observation = \"It was built by Ada.\"\n", ""),
        ("action = \"Finish[yes]\"", "action = \"Finish[yes]\"\nobservation = \"\""),
        ("thought = \"It is.\"", "thought = \" \""),
    ];
    insta::assert_snapshot!(refusals("trial.toml", SOUND, &changes, |path| load(path, None, &no_builtin)));
}

#[test]
fn files_of_another_kind_are_refused() {
    let (head, _) = SOUND.split_once("[[exemplar]]").unwrap();
    assert!(load_toml(&format!("exemplar = []\n{head}")).is_ok());
    let (before, after) = SOUND.split_once("[tools]").unwrap();
    let json = br#"{"webthink_simple": "a", "webthink_simple6": "b", "cot": "c"}"#;
    let no_steps = format!("{head}[[exemplar]]\nquestion = \"Why?\"\nanswer = \"so\"\n");
    let none = format!("exemplar = \"none\"\n{head}");
    let cases: [(&str, &str, &str, &[u8]); 13] = [
        ("not UTF-8", "trial.toml", "", &[before.as_bytes(), b"\xff", after.as_bytes()].concat()),
        ("empty", "trial.toml", "", b""),
        ("white space", "trial.toml", "", b" \n"),
        ("a byte order mark", "trial.toml", "", "\u{feff}".as_bytes()),
        ("no exemplar", "trial.toml", "", head.as_bytes()),
        ("no steps", "trial.toml", "", no_steps.as_bytes()),
        ("exemplars in a text", "trial.toml", "", none.as_bytes()),
        ("a key that is not there", "p.json", "#webthink_simpel6", json),
        ("no key", "p.json", "", json),
        ("a list under the key", "p.json", "#k", br#"{"k": ["a"]}"#),
        ("a list", "p.json", "#k", br#"["k"]"#),
        ("an empty text", "p.json", "#k", br#"{"k": ""}"#),
        ("no JSON", "p.json", "#k", b"{\"k\":\n \"a\",}"),
    ];
    let refused = cases.map(|(what, name, key, content)| {
        refusal(what, name, content, |path| load(&format!("{path}{key}"), None, &no_builtin))
    });
    insta::assert_snapshot!(refused.concat());
}

#[test]
fn missing_and_superfluous_files() {
    let hint = "check the path; `wikitrail prompt list` shows the prompts that are built in";
    let error = load("no/such.toml", None, &no_builtin).unwrap_err();
    assert!(error.to_string().starts_with("cannot read prompt file `no/such.toml`: "), "{error}");
    assert_eq!(error.hint(), hint);
    let error = with_file("p.json", br#"{"k": "text"}"#, |path| {
        load(&format!("{path}#k"), Some("no/such.txt"), &no_builtin).unwrap_err()
    });
    assert!(error.to_string().starts_with("cannot read instruction file `no/such.txt`: "), "{error}");
    assert_eq!(error.hint(), "check the path");
    let error = load("hotpot", None, &no_builtin).unwrap_err();
    assert_eq!(error.to_string(), "`hotpot` is not a .toml file, a .txt file or a key of a .json file");
    let error = load("none.toml", Some("i.txt"), &|_: &str| Some(SOUND.as_bytes())).unwrap_err();
    assert!(error.to_string().ends_with("does not take the instruction file `i.txt`"), "{error}");
}

#[test]
fn files_over_a_mebibyte() {
    let size = usize::try_from(MAX_FILE_BYTES).unwrap();
    let mut text = SOUND.to_owned();
    text += &"#".repeat(size - text.len());
    assert!(load_toml(&text).is_ok(), "exactly the limit");
    text.push('#');
    let refused = refusal("too large", "trial.toml", text.as_bytes(), |path| load(path, None, &no_builtin));
    let hint = "a prompt has a few kilobytes; check that this is the right file";
    assert_eq!(refused, format!("too large\nerror: `trial.toml` is larger than 1 MiB\nhint: {hint}\n\n"));
}

#[test]
fn hostile_files_neither_panic_nor_reach_the_terminal() {
    let error = load_toml(&SOUND.replacen("\"en\"", "\"en\"\n\"\\u001b[31mkey\" = 1", 1)).unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'), "{error}");
    for text in ["[".repeat(100_000), "a = ".to_owned() + &"[".repeat(100_000), "a.".repeat(100_000), "\0".repeat(9)] {
        assert!(load_toml(&text).is_err());
    }
    // All that is unknown is named up to a limit; so many cannot be meant.
    for (count, problems) in [(30, 20), (50_000, 1)] {
        let placeholders: String = (0..count).fold(String::new(), |text, i| text + "{{ p" + &i.to_string() + " }}");
        match load_toml(&SOUND.replacen("{{ tools }}", &placeholders, 1)) {
            Err(PromptError::Invalid(found)) => assert_eq!(found.list.len(), problems),
            other => panic!("the placeholders are unknown: {other:?}"),
        }
    }
    let deep = "{\"k\": ".to_owned() + &"[".repeat(100_000);
    assert!(matches!(load_bytes("p.json", "#k", deep.as_bytes()), Err(PromptError::NotJson { .. })));
}
