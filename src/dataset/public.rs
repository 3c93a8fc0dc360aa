//! Public sources of questions and of Wikipedia: where each file is, under which licence, and what its bytes must be.
//!
//! Files in repositories are named at a commit, so that their digest is known; the datasets' own sites give no digest, or an
//! MD5.

use crate::base::digest::md5_hex;
use serde::Deserialize;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicSource {
    pub name: &'static str,
    pub url: &'static str,
    pub file: &'static str,
    pub licence: &'static str,
    /// SHA-256 of its bytes, 64 lower-case hexadecimal digits, where it is known.
    #[serde(default, borrow)]
    pub sha256: Option<&'static str>,
    /// MD5 of its bytes, where that is what its publisher gives.
    #[serde(default, borrow)]
    pub md5: Option<&'static str>,
    pub about: &'static str,
    /// Of a source of articles: the commands that make a corpus of it. FILE is the file, DIR its folder.
    #[serde(default, borrow)]
    pub corpus: Vec<&'static str>,
}

impl PublicSource {
    pub fn find(name: &str) -> Option<&'static Self> {
        PUBLIC_SOURCES.iter().find(|source| source.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The last part of the address, under which a mirror has the file.
    pub fn remote_file(&self) -> &'static str {
        let path = self.url.split('?').next().unwrap_or(self.url);
        path.rsplit('/').next().unwrap_or(self.file)
    }

    /// Whether it is known what its bytes must be.
    pub fn is_checked(&self) -> bool {
        self.sha256.is_some() || self.md5.is_some()
    }

    /// What is wrong with the bytes of a file that has this SHA-256.
    pub fn difference(&self, path: &Path, sha256: &str) -> io::Result<Option<String>> {
        let differs = |kind: &str, found: &str, wanted: Option<&str>| {
            let wanted = wanted.filter(|wanted| *wanted != found)?;
            Some(format!("its {kind} is `{found}`, not `{wanted}`"))
        };
        if let Some(difference) = differs("SHA-256", sha256, self.sha256) {
            return Ok(Some(difference));
        }
        // One of them is enough.
        let md5 = self.md5.filter(|_| self.sha256.is_none()).map(|_| md5_hex(File::open(path)?)).transpose()?;
        Ok(md5.and_then(|found| differs("MD5", &found, self.md5)))
    }
}

/// All known sources, by dataset.
pub static PUBLIC_SOURCES: LazyLock<Vec<PublicSource>> = LazyLock::new(|| {
    // A test checks the list; without it, no source is known.
    serde_json::from_str(include_str!("public.json")).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::{PUBLIC_SOURCES, PublicSource};
    use std::collections::HashSet;

    #[test]
    fn every_source_is_whole() {
        let names: HashSet<&str> = PUBLIC_SOURCES.iter().map(|source| source.name).collect();
        let files: HashSet<&str> = PUBLIC_SOURCES.iter().map(|source| source.file).collect();
        assert_eq!((names.len(), files.len()), (31, 31));
        for source in PUBLIC_SOURCES.iter() {
            assert!(source.url.starts_with("http") && !source.remote_file().is_empty(), "{}", source.name);
            assert!(!source.file.contains('/') && !source.licence.is_empty(), "{}", source.name);
            for (digest, digits) in [(source.sha256, 64), (source.md5, 32)] {
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                assert!(digest.is_none_or(|d| d.len() == digits && d.bytes().all(hex)), "{}", source.name);
            }
            assert!(source.about.len() <= 74, "{}: the list has 80 columns", source.name);
        }
        assert_eq!(PublicSource::find(" FEVER ").map(PublicSource::remote_file), Some("paper_dev.jsonl"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, "abc").expect("written");
        let wrong = |sha256, md5| {
            let source = PublicSource { sha256, md5, ..PUBLIC_SOURCES[0].clone() };
            source.difference(file.path(), "5ba").expect("a file")
        };
        assert_eq!(wrong(None, Some("900150983cd24fb0d6963f7d28e17f72")), None);
        let told = "its MD5 is `900150983cd24fb0d6963f7d28e17f72`, not `1`";
        assert_eq!(wrong(None, Some("1")).as_deref(), Some(told));
        assert_eq!(wrong(Some("5bb"), Some("1")).as_deref(), Some("its SHA-256 is `5ba`, not `5bb`"));
        assert_eq!((wrong(Some("5ba"), Some("1")), wrong(None, None)), (None, None));
        let mirrored = PublicSource::find("wiki-2wiki").map(PublicSource::remote_file);
        assert_eq!((mirrored, PublicSource::find("nothing")), (Some("para_with_hyperlink.zip"), None));
    }
}
