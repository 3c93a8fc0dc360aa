use super::{DefaultSource, Defaults, check, default_setting, parse_file};

fn folder(text: &str) -> Result<Defaults, String> {
    read("wikitrail.toml", text, true)
}

fn person(text: &str) -> Result<Defaults, String> {
    read("/home/me/.config/wikitrail/config.toml", text, false)
}

fn read(path: &str, text: &str, folder: bool) -> Result<Defaults, String> {
    let values = parse_file(path, text, folder);
    values.map(Defaults).map_err(|problems| format!("{problems}\nhint: {}", problems.hint()))
}

#[test]
fn a_file_gives_values_with_their_lines() {
    let text = "contact = \"me@example.org\"\n\nmodel = \"openai:m\"\nbase_url = [\"http://a/v1\", \"http://b/v1\"]\n\
                price = \"1/2\"\nprices = \"p.toml\"\nresults = \"runs\"\nconcurrency = 8\nkey_hosts = \"h.example\"\n";
    let defaults = person(text).expect("sound");
    let of = |name: &str| defaults.get(name).map(|given| format!("{} {}", given.value, given.by)).expect(name);
    assert_eq!(of("model"), "openai:m /home/me/.config/wikitrail/config.toml:3");
    assert!(of("base_url").starts_with("http://a/v1,http://b/v1 "));
    assert!(of("prices").starts_with("/home/me/.config/wikitrail/p.toml "));
    assert!(of("results").starts_with("runs ") && of("concurrency").starts_with("8 "));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, error) in [
        ("modle = \"x\"", "wikitrail.toml:1: unknown key `modle`\nhint: did you mean `model`?"),
        ("\nkey_host = \"h\"", "wikitrail.toml:2: unknown key `key_host`\nhint: did you mean `key_hosts`?"),
        ("model = 3", "wikitrail.toml:1: `model` must be a string, but is 3"),
        ("base_url = 3", "`base_url` must be a string or a list of strings, but is 3"),
        ("model = \"gpt\"", "`model` is `gpt`, which names no provider\nhint: write `baseline`"),
        ("concurrency = 0", "`concurrency` is `0`\nhint: `auto`, `auto:N` or N is expected"),
        ("model = \"openai:m\"\nprice = \"1\"", "wikitrail.toml:2: `price` is not a price"),
        ("price = \"1/2\"", "wikitrail.toml:1: `price` has no `model` beside it"),
        ("base_url = \"h:1/v1\"", "`base_url` is not an http or https address"),
        ("results = \"~/runs\"", "`results` begins with `~`, which only a shell understands"),
        ("contact = \"\"", "`contact` is empty"),
        (
            "key_env = \"NAME\"",
            "`key_env` is not a setting of this file\nhint: it is named for each command: --key-env",
        ),
        ("model = ", "wikitrail.toml:1: not valid TOML"),
    ] {
        let refused = folder(text).expect_err(text);
        assert!(refused.contains(error), "{text}: {refused}");
    }
}

#[test]
fn a_folder_says_nothing_that_steers_keys_or_leads_out_of_it() {
    for (text, error) in [
        ("key_hosts = [\"h\"]", "`key_hosts` may not be set in the file of a folder"),
        ("results = \"/home/me\"", "`results` leads out of the folder"),
        ("results = \"a/../../b\"", "`results` leads out of the folder"),
        ("prices = \"../prices.toml\"", "`prices` leads out of the folder"),
    ] {
        assert!(folder(text).expect_err(text).contains(error), "{text}");
        person(text).expect(text);
    }
    folder("results = \"./runs/a\"").expect("below the folder");
}

#[test]
fn a_key_is_refused_and_not_repeated() {
    for text in [
        "api_key = \"SECRET0123456789abc\"",
        "OPENAI_API_KEY = \"sk-SECRET\"",
        "key = \"SECRET\"",
        "[openai]\nkey = \"SECRET\"",
        "x = [\"SECRET0123456789abc\"]",
        "SECRET0123456789abc = 1",
        "contact = \"SECRET0123456789abc\"",
        "model = \"SECRET0123456789abc\"",
        "api_key = SECRET0123456789abc",
        "base_url = \"http://SECRET@h/v1\"",
        "base_url = \"http://h/v1?key=SECRET\"",
        "key_hosts = [\"http://SECRET@h\"]",
    ] {
        let refused = person(text).expect_err(text);
        assert!(!refused.contains("SECRET") && refused.contains("hint: "), "{text}: {refused}");
    }
}

#[test]
fn an_address_holds_for_its_provider_and_a_price_for_its_model() {
    let mut defaults = folder("model = \"openai:a\"\nprice = \"1/2\"").expect("sound");
    defaults.extend(person("base_url = \"http://gpu:8000/v1\"").expect("sound").0);
    let value = |name: &str, model: &str| defaults.of_model(name, model).map(|given| given.value.as_str());
    assert_eq!(value("base_url", "openai:b"), Some("http://gpu:8000/v1"));
    assert_eq!((value("base_url", "anthropic:b"), value("base_url", "baseline")), (None, None));
    assert_eq!((value("price", "openai:a"), value("price", "openai:b")), (Some("1/2"), None));
    let proxy = person("model = \"anthropic:a\"\nbase_url = \"http://proxy/\"").expect("sound");
    assert!(proxy.of_model("base_url", "anthropic:b").is_some() && proxy.of_model("base_url", "openai:b").is_none());
}

#[test]
fn only_a_persons_own_settings_vouch_for_a_host() {
    let mut defaults = folder("base_url = \"http://127.0.0.1:8000/v1\"").expect("sound");
    let allowed = |defaults: &Defaults| defaults.allows(defaults.get("base_url").expect("given"));
    assert!(!allowed(&defaults));
    for (own, allows) in [
        ("key_hosts = [\"127.0.0.1:8000\"]", true),
        ("key_hosts = [\"example.org\", \"127.0.0.1\"]", true),
        ("key_hosts = [\"127.0.0.1:443\"]", false),
        ("key_hosts = [\"27.0.0.1\"]", false),
        ("base_url = \"http://127.0.0.1:8000/other\"", true),
        ("base_url = \"https://127.0.0.1:8000/v1\"", false),
    ] {
        let mut both = defaults.clone();
        both.extend(person(own).expect(own).0);
        assert_eq!(allowed(&both), allows, "{own}");
    }
    let key = default_setting("key_hosts").expect("a setting");
    for bad in ["http://h", "h/path", "me@h", "h?x", "a b"] {
        assert!(check(key, bad, false).is_err(), "{bad}");
    }
    let run = [("base_url".to_owned(), "http://127.0.0.1:8000/v1".to_owned())].into();
    let stored = Defaults::of_run("results/x", &run);
    let stored = stored.get("base_url").expect("recorded");
    assert_eq!(stored.by, DefaultSource::Run("results/x".to_owned()));
    assert!(!defaults.allows(stored));
    defaults.extend(person("key_hosts = \"127.0.0.1\"").expect("sound").0);
    assert!(defaults.allows(stored));
}
