//! Patterns and regular expressions that are slow or huge in a careless matcher.

use crate::case::{Case, battery, case};

pub fn cases() -> Vec<Case> {
    let stars = "*a".repeat(50);
    vec![
        battery("patterns::stars", ["[[ $x == STARSb ]]", "case $x in STARSb) echo;; esac", ": ${x#STARSb} ${x##STARSb} ${x%bSTARS} ${x%%bSTARS}", ": ${x/STARSb/} ${x//STARSb/}", "[ -e $x ]"]
            .iter()
            .map(|script| format!("x=$(printf '%5000s' | tr ' ' a); {}", script.replace("STARS", &stars)).into_bytes())
            .collect()),
        battery("patterns::extended", ["+(a|aa|aaa)b", "*(*(a))b", "+(+(+(a)))b", "@(a|a|a|a)*(a|aa)b", "!(*a*)b", "!(!(!(a)))", "*(a|b|ab|ba)*(a|b|ab|ba)c", "?(a)?(a)?(a)?(a)?(a)?(a)?(a)?(a)aaaaaaaab", "*(?(?(?(a))))b", "+(*)b", "!(a)!(a)!(a)!(a)b"]
            .iter()
            .map(|pattern| format!("shopt -s extglob; x=$(printf '%500s' | tr ' ' a)\n[[ $x == {pattern} ]]; case $x in {pattern}) ;; esac; : ${{x//{pattern}/}} ${{x##{pattern}}}; echo {pattern}").into_bytes())
            .collect()),
        battery("patterns::brackets", ["[", "[]", "[!]", "[^]", "[]-a]", "[a-", "[z-a]", "[[:alpha:]", "[[:nosuch:]]", "[[.a.]]", "[[=a=]]", "[[.nosuch.]]", "[a-[:alpha:]]", "[\\", "[\\]]", "[--0]", "[!!]", "[^^]", "[/]", "[a/b]", "[\u{e9}-\u{fc}]", "[\u{1f600}]"]
            .iter()
            .map(|pattern| format!("x=a; [[ a == {pattern} ]]; case $x in {pattern}) ;; esac; echo {pattern}; : ${{x//{pattern}/}}; find . -name '{pattern}'; ls -d '{pattern}'").into_bytes())
            .collect()),
        case("patterns::a bracket of a megabyte", format!("case b in [{}]) ;; esac; [[ b == [{}] ]]", "a".repeat(1 << 20), "a-z".repeat(300_000))).memory(400),
        battery("patterns::regular expressions", ["(a*)*b", "(a+)+$b", "(a|aa)+b", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)(.*)b", "((((((a*)*)*)*)*)*)*b", "(a?){50}a{50}b", "a*a*a*a*a*a*a*a*a*a*b", "(^a*)*b", "(a*)*(a*)*(a*)*c", "([a-z]+)*[0-9]"]
            .iter()
            .flat_map(|regex| [
                format!("x=$(printf '%2000s' | tr ' ' a); [[ $x =~ {regex} ]]").into_bytes(),
                format!("x=$(printf '%2000s' | tr ' ' a); grep -E '{regex}' <<< $x").into_bytes(),
                format!("x=$(printf '%2000s' | tr ' ' a); grep -oE '{regex}' <<< $x").into_bytes(),
                format!("find . -regextype posix-extended -regex '{regex}'").into_bytes(),
            ])
            .collect()).memory(400),
        battery("patterns::back-references", ["\\(a*\\)*\\1b", "\\(a*\\)\\(a*\\)\\1\\2b", "\\(.*\\)\\1\\1\\1b", "\\(a\\|aa\\)*\\1b", "\\(.\\)\\(.\\)\\(.\\)\\3\\2\\1b"]
            .iter()
            .map(|regex| format!("x=$(printf '%300s' | tr ' ' a); grep '{regex}' <<< $x; grep -c '{regex}' <<< ${{x}}b").into_bytes())
            .collect()).may_meet_limit().memory(400),
        battery("patterns::large repetitions", ["a{1,1000}", "a{1000}{1000}", "(a{1,100}){1,100}{1,100}", "a{32767}", "a{65536}", "a{99999999999}", "a{2,1}", "a{,5}", "a{5,}", "((a{1,255}){1,255}){1,255}", ".{1,30000}.{1,30000}", "(|a){1000}"]
            .iter()
            .flat_map(|regex| [
                format!("[[ aaaa =~ {regex} ]]").into_bytes(),
                format!("grep -E '{regex}' <<< aaaa").into_bytes(),
                format!("find . -regextype posix-extended -regex '{regex}'").into_bytes(),
            ])
            .collect()).memory(700),
        battery("patterns::broken regular expressions", ["(", ")", "[", "[[:", "a{", "a{1", "a{1,", "*", "+", "?", "\\", "a**", "(*a)", "[z-a]", "\\(", "\\)", "^*", "$", "a|", "|", "()", "\\1", "(?=a)", "\\p{L}", "[[:nosuch:]]", "\\x{110000}", "\\u", "(?i)a", "(?P<n>a)", "a{-1}"]
            .iter()
            .flat_map(|regex| [
                format!("r='{regex}'; [[ a =~ $r ]]").into_bytes(),
                format!("grep -E -- '{regex}' <<< a; grep -- '{regex}' <<< a; grep -F -- '{regex}' <<< a; grep -P -- '{regex}' <<< a").into_bytes(),
                format!("find . -regex '{regex}'; ls | grep -w -- '{regex}'; grep -x -- '{regex}' <<< a").into_bytes(),
            ])
            .collect()),
        case("patterns::parentheses ten thousand deep", "r=$(printf '%10000s' | tr ' ' '(')a$(printf '%10000s' | tr ' ' ')'); [[ a =~ $r ]]; grep -E \"$r\" <<< a; find . -regextype posix-extended -regex \"$r\"").may_meet_limit().memory(400),
        case("patterns::alternatives by the ten thousand", "r=$(seq -s '|' 1 20000); [[ 20000 =~ ^($r)$ ]] && echo yes; grep -E \"^($r)$\" <<< 20000; seq 1 20000 > f; grep -f f -x <<< 20000; grep -F -f f -c f").memory(500),
        case("patterns::a pattern of a megabyte", "x=$(printf '%1000000s' | tr ' ' a); [[ $x == $x ]] && echo same; case $x in $x) echo same;; esac; y=${x:0:5000}; grep -F \"$y\" <<< \"$y\" | wc -c").stdout("same\nsame\n5001\n").memory(400),
        case("patterns::names against stars", format!("touch $(printf '%200s' | tr ' ' a); shopt -s nullglob; echo {stars}b {stars}*b*; find . -name '{stars}b'; ls | grep -c a; shopt -s extglob\necho +(a|aa)b *(*(a))b")).status(0),
        case("patterns::globs of many directories", "mkdir -p {a,b,c,d,e,f}/{a,b,c,d,e,f}/{a,b,c,d,e,f}; shopt -s globstar; echo **/**/**/** | wc -w; echo */*/*/../../../*/*/* | wc -w").may_meet_limit().memory(400),
        battery("patterns::braces", ["{1..9999999999}", "{9223372036854775800..9223372036854775807}", "{-9223372036854775808..9223372036854775807}", "{1..10..9223372036854775807}", "{1..9223372036854775807..9223372036854775806}", "{1..10..-9223372036854775808}", "{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}", "{{1..1000},{1..1000}}{{1..1000},{1..1000}}", "{0000000000000000000000000000001..2}", "{1..99999999999999999999}", "{a..\u{e9}}", "{,,,,,,,,}{,,,,,,,,}{,,,,,,,,}{,,,,,,,,}{,,,,,,,,}{,,,,,,,,}{,,,,,,,,}x", "{1..5..0}", "{z..a..100000}", "{1..1000000}"]
            .iter()
            .map(|braces| format!("echo {braces}").into_bytes())
            .collect()).may_meet_limit().memory(400),
        case("patterns::sorting with many keys", format!("seq 1 1000 | sort {} | wc -l", "-k1,1 ".repeat(5000))).status(0),
    ]
}
