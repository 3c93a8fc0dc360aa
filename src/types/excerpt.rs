//! How error messages quote text from files.

/// The first 80 characters of `text` on one line: control characters are escaped, and `…` marks a cut.
pub fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown.replace("\\\"", "\"").replace("\\'", "'")
}
