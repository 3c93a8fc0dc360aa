//! Settings that were not typed, and words that completions offer.

use super::{Group, Typed};
use crate::dataset::Format;
use crate::experiment::{Assignment, Kind};
use serde_json::Value;

impl<G: Group> Typed<G> {
    /// Whether it has a value.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        let settings = self.settings.iter().map(|assignment| assignment.setting);
        settings.chain(self.lists.iter().map(|(setting, _)| *setting)).any(|setting| setting.name == name)
    }

    /// All values of a setting whose values are texts.
    pub(in crate::cli) fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let one = self.settings.iter().filter(|assignment| assignment.setting.name == name);
        let all = one.filter_map(|assignment| text(&assignment.value));
        all.chain(self.list(name).iter().filter_map(text)).collect()
    }

    /// Gives a setting of the group a value; nothing where the group lacks it.
    pub(in crate::cli) fn set(&mut self, name: &str, text: &str) {
        let Some(setting) = G::TABLE.iter().find(|setting| setting.name == name && G::has(setting)) else { return };
        let value = if setting.kind == Kind::Urls { Value::from(vec![text]) } else { Value::from(text) };
        if G::LISTED.contains(&name) {
            self.lists.push((setting, vec![value]));
        } else {
            self.settings.push(Assignment { setting, value, line: 0 });
        }
    }

    /// Takes it back.
    pub(in crate::cli) fn unset(&mut self, name: &str) {
        self.settings.retain(|assignment| assignment.setting.name != name);
        self.lists.retain(|(setting, _)| setting.name != name);
    }
}

pub(super) fn reasoning_words() -> Vec<&'static str> {
    vec!["off", "low", "medium", "high"]
}

pub(super) fn format_names() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}
