//! Absolute paths as the names of what they lead to: a page is sent to people whom the author's disk does not concern.

/// A character that ends a word of a text.
fn ends(c: char) -> bool {
    c.is_whitespace() || "\"'`,;=()[]".contains(c)
}

/// A text without the folders of its absolute paths. A path in quotes may have blanks.
pub(super) fn without_folders(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while !rest.is_empty() {
        let quote = shown.chars().last().filter(|last| "\"'`".contains(*last));
        let quoted = quote.and_then(|quote| rest.split_once(quote)).map(|(quoted, _)| quoted);
        let path = quoted.filter(|path| start(path).is_some() && !path.contains('\n'));
        let word = path.unwrap_or_else(|| &rest[..rest.find(ends).unwrap_or(rest.len())]);
        shown += &short_path(word);
        rest = &rest[word.len()..];
        if let Some(end) = rest.chars().next() {
            shown.push(end);
            rest = &rest[end.len_utf8()..];
        }
    }
    shown
}

/// A word of a command, or a value, without the folders of its absolute paths: `--prompt=/a/b.toml,/a/c.toml`.
pub(super) fn short_word(word: &str) -> String {
    if word.contains("://") && !word.contains("file:") {
        return word.to_owned();
    }
    word.split_inclusive([',', '=']).map(short_path).collect()
}

/// A word that is, or ends in, an absolute path, such as `corpus:/data/wiki`, with the last name of the path alone.
pub(super) fn short_path(word: &str) -> String {
    let Some(start) = start(word) else { return word.to_owned() };
    let separators = if word[start..].contains('\\') { &['/', '\\'][..] } else { &['/'] };
    let last = word[start..].rsplit(separators).find(|name| !name.is_empty());
    last.map_or_else(|| word.to_owned(), |last| word[..start].to_owned() + last)
}

/// Where an absolute path begins in a word that is none of the web.
fn start(word: &str) -> Option<usize> {
    let is_drive = matches!(word.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    if is_drive || word.starts_with('/') || word.starts_with("\\\\") || word.starts_with("file:/") {
        return Some(0);
    }
    let colon = word.find(":/").filter(|colon| !word[..*colon].contains(char::is_whitespace))?;
    (!word[colon + 1..].starts_with("//")).then_some(colon + 1)
}

#[cfg(test)]
mod tests {
    use super::{short_word, without_folders};

    #[test]
    fn absolute_paths_are_shown_by_their_last_names() {
        for (text, shown) in [
            ("run --out /home/ada/runs/one --wiki corpus:/data/wiki", "run --out one --wiki corpus:wiki"),
            ("\"prompt\": \"/home/ada/p.toml\", see `/tmp/x/`", "\"prompt\": \"p.toml\", see `x`"),
            ("C:\\Users\\ada\\run D:/ada/b \\\\host\\ada\\c file:///home/ada/d.csv", "run b c d.csv"),
            ("`/home/Ada L/a b.csv`, line 3; don't open '/home/Ada L/c'", "`a b.csv`, line 3; don't open 'c'"),
            (
                "https://host/v1/chat a/b ../c 1/2 --base-url=http://h:8/v1",
                "https://host/v1/chat a/b ../c 1/2 --base-url=http://h:8/v1",
            ),
        ] {
            assert_eq!(without_folders(text), shown);
        }
    }

    #[test]
    fn words_of_a_command_may_have_blanks_and_several_paths() {
        for (word, shown) in [
            ("--prompt=/home/Ada L/a.toml,/home/Ada L/b.toml#one", "--prompt=a.toml,b.toml#one"),
            ("corpus:/home/Ada L/wiki", "corpus:wiki"),
            ("retriever:http://h/search?q=/a/b", "retriever:http://h/search?q=/a/b"),
            ("results/one", "results/one"),
        ] {
            assert_eq!(short_word(word), shown);
        }
    }
}
