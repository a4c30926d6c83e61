//! Where there is no view, a program is started with the host's own paths in place of the jail's.

use bstr::{BStr, BString, ByteSlice};

use crate::plan::Program;

/// The program with its path, directory and variables as they are on the host. What its words mean only it knows: they
/// stay as they are.
pub fn relocated(program: &Program, moved: &[(BString, BString)]) -> Program {
    let variables = program.environment.iter().map(|(name, value)| {
        let parts: Vec<BString> =
            value.split_str(":").map(|part| path(part.as_bstr(), moved)).collect();
        (name.clone(), BString::from(bstr::join(":", parts)))
    });
    Program {
        path: path(program.path.as_bstr(), moved),
        directory: path(program.directory.as_bstr(), moved),
        environment: variables.collect(),
        ..program.clone()
    }
}

pub fn path(text: &BStr, moved: &[(BString, BString)]) -> BString {
    let found = moved.iter().find_map(|(inside, outside)| {
        let rest = text.strip_prefix(inside.as_slice())?;
        let whole = rest.is_empty() || rest.starts_with(b"/");
        whole.then(|| BString::from([outside.as_slice(), rest].concat()))
    });
    found.unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_are_moved() {
        let moved = [
            ("/home/agent/x".into(), "/else".into()),
            ("/home/agent".into(), "/project/.clada/home".into()),
            ("/tmp/here".into(), "/tmp/here".into()),
            ("/tmp".into(), "/project/.clada/tmp".into()),
        ];
        for (inside, outside) in [
            ("/tmp", "/project/.clada/tmp"),
            ("/tmp/a/b", "/project/.clada/tmp/a/b"),
            ("/tmp/here/a", "/tmp/here/a"),
            ("/tmpfile", "/tmpfile"),
            ("/home/agent/x/y", "/else/y"),
            ("/home/agent/xy", "/project/.clada/home/xy"),
            ("tmp", "tmp"),
        ] {
            assert_eq!(path(inside.into(), &moved), outside);
        }
        let program = Program {
            path: "/tmp/p".into(),
            argv: vec!["/tmp/p".into()],
            environment: vec![("PATH".into(), "/usr/bin:/tmp:/home/agent/bin".into())],
            directory: "/tmp".into(),
            file_mode_mask: 0,
        };
        let program = relocated(&program, &moved);
        assert_eq!(program.path, "/project/.clada/tmp/p");
        assert_eq!(program.argv, ["/tmp/p"]);
        let path = "/usr/bin:/project/.clada/tmp:/project/.clada/home/bin";
        assert_eq!(program.environment, [("PATH".into(), path.into())]);
    }
}
