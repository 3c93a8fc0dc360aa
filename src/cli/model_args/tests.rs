//! Flags, and the models that they make.

use super::{BuiltModel, ModelArgs, Pace, Provider};
use crate::types::{Decoding, Voting};
use clap::{CommandFactory as _, Parser};
use secrecy::ExposeSecret as _;

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    model: ModelArgs,
}

/// A variable that nobody sets.
const USUAL: &str = "WIKITRAIL_NO_SUCH_KEY";

fn args(line: &str) -> ModelArgs {
    Program::try_parse_from(line.split_whitespace()).expect("valid flags").model
}

#[test]
fn the_flags_are_a_valid_table() {
    Program::command().debug_assert();
    for bad in ["x --model-timeout 0", "x --model-timeout soon", "x --model-attempts 0", "x --key-env A --key-file B"] {
        assert!(Program::try_parse_from(bad.split_whitespace()).is_err(), "{bad}");
    }
}

#[test]
fn providers_are_named_and_names_may_hold_colons() {
    assert_eq!(args("x").provider().expect("the default"), Provider::Baseline);
    assert_eq!(args("x --model openai:llama3:8b").provider().expect("a name"), Provider::OpenAi("llama3:8b"));
    assert_eq!(args("x --model anthropic:c").provider().expect("a name"), Provider::Anthropic("c"));
    assert_eq!(args("x --model gemini:g").provider().expect("a name"), Provider::Gemini("g"));
    for bad in ["openai", "openai:", "gpt-4", "baseline:x", "other:x", "gemini:"] {
        let error = args(&format!("x --model {bad}")).provider().expect_err(bad);
        assert_eq!(error.to_string(), format!("--model `{bad}` names no model"));
    }
}

#[test]
fn a_built_model_is_named_without_secrets() {
    let built = args("x --model openai:m --base-url http://u:p@127.0.0.1:1/v1?k=v --completions")
        .server(&Pace::fixed(4), false)
        .expect("sound flags")
        .expect("a server");
    assert_eq!((built.label.as_str(), built.endpoint), ("openai:m", "completions"));
    assert_eq!(built.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
    assert!(args("x").server(&Pace::fixed(4), false).expect("sound flags").is_none());
    let built = ModelArgs::baseline(crate::llm::BaselineSettings::default());
    assert_eq!((built.label.as_str(), built.endpoint, built.base_url), ("baseline", "none", None));
}

#[test]
fn keys_come_from_files_trimmed_and_named_variables_must_be_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key");
    std::fs::write(&file, " sk-1\n").expect("a file");
    let line = format!("x --key-file {}", file.display());
    assert_eq!(args(&line).key(USUAL).expect("a key").expect("a key").expose_secret(), "sk-1");
    std::fs::write(&file, "\n").expect("a file");
    assert!(args(&line).key(USUAL).expect_err("empty").to_string().ends_with("holds no usable key"));
    std::fs::remove_file(&file).expect("there");
    assert!(args(&line).key(USUAL).expect_err("gone").to_string().starts_with("cannot read --key-file"));
    let error = args("x --key-env WIKITRAIL_NO_SUCH_VARIABLE").key(USUAL).expect_err("not set");
    assert_eq!(error.to_string(), "--key-env `WIKITRAIL_NO_SUCH_VARIABLE` is not set, or is empty");
}

const AT: &str = "--base-url http://127.0.0.1:1";

fn built(line: &str) -> BuiltModel {
    args(&format!("x {line} {AT}")).server(&Pace::fixed(4), false).expect("sound flags").expect("a server")
}

#[test]
fn a_record_names_the_endpoint_and_all_servers() {
    for (line, label, endpoint) in [
        ("--model openai:m", "openai:m", "chat"),
        ("--model openai:m --server vllm --prefill", "openai:m", "chat+prefill"),
        ("--model openai:m --server openai --completions", "openai:m", "completions"),
        ("--model anthropic:m", "anthropic:m", "messages"),
        ("--model anthropic:m --prefill", "anthropic:m", "messages+prefill"),
        ("--model gemini:m", "gemini:m", "generateContent"),
    ] {
        let built = built(line);
        assert_eq!((built.label.as_str(), built.endpoint), (label, endpoint), "{line}");
        assert_eq!(built.base_url.as_deref(), Some("http://127.0.0.1:1/"));
    }
    let several = built("--model openai:m --base-url http://a/v1,http://u:p@b/v1?k=v");
    assert_eq!(several.base_url.as_deref(), Some("http://a/v1,http://b/v1,http://127.0.0.1:1/"));
}

