//! What is guarded in repositories of git, wherever one lies: hooks, settings, and whatever says where these are.
//!
//! git goes by what a directory holds and not only by its name: one with `HEAD` and `objects` in it is a repository to
//! whoever stands there.

use bstr::{BStr, BString, ByteSlice};

use super::settings;
use super::sight::{Sight, Thing};

/// Below these are contents and the names of branches, and nothing that git obeys.
const INERT: [&str; 5] = ["objects", "refs", "logs", "lfs", "rr-cache"];
/// Below these are repositories of their own, which lie here and are used elsewhere.
const NESTING: [&str; 2] = ["modules", "worktrees"];

/// Whether git would run what is at this path, or be led by it to something that it runs.
pub(super) fn is_guarded(path: &BStr, sight: &impl Sight) -> bool {
    let parts: Vec<&[u8]> = path.split_str("/").collect();
    let named = parts.iter().position(|part| is(part, ".git"));
    if let Some(place) = named {
        let (above, rest) = (&parts[..place], &parts[place + 1..]);
        return match rest {
            [] => leads_elsewhere(path, above, sight),
            rest => in_repository(path, rest, sight),
        };
    }
    (0..parts.len()).any(|place| in_nameless_repository(path, &parts, place, sight))
}

/// A repository by what is in it. The last piece that makes it one may come later than its settings.
fn in_nameless_repository(path: &BStr, parts: &[&[u8]], place: usize, sight: &impl Sight) -> bool {
    let (above, rest) = (&parts[..place], &parts[place..]);
    let at = |name: &str| joined(above, name);
    let is_repository = || {
        sight.after(at("HEAD").as_bstr()) != Thing::Nothing
            && ["objects", "commondir"]
                .iter()
                .any(|name| sight.after(at(name).as_bstr()) != Thing::Nothing)
    };
    match rest {
        [name] if is(name, "HEAD") || is(name, "objects") => {
            sight.before(path) == Thing::Nothing && is_repository() && {
                let settings = at("config");
                let hooks = sight.before(at("hooks").as_bstr()) != Thing::Nothing;
                hooks || !has_harmless_settings(settings.as_bstr(), sight)
            }
        }
        [name, ..]
            if ["hooks", "config", "config.worktree", "commondir"]
                .iter()
                .any(|it| is(name, it)) =>
        {
            is_repository() && is_obeyed(path, rest, sight)
        }
        _ => false,
    }
}

/// In a directory `.git`.
fn in_repository(path: &BStr, rest: &[&[u8]], sight: &impl Sight) -> bool {
    let [first, below @ ..] = rest else { return false };
    if INERT.iter().any(|name| is(first, name)) {
        return false;
    }
    // A link among these leads git to what nobody has looked at.
    if sight.after(path) == Thing::Other || is_obeyed(path, rest, sight) {
        return true;
    }
    NESTING.iter().any(|name| is(first, name))
        && (0..below.len())
            .take_while(|place| !below[..*place].iter().any(|part| is_inert(part)))
            .any(|place| is_obeyed(path, &below[place..], sight))
}

/// Counted from the repository's own directory.
fn is_obeyed(path: &BStr, rest: &[&[u8]], sight: &impl Sight) -> bool {
    match rest {
        [hooks] if is(hooks, "hooks") => {
            !matches!(sight.after(path), Thing::Nothing | Thing::Directory)
        }
        [hooks, .., hook] if is(hooks, "hooks") => !hook.ends_with(b".sample"),
        [name] if is(name, "config") || is(name, "config.worktree") => {
            sight.before(path) != Thing::Nothing || !has_harmless_settings(path, sight)
        }
        // Beside the settings of the repository that a working tree belongs to, there is nothing to be led to.
        [name] if is(name, "commondir") => {
            let content = sight.content_after(path);
            sight.after(path) != Thing::Nothing
                && content.is_none_or(|content| content.trim_ascii() != b"../..")
        }
        [info, name] if is(info, "info") && is(name, "attributes") => {
            let repository = path.rsplitn_str(3, "/").nth(2).unwrap_or_default();
            sight.before(repository.as_bstr()) != Thing::Nothing
        }
        _ => false,
    }
}

