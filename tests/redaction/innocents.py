"""What looks like a secret and is none: it must stay, wherever it stands."""

import base64
import hashlib
import json

_SHA1 = hashlib.sha1(b"x").hexdigest()
_SHA256 = hashlib.sha256(b"x").hexdigest()
_SHA512 = base64.b64encode(hashlib.sha512(b"x").digest()).decode()
_PIXELS = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + hashlib.sha512(b"p").digest() * 9
).decode()
_UUID = "8c5d1b2e-7f3a-4e6b-9d0c-1a2b3c4d5e6f"

INNOCENTS: dict[str, str] = {
    # Hashes, numbers and ids
    "git commit": f"commit {_SHA1}",
    "short commit": "fixed in 4de9df4 and 5fd7568",
    "SHA-256": _SHA256,
    "MD5": hashlib.md5(b"x").hexdigest(),
    "checksum line": f"{_SHA256}  acp_proxy-0.1.0-py3-none-any.whl",
    "integrity": f'"integrity": "sha512-{_SHA512}"',
    "Python lock": f"    --hash=sha256:{_SHA256} \\",
    "Go sum": f"example.org/x/mod v0.17.0 h1:{_SHA512[:43]}=",
    "image digest": f"docker.example/app@sha256:{_SHA256}",
    "UUID": _UUID,
    "session id": f"sessionId: {_UUID}",
    "session ULID": "session=01J9ZQ4K7M2N8P6R5T3V1W0X9Y",
    "tool use id": "toolu_01A09q90qw90lq917835lq9",
    "call id": "call_Zk3vW9qLx72MaB8cD9eF0gH1",
    "message id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "request id": "X-Request-Id: req_011CSHoEeqs5C35K2UUqR7Fy",
    "trace": "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "ETag": 'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "MAC": "00:1B:44:11:3A:B7",
    "IPv6": "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    "phone": "+49 30 123456789",
    "time": "2026-11-29T19:43:11.762174000Z",
    "numbers": "0x7ffd5e8c4a30 3.141592653589793 1e-10 9007199254740993",
    # Versions and paths
    "version": "acp-proxy 1.2.3-beta.4+build.5678",
    "requirement": "click>=8.3,<9; python_version >= '3.11'",
    "path": "/home/me/projects/token-service/src/auth/password_reset.py:120",
    "Windows path": "C:\\Users\\new\\tokens\\secret.txt",
    "key file": "password_file=/run/secrets/db_password",
    "package path": "node_modules/.pnpm/sk-learn@1.2.3/node_modules/task-runner-extension-2024",
    "address": "https://example.org/a/b?page=2&sort=desc#section-3",
    "address with @": "https://registry.example/@scope/package/-/package-1.2.3.tgz",
    "git address": "git@github.com:owner/repository.git",
    "port": "http://localhost:3000/api and 127.0.0.1:8080",
    "e-mail": "Jane Doe <jane.doe1977@example.org>",
    "branch": "feature/token-refresh-2024-11",
    # Pictures and keys that are public
    "picture": f"data:image/png;base64,{_PIXELS}",
    "base64": _PIXELS,
    "SSH public key": f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{_SHA512[:40]} me@host",
    "public key": f"-----BEGIN PUBLIC KEY-----\n{_SHA512[:64]}\n-----END PUBLIC KEY-----",
    "certificate": f"-----BEGIN CERTIFICATE-----\n{_SHA512[:64]}\n-----END CERTIFICATE-----",
    "colour": "color: #a1b2c3d4; background: rgba(1, 2, 3, .5)",
    "style": ".sk-chasing-dot-before-animation-5 { animation: sk-folding-cube-angle-2400 }",
    # Names that say secret, with values that are none
    "limit": "max_tokens: 4096, max_output_tokens=8192",
    "usage": json.dumps({"inputTokens": 1234, "outputTokens": 99, "cachedReadTokens": 100000}),
    "usage in words": "Tokens: 12,345 input, 678 output (tokens: 9.5k)",
    "token type": "token_type=bearer&expires_in=3600",
    "token count": '"token_count": 15, "tokenizer": "cl100k_base"',
    "TypeScript": "interface Login { user: string; password: string; token?: string | null }",
    "Rust": "pub struct Config { pub api_key: Option<String>, pub secret: SecretString }",
    "Python": "def connect(host: str, password: str = None, token: str | None = None) -> None:",
    "call": "password = getpass.getpass('Password: ')",
    "lookup": "api_key = os.environ['OPENAI_API_KEY']",
    "lookup in JavaScript": "const apiKey = process.env.API_KEY ?? config.apiKey;",
    "other name": "self.token = token; this.password = form.password",
    "comparison": "if token == expected_token and secret != other:",
    "index": "token = tokens[index]; key = keys[0]",
    "reference": "api-key: ${OPENAI_API_KEY}, Authorization: Bearer $TOKEN",
    "placeholder": "export API_KEY=<your key here> --token <token>",
    "your key": "API_KEY=your-api-key-here",
    "stars": "password: ********, token=xxxxxxxx",
    "empty": "PASSWORD=\nTOKEN=''\nNEXT=1",
    "Kubernetes": "secretName: my-tls-2024\nsecretKeyRef: {name: db, key: url}",
    "documentation": "Set the API key: it is read from the environment. Tokens: see below.",
    "prose": "The password must be at least 8 characters. Secret: keep it. Token, key and cookie.",
    "Bearer in words": "Bearer authentication is required; use the bearer token of your account",
    "Basic in words": "Basic authentication; basic knowledge of BasicAuth",
    "header in words": "The Authorization header: clients send it with each request",
    "cookie in words": "This site uses cookies: see the cookie banner",
    "schema": json.dumps({"properties": {"password": {"type": "string", "minLength": 8}}}),
    "label": json.dumps({"password": {"label": "Your password"}, "tokenLabel": "API token 2"}),
    "other words": "monkey=banana1234 keyboard: US-intl-2024 author: Jane1977 bypass=rule77",
    "authority": "authority=example.com:443 secretary: Anna99x passing: 12",
    "database without password": "postgres://db.internal:5432/app?sslmode=require",
    "user only": "ssh://deploy@host.example:22/srv and redis://cache:6379/0",
    "code": "for (const key of Object.keys(map)) { total += map[key].count ** 2 }",
    "diff": "@@ -12,7 +12,9 @@ def tokenize(text: str) -> list[Token]:",
    "regular expression": r"re.compile(r'^[A-Za-z0-9_-]{20,}$')",
    "shell": "git log --author=me1977 --since=2024-01-01 -u origin:main",
    "words": "disk-io-wait-2024-11-29T10 ask-me-anything-about-tokens risk_management_2024",
    "minified": "function a(b,c){return b.token=c.key,b.secret=!0,c?d[e]:f(g)}var h=1;",
    "snake": "session_update agent_message_chunk terminal_output_delta tool_call_content_chunk",
    "Japanese": "\u5bc6\u7801\u306f8\u6587\u5b57\u4ee5\u4e0a\u3067\u3059 token\u306e\u6570: 42",
    "EAA, SK, AC": "EAArly SKU SK-1234 AC12 SG.com AKIAlike ASIAN dapify",
}
