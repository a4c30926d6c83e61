//! The switches of `set -o` and `shopt`: their fields, and the two tables by which scripts name them.

/// Both families in one struct: the interpreter asks a field, `set` and `shopt` go through the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    // set -o
    pub allexport: bool,
    pub braceexpand: bool,
    pub emacs: bool,
    pub errexit: bool,
    pub errtrace: bool,
    pub functrace: bool,
    pub hashall: bool,
    pub histexpand: bool,
    pub history: bool,
    pub ignoreeof: bool,
    pub keyword: bool,
    pub monitor: bool,
    pub noclobber: bool,
    pub noexec: bool,
    pub noglob: bool,
    pub nolog: bool,
    pub notify: bool,
    pub nounset: bool,
    pub onecmd: bool,
    pub physical: bool,
    pub pipefail: bool,
    pub posix: bool,
    pub privileged: bool,
    pub verbose: bool,
    pub vi: bool,
    pub xtrace: bool,
    /// `-i`: errors do not leave the shell.
    pub interactive: bool,
    /// `-c`: shown in `$-`.
    pub command_string: bool,
    /// `-s`
    pub from_stdin: bool,
    pub login_shell: bool,
    // shopt
    pub assoc_expand_once: bool,
    pub autocd: bool,
    pub cdable_vars: bool,
    pub cdspell: bool,
    pub checkhash: bool,
    pub checkjobs: bool,
    pub checkwinsize: bool,
    pub cmdhist: bool,
    pub compat31: bool,
    pub compat32: bool,
    pub compat40: bool,
    pub compat41: bool,
    pub compat42: bool,
    pub compat43: bool,
    pub compat44: bool,
    pub complete_fullquote: bool,
    pub direxpand: bool,
    pub dirspell: bool,
    pub dotglob: bool,
    pub execfail: bool,
    pub expand_aliases: bool,
    pub extdebug: bool,
    pub extglob: bool,
    pub extquote: bool,
    pub failglob: bool,
    pub force_fignore: bool,
    pub globasciiranges: bool,
    pub globskipdots: bool,
    pub globstar: bool,
    pub gnu_errfmt: bool,
    pub histappend: bool,
    pub histreedit: bool,
    pub histverify: bool,
    pub hostcomplete: bool,
    pub huponexit: bool,
    pub inherit_errexit: bool,
    pub interactive_comments: bool,
    pub lastpipe: bool,
    pub lithist: bool,
    pub localvar_inherit: bool,
    pub localvar_unset: bool,
    pub mailwarn: bool,
    pub no_empty_cmd_completion: bool,
    pub nocaseglob: bool,
    pub nocasematch: bool,
    pub noexpand_translation: bool,
    pub nullglob: bool,
    pub patsub_replacement: bool,
    pub progcomp: bool,
    pub progcomp_alias: bool,
    pub promptvars: bool,
    pub restricted_shell: bool,
    pub shift_verbose: bool,
    pub sourcepath: bool,
    pub varredir_close: bool,
    pub xpg_echo: bool,
}

/// A switch by name. `letter` is that of `set -e`; 0: none.
pub struct Switch {
    pub name: &'static str,
    pub letter: u8,
    pub get: fn(&Options) -> bool,
    pub set: fn(&mut Options, bool),
}

macro_rules! switch {
    ($name:literal, $letter:literal, $field:ident) => {
        Switch {
            name: $name,
            letter: $letter,
            get: |options| options.$field,
            set: |options, on| options.$field = on,
        }
    };
    ($field:ident) => {
        Switch {
            name: stringify!($field),
            letter: 0,
            get: |options| options.$field,
            set: |options, on| options.$field = on,
        }
    };
}

/// In the order of `set -o`.
pub static SET_SWITCHES: [Switch; 27] = [
    switch!("allexport", b'a', allexport),
    switch!("braceexpand", b'B', braceexpand),
    switch!("emacs", 0, emacs),
    switch!("errexit", b'e', errexit),
    switch!("errtrace", b'E', errtrace),
    switch!("functrace", b'T', functrace),
    switch!("hashall", b'h', hashall),
    switch!("histexpand", b'H', histexpand),
    switch!("history", 0, history),
    switch!("ignoreeof", 0, ignoreeof),
    switch!("interactive-comments", 0, interactive_comments),
    switch!("keyword", b'k', keyword),
    switch!("monitor", b'm', monitor),
    switch!("noclobber", b'C', noclobber),
    switch!("noexec", b'n', noexec),
    switch!("noglob", b'f', noglob),
    switch!("nolog", 0, nolog),
    switch!("notify", b'b', notify),
    switch!("nounset", b'u', nounset),
    switch!("onecmd", b't', onecmd),
    switch!("physical", b'P', physical),
    switch!("pipefail", 0, pipefail),
    switch!("posix", 0, posix),
    switch!("privileged", b'p', privileged),
    switch!("verbose", b'v', verbose),
    switch!("vi", 0, vi),
    switch!("xtrace", b'x', xtrace),
];

