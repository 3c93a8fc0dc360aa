//! Commands to Chromium and what it answers: JSON between zero bytes.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running Chromium, ended when it is dropped.
pub(super) struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
    session: Option<String>,
    /// Events that nobody has waited for yet, newest last.
    events: VecDeque<Value>,
    pub(super) said: Vec<String>,
    pub(super) asked: Vec<String>,
}

/// Events that somebody may wait for.
const AWAITED: [&str; 2] = ["Page.loadEventFired", "Browser.downloadProgress"];

impl Pipe {
    pub(super) fn open(program: &Path, profile: &Path) -> Self {
        // The shell puts the pipes where Chromium looks for them: commands on 3, answers on 4. It becomes Chromium, so
        // that the child's id is the browser's.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
            .args(["--disable-extensions", "--disable-sync", "--hide-scrollbars", "--lang=en"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut pipe = Self {
            child,
            to,
            from: BufReader::new(from),
            next: 0,
            session: None,
            events: VecDeque::new(),
            said: Vec::new(),
            asked: Vec::new(),
        };
        let target = pipe.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = pipe.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        pipe.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        pipe
    }

    /// Sends a command and returns its result; events that come first are kept.
    #[track_caller]
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.ask(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same with Chromium's refusal, such as that the page is being left.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": params});
        // Commands about the browser itself have no session.
        if let Some(session) = self.session.as_ref().filter(|_| !method.starts_with("Browser.")) {
            message["sessionId"] = json!(session);
        }
        self.send(&message).expect("Chromium takes commands");
        loop {
            let answer = self.read().expect("Chromium answers");
            if answer["id"] == json!(id) {
                let error = &answer["error"];
                return if error.is_null() { Ok(answer["result"].clone()) } else { Err(error.clone()) };
            }
            self.keep(answer);
        }
    }

    /// The parameters of the first such event that nobody has waited for.
    #[track_caller]
    pub(super) fn until_event(&mut self, name: &str) -> Value {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == name) {
                return self.events.remove(at).expect("an event")["params"].clone();
            }
            let event = self.read().expect("Chromium answers");
            self.keep(event);
        }
    }

    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.to.write_all(message.to_string().as_bytes())?;
        self.to.write_all(b"\0")?;
        self.to.flush()
    }

    /// The next message; `None` when Chromium has gone.
    fn read(&mut self) -> Option<Value> {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).ok()?;
        bytes.pop()?;
        Some(serde_json::from_slice(&bytes).expect("JSON"))
    }

    fn keep(&mut self, event: Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.consoleAPICalled" => self.said.push(format!("console: {}", params["args"])),
            "Runtime.exceptionThrown" => self.said.push(format!("exception: {}", params["exceptionDetails"])),
            "Log.entryAdded" => self.said.push(format!("{}: {}", params["entry"]["source"], params["entry"]["text"])),
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                self.asked.push(url.chars().take(200).collect());
            }
            name if AWAITED.contains(&name) => self.events.push_back(event),
            _ => {}
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // A page that hangs must not keep a failed test from ending.
        if std::thread::panicking() || self.send(&json!({"id": 0, "method": "Browser.close"})).is_err() {
            let _ = self.child.kill();
        }
        let _ = std::io::copy(&mut self.from, &mut std::io::sink());
        let _ = self.child.wait();
    }
}
