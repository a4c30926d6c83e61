//! Matching by hand-made readings, and files that must not load.

use std::collections::HashMap;

use super::*;
use crate::programs::GivenOption;
use crate::word::{Dynamic, Word};

/// Words split at blanks; letters of a cluster apart; `-r` and `--recursive`, `-f` and `--force` are one.
fn reading(line: &str) -> Reading {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut reading = Reading { name: name.into(), ..Reading::default() };
    if let Some((_, last)) = name.rsplit_once('/') {
        reading.name = last.into();
        reading.path = Some(Word::literal(name));
    }
    let same = HashMap::from([("-r", "--recursive"), ("-f", "--force")]);
    let names = |given: &str| {
        let pair = same.iter().find(|(short, long)| **short == given || **long == given);
        let all = pair.map_or(vec![given], |(short, long)| vec![*short, *long]);
        all.into_iter().map(Into::into).collect()
    };
    for word in words {
        if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            let value = Some(Word::literal(value));
            reading.options.push(GivenOption { names: names(name), value, known: true });
        } else if word.starts_with("--") {
            reading.options.push(GivenOption { names: names(word), value: None, known: true });
        } else if let Some(letters) = word.strip_prefix('-') {
            for letter in letters.chars() {
                let names = names(&format!("-{letter}"));
                reading.options.push(GivenOption { names, value: None, known: true });
            }
        } else {
            reading.operands.push(Word::literal(word));
        }
    }
    reading
}

fn file(tier: Tier, text: &str) -> RuleFile {
    RuleFile { name: "rules.toml".into(), text: text.into(), tier }
}

