"""Some secrets of the table that everybody writes alike: for tests of other things than finding.

Each is a label, what stands before the secret, the secret, and what stands behind it. Those of
SHAPES and KEYS are known by themselves, those of NAMED by what stands around them.
"""

from typing import NamedTuple

from tests.redaction.made_up import Shape
from tests.redaction.named_secrets import NAMED as _NAMED
from tests.redaction.vendor_secrets import VENDORS


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


_VENDORS = """
    OpenAI; OpenAI project; OpenAI service account; Anthropic; OpenRouter; DeepSeek;
    Langfuse secret; Groq; xAI; Perplexity; Replicate; Hugging Face; Cerebras; Tavily; LangSmith;
    NVIDIA; GitHub personal; GitHub OAuth; GitHub server to server; GitHub refresh;
    GitHub fine-grained; GitLab personal; GitLab runner; npm; PyPI; RubyGems; crates.io; Docker;
    Atlassian; AWS key; AWS temporary key; Google API; Google OAuth; Google client secret;
    DigitalOcean personal; Alibaba; Heroku; Fly; Vercel; Netlify; Vault service; Pulumi; Doppler;
    Terraform; Supabase personal; Supabase secret; Databricks; PlanetScale; Slack bot; Slack user;
    Slack app; Stripe live; Stripe restricted; Stripe webhook; Twilio; SendGrid; Mailgun; Mailchimp;
    Brevo; Linear; Notion; Sentry user; Grafana service account; New Relic user; Shopify;
    Square secret; Figma; Postman; Airtable; Telegram; Discord bot; Azure client secret; JWT; age
"""
_KEYS = "PEM, RSA; PEM; PEM, OpenSSH"
_CONTEXTS = """
    env file; env file, quoted; export; PGPASSWORD; KEY; YAML; INI; JSON;
    JSON, in a string; Python; TypeScript; flag; flag, equals; YAML, name and value; fish; setenv;
    XML; XML, app settings; Authorization Bearer; curl -H; Authorization Basic; X-Api-Key;
    Cookie; Set-Cookie; Postgres; Redis; Mongo, SRV; proxy; git address, token only;
    AWS credentials; Azure storage; query, sig; query, key; npmrc; netrc; curl -u; SQL identified
"""


def _of(table: list[Shape], names: str) -> list[Shape]:
    shapes = {shape.name: shape for shape in table}
    return [shapes[" ".join(name.split())] for name in names.split(";")]


def _around(shape: Shape) -> Secret:
    before, secret, after = shape.text.partition(shape.secrets[0])
    return Secret(shape.name, before, secret, after)


SHAPES = [Secret(shape.name, "", shape.text) for shape in _of(VENDORS, _VENDORS)]
KEYS = [Secret(shape.name, "", shape.text) for shape in _of(VENDORS, _KEYS)]
NAMED = [_around(shape) for shape in _of(_NAMED, _CONTEXTS)]
SECRETS = SHAPES + KEYS + NAMED
