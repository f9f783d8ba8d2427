"""Which names say secret, which values are none, and which are remembered."""

import pytest

from acp_proxy.redaction.names import is_harmless, is_memorable, may_be_secret, says_secret

SAYING = """
    API_KEY OPENAI_API_KEY openaiApiKey x-api-key X-Auth-Token apikey CONTEXT7_API_KEY FOO_KEY
    STRIPE_SECRET_KEY client_secret clientSecret SECRET_KEY_BASE password dbPassword PGPASSWORD
    DB_PASS smtp_pass MYSQL_PWD passphrase TOKEN accessToken refresh_token INPUT_TOKEN GH_TOKEN
    authToken _authToken id_token Cookie Set-Cookie Authorization Proxy-Authorization credentials
    connectionString SENTRY_DSN jwt privateKey encryption_key session.key TEST_API_KEY
""".split()  # noqa: SIM905 - a list of words
SILENT = """
    key keys name value monkey keyboard author authority secretary passage passed bypass tokenizer
    inputTokens max_tokens totalTokens token_count tokenType token_url token_endpoint password_file
    secretName API_KEY_ENV publicKey PUBLIC_KEY PUBLIC_API_KEY sessionId toolCallId authMethods
    messageId first_pass path cwd env headers compass primary foreign
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", SAYING)
def test_a_name_says_secret(name: str) -> None:
    assert says_secret(name)


@pytest.mark.parametrize("name", SILENT)
def test_a_name_says_nothing(name: str) -> None:
    assert not says_secret(name)


def test_a_password_may_be_a_number_and_a_token_is_none() -> None:
    assert may_be_secret("PASSWORD", "12345678")
    assert not may_be_secret("TOKEN", "12345678")
    assert not may_be_secret("PASSWORD", "true")


@pytest.mark.parametrize(
    "value", ["", " ", "null", "$X", "${X:-y}", "<x>", "%s", "{}", "***", "8k"]
)
def test_what_stands_for_a_value_is_harmless(value: str) -> None:
    assert is_harmless(value) == (value != "${X:-y}")


@pytest.mark.parametrize("value", ["short", "a-name-of-words", "v1.2.3", "example.org", "~/x/y z"])
def test_what_is_not_a_secret_s_own_is_not_remembered(value: str) -> None:
    assert not is_memorable(value)
