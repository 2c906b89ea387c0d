"""Libraries for schemes that more than one vendor uses."""

import base64
import datetime
import hashlib
import urllib.parse

# Imported first, because it registers libraries under the names that others use.
from vendors import (
    KEY,
    ODD,
    PLAIN_SECRET,
    SECONDS,
    SECRET,
    SECRET_BASE64,
    TOKEN,
    Case,
    Expected,
    Moment,
    Row,
    case_of,
    lower,
    without_init,
)

import escherauth.escherauth as escherauth
import http_message_signatures
import mohawk.base
import requests
from httpsig.requests_auth import HTTPSignatureAuth
from recipes import NONCE_HEX
from requests_oauthlib import OAuth1
from standardwebhooks import Webhook

without_init("svix")

from svix.webhooks import Webhook as SvixWebhook

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ODD_QUERY = urllib.parse.urlencode(ODD, quote_via=urllib.parse.quote)
BODY = '{"a":"ü + 1"}'.encode()


def quoted(signed, name):
    """The value of NAME="…" in the Authorization line."""
    return lower(signed).get("authorization", "").partition(f'{name}="')[2].partition('"')[0]


def hawk(method, url, body=None, headers=(), hashed=True):
    def expect(signed):
        sender = mohawk.Sender(
            {"id": KEY, "key": PLAIN_SECRET, "algorithm": "sha256"},
            url,
            method,
            content=(body or b"") if hashed else mohawk.base.EmptyValue,
            content_type=dict(headers).get("Content-Type", "") if hashed else mohawk.base.EmptyValue,
            always_hash_content=hashed,
            nonce=quoted(signed, "nonce"),
            _timestamp=SECONDS,
        )
        return Expected({"Authorization": sender.request_header})

    return Case(method, url, expect, body, dict(headers))


def oauth1(signature, method, url, body=None, headers=(), token=False, realm=None):
    def expect(signed):
        auth = OAuth1(
            KEY,
            PLAIN_SECRET,
            TOKEN if token else None,
            "token secret/+=" if token else None,
            signature_method=signature,
            nonce=quoted(signed, "oauth_nonce") or "1",
            timestamp=str(SECONDS),
            realm=realm,
        )
        request = requests.Request(method, url, data=body, headers=dict(headers), auth=auth).prepare()
        value = request.headers["Authorization"]
        return Expected({"Authorization": value.decode() if isinstance(value, bytes) else value})

    return Case(method, url, expect, body, dict(headers))


def cavage(method, url, body=None, headers=()):
    given = {"Host": urllib.parse.urlsplit(url).netloc, "Date": "Tue, 14 Nov 2023 22:13:20 GMT", **dict(headers)}
    names = ["(request-target)", "host", "date"]

    def expect(signed):
        if body:
            # The library signs its caller's digest.
            given["Digest"] = "SHA-256=" + base64.b64encode(hashlib.sha256(body).digest()).decode()
        signed_names = names + (["digest"] if body else [])
        auth = HTTPSignatureAuth(KEY, PLAIN_SECRET, "hmac-sha256", signed_names)
        request = requests.Request(method, url, data=body, headers=given, auth=auth).prepare()
        return Expected({name: request.headers[name] for name in ("Date", "Authorization", "Digest") if name in request.headers})

    return Case(method, url, expect, body, dict(headers))


def message_signature(method, url, body=None, headers=()):
    class Keys(http_message_signatures.HTTPSignatureKeyResolver):
        def resolve_private_key(self, key_id):
            return PLAIN_SECRET.encode()

    request = requests.Request(method, url, data=body, headers=dict(headers)).prepare()
    signer = http_message_signatures.HTTPMessageSigner(
        signature_algorithm=http_message_signatures.algorithms.HMAC_SHA256, key_resolver=Keys()
    )
    created = datetime.datetime.fromtimestamp(SECONDS, datetime.timezone.utc)
    components = ["@method", "@authority", "@target-uri"] + (["content-type"] if "Content-Type" in dict(headers) else [])
    signer.sign(request, key_id=KEY, created=created, nonce=NONCE_HEX, label="sig1", covered_component_ids=components, body=body)
    names = ["Signature-Input", "Signature"] + (["Content-Digest"] if body else [])
    expected = Expected({name: request.headers[name] for name in names})
    return Case(method, url, lambda signed: expected, body, dict(headers))


def escher(method, url, body=None, headers=()):
    options = {"algo_prefix": "EMS", "vendor_key": "EMS", "auth_header_name": "X-EMS-Auth", "date_header_name": "X-EMS-Date"}
    options["current_time"] = datetime.datetime.fromtimestamp(SECONDS, datetime.timezone.utc)
    request = requests.Request(method, url, data=body, headers=dict(headers)).prepare()
    escherauth.Escher(KEY, SECRET, "eu/suite/ems_request", options).sign_request(request)
    return case_of(request, ["X-EMS-Date", "X-EMS-Auth"])


def webhook(make, names, url, body):
    def expect(signed):
        sent = lower(signed)
        identifier = sent.get(names[0], "")
        signature = make(SECRET_BASE64).sign(identifier, Moment.utcnow(), body)
        return Expected({names[0]: identifier, names[1]: str(SECONDS), names[2]: signature})

    return Case("POST", url, expect, body.encode(), JSON)


