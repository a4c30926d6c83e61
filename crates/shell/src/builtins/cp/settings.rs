//! What the options of `cp` ask for.

use bstr::{BStr, ByteSlice};

use super::super::operations::backup::Backup;
use super::super::operations::choice::choose;
use super::super::operations::copy::{
    Dereference, Make, Options, Overwrite, Preserve, Sparse, Update,
};
use super::super::operations::misuse;
use super::super::{Context, ToolError};
use crate::arguments::{Arguments, GivenOption};

pub(super) fn options(context: &Context<'_>, arguments: &Arguments) -> Result<Options, ToolError> {
    let mut options = Options { backup: Backup::of(context, arguments)?, ..Options::default() };
    let mut dereference = None;
    for option in &arguments.options {
        apply(context, &mut options, &mut dereference, option)?;
    }
    // Links inside a tree stay links unless the user says otherwise.
    options.dereference =
        dereference.unwrap_or(if options.recursive && options.make != Make::HardLink {
            Dereference::Never
        } else {
            Dereference::Always
        });
    if arguments.has("l") && arguments.has("s") {
        return Err(misuse(context, "cannot make both hard and symbolic links"));
    }
    if options.backup.is_some() && options.overwrite == Overwrite::Never {
        let message = "options --backup and --no-clobber are mutually exclusive";
        return Err(misuse(context, message));
    }
    Ok(options)
}

fn apply(
    context: &Context<'_>,
    options: &mut Options,
    dereference: &mut Option<Dereference>,
    option: &GivenOption,
) -> Result<(), ToolError> {
    let value = option.value.as_ref().map(|value| value.as_bstr());
    match option.id {
        "a" => {
            *dereference = Some(Dereference::Never);
            options.preserve = everything(options.preserve);
            options.recursive = true;
        }
        "d" => {
            *dereference = Some(Dereference::Never);
            options.preserve.links = true;
        }
        "p" => preserve_usual(&mut options.preserve),
        "preserve" => preserve(context, &mut options.preserve, value, true)?,
        "no-preserve" => preserve(context, &mut options.preserve, value, false)?,
        "r" => options.recursive = true,
        "H" => *dereference = Some(Dereference::CommandLine),
        "L" => *dereference = Some(Dereference::Always),
        "P" => *dereference = Some(Dereference::Never),
        "f" => options.force = true,
        "i" => options.overwrite = Overwrite::Ask,
        "n" => options.overwrite = Overwrite::Never,
        "u" => options.update = Update::Older,
        "l" => options.make = Make::HardLink,
        "s" => options.make = Make::SymbolicLink,
        "v" => options.verbose = true,
        "x" => options.one_file_system = true,
        "attributes-only" => options.attributes_only = true,
        "remove-destination" => options.remove_destination = true,
        "sparse" => options.sparse = sparse(context, value)?,
        "reflink" => check_reflink(context, value)?,
        _ => {}
    }
    Ok(())
}

fn sparse(context: &Context<'_>, value: Option<&BStr>) -> Result<Sparse, ToolError> {
    let rows: [&[&str]; 3] = [&["never"], &["auto"], &["always"]];
    Ok(match choose(context, "--sparse", value.unwrap_or_default(), &rows)? {
        0 => Sparse::Never,
        1 => Sparse::Auto,
        _ => Sparse::Always,
    })
}

/// Sharing data is an optimisation that nobody can see; only the demand for it cannot be met.
fn check_reflink(context: &Context<'_>, value: Option<&BStr>) -> Result<(), ToolError> {
    let rows: [&[&str]; 3] = [&["auto"], &["always"], &["never"]];
    let row = value.map(|value| choose(context, "--reflink", value, &rows)).transpose()?;
    match row {
        Some(0 | 2) => Ok(()),
        _ => Err(ToolError::Unsupported("--reflink=always".to_owned())),
    }
}

fn everything(before: Preserve) -> Preserve {
    Preserve { mode: true, ownership: true, timestamps: true, links: true, ..before }
}

fn preserve_usual(preserve: &mut Preserve) {
    (preserve.mode, preserve.ownership, preserve.timestamps) = (true, true, true);
}

const ATTRIBUTES: [&[&str]; 7] =
    [&["mode"], &["timestamps"], &["ownership"], &["links"], &["context"], &["xattr"], &["all"]];

fn preserve(
    context: &Context<'_>,
    preserve: &mut Preserve,
    list: Option<&BStr>,
    keep: bool,
) -> Result<(), ToolError> {
    let Some(list) = list else {
        preserve_usual(preserve);
        return Ok(());
    };
    let option = if keep { "--preserve" } else { "--no-preserve" };
    for name in list.split(|byte| *byte == b',') {
        match choose(context, option, name.as_bstr(), &ATTRIBUTES)? {
            0 => {
                preserve.mode = keep;
                preserve.default_mode = !keep;
            }
            1 => preserve.timestamps = keep,
            2 => preserve.ownership = keep,
            3 => preserve.links = keep,
            // There are no such attributes here: not to keep them is easy.
            4 | 5 if !keep => {}
            4 => return Err(ToolError::Unsupported("--preserve=context".to_owned())),
            5 => return Err(ToolError::Unsupported("--preserve=xattr".to_owned())),
            _ if keep => *preserve = everything(*preserve),
            _ => *preserve = Preserve { default_mode: true, ..Preserve::default() },
        }
    }
    Ok(())
}