fn loaded(tier: Tier, text: &str) -> RuleSet {
    RuleSet::load(&[file(tier, text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// The ids of the rules of files that match.
fn matching(set: &RuleSet, reading: &Reading, input: &Input) -> Vec<String> {
    let subject = Subject::Command { reading, input, builtin: false };
    let found = set.matching(&subject, Profile::Dev);
    let own = found.iter().filter(|rule| rule.tier != Tier::BuiltIn);
    own.map(|rule| rule.id.to_string()).collect()
}

fn rule_about(conditions: &str) -> RuleSet {
    loaded(Tier::User, &format!("[[rule]]\nid = 'r'\nverdict = 'deny'\nreason = 'x'\n{conditions}"))
}

#[test]
fn options_in_any_order_and_operands_in_theirs() {
    for (conditions, line, expected) in [
        ("command = ['zap -rf x']", "zap -rf x y", true),
        ("command = ['zap -rf x']", "zap -fr x", true),
        ("command = ['zap -rf x']", "zap -r x -f", true),
        ("command = ['zap -rf x']", "zap x --force --recursive", true),
        ("command = ['zap -rf x']", "zap -r x", false),
        ("command = ['zap -rf x']", "zap -rf y x", false),
        ("command = ['zap {install,ci}']", "zap ci", true),
        ("command = ['zap {install,ci}']", "zap cif", false),
        ("command = ['za*']", "zap", true),
        ("command = ['zap --config=a*']", "zap --config=abc", true),
        ("command = ['zap --config=a*']", "zap --config=b", false),
        ("command = ['zap --config=a*']", "zap --config", false),
        ("command = ['zap push']\nwith = ['--force', '+*']", "zap push o +main", true),
        ("command = ['zap push']\nwith = ['--force', '+*']", "zap push o main", false),
        ("command = ['zap push']\nwith = ['push']", "zap push o", false),
        ("command = ['zap']\nwithout = ['--dry*']", "zap --dry-run", false),
        ("command = ['zap']\nwith_all = ['-a', 'x']", "zap x -a", true),
        ("command = ['zap']\nwith_all = ['-a', 'x']", "zap x", false),
        ("command = ['zap']\nexcept = ['zap {ls,get}']", "zap get a", false),
        ("command = ['zap']\nexcept = ['zap {ls,get}']", "zap put get", true),
        ("command = ['zap a']\noperands_at_most = 1", "zap a b", true),
        ("command = ['zap a']\noperands_at_most = 1", "zap a b c", false),
        ("command = ['zap']\nwith = ['--version', '-v']\nalone = true", "zap --version", true),
        ("command = ['zap']\nwith = ['--version', '-v']\nalone = true", "zap -v x", false),
        ("command = ['zap']\nwith = ['--version', '-v']\nalone = true", "zap -v -e", false),
        ("command = ['Zap-It']", "zap-it", true),
        ("command = ['zap']", "ZAP x", true),
        ("command = ['zap']", "./zap x", true),
        ("command = ['./zap']", "./zap x", true),
        ("command = ['./zap']", "zap x", false),
        ("command = ['@mine x']\n[list]\nmine = ['zap', 'zip']", "zip x", true),
    ] {
        let found = matching(&rule_about(conditions), &reading(line), &Input::Inherited);
        assert_eq!(!found.is_empty(), expected, "{conditions} on {line}");
    }
}

#[test]
fn a_rule_that_allows_means_the_program_and_all_values() {
    let set = loaded(
        Tier::User,
        "[[rule]]\nid = 'a'\nverdict = 'allow'\nreason = 'x'\ncommand = ['zap {s,t}']\nwithout = ['-f']",
    );
    let dynamic = |values: &[&str], prefix: &str| {
        let values = values.iter().map(|value| (*value).into()).collect();
        let dynamic = Dynamic { values, prefix: prefix.into(), ..Dynamic::default() };
        Reading {
            name: "zap".into(),
            operands: vec![Word::Dynamic(Box::new(dynamic))],
            ..Reading::default()
        }
    };
    let allowed = |reading: &Reading| !matching(&set, reading, &Input::Inherited).is_empty();
    assert!(allowed(&reading("zap s")));
    assert!(!allowed(&reading("zap s --force")));
    assert!(!allowed(&reading("./zap s")));
    assert!(!allowed(&reading("ZAP s")));
    assert!(allowed(&dynamic(&["s", "t"], "")));
    assert!(!allowed(&dynamic(&["s", "u"], "")));
    assert!(!allowed(&dynamic(&[], "s")));
}

#[test]
fn input_from_a_pipe() {
    let set = rule_about("command = ['{sh,bash}']\npiped_from = ['base64']");
    let pipe = |names: &[&str]| Input::Pipe(names.iter().map(|n| Word::literal(*n)).collect());
    let found = |input| !matching(&set, &reading("sh"), &input).is_empty();
    assert!(found(pipe(&["cat", "/usr/bin/base64", "tee"])));
    assert!(!found(pipe(&["cat"])));
    assert!(!found(Input::Inherited));
}

#[test]
fn other_subjects() {
    let set = loaded(
        Tier::User,
        "[[rule]]\nid = 'v'\nverdict = 'deny'\nreason = 'x'\nvariable = ['ZAP_*']\nwithout = ['{safe,off}']
[[rule]]\nid = 'w'\nverdict = 'deny'\nreason = 'x'\nwrite = ['~/zap/**', '**/.zaprc']\nwithout = ['zap/ok']
[[rule]]\nid = 'd'\nverdict = 'deny'\nreason = 'x'\ndelete = ['~/zip']
[[rule]]\nid = 's'\nverdict = 'deny'\nreason = 'x'\nsituation = ['limit']
[[rule]]\nid = 'c'\nverdict = 'deny'\nreason = 'x'\ncode = ['tcl']\nlevel = 'dangerous'",
    );
    let ids = |subject: Subject<'_>| {
        let found = set.matching(&subject, Profile::Dev);
        let own = found.iter().filter(|rule| rule.tier != Tier::BuiltIn);
        own.map(|rule| rule.id.to_string()).collect::<Vec<_>>()
    };
    let variable = |name: &'static str, value: Option<&'static str>| {
        ids(Subject::Variable { name: name.into(), value: value.map(Into::into) })
    };
    assert_eq!(variable("ZAP_X", Some("on")), ["v"]);
    assert_eq!(variable("ZAP_X", None), ["v"]);
    assert!(variable("ZAP_X", Some("off")).is_empty());
    assert!(variable("ZAPX", Some("on")).is_empty());
    assert_eq!(ids(Subject::Write { path: "zap/a/b".into() }), ["w"]);
    assert_eq!(ids(Subject::Delete { path: "a/.zaprc".into() }), ["w"]);
    assert!(ids(Subject::Write { path: "zap/ok".into() }).is_empty());
    assert!(ids(Subject::Read { path: "zap/a".into() }).is_empty());
    assert_eq!(ids(Subject::Delete { path: "zip".into() }), ["d"]);
    assert!(ids(Subject::Write { path: "zip".into() }).is_empty());
    assert_eq!(ids(Subject::Situation("limit")), ["s"]);
    assert_eq!(ids(Subject::Code { language: Language::Tcl, level: Level::Dangerous }), ["c"]);
    assert!(ids(Subject::Code { language: Language::Tcl, level: Level::Unclear }).is_empty());
}

const ASKS: &str =
    "[[rule]]\nid = 'ask-zap'\nverdict = 'confirm'\nreason = 'x'\ncommand = ['zap']\n";
const ALLOWS: &str = "[[rule]]\nid = 'allow-zap'\nverdict = 'allow'\nreason = 'x'\ncommand = ['zap a']\n\
                      overrides = ['ask-zap']\n";

#[test]
fn only_a_tier_as_high_overrides() {
    for (asks, allows, expected) in [
        (Tier::User, Tier::User, vec!["allow-zap"]),
        (Tier::TrustedProject, Tier::User, vec!["allow-zap"]),
        (Tier::User, Tier::System, vec!["allow-zap"]),
        (Tier::User, Tier::Project, vec!["ask-zap"]),
        (Tier::Project, Tier::Project, vec!["ask-zap"]),
    ] {
        let set = RuleSet::load(&[file(asks, ASKS), file(allows, ALLOWS)]).unwrap();
        assert_eq!(matching(&set, &reading("zap a"), &Input::Inherited), expected, "{allows:?}");
        assert_eq!(set.notices().len(), usize::from(allows == Tier::Project), "{allows:?}");
        assert_eq!(matching(&set, &reading("zap b"), &Input::Inherited), ["ask-zap"]);
    }
    let error = RuleSet::load(&[file(Tier::System, ASKS), file(Tier::User, ALLOWS)]).unwrap_err();
    assert!(error.message.contains("above this file"), "{error}");
}

#[test]
fn profiles_limit_rules() {
    let set = loaded(Tier::User, &format!("{ASKS}profiles = ['full-auto']"));
    let (reading, input) = (reading("zap"), Input::Inherited);
    let subject = Subject::Command { reading: &reading, input: &input, builtin: false };
    assert!(set.matching(&subject, Profile::Dev).is_empty());
    assert_eq!(set.matching(&subject, Profile::FullAuto).len(), 1);
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let rule = "[[rule]]\nid = 'r'\nverdict = 'deny'\nreason = 'x'\n";
    for (text, line, column, message) in [
        ("x = ", 1, 5, ""),
        ("[[rules]]\nid = 'a'", 1, 3, "unknown key `rules`"),
        ("rule = 3", 1, 8, "array of tables"),
        (&format!("{rule}command = ['a']\nverdit = 'x'"), 6, 1, "unknown key `verdit`"),
        (&format!("{rule}command = 'a'"), 5, 11, "a list of texts"),
        (&format!("{rule}command = ['a', 3]"), 5, 17, "a list of texts"),
        (&format!("{rule}command = ['a', 'b {{x']"), 5, 17, "without its `}`"),
        (&format!("{rule}command = ['@zap x']"), 5, 12, "no list `zap`"),
        (rule, 1, 1, "about nothing"),
        (&format!("{rule}command = ['a']\nwrite = ['b']"), 6, 9, "two things"),
        (&format!("{rule}write = ['a']\nexcept = ['b']"), 6, 10, "means nothing"),
        (&format!("{rule}situation = ['moon']"), 5, 14, "cannot be `moon`"),
        (&format!("{rule}command = ['a']\noverrides = ['nobody']"), 6, 14, "no rule `nobody`"),
        (&format!("{rule}command = ['a']\n{rule}command = ['b']"), 7, 6, "is taken"),
        ("[[rule]]\nid = 'R'\nverdict = 'deny'\nreason = 'x'", 2, 6, "lowercase"),
        ("[[rule]]\nid = 'r'\nverdict = 'dney'\nreason = 'x'\ncommand = ['a']", 3, 11, "`dney`"),
        ("[[rule]]\nid = 'r'\nverdict = 'deny'\ncommand = ['a']", 1, 1, "no `reason`"),
        ("[list]\nx = 3", 2, 5, "a list holds texts"),
    ] {
        let error = RuleSet::load(&[file(Tier::User, text)]).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
        assert!(error.message.contains(message), "{text}\n{error}");
    }
}

#[test]
fn an_error_shows_the_place() {
    let text = "[[rule]]\nid = 'r'\n\tverdict = 'dney'\nreason = 'x'\ncommand = ['a']";
    let error = RuleSet::load(&[file(Tier::User, text)]).unwrap_err();
    let shown = "rules.toml:3:12: `verdict` cannot be `dney`\n  |\n3 | \tverdict = 'dney'\n  | \t          ^\n  \
                 = one of allow, confirm, deny";
    assert_eq!(error.to_string(), shown);
}

#[test]
fn keys_of_others_are_theirs() {
    let text = format!("profile = 'dev'\n{ASKS}");
    assert!(RuleSet::load(&[file(Tier::User, &text)]).is_err());
    assert!(RuleSet::load_beside(&[file(Tier::User, &text)], &["profile"]).is_ok());
}

#[test]
fn what_a_rule_says_of_itself_is_checked() {
    let rule = "[[rule]]\nid = 'r'\nverdict = 'deny'\nreason = 'x'\ncommand = ['zap push']\n";
    for (more, line, column, message) in [
        ("match = ['zap push x', 'zap pull']", 6, 24, "does not match `zap pull`"),
        (
            "not_match = ['zap pull', 'time env A=1 zap push']",
            6,
            26,
            "matches `time env A=1 zap push`",
        ),
        ("hint = 'try `zap push --gently`'", 6, 8, "its own suggestion `zap push --gently`"),
    ] {
        let error = RuleSet::load(&[file(Tier::User, &format!("{rule}{more}"))]).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
    let fine = "match = ['sh -c \"zap push\"', 'echo $(zap push)', 'xargs zap push']\n\
                not_match = ['echo zap push', 'grep \"zap push\" x']\nhint = 'try `zap pull`'";
    assert!(RuleSet::load(&[file(Tier::User, &format!("{rule}{fine}"))]).is_ok());
}

#[test]
fn the_default_rules_cost_nothing_until_they_match() {
    let (reading, input) = (reading("zap x"), Input::Inherited);
    let subject = Subject::Command { reading: &reading, input: &input, builtin: false };
    let rules = RuleSet::default();
    assert!(rules.matching(&subject, Profile::Dev).is_empty());
    assert!(rules.all.get().is_none());
}

/// Any text gives rules or an error, never anything else.
#[test]
fn broken_files_are_errors() {
    let whole = format!("{ASKS}match = ['zap {{a,b}}']\nhint = '`zip`'\n[list]\nx = ['y']\n");
    for end in 0..whole.len() {
        let _ =
            RuleSet::load(&[file(Tier::Project, &whole[..end])]).map_err(|error| error.to_string());
    }
    for text in
        ["\u{0}", "[[rule]]\nid = '\u{1b}[2J'", "rule = [[[[]]]]", "[rule]\n[list]", "list = 1"]
    {
        let error = RuleSet::load(&[file(Tier::Project, text)]).unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
    let deep = format!("{ASKS}with = ['{}']", "{a,".repeat(5000));
    assert!(RuleSet::load(&[file(Tier::Project, &deep)]).is_err());
    let wide = format!("{ASKS}with = ['{}']", "{a,b}".repeat(5000));
    assert!(RuleSet::load(&[file(Tier::Project, &wide)]).is_err());
}
