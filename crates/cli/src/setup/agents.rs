//! What each agent has to be told, and in which file.

use std::path::PathBuf;

use serde_json::Value;

use super::claude_code;
use super::json::{self, Insertion, Into};
use crate::invocation::Scale;

/// Where files are.
pub struct Surroundings {
    pub scale: Scale,
    pub root: PathBuf,
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`
    pub configuration: PathBuf,
}

/// One file, and what has to be in it.
pub struct Target {
    pub file: PathBuf,
    addition: Addition,
}

enum Addition {
    Json {
        is_there: fn(&Value) -> bool,
        insertion: &'static Insertion,
    },
    /// A table of TOML at the end.
    Toml,
    /// Whole, or by hand: there is no editing YAML without knowing all of it.
    Yaml,
}

/// What becomes of a file.
pub enum Applied {
    Same,
    Changed(String),
    ByHand(String),
}

const MCP_SERVER: &str = "{\n  \"command\": \"exacta\",\n  \"args\": [\"mcp\"]\n}";

const MCP_SERVERS: Insertion =
    Insertion { path: &["mcpServers", "exacta"], into: Into::Object, value: MCP_SERVER };

const OPENCODE: Insertion = Insertion {
    path: &["mcp", "exacta"],
    into: Into::Object,
    value: "{\n  \"type\": \"local\",\n  \"command\": [\"exacta\", \"mcp\"],\n  \"enabled\": true\n}",
};

const CODEX: &str = "[mcp_servers.exacta]\ncommand = \"exacta\"\nargs = [\"mcp\"]\n";

const GOOSE: &str = "\
extensions:
  exacta:
    type: stdio
    name: exacta
    enabled: true
    cmd: exacta
    args:
      - mcp
    timeout: 300
";

/// A hook and an MCP server of a repository are shared with it; the others keep their configuration with the person.
pub fn usual_scale(agent: &str) -> Scale {
    match agent {
        "claude-code" | "opencode" => Scale::Project,
        _ => Scale::User,
    }
}

pub fn targets(agent: &str, around: &Surroundings, mcp: bool) -> Result<Vec<Target>, String> {
    let (home, root) = (&around.home, &around.root);
    let in_project = around.scale == Scale::Project;
    let base = if in_project { root } else { home };
    let one = |file: PathBuf, addition: Addition| Ok(vec![Target { file, addition }]);
    let server = || Addition::Json { is_there: has_server, insertion: &MCP_SERVERS };
    match agent {
        "claude-code" => {
            let addition = Addition::Json {
                is_there: claude_code::is_configured,
                insertion: &claude_code::INSERTION,
            };
            let mut targets = vec![Target { file: base.join(".claude/settings.json"), addition }];
            if mcp {
                let name = if in_project { ".mcp.json" } else { ".claude.json" };
                targets.push(Target { file: base.join(name), addition: server() });
            }
            Ok(targets)
        }
        "codex" => one(base.join(".codex/config.toml"), Addition::Toml),
        "gemini" => one(base.join(".gemini/settings.json"), server()),
        "goose" if in_project => {
            Err("goose keeps its extensions for all projects: --scope user".to_owned())
        }
        "goose" => one(around.configuration.join("goose/config.yaml"), Addition::Yaml),
        _ => {
            let user = around.configuration.join("opencode/opencode.json");
            let file = if in_project { root.join("opencode.json") } else { user };
            let is_there = |value: &Value| value.pointer("/mcp/exacta").is_some();
            one(file, Addition::Json { is_there, insertion: &OPENCODE })
        }
    }
}

/// What cannot be said in a file.
pub fn notes(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude-code" => &["restart Claude Code, then let `exacta doctor` try the hook"],
        "codex" => &[
            "the MCP server is beside Codex's own shell. Codex runs `bash -lc ...`; to make that exacta, start it with a directory \
             in front of PATH in which `bash` is a link to exacta: ln -s \"$(command -v exacta)\" DIR/bash; PATH=DIR:$PATH codex",
        ],
        "gemini" => &[
            "the MCP server is beside Gemini's own shell; \"tools\": {\"exclude\": [\"run_shell_command\"]} takes that away",
        ],
        "goose" => &[
            "goose has a shell of its own in its extension `developer`; `goose configure` turns it off",
        ],
        _ => &[
            "opencode has a shell of its own; \"tools\": {\"bash\": false} in opencode.json turns it off",
        ],
    }
}

fn has_server(value: &Value) -> bool {
    value.pointer("/mcpServers/exacta").is_some()
}

impl Target {
    /// All of it, as a file that has nothing else.
    pub fn snippet(&self) -> String {
        match &self.addition {
            Addition::Json { insertion, .. } => {
                json::inserted("{}\n", insertion).unwrap_or_default()
            }
            Addition::Toml => CODEX.to_owned(),
            Addition::Yaml => GOOSE.to_owned(),
        }
    }

    pub fn applied(&self, old: Option<&str>) -> Applied {
        let Some(old) = old.filter(|old| !old.trim().is_empty()) else {
            return Applied::Changed(self.snippet());
        };
        match &self.addition {
            Addition::Json { is_there, insertion } => in_json(old, *is_there, insertion),
            Addition::Toml => in_toml(old),
            Addition::Yaml if old.lines().any(|line| line.trim_end() == "  exacta:") => {
                Applied::Same
            }
            Addition::Yaml => Applied::ByHand("it is YAML, which is not edited".to_owned()),
        }
    }
}

fn in_json(old: &str, is_there: fn(&Value) -> bool, insertion: &Insertion) -> Applied {
    let value: Value = match serde_json::from_str(old) {
        Ok(value) => value,
        Err(problem) => return Applied::ByHand(format!("it is not plain JSON: {problem}")),
    };
    if is_there(&value) {
        return Applied::Same;
    }
    match json::inserted(old, insertion) {
        Ok(new) if serde_json::from_str(&new).is_ok_and(|value| is_there(&value)) => {
            Applied::Changed(new)
        }
        Ok(_) => Applied::ByHand("it is not laid out as expected".to_owned()),
        Err(problem) => Applied::ByHand(problem),
    }
}

fn in_toml(old: &str) -> Applied {
    let is_there = |text: &str| -> Result<bool, String> {
        let table: toml::Table =
            text.parse().map_err(|problem| format!("it is not TOML: {problem}"))?;
        let servers = table.get("mcp_servers").and_then(toml::Value::as_table);
        Ok(servers.is_some_and(|servers| servers.contains_key("exacta")))
    };
    match is_there(old) {
        Ok(true) => return Applied::Same,
        Ok(false) => {}
        Err(problem) => return Applied::ByHand(problem.trim_end().to_owned()),
    }
    let gap = if old.ends_with('\n') { "\n" } else { "\n\n" };
    let new = format!("{old}{gap}{CODEX}");
    match is_there(&new) {
        Ok(true) => Applied::Changed(new),
        _ => Applied::ByHand("its mcp_servers cannot be added to at the end".to_owned()),
    }
}