def rows():
    api = "https://api.example.com:8443/a%2Fb/c%20d"
    site = "https://api.example.com/v1/items"
    form = urllib.parse.urlencode(ODD)
    standard = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    svix = ["svix-id", "svix-timestamp", "svix-signature"]
    bodies = ['{"a":"ü + 1"}', '{"type":"x","data":{}}', "a=b&c"]
    plain = {"secret": PLAIN_SECRET}
    account = {"api-key": KEY}
    found = [
        Row(
            "Hawk, with a hash of the body",
            "hawk",
            "https://github.com/mozilla/hawk/blob/main/API.md",
            "mohawk",
            [
                hawk("GET", f"{api}?{ODD_QUERY}"),
                hawk("POST", site, BODY, {"Content-Type": "application/JSON ; charset=utf-8"}),
                hawk("PUT", "http://api.example.com/", form.encode(), FORM),
            ],
            plain,
            account,
        ),
        Row(
            "Hawk, without a hash of the body",
            "hawk-without-body",
            "https://github.com/mozilla/hawk/blob/main/API.md",
            "mohawk",
            [
                hawk("GET", f"{api}?{ODD_QUERY}", hashed=False),
                hawk("POST", site, BODY, JSON, hashed=False),
                hawk("DELETE", "http://api.example.com/", hashed=False),
            ],
            plain,
            account,
        ),
        Row(
            "HTTP Signatures (draft-cavage-http-signatures-12), hmac-sha256",
            "http-signature-draft",
            "https://datatracker.ietf.org/doc/html/draft-cavage-http-signatures-12",
            "httpsig",
            [cavage("GET", f"{api}?{ODD_QUERY}"), cavage("POST", site, BODY, JSON), cavage("DELETE", site)],
            plain,
            account,
        ),
        Row(
            "HTTP Message Signatures (RFC 9421), hmac-sha256",
            "http-message-signature",
            "https://www.rfc-editor.org/rfc/rfc9421.html#name-hmac-using-sha-256",
            "http-message-signatures",
            [
                message_signature("GET", f"{api}?{ODD_QUERY}"),
                message_signature("POST", site, BODY, JSON),
                message_signature("DELETE", site),
            ],
            plain,
            account,
        ),
        Row(
            "Emarsys (Escher)",
            "emarsys",
            "https://dev.emarsys.com/docs/core-api-reference/fd7aa01f50e01-authentication",
            "escherauth",
            [
                escher("GET", f"https://api.emarsys.net/api/v2/a%2Fb?{ODD_QUERY}&c=!*~'()"),
                escher("POST", "https://api.emarsys.net/api/v2/contact", BODY, JSON),
                escher("DELETE", "https://api.emarsys.net/api/v2/event"),
            ],
            {"secret": SECRET},
            account,
        ),
        Row(
            "Standard Webhooks",
            "standard-webhooks",
            "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
            "standardwebhooks",
            [webhook(Webhook, standard, f"https://example.com/hook?{ODD_QUERY}", body) for body in bodies],
            {"secret": SECRET_BASE64},
        ),
        Row(
            "Svix webhooks",
            "svix",
            "https://docs.svix.com/receiving/verifying-payloads/how-manual",
            "svix",
            [webhook(SvixWebhook, svix, f"https://example.com/hook?{ODD_QUERY}", body) for body in bodies],
            {"secret": SECRET_BASE64},
        ),
    ]
    for signature, preset in (("HMAC-SHA1", "oauth1"), ("HMAC-SHA256", "oauth1-sha256")):
        for token in (False, True):
            cases = [
                oauth1(signature, "GET", f"{api}?{ODD_QUERY}&empty=&marks=~*%27()", token=token),
                oauth1(signature, "POST", f"{site}?a=b", form.encode(), FORM, token=token),
                oauth1(signature, "POST", site, BODY, JSON, token=token),
                oauth1(signature, "DELETE", "https://API.example.com:443/", token=token),
            ]
            given = {"token": TOKEN, "passphrase": "token secret/+="} if token else {}
            use = ", with a token" if token else ""
            found.append(
                Row(
                    f"OAuth 1.0, {signature}{use}",
                    preset,
                    "https://www.rfc-editor.org/rfc/rfc5849.html",
                    f"requests-oauthlib{use}",
                    cases,
                    {**plain, **given},
                    account,
                )
            )
    rest = "https://1234567-sb1.suitetalk.api.netsuite.com/services/rest"
    found.append(
        Row(
            "NetSuite, token-based authentication",
            "netsuite",
            "https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_1534941295.html",
            "requests-oauthlib",
            [
                oauth1("HMAC-SHA256", "GET", f"{rest}/record/v1/customer?{ODD_QUERY}", token=True, realm="1234567_SB1"),
                oauth1("HMAC-SHA256", "POST", f"{rest}/query/v1/suiteql?limit=5", BODY, JSON, token=True, realm="1234567_SB1"),
                oauth1("HMAC-SHA256", "DELETE", f"{rest}/record/v1/customer/a%2Fb", token=True, realm="1234567_SB1"),
            ],
            {**plain, "token": TOKEN, "passphrase": "token secret/+="},
            {**account, "account": "1234567_SB1"},
        )
    )
    return found
