//! The tokens that show by themselves what they are: how each begins and what follows, from what their issuers
//! document or print. Adding a kind is adding a line here and an example in `tests/redaction/secrets.txt`.
//!
//! What shows itself only by the name it is given to (`DATADOG_API_KEY=…`) is in `names.rs`.

use super::shape::Part::{self, Either, Maybe, Run, Text};
use super::shape::{
    ALNUM, ANY_HEX, BASE, BASE_PADDED, DIGIT, EQUALS, HEX, LOWNUM, PERCENT, POINT, SAFE, Set,
    TILDE, UPNUM, UUID, WORD,
};

#[derive(Debug)]
pub struct Token {
    pub kind: &'static str,
    /// How it begins; what is looked for.
    pub begins: &'static [&'static str],
    /// What follows.
    pub then: &'static [Part],
    /// What stands before the beginning and belongs to it: so many of these at least and at most.
    pub before: Option<(Set, u16, u16)>,
    pub check: Check,
    pub cover: Cover,
}

/// What a text of the right shape must be beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// No placeholder.
    Real,
    /// With at least one digit: words have the same shape.
    Digit,
    /// With digits, and letters of both cases.
    Mixed,
    /// As long as it has the shape.
    Nothing,
}

/// How much of it is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    All,
    /// What follows the beginning: that is a host, or a name.
    Rest,
}

const fn token(
    kind: &'static str,
    begins: &'static [&'static str],
    then: &'static [Part],
) -> Token {
    Token { kind, begins, then, before: None, check: Check::Real, cover: Cover::All }
}

/// The beginning is an address or a name that stays readable.
const fn after(
    kind: &'static str,
    begins: &'static [&'static str],
    then: &'static [Part],
) -> Token {
    Token { cover: Cover::Rest, ..token(kind, begins, then) }
}

const fn digit(
    kind: &'static str,
    begins: &'static [&'static str],
    then: &'static [Part],
) -> Token {
    Token { check: Check::Digit, ..token(kind, begins, then) }
}

const fn mixed(
    kind: &'static str,
    begins: &'static [&'static str],
    then: &'static [Part],
) -> Token {
    Token { check: Check::Mixed, ..token(kind, begins, then) }
}

/// No upper limit worth naming.
const MANY: u16 = 4096;

/// Begins with the number of an account in Base64: with two decimal digits, in all their combinations.
pub const NUMBERED: Token = mixed(
    "discord-token",
    &[],
    &[Run(SAFE, 20, 25), Text("."), Run(SAFE, 6, 7), Text("."), Run(SAFE, 27, 45)],
);

/// Seeds of users, accounts, operators and curves: Base32, whose first letters follow from what they are for.
pub const NKEY: Token = digit("nats-seed", &[], &[Run(UPNUM, 54, 54)]);

