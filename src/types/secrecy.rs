//! What a secret looks like, where nobody says that something is one.

/// Whether a name is one that values with secrets have: `key`, `token`, `Sig`, …
pub fn is_secret_name(name: &str) -> bool {
    const WORDS: [&str; 9] = ["key", "token", "sig", "secret", "auth", "pass", "pwd", "cred", "code"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether it contains a mix of letters and digits that is longer than words and dates.
pub fn looks_secret(value: &str) -> bool {
    const LEAST: usize = 16;
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let has = |of: fn(&u8) -> bool| run.as_bytes().iter().any(of);
        run.len() >= LEAST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    })
}
