//! Texts with slots in each system's syntax: `{name}`, `{{.Name}}` or `{{ name }}`; and plain texts with `{name}`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::prompt) enum Style {
    /// As Python's `str.format` reads them: `{name}`, and `{{` and `}}` for braces.
    Python,
    /// As Go's templates: `{{.Name}}`, white space inside allowed; other braces are themselves.
    Go,
    /// As the instructions of a prompt file have them: `{{ name }}`.
    Instruction,
    /// As a plain text has them: `{name}`, and `{{name}}` for the text `{name}`; other braces are themselves.
    Plain,
}

impl Style {
    /// What the files call a slot of this style.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Instruction | Self::Plain => "placeholder",
            Self::Python | Self::Go => "slot",
        }
    }

    /// Names for a message, as they are written.
    pub(super) fn list(self, names: &[&str]) -> String {
        let written = |name: &&str| match self {
            Self::Python | Self::Plain => format!("{{{name}}}"),
            Self::Go => format!("{{{{.{name}}}}}"),
            Self::Instruction => format!("{{{{ {name} }}}}"),
        };
        names.iter().map(written).collect::<Vec<_>>().join(", ")
    }
}

/// Slots that a text may have; a text that repeats a long value often enough would fill the memory.
const MOST_SLOTS: usize = 32;

/// A text cut at its slots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Slotted(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::prompt) struct BadSlot {
    pub(in crate::prompt) reason: String,
    /// The text from there on, as it can be looked for in the file.
    pub(super) rest: String,
}

impl Slotted {
    /// Cuts a text at its slots; names are not checked.
    pub(in crate::prompt) fn parse(text: &str, style: Style) -> Result<Self, BadSlot> {
        let slotted = Self::cut(text, style)?;
        if slotted.names().count() > MOST_SLOTS {
            let reason = format!("more than {MOST_SLOTS} {}s", style.noun());
            return Err(BadSlot { reason, rest: text.to_owned() });
        }
        Ok(slotted)
    }

    fn cut(text: &str, style: Style) -> Result<Self, BadSlot> {
        match style {
            Style::Python => python(text),
            Style::Plain => Ok(plain(text)),
            Style::Go => double_braces(text, ".", "`{{` without the name of a slot after it, such as `{{.ToolDesc}}`"),
            Style::Instruction => {
                if let Some(at) = text.find("{%").or_else(|| text.find("{#")) {
                    let reason =
                        format!("`{}`, which is not a placeholder such as `{{{{ tools }}}}`", &text[at..at + 2]);
                    return Err(BadSlot { reason, rest: text[at..].to_owned() });
                }
                double_braces(text, "", "`{{` that does not begin a placeholder such as `{{ tools }}`")
            }
        }
    }

    /// Names of the slots, in order, repeated as they stand.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().any(|slot| slot == name)
    }

    /// Fills in the slots; the error is the name of a slot without a value.
    pub(crate) fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Result<String, &str> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot(name) => filled.push_str(value(name).ok_or(name.as_str())?),
            }
        }
        Ok(filled)
    }

    /// Fills in the slots that have a value and leaves the rest as `{name}`.
    pub(crate) fn fill_known<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(name) => value(name).map_or_else(|| format!("{{{name}}}"), str::to_owned),
        };
        self.0.iter().map(piece).collect()
    }

    /// The parts before and after the first slot of that name.
    pub(crate) fn split_at(&self, name: &str) -> Option<(Self, Self)> {
        let at = self.0.iter().position(|piece| matches!(piece, Piece::Slot(slot) if slot == name))?;
        Some((Self(self.0[..at].to_vec()), Self(self.0[at + 1..].to_vec())))
    }

    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }
}

fn python(text: &str) -> Result<Slotted, BadSlot> {
    let mut slotted = Slotted::default();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        slotted.text(before);
        let brace = &from[..1];
        if from[1..].starts_with(brace) {
            slotted.text(brace);
            rest = &from[2..];
            continue;
        }
        let name = from.strip_prefix('{').and_then(|inner| inner.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| is_name(name)) else {
            let reason = format!("a single `{brace}`; write a literal brace twice");
            return Err(BadSlot { reason, rest: from.to_owned() });
        };
        slotted.0.push(Piece::Slot(name.to_owned()));
        rest = &from[name.len() + 2..];
    }
    slotted.text(rest);
    Ok(slotted)
}

/// A word in braces: `{word}`, or `{{word}}` with the braces doubled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::prompt) struct Braced<'t> {
    /// Where its first brace stands.
    pub(in crate::prompt) at: usize,
    pub(in crate::prompt) name: &'t str,
    pub(in crate::prompt) doubled: bool,
}

impl Braced<'_> {
    fn braces(&self) -> usize {
        1 + usize::from(self.doubled)
    }

    fn end(&self) -> usize {
        self.at + self.name.len() + 2 * self.braces()
    }
}

