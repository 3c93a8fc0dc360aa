//! Adds fields to the body of a request.

use serde_json::{Map, Value};

/// The settings of Gemini, which are added to one by one, as everything is by Google's own client.
const CONFIG: &str = "generationConfig";

/// The body with these fields, which replace those of the same name, as by the clients of `OpenAI` and Anthropic.
pub(super) fn with_extra_fields(body: Vec<u8>, extra: &Map<String, Value>) -> serde_json::Result<Vec<u8>> {
    if extra.is_empty() {
        return Ok(body);
    }
    let mut fields: Map<String, Value> = serde_json::from_slice(&body)?;
    for (name, value) in extra {
        match (fields.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) if name == CONFIG => old.extend(new.clone()),
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
    serde_json::to_vec(&fields)
}

#[cfg(test)]
mod tests {
    use super::with_extra_fields;
    use serde_json::json;

    #[test]
    fn fields_replace_those_of_the_same_name() {
        let body = br#"{"model":"m","thinking":{"type":"adaptive","display":"x"},"temperature":0.0,"generationConfig":{"a":1,"b":2}}"#;
        let extra = json!({"thinking": {"type": "disabled"}, "generationConfig": {"b": 3}, "top_k": 5});
        let both = with_extra_fields(body.to_vec(), extra.as_object().expect("an object")).expect("JSON");
        assert_eq!(
            String::from_utf8(both).expect("text"),
            r#"{"model":"m","thinking":{"type":"disabled"},"temperature":0.0,"generationConfig":{"a":1,"b":3},"top_k":5}"#
        );
        assert_eq!(with_extra_fields(body.to_vec(), &serde_json::Map::new()).expect("JSON"), body);
    }
}
