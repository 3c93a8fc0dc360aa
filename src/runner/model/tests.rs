//! Settings, and the models that they make.

use super::{BuiltModel, KeyPolicy, ModelSettings, Provider, ProviderKind, elsewhere};
use crate::base::{Decoding, Reasoning, RequestOption, Voting};
use crate::models::capability;
use crate::runner::RunError;
use crate::runner::experiment::{Kind, Pace, VARIANT_SETTINGS, VariantSettings, extra, variant_setting};
use crate::runner::pace::Pacer;
use crate::runner::provider::is_at;
use secrecy::ExposeSecret as _;
use serde_json::Value;

/// A variable that nobody sets.
const DEFAULT_KEY: &str = "WIKITRAIL_NO_SUCH_KEY";

/// Settings as their flags, such as `--model openai:m --prefill`.
fn args(line: &str) -> VariantSettings {
    let mut all = serde_json::Map::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(flag) = words.next() {
        let setting = variant_setting(&flag[2..].replace('-', "_")).expect(flag);
        let value = match setting.kind {
            Kind::Switch => true.into(),
            Kind::Headers => serde_json::json!(extra::parse_headers(words.next()).expect("headers")),
            Kind::Urls => {
                let earlier = all.get(setting.name).and_then(|urls: &Value| urls.as_array().cloned());
                [earlier.unwrap_or_default(), vec![words.next().expect("an address").into()]].concat().into()
            }
            _ => setting.parse(words.next().expect("a value")).expect("of its kind"),
        };
        all.insert(setting.name.to_owned(), value);
    }
    serde_json::from_value(all.into()).expect("settings")
}

fn server(line: &str, offline: bool) -> Result<Option<BuiltModel>, RunError> {
    let keys = if offline { KeyPolicy::None } else { KeyPolicy::Any };
    ModelSettings(&args(line)).server(&Pacer::of(&Pace::default()), keys)
}

#[test]
fn the_declared_servers_are_those_that_are_known() {
    let Kind::Choice(declared) = variant_setting("server").expect("a setting").kind else { panic!("no choice") };
    assert_eq!(declared, capability::SERVERS.map(|row| row.name));
    assert!(VARIANT_SETTINGS.iter().any(|setting| setting.name == "server"));
}

#[test]
fn providers_are_named_and_names_may_hold_colons() {
    for (line, provider) in [
        ("", Provider { kind: ProviderKind::Baseline, name: "" }),
        ("--model openai:llama3:8b", Provider { kind: ProviderKind::OpenAi, name: "llama3:8b" }),
        ("--model anthropic:c", Provider { kind: ProviderKind::Anthropic, name: "c" }),
        ("--model gemini:g", Provider { kind: ProviderKind::Gemini, name: "g" }),
    ] {
        assert_eq!(ModelSettings(&args(line)).provider().expect("a name"), provider);
    }
    for bad in ["openai", "openai:", "gpt-4", "baseline:x", "other:x", "gemini:"] {
        let error = ModelSettings(&args(&format!("--model {bad}"))).provider().expect_err(bad);
        assert_eq!(error.to_string(), format!("invalid --model `{bad}`"));
    }
}

