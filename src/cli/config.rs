//! `config`: the settings that hold where no flag says otherwise, and where each comes from.

use super::defaults::person;
use super::failure;
use super::output_file::json_line;
use crate::analysis::report::console::stdout;
use crate::base::text::visible_line;
use crate::runner::experiment::defaults::{DEFAULTS, DefaultSetting, Given};
use crate::runner::{UserConfig, key_variable};
use serde_json::{Value, json};
use std::io::Write as _;

const LONGEST: usize = 300;
/// A model of each provider, for the name of its key's variable.
const PROVIDERS: [&str; 3] = ["openai:m", "anthropic:m", "gemini:m"];

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let person = person()?;
    let mut out = stdout();
    if args.json {
        json_line(&mut out, &to_json(&person))?;
    } else {
        out.write_all(text(&person).as_bytes())?;
    }
    Ok(failure::OK)
}

fn given_values<'p>(person: &'p UserConfig, setting: &DefaultSetting) -> Vec<&'p Given> {
    person.defaults.all(setting.name).collect()
}

/// Where keys are read from, and whether something is there. Never the key.
fn keys() -> impl Iterator<Item = (&'static str, bool)> {
    let names = PROVIDERS.iter().filter_map(|model| key_variable(model));
    names.map(|name| (name, std::env::var_os(name).is_some_and(|key| !key.is_empty())))
}

fn to_json(person: &UserConfig) -> Value {
    let given = |given: &Given| json!({"value": given.value, "from": given.by.to_string(), "allowed": person.defaults.allows(given)});
    let setting = |setting: &DefaultSetting| {
        let all = given_values(person, setting);
        let built_in = Some(setting.built_in).filter(|text| !text.is_empty());
        let mut shown = match all.first() {
            Some(first) => given(first),
            None => json!({"value": built_in, "from": "default", "allowed": true}),
        };
        shown["name"] = setting.name.into();
        shown["overridden"] = all.iter().skip(1).map(|weaker| given(weaker)).collect();
        shown
    };
    let file = |(path, found): &(std::path::PathBuf, bool)| json!({"path": path.display().to_string(), "found": found});
    json!({
        "settings": DEFAULTS.iter().map(setting).collect::<Vec<_>>(),
        "files": person.files.iter().map(file).collect::<Vec<_>>(),
        "keys": keys().map(|(name, set)| json!({"variable": name, "set": set})).collect::<Vec<_>>(),
        "unknown_variables": person.unknown,
    })
}

fn text(person: &UserConfig) -> String {
    let mut rows: Vec<[String; 3]> = vec![["setting", "value", "from"].map(str::to_owned)];
    for setting in &DEFAULTS {
        let all = given_values(person, setting);
        if all.is_empty() {
            let built_in = if setting.built_in.is_empty() { "–" } else { setting.built_in };
            rows.push([setting.name.to_owned(), built_in.to_owned(), "default".to_owned()]);
        }
        for (i, given) in all.into_iter().enumerate() {
            let more = match (i, person.defaults.allows(given)) {
                (0, true) => "",
                (0, false) => " (refused: `key_hosts` does not name its host)",
                _ => " (overridden)",
            };
            let name = if i == 0 { setting.name } else { "" };
            rows.push([name.to_owned(), visible_line(&given.value, LONGEST), format!("{}{more}", given.by)]);
        }
    }
    rows.push(Default::default());
    for (i, (path, found)) in person.files.iter().enumerate() {
        let path = visible_line(&path.display().to_string(), LONGEST);
        let found = if *found { "read" } else { "not there" };
        rows.push([if i == 0 { "files" } else { "" }.to_owned(), path, found.to_owned()]);
    }
    for (i, (name, set)) in keys().enumerate() {
        let set = if set { "set, not shown" } else { "not set" };
        rows.push([if i == 0 { "keys" } else { "" }.to_owned(), name.to_owned(), set.to_owned()]);
    }
    for name in &person.unknown {
        rows.push(["ignored".to_owned(), visible_line(name, LONGEST), "not the variable of a setting".to_owned()]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line =
        |[name, value, from]: &[String; 3]| format!("{name:first$}  {value:second$}  {from}").trim_end().to_owned();
    rows.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}
