//! A file, or the parts that it was split into, read at any place.

use crate::wiki::corpus::pages::Positioned;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The parts of a ZIM file, `.zimaa`, `.zimab` and so on, by the name of the first or by their name without the last two
/// letters; none if it is not such a name.
pub(in crate::wiki::corpus::import) fn zim_parts(path: &Path) -> Vec<PathBuf> {
    let name = path.as_os_str().to_str().unwrap_or_default();
    let is_zim = |name| Path::new(name).extension().is_some_and(|ending| ending == "zim");
    let whole = match name.strip_suffix("aa") {
        Some(whole) if is_zim(whole) => whole,
        _ if is_zim(name) && !path.exists() => name,
        _ => return Vec::new(),
    };
    let letters = || 'a'..='z';
    let part = |(first, second)| PathBuf::from(OsString::from(format!("{whole}{first}{second}")));
    letters()
        .flat_map(|first| letters().map(move |second| (first, second)))
        .map(part)
        .take_while(|p| p.exists())
        .collect()
}

/// What is read, in order, with where each part ends.
pub(super) struct Parts(Vec<(u64, Positioned)>);

impl Parts {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut paths = zim_parts(path);
        if paths.is_empty() {
            paths.push(path.to_owned());
        }
        let mut end = 0_u64;
        let open = |path| {
            let file = File::open(path)?;
            end = end.checked_add(file.metadata()?.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            Ok((end, Positioned::new(file)))
        };
        paths.iter().map(open).collect::<io::Result<_>>().map(Self)
    }

    pub(super) fn length(&self) -> u64 {
        self.0.last().map_or(0, |(end, _)| *end)
    }

    /// Fills `bytes` with what is at `at`.
    pub(super) fn read(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let part = self.0.partition_point(|(end, _)| *end <= at);
            let (end, file) = self.0.get(part).ok_or(io::ErrorKind::UnexpectedEof)?;
            let begin = part.checked_sub(1).map_or(0, |before| self.0[before].0);
            let here = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at_mut(here);
            file.read(now, at - begin)?;
            (bytes, at) = (later, at + here as u64);
        }
        Ok(())
    }
}

/// The bytes of `parts` from `at` to `end`.
pub(super) struct Section<'a> {
    pub(super) parts: &'a Parts,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let here = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(bytes.len());
        self.parts.read(&mut bytes[..here], self.at)?;
        self.at += here as u64;
        Ok(here)
    }
}
