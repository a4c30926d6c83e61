//! The switches of `set -o` and `shopt`.

/// Both families in one struct: the interpreter asks a field, `set` and `shopt` go through the tables of their files.
#[derive(Debug, Clone)]
pub struct Options {
    // set -o
    pub allexport: bool,
    pub braceexpand: bool,
    pub errexit: bool,
    pub errtrace: bool,
    pub functrace: bool,
    pub hashall: bool,
    pub ignoreeof: bool,
    pub monitor: bool,
    pub noclobber: bool,
    pub noexec: bool,
    pub noglob: bool,
    pub nounset: bool,
    pub physical: bool,
    pub pipefail: bool,
    pub posix: bool,
    pub privileged: bool,
    pub verbose: bool,
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
    pub checkwinsize: bool,
    pub dotglob: bool,
    pub expand_aliases: bool,
    pub extdebug: bool,
    pub extglob: bool,
    pub extquote: bool,
    pub failglob: bool,
    pub force_fignore: bool,
    pub globasciiranges: bool,
    pub globskipdots: bool,
    pub globstar: bool,
    pub inherit_errexit: bool,
    pub interactive_comments: bool,
    pub lastpipe: bool,
    pub localvar_inherit: bool,
    pub localvar_unset: bool,
    pub nocaseglob: bool,
    pub nocasematch: bool,
    pub nullglob: bool,
    pub patsub_replacement: bool,
    pub promptvars: bool,
    pub shift_verbose: bool,
    pub sourcepath: bool,
    pub xpg_echo: bool,
    /// Switches that bash has and that change nothing in a shell without terminal, mail or readline: kept so
    /// that `shopt` can show and set them. Sorted by name.
    pub inert: std::collections::BTreeMap<&'static str, bool>,
}