pub const TOKENS: &[Token] = &[
    // Clouds and hosting.
    token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], &[Run(UPNUM, 16, 16)]),
    token(
        "aws-session-token",
        &["FwoGZXIvYXdz", "IQoJb3JpZ2lu", "FQoGZXIvYXdz"],
        &[Run(BASE_PADDED | PERCENT, 80, MANY)],
    ),
    token(
        "aws-bedrock-key",
        &["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-"],
        &[Run(BASE_PADDED, 40, MANY)],
    ),
    token("aws-marketplace-token", &["amzn.mws."], &[Run(UUID, 36, 36)]),
    token(
        "password-hash",
        &["$2a$", "$2b$", "$2y$"],
        &[Run(DIGIT, 2, 2), Text("$"), Run(BASE | POINT, 53, 53)],
    ),
    token(
        "password-hash",
        &["$6$"],
        &[Run(BASE | POINT, 4, 16), Text("$"), Run(BASE | POINT, 86, 86)],
    ),
    token(
        "password-hash",
        &["$5$"],
        &[Run(BASE | POINT, 4, 16), Text("$"), Run(BASE | POINT, 43, 43)],
    ),
    token(
        "password-hash",
        &["$argon2id$v=", "$argon2i$v=", "$argon2d$v="],
        &[
            Run(DIGIT, 2, 2),
            Text("$m="),
            Run(DIGIT, 1, 10),
            Text(",t="),
            Run(DIGIT, 1, 10),
            Text(",p="),
            Run(DIGIT, 1, 3),
            Text("$"),
            Run(BASE, 11, 128),
            Text("$"),
            Run(BASE, 16, 256),
        ],
    ),
    token("google-api-key", &["AIza"], &[Run(SAFE, 35, 35)]),
    token("google-oauth-token", &["ya29."], &[Run(SAFE | POINT, 20, MANY)]),
    digit("google-refresh-token", &["1//0"], &[Run(SAFE, 30, 200)]),
    mixed("google-authorization-code", &["4/0A"], &[Run(SAFE, 40, 200)]),
    token("google-client-secret", &["GOCSPX-"], &[Run(SAFE, 20, 60)]),
    Token {
        before: Some((BASE, 33, 90)),
        ..token(
            "azure-key",
            &[
                "JQQJ99", "+ASt", "+AEh", "+ASb", "+ARm", "+ACR", "AzSe", "AzFu", "AIoT", "ACDb",
                "APIM",
            ],
            &[Run(BASE, 6, 40), Maybe("=="), Maybe("=")],
        )
    },
    Token {
        before: Some((SAFE | POINT | TILDE, 2, 3)),
        ..token(
            "azure-client-secret",
            &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
            &[Run(SAFE | POINT | TILDE, 31, 34)],
        )
    },
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Run(HEX, 64, 64)]),
    mixed_upper("digitalocean-spaces-key", &["DO00"], &[Run(UPNUM, 16, 16)]),
    token("cloudflare-origin-key", &["v1.0-"], &[Run(HEX, 24, 24), Text("-"), Run(HEX, 140, 150)]),
    token("cloudflare-token", &["cfut_", "cfat_", "cfk_"], &[Run(SAFE, 40, 80)]),
    token("heroku-key", &["HRKU-"], &[Run(SAFE, 36, 70)]),
    digit("alibaba-access-key", &["LTAI"], &[Run(ALNUM, 12, 24)]),
    digit("tencent-secret-id", &["AKID"], &[Run(ALNUM, 32, 32)]),
    digit("yandex-cloud-key", &["AQVN"], &[Run(SAFE, 35, 40)]),
    digit("yandex-token", &["y0_"], &[Run(SAFE, 40, 80)]),
    digit("volcengine-access-key", &["AKLT"], &[Run(ALNUM, 24, 60)]),
    token("fly-token", &["fm1r_", "fm1a_", "fm2_", "fo1_"], &[Run(BASE_PADDED | SAFE, 40, MANY)]),
    digit("render-key", &["rnd_"], &[Run(ALNUM, 24, 40)]),
    token(
        "vercel-token",
        &["vercel_blob_rw_", "vcp_", "vci_", "vca_", "vcr_", "vck_"],
        &[Run(WORD, 24, 80)],
    ),
    token("netlify-token", &["nfp_", "nfc_", "nfo_"], &[Run(SAFE, 36, 60)]),
    token("supabase-key", &["sbp_", "sb_secret_"], &[Run(SAFE, 31, 60)]),
    token(
        "planetscale-token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Run(SAFE | POINT, 32, 64)],
    ),
    token("neon-key", &["napi_"], &[Run(LOWNUM, 40, 90)]),
    token("aiven-password", &["AVNS_"], &[Run(SAFE, 15, 64)]),
    token("mongodb-atlas-secret", &["mdb_sa_sk_"], &[Run(SAFE, 30, 60)]),
    token(
        "databricks-token",
        &["dapi", "dose", "dkea"],
        &[Run(HEX, 32, 32), Maybe("-2"), Maybe("-3")],
    ),
    Token {
        before: Some((SAFE, 10, 14)),
        ..token("firebase-messaging-key", &[":APA91b"], &[Run(SAFE, 120, 200)])
    },
    digit("runpod-key", &["rpa_"], &[Run(ALNUM, 36, 60)]),
    token("scalingo-token", &["tk-us-"], &[Run(SAFE, 40, 60)]),
    token(
        "tailscale-key",
        &["tskey-"],
        &[
            Either(&["auth-", "api-", "client-", "scim-", "webhook-", "oauth-", ""]),
            Run(ALNUM, 6, 40),
            Maybe("CNTRL"),
            Maybe("-"),
            Run(ALNUM, 0, 64),
        ],
    ),
    digit("deno-deploy-token", &["ddp_", "ddw_", "ddo_"], &[Run(ALNUM, 36, 40)]),
    digit("unkey-key", &["unkey_"], &[Run(WORD, 20, 60)]),
    // Source hosts and builds.
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[Run(WORD, 36, 255)]),
    token("github-fine-grained-token", &["github_pat_"], &[Run(WORD, 60, 255)]),
    token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-",
            "glsoat-", "gloas-", "glffct-", "glwt-",
        ],
        &[Run(SAFE | POINT, 20, 300)],
    ),
    token("gitlab-runner-token", &["GR1348941"], &[Run(SAFE, 20, 20)]),
    token("bitbucket-app-password", &["ATBB"], &[Run(ALNUM, 32, 32)]),
    token("bitbucket-token", &["ATCTT3xFfG"], &[Run(SAFE | EQUALS, 60, 400)]),
    token("sourcegraph-token", &["sgp_", "sgd_"], &[Run(WORD, 40, 80)]),
    token("sonar-token", &["sqp_", "squ_", "sqa_"], &[Run(HEX, 40, 40)]),
    token("buildkite-token", &["bkua_", "bkaa_", "bkct_"], &[Run(ALNUM, 40, 60)]),
    token(
        "circleci-token",
        &["CCIPAT_", "CCIPRJ_"],
        &[Run(ALNUM, 20, 30), Text("_"), Run(HEX, 40, 40)],
    ),
    token("octopus-key", &["API-"], &[Run(UPNUM, 26, 32)]),
    token("pulumi-token", &["pul-"], &[Run(HEX, 40, 40)]),
    Token {
        before: Some((ALNUM, 14, 14)),
        ..token("terraform-token", &[".atlasv1."], &[Run(SAFE, 60, 80)])
    },
    token("prefect-key", &["pnu_", "pnb_"], &[Run(ALNUM, 36, 36)]),
    token("dbt-token", &["dbtc_", "dbtu_", "dbts_"], &[Run(SAFE | EQUALS, 32, 80)]),
    token("postman-key", &["PMAK-"], &[Run(HEX, 24, 24), Text("-"), Run(HEX, 34, 34)]),
    token("readme-key", &["rdme_"], &[Run(LOWNUM, 70, 70)]),
    token(
        "harness-token",
        &["pat."],
        &[Run(SAFE, 22, 22), Text("."), Run(ALNUM, 24, 24), Text("."), Run(ALNUM, 20, 20)],
    ),
    token("wakatime-key", &["waka_"], &[Run(UUID, 36, 36)]),
    // Registries of packages and images.
    token("npm-token", &["npm_"], &[Run(ALNUM, 36, 36)]),
    token("pypi-token", &["pypi-AgE", "pypi-AgN"], &[Run(SAFE, 50, 400)]),
    token("rubygems-key", &["rubygems_"], &[Run(HEX, 48, 48)]),
    digit("crates-token", &["cio"], &[Run(ALNUM, 32, 32)]),
    token("docker-hub-token", &["dckr_pat_", "dckr_oat_"], &[Run(SAFE, 24, 64)]),
    digit("nuget-key", &["oy2"], &[Run(LOWNUM, 43, 43)]),
    token("clojars-token", &["CLOJARS_"], &[Run(LOWNUM, 60, 60)]),
    token("artifactory-key", &["AKCp"], &[Run(ALNUM, 60, 80)]),
    token("artifactory-reference-token", &["cmVmdGtu"], &[Run(ALNUM, 50, 64)]),
    token("thunderstore-token", &["tss_"], &[Run(SAFE, 30, 50)]),
    // Chat and telephony.
    token(
        "slack-token",
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-",
            "xoxe.", "xapp-", "xwfp-",
        ],
        &[Run(SAFE | POINT | PERCENT | BASE, 16, 400)],
    ),
    after(
        "slack-webhook",
        &[
            "hooks.slack.com/services/",
            "hooks.slack.com/workflows/",
            "hooks.slack.com/triggers/",
            "hooks.slack-gov.com/services/",
        ],
        &[
            Run(ALNUM, 8, 16),
            Text("/"),
            Run(ALNUM, 8, 24),
            Text("/"),
            Run(WORD | EQUALS, 18, 64),
            Maybe("/"),
            Run(WORD, 0, 64),
        ],
    ),
    after(
        "discord-webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(DIGIT, 15, 22), Text("/"), Run(SAFE, 40, 100)],
    ),
    after(
        "teams-webhook",
        &[".webhook.office.com/webhookb2/", "outlook.office.com/webhook/"],
        &[
            Run(UUID, 36, 36),
            Text("@"),
            Run(UUID, 36, 36),
            Text("/IncomingWebhook/"),
            Run(ALNUM, 20, 40),
            Text("/"),
            Run(SAFE | WORD, 30, 140),
            Maybe("/"),
            Run(SAFE, 0, 100),
        ],
    ),
    after(
        "zapier-webhook",
        &["hooks.zapier.com/hooks/catch/"],
        &[Run(DIGIT, 4, 12), Text("/"), Run(LOWNUM, 5, 20)],
    ),
    after(
        "chat-webhook",
        &["chat.googleapis.com/v1/spaces/"],
        &[
            Run(SAFE, 6, 20),
            Text("/messages?key="),
            Run(SAFE, 30, 50),
            Text("&token="),
            Run(SAFE | PERCENT, 30, 60),
        ],
    ),
    Token {
        before: Some((DIGIT, 8, 11)),
        ..token("telegram-token", &[":AA"], &[Run(SAFE, 32, 34)])
    },
    token(
        "twilio-key",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb",
            "SKc", "SKd", "SKe", "SKf",
        ],
        &[Run(HEX, 31, 31)],
    ),
    token(
        "matrix-token",
        &["syt_"],
        &[Run(ALNUM, 4, 120), Text("_"), Run(ALNUM, 20, 20), Text("_"), Run(ALNUM, 6, 6)],
    ),
    token("twitch-token", &["oauth:"], &[Run(LOWNUM, 30, 30)]),
    token(
        "facebook-token",
        &[
            "EAACEdEose0cBA",
            "EAAG",
            "EAAB",
            "EAAC",
            "EAAD",
            "EAAI",
            "EAAJ",
            "EAAL",
            "EAAM",
            "EAAO",
            "EAAP",
            "EAAS",
            "EAAT",
            "EAAU",
            "EAAW",
            "EAAX",
            "EAAY",
            "EAAZ",
            "EAAR",
            "EAAQ",
            "EAAN",
            "EAAK",
            "EAAH",
            "EAAF",
            "EAAE",
        ],
        &[Run(ALNUM, 90, 400)],
    ),
    token("instagram-token", &["IGQV", "IGQW", "IGAA"], &[Run(SAFE, 90, 400)]),
    token("twitter-bearer", &["AAAAAAAAAAAAAAAAAAAAA"], &[Run(ALNUM | PERCENT, 60, 120)]),
    token(
        "linkedin-secret",
        &["WPL_AP1."],
        &[Run(ALNUM, 16, 24), Text("."), Run(BASE_PADDED, 6, 20)],
    ),
    // Payment.
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
        &[Run(ALNUM, 16, 250)],
    ),
    token(
        "braintree-token",
        &["access_token$production$", "access_token$sandbox$"],
        &[Run(LOWNUM, 16, 16), Text("$"), Run(HEX, 32, 32)],
    ),
    token("stripe-webhook-secret", &["whsec_"], &[Run(BASE_PADDED, 24, 100)]),
    token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], &[Run(SAFE, 22, 64)]),
    mixed("square-access-token", &["EAAA"], &[Run(SAFE, 56, 64)]),
    token(
        "braintree-token",
        &["access_token$production$", "access_token$sandbox$"],
        &[Run(LOWNUM, 16, 16), Text("$"), Run(HEX, 32, 32)],
    ),
    token(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_", "shpit_"],
        &[Run(ANY_HEX, 32, 32)],
    ),
    token(
        "plaid-token",
        &["access-production-", "access-sandbox-", "access-development-"],
        &[Run(UUID, 36, 36)],
    ),
    digit("razorpay-key", &["rzp_live_", "rzp_test_"], &[Run(ALNUM, 14, 24)]),
    token("flutterwave-key", &["FLWSECK-", "FLWSECK_TEST-"], &[Run(SAFE, 12, 60)]),
    token("mercadopago-token", &["APP_USR-"], &[Run(SAFE, 40, 100)]),
    token("easypost-key", &["EZAK", "EZTK"], &[Run(ALNUM, 54, 54)]),
    token("shippo-token", &["shippo_live_", "shippo_test_"], &[Run(HEX, 40, 40)]),
    token("duffel-token", &["duffel_live_", "duffel_test_"], &[Run(SAFE | EQUALS, 43, 44)]),
    token(
        "klarna-key",
        &["klarna_live_api_", "klarna_test_api_"],
        &[Run(SAFE | BASE_PADDED, 20, 400)],
    ),
    token(
        "paddle-key",
        &["pdl_live_apikey_", "pdl_sdbx_apikey_"],
        &[Run(LOWNUM, 26, 26), Text("_"), Run(ALNUM, 22, 22), Text("_"), Run(ALNUM, 3, 3)],
    ),
    digit("mollie-key", &["live_", "test_"], &[Run(ALNUM, 30, 48)]),
    // Models.
    token(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"],
        &[Run(SAFE, 20, 250)],
    ),
    token("anthropic-key", &["sk-ant-"], &[Run(SAFE, 24, 250)]),
    token("openrouter-key", &["sk-or-v1-"], &[Run(HEX, 64, 64)]),
    token("langfuse-key", &["sk-lf-"], &[Run(UUID, 36, 36)]),
    token("helicone-key", &["sk-helicone-"], &[Run(SAFE, 20, 60)]),
    digit("model-provider-key", &["sk-"], &[Run(ALNUM, 20, 100)]),
    token("huggingface-token", &["hf_", "api_org_"], &[Run(ALNUM, 30, 40)]),
    token("replicate-token", &["r8_"], &[Run(ALNUM, 37, 40)]),
    token("groq-key", &["gsk_"], &[Run(ALNUM, 40, 60)]),
    token("perplexity-key", &["pplx-"], &[Run(ALNUM, 40, 60)]),
    token("xai-key", &["xai-"], &[Run(ALNUM, 60, 100)]),
    token("nvidia-key", &["nvapi-"], &[Run(SAFE, 50, 90)]),
    digit("fireworks-key", &["fw_"], &[Run(ALNUM, 20, 40)]),
    token("together-key", &["tgp_v1_"], &[Run(SAFE, 40, 60)]),
    token(
        "langsmith-key",
        &["lsv2_pt_", "lsv2_sk_", "ls__"],
        &[Run(HEX, 32, 32), Maybe("_"), Run(HEX, 0, 12)],
    ),
    token("pinecone-key", &["pcsk_"], &[Run(WORD, 50, 90)]),
    token("jina-key", &["jina_"], &[Run(SAFE, 50, 80)]),
    digit("voyage-key", &["pa-"], &[Run(SAFE, 40, 50)]),
    digit("tavily-key", &["tvly-"], &[Run(SAFE, 24, 60)]),
    token("firecrawl-key", &["fc-"], &[Run(HEX, 32, 32)]),
    token("anyscale-key", &["esecret_"], &[Run(ALNUM, 20, 50)]),
    token("elevenlabs-key", &["sk_"], &[Run(HEX, 48, 48)]),
    digit("cerebras-key", &["csk-"], &[Run(LOWNUM, 40, 60)]),
    token("e2b-key", &["e2b_"], &[Run(HEX, 40, 40)]),
    token("modal-key", &["ak-", "as-"], &[Run(ALNUM, 22, 22)]),
    // Secret stores.
    token("vault-token", &["hvs.", "hvb.", "hvr."], &[Run(SAFE, 20, 400)]),
    token(
        "doppler-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."],
        &[Run(SAFE | POINT, 40, 80)],
    ),
    token("onepassword-token", &["ops_eyJ"], &[Run(SAFE | EQUALS | BASE, 100, MANY)]),
    token(
        "onepassword-secret-key",
        &["A3-"],
        &[
            Run(UPNUM, 6, 6),
            Text("-"),
            Run(UPNUM, 5, 11),
            Text("-"),
            Run(UPNUM, 5, 6),
            Text("-"),
            Run(UPNUM, 5, 5),
            Text("-"),
            Run(UPNUM, 5, 5),
            Maybe("-"),
            Run(UPNUM, 0, 5),
        ],
    ),
    token("age-secret-key", &["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"], &[Run(UPNUM, 58, 80)]),
    token("nostr-key", &["nsec1"], &[Run(LOWNUM, 58, 58)]),
    token("extended-private-key", &["xprv9", "yprv", "zprv", "tprv8"], &[Run(ALNUM, 100, 108)]),
    // Watching and logging.
    token(
        "newrelic-key",
        &["NRAK-", "NRJS-", "NRII-", "NRIQ-", "NRRA-", "NRAA-"],
        &[Run(SAFE, 19, 42)],
    ),
    Token { before: Some((HEX, 30, 36)), ..token("newrelic-license", &["NRAL", "FFFFNRAL"], &[]) },
    token("sentry-token", &["sntrys_", "sntryu_"], &[Run(BASE_PADDED | WORD, 40, 400)]),
    token("grafana-token", &["glc_", "glsa_", "eyJrIjoi"], &[Run(BASE_PADDED | WORD, 32, 400)]),
    digit("pagerduty-key", &["pdus+", "pdeu+"], &[Run(SAFE, 18, 24)]),
    token(
        "honeycomb-key",
        &["hcaik_", "hcbik_", "hcxik_", "hcalk_", "hcxlk_", "hcamk_"],
        &[Run(LOWNUM, 26, 70)],
    ),
    token(
        "dynatrace-token",
        &["dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."],
        &[Run(UPNUM, 8, 24), Text("."), Run(UPNUM, 64, 64)],
    ),
    token("posthog-key", &["phx_"], &[Run(ALNUM, 40, 60)]),
    token("axiom-token", &["xaat-", "xapt-"], &[Run(UUID, 36, 36)]),
    token(
        "launchdarkly-key",
        &["sdk-", "api-"],
        &[Run(HEX, 8, 8), Text("-"), Run(HEX, 4, 4), Text("-"), Run(UUID, 22, 22)],
    ),
    digit("logfire-token", &["pylf_v1_"], &[Run(WORD, 40, 80)]),
    digit("rootly-token", &["rootly_"], &[Run(HEX, 64, 64)]),
    digit("sumologic-id", &["su0"], &[Run(ALNUM, 12, 12)]),
    // Mail.
    token("sendgrid-key", &["SG."], &[Run(SAFE, 16, 32), Text("."), Run(SAFE, 32, 64)]),
    token("mailgun-key", &["key-"], &[Run(HEX, 32, 32)]),
    Token {
        before: Some((HEX, 32, 32)),
        ..token(
            "mailchimp-key",
            &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
            &[Run(DIGIT, 0, 2)],
        )
    },
    token(
        "brevo-key",
        &["xkeysib-", "xsmtpsib-"],
        &[Run(HEX, 64, 64), Text("-"), Run(ALNUM, 16, 16)],
    ),
    digit("mandrill-key", &["md-"], &[Run(SAFE, 22, 22)]),
    digit("resend-key", &["re_"], &[Run(ALNUM, 8, 10), Text("_"), Run(ALNUM, 20, 32)]),
    token("klaviyo-key", &["pk_"], &[Run(HEX, 34, 34)]),
    // Offices and their tools.
    token("atlassian-token", &["ATATT3xFfG"], &[Run(SAFE | EQUALS, 60, 400)]),
    token("trello-token", &["ATTA"], &[Run(ALNUM, 64, 80)]),
    token("linear-key", &["lin_api_", "lin_oauth_", "lin_wh_"], &[Run(ALNUM, 32, 64)]),
    token("notion-token", &["secret_", "ntn_"], &[Run(ALNUM, 43, 50)]),
    token("airtable-token", &["pat"], &[Run(ALNUM, 14, 14), Text("."), Run(HEX, 64, 64)]),
    digit("asana-token", &["0/1", "1/1"], &[Run(DIGIT, 11, 16), Text(":"), Run(HEX, 32, 32)]),
    digit(
        "asana-token",
        &["2/1"],
        &[Run(DIGIT, 11, 16), Text("/"), Run(DIGIT, 12, 17), Text(":"), Run(HEX, 32, 32)],
    ),
    token(
        "figma-token",
        &["figd_", "figo_", "figu_", "figdr_", "figoh_", "figor_"],
        &[Run(SAFE, 36, 60)],
    ),
    token("clickup-token", &["pk_"], &[Run(DIGIT, 6, 10), Text("_"), Run(UPNUM, 32, 32)]),
    token("typeform-token", &["tfp_"], &[Run(SAFE | POINT, 40, 70)]),
    token("contentful-token", &["CFPAT-"], &[Run(SAFE, 40, 50)]),
    token(
        "hubspot-token",
        &["pat-na1-", "pat-na2-", "pat-na3-", "pat-eu1-", "pat-ap1-"],
        &[Run(UUID, 36, 36)],
    ),
    token("dropbox-token", &["sl."], &[Run(SAFE, 100, MANY)]),
    token("adobe-secret", &["p8e-"], &[Run(SAFE, 32, 32)]),
    token(
        "salesforce-token",
        &["00D"],
        &[Run(ALNUM, 12, 15), Text("!"), Run(ALNUM | POINT | WORD, 60, 140)],
    ),
    token("frameio-token", &["fio-u-"], &[Run(SAFE | EQUALS, 40, 70)]),
    token("mapbox-secret-token", &["sk.eyJ"], &[Run(SAFE, 40, 200), Text("."), Run(SAFE, 20, 30)]),
    token("lichess-token", &["lip_"], &[Run(ALNUM, 20, 30)]),
    token(
        "defined-networking-token",
        &["dnkey-"],
        &[Run(LOWNUM | EQUALS, 26, 26), Text("-"), Run(LOWNUM, 52, 52)],
    ),
    Token { before: Some((WORD, 34, 40)), ..token("maxmind-key", &["_mmk"], &[]) },
    token("ubidots-token", &["BBFF-", "BBUS-"], &[Run(ALNUM, 30, 40)]),
    token("stytch-secret", &["secret-live-", "secret-test-"], &[Run(SAFE | EQUALS, 30, 60)]),
    token("zuplo-key", &["zpka_"], &[Run(WORD, 40, 80)]),
    token("polar-token", &["polar_oat_", "polar_pat_", "polar_whs_"], &[Run(ALNUM, 30, 60)]),
    token("ionic-token", &["ion_"], &[Run(ALNUM, 42, 42)]),
    // Tokens of no issuer in particular.
    Token {
        check: Check::Nothing,
        ..token(
            "json-web-token",
            &["eyJ"],
            &[
                Run(SAFE, 8, MANY),
                Either(&[".eyJ", ".ZX", ".."]),
                Run(SAFE, 6, MANY),
                Text("."),
                Run(SAFE, 0, MANY),
                Maybe("."),
                Run(SAFE, 0, MANY),
                Maybe("."),
                Run(SAFE, 0, MANY),
            ],
        )
    },
    Token {
        check: Check::Nothing,
        ..token(
            "encrypted-token",
            &[
                "eyJhbGciOiJSU0Et",
                "eyJhbGciOiJkaXIi",
                "eyJhbGciOiJFQ0RI",
                "eyJhbGciOiJBMTI4",
                "eyJhbGciOiJBMjU2",
            ],
            &[
                Run(SAFE, 8, MANY),
                Text("."),
                Run(SAFE, 0, MANY),
                Text("."),
                Run(SAFE, 8, MANY),
                Text("."),
                Run(SAFE, 8, MANY),
                Text("."),
                Run(SAFE, 8, MANY),
            ],
        )
    },
    Token {
        check: Check::Nothing,
        ..token("registry-login", &["eyJhdXRocyI6"], &[Run(BASE_PADDED, 16, MANY)])
    },
    Token {
        check: Check::Nothing,
        ..token(
            "private-key",
            &[
                "LS0tLS1CRUdJTiBQUklWQVRF",
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFU",
                "LS0tLS1CRUdJTiBFQyBQUklWQVRF",
                "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZB",
                "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFU",
                "LS0tLS1CRUdJTiBEU0EgUFJJVkFU",
                "LS0tLS1CRUdJTiBQR1AgUFJJVkFU",
            ],
            &[Run(BASE_PADDED, 40, MANY)],
        )
    },
    Token {
        check: Check::Nothing,
        ..token("cloudflare-tunnel-token", &["eyJhIjoi"], &[Run(BASE_PADDED | SAFE, 100, MANY)])
    },
    after("sonar-token", &["sonar.login="], &[Run(HEX, 40, 40)]),
    digit("fernet-token", &["gAAAAAB"], &[Run(SAFE | EQUALS, 80, MANY)]),
];

const fn mixed_upper(
    kind: &'static str,
    begins: &'static [&'static str],
    then: &'static [Part],
) -> Token {
    Token { check: Check::Digit, ..token(kind, begins, then) }
}
