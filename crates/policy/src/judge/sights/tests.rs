//! What is seen in files that tools load, and what is not.

use super::*;

fn seen(text: &str, loaded: Loaded) -> Option<&'static str> {
    harm(text.into(), loaded)
}

#[test]
fn what_comes_together() {
    for text in [
        "fs.readFileSync(os.homedir() + '/.ssh/id_rsa')",
        "Dir.glob(File.expand_path('~/.gnupg/*'))",
        "new File(System.getProperty(\"user.home\"), \".bashrc\").append(x)",
        "shutil.rmtree(os.path.expanduser('~'))",
        "sock = socket.socket(); sock.sendall(open('.env').read())",
        "eval(Buffer.from(x, 'base64') + '')",
        "exec(urlopen(u).read())",
        "open(\"/etc/cron.d/x\", \"w\")",
    ] {
        assert!(seen(text, Loaded::AtOnce).is_some(), "{text}");
    }
}

#[test]
fn what_a_project_does_all_day() {
    for text in [
        "const users = await fetch('https://api.example.com/users')",
        "process.env.HOME = mkdtempSync(join(tmpdir(), 'home-')); rmSync(process.cwd() + '/x')",
        "const match = /a+/.exec(line); const raw = Buffer.from(token, 'base64')",
        "import { user } from '~/store'; console.log(user.profile)",
        "monkeypatch.setenv(\"HOME\", str(tmp_path)); shutil.rmtree(tmp_path)",
        "load_dotenv('.env'); requests.get(URL)",
    ] {
        assert_eq!(seen(text, Loaded::WithProgram), None, "{text}");
    }
    for text in [
        "export default { server: { proxy: { '/api': 'http://localhost:3000' } } }",
        "maven { url = uri(\"https://jitpack.io\") }",
        "AsyncClient(transport=ASGITransport(app=app), base_url=\"http://test\")",
    ] {
        assert_eq!(seen(text, Loaded::AtOnce), None, "{text}");
    }
}
