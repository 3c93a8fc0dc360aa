//! The members of an archive, one after the other.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Whether a file is a tar archive, packed or not, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
    [".tar", ".tar.gz", ".tgz", ".tar.zst"].iter().any(|ending| name.ends_with(ending))
}

/// A reader that knows whether it was read to its end.
struct Watched<R> {
    source: R,
    ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.ended |= read == 0 && !into.is_empty();
        Ok(read)
    }
}

/// Hands every file that is wanted to `each`, until that returns `false`; without one, `what` is missing. What is behind the
/// last member is read too, because it says whether the archive is whole: a block of zeros, and nothing but zeros.
pub(super) fn archive_members(
    source: impl Read,
    what: &str,
    wanted: impl Fn(&Path) -> bool,
    mut each: impl FnMut(Arc<str>, &mut dyn Read) -> io::Result<bool>,
) -> io::Result<()> {
    let mut archive = tar::Archive::new(Watched { source, ended: false });
    let mut found = false;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if !entry.header().entry_type().is_file() || !wanted(&path) {
            continue;
        }
        found = true;
        if !each(Arc::from(path.to_string_lossy()), &mut entry)? {
            return Ok(());
        }
    }
    if !found {
        return Err(io::Error::other(format!("there is no {what} in it")));
    }
    let mut rest = archive.into_inner();
    // Members end at a block of zeros. Without one, the library stops at the end of the file and says nothing.
    if rest.ended {
        return Err(io::Error::other("the archive ends too early"));
    }
    only_zeros(&mut rest)
}

fn only_zeros(rest: &mut impl Read) -> io::Result<()> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        match rest.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) if bytes[..read].iter().any(|byte| *byte != 0) => {
                return Err(io::Error::other("there is another archive behind its end"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::archive_members;
    use bzip2::read::MultiBzDecoder;
    use bzip2::{Compression, read::BzEncoder};
    use std::io::Read;

    /// How many members are read, and what is wrong.
    fn read(archive: impl Read) -> (usize, Option<String>) {
        let mut count = 0;
        let each = |_, member: &mut dyn Read| {
            count += 1;
            std::io::copy(member, &mut std::io::sink()).map(|_| true)
        };
        let whole = archive_members(archive, "file", |_| true, each);
        (count, whole.err().map(|error| error.to_string()))
    }

    #[test]
    fn an_archive_without_its_end_or_with_more_behind_it_is_broken() {
        let mut archive = tar::Builder::new(Vec::new());
        for number in 0..100 {
            let mut header = tar::Header::new_gnu();
            header.set_size(700);
            header.set_cksum();
            // Zeros of a member are not the end.
            archive.append_data(&mut header, format!("{number}.jsonl"), &[0; 700][..]).expect("memory");
        }
        let whole = archive.into_inner().expect("memory");
        let (member, end) = (3 * 512, 100 * 3 * 512);
        let early = Some("the archive ends too early".to_owned());
        let cut = &whole[..40 * member];
        assert_eq!(read(cut), (40, early.clone()));
        let mut packed = Vec::new();
        BzEncoder::new(cut, Compression::fast()).read_to_end(&mut packed).expect("memory");
        assert_eq!(read(MultiBzDecoder::new(&*packed)), (40, early.clone()));
        assert_eq!(read(&whole[..end]), (100, early));
        assert_eq!(read(&whole[..end + 512]), (100, None), "some programs write one block of zeros");
        assert_eq!(read([&whole[..], &[0; 9_000]].concat().as_slice()), (100, None), "tar fills its last record");
        let two = [&whole[..], &whole[..]].concat();
        assert_eq!(read(&*two), (100, Some("there is another archive behind its end".to_owned())));
    }
}
