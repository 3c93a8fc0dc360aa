//! Chromium for tests, over its debugging pipe: no port, no driver. Where none is found, tests say so and pass.

mod pipe;

use crate::common::read;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pipe::Pipe;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// One browser at a time: each is several processes.
static TURN: Mutex<()> = Mutex::new(());

/// How often a condition is looked at: a test that waits for what never comes has to end.
const LOOKS: usize = 2000;

/// A browser with one open page.
pub(crate) struct Browser {
    pipe: Pipe,
    /// Its profile and its downloads.
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// The program: `WIKITRAIL_CHROMIUM`, else what is found in PATH.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("WIKITRAIL_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()))
}

impl Browser {
    /// A browser of 1280 × 900 points in light colours.
    pub(crate) fn open() -> Option<Self> {
        let Some(program) = chromium() else {
            println!("skipped: no Chromium found; WIKITRAIL_CHROMIUM names one");
            return None;
        };
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        let mut browser = Self { pipe: Pipe::open(&program, &folder.path().join("profile")), folder, _turn: turn };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.pipe.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.size(1280, 900);
        browser.media("", "light");
        Some(browser)
    }

    /// Width and height of the window, in points; 390 is a phone.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700});
        self.pipe.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// `print` or nothing, and `light` or `dark`.
    pub(crate) fn media(&mut self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.pipe.call("Emulation.setEmulatedMedia", &json!({"media": media, "features": features}));
    }

