"""Secrets with a shape of their own, which must be found in any text: tokens, keys, signed URLs.

A template says how a token is built: literal text, and in braces what is random: ``{a36}`` 36
letters and digits, ``l`` lower case and digits, ``u`` upper case and digits, ``h`` hexadecimal,
``d`` digits, ``w`` base64url, ``b`` base64, ``{uuid}``. The random pieces of eight characters and
more are what must not survive, but for digits and what is marked with ``!``, which are identifiers. ``~`` within a prefix is removed: it keeps scanners of repositories
from taking the template for a token.
"""

import re

from tests.redaction.made_up import Random, Shape

_PIECE = re.compile(r"\{(!?)(uuid|[alhudwb]\d+)\}")
_KINDS = {
    "a": "alnum",
    "l": "lower",
    "u": "upper",
    "h": "hex",
    "d": "digits",
    "w": "url64",
    "b": "base64",
}
_SECRET_SIZE = 8

TEMPLATES = {
    # Models and what is around them
    "OpenAI": "s~k-{a20}T3Blbk~FJ{a20}",
    "OpenAI of today": "s~k-{a48}",
    "OpenAI project": "s~k-proj-{w74}T3Blbk~FJ{w74}",
    "OpenAI project, short": "s~k-proj-{w58}T3Blbk~FJ{w58}",
    "OpenAI service account": "s~k-svcacct-{w74}T3Blbk~FJ{w74}",
    "OpenAI admin": "s~k-admin-{w58}T3Blbk~FJ{w58}",
    "Anthropic": "s~k-ant-api03-{w93}AA",
    "Anthropic admin": "s~k-ant-admin01-{w93}AA",
    "Anthropic OAuth": "s~k-ant-oat01-{w93}AA",
    "Anthropic refresh": "s~k-ant-ort01-{w93}AA",
    "Anthropic session": "s~k-ant-sid01-{w93}AA",
    "OpenRouter": "s~k-or-v1-{h64}",
    "DeepSeek": "s~k-{h32}",
    "Langfuse secret": "s~k-lf-{uuid}",
    "LiteLLM": "s~k-{w22}",
    "ElevenLabs": "s~k_{h48}",
    "Groq": "g~sk_{a52}",
    "xAI": "x~ai-{a80}",
    "Perplexity": "p~plx-{a48}",
    "Replicate": "r~8_{a37}",
    "Hugging Face": "h~f_{a34}",
    "Hugging Face organisation": "api~_org_{a34}",
    "NVIDIA": "nv~api-{w64}",
    "Cerebras": "cs~k-{l48}",
    "Fireworks": "f~w_{a24}",
    "Together": "tg~p_v1_{w43}",
    "Gemini": "A~Q.{w50}",
    "Gemini with its usual beginning": "A~Q.Ab8RN6{w44}",
    "Google API": "AI~za{w35}",
    "Google API of Gemini": "AI~zaSy{w33}",
    "Google OAuth": "ya~29.{w120}",
    "Google refresh": "1//0{w98}",
    "Google client secret": "GOCS~PX-{w28}",
    "Pinecone": "pc~sk_{a6}_{a63}",
    "Tavily": "tv~ly-dev-{a32}",
    "Tavily, old": "tv~ly-{a32}",
    "LangSmith": "lsv~2_pt_{h32}_{h10}",
    "LangSmith service": "lsv~2_sk_{h32}_{h10}",
    "Jina": "jin~a_{h32}{w28}",
    "Voyage": "p~a-{w43}",
    "Firecrawl": "f~c-{h32}",
    "Brave search": "BS~A{w28}",
    "Cursor": "key~_{h64}",
    "Bedrock, long lived": "ABS~K{b128}=",
    "Bedrock, short lived": "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b120}",
    "Context7": "ctx7~sk-{uuid}",
    "E2B": "e2~b_{h40}",
    "Browserbase": "bb~_live_{w28}",
    # Code hosts
    "GitHub personal": "gh~p_{a36}",
    "GitHub OAuth": "gh~o_{a36}",
    "GitHub user to server": "gh~u_{a36}",
    "GitHub server to server": "gh~s_{a36}",
    "GitHub refresh": "gh~r_{a76}",
    "GitHub fine-grained": "github~_pat_{a22}_{a59}",
    "GitLab personal": "gl~pat-{w20}",
    "GitLab personal, routable": "gl~pat-{w40}.01.{l9}",
    "GitLab pipeline trigger": "gl~ptt-{h40}",
    "GitLab runner": "gl~rt-{w20}",
    "GitLab runner, routable": "gl~rt-t1_{w30}.01.{l9}",
    "GitLab runner registration": "GR~1348941{w20}",
    "GitLab runner registration of today": "gl~rtr-{w20}",
    "GitLab deploy": "gl~dt-{w20}",
    "GitLab job": "gl~cbt-64_{w20}",
    "GitLab feature flags": "gl~ffct-{w20}",
    "GitLab feed": "gl~ft-{w20}",
    "GitLab incoming mail": "gl~imt-{w25}",
    "GitLab agent": "gl~agent-{w50}",
    "GitLab OAuth": "gl~oas-{h64}",
    "GitLab SCIM": "gl~soat-{w20}",
    "GitLab workspace": "gl~wt-{w20}",
    "Bitbucket app password": "ATB~B{a32}{h8}",
    "Bitbucket repository": "ATC~TT3{w180}={u8}",
    "Atlassian": "ATA~TT3{w180}={u8}",
    "Sourcegraph": "sg~p_{h16}_{h40}",
    "Azure DevOps": "{l52}AACAAAAAA~ZDO{a4}",
    # Packages
    "npm": "np~m_{a36}",
    "PyPI": "py~pi-AgEIcHlwaS5vcmc{w120}",
    "PyPI of tests": "py~pi-AgENdGVzdC5weXBpLm9yZw{w110}",
    "RubyGems": "ruby~gems_{h48}",
    "crates.io": "ci~o{a32}",
    "Clojars": "CLO~JARS_{h60}",
    "NuGet": "oy~2{l43}",
    "JFrog": "AK~Cp{a69}",
    "JFrog reference": "cmV~md{a59}",
    "Docker": "dc~kr_pat_{w27}",
    "Docker organisation": "dc~kr_oat_{w32}",
    "JSR": "js~rp_{a40}",
    # Clouds
    "AWS key": "AK~IA{u16}",
    "AWS temporary key": "AS~IA{u16}",
    "AWS bearer key": "AB~IA{u16}",
    "Alibaba": "LT~AI{a20}",
    "Tencent": "AK~ID{a32}",
    "Yandex": "AQ~VN{w36}",
    "Yandex IAM": "t1.{w60}.{w86}",
    "Yandex static": "YC~{w38}",
    "DigitalOcean personal": "do~p_v1_{h64}",
    "DigitalOcean OAuth": "do~o_v1_{h64}",
    "DigitalOcean refresh": "do~r_v1_{h64}",
    "Azure client secret": "{a3}8Q\x00{w34}",
    "Azure search": "{a39}AzSe~{a10}",
    "Azure storage": "{b75}+ASt{a8}==",
    "Azure functions": "{w43}AzFu{a6}==",
    "Azure maps and events": "{b33}+AEh{a7}=",
    "Heroku": "HRK~U-AA{w58}",
    "Fly": "fm~2_{b160}==",
    "Fly, old": "fo~1_{w43}",
    "Vercel": "vc~p_{a56}",
    "Vercel Blob": "vercel_blob~_rw_{a16}_{a30}",
    "Netlify": "nf~p_{a40}",
    "Render": "rn~d_{a32}",
    "Cloudflare origin": "v1.0-{h24}-{h146}",
    "Cloudflare token of today": "cfu~t_{a40}{h8}",
    "Supabase personal": "sb~p_{h40}",
    "Supabase secret": "sb~_secret_{w22}_{w8}",
    "PlanetScale": "pscale~_tkn_{w43}",
    "PlanetScale password": "pscale~_pw_{w43}",
    "PlanetScale OAuth": "pscale~_oauth_{w43}",
    "Neon": "nap~i_{l64}",
    "Neon password": "np~g_{a12}",
    "Databricks": "dap~i{h32}",
    "Databricks with a number": "dap~i{h32}-2",
    "Snowflake and Clickhouse": "4b~1d{a38}",
    "Scalingo": "tk~-us-{w48}",
    "OpenShift": "sha256\x00{w43}",
    "Tailscale": "ts~key-auth-{a16}-{a32}",
    "Tailscale API": "ts~key-api-{a16}-{a32}",
    "Tailscale client": "ts~key-client-{a16}-{a32}",
    # Operations
    "Vault service": "hv~s.{w95}",
    "Vault service, short": "hv~s.{a24}",
    "Vault batch": "hv~b.{w140}",
    "Vault recovery": "hv~r.{w95}",
    "Terraform": "{a14}.atlas~v1.{w67}",
    "Pulumi": "pu~l-{h40}",
    "Doppler": "d~p.pt.{a43}",
    "Doppler service": "d~p.st.prd.{a43}",
    "Doppler CLI": "d~p.ct.{a43}",
    "1Password account key": "A3~-{u6}-{u11}-{u5}-{u5}-{u5}",
    "1Password service account": "op~s_eyJ{b260}",
    "Infisical": "st.{h24}.{h32}.{h32}",
    "Grafana service account": "gl~sa_{a32}_{h8}",
    "Grafana cloud": "gl~c_eyJ{b100}",
    "Grafana API": "eyJr~Ijoi{b90}",
    "Datadog application": "dd~app_{a34}",
    "New Relic user": "NRA~K-{u27}",
    "New Relic ingest": "{h36}FFFFNR~AL",
    "New Relic insert": "NR~II-{w32}",
    "New Relic browser": "NR~JS-{h19}",
    "Sentry user": "sntr~yu_{h64}",
    "Sentry organisation": "sntr~ys_eyJpYXQiO{b80}LCJyZWdpb25fdXJs{b40}_{b43}",
    "Dynatrace": "dt0~c01.{u24}.{u64}",
    "Dynatrace platform": "dt0~s16.{u8}.{u64}",
    "Honeycomb": "hca~ik_01{l56}",
    "PostHog": "ph~x_{a43}",
    "Octopus": "API~-{u26}",
    "Prefect": "pn~u_{a36}",
    "Harness": "p~at.{w22}.{h24}.{a20}",
    "SonarQube user": "sq~u_{h40}",
    "SonarQube project": "sq~p_{h40}",
    "Buildkite": "bk~ua_{h40}",
    "CircleCI": "CCI~PAT_{a22}_{h40}",
    "Infracost": "ico-{a32}",
    "Rootly": "root~ly_{h64}",
    "LaunchDarkly": "sd~k-{uuid}",
    "LaunchDarkly API": "ap~i-{uuid}",
    "Statsig": "secret~-{a40}",
    "Defined Networking": "dn~key-{w26}-{w52}",
    "age": "AGE-SECRET~-KEY-1{u58}",
    # Messages, mail, telephony
    "Slack bot": "xox~b-{d12}-{d13}-{a24}",
    "Slack user": "xox~p-{d12}-{d12}-{d13}-{h32}",
    "Slack app": "xap~p-1-{!u11}-{d13}-{h64}",
    "Slack configuration": "xoxe.xox~p-1-{u163}",
    "Slack refresh": "xox~e-1-{u146}",
    "Slack legacy": "xox~s-{d10}-{d10}-{d10}-{h10}",
    "Slack cookie": "xox~d-{w80}",
    "Slack webhook": "https://hooks.slack~.com/services/T{!u9}/B{!u10}/{a24}",
    "Slack workflow": "https://hooks.slack~.com/workflows/T{!u10}/A{!u10}/{d18}/{a24}",
    "Teams webhook": "https://corp.webhook.office~.com/webhookb2/{!uuid}@{!uuid}/IncomingWebhook/{h32}/{!uuid}",
    "Discord bot": "MT~{a24}.Gx3k9Q.{w38}",
    "Discord webhook": "https://discord~.com/api/webhooks/{d19}/{w68}",
    "Telegram": "{d10}:A~A{w33}",
    "Zapier webhook": "https://hooks.zapier~.com/hooks/catch/{d8}/{l12}/",
    "Twilio": "S~K{h32}",
    "SendGrid": "S~G.{w22}.{w43}",
    "Mailgun": "ke~y-{h32}",
    "Mailchimp": "{h32}-us21",
    "Brevo": "xkey~sib-{h64}-{a16}",
    "Resend": "r~e_{a8}_{a24}",
    "Mandrill": "m~d-{w22}",
    # Money and shops
    "Stripe live": "s~k_live_{a24}",
    "Stripe live, long": "s~k_live_{a99}",
    "Stripe test": "s~k_test_{a24}",
    "Stripe restricted": "r~k_live_{a24}",
    "Stripe webhook": "whse~c_{a32}",
    "Square": "sq0~atp-{w22}",
    "Square secret": "sq0~csp-{w43}",
    "Square of today": "EAA~A{w60}",
    "PayPal Braintree": "access_token$production${l16}${h32}",
    "Plaid": "access~-sandbox-{uuid}",
    "Shopify": "shp~at_{h32}",
    "Shopify custom": "shp~ca_{h32}",
    "Shopify private": "shp~pa_{h32}",
    "Shopify shared": "shp~ss_{h32}",
    "Shippo": "shippo~_live_{h40}",
    "EasyPost": "EZ~AK{a54}",
    "EasyPost test": "EZ~TK{a54}",
    "Flutterwave": "FLWSE~CK_TEST-{h32}-X",
    "GoCardless": "liv~e_{w40}",
    "Duffel": "duffel~_live_{w43}",
    "Frame.io": "fio~-u-{w64}",
    "ReadMe": "rdm~e_{l70}",
    "Typeform": "tf~p_{w59}",
    "Amazon MWS": "amzn.m~ws.{uuid}",
    "Facebook": "EA~AC{a180}",
    "Facebook application": "{d15}|{w27}",
    "Dropbox": "s~l.{w135}",
    "MaxMind": "{a6}_{a29}_m~mk",
    "Adobe": "p8~e-{a32}",
    # Work
    "Linear": "lin~_api_{a40}",
    "Linear OAuth": "lin~_oauth_{h64}",
    "Notion": "nt~n_{d11}{a35}",
    "Notion, old": "secret~_{a43}",
    "Figma": "fig~d_{w40}",
    "Postman": "PMA~K-{h24}-{h34}",
    "Airtable": "pa~t{a14}.{h64}",
    "HubSpot": "pa~t-na1-{uuid}",
    "HubSpot of Europe": "pa~t-eu1-{uuid}",
    "Mapbox secret": "s~k.eyJ1Ijoi{b56}.{w22}",
    "Asana": "2/{d16}/{d16}:{h32}",
    "ClickUp": "p~k_{d8}_{u32}",
    "Intra42": "s-s4t~2ud-{h64}",
    "Authress": "sc_{l12}.{l5}.acc_{l16}.{b60}",
    "Contentful": "CFP~AT-{w43}",
    "Sanity": "s~k{a80}",
    "Canva": "cnv~ca{a45}",
    "Zuplo": "zpk~a_{h32}_{h8}",
    "WakaTime": "waka~_{uuid}",
}  # fmt: skip


