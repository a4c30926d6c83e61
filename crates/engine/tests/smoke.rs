use bstr::BStr;
use exacta::filesystem::{Confined, Places};
use exacta_shell::filesystem::*;

fn b(s: &str) -> &BStr {
    BStr::new(s)
}

#[test]
fn smoke() {
    for avoid in [false, true] {
        let dir = std::env::temp_dir().join(format!("exacta-smoke-{}-{avoid}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut places = Places::in_project(&dir);
        places.avoid_openat2 = avoid;
        let fs = Confined::open(&places).unwrap();
        let root = fs.root().to_string();
        let p = |s: &str| bstr::BString::from(format!("{root}/{s}"));
        let write = |name: &str, text: &str| {
            let f = fs.open(p(name).as_ref(), OpenOptions::writing(0o644)).unwrap();
            f.write_all(text.as_bytes()).unwrap();
            f.finish().unwrap();
        };
        let read = |path: &BStr| {
            let f = fs.open(path, OpenOptions::reading())?;
            let mut v = vec![];
            f.read_to_end(&mut v)?;
            Ok::<_, std::io::Error>(String::from_utf8(v).unwrap())
        };
        write("a", "hello\n");
        write("a", "hi\n");
        assert_eq!(read(p("a").as_ref()).unwrap(), "hi\n");
        fs.create_directory(p("d/").as_ref(), 0o777).unwrap();
        assert_eq!(fs.metadata(p("d").as_ref(), Follow::Yes).unwrap().permissions, 0o777);
        fs.create_symlink(b("../a"), p("d/l").as_ref()).unwrap();
        fs.create_symlink(p("d").as_ref(), p("abs").as_ref()).unwrap();
        assert_eq!(read(p("d/l").as_ref()).unwrap(), "hi\n");
        assert_eq!(read(p("abs/l").as_ref()).unwrap(), "hi\n");
        assert_eq!(fs.canonicalize(p("abs/./l").as_ref(), MayMiss::Nothing).unwrap(), p("a"));
        assert_eq!(
            fs.canonicalize(p("abs/x/../y/z").as_ref(), MayMiss::Everything).unwrap(),
            p("d/y/z")
        );
        let f = fs.open(b("/tmp/x"), OpenOptions::writing(0o600)).unwrap();
        f.write_all(b"t").unwrap();
        assert_eq!(read(b("/tmp/x")).unwrap(), "t");
        for out in ["/etc/passwd", "/", "/dev", "/proc/self/root", "/tmp/..", "/tmp/../etc"] {
            assert_eq!(
                fs.metadata(b(out), Follow::Yes).unwrap_err().raw_os_error(),
                Some(2),
                "{out}"
            );
        }
        assert_eq!(
            fs.metadata(p("../x").as_ref(), Follow::Yes).unwrap_err().raw_os_error(),
            Some(2)
        );
        assert_eq!(
            fs.metadata(p(".clada").as_ref(), Follow::Yes).unwrap_err().raw_os_error(),
            Some(2)
        );
        let d = fs.open_directory(p("").as_ref(), Follow::Yes).unwrap();
        let mut names: Vec<_> =
            d.entries().unwrap().into_iter().map(|e| e.name.to_string()).collect();
        names.sort();
        assert_eq!(names, ["a", "abs", "d"]);
        fs.trash(p("d").as_ref()).unwrap();
        assert_eq!(d.entries().unwrap().len(), 3);
        assert_eq!(fs.trash(p(".trash").as_ref()).unwrap_err().raw_os_error(), Some(1));
        assert_eq!(fs.trash(p("").as_ref()).unwrap_err().raw_os_error(), Some(16));
        fs.set_mode(p("a").as_ref(), 0o600, Follow::Yes).unwrap();
        fs.rename(p("a").as_ref(), b("/tmp/a2"), true).unwrap();
        fs.trash(b("/tmp/a2")).unwrap();
        assert_eq!(read(b("/tmp/a2")).unwrap_err().raw_os_error(), Some(2));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