/// In the order of `shopt`.
pub static SHOPT_SWITCHES: [Switch; 57] = [
    switch!(autocd),
    switch!(assoc_expand_once),
    switch!(cdable_vars),
    switch!(cdspell),
    switch!(checkhash),
    switch!(checkjobs),
    switch!(checkwinsize),
    switch!(cmdhist),
    switch!(compat31),
    switch!(compat32),
    switch!(compat40),
    switch!(compat41),
    switch!(compat42),
    switch!(compat43),
    switch!(compat44),
    switch!(complete_fullquote),
    switch!(direxpand),
    switch!(dirspell),
    switch!(dotglob),
    switch!(execfail),
    switch!(expand_aliases),
    Switch {
        name: "extdebug",
        letter: 0,
        get: |options| options.extdebug,
        set: |options, on| {
            options.extdebug = on;
            options.functrace = on;
            options.errtrace = on;
        },
    },
    switch!(extglob),
    switch!(extquote),
    switch!(failglob),
    switch!(force_fignore),
    switch!(globasciiranges),
    switch!(globskipdots),
    switch!(globstar),
    switch!(gnu_errfmt),
    switch!(histappend),
    switch!(histreedit),
    switch!(histverify),
    switch!(hostcomplete),
    switch!(huponexit),
    switch!(inherit_errexit),
    switch!(interactive_comments),
    switch!(lastpipe),
    switch!(lithist),
    switch!(localvar_inherit),
    switch!(localvar_unset),
    switch!(login_shell),
    switch!(mailwarn),
    switch!(no_empty_cmd_completion),
    switch!(nocaseglob),
    switch!(nocasematch),
    switch!(noexpand_translation),
    switch!(nullglob),
    switch!(patsub_replacement),
    switch!(progcomp),
    switch!(progcomp_alias),
    switch!(promptvars),
    switch!(restricted_shell),
    switch!(shift_verbose),
    switch!(sourcepath),
    switch!(varredir_close),
    switch!(xpg_echo),
];

/// The letters of `$-` in bash's order.
const LETTERS: &[u8] = b"abefhkmnptuvxBCEHPT";

impl Default for Options {
    #[expect(clippy::too_many_lines, reason = "one line per switch of bash")]
    fn default() -> Self {
        Options {
            allexport: false,
            braceexpand: true,
            emacs: false,
            errexit: false,
            errtrace: false,
            functrace: false,
            hashall: true,
            histexpand: false,
            history: false,
            ignoreeof: false,
            keyword: false,
            monitor: false,
            noclobber: false,
            noexec: false,
            noglob: false,
            nolog: false,
            notify: false,
            nounset: false,
            onecmd: false,
            physical: false,
            pipefail: false,
            posix: false,
            privileged: false,
            verbose: false,
            vi: false,
            xtrace: false,
            interactive: false,
            command_string: false,
            from_stdin: false,
            login_shell: false,
            assoc_expand_once: false,
            autocd: false,
            cdable_vars: false,
            cdspell: false,
            checkhash: false,
            checkjobs: false,
            checkwinsize: true,
            cmdhist: true,
            compat31: false,
            compat32: false,
            compat40: false,
            compat41: false,
            compat42: false,
            compat43: false,
            compat44: false,
            complete_fullquote: true,
            direxpand: false,
            dirspell: false,
            dotglob: false,
            execfail: false,
            expand_aliases: false,
            extdebug: false,
            extglob: false,
            extquote: true,
            failglob: false,
            force_fignore: true,
            globasciiranges: true,
            globskipdots: true,
            globstar: false,
            gnu_errfmt: false,
            histappend: false,
            histreedit: false,
            histverify: false,
            hostcomplete: true,
            huponexit: false,
            inherit_errexit: false,
            interactive_comments: true,
            lastpipe: false,
            lithist: false,
            localvar_inherit: false,
            localvar_unset: false,
            mailwarn: false,
            no_empty_cmd_completion: false,
            nocaseglob: false,
            nocasematch: false,
            noexpand_translation: false,
            nullglob: false,
            patsub_replacement: true,
            progcomp: true,
            progcomp_alias: false,
            promptvars: true,
            restricted_shell: false,
            shift_verbose: false,
            sourcepath: true,
            varredir_close: false,
            xpg_echo: false,
        }
    }
}

impl Options {
    /// `$SHELLOPTS`
    pub fn shellopts(&self) -> String {
        self.enabled(&SET_SWITCHES)
    }

    /// `$BASHOPTS`
    pub fn bashopts(&self) -> String {
        self.enabled(&SHOPT_SWITCHES)
    }

    /// `$-`
    pub fn letters(&self) -> String {
        let mut letters = String::new();
        for &letter in LETTERS {
            let switch = SET_SWITCHES.iter().find(|switch| switch.letter == letter);
            if switch.is_some_and(|switch| (switch.get)(self)) {
                letters.push(char::from(letter));
            }
            if letter == b'h' && self.interactive {
                letters.push('i');
            }
        }
        if self.command_string {
            letters.push('c');
        }
        if self.from_stdin {
            letters.push('s');
        }
        letters
    }

    /// `set -o NAME`: on success the switch was known.
    pub fn set_named(&mut self, name: &[u8], on: bool) -> bool {
        match SET_SWITCHES.iter().find(|switch| switch.name.as_bytes() == name) {
            Some(switch) => {
                self.turn(switch, on);
                true
            }
            None => false,
        }
    }

    /// `set -e`: on success the letter was known.
    pub fn set_letter(&mut self, letter: u8, on: bool) -> bool {
        match SET_SWITCHES.iter().find(|switch| switch.letter == letter && letter != 0) {
            Some(switch) => {
                self.turn(switch, on);
                true
            }
            None => false,
        }
    }

    /// `emacs` and `vi` exclude each other; everything else is on its own.
    fn turn(&mut self, switch: &Switch, on: bool) {
        (switch.set)(self, on);
        if on && switch.name == "vi" {
            self.emacs = false;
        } else if on && switch.name == "emacs" {
            self.vi = false;
        }
    }

    fn enabled(&self, switches: &[Switch]) -> String {
        let mut names = String::new();
        for switch in switches.iter().filter(|switch| (switch.get)(self)) {
            if !names.is_empty() {
                names.push(':');
            }
            names.push_str(switch.name);
        }
        names
    }
}
