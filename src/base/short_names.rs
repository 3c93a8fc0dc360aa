//! Short names of variants, for people: what differs between the variants of a run.

use std::collections::HashSet;

/// Settings whose names are long beside their values.
const ABBREVIATIONS: [(&str, &str); 6] = [
    ("temperature=", "t="),
    ("sample_temperature=", "sample_t="),
    ("max_steps=", "steps="),
    ("max_tokens=", "tokens="),
    ("observation_chars=", "chars="),
    ("oracle_context=", "oracle="),
];

/// Names with their short forms, where these differ. A short name never belongs to two variants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShortNames(Vec<(String, String)>);

impl ShortNames {
    /// Of the variants of a run: `v2/t=0` for `v2/react-paper/temperature=0`, if all have the part `react-paper`.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('/').collect()).collect();
        let first = parts.first().map_or(&[][..], Vec::as_slice);
        let is_matrix = parts.len() > 1 && parts.iter().all(|parts| parts.len() == first.len());
        let is_same = |at: usize| is_matrix && parts.iter().all(|parts| parts[at] == first[at]);
        let short = |parts: &Vec<&str>| {
            let own = parts.iter().enumerate().filter(|(at, _)| !is_same(*at));
            own.map(|(_, part)| abbreviated(part)).collect::<Vec<_>>().join("/")
        };
        Self::of_pairs(names.iter().map(|name| (*name).to_owned()).zip(parts.iter().map(short)).collect())
    }

    /// These names with their short forms. All stay whole if a short form is not clear.
    pub fn of_pairs(pairs: Vec<(String, String)>) -> Self {
        let whole: HashSet<&str> = pairs.iter().map(|(whole, _)| whole.as_str()).collect();
        let short: HashSet<&str> = pairs.iter().map(|(_, short)| short.as_str()).collect();
        let is_clear =
            |(name, short): &(String, String)| !short.is_empty() && (name == short || !whole.contains(short.as_str()));
        if short.len() < whole.len() || !pairs.iter().all(is_clear) {
            return Self::default();
        }
        let mut pairs = pairs;
        pairs.retain(|(whole, short)| whole != short);
        Self(pairs)
    }

    pub fn of_name<'a>(&'a self, whole: &'a str) -> &'a str {
        self.0.iter().find(|(name, _)| name == whole).map_or(whole, |(_, short)| short)
    }

    pub fn whole<'a>(&'a self, typed: &'a str) -> &'a str {
        self.0.iter().find(|(_, short)| short == typed).map_or(typed, |(whole, _)| whole)
    }

    /// The text with every name in its short form. A name inside a longer word stays.
    pub fn in_text(&self, text: &str) -> String {
        let is_of_name = |c: char| c.is_alphanumeric() || "-_=/#".contains(c);
        let (mut short, mut at) = (String::with_capacity(text.len()), 0);
        while let Some(c) = text[at..].chars().next() {
            let begins = !text[..at].ends_with(is_of_name);
            let ends = |rest: &str| !rest.starts_with(is_of_name);
            let is_here = |(name, _): &&(String, String)| text[at..].strip_prefix(name.as_str()).is_some_and(ends);
            let here = self.0.iter().filter(|_| begins).filter(is_here).max_by_key(|(name, _)| name.len());
            if let Some((name, own)) = here {
                short.push_str(own);
                at += name.len();
            } else {
                short.push(c);
                at += c.len_utf8();
            }
        }
        short
    }
}

fn abbreviated(part: &str) -> String {
    let known = ABBREVIATIONS.iter().find_map(|(long, short)| Some((short, part.strip_prefix(long)?)));
    known.map_or_else(|| part.to_owned(), |(short, value)| format!("{short}{value}"))
}

#[cfg(test)]
mod tests {
    use super::ShortNames;

    fn short(names: &[&str]) -> Vec<String> {
        let short = ShortNames::of(names.iter().copied());
        names.iter().map(|name| short.of_name(name).to_owned()).collect()
    }

    #[test]
    fn names_of_a_matrix_have_the_parts_that_differ() {
        assert_eq!(short(&["v1/robust/temperature=0", "v2/robust/temperature=0.7"]), ["v1/t=0", "v2/t=0.7"]);
        assert_eq!(short(&["v1/max_steps=4", "v1/max_steps=7"]), ["steps=4", "steps=7"]);
        // `cot` has no protocol: nothing is common to all.
        assert_eq!(short(&["react/robust/temperature=0", "cot/temperature=0"]), ["react/robust/t=0", "cot/t=0"]);
        assert_eq!(short(&["react/temperature=0"]), ["react/t=0"]);
        assert_eq!(short(&["a/b"]), ["a/b"]);
    }

    #[test]
    fn a_short_name_belongs_to_one_variant() {
        assert_eq!(short(&["temperature=0", "t=0"]), ["temperature=0", "t=0"]);
        assert_eq!(short(&["x/a", "x/b", "a/x"]), ["x/a", "x/b", "a/x"]);
        let names = ShortNames::of(["x/a/temperature=0", "x/b/temperature=0"]);
        assert_eq!(
            (names.whole("a"), names.whole("x/a/temperature=0"), names.whole("c")),
            ("x/a/temperature=0", "x/a/temperature=0", "c")
        );
    }

    #[test]
    fn sentences_name_them_too() {
        let names = ShortNames::of(["v1/temperature=0", "v1/temperature=0.7", "v2/temperature=0"]);
        let text =
            "v1/temperature=0.7 beats v1/temperature=0, by v2/temperature=0. xv2/temperature=0 r/v2/temperature=0";
        let wanted = "v1/t=0.7 beats v1/t=0, by v2/t=0. xv2/temperature=0 r/v2/temperature=0";
        assert_eq!(names.in_text(text), wanted);
        assert_eq!(names.in_text("runs/a@v2/temperature=0:q1"), "runs/a@v2/t=0:q1");
        assert_eq!(ShortNames::default().in_text("é"), "é");
    }
}