#[test]
fn a_built_model_is_named_without_secrets() {
    let built = server("--model openai:m --base-url http://u:p@127.0.0.1:1/v1?k=v --completions", false)
        .expect("sound flags")
        .expect("a server");
    assert_eq!((built.label.as_str(), built.endpoint), ("openai:m", "completions"));
    assert_eq!(built.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
    assert!(server("", false).expect("sound").is_none());
    let built = ModelSettings::baseline(crate::models::BaselineSettings::default());
    assert_eq!((built.label.as_str(), built.endpoint, built.base_url), ("baseline", "none", None));
}

#[test]
fn keys_come_from_files_trimmed_and_named_variables_must_be_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key");
    std::fs::write(&file, " sk-1\n").expect("a file");
    let line = format!("--key-file {}", file.display());
    let key = |line: &str| ModelSettings(&args(line)).key(DEFAULT_KEY);
    let refused = |line: &str| key(line).expect_err("no key").to_string();
    assert_eq!(key(&line).expect("a key").expect("a key").expose_secret(), "sk-1");
    std::fs::write(&file, "\n").expect("a file");
    assert!(refused(&line).ends_with("holds no usable key"));
    std::fs::remove_file(&file).expect("there");
    assert!(refused(&line).starts_with("cannot read --key-file"));
    let unset = "--key-env `WIKITRAIL_NO_SUCH_VARIABLE` is not set, or is empty";
    assert_eq!(refused("--key-env WIKITRAIL_NO_SUCH_VARIABLE"), unset);
    std::fs::write(&file, "two\nlines").expect("a file");
    assert!(refused(&line).ends_with("holds no usable key"));
    std::fs::write(&file, "k".repeat(16 << 10 | 1)).expect("a file");
    assert!(refused(&line).ends_with("it is larger than 16 KiB"));
}

#[test]
fn a_key_in_the_place_of_a_variables_name_is_not_repeated() {
    for key in ["sk-Proj_0123456789", "gsk_0123456789", "sk-ant-api03-0123456789"] {
        for (line, offline) in [
            (format!("--model openai:m --key-env {key}"), false),
            (format!("--model openai:m --key-env {key} {AT}"), true),
        ] {
            let error = server(&line, offline).err().expect("no variable");
            assert_eq!(error.to_string(), "--key-env does not name a variable that is set");
            assert!(!error.hint().contains(key));
        }
    }
}

const AT: &str = "--base-url http://127.0.0.1:1";

fn built(line: &str) -> BuiltModel {
    server(&format!("{line} {AT}"), false).expect("sound flags").expect("a server")
}

#[test]
fn a_record_names_the_endpoint_and_all_servers() {
    for (line, label, endpoint) in [
        ("--model openai:m", "openai:m", "chat"),
        ("--model openai:m --server vllm --prefill", "openai:m", "chat+prefill"),
        ("--model openai:m --server openai --completions", "openai:m", "completions"),
        ("--model openai:m --responses", "openai:m", "responses"),
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
        ("--model gemini:m --responses", "--responses has no meaning for --model gemini"),
        ("--responses", "--responses is about a server, but the model is `baseline`, which needs none"),
        ("--model anthropic:m --server vllm", "--server has no meaning for --model anthropic"),
        ("--prefill", "--prefill is about a server, but the model is `baseline`, which needs none"),
        ("--server vllm", "--server is about a server, but the model is `baseline`, which needs none"),
    ] {
        let at = if line.starts_with("--model") { AT } else { "" };
        let error = server(&format!("{line} {at}"), false).err().expect(line);
        assert_eq!(error.to_string(), message);
    }
    let error = server("--model openai:m --server vllm", false).err().expect("no address");
    assert_eq!(error.to_string(), "--server vllm is not at https://api.openai.com/v1");
}

#[test]
fn settings_that_a_provider_cannot_take_are_refused_before_anything_is_asked() {
    let warm = Decoding { temperature: 1.2, ..Decoding::default() };
    let error = built("--model anthropic:m").fits(&warm, None, false).expect_err("too warm");
    assert_eq!(error.to_string(), "a temperature of 1.2 is above 1, the maximum that Anthropic supports");
    let voting = Voting { temperature: 1.5, ..Voting::default() };
    assert!(built("--model anthropic:m").fits(&Decoding::default(), Some(voting), false).is_err());
    for line in ["--model openai:m", "--model gemini:m"] {
        assert!(built(line).fits(&warm, Some(voting), false).is_ok(), "{line}");
    }
    let seed = Decoding { seed: Some(1 << 40), ..Decoding::default() };
    assert!(built("--model gemini:m").fits(&seed, None, false).is_err());
    assert!(built("--model anthropic:m").fits(&seed, None, false).is_ok(), "it has no seed, and is sent none");
}