/// The words in braces in the order of the text. A word begins with a letter: `{2}` is none.
pub(in crate::prompt) fn braced(text: &str) -> impl Iterator<Item = Braced<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(at) = text.get(from..)?.find('{').map(|at| from + at) {
            let doubled = text[at..].starts_with("{{");
            let inner = text[at..].trim_start_matches('{');
            // Of more braces than two, the last two belong to the word.
            let opened = text.len() - inner.len();
            let at = opened - (opened - at).min(1 + usize::from(doubled));
            let name = &inner[..inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len())];
            let closed = |braces: &str| inner[name.len()..].starts_with(braces);
            from = opened;
            if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() || !closed("}") {
                continue;
            }
            // A single brace at one of the ends is itself.
            let doubled = doubled && closed("}}");
            let at = if doubled { at } else { opened - 1 };
            let word = Braced { at, name, doubled };
            from = word.end();
            return Some(word);
        }
        None
    })
}

fn plain(text: &str) -> Slotted {
    let (mut slotted, mut from) = (Slotted::default(), 0);
    for word in braced(text) {
        slotted.text(&text[from..word.at]);
        if word.doubled {
            slotted.text(&text[word.at + 1..word.end() - 1]);
        } else {
            slotted.0.push(Piece::Slot(word.name.to_owned()));
        }
        from = word.end();
    }
    slotted.text(&text[from..]);
    slotted
}

/// Slots in double braces, white space inside allowed, with `dot` before the name; other braces are text.
fn double_braces(text: &str, dot: &str, reason: &str) -> Result<Slotted, BadSlot> {
    let mut slotted = Slotted::default();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        slotted.text(before);
        let action = from[2..].split_once("}}").map(|(action, _)| action);
        let name = action.and_then(|action| action.trim().strip_prefix(dot)).filter(|name| is_name(name));
        let (Some(action), Some(name)) = (action, name) else {
            return Err(BadSlot { reason: reason.to_owned(), rest: from.to_owned() });
        };
        slotted.0.push(Piece::Slot(name.to_owned()));
        rest = &from[action.len() + 4..];
    }
    slotted.text(rest);
    Ok(slotted)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{Slotted, Style};

    fn filled(text: &str, style: Style) -> String {
        let slotted = Slotted::parse(text, style).unwrap();
        slotted.fill(|name| ["a", "A"].contains(&name).then_some("{x}")).unwrap()
    }

    #[test]
    fn slots_are_filled_once_and_doubled_braces_are_braces() {
        assert_eq!(filled("{a} {{\"b\": {{}}}}}}{a}", Style::Python), "{x} {\"b\": {}}}{x}");
        assert_eq!(filled("{{.A}} {\"b\": {}} {{ .A }}", Style::Go), "{x} {\"b\": {}} {x}");
        assert_eq!(filled("{{ A }} {a} }} {\n{{a}}", Style::Instruction), "{x} {a} }} {\n{x}");
        assert_eq!(
            filled("{a} {{a}} {{{a}}} {{a} {a}} {{{{a} } {\"b\": {0}}", Style::Plain),
            "{x} {a} {{a}} {{x} {x}} {{{{x} } {\"b\": {0}}"
        );
        assert_eq!(filled("", Style::Python), "");
    }

    #[test]
    fn malformed_slots_are_refused_with_their_place() {
        for text in ["x {", "x }", "x {a b}", "x {}", "x {0.a}", "x {a!r}", "x } {a}"] {
            let bad = Slotted::parse(text, Style::Python).unwrap_err();
            assert_eq!(bad.rest, text[2..], "{text}");
        }
        for text in ["x {{", "x {{A}}", "x {{- .A}}", "x {{if .A}}y{{end}}"] {
            assert_eq!(Slotted::parse(text, Style::Go).unwrap_err().rest, text[2..], "{text}");
        }
        for text in ["x {{", "x {{.A}}", "x {{ a | upper }}", "x {% if a %}y{% endif %}", "x {# a #}"] {
            assert_eq!(Slotted::parse(text, Style::Instruction).unwrap_err().rest, text[2..], "{text}");
        }
    }

    #[test]
    fn a_slot_without_value_is_named_or_left() {
        let slotted = Slotted::parse("{{{a}}} {b}", Style::Python).unwrap();
        let value = |name: &str| (name == "a").then_some("1");
        assert_eq!(slotted.fill(value), Err("b"));
        assert_eq!(slotted.fill_known(value), "{1} {b}");
        assert_eq!(slotted.names().collect::<Vec<_>>(), ["a", "b"]);
        let (before, after) = slotted.split_at("b").unwrap();
        assert_eq!((before.fill(value).unwrap(), after.fill(value).unwrap()), ("{1} ".to_owned(), String::new()));
        assert!(slotted.split_at("c").is_none());
    }
}
