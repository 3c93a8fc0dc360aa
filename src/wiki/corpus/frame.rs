//! An article in bytes, as pages and sorted runs have it: numbers of variable length, texts behind their lengths.

use super::record::{Article, Block};

const PAGEID: u8 = 1;
const REVID: u8 = 2;
const TIMESTAMP: u8 = 4;
const ENTRIES: u8 = 8;

/// Writes an article behind what is in `out`.
pub(super) fn encode_article(article: &Article, out: &mut Vec<u8>) {
    let Article { title, pageid, revid, timestamp, blocks, entries, redirects } = article;
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    out.push(
        flag(pageid.is_some(), PAGEID)
            | flag(revid.is_some(), REVID)
            | flag(timestamp.is_some(), TIMESTAMP)
            | flag(entries.is_some(), ENTRIES),
    );
    text(title, out);
    for number in [pageid, revid].into_iter().flatten() {
        varint(*number, out);
    }
    texts(timestamp, out);
    varint(blocks.len() as u64, out);
    for block in blocks {
        match block {
            // 0 is a text; one more than the number of sentences otherwise.
            Block::Text(one) => {
                out.push(0);
                text(one, out);
            }
            Block::Sentences(sentences) => {
                varint(sentences.len() as u64 + 1, out);
                texts(sentences, out);
            }
        }
    }
    for list in entries.iter().chain([redirects]) {
        varint(list.len() as u64, out);
        texts(list, out);
    }
}

/// Reads what [`encode_article`] wrote, and nothing else.
pub(super) fn decode_article(bytes: &[u8]) -> Option<Article> {
    let mut rest = Rest(bytes);
    let flags = rest.byte()?;
    let title = rest.text()?;
    let has = |flag: u8| flags & flag != 0;
    let pageid = if has(PAGEID) { Some(rest.varint()?) } else { None };
    let revid = if has(REVID) { Some(rest.varint()?) } else { None };
    let timestamp = if has(TIMESTAMP) { Some(rest.text()?) } else { None };
    let count = rest.count()?;
    let blocks = (0..count).map(|_| {
        Some(match rest.count()? {
            0 => Block::Text(rest.text()?),
            more => Block::Sentences(rest.texts(more - 1)?),
        })
    });
    let blocks = blocks.collect::<Option<_>>()?;
    let entries = if has(ENTRIES) { Some(rest.list()?) } else { None };
    let redirects = rest.list()?;
    (rest.0.is_empty() && flags < 2 * ENTRIES).then_some(Article {
        title,
        pageid,
        revid,
        timestamp,
        blocks,
        entries,
        redirects,
    })
}

pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        // The lowest seven bits.
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn text(text: &str, out: &mut Vec<u8>) {
    varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn texts<'t>(list: impl IntoIterator<Item = &'t String>, out: &mut Vec<u8>) {
    for one in list {
        text(one, out);
    }
}

/// Bytes that are still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            // The last byte has one bit.
            if shift == 63 && byte > 1 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things, of which each takes a byte.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.varint()?).ok()?;
        (count <= self.0.len() + 1).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }

    fn texts(&mut self, count: usize) -> Option<Vec<String>> {
        (0..count).map(|_| self.text()).collect()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let count = self.count()?;
        self.texts(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{decode_article, encode_article};
    use crate::wiki::corpus::record::{Article, Block};

    #[test]
    fn articles_come_back_and_damaged_ones_do_not_panic() {
        let article = Article {
            title: "東京".to_owned(),
            pageid: Some(u64::MAX),
            revid: Some(300),
            timestamp: Some("2017-10-01".to_owned()),
            blocks: vec![Block::Text("x".repeat(300)), Block::Sentences(vec!["A.".into(), " B.".into()])],
            entries: Some(vec!["A".to_owned()]),
            redirects: vec!["Tokyo".to_owned()],
        };
        for article in [article, Article { blocks: vec![Block::Sentences(vec![])], ..Article::default() }] {
            let mut bytes = Vec::new();
            encode_article(&article, &mut bytes);
            assert_eq!(decode_article(&bytes).as_ref(), Some(&article));
            for at in 0..bytes.len() {
                assert_eq!(decode_article(&bytes[..at]), None);
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    assert_ne!(decode_article(&damaged), Some(article.clone()));
                }
            }
        }
    }
}
