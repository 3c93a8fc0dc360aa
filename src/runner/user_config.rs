//! The settings of the person who runs the program, from variables and settings files.

use crate::base::bounded::text_at_most;
use crate::base::text::{closest, visible_line};
use crate::runner::RunError;
use crate::runner::experiment::defaults::{
    DEFAULTS, DefaultSource, DefaultValue, Defaults, FOLDER_FILE, VARIABLES, check, check_price, parse_file,
};
use crate::runner::named_files::{ReadScope, TrustedInputs};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Largest settings file, in bytes.
const MAX_FILE: u64 = 64 << 10;
const LONGEST_VALUE: usize = 300;

/// The settings of the person who runs the program, and where they were looked for.
#[derive(Debug, Default)]
pub(crate) struct UserConfig {
    pub(crate) defaults: Defaults,
    /// The settings files, and whether each is there.
    pub(crate) files: Vec<(PathBuf, bool)>,
    /// Variables that have the name of no setting.
    pub(crate) unknown: Vec<String>,
}

/// Our folder among those in which programs keep what a person need not see from one start to the next.
#[cfg(feature = "serve")]
pub(crate) fn state_folder() -> Option<PathBuf> {
    Some(personal("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state")?.join("wikitrail"))
}

/// The folder that a variable names, or one of Windows, or that place in the person's home.
fn personal(variable: &str, windows: &str, home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let system = if cfg!(windows) { absolute(windows) } else { None };
    absolute(variable).or(system).or_else(|| Some(std::env::home_dir()?.join(home)))
}

impl UserConfig {
    pub(crate) fn read() -> Result<Self, RunError> {
        let mut person = Self::default();
        person.variables()?;
        person.file(PathBuf::from(FOLDER_FILE), true)?;
        if let Some(folder) = personal("XDG_CONFIG_HOME", "APPDATA", ".config") {
            person.file(folder.join("wikitrail").join("config.toml"), false)?;
        }
        person.check_paths()?;
        Ok(person)
    }

    /// A warning of each variable that is nearly one of ours.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let known = DEFAULTS.map(|setting| setting.variable());
        self.unknown.iter().filter_map(move |name| {
            let known = known.iter().map(|name| &name[VARIABLES.len()..]);
            let near = closest(name.trim_start_matches(VARIABLES), known)?;
            let name = visible_line(name, 80);
            Some(format!("warning: the variable {name} is not a setting; did you mean {VARIABLES}{near}?"))
        })
    }

    fn variables(&mut self) -> Result<(), RunError> {
        let mut values = Vec::new();
        for setting in &DEFAULTS {
            let name = setting.variable();
            let Some(value) = std::env::var_os(&name).filter(|value| !value.is_empty()) else { continue };
            let checked = match value.to_str() {
                Some(value) => check(setting, value, false).map(|()| value.to_owned()),
                None => Err(RunError::usage("it is not UTF-8", "set it again, or unset it")),
            };
            let value = checked.map_err(|bad| bad.at(format!("the variable {name}")))?;
            values.push(DefaultValue { setting, value, by: DefaultSource::Variable(name) });
        }
        check_price(&values).map_err(|bad| bad.at("the variable WIKITRAIL_PRICE"))?;
        self.defaults.extend(values);
        let known = |name: &String| DEFAULTS.iter().any(|setting| setting.variable() == *name);
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        self.unknown = names.filter(|name| name.starts_with(VARIABLES) && !known(name)).collect();
        self.unknown.sort();
        Ok(())
    }

    fn file(&mut self, path: PathBuf, of_folder: bool) -> Result<(), RunError> {
        let shown = visible_line(&path.display().to_string(), LONGEST_VALUE);
        let cannot = |error: std::io::Error| {
            let hint = "a settings file is a TOML file in UTF-8; `wikitrail docs settings` describes it";
            RunError::input(format!("cannot read `{shown}`: {error}"), hint)
        };
        let is_there = match fs::metadata(&path) {
            Ok(found) if found.is_file() => true,
            Ok(_) => return Err(cannot(std::io::Error::other("it is not a file"))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            Err(error) => return Err(cannot(error)),
        };
        if is_there {
            let text = File::open(&path).and_then(|file| text_at_most(file, MAX_FILE)).map_err(cannot)?;
            let values = parse_file(&shown, text.trim_start_matches('\u{feff}'), of_folder);
            self.defaults.extend(values.map_err(|problems| RunError::input(&problems, problems.hint()))?);
        }
        self.files.push((path, is_there));
        Ok(())
    }

    /// Refuses paths of the folder's file that lead out of the folder once links are resolved, and files that are none.
    fn check_paths(&self) -> Result<(), RunError> {
        let trusted = TrustedInputs {
            folders: self.defaults.file_dirs().map(Path::to_owned).collect(),
            ..TrustedInputs::default()
        };
        let given =
            DEFAULTS.iter().filter(|setting| setting.is_path).flat_map(|setting| self.defaults.all(setting.name));
        for given in given.filter(|given| matches!(given.by, DefaultSource::Folder(..))) {
            let path = Path::new(&given.value);
            let is_pipe = given.setting.name == "prices" && path.metadata().is_ok_and(|found| !found.is_file());
            let reason = match ReadScope::folder(Path::new("."), None)?.refuses_path(path, &trusted) {
                Some(refusal) => refusal.reason,
                None if is_pipe => "not a regular file".to_owned(),
                None => continue,
            };
            let (name, value) = (given.setting.name, visible_line(&given.value, LONGEST_VALUE));
            let message = format!("`{name}` is `{value}` ({reason}), and the folder may have come from somebody else");
            let hint =
                "name a path below the folder, or set it in your own settings file, which `wikitrail config` names";
            return Err(RunError::input(message, hint).at(&given.by));
        }
        Ok(())
    }

    pub(crate) fn results(&self) -> Option<PathBuf> {
        self.defaults.get("results").map(|given| PathBuf::from(&given.value))
    }
}
