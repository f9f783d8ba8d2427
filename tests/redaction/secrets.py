"""The secrets that must be found, made up, and put together here so that no file holds one whole.

Each entry is a label, what stands before the secret, the parts of the secret, and what stands
behind it. Those of SHAPES are known by themselves, those of NAMED by what stands around them.
"""

import base64
from typing import NamedTuple


class Secret(NamedTuple):
    """A secret in its text."""

    label: str
    before: str
    secret: str
    after: str = ""

    @property
    def text(self) -> str:
        """The text that holds it."""
        return self.before + self.secret + self.after


_A36 = "a7Kd0Qx2Rm9Lw5Tz8Yb1" + "Vc4Nf6Hs3Gj0Pe2U"
_A43 = _A36 + "Zi8Xo1q"
_A24 = "Bq7Rt2Yw9Ux4" + "Ze1Ka6Lp3Mv8"
_HEX32 = "9f86d081e4c7b2a0" + "3d5e6f1827a4b9c0"
_HEX40 = _HEX32 + "7d1e55aa"
_HEX64 = _HEX32 + "1b0c9d8e7f6a5b4c" + "a1f2e3d4c5b6a790"
_UPPER16 = "Q7WZ4T2M" + "9XKB3VND"


def _jwt() -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    head, body = part('{"alg":"HS256"}'), part('{"sub":"1234567890","n":"x"}')
    return f"{head}.{body}.{_A43}"


def _frag() -> str:
    return "gh" + "p_" + _A36