    pub(crate) fn without_scripts(&mut self) {
        self.pipe.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    /// Opens an address anew; what the page before it said and asked for is forgotten.
    pub(crate) fn go(&mut self, address: &str) {
        self.pipe.call("Page.navigate", &json!({"url": "about:blank"}));
        self.pipe.until_event("Page.loadEventFired");
        self.pipe.said.clear();
        self.pipe.asked.clear();
        self.pipe.call("Page.navigate", &json!({"url": address}));
        self.pipe.until_event("Page.loadEventFired");
    }

    /// Opens a page of `report` at an address within it, and waits until its list is there.
    pub(crate) fn page(&mut self, file: &Path, hash: &str) {
        self.go(&address(file, hash));
        self.until("document.documentElement.dataset.ready !== undefined");
    }

    /// What JavaScript returns; a promise is awaited.
    #[track_caller]
    pub(crate) fn eval(&mut self, script: &str) -> Value {
        let asked = json!({"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let answer = self.pipe.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{script}\n{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    #[track_caller]
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let script = format!("document.querySelector({})?.innerText ?? null", json!(selector));
        self.eval(&script).as_str().unwrap_or_else(|| panic!("no `{selector}`")).to_owned()
    }

    #[track_caller]
    pub(crate) fn count(&mut self, selector: &str) -> usize {
        let count = self.eval(&format!("document.querySelectorAll({}).length", json!(selector)));
        count.as_u64().and_then(|n| n.try_into().ok()).expect("a number")
    }

    /// Waits until an expression is true; a message of the page that something failed ends the wait. A page that is just
    /// being left or loaded has no answer, and is asked again.
    #[track_caller]
    pub(crate) fn until(&mut self, condition: &str) {
        let look = format!("({condition}) ? '' : document.querySelector('[role=alert]')?.innerText ?? null");
        let asked = json!({"expression": look, "returnByValue": true});
        let mut thrown = Value::Null;
        for _ in 0..LOOKS {
            let answer = self.pipe.ask("Runtime.evaluate", &asked).unwrap_or_default();
            thrown = answer["exceptionDetails"].clone();
            match answer["result"]["value"].as_str() {
                Some("") => return,
                Some(failed) => panic!("waited for `{condition}`: {failed}"),
                None => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
        let seen = self.eval("`${location.hash}\n${document.body.innerText.slice(0, 1500)}`");
        panic!("waited for `{condition}`: looked {LOOKS} times {thrown}\n{seen}");
    }

    /// A click on the first element that matches.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        self.eval(&format!("document.querySelector({}).click()", json!(selector)));
    }

    /// Chooses in the select with this label.
    #[track_caller]
    pub(crate) fn choose(&mut self, label: &str, value: &str) {
        let script = format!(
            "{{ const field = [...document.querySelectorAll('label.choice')].filter((own) => own.checkVisibility())
                  .find((own) => own.firstElementChild.textContent === {}).querySelector('select');
               field.value = {}; field.dispatchEvent(new Event('change')); }}",
            json!(label),
            json!(value)
        );
        self.eval(&script);
    }

    /// Types a text, key by key, where the focus is.
    pub(crate) fn keys(&mut self, text: &str) {
        for key in text.chars() {
            let key = key.to_string();
            self.pipe.call("Input.dispatchKeyEvent", &json!({"type": "keyDown", "key": key, "text": key}));
            self.pipe.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
        }
    }

    /// A key without a text, such as `Enter`.
    pub(crate) fn key(&mut self, key: &str, text: &str) {
        let code = if key == "Enter" { 13 } else { 0 };
        let event = |kind: &str| json!({"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code});
        self.pipe.call("Input.dispatchKeyEvent", &event("keyDown"));
        self.pipe.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
    }

    pub(crate) fn pdf(&mut self) -> Vec<u8> {
        let printed = self.pipe.call("Page.printToPDF", &json!({"printBackground": true}));
        STANDARD.decode(printed["data"].as_str().expect("data")).expect("base64")
    }

    /// A picture of the whole page, into the folder that `WIKITRAIL_PICTURES` names.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("WIKITRAIL_PICTURES") else { return };
        let picture =
            self.pipe.call("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        let bytes = STANDARD.decode(picture["data"].as_str().expect("data")).expect("base64");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).expect("a picture");
    }

    /// Lets the page save a file; returns its text once it is whole.
    #[track_caller]
    pub(crate) fn download(&mut self, name: &str, act: &str) -> String {
        let folder = self.folder.path().join("downloads");
        std::fs::create_dir_all(&folder).expect("a folder");
        let allowed = json!({"behavior": "allow", "downloadPath": folder, "eventsEnabled": true});
        self.pipe.call("Browser.setDownloadBehavior", &allowed);
        self.eval(act);
        while self.pipe.until_event("Browser.downloadProgress")["state"] != "completed" {}
        read(folder.join(name))
    }

    /// The addresses that were asked for since the page was opened.
    pub(crate) fn asked(&self) -> &[String] {
        &self.pipe.asked
    }

    /// The page wrote nothing to the console, threw nothing, and gave the browser no reason to complain.
    #[track_caller]
    pub(crate) fn is_silent(&self) {
        assert!(self.pipe.said.is_empty(), "{:?}", self.pipe.said);
    }

    /// The page works as it promises: it is silent, requests nothing but itself, and fits the window.
    #[track_caller]
    pub(crate) fn is_clean(&mut self) {
        self.is_silent();
        assert_eq!(self.asked().len(), 1, "{:?}", self.asked());
        let width = self.eval("[document.documentElement.scrollWidth, innerWidth]");
        assert!(width[0].as_u64() <= width[1].as_u64(), "wider than the window: {width}");
        let failed = self.eval("document.querySelector('[role=alert]')?.innerText ?? null");
        assert!(failed.is_null(), "{failed}");
    }

    /// No violation of the rules of axe, whose script `WIKITRAIL_AXE` names.
    #[track_caller]
    pub(crate) fn is_accessible(&mut self) {
        let Some(path) = std::env::var_os("WIKITRAIL_AXE") else {
            println!("skipped: axe, as WIKITRAIL_AXE does not name it");
            return;
        };
        let axe = read(&path);
        self.eval(&format!("if (!globalThis.axe) {{ {axe} }}"));
        let found = self.eval(
            "axe.run().then((found) => found.violations.map((rule) =>
                `${rule.id}: ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary).join(' | ')}`))",
        );
        assert_eq!(found, json!([]), "{found:#}");
    }
}

/// A file as an address.
pub(crate) fn address(file: &Path, hash: &str) -> String {
    format!("{}{hash}", url::Url::from_file_path(file).expect("an absolute path"))
}
