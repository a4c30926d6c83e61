//! What a command cannot see, and directories that it cannot be started in.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use exacta::primitives::{BashOptions, PrimitiveContext, PrimitiveError, bash};
use libtest_mimic::Trial;

use crate::scene::{Scene, unique};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("directories_outside_are_not_allowed", || Box::pin(not_allowed())),
        trial("directories_that_are_not_there_are_errors", || Box::pin(not_there())),
        trial("the_roots_of_s2_grant_nothing_of_the_machine", || Box::pin(bare_roots())),
        trial("a_relative_root_is_that_of_the_process", || Box::pin(relative())),
    ]
}

async fn in_directory(
    context: &PrimitiveContext,
    directory: &str,
) -> Result<String, PrimitiveError> {
    let options = BashOptions::new().working_dir(directory);
    Ok(bash(context, "pwd", Some(options)).await?.stdout)
}

async fn not_allowed() {
    let scene = Scene::new();
    let outside = scene.outside().to_str().expect("letters").to_owned();
    symlink("/etc", scene.project().join("link")).expect("a link");
    symlink("/no/such/place", scene.project().join("dangling")).expect("a link");
    let beside = format!("{outside}/project-beside");
    let cases = ["..", "/", "/etc", "a/../../..", &outside, &beside, "link", "dangling", "/root"];
    for directory in cases {
        let refused = in_directory(&scene.context, directory).await;
        let Err(PrimitiveError::PathNotAllowed { path }) = refused else {
            panic!("{directory}: {refused:?}")
        };
        assert_eq!(path, scene.project().join(directory), "{directory}");
    }
}

async fn not_there() {
    let scene = Scene::new();
    fs::write(scene.project().join("file"), "").expect("a file");
    symlink("/etc", scene.project().join("link")).expect("a link");
    let cases = [
        ("missing", ErrorKind::NotFound),
        ("missing/below", ErrorKind::NotFound),
        ("file", ErrorKind::NotADirectory),
        // What a link leads out to does not exist.
        ("link/ssl", ErrorKind::NotFound),
        (".clada", ErrorKind::NotFound),
    ];
    for (directory, expected) in cases {
        let failed = in_directory(&scene.context, directory).await;
        let Err(PrimitiveError::Io(error)) = failed else { panic!("{directory}: {failed:?}") };
        assert_eq!(error.kind(), expected, "{directory}");
    }
    let nowhere = PrimitiveContext::new(PathBuf::from("/no/such/project"));
    let failed = bash(&nowhere, "true", None).await;
    assert!(matches!(failed, Err(PrimitiveError::Io(_))), "{failed:?}");
}

async fn bare_roots() {
    let name = unique("exacta-s2-marker");
    let marker = std::env::temp_dir().join(&name);
    fs::write(&marker, "the machine's own").expect("a marker");
    let made = unique("made");
    for root in ["/", "/tmp"] {
        let mut context = PrimitiveContext::new(PathBuf::from(root));
        context.judgement = Some(exacta::gate::Judgement::none());
        let command = format!(
            "pwd; cat {marker} /etc/passwd; ls / /home; echo x > {made}; cat /tmp/{made}; \
             /usr/bin/cat {marker}; /usr/bin/sh -c 'echo y >> {made}; cat {made}; pwd; ls /root'; \
             rm {made}",
            marker = marker.display()
        );
        let result = bash(&context, &command, None).await.expect("a result");
        assert_eq!(result.stdout, "/tmp\nx\nx\ny\n/tmp\n", "{root}: {}", result.stderr);
        assert_eq!(
            result.stderr.matches("No such file or directory").count(),
            6,
            "{}",
            result.stderr
        );
        assert!(!Path::new("/tmp").join(&made).exists() && !Path::new("/").join(&made).exists());
    }
    assert!(!Path::new("/.clada").exists() && !Path::new("/tmp/.clada").exists());
    assert_eq!(fs::read_to_string(&marker).expect("the marker"), "the machine's own");
    fs::remove_file(marker).expect("the marker");
}

async fn relative() {
    let context = PrimitiveContext::new(PathBuf::from("."));
    let here = std::env::current_dir().expect("a directory");
    let result = bash(&context, "pwd; cat Cargo.toml | head -1", None).await.expect("a result");
    assert_eq!(result.stdout, format!("{}\n[package]\n", here.display()));
    let found = in_directory(&context, "tests").await.expect("a result");
    assert_eq!(found, format!("{}\n", here.join("tests").display()));
    assert!(in_directory(&context, "..").await.is_err());
}
