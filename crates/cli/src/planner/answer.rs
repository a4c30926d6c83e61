//! What models and programs put around a plan.

/// Without what small models think aloud, and without a code fence.
pub fn within(text: &str) -> &str {
    // A program of somebody's may begin with a byte order mark.
    let mut text = text.trim_start_matches('\u{feff}').trim();
    if let Some((_, after)) = text.strip_prefix("<think>").and_then(|it| it.split_once("</think>"))
    {
        text = after.trim();
    }
    let Some(open) = text.find("```") else { return text };
    // A plan has no fence before it begins; a command in it may have one.
    if text.starts_with('{') || !text.trim_end().ends_with("```") {
        return text;
    }
    let inner = text.get(open + 3..).unwrap_or_default();
    let inner = inner.split_once('\n').map_or(inner, |(_, inner)| inner);
    inner.rfind("```").and_then(|close| inner.get(..close)).unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_plan_is_taken_away() {
        let json = r#"{"goal":"g","steps":[{"command":"echo '```'"}]}"#;
        for text in [
            json.to_owned(),
            format!("\n {json}\n"),
            format!("\u{feff}{json}"),
            format!("```json\n{json}\n```"),
            format!("Here is the plan:\n\n```\n{json}\n```\n"),
            format!("<think>{{hm}}\n</think>\n\n{json}"),
        ] {
            assert_eq!(within(&text), json, "{text}");
        }
        for text in ["", "I cannot do that.", "{", "<think>hm", "a ``` b"] {
            assert_eq!(within(text), text);
        }
    }
}