def _built(name: str, template: str) -> Shape:
    """Return the shape that a template describes."""
    random, secrets = Random(f"vendor {name}"), []

    def made(match: re.Match[str]) -> str:
        kind = match[2]
        value = random.uuid() if kind == "uuid" else getattr(random, _KINDS[kind[0]])(int(kind[1:]))
        if len(value) >= _SECRET_SIZE and kind[0] != "d" and not match[1]:
            secrets.append(value)
        return str(value)

    text = _PIECE.sub(made, template.replace("~", "")).replace("\x00", "~")
    return Shape(name, "vendor", text, tuple(secrets))


def _pem(name: str, kind: str, dress: str) -> Shape:
    """Return a private key in PEM, in one of the dresses in which files are printed."""
    rows = Random(f"vendor {name}").pem()
    begin, end = f"-----BEGIN {kind}-----", f"-----END {kind}-----"
    lines = [begin, *rows, end]
    text = {
        "plain": "\n".join(lines),
        "CRLF": "\r\n".join(lines),
        "no end": "\n".join(lines[:-1]),
        "cut in a line": "\n".join([begin, *rows[:2], rows[2][:31]]),
        "one line": "\\n".join(lines),
        "one line of spaces": " ".join(lines),
        "Python": "\n".join(f'    "{row}\\n"' for row in lines),
        "JavaScript": " +\n".join(f"'{row}\\n'" for row in lines),
        "indented": "key: |\n" + "\n".join(f"  {row}" for row in lines),
        "headers": "\n".join(
            [begin, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A1B2C3D", "", *rows, end]
        ),
        "read": "\n".join(f"{number:6}\u2192{row}" for number, row in enumerate(lines, 1)),
        "grep -A": "\n".join(
            [f"k.pem:1:{begin}", *(f"k.pem-{n}-{row}" for n, row in enumerate(lines[1:], 2))]
        ),
        "diff": "@@ -0,0 +1,8 @@\n" + "\n".join(f"+{row}" for row in lines),
        "removed": "@@ -1,8 +0,0 @@\n" + "\n".join(f"-{row}" for row in lines),
        "quote": "\n".join(f"> {row}" for row in lines),
        "hash": "\n".join(f"# {row}" for row in lines),
        "box": "\n".join(f"\u2502 {row:64} \u2502" for row in lines),
        "bat": "\n".join(f"\x1b[38;5;238m{n:4}\x1b[0m   \x1b[38;5;238m\u2502\x1b[0m \x1b[38;5;231m{row}\x1b[0m" for n, row in enumerate(lines, 1)),
        "ls": f"-----BEGIN {kind}-----{''.join(rows)}-----END {kind}-----",
    }[dress]  # fmt: skip
    secrets = (*rows[:2], rows[2][:31]) if dress == "cut in a line" else rows
    return Shape(name, "vendor", text, secrets)


_RSA, _PKCS8, _EC = "RSA PRIVATE" + " KEY", "PRIVATE" + " KEY", "EC PRIVATE" + " KEY"
_OPENSSH, _PGP = "OPENSSH PRIVATE" + " KEY", "PGP PRIVATE" + " KEY BLOCK"
_PEMS = [
    ("PEM", _PKCS8, "plain"),
    ("PEM, RSA", _RSA, "plain"),
    ("PEM, EC", _EC, "plain"),
    ("PEM, OpenSSH", _OPENSSH, "plain"),
    ("PEM, encrypted", "ENCRYPTED " + _PKCS8, "plain"),
    ("PEM, PGP", _PGP, "plain"),
    ("PEM, DSA with headers", "DSA " + _PKCS8, "headers"),
    ("PEM, CRLF", _RSA, "CRLF"),
    ("PEM without end", _RSA, "no end"),
    ("PEM cut within a line", _OPENSSH, "cut in a line"),
    ("PEM in one line", _PKCS8, "one line"),
    ("PEM in one line with spaces", _RSA, "one line of spaces"),
    ("PEM without line ends", _RSA, "ls"),
    ("PEM in Python", _RSA, "Python"),
    ("PEM in JavaScript", _EC, "JavaScript"),
    ("PEM in YAML", _PKCS8, "indented"),
    ("PEM with numbers", _RSA, "read"),
    ("PEM in grep -A", _RSA, "grep -A"),
    ("PEM added", _OPENSSH, "diff"),
    ("PEM removed", _RSA, "removed"),
    ("PEM quoted", _PKCS8, "quote"),
    ("PEM in comments", _RSA, "hash"),
    ("PEM in a box", _RSA, "box"),
    ("PEM in bat", _OPENSSH, "bat"),
]


def _others() -> list[Shape]:
    """Return what is neither a template nor PEM."""
    random = Random("vendor others")
    head, claims, signature = random.jwt()
    alone, inner = random.jwt(), random.jwt()
    encrypted = [random.url64(size) for size in (342, 16, 200, 22)]
    app = random.jwt()
    public, private, mac = random.base64(64), random.base64(64), random.hex(64)
    aws, sas, gcs, cdn = random.hex(64), random.base64(43), random.hex(256), random.url64(80)
    session = random.base64(300)
    return [
        Shape("JWT", "vendor", f"{head}.{claims}.{signature}", (claims, signature)),
        Shape("JWT without signature", "vendor", f"{alone[0]}.{alone[1]}.", (alone[1],)),
        Shape("JWE", "vendor", ".".join([inner[0], *encrypted]), (*encrypted[:1], *encrypted[2:])),
        Shape("GitHub server to server, JWT", "vendor", "gh" + f"s_123456_{'.'.join(app)}", app[1:]),
        Shape(
            "PuTTY key", "vendor",
            f"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me@host\nPublic-Lines: 1\n{public}\nPrivate-Lines: 1\n{private}\nPrivate-MAC: {mac}",
            (private, mac),
        ),
        Shape(
            "S3 address", "vendor",
            "https://b.s3.amazonaws.com/x?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK" + f"IAXXXXXXXXXXXXXXXX%2F20261101&X-Amz-Security-Token={session}&X-Amz-Signature={aws}",
            (aws, session),
        ),
        Shape("Azure SAS", "vendor", f"https://a.blob.core.windows.net/c/x?sv=2024-01-01&se=2027-01-01&sr=b&sp=r&sig={sas}%3D", (sas,)),
        Shape("Google storage address", "vendor", f"https://storage.googleapis.com/b/x?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={gcs}", (gcs,)),
        Shape("CloudFront address", "vendor", f"https://d1.cloudfront.net/x?Expires=1700000000&Signature={cdn}&Key-Pair-Id=K1ABCDEF", (cdn,)),
    ]  # fmt: skip


VENDORS = [
    *(_built(name, template) for name, template in TEMPLATES.items()),
    *(_pem(*each) for each in _PEMS),
    *_others(),
]