#[test]
fn a_header_with_a_variable_replaces_the_key_and_goes_nowhere_else() {
    // Any variable that is set will do.
    let variable = "PATH";
    let azure = format!("--extra-header api-key=env:{variable}");
    let of = |line: &str, keys| {
        let all = args(&format!("--model openai:m {line}"));
        ModelSettings(&all).built(&Pacer::of(&Pace::default()), keys).map(|built| built.is_some())
    };
    let refused = |line: &str, keys| of(line, keys).expect_err(line).to_string();
    // No key is missing, at the provider's own server either.
    assert!(of(&azure, KeyPolicy::Any).expect("sound"));
    assert!(of(&format!("{azure} {AT}"), KeyPolicy::Any).expect("sound"));
    let missing = "--extra-header helicone-auth=env:WIKITRAIL_NO_SUCH_VARIABLE";
    assert_eq!(
        refused(&format!("{missing} {AT}"), KeyPolicy::Any),
        "the variable `WIKITRAIL_NO_SUCH_VARIABLE` of --extra-header `helicone-auth` is not set, or is empty"
    );
    // Offline, nothing is looked for.
    assert!(of(&format!("{missing} {AT}"), KeyPolicy::None).expect("sound"));
    assert_eq!(
        refused(&format!("{azure} --key-env {variable} {AT}"), KeyPolicy::Any),
        "--extra-header `api-key` sends a key, and --key-env names another one"
    );
    // A server that only a file names gets no secret.
    assert_eq!(
        refused(&format!("{azure} {AT}"), KeyPolicy::OfficialOnly),
        "--extra-header names a key, but `http://127.0.0.1:1/` was not typed and is not openai's own server"
    );
    assert!(of(&format!("--extra-header x-title=test {AT}"), KeyPolicy::OfficialOnly).expect("no secret"));
}

#[test]
fn reasoning_that_cannot_be_asked_for_is_refused_before_anything_is_asked() {
    let of = |text: &str| Decoding { reasoning: Reasoning::parse(text), ..Decoding::default() };
    let small = "a budget of 1000 tokens for reasoning is below 1024, Anthropic's minimum";
    let prefilled = "a model that reasons first does not continue the beginning of an answer";
    for (line, reasoning, forced, message) in [
        ("--model openai:m", "4096", false, "--server auto has no setting for --reasoning 4096"),
        ("--model openai:m --server dashscope", "low", false, "--server dashscope has no setting for --reasoning low"),
        ("--model openai:m --completions", "off", false, "text completions have no setting for --reasoning off"),
        ("--model anthropic:m", "1000", false, small),
        ("--model anthropic:m", "high", true, "Anthropic's models cannot be made to call a function while they reason"),
        ("--model anthropic:m --prefill", "low", false, prefilled),
        ("--model openai:m --server vllm --prefill", "low", false, prefilled),
    ] {
        let error = built(line).fits(&of(reasoning), None, forced).expect_err(line);
        assert_eq!((error.to_string().as_str(), error.hint().is_empty()), (message, false), "{line}");
    }
    let typed = [RequestOption::Temperature].into_iter().collect();
    let warm = Decoding { temperature: 0.5, typed, ..of("high") };
    let error = built("--model anthropic:m").fits(&warm, None, false).expect_err("two temperatures");
    assert_eq!(error.to_string(), "Anthropic's models take no temperature but 1 while they reason");
    // A dry run refuses it as well.
    let dry = server("--model anthropic:m", true).expect("settings").expect("a model");
    assert!(dry.fits(&of("1000"), None, false).is_err() && dry.fits(&of("1024"), None, false).is_ok());
    for (line, reasoning, forced) in [
        ("--model anthropic:m", "off", true),
        ("--model anthropic:m --prefill", "off", false),
        ("--model gemini:m", "1", true),
        ("--model openai:m --server openrouter", "4096", true),
    ] {
        assert!(built(line).fits(&of(reasoning), None, forced).is_ok(), "{line}");
    }
}

