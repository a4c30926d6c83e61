//! For bash: one function that looks for the verb and offers what may follow.

use std::fmt::Write as _;

use super::{Offered, global_options, options};
use crate::invocation::definition::{OfTask, Operands, VERBS, Value};

const FRAME: &str = r#"# Completion of exacta for bash: source <(exacta completions bash)
_exacta_ids() {
    # What this prints: ids of records or tasks in these states (all of them without any), with what they are where there
    # are several.
    local root=$1 what=$2 id state command
    local -a found=() shown=()
    shift 2
    while IFS=$'\t' read -r id state command; do
        [[ $id == "$cur"* ]] || continue
        [[ $# -eq 0 || " $* " == *" $state "* ]] || continue
        found+=("$id")
        shown+=("$id  ($command)")
    done < <("${COMP_WORDS[0]}" ${root:+--root "$root"} $what --ids 2>/dev/null)
    compopt -o nosort 2>/dev/null
    if ((${#found[@]} > 1)) && [[ ${COMP_TYPE:-9} != 37 ]]; then
        COMPREPLY=("${shown[@]}")
    else
        COMPREPLY=("${found[@]}")
    fi
}

_exacta_words() {
    local IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_exacta() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb= root= first= operands=0 index word
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $word in
            --root) root=${COMP_WORDS[index + 1]} ;;&
            @VALUED@) ((index++)) ;;
            -*) ;;
            *) if [[ -z $verb ]]; then verb=$word; else ((operands++)) || first=$word; fi ;;
        esac
    done
    case $verb:$previous in
@VALUES@    esac
    if [[ $cur == -* ]]; then
        case $verb in
@OPTIONS@        esac
        return
    fi
    case $verb in
        '') _exacta_words '@VERBS@'
            ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$cur")) ;;
@OPERANDS@    esac
}

complete -o bashdefault -o default -F _exacta exacta
"#;

pub(super) fn script() -> String {
    let mut valued: Vec<&str> = names(&global_options(), true);
    let (mut values, mut offered, mut operands) = (String::new(), String::new(), String::new());
    for one in global_options() {
        complete_value(&mut values, "*", &one);
    }
    // Writing to a String cannot fail.
    let global = dashed(&names_of_all(&global_options()));
    for verb in VERBS {
        let own = options(verb);
        for one in &own {
            complete_value(&mut values, verb.name, one);
        }
        valued.extend(names(&own, true));
        let own = dashed(&names_of_all(&own));
        let _ = writeln!(offered, "            {}) _exacta_words '{own} {global}' ;;", verb.name);
        let action = match verb.operands {
            Operands::Nothing => continue,
            Operands::Command => "compopt -o default".to_owned(),
            Operands::Words(words) => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                let tasks = behind(verb.of_tasks);
                format!("((operands)) || _exacta_words '{}'{tasks}", words.join(" "))
            }
            Operands::Verb => "((operands)) || _exacta_words '@VERBS@'".to_owned(),
            Operands::Record(states) => {
                format!("((operands)) || _exacta_ids \"$root\" log {}", states.join(" "))
            }
        };
        let _ = writeln!(operands, "        {}) {action} ;;", verb.name);
    }
    let _ = writeln!(offered, "            *) _exacta_words '{global}' ;;");
    valued.sort_unstable();
    valued.dedup();
    let valued: Vec<String> = valued.iter().map(|name| format!("--{name}")).collect();
    let verbs: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    FRAME
        .replace("@VALUED@", &valued.join(" | "))
        .replace("@VALUES@", &values)
        .replace("@OPTIONS@", &offered)
        .replace("@OPERANDS@", &operands)
        .replace("@VERBS@", &verbs.join(" "))
}

/// Ids of tasks behind some words.
fn behind(words: &[OfTask]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n            case $operands:$first in\n");
    for (word, states) in words {
        let states = states.join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "                1:{word}) _exacta_ids \"$root\" 'task list' {states} ;;"
        );
    }
    text.push_str("            esac");
    text
}

fn complete_value(text: &mut String, verb: &str, option: &Offered) {
    let action = match option.value {
        None => return,
        Some(Value::Directory) => "COMPREPLY=($(compgen -d -- \"$cur\"))".to_owned(),
        Some(Value::File) => "COMPREPLY=($(compgen -f -- \"$cur\"))".to_owned(),
        Some(Value::OneOf(words)) => format!("_exacta_words '{}'", words.join(" ")),
        Some(Value::Text) => ":".to_owned(),
    };
    let _ = writeln!(text, "        {verb}:--{}) {action}; return ;;", option.name);
}

fn names(options: &[Offered], with_value: bool) -> Vec<&'static str> {
    let wanted = options.iter().filter(|option| option.value.is_some() == with_value);
    wanted.map(|option| option.name).collect()
}

fn names_of_all(options: &[Offered]) -> Vec<&'static str> {
    options.iter().map(|option| option.name).collect()
}

fn dashed(names: &[&str]) -> String {
    let dashed: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
    dashed.join(" ")
}
