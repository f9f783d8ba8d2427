"""What the secrets of well-known providers look like, whatever stands around them.

Each shape has an anchor, a text that stands in every secret of the shape: looking for all anchors
at once is a hundred times cheaper than matching all patterns everywhere. A pattern is only tried where
its anchor stands, takes what fits without going back, and is bounded or possessive, so that the
cost is linear in the text.
"""

import re
import string
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.names import is_random

if TYPE_CHECKING:
    from collections.abc import Container, Iterator


_END = r"(?![A-Za-z0-9])"


class Span(NamedTuple):
    """Where a secret stands in a text, and whether more of it may follow after a line's end."""

    start: int
    end: int
    is_open: bool


class _Shape(NamedTuple):
    anchor: str
    pattern: re.Pattern[str]
    before: tuple[int, ...]  # how many characters of it may stand before the anchor
    is_open: bool  # of no fixed length
    is_word: bool = False  # no letter or digit follows


def _after(anchor: str, tail: str) -> _Shape:
    """Return a shape that begins with its anchor."""
    is_word = tail.endswith(_END)
    tail = tail.removesuffix(_END)
    is_open = bool(re.search(r"(?:,\}|\*)\+(?:=\{0,2\}\+)?$", tail))
    return _Shape(anchor, re.compile(re.escape(anchor) + tail), (), is_open, is_word)


def _around(anchor: str, before: tuple[int, ...], pattern: str) -> _Shape:
    """Return a shape that has something of its own before its anchor."""
    return _Shape(anchor, re.compile(pattern), before, is_open=False)


_WORD = r"[A-Za-z0-9_-]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}" + _END
_BCRYPT = r"[0-9]{2}\$[A-Za-z0-9./]{53}"
_CRYPT = r"(?:[a-z0-9=,]{1,20}\$)?[A-Za-z0-9./]{1,64}\$[A-Za-z0-9./]{13,}+"