#[test]
fn an_address_without_a_scheme_is_refused_before_anything_is_sent() {
    for offline in [true, false] {
        for bad in ["localhost:8080", "localhost", "ftp://h", "127.0.0.1:8000/v1"] {
            let Err(error) = server(&format!("--model openai:m --base-url {bad}"), offline) else { panic!("{bad}") };
            assert_eq!(
                error.to_string(),
                format!("--base-url `{}` is not an http or https address", crate::net::redact::url(bad))
            );
            assert!(error.hint().contains("http://localhost:8080"), "{bad}");
        }
    }
}

#[test]
fn a_price_is_known_by_one_host_and_name() {
    let of = |line: &str| ModelSettings(&args(line)).host_and_name();
    let named = |host: &str, name: &str| Some((host.to_owned(), name.to_owned()));
    assert_eq!(of("--model openai:m"), named("api.openai.com", "m"));
    assert_eq!(of("--model anthropic:m"), named("api.anthropic.com", "m"));
    assert_eq!(of("--model gemini:m"), named("generativelanguage.googleapis.com", "m"));
    assert_eq!(of("--model openai:m --base-url http://a:1,http://a:2"), named("a", "m"));
    assert_eq!((of("--model openai:m --base-url http://a,http://b"), of("")), (None, None));
}

#[test]
fn a_replay_needs_no_key_and_names_the_same_model() {
    let built = server("--model anthropic:m --key-env WIKITRAIL_NO_SUCH_VARIABLE", true);
    let built = built.expect("no key is looked for").expect("a server");
    assert_eq!((built.label.as_str(), built.endpoint), ("anthropic:m", "messages"));
    assert_eq!(built.base_url.as_deref(), Some("https://api.anthropic.com/"));
}

#[test]
fn names_of_other_programs_are_told_how_they_are_written_here() {
    for (name, told) in [
        (
            "mistral:mistral-small-latest",
            Some("--model openai:mistral-small-latest --base-url https://api.mistral.ai/v1"),
        ),
        ("groq/qwen/qwen3-32b", Some("--model openai:qwen/qwen3-32b --base-url https://api.groq.com/openai/v1")),
        ("ollama:llama3.2:1b", Some("--model openai:llama3.2:1b --base-url http://127.0.0.1:11434/v1")),
        ("azure:", Some("--model openai:NAME --base-url https://RESOURCE.openai.azure.com/openai/v1")),
        ("claude-sonnet-5", Some("--model anthropic:claude-sonnet-5")),
        ("gpt-5-mini", Some("--model openai:gpt-5-mini")),
        ("openai/gpt-5-mini", Some("--model openai:gpt-5-mini")),
        ("google/gemini-2.5-pro", Some("--model gemini:gemini-2.5-pro")),
        ("gemini-2.5-pro", Some("--model gemini:gemini-2.5-pro")),
        ("nobody:x", None),
        ("", None),
    ] {
        let hint = elsewhere(name);
        assert_eq!(hint.is_some(), told.is_some(), "{name}");
        assert!(told.is_none_or(|told| hint.is_some_and(|hint| hint.contains(told))), "{name}");
    }
}

#[test]
fn another_scheme_port_or_name_is_another_server() {
    let home = "https://api.openai.com/v1";
    for (address, same) in [
        ("https://api.openai.com/v2/", true),
        ("https://API.openai.com:443", true),
        ("http://api.openai.com/v1", false),
        ("https://api.openai.com:444/v1", false),
        ("https://api.openai.com.evil.example/v1", false),
        ("https://api.openai.com@evil.example/v1", false),
        ("api.openai.com", false),
    ] {
        assert_eq!(is_at(address, home), same, "{address}");
    }
}
