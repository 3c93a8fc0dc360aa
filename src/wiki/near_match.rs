//! Which titles `MediaWiki` tries for a query before it searches texts.

/// The titles to try for `query`, in order, without repeats: as written (first letter in upper case), in lower case,
/// in Title Case, in UPPER CASE, with a capital after each word break; then the same without the double quotes around
/// the whole. Empty for queries that cannot be titles.
pub fn candidate_titles(query: &str) -> Vec<String> {
    let mut titles = Vec::new();
    let mut query = query.trim();
    // Each round takes a pair of quotes off; two rounds are all that can add something.
    for _ in 0..2 {
        if cannot_be_title(query) {
            break;
        }
        ladder(query, &mut titles);
        match query.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) if !inner.contains('"') => query = inner.trim(),
            _ => break,
        }
    }
    titles
}

/// Whether a query goes straight to the text search: titles hold none of `[ ] { } | < > #`, and are one line.
pub fn cannot_be_title(query: &str) -> bool {
    query.is_empty() || query.contains(['[', ']', '{', '}', '|', '<', '>', '#', '\n'])
}

fn ladder(query: &str, titles: &mut Vec<String>) {
    // Underscores are spaces, and runs of them are one.
    let name = query.split([' ', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let words: Vec<String> = name.split(' ').map(capitalised).collect();
    for title in [
        capitalised(&name),
        capitalised(&name.to_lowercase()),
        words.join(" "),
        name.to_uppercase(),
        after_word_breaks(&name),
    ] {
        if !title.is_empty() && !titles.contains(&title) {
            titles.push(title);
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn after_word_breaks(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    let mut breaks = true;
    for c in name.chars() {
        let word = c.is_alphanumeric() || c == '_';
        if breaks && word {
            title.extend(c.to_uppercase());
        } else {
            title.push(c);
        }
        breaks = !word;
    }
    title
}

#[cfg(test)]
mod tests {
    use super::candidate_titles;

    #[test]
    fn the_ladder_is_mediawikis() {
        assert_eq!(
            candidate_titles("the_beach  boys-live"),
            ["The beach boys-live", "The Beach Boys-live", "THE BEACH BOYS-LIVE", "The Beach Boys-Live"]
        );
        assert_eq!(candidate_titles(" ray_ charles")[0], "Ray charles");
        assert_eq!(candidate_titles("IBM pc"), ["IBM pc", "Ibm pc", "IBM Pc", "IBM PC"]);
        assert_eq!(candidate_titles("\"dog\""), ["\"dog\"", "\"DOG\"", "\"Dog\"", "Dog", "DOG"]);
    }

    #[test]
    fn queries_that_cannot_be_titles_have_none() {
        for query in ["", "  ", "[The Beach]", "C#", "#x", "a|b", "<b>", "{x}", "a\nb"] {
            assert_eq!(candidate_titles(query), Vec::<String>::new(), "{query:?}");
        }
    }
}