# What has a beginning of its own: (anchor, the rest as a pattern).
_BEGINNINGS: tuple[tuple[str, str], ...] = (
    # Models
    ("sk-", _WORD + r"{16,}+"),  # OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse, ...
    ("gsk_", r"[A-Za-z0-9]{30,}+"),  # Groq
    ("xai-", r"[A-Za-z0-9]{30,}+"),
    ("pplx-", r"[A-Za-z0-9]{30,}+"),  # Perplexity
    ("r8_", r"[A-Za-z0-9]{30,}+"),  # Replicate
    ("hf_", r"[A-Za-z0-9]{30,}+"),  # Hugging Face
    ("api_org_", r"[A-Za-z0-9]{30,}+"),
    ("fw_", r"[A-Za-z0-9]{22,}+"),  # Fireworks
    ("csk-", r"[a-z0-9]{30,}+"),  # Cerebras
    ("tvly-", _WORD + r"{20,}+"),  # Tavily
    ("lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}" + _END),  # LangSmith
    ("nvapi-", _WORD + r"{40,}+"),  # NVIDIA
    ("pa-", r"[A-Za-z0-9_-]{40,}+"),  # Voyage
    ("tgp_v1_", r"[A-Za-z0-9_-]{30,}+"),  # Together
    ("AQ.", r"[A-Za-z0-9_-]{40,}+"),  # Gemini
    ("pcsk_", r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}+"),  # Pinecone
    ("sk_", r"[0-9a-f]{40,}+" + _END),  # ElevenLabs
    ("jina_", r"[A-Za-z0-9_-]{50,}+"),
    ("fc-", r"[0-9a-f]{32}" + _END),  # Firecrawl
    ("BSA", r"[A-Za-z0-9_-]{24,32}+" + _END),  # Brave
    ("key_", r"[0-9a-f]{64}" + _END),  # Cursor
    ("bedrock-api-key-", r"[A-Za-z0-9+/=]{40,}+"),
    ("ctx7sk-", _WORD + r"{20,}+"),
    ("e2b_", r"[0-9a-f]{40}" + _END),
    ("bb_live_", _WORD + r"{20,}+"),
    ("voyage-", r"[A-Za-z0-9_-]{40,}+"),
    ("sk.eyJ", r"[A-Za-z0-9+/_-]{20,}+\.[A-Za-z0-9_-]{16,}+"),  # Mapbox
    ("sk", r"[A-Za-z0-9]{80,}+"),  # Sanity
    # Code forges and registries
    ("ghp_", r"[A-Za-z0-9]{30,255}+"),  # GitHub
    ("gho_", r"[A-Za-z0-9]{30,255}+"),
    ("ghu_", r"[A-Za-z0-9]{30,255}+"),
    ("ghs_", r"[A-Za-z0-9]{30,255}+"),
    ("ghr_", r"[A-Za-z0-9]{30,255}+"),
    ("github_pat_", r"[A-Za-z0-9_]{22,255}+"),
    ("glpat-", r"[A-Za-z0-9_-]{20,}+(?:\.[a-z0-9.]{2,}+)?"),  # GitLab
    ("gloas-", r"[A-Za-z0-9_-]{20,}+"),
    ("gldt-", r"[A-Za-z0-9_-]{20,}+"),
    ("glrt-", r"[A-Za-z0-9_.-]{20,}+"),
    ("glcbt-", r"[A-Za-z0-9_-]{20,}+"),
    ("glptt-", r"[A-Za-z0-9_-]{20,}+"),
    ("glft-", r"[A-Za-z0-9_-]{20,}+"),
    ("glimt-", r"[A-Za-z0-9_-]{20,}+"),
    ("glagent-", r"[A-Za-z0-9_-]{20,}+"),
    ("npm_", r"[A-Za-z0-9]{36}" + _END),
    ("pypi-", r"[A-Za-z0-9_-]{40,}+"),
    ("rubygems_", r"[0-9a-f]{48}" + _END),
    ("cio", r"[A-Za-z0-9]{32}" + _END),  # crates.io
    ("CLOJARS_", r"[a-z0-9]{60}" + _END),
    ("dckr_", r"[op]at_[A-Za-z0-9_-]{20,}+"),  # Docker
    ("AKCp", r"[A-Za-z0-9]{60,}+"),  # Artifactory
    ("ATATT3", r"[A-Za-z0-9_=-]{40,}+"),  # Atlassian
    ("ATCTT3", r"[A-Za-z0-9_=-]{40,}+"),
    ("bkua_", r"[0-9a-f]{40}" + _END),  # Buildkite
    ("CCIPAT_", r"[A-Za-z0-9_]{30,}+"),  # CircleCI
    ("sgp_", r"(?:[0-9a-fA-F]{16}_|local_)?[0-9a-f]{40}" + _END),  # Sourcegraph
    ("ghs_", r"[0-9]{1,12}_eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    ("glsoat-", r"[A-Za-z0-9_-]{20,}+"),
    ("glffct-", r"[A-Za-z0-9_-]{20,}+"),
    ("glrtr-", r"[A-Za-z0-9_.-]{20,}+"),
    ("glwt-", r"[A-Za-z0-9_-]{20,}+"),
    ("GR1348941", r"[A-Za-z0-9_-]{20,}+"),
    ("ATBB", r"[A-Za-z0-9]{28,}+"),  # Bitbucket
    ("oy2", r"[a-z0-9]{43}" + _END),  # NuGet
    ("cmVmd", r"[A-Za-z0-9]{59}" + _END),  # JFrog
    ("jsrp_", r"[A-Za-z0-9]{30,}+"),
    ("npg_", r"[A-Za-z0-9]{12,}+"),  # Neon
    ("4b1d", r"[A-Za-z0-9]{38}" + _END),  # ClickHouse
    ("tk-us-", r"[A-Za-z0-9_-]{40,}+"),  # Scalingo
    ("sha256~", r"[A-Za-z0-9_-]{40,}+"),  # OpenShift
    ("tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{8,}+(?:-[A-Za-z0-9]{8,}+)?"),  # Tailscale
    ("t1.", r"[A-Za-z0-9_-]{40,}+={0,2}\.[A-Za-z0-9_-]{80,}+={0,2}"),  # Yandex
    ("YC", r"[A-Za-z0-9_-]{38}(?![A-Za-z0-9_-])"),
    ("hvr.", r"[A-Za-z0-9_-]{24,}+"),
    (
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"
        + _END,
    ),
    ("st.", r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}" + _END),  # Infisical
    ("eyJrIjoi", r"[A-Za-z0-9+/]{60,}+={0,3}"),  # Grafana
    ("ddapp_", r"[A-Za-z0-9]{30,}+"),
    ("NRII-", r"[A-Za-z0-9_-]{20,}+"),
    ("NRJS-", r"[0-9a-f]{19}" + _END),
    ("dt0s", r"[0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + _END),  # Dynatrace
    ("hcaik_", r"[a-z0-9]{50,}+"),  # Honeycomb
    ("hcaic_", r"[a-z0-9]{50,}+"),
    ("hcbik_", r"[a-z0-9]{50,}+"),
    ("hcxik_", r"[a-z0-9]{50,}+"),
    ("phx_", r"[A-Za-z0-9]{40,}+"),  # PostHog
    ("API-", r"[A-Z0-9]{26,}+" + _END),  # Octopus
    ("pnu_", r"[A-Za-z0-9]{36}" + _END),  # Prefect
    ("pat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}" + _END),  # Harness
    ("sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}" + _END),
    ("squ_", r"[0-9a-f]{40}" + _END),  # SonarQube
    ("sqp_", r"[0-9a-f]{40}" + _END),
    ("sqa_", r"[0-9a-f]{40}" + _END),
    ("ico-", r"[A-Za-z0-9]{32}" + _END),  # Infracost
    ("rootly_", r"[0-9a-f]{64}" + _END),
    ("sdk-", _UUID),  # LaunchDarkly
    ("api-", _UUID),
    ("mob-", _UUID),
    ("secret-", r"[A-Za-z0-9]{36,}+"),  # Statsig
    ("console-", r"[A-Za-z0-9]{36,}+"),
    ("dnkey-", r"[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{50,}+"),
    ("md-", r"[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])"),  # Mandrill
    ("access_token$", r"(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}" + _END),
    ("access-", r"(?:sandbox|development|production)-[0-9a-f-]{36}" + _END),  # Plaid
    ("shippo_", r"(?:live|test)_[0-9a-f]{40}" + _END),
    ("EZAK", r"[A-Za-z0-9]{54}" + _END),
    ("EZTK", r"[A-Za-z0-9]{54}" + _END),
    ("FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{32}-X" + _END),
    ("live_", r"[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])"),  # GoCardless
    ("duffel_", r"(?:live|test)_[A-Za-z0-9_=-]{43}" + _END),
    ("fio-u-", r"[A-Za-z0-9_=-]{60,}+"),
    ("rdme_", r"[a-z0-9]{70}" + _END),
    ("tfp_", r"[A-Za-z0-9_.=-]{59}" + _END),
    ("amzn.mws.", r"[0-9a-f-]{36}" + _END),
    ("sl.", r"[A-Za-z0-9_=-]{120,}+"),  # Dropbox
    ("p8e-", r"[A-Za-z0-9]{32}" + _END),
    ("pat-", r"(?:na|eu|ap)[0-9]{1,2}-[0-9a-f-]{36}" + _END),  # HubSpot
    ("pk_", r"[0-9]{6,10}_[A-Z0-9]{32}" + _END),  # ClickUp
    ("s-s4t2", r"(?:ud|af)-[0-9a-f]{64}" + _END),  # Intra42
    ("sc_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}+"),
    ("ext_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}+"),
    ("cnvca", r"[A-Za-z0-9]{40,}+"),
    ("zpka_", r"[0-9a-f]{32}_[0-9a-f]{8}" + _END),
    ("waka_", _UUID),
    ("cfk_", r"[A-Za-z0-9]{40,}+"),
    ("lip_", r"[A-Za-z0-9]{20,}+"),
    ("ubr_", r"[A-Za-z0-9_-]{30,}+"),
    ("ghl_", r"[A-Za-z0-9]{30,}+"),
    ("$2a$", _BCRYPT),
    ("$2b$", _BCRYPT),
    ("$2y$", _BCRYPT),  # hashes of passwords
    ("$6$", _CRYPT),
    ("$5$", _CRYPT),
    ("$1$", _CRYPT),
    ("$apr1$", _CRYPT),
    ("$y$", _CRYPT),
    ("$argon2", r"id?\$[A-Za-z0-9+/=,$]{20,400}+"),
    ("FlyV1 ", r"f[mo][0-9]_[A-Za-z0-9+/=_,-]{20,}+"),
    # Clouds
    ("AKIA", r"[A-Z0-9]{16}" + _END),  # AWS
    ("ASIA", r"[A-Z0-9]{16}" + _END),
    ("ABIA", r"[A-Z0-9]{16}" + _END),
    ("ACCA", r"[A-Z0-9]{16}" + _END),
    ("ABSK", r"[A-Za-z0-9+/]{100,}+={0,2}+"),  # AWS Bedrock
    ("AIza", r"[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),  # Google
    ("ya29.", r"[0-9A-Za-z_.-]{20,}+"),
    ("GOCSPX-", r"[A-Za-z0-9_-]{20,}+"),
    ("1//0", r"[A-Za-z0-9_-]{40,}+"),
    ("dop_v1_", r"[0-9a-f]{64}" + _END),  # DigitalOcean
    ("doo_v1_", r"[0-9a-f]{64}" + _END),
    ("dor_v1_", r"[0-9a-f]{64}" + _END),
    ("LTAI", r"[A-Za-z0-9]{17,26}" + _END),  # Alibaba
    ("AKID", r"[A-Za-z0-9]{32,}+"),  # Tencent
    ("AQVN", r"[A-Za-z0-9_-]{35,}+"),  # Yandex
    ("HRKU-", r"[A-Za-z0-9_-]{30,}+"),  # Heroku
    ("fo1_", r"[A-Za-z0-9_-]{40,}+"),  # Fly
    ("fm2_", r"[A-Za-z0-9+/=_-]{40,}+"),
    ("vcp_", r"[A-Za-z0-9]{20,}+"),  # Vercel
    ("vck_", r"[A-Za-z0-9]{20,}+"),
    ("vci_", r"[A-Za-z0-9]{20,}+"),
    ("vca_", r"[A-Za-z0-9]{20,}+"),
    ("vcr_", r"[A-Za-z0-9]{20,}+"),
    ("vercel_blob_rw_", r"[A-Za-z0-9_]{20,}+"),
    ("nfp_", r"[A-Za-z0-9]{30,}+"),  # Netlify
    ("rnd_", r"[A-Za-z0-9]{28,}+"),  # Render
    ("cfut_", r"[A-Za-z0-9]{30,}+"),  # Cloudflare
    ("cfat_", r"[A-Za-z0-9]{30,}+"),
    ("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}+"),
    ("hvs.", r"[A-Za-z0-9_-]{24,}+"),  # Vault
    ("hvb.", r"[A-Za-z0-9_-]{24,}+"),
    ("pul-", r"[0-9a-f]{40}" + _END),  # Pulumi
    ("dp.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}+"),  # Doppler
    ("ops_eyJ", r"[A-Za-z0-9+/=_-]{100,}+"),  # 1Password
    ("AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}+"),
    # Data
    ("sbp_", r"[0-9a-f]{40}" + _END),  # Supabase
    ("sb_secret_", r"[A-Za-z0-9_-]{20,}+"),
    ("dapi", r"[0-9a-f]{32}(?:-[0-9])?" + _END),  # Databricks
    ("pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}+"),  # PlanetScale
    ("napi_", r"[a-z0-9]{40,}+"),  # Neon
    ("patp_", r"[A-Za-z0-9]{30,}+"),
    # Services
    ("xoxb-", r"[A-Za-z0-9-]{10,}+"),  # Slack
    ("xoxp-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxa-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxr-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxs-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxo-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxc-", r"[A-Za-z0-9-]{10,}+"),
    ("xoxd-", r"[A-Za-z0-9%/+_=-]{10,}+"),
    ("xoxe", r"(?:\.xox[bp])?-[A-Za-z0-9-]{10,}+"),
    ("xapp-", r"[0-9]-[A-Za-z0-9-]{20,}+"),
    ("sk_live_", r"[A-Za-z0-9]{16,}+"),  # Stripe
    ("sk_test_", r"[A-Za-z0-9]{16,}+"),
    ("rk_live_", r"[A-Za-z0-9]{16,}+"),
    ("rk_test_", r"[A-Za-z0-9]{16,}+"),
    ("whsec_", r"[A-Za-z0-9+/]{24,}+={0,2}+"),
    ("SK", r"[0-9a-f]{32}" + _END),  # Twilio
    ("SG.", _WORD + r"{16,64}+\." + _WORD + r"{16,}+"),  # SendGrid
    ("key-", r"[0-9a-f]{32}" + _END),  # Mailgun
    ("xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}" + _END),  # Brevo
    ("re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),  # Resend
    ("lin_api_", r"[A-Za-z0-9]{32,}+"),  # Linear
    ("lin_oauth_", r"[A-Za-z0-9]{32,}+"),
    ("ntn_", r"[A-Za-z0-9]{40,}+"),  # Notion
    ("secret_", r"[A-Za-z0-9]{43}" + _END),
    ("sntrys_", r"[A-Za-z0-9_=+/-]{40,}+"),  # Sentry
    ("sntryu_", r"[0-9a-f]{64}" + _END),
    ("glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}" + _END),  # Grafana
    ("glc_", r"[A-Za-z0-9+/]{32,}+={0,2}+"),
    ("NRAK-", r"[A-Z0-9]{27}" + _END),  # New Relic
    ("shpat_", r"[0-9a-fA-F]{32}" + _END),  # Shopify
    ("shpca_", r"[0-9a-fA-F]{32}" + _END),
    ("shppa_", r"[0-9a-fA-F]{32}" + _END),
    ("shpss_", r"[0-9a-fA-F]{32}" + _END),
    ("sq0atp-", r"[A-Za-z0-9_-]{22,}+"),  # Square
    ("sq0csp-", r"[A-Za-z0-9_-]{22,}+"),
    ("EAA", r"[A-Za-z0-9_-]{60,}+"),  # Square, Facebook
    ("figd_", r"[A-Za-z0-9_-]{36,}+"),  # Figma
    ("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}" + _END),  # Postman
    ("CFPAT-", r"[A-Za-z0-9_-]{40,}+"),  # Contentful
    ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}" + _END),  # Dynatrace
    (
        "eyJ",
        rf"{_WORD}{{8,512}}+\.{_WORD}{{8,8192}}+\.(?:{_WORD}{{8,}}+(?:\.{_WORD}++)*+|\.{_WORD}++\.{_WORD}++\.{_WORD}++)?",
    ),  # JSON Web Tokens
)

_OTHERS: tuple[_Shape, ...] = (
    _around(":AA", (10, 9, 8), r"(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),  # Telegram
    _around("Q~", (4,), r"(?<![A-Za-z0-9_.~-])[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34}"),  # Azure
    _around(".atlasv1.", (14,), r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}+"),  # Terraform
    _around("-us", (32,), r"(?<![A-Za-z0-9])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])"),  # Mailchimp
    _around("pat", (0,), r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![A-Za-z0-9])"),  # Airtable
    _around("hooks.slack.com/", (0,), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,}+"),
    _around("/api/webhooks/", (0,), r"/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{40,}+"),  # Discord
    _around(".webhook.office.com/", (0,), r"\.webhook\.office\.com/\S{20,}+"),
    _around("hooks.zapier.com/", (0,), r"hooks\.zapier\.com/hooks/catch/[0-9]+/[a-z0-9]{6,}+"),
    _around("AzSe", (39,), r"(?<![A-Za-z0-9])[A-Za-z0-9]{39}AzSe[A-Za-z0-9]{10}(?![A-Za-z0-9])"),
    _around("AzFu", (44, 43), r"[A-Za-z0-9_-]{43,44}AzFu[A-Za-z0-9_-]{5,6}={0,2}"),
    _around("+ASt", (76, 75), r"[A-Za-z0-9+/]{75,76}\+ASt[A-Za-z0-9+/]{8}={0,2}"),
    _around("+AEh", (33,), r"[A-Za-z0-9+/]{33}\+AEh[A-Za-z0-9+/]{6,7}={0,2}"),
    _around("+ACR", (42,), r"[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9+/]{6,7}={0,2}"),
    _around("AZDO", (60, 76, 75, 74, 73, 72), r"(?<![A-Za-z0-9])[A-Za-z0-9]{60,76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    _around("FFFFNRAL", (36,), r"(?<![A-Za-z0-9])[0-9a-f]{36}FFFFNRAL(?![A-Za-z0-9])"),
    _around("NRAL", (36,), r"(?<![A-Za-z0-9])[0-9a-f]{36}NRAL(?![A-Za-z0-9])"),
    _around("_mmk", (36,), r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    _around("|", (16, 15), r"(?<![A-Za-z0-9])[0-9]{15,16}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])"),  # Facebook
    _around("2/", (0,), r"(?<![A-Za-z0-9.-])2/[0-9]{16}/[0-9]{16}:[0-9a-f]{32}(?![A-Za-z0-9])"),  # Asana
    _around("@gems.contribsys.com", (17,), r"(?<![A-Za-z0-9])[0-9a-f]{8}:[0-9a-f]{8}(?=@gems\.contribsys\.com)"),
    _around("-Security-Token=", (0,), r"-Security-Token=[A-Za-z0-9%+/=_-]{20,}+"),
    _around("Signature=", (0,), r"Signature=[A-Za-z0-9%+/=_~-]{20,}+"),
    _around("sig=", (0,), r"(?<![A-Za-z0-9])sig=[A-Za-z0-9%+/]{40,}+={0,2}"),  # Azure, signed URLs
)  # fmt: skip

# A Discord bot's token has no anchor but its shape.
_DISCORD = re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}+")
_DISCORD_HEAD = re.compile(r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,27}\Z")
_DISCORD_HEAD_LENGTH = 29
_LONG = 20
_WORDS = frozenset(string.ascii_letters + string.digits + "_")

_SHAPES = (*(_after(anchor, tail) for anchor, tail in _BEGINNINGS), *_OTHERS)
ANCHORS: tuple[str, ...] = tuple(dict.fromkeys(shape.anchor for shape in _SHAPES))
"""One of these stands in every text with a secret of a known shape, but for Discord's."""
_ANCHORS = Finder(ANCHORS)
_BY_ANCHOR = {anchor: [shape for shape in _SHAPES if shape.anchor == anchor] for anchor in ANCHORS}

_SOFT = (
    "sk-",
    "pa-",
    "secret-",
    "live_",
    "md-",
    "voyage-",
    "console-",
    "YC",
    "BSA",
    "sl.",
    "glc_",
)  # anchors that ordinary names with hyphens have as well


def is_dense(text: str) -> bool:
    """Tell whether a text has a run of letters and digits as only random text has.

    >>> is_dense("sk-proj-Zk3vW9qLx72M"), is_dense("sk-folding-cube-before-5")
    (True, False)
    """
    for run in re.findall(r"[A-Za-z0-9]{12,}+", text):
        has_digit = any(map(str.isdigit, run))
        if has_digit and not run.isdigit():
            return True
        if len(run) >= _LONG and not (run.islower() or run.isupper() or has_digit):
            return True
    return False


def find_shapes(text: str, seams: "Container[int]" = ()) -> "Iterator[Span]":
    """Yield where a secret of a known shape stands. Linear in the text.

    Args:
        text: Where to look.
        seams: Where lines of a text that was folded to one meet: a secret may begin there.

    """
    done: dict[_Shape, int] = {}
    for at, anchor in _ANCHORS.matches(text):
        for shape in _BY_ANCHOR[anchor]:
            if at >= done.get(shape, 0) and (span := _at(shape, text, at, seams)) is not None:
                done[shape] = span.end
                if shape.anchor not in _SOFT or _is_soft_secret(text[span.start : span.end]):
                    yield span
    for match in _DISCORD.finditer(text):
        start = max(match.start() - _DISCORD_HEAD_LENGTH, 0)
        head = _DISCORD_HEAD.search(text[start : match.start()])
        if head is not None:
            yield Span(start + head.start(), match.end(), is_open=True)


def _is_soft_secret(text: str) -> bool:
    return is_dense(text) or is_random(text)


def _at(shape: _Shape, text: str, at: int, seams: "Container[int]") -> Span | None:
    """Return the secret of a shape whose anchor stands at a place."""
    if shape.before:
        match = None
        for before in shape.before:
            if before <= at and (match := shape.pattern.match(text, at - before)) is not None:
                break
    elif _begins(text, at, seams):
        match = shape.pattern.match(text, at)
    else:
        return None
    if match is None or (shape.is_word and _goes_on(text, match.end(), seams)):
        return None
    return Span(match.start(), match.end(), shape.is_open)


def _begins(text: str, at: int, seams: "Container[int]") -> bool:
    """Tell whether a word may begin at a place; behind ``%3D`` one may."""
    return at == 0 or text[at - 1] not in _WORDS or at in seams or text[max(at - 3, 0)] == "%"


def _goes_on(text: str, at: int, seams: "Container[int]") -> bool:
    """Tell whether a letter or digit stands at a place, and in the same word as what is before it."""
    return at < len(text) and text[at] in _WORDS and text[at] != "_" and at not in seams
