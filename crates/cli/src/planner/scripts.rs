//! What a project calls its own tasks: scripts of `package.json`, targets of a `Makefile`, names in `Cargo.toml` and
//! `pyproject.toml`.

use std::sync::Arc;

use exacta_shell::filesystem::Directory;
use serde_json::Value;

use super::context::read;

pub fn of(top: &Arc<dyn Directory>) -> String {
    let found = [
        ("package.json", package_json as fn(&str) -> Vec<String>),
        ("Cargo.toml", cargo_toml),
        ("pyproject.toml", pyproject_toml),
        ("Makefile", makefile),
        ("makefile", makefile),
        ("justfile", makefile),
    ];
    let mut lines = Vec::new();
    for (name, facts) in found {
        let facts = read(top, name).map(|text| facts(&text)).unwrap_or_default();
        if !facts.is_empty() {
            lines.push(format!("{name}: {}", facts.join("; ")));
        }
    }
    lines.join("\n")
}

fn package_json(text: &str) -> Vec<String> {
    let Ok(package) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let name = package["name"].as_str().map(|name| format!("name {name}"));
    let scripts = package["scripts"].as_object().into_iter().flatten();
    let scripts = scripts.filter_map(|(name, command)| {
        Some(format!("npm run {name} = {}", one_line(command.as_str()?)))
    });
    name.into_iter().chain(scripts).collect()
}

fn cargo_toml(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else { return Vec::new() };
    let package = manifest.get("package").and_then(|it| it.get("name")).and_then(|it| it.as_str());
    let members =
        manifest.get("workspace").and_then(|it| it.get("members")).and_then(|it| it.as_array());
    let members: Vec<&str> =
        members.into_iter().flatten().filter_map(|member| member.as_str()).collect();
    let package = package.map(|name| format!("package {name}"));
    let members = (!members.is_empty()).then(|| format!("workspace of {}", members.join(", ")));
    package.into_iter().chain(members).collect()
}

fn pyproject_toml(text: &str) -> Vec<String> {
    let Ok(project) = text.parse::<toml::Table>() else { return Vec::new() };
    let poetry = project.get("tool").and_then(|it| it.get("poetry"));
    let Some(project) = project.get("project").or(poetry) else { return Vec::new() };
    let name = project.get("name").and_then(|it| it.as_str()).map(|name| format!("project {name}"));
    let scripts = project.get("scripts").and_then(|it| it.as_table()).into_iter().flatten();
    name.into_iter().chain(scripts.map(|(name, _)| format!("script {name}"))).collect()
}

/// The names of targets; recipes of a justfile look the same.
fn makefile(text: &str) -> Vec<String> {
    let plain = |name: &str| {
        let character = |one: char| one.is_ascii_alphanumeric() || "_-./".contains(one);
        !name.is_empty() && !name.starts_with('.') && name.chars().all(character)
    };
    let mut targets = Vec::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else { continue };
        // Recipes are indented, and `:=` assigns.
        if head.starts_with(char::is_whitespace) || rest.starts_with('=') {
            continue;
        }
        let names = head.split_whitespace().filter(|name| plain(name)).map(str::to_owned);
        targets.extend(names.filter(|name| !targets.contains(name)).collect::<Vec<_>>());
    }
    targets
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_by_their_names() {
        let package = r#"{"name":"web","scripts":{"build":"tsc  -p .","test":"vitest"},"dependencies":{"x":"1"}}"#;
        let facts = ["name web", "npm run build = tsc -p .", "npm run test = vitest"];
        assert_eq!(package_json(package), facts);
        let make =
            ".PHONY: all\nCC := gcc\nall: test\n\techo a: b\ntest clean: x\n%.o: %.c\nall: again\n";
        assert_eq!(makefile(make), ["all", "test", "clean"]);
        let cargo = "[package]\nname = \"a\"\n[workspace]\nmembers = [\"crates/*\"]\n";
        assert_eq!(cargo_toml(cargo), ["package a", "workspace of crates/*"]);
        let python = "[project]\nname = \"p\"\n[project.scripts]\nrun = \"p:main\"\n";
        assert_eq!(pyproject_toml(python), ["project p", "script run"]);
        for nonsense in ["", "{", "[", "\u{0}:", "null", "[]"] {
            let facts = [package_json(nonsense), cargo_toml(nonsense), pyproject_toml(nonsense)];
            assert!(facts.iter().all(Vec::is_empty), "{nonsense}");
        }
    }
}
