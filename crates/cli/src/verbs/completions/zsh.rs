//! For zsh: what `_arguments` and `_describe` want to know.

use std::fmt::Write as _;

use super::{Offered, global_options, options, quoted};
use crate::invocation::definition::{Operands, VERBS, Value};

const HEAD: &str = r#"#compdef exacta
# Completion of exacta for zsh: put it as _exacta into a directory of $fpath, or: source <(exacta completions zsh)

_exacta_ids() {
    local id state command what=$1
    local -a found
    shift
    local -a ask=($_exacta_binary)
    [[ -n ${opt_args[--root]} ]] && ask+=(--root ${opt_args[--root]})
    while IFS=$'\t' read -r id state command; do
        (( $# == 0 )) || [[ " $* " == *" $state "* ]] || continue
        found+=("$id:${command//:/\\:}")
    done < <($ask ${=what} --ids 2>/dev/null)
    _describe -V 'id' found
}

_exacta_tasks() {
    case $words[2] in
@TASKS@    esac
}

_exacta() {
    local context state line curcontext=$curcontext _exacta_binary=${words[1]:-exacta}
    typeset -A opt_args
"#;

const TAIL: &str = r#"}

if [[ $funcstack[1] == _exacta ]]; then
    _exacta "$@"
else
    compdef _exacta exacta
fi
"#;

pub(super) fn script() -> String {
    let mut tasks = String::new();
    for (word, states) in VERBS.iter().flat_map(|verb| verb.of_tasks) {
        let states = states.join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(tasks, "    {word}) _exacta_ids 'task list' {states} ;;");
    }
    let mut text = HEAD.replace("@TASKS@", &tasks);
    let _ = writeln!(text, "    local -a verbs=(");
    for verb in VERBS {
        let _ = writeln!(text, "        {}", quoted(&format!("{}:{}", verb.name, verb.about)));
    }
    let _ = writeln!(text, "    )\n    _arguments -C \\");
    write_options(&mut text, &global_options());
    let _ = writeln!(text, "        '1: :->verb' '*::argument:->rest' && return 0");
    let _ = writeln!(text, "    case $state in");
    let _ = writeln!(text, "    verb) _describe 'verb' verbs || _files ;;");
    let _ = writeln!(text, "    rest)\n        case $words[1] in");
    for verb in VERBS {
        let _ = writeln!(text, "        {}) _arguments \\", verb.name);
        write_options(&mut text, &options(verb));
        write_options(&mut text, &global_options());
        let operands = match verb.operands {
            Operands::Nothing => String::new(),
            Operands::Command => quoted("*::command:_normal"),
            Operands::Words(words) => {
                let words: Vec<String> =
                    words.iter().map(|(word, about)| format!("{word}\\:\"{about}\"")).collect();
                let tasks = if verb.of_tasks.is_empty() { "" } else { " '2:task:_exacta_tasks'" };
                quoted(&format!("1:what:(({}))", words.join(" "))) + tasks
            }
            Operands::Verb => quoted("1:verb:{_describe verb verbs}"),
            Operands::Record(states) => {
                quoted(&format!("1:record:{{_exacta_ids log {}}}", states.join(" ")))
            }
        };
        let _ = writeln!(text, "            {operands} ;;");
    }
    let _ = writeln!(text, "        esac ;;\n    esac");
    text.push_str(TAIL);
    text
}

fn write_options(text: &mut String, options: &[Offered]) {
    for option in options {
        let about = option.about.replace(['[', ']'], "").replace(':', "\\:");
        let value = match option.value {
            None => String::new(),
            Some(Value::Directory) => ":directory:_directories".to_owned(),
            Some(Value::File) => ":file:_files".to_owned(),
            Some(Value::Text) => ":value: ".to_owned(),
            Some(Value::OneOf(words)) => format!(":value:({})", words.join(" ")),
        };
        let sign = if option.value.is_some() { "=" } else { "" };
        let offered = quoted(&format!("--{}{sign}[{about}]{value}", option.name));
        let _ = writeln!(text, "            {offered} \\");
    }
}
