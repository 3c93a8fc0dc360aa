//! A list of ids of a split, as `dataset split` writes it for `--ids`.

use super::select::read_ids;
use crate::base::sha256_hex;

const OF_DATASET: &str = "# sha256 of the dataset's file: ";
const OF_IDS: &str = "# sha256 of the lines below: ";
const HOLDOUT: &str = "holdout";

/// One part of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdList {
    /// Its name, `development` or `holdout`, and after a colon what was drawn, for people; one line.
    pub title: String,
    /// Of the dataset's file.
    pub dataset_sha256: String,
    pub ids: Vec<String>,
}

impl IdList {
    /// Digest of the ids, each with a line end, without the comments of the file.
    pub fn sha256(&self) -> String {
        sha256_of_ids(&self.ids)
    }

    /// The file.
    pub fn text(&self) -> String {
        let Self { title, dataset_sha256, ids } = self;
        let ids: String = ids.iter().flat_map(|id| [id.as_str(), "\n"]).collect();
        format!("# {title}\n{OF_DATASET}{dataset_sha256}\n{OF_IDS}{}\n{ids}", self.sha256())
    }

    /// The list in a file; absent where it is none, or not as it was drawn: its ids must have the digest above them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let title = lines.next()?.strip_prefix("# ")?.to_owned();
        let dataset_sha256 = lines.next()?.strip_prefix(OF_DATASET)?.to_owned();
        let sha256 = lines.next()?.strip_prefix(OF_IDS)?;
        let list = Self { title, dataset_sha256, ids: read_ids(text) };
        (list.sha256() == sha256).then_some(list)
    }

    /// Whether a file says that it is a holdout, as it was drawn or not.
    pub fn names_holdout(text: &str) -> bool {
        text.strip_prefix("# ").and_then(|rest| rest.strip_prefix(HOLDOUT)).is_some_and(|rest| rest.starts_with(':'))
    }

    /// Whether these are the questions that nobody looks at until the end.
    pub fn is_holdout(&self) -> bool {
        self.title.split_once(':').is_some_and(|(name, _)| name == HOLDOUT)
    }
}

/// The digest that the list with these ids has.
pub fn sha256_of_ids(ids: &[String]) -> String {
    sha256_hex(ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]))
}

#[cfg(test)]
mod tests {
    use super::IdList;

    #[test]
    fn a_list_is_read_as_it_was_written_and_not_when_it_was_changed() {
        let ids = ["a b", "ü"].map(str::to_owned).to_vec();
        let list = IdList { title: "holdout: 2 of 9".to_owned(), dataset_sha256: "d".repeat(64), ids };
        let text = list.text();
        assert_eq!(IdList::parse(&text), Some(list.clone()));
        assert_eq!(IdList::parse(&text.replace('\n', "\r\n")), Some(list.clone()));
        assert!(list.is_holdout());
        for title in ["development: 2 of 9", "holdouts: 2", "holdout"] {
            assert!(!IdList { title: title.to_owned(), ..list.clone() }.is_holdout(), "{title}");
        }
        for other in [format!("{text}c\n"), text.replace('ü', "u"), text.replace("# ", ""), "a\nb\n".to_owned()] {
            assert_eq!(IdList::parse(&other), None, "{other}");
        }
    }
}
