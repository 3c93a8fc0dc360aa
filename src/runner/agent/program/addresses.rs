//! Where a program finds its models and tools.

use crate::base::Question;
use serde_json::{Map, Value, json};

/// Where a program finds its models and tools, with a key for one episode.
pub(super) struct Addresses {
    /// Such as `http://127.0.0.1:40123`.
    pub(super) server: String,
    pub(super) key: String,
    pub(super) model: Option<String>,
}

impl Addresses {
    fn of_models(&self) -> [(&'static str, String); 3] {
        let server = &self.server;
        [
            ("openai", format!("{server}/openai/v1")),
            ("anthropic", format!("{server}/anthropic")),
            ("gemini", format!("{server}/gemini")),
        ]
    }

    fn of_tools(&self) -> Vec<(&'static str, String)> {
        let below = |path: &str| format!("{}/episode/{}/{path}", self.server, self.key);
        let mut addresses = vec![("tool", below("tool")), ("retrieve", below("retrieve"))];
        if cfg!(feature = "mcp") {
            addresses.insert(0, ("mcp", below("mcp")));
        }
        addresses
    }

    /// The variables of the program's environment.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let [openai, anthropic, gemini] = self.of_models().map(|(_, address)| address);
        let mut variables = vec![
            ("OPENAI_BASE_URL", openai.clone()),
            // The older name, which several programs still read.
            ("OPENAI_API_BASE", openai),
            ("ANTHROPIC_BASE_URL", anthropic),
            ("GOOGLE_GEMINI_BASE_URL", gemini),
        ];
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
        variables.extend(keys.map(|name| (name, self.key.clone())));
        variables.extend(self.model.iter().map(|model| ("WIKITRAIL_MODEL", model.clone())));
        let of_tools = self
            .of_tools()
            .into_iter()
            .map(|(name, address)| (format!("WIKITRAIL_{}_URL", name.to_uppercase()), address));
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(of_tools).collect()
    }

    /// The line that a program is given; for a server with the addresses of models and the key, which a process has in its
    /// environment.
    pub(super) fn line(&self, question: &Question, for_server: bool) -> Value {
        let object = |pairs: Vec<(&str, String)>| -> Map<String, Value> {
            pairs.into_iter().map(|(name, address)| (name.to_owned(), address.into())).collect()
        };
        let mut line = json!({ "id": question.id, "question": question.question, "tools": object(self.of_tools()) });
        if for_server {
            line["models"] = object(self.of_models().into()).into();
            line["key"] = json!(self.key);
            if let Some(model) = &self.model {
                line["model"] = json!(model);
            }
        }
        line
    }
}
