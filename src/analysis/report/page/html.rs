//! HTML and SVG as text. Whatever comes from a run is escaped here and nowhere else, and absolute paths become the names of what
//! they lead to: a page is sent to people whom the author's disk does not concern.

use crate::analysis::report::sheet::Heading;
use crate::base::text::visible;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

#[derive(Debug, Default)]
pub(super) struct Html {
    pub(super) text: String,
}

pub(super) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// `th` or `td` and so on, with the class of a number.
pub(super) const NUMBER: Attributes<'static> = &[("class", "n")];

impl Html {
    /// Text that is shown. Control characters, and marks that turn the direction of writing, are shown as `\u{202e}`.
    pub(super) fn text(&mut self, text: &str) {
        escape(&visible(text), &mut self.text);
    }

    pub(super) fn element(&mut self, tag: &str, attributes: Attributes<'_>, fill: impl FnOnce(&mut Self)) {
        self.open(tag, attributes);
        fill(self);
        self.close(tag);
    }

    pub(super) fn leaf(&mut self, tag: &str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |html| html.text(text));
    }

    pub(super) fn open(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.text.extend(["<", tag]);
        for (name, value) in attributes {
            self.text.extend([" ", name, "=\""]);
            self.text(value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    pub(super) fn close(&mut self, tag: &str) {
        self.text.extend(["</", tag, ">"]);
    }

    pub(super) fn section(&mut self, id: &str, heading: &str, fill: impl FnOnce(&mut Self)) {
        self.element("section", &[("id", id)], |html| {
            html.leaf("h2", &[], heading);
            fill(html);
        });
        self.text.push('\n');
    }

    /// A table that scrolls inside its own region where it is too wide.
    pub(super) fn table(&mut self, caption: &str, headings: &[Heading], rows: impl FnOnce(&mut Self)) {
        self.scroll(caption, |html| {
            html.element("table", &[], |html| {
                html.leaf("caption", &[], caption);
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| headings.iter().for_each(|heading| html.heading(heading)));
                });
                html.element("tbody", &[], rows);
            });
        });
    }

    /// What is too wide scrolls inside.
    pub(super) fn scroll(&mut self, label: &str, fill: impl FnOnce(&mut Self)) {
        // Not a region: two tables may have the same caption, and landmarks need names of their own.
        let group: Attributes<'_> = &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", label)];
        self.element("div", group, fill);
    }

    fn heading(&mut self, heading: &Heading) {
        let attributes: Attributes<'_> = &[("scope", "col"), ("class", "n")];
        self.leaf("th", if heading.right { attributes } else { &attributes[..1] }, &heading.text);
    }

    pub(super) fn row(&mut self, name: &str, cells: impl FnOnce(&mut Self)) {
        self.row_of(name, None, cells);
    }

    /// A row of a short name; the pointer shows the whole one.
    pub(super) fn row_of(&mut self, name: &str, whole: Option<&str>, cells: impl FnOnce(&mut Self)) {
        let attributes = [("scope", "row")].into_iter().chain(whole.map(|whole| ("title", whole)));
        self.element("tr", &[], |html| {
            html.element("th", &attributes.collect::<Vec<_>>(), |html| html.parted(name));
            cells(html);
        });
        self.text.push('\n');
    }

    /// A name that a narrow column breaks at its slashes first.
    fn parted(&mut self, name: &str) {
        for (at, part) in name.split('/').enumerate() {
            self.text.push_str(if at > 0 { "/<wbr>" } else { "" });
            self.text(part);
        }
    }

    /// Something that is read after a click on its summary.
    pub(super) fn folded(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) {
        self.element("details", &[], |html| {
            html.leaf("summary", &[], summary);
            fill(html);
        });
    }

    pub(super) fn figure(&mut self, caption: &str, draw: impl FnOnce(&mut Self)) {
        self.element("figure", &[], |html| {
            html.leaf("figcaption", &[], caption);
            draw(html);
        });
    }

    /// A paragraph in small letters.
    pub(super) fn facts(&mut self, text: &str) {
        self.leaf("p", &[("class", "facts")], text);
    }

    pub(super) fn notes<'t>(&mut self, notes: impl Iterator<Item = &'t str>) {
        self.element("ul", &[("class", "notes")], |html| notes.for_each(|note| html.leaf("li", &[], note)));
    }

    /// A text that lists its questions; `about` is said to those who hear the page.
    pub(super) fn filter(&mut self, text: &str, data: Attributes<'_>, about: &str) {
        let attributes = [&[("type", "button"), ("class", "cell")], data].concat();
        self.element("button", &attributes, |html| {
            html.text(text);
            if !about.is_empty() {
                html.leaf("span", &[("class", "unseen")], about);
            }
        });
    }

    pub(super) fn number(&mut self, text: &str) {
        self.leaf("td", NUMBER, text);
    }
}

/// The text with true minus signs before numbers; hyphens in names stay.
pub(super) fn minus(text: &str) -> String {
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = letters.next() {
        let is_sign = c == '-' && " ([".contains(before) && letters.peek().is_some_and(char::is_ascii_digit);
        shown.push(if is_sign { '−' } else { c });
        before = c;
    }
    shown
}

/// A text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

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
    use super::{Html, minus, short_word, without_folders};

    #[test]
    fn minus_signs_are_those_of_numbers() {
        assert_eq!(minus("-1.7 (-2 to +3), gpt-4 [-1]"), "−1.7 (−2 to +3), gpt-4 [−1]");
    }

    #[test]
    fn names_of_rows_break_at_slashes() {
        let mut html = Html::default();
        html.row_of("t=0/<i>", Some("a/t=0/<i>"), |_| {});
        let cell = "<th scope=\"row\" title=\"a/t=0/&lt;i&gt;\">t=0/<wbr>&lt;i&gt;</th>";
        assert_eq!(html.text, format!("<tr>{cell}</tr>\n"));
    }

    #[test]
    fn texts_and_attributes_cannot_end() {
        let mut html = Html::default();
        html.leaf("b", &[("title", "a\"><i>'")], "</b>&\u{202e}\0");
        assert_eq!(html.text, "<b title=\"a&quot;&gt;&lt;i&gt;&#39;\">&lt;/b&gt;&amp;\\u{202e}\\u{0}</b>");
    }

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