#[test]
fn flags_that_have_no_meaning_together_are_refused() {
    for (line, message) in [
        (
            "--model openai:m --prefill",
            "--prefill needs a server that is known to continue an answer, and --server auto is not",
        ),
        (
            "--model openai:m --prefill --server openai",
            "--prefill needs a server that is known to continue an answer, and --server openai is not",
        ),
        ("--model gemini:m --prefill", "--prefill has no meaning for --model gemini"),
        ("--model anthropic:m --completions", "--completions has no meaning for --model anthropic"),
        ("--model anthropic:m --server vllm", "--server has no meaning for --model anthropic"),
        ("--prefill", "--prefill is about a server, but the model is `baseline`, which needs none"),
        ("--server vllm", "--server is about a server, but the model is `baseline`, which needs none"),
    ] {
        let at = if line.starts_with("--model") { AT } else { "" };
        let error = args(&format!("x {line} {at}")).server(&Pace::fixed(4), false).err().expect(line);
        assert_eq!(error.to_string(), message);
    }
    let error = args("x --model openai:m --server vllm").server(&Pace::fixed(4), false).err().expect("no address");
    assert_eq!(error.to_string(), "--server vllm is not at https://api.openai.com/v1");
    for line in ["x --server other", "x --completions --prefill"] {
        assert!(Program::try_parse_from(line.split_whitespace()).is_err(), "{line}");
    }
    for line in ["--base-url=", "--base-url=http://a,,http://b"] {
        assert!(Program::try_parse_from(["x", line]).is_err(), "{line}");
    }
}

#[test]
fn settings_that_a_provider_cannot_take_are_refused_before_anything_is_asked() {
    let warm = Decoding { temperature: 1.2, ..Decoding::default() };
    let error = built("--model anthropic:m").fits(&warm, None).expect_err("too warm");
    assert_eq!(error.to_string(), "a temperature of 1.2 is above 1, the most that Anthropic takes");
    let voting = Voting { temperature: 1.5, ..Voting::default() };
    assert!(built("--model anthropic:m").fits(&Decoding::default(), Some(voting)).is_err());
    for line in ["--model openai:m", "--model gemini:m"] {
        assert!(built(line).fits(&warm, Some(voting)).is_ok(), "{line}");
    }
    let seed = Decoding { seed: Some(1 << 40), ..Decoding::default() };
    assert!(built("--model gemini:m").fits(&seed, None).is_err());
    assert!(built("--model anthropic:m").fits(&seed, None).is_ok(), "it has no seed, and is sent none");
}

#[test]
fn a_price_is_known_by_one_host_and_name() {
    let of = |line: &str| args(&format!("x {line}")).host_and_name();
    let named = |host: &str, name: &str| Some((host.to_owned(), name.to_owned()));
    assert_eq!(of("--model openai:m"), named("api.openai.com", "m"));
    assert_eq!(of("--model anthropic:m"), named("api.anthropic.com", "m"));
    assert_eq!(of("--model gemini:m"), named("generativelanguage.googleapis.com", "m"));
    assert_eq!(of("--model openai:m --base-url http://a:1,http://a:2"), named("a", "m"));
    assert_eq!((of("--model openai:m --base-url http://a,http://b"), of("")), (None, None));
}

#[test]
fn a_replay_needs_no_key_and_names_the_same_model() {
    let built = args("x --model anthropic:m --key-env WIKITRAIL_NO_SUCH_VARIABLE").server(&Pace::fixed(4), true);
    let built = built.expect("no key is looked for").expect("a server");
    assert_eq!((built.label.as_str(), built.endpoint), ("anthropic:m", "messages"));
    assert_eq!(built.base_url.as_deref(), Some("https://api.anthropic.com/"));
}