fn has_harmless_settings(path: &BStr, sight: &impl Sight) -> bool {
    sight.after(path) == Thing::Nothing
        || sight.content_after(path).is_some_and(|content| settings::are_harmless(&content))
}

/// Something named `.git` that is no directory says where one is. Where git itself puts them, they are looked at there.
fn leads_elsewhere(path: &BStr, above: &[&[u8]], sight: &impl Sight) -> bool {
    match sight.after(path) {
        Thing::Nothing | Thing::Directory => return false,
        Thing::Other => return true,
        Thing::File => {}
    }
    let content = sight.content_after(path).unwrap_or_default();
    let Some(target) = content.strip_prefix(b"gitdir:") else { return true };
    let Some(target) = inside(target.trim_ascii().as_bstr(), above, sight.root()) else {
        return true;
    };
    let ours = target.iter().position(|part| is(part, ".git")).map(|place| &target[place + 1..]);
    !matches!(ours, Some([first, name, more @ ..])
        if NESTING.iter().any(|it| is(first, it))
            && [name].into_iter().chain(more).all(|part| !is_inert(part) && !is(part, "hooks")))
}

/// The parts of a path below the root, without `.` and `..`; `None` if it leads out.
fn inside<'p>(target: &'p BStr, above: &[&'p [u8]], root: &BStr) -> Option<Vec<&'p [u8]>> {
    let (mut parts, rest) = if target.starts_with(b"/") {
        let rest = target.strip_prefix(root.as_bytes())?.strip_prefix(b"/")?;
        (Vec::new(), rest.as_bstr())
    } else {
        (above.to_vec(), target)
    };
    for part in rest.split_str("/") {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts)
}

fn is_inert(part: &[u8]) -> bool {
    INERT.iter().any(|name| is(part, name))
}

/// On file systems that do not tell large letters from small ones, and for whoever copies the project to one.
fn is(part: &[u8], name: &str) -> bool {
    part.eq_ignore_ascii_case(name.as_bytes())
}

fn joined(above: &[&[u8]], name: &str) -> BString {
    let mut path = bstr::join("/", above);
    if !above.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    path.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Files by their paths; what ends in a slash is a directory, what is `->` a link.
    #[derive(Default)]
    struct Told {
        before: BTreeMap<&'static str, &'static str>,
        after: BTreeMap<&'static str, &'static str>,
    }

    fn thing(all: &BTreeMap<&'static str, &'static str>, path: &BStr) -> Option<Thing> {
        let path = path.to_string();
        if all.keys().any(|known| known.starts_with(&format!("{path}/"))) {
            return Some(Thing::Directory);
        }
        all.get(path.as_str()).map(|content| match *content {
            "->" => Thing::Other,
            "gone" => Thing::Nothing,
            _ => Thing::File,
        })
    }

    impl Sight for Told {
        fn root(&self) -> &BStr {
            "/project".into()
        }
        fn before(&self, path: &BStr) -> Thing {
            thing(&self.before, path).unwrap_or(Thing::Nothing)
        }
        fn after(&self, path: &BStr) -> Thing {
            thing(&self.after, path).unwrap_or_else(|| self.before(path))
        }
        fn content_before(&self, path: &BStr) -> Option<Vec<u8>> {
            self.before.get(path.to_string().as_str()).map(|it| it.as_bytes().to_vec())
        }
        fn content_after(&self, path: &BStr) -> Option<Vec<u8>> {
            let path = path.to_string();
            let found = self.after.get(path.as_str()).or(self.before.get(path.as_str()));
            found.filter(|it| **it != "->").map(|it| it.as_bytes().to_vec())
        }
    }

    const EVIL: &str = "[core]\n\tfsmonitor = ./x\n";
    const PLAIN: &str = "[core]\n\tbare = false\n";

    type Files = &'static [(&'static str, &'static str)];

    fn guarded(before: Files, after: Files) -> Vec<String> {
        let sight = Told {
            before: before.iter().copied().collect(),
            after: after.iter().copied().collect(),
        };
        let paths = after.iter().map(|(path, _)| path.trim_end_matches('/'));
        paths.filter(|path| is_guarded((*path).into(), &sight)).map(str::to_owned).collect()
    }

    #[test]
    fn whatever_git_obeys_is_guarded() {
        let project: Files =
            &[(".git/config", PLAIN), (".git/HEAD", ""), (".git/hooks/x.sample", "")];
        let cases: &[(Files, Files)] = &[
            (project, &[(".git/config", PLAIN)]),
            (project, &[(".git/hooks/pre-commit", "")]),
            (project, &[(".git/hooks", "->")]),
            (project, &[(".git/hooks", "a file")]),
            (project, &[(".git/commondir", "../e")]),
            (project, &[(".git/info/attributes", "* filter=x")]),
            (project, &[(".git/modules", "->")]),
            (project, &[(".git/modules/m/config", EVIL)]),
            (project, &[(".git/modules/a/b/hooks/post-checkout", "")]),
            (project, &[(".git/worktrees/w/commondir", "../../e")]),
            (project, &[(".git/worktrees/w/config.worktree", EVIL)]),
            (project, &[(".GIT/config", EVIL)]),
            (project, &[("sub/.git/config", EVIL)]),
            (project, &[("sub/.git", "gitdir: ../e")]),
            (project, &[("sub/.git", "gitdir: ../.git/modules/refs")]),
            (project, &[("sub/.git", "gitdir: /elsewhere/.git/modules/m")]),
            (project, &[("sub/.git", "gitdir: ../../.git/modules/m")]),
            (project, &[("sub/.git", "->")]),
            (&[], &[(".git/config", EVIL)]),
            (&[], &[(".git", "gitdir: e")]),
            (&[], &[(".git", "->")]),
            (&[("e/HEAD", ""), ("e/objects/x", "")], &[("e/config", EVIL)]),
            (&[("e/config", EVIL), ("e/objects/x", "")], &[("e/HEAD", "")]),
            (&[("e/config", EVIL), ("e/HEAD", "")], &[("e/objects/", "")]),
            (&[("e/hooks/x", ""), ("e/objects/x", "")], &[("e/HEAD", "")]),
            (&[("HEAD", ""), ("objects/x", "")], &[("hooks/post-receive", "")]),
        ];
        for (before, after) in cases {
            assert!(!guarded(before, after).is_empty(), "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_git_does_every_day_is_not() {
        let project: Files =
            &[(".git/config", PLAIN), (".git/HEAD", ""), (".git/hooks/x.sample", "")];
        let cases: &[(Files, Files)] = &[
            (
                project,
                &[
                    (".git/index", ""),
                    (".git/HEAD", ""),
                    (".git/logs/HEAD", ""),
                    (".git/objects/aa/bb", ""),
                ],
            ),
            (project, &[(".git/refs/heads/config", ""), (".git/refs/heads/hooks/x", "")]),
            (
                project,
                &[
                    (".git/modules/m/config", PLAIN),
                    (".git/modules/m/HEAD", ""),
                    ("m/.git", "gitdir: ../.git/modules/m\n"),
                ],
            ),
            (
                project,
                &[
                    (".git/worktrees/w/commondir", "../..\n"),
                    ("w/.git", "gitdir: /project/.git/worktrees/w\n"),
                ],
            ),
            (project, &[("sub/.git/config", PLAIN), ("sub/.git/hooks/pre-push.sample", "")]),
            (project, &[(".git/HEAD", "gone")]),
            (project, &[("src/hooks/use.ts", ""), ("src/config", EVIL), ("HEAD", "")]),
            (
                &[],
                &[
                    (".git/config", PLAIN),
                    (".git/HEAD", ""),
                    (".git/hooks/pre-push.sample", ""),
                    (".git/info/attributes", ""),
                ],
            ),
            (
                &[],
                &[
                    ("x.git/config", PLAIN),
                    ("x.git/HEAD", ""),
                    ("x.git/objects/", ""),
                    ("x.git/hooks/a.sample", ""),
                ],
            ),
        ];
        for (before, after) in cases {
            assert_eq!(guarded(before, after), Vec::<String>::new(), "{before:?} {after:?}");
        }
    }
}
