//! The command line of a run: which arguments were typed, and its words without secrets.

use crate::base::text::shell_word;
use crate::net::redact;
use crate::wikipedia::RetrieverAddress;
use std::ffi::OsString;
use std::path::Path;

const OF_ADDRESSES: [&str; 3] = ["--base-url", "--wiki-url", "--judge-base-url"];
/// Flags whose values were refused if they held a secret, and are shown as they are: a part of them may be an address.
const WITHOUT_SECRETS: [&str; 5] =
    [AGENT, "--extra-body", "--extra-header", "--judge-extra-body", "--judge-extra-header"];
const AGENT: &str = "--agent";
/// Flags that belong to one start of the program and not to its run.
const OF_A_START: [&str; 7] = ["resume", "out", "shard", "dry_run", "json", "quiet", "confirm"];

/// The arguments of a command that were typed, as opposed to those that have their default.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExplicitArgs {
    pub(crate) typed: Vec<Argument>,
    /// Whether those of an earlier start are among them.
    pub(crate) completed: bool,
}

/// An argument by its name, such as `max_steps`.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub(crate) name: String,
    /// What is typed before a value; nothing for a positional argument.
    pub(crate) flag: Option<String>,
    /// Values as typed; none for a switch.
    pub(crate) values: Vec<OsString>,
}

/// A command line as it may be shown and stored: addresses lose user part and query, which may hold a key. A mark
/// replaces the query of a model's address. A command with that mark is refused: requests might go elsewhere.
pub(crate) fn without_secrets(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let (mut follows, mut before) = (false, String::new());
    // An agent may be a command, or the address of a server.
    let as_it_is =
        |flag: &str, value: &str| WITHOUT_SECRETS.contains(&flag) && !(flag == AGENT && value.starts_with("http"));
    let mut shown = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let flag = std::mem::replace(&mut before, word.clone());
        if as_it_is(&flag, &word) || word.split_once('=').is_some_and(|(flag, value)| as_it_is(flag, value)) {
            // A value is no flag of the next word.
            before.clear();
            return word;
        }
        let after = |flag: &&str| word.strip_prefix(*flag)?.starts_with('=').then_some(flag.len() + 1);
        // What is an address by its flag is one whatever it looks like: what has no scheme is refused only when it is
        // asked.
        let by_flag = if follows { Some(0) } else { OF_ADDRESSES.iter().find_map(after) };
        follows = OF_ADDRESSES.contains(&word.as_str());
        let by_scheme = || word.find("://").map(|at| word[..at].rfind('=').map_or(0, |equals| equals + 1));
        match by_flag.or_else(by_scheme) {
            Some(at) => {
                let of_model = by_flag.is_some() && ![&flag, &word].iter().any(|word| word.starts_with("--wiki-url"));
                format!("{}{}", &word[..at], addresses(&word[at..], of_model))
            }
            None => word,
        }
    };
    words.into_iter().map(&mut shown).collect()
}

/// Addresses with commas between them. The text after a comma may belong to the query.
fn addresses(text: &str, of_models: bool) -> String {
    let mut in_query = false;
    let parts = text.split(',').filter(|part| {
        let goes_on = in_query && !part.contains("://");
        in_query = goes_on || part.contains('?');
        !goes_on
    });
    let shown = |part: &str| {
        if part.starts_with("retriever:") {
            return RetrieverAddress::public_label(part);
        }
        let left_out = if of_models && part.contains('?') { redact::LEFT_OUT } else { "" };
        redact::url(part) + left_out
    };
    parts.map(shown).collect::<Vec<_>>().join(",")
}

impl ExplicitArgs {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.typed.iter().any(|argument| argument.name == name)
    }

    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Path> {
        let given = self.typed.iter().filter(|argument| names.contains(&argument.name.as_str()));
        given.flat_map(|argument| &argument.values).map(Path::new)
    }

    /// The command line for the manifest: as typed, or completed by that of the start that is resumed.
    pub(crate) fn command_line(&self, name: &str) -> Vec<String> {
        if !self.completed {
            return without_secrets(std::env::args_os());
        }
        let program = std::env::args_os().next().unwrap_or_else(|| "wikitrail".into());
        without_secrets([program, name.into()].into_iter().chain(self.typed.iter().flat_map(Argument::words)))
    }

    /// The words that resume what was started with these: what is typed now takes the place of what was typed then.
    pub(crate) fn resumed(mut self, typed: &Self) -> Vec<OsString> {
        self.typed.retain(|argument| !OF_A_START.contains(&argument.name.as_str()) && !typed.has(&argument.name));
        self.typed.iter().chain(&typed.typed).flat_map(Argument::words).collect()
    }
}

impl Argument {
    pub(crate) fn words(&self) -> Vec<OsString> {
        let Some(flag) = &self.flag else { return self.values.clone() };
        let with = |value: &OsString| {
            let mut word = OsString::from(format!("{flag}="));
            word.push(value);
            word
        };
        if self.values.is_empty() { vec![flag.into()] } else { self.values.iter().map(with).collect() }
    }
}

/// The words of a command, quoted for a shell, without some flags; the word `LARGER` stands for the values of `larger`.
pub(crate) fn words_again(words: &[String], larger: &[&str], switches: &[&str], with_values: &[&str]) -> Vec<String> {
    let (mut again, mut words) = (Vec::new(), words.iter());
    while let Some(word) = words.next() {
        let flag = word.split('=').next().unwrap_or_default();
        let is_dropped = with_values.contains(&flag);
        if is_dropped || larger.contains(&flag) {
            if flag == word {
                words.next();
            }
            if !is_dropped {
                again.push(format!("{flag} LARGER"));
            }
        } else if !switches.contains(&word.as_str()) {
            again.push(shell_word(word));
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn addresses_lose_what_may_hold_a_key_however_they_are_typed() {
        for (typed, shown) in [
            ("--base-url http://u:p@h/v1?key=K", "--base-url http://h/v1?…"),
            ("--base-url=h/v1?key=K&next=http://x/", "--base-url=h/v1?…"),
            ("--base-url h/v1?key=K,http://other/v1?k=L,i/v1", "--base-url h/v1?…,http://other/v1?…"),
            ("--base-url h/v1,i/v1 --limit 3", "--base-url h/v1,i/v1 --limit 3"),
            ("--wiki-url http://h/w?a=b", "--wiki-url http://h/w"),
            ("--option k=http://u:p@h/?key=K x", "--option k=http://h/ x"),
            ("--prompt a=b?c", "--prompt a=b?c"),
            ("--agent http://u:p@h/x?key=K --limit 3", "--agent http://h/x --limit 3"),
            ("--agent=http://u:p@h/x?key=K", "--agent=http://h/x"),
            ("--agent=curl\u{a0}http://h/?q=x", "--agent=curl\u{a0}http://h/?q=x"),
            ("--extra-header referer=http://h/?q=x#y z", "--extra-header referer=http://h/?q=x#y z"),
            ("--extra-body={\"u\":\"http://h/?q\"} http://h/?q", "--extra-body={\"u\":\"http://h/?q\"} http://h/"),
        ] {
            assert_eq!(without_secrets(typed.split(' ').map(Into::into)).join(" "), shown, "{typed}");
        }
    }
}