def _pem(kind: str, lines: int) -> str:
    body = "\n".join(f"MII{n}{_A36}{_A24}" for n in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


SHAPES = [
    Secret(label, "", "".join(parts))
    for label, parts in [
        ("OpenAI", ("sk", "-", _A24, _A24)),
        ("OpenAI project", ("sk", "-proj-", _A36, "_", _A36, "-", _A24)),
        ("OpenAI service account", ("sk", "-svcacct-", _A43, _A24)),
        ("Anthropic", ("sk", "-ant-api03-", _A43, "-", _A36, "AA")),
        ("OpenRouter", ("sk", "-or-v1-", _HEX64)),
        ("DeepSeek", ("sk", "-", _HEX32)),
        ("Langfuse", ("sk", "-lf-1f0c9d8e-7f6a-4b4c-a1f2-e3d4c5b6a790")),
        ("Groq", ("gsk", "_", _A36, _A24)),
        ("xAI", ("xai", "-", _A43, _A36)),
        ("Perplexity", ("pplx", "-", _A36)),
        ("Replicate", ("r8", "_", _A36)),
        ("Hugging Face", ("hf", "_", _A36[:34])),
        ("Cerebras", ("csk", "-", _HEX40)),
        ("Tavily", ("tvly", "-dev-", _A24)),
        ("LangSmith", ("lsv2", "_pt_", _HEX32, "_", "0a1b2c3d4e")),
        ("NVIDIA", ("nvapi", "-", _A43, _A24)),
        ("GitHub personal", ("gh", "p_", _A36)),
        ("GitHub OAuth", ("gh", "o_", _A36)),
        ("GitHub app", ("gh", "s_", _A36)),
        ("GitHub refresh", ("gh", "r_", _A36)),
        ("GitHub fine-grained", ("github", "_pat_", "11ABCDEFG0", _A24, "_", _A43)),
        ("GitLab", ("gl", "pat-", "Xy7_kL-m2Nq9Rs4Tv1Wz")),
        ("GitLab runner", ("gl", "rt-", _A24)),
        ("npm", ("npm", "_", _A36)),
        ("PyPI", ("pypi", "-AgEIcHlwaS5vcmc", _A43, _A36)),
        ("RubyGems", ("rubygems", "_", _HEX32, "0011223344556677")),
        ("crates.io", ("ci", "o", _A36[:32])),
        ("Docker", ("dckr", "_pat_", "Ab1-cD2_eF3gH4iJ5kL6mN7oP8q")),
        ("Atlassian", ("ATATT", "3", _A43, _A43, "=0A1B2C3D")),
        ("AWS key id", ("AKI", "A", _UPPER16)),
        ("AWS temporary", ("ASI", "A", _UPPER16)),
        ("Google", ("AIz", "a", _A43[:35])),
        ("Google OAuth", ("ya", "29.", _A43, _A24)),
        ("Google client", ("GOCSP", "X-", _A36[:28])),
        ("DigitalOcean", ("do", "p_v1_", _HEX64)),
        ("Alibaba", ("LTA", "I", _A24[:20])),
        ("Heroku", ("HRK", "U-AA", _A43, "_", _A24)),
        ("Fly", ("fm", "2_", _A43, _A43, "==")),
        ("Vercel", ("vc", "p_", _A36)),
        ("Netlify", ("nf", "p_", _A36)),
        ("Vault", ("hv", "s.CAESI", _A43)),
        ("Pulumi", ("pu", "l-", _HEX40)),
        ("Doppler", ("dp.", "pt.", _A43)),
        ("Terraform", ("Ab3dE6gH9jK2mN", ".atlas", "v1.", _A43, _A36)),
        ("Supabase", ("sb", "p_", _HEX40)),
        ("Supabase secret", ("sb", "_secret_", _A24, "_Ab12Cd34")),
        ("Databricks", ("dap", "i", _HEX32)),
        ("PlanetScale", ("pscale", "_tkn_", _A43)),
        ("Slack bot", ("xox", "b-", "123456789012-1234567890123-", _A24)),
        ("Slack user", ("xox", "p-", "123456789012-1234567890123-", _HEX32)),
        ("Slack app", ("xap", "p-1-A0B1C2D3E4F-1234567890123-", _HEX64)),
        ("Slack webhook", ("hooks.slack", ".com/services/T01234567/B01234567/", _A24)),
        ("Stripe", ("sk", "_live_", _A24)),
        ("Stripe restricted", ("rk", "_test_", _A24)),
        ("Stripe webhook", ("whsec", "_", _A36)),
        ("Twilio", ("S", "K", _HEX32)),
        ("SendGrid", ("S", "G.", "Ab1_cD2-eF3gH4iJ5kL6mN", ".", _A43)),
        ("Mailgun", ("key", "-", _HEX32)),
        ("Mailchimp", (_HEX32, "-us", "21")),
        ("Brevo", ("xkey", "sib-", _HEX64, "-", _A36[:16])),
        ("Linear", ("lin", "_api_", _A43[:40])),
        ("Notion", ("nt", "n_", _A43, "00")),
        ("Sentry", ("sntr", "yu_", _HEX64)),
        ("Grafana", ("gl", "sa_", _A36[:32], "_0a1b2c3d")),
        ("New Relic", ("NRA", "K-", "ABCDEFGHIJKLM0123456789NOPQ")),
        ("Shopify", ("shp", "at_", _HEX32)),
        ("Square", ("sq0", "csp-", _A43)),
        ("Figma", ("fig", "d_", _A43)),
        ("Postman", ("PMA", "K-", _HEX32[:24], "-", _HEX40[:34])),
        ("Airtable", ("pa", "t", _A36[:14], ".", _HEX64)),
        ("Telegram", ("123456789", ":A", "A", _A36[:33])),
        ("Discord", ("MTA0", _A24[:20], ".", "Gx3k9Q", ".", _A43[:38])),
        ("Discord webhook", ("/api/web", "hooks/", "123456789012345678/", _A43, _A24)),
        ("Azure client secret", ("Ab1", "8", "Q~", _A43[:34])),
        ("JSON Web Token", (_jwt(),)),
        ("age", ("AGE-SECRET", "-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2)),
    ]
]  # fmt: skip

KEYS = [
    Secret("RSA key", "", _pem("RSA PRIVATE" + " KEY", 6)),
    Secret("PKCS 8 key", "", _pem("PRIVATE" + " KEY", 3)),
    Secret("SSH key", "", _pem("OPENSSH PRIVATE" + " KEY", 5)),
]

NAMED = [
    Secret("environment", "export OPENAI_API_KEY=", "zX81" + "kLmQ2w99e"),
    Secret("environment, letters", "ADMIN_PASSWORD=", "hunter" + "hunterlong"),
    Secret("environment, quoted", 'SECRET_TOKEN="', "qq77" + "ww88ee99", '"'),
    Secret("_PASS", "SMTP_PASS=", "mA1l" + "er-pass", "\n"),
    Secret("number", "db.password: ", "7294" + "1836", ", x: 1"),
    Secret("any _KEY", "STRAPI_SIGN_KEY=", "rT5y" + "U6i7O8p9"),
    Secret("YAML", "  password: ", "s3cr" + "et-Pa55", "\n"),
    Secret("INI", "client_secret = ", "Hg8f" + "Jd7sKa6l"),
    Secret("JSON", '{"apiKey": "', "Mn3b" + "Vc2xZ1as", '"}'),
    Secret("JSON in JSON", '{\\"api_key\\": \\"', "Lk4j" + "Hg5fDs6a", '\\"}'),
    Secret("Python", 'password = "', "corr" + "ect horse 9", '"'),
    Secret("TypeScript", "const authToken: string = '", "Pq6r" + "St7uVw8x", "';"),
    Secret("flag", "tool --api-key ", "Xx4c" + "Cc3vVv2b", " run"),
    Secret("flag with =", "tool --token=", "Bb5n" + "Nn6mMm7k", " run"),
    Secret("flag of a word", "tool --password ", "Vv3b" + "Bb4nNn5m", " run"),
    Secret("YAML pair", "- name: APP_TOKEN\n  value: ", "Ee5r" + "Rr6tTt7y", "\n"),
    Secret("fish", "set -gx APP_TOKEN ", "Ff5g" + "Gg6hHh7j"),
    Secret("csh", "setenv APP_TOKEN ", "Jj5k" + "Kk6lLl7z"),
    Secret("curl cookie", "curl -b sid=", "Zz5x" + "Xx6cCc7v", " https://x.example"),
    Secret("percent", "https://x.example/?next=%2Fa%3Fk%3D", _frag(), "%26b"),
    Secret("XML", "<dbPassword>", "Yy7u" + "Uu8iIi9o", "</dbPassword>"),
    Secret("XML attribute", '<add key="ApiKey" value="', "Tt5y" + "Yy6uUu7i", '"/>'),
    Secret("label", "API key: ", "9Ww8" + "e7Rr6t5Yy"),
    Secret("Bearer", "Authorization: Bearer ", "Ww2e" + "Ee3rRr4t5y"),
    Secret("bearer in a command", "curl -H 'authorization: bearer ", "Oo9i" + "Ii8uUu7y6t", "' x"),
    Secret("Basic", "Authorization: Basic ", base64.b64encode(b"user:pa55word").decode()),
    Secret("x-api-key", "x-api-key: ", "Dd1f" + "Ff2gGg3h"),
    Secret("Cookie", "Cookie: sid=", "Aa1s" + "Ss2dDd3f", "; theme=dark"),
    Secret("Set-Cookie", "set-cookie: s=", "Zz9x" + "Xx8cCc7v", "; Path=/"),
    Secret("Postgres address", "postgres://app:", "pg-P" + "a55w0rd", "@db.internal:5432/app"),
    Secret("Redis address", "redis://:", "rd1s" + "Secret!", "@cache:6379/0"),
    Secret("Mongo address", "mongodb+srv://u:", "m0ng" + "0Pass%21", "@c.example.net/x"),
    Secret("proxy address", "http://corp:", "pr0x" + "yPass", "@proxy.example:3128"),
    Secret("token in an address", "https://", "Aa0Bb1Cc2Dd3" + "Ee4Ff5Gg6Hh7", "@github.com/x/y"),
    Secret("AWS secret", "aws_secret_access_key = ", "wJalr" + "XUtnFEMI/K7MDENG/bPxRfiCY9zzKEY"),
    Secret("Azure storage", "AccountName=a;AccountKey=", "Eby8vdM02xNOcqF" * 5 + "lqUwJ9aa=="),
    Secret("signed address", "https://b.example/x?se=1&sig=", "Kj8%2FhGf" * 6 + "%3D"),
    Secret("query key", "https://maps.example/v1?key=", "Rr5t" + "Tt6yYy7uUu8i"),
    Secret("npmrc", "//registry.example/:_authToken=", "Gg4h" + "Hh5jJj6k"),
    Secret("netrc", "machine x login joe password ", "nEtR" + "c-9911"),
    Secret("curl user", "curl -u joe:", "cUrL" + "-pa55", " https://x.example"),
    Secret("SQL", "CREATE USER x IDENTIFIED BY '", "sqlP" + "a55!x", "'"),
    Secret("PGPASSWORD", "PGPASSWORD=", "pGpA" + "ss99", " psql"),
]

SECRETS = SHAPES + KEYS + NAMED
