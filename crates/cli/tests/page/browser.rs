//! A real Chromium, driven by the protocol of its driver.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const ARGUMENTS: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-extensions",
    "--window-size=1280,900",
];

pub struct Browser {
    driver: Child,
    base: String,
}

impl Browser {
    /// Debian's packages `chromium` and `chromium-driver`; `./test` installs them.
    pub fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is needed: apt-get install chromium chromium-driver");
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.split("successfully on port ")
                .nth(1)?
                .trim_end_matches('.')
                .trim()
                .parse::<u16>()
                .ok()
        });
        let port = port.expect("it says its port");
        // It would wait if nobody read what it says.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser { driver, base: format!("http://127.0.0.1:{port}") };
        let options = json!({ "args": ARGUMENTS });
        let logging = json!({ "browser": "ALL" });
        let wanted = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": logging });
        let started =
            browser.send("/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        let id = started["sessionId"].as_str().expect("a session").to_owned();
        browser.base = format!("{}/session/{id}", browser.base);
        browser
    }

    fn send(&self, path: &str, body: &Value) -> Value {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.timeout_global(Some(Duration::from_secs(60))).build().new_agent();
        let request = agent.post(format!("{}{path}", self.base));
        let mut answer = request
            .header("content-type", "application/json")
            .send(body.to_string())
            .expect("the driver answers");
        let text = answer.body_mut().read_to_string().expect("a text");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert!(answer["value"]["error"].is_null(), "{path} {body}: {}", answer["value"]);
        answer["value"].clone()
    }

    pub fn open(&self, address: &str) {
        self.send("/url", &json!({ "url": address }));
    }

    /// The value of a script, which has `arguments`.
    pub fn script(&self, script: &str, arguments: &[Value]) -> Value {
        self.send("/execute/sync", &json!({ "script": script, "args": arguments }))
    }

    pub fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.script(&format!("return Boolean({expression})"), &[]) != true {
            let shown = || self.script("return document.body.innerText", &[]);
            assert!(begun.elapsed() < Duration::from_secs(20), "never: {expression}\n{}", shown());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn sees(&self, text: &str) {
        self.until(&format!("document.querySelector('#main').innerText.includes({})", json!(text)));
    }

    pub fn go(&self, hash: &str) {
        self.script("location.hash = arguments[0]", &[json!(hash)]);
        self.until("!document.querySelector('#main .loading')");
    }

    pub fn click(&self, label: &str, within: &str) {
        let find = "[...document.querySelectorAll(WITHIN + ' button')].find(it => it.textContent.trim() === LABEL && !it.hidden)";
        let find = find.replace("WITHIN", &json!(within).to_string());
        let find = find.replace("LABEL", &json!(label).to_string());
        self.until(&find);
        self.script(&format!("{find}.click()"), &[]);
    }

    /// As if typed, and then Enter.
    pub fn type_and_enter(&self, selector: &str, text: &str) {
        let found = self.send("/element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        let path = format!("/element/{}/value", id.expect("an element"));
        self.send(&path, &json!({ "text": format!("{text}\u{e007}") }));
    }

    /// The question that a dialog asks.
    pub fn confirm(&self) {
        self.until("document.querySelector('dialog[open] [data-confirm]')");
        self.script("document.querySelector('dialog [data-confirm]').click()", &[]);
    }

    /// What the browser itself has complained of, but that requests were refused.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.send("/se/log", &json!({ "type": "browser" }));
        let said = log.as_array().cloned().unwrap_or_default();
        let said = said.iter().filter_map(|entry| entry["message"].as_str().map(str::to_owned));
        said.filter(|text| !text.contains("the server responded with a status of")).collect()
    }

    /// Kept under `docs/` where the operator wants that: `EXACTA_SCREENSHOTS` names the folder.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("EXACTA_SCREENSHOTS") else { return };
        let shot = self
            .send("/goog/cdp/execute", &json!({ "cmd": "Page.captureScreenshot", "params": {} }));
        let text = shot["data"].as_str().expect("a picture");
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(path, decoded(text)).expect("written");
    }

    pub fn look(&self, width: u32, dark: bool) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.send(
            "/goog/cdp/execute",
            &json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": size }),
        );
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.send(
            "/goog/cdp/execute",
            &json!({ "cmd": "Emulation.setEmulatedMedia", "params": media }),
        );
    }
}

/// Base64, as the driver sends pictures.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').collect();
    let mut bytes = Vec::new();
    for four in letters.chunks(4) {
        let bits =
            four.iter().fold(0, |bits, byte| bits << 6 | value(*byte)) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, and the driver after it.
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let _it_may_be_gone = config.new_agent().delete(&self.base).call();
        let _it_may_have_ended = self.driver.kill();
        let _ = self.driver.wait();
    }
}
