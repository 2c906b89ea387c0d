"""Libraries of services that sign each request."""

import base64
import importlib
import json
import sys
import types
import urllib.parse
from unittest import mock

from vendors import (
    KEY,
    MILLISECONDS,
    ODD,
    PLAIN_SECRET,
    SECRET,
    SECRET_BASE64,
    TOKEN,
    Case,
    Expected,
    Row,
    absent,
    case_of,
    caught,
    lower,
    pinned,
    text,
    without_init,
)

absent(
    "aiohttp.hdrs",
    "async_timeout",
    "crcmod",
    "filetype",
    "httpx._client",
    "httpx._config",
    "httpx._types",
    "httpx2._client",
    "httpx2._types",
    "httpx2._utils",
    "throttler",
    "tusclient",
    "selenium",
    "tldextract",
)
for library, names in (
    ("httpx", {"Client": object}),
    ("httpx2", {"Auth": object}),
    ("httpx2._utils", {"to_bytes": lambda value: value.encode() if isinstance(value, str) else value, "to_str": text}),
):
    if isinstance(sys.modules.get(library), mock.MagicMock):
        vars(sys.modules[library]).update(names)
without_init(
    "pyuploadcare", "pyuploadcare.api", "tcex", "tcex.input", "tcex.input.field_type", "tcex.requests_tc", "tcex.requests_tc.auth"
)
absent("tcex.input.field_type.sensitive")
sys.modules["tcex.input.field_type.sensitive"] = mock.MagicMock()
without_init("rapyd_sdk", "rapyd_sdk.hooks", "solapi", "solapi.lib", "soliscloud_api", "lexicon", "lexicon._private")
without_init("lexicon._private.providers", "transloadit", "pusher", "apollo_config", "domaintools", "qcloud_cos")

import duo_client.client as duo_software
import requests
import veracode_api_signing.plugin_requests as veracode_software
from akamai.edgegrid import EdgeGridAuth

HEX_SECRET = bytes(range(200, 232)).hex()
JSON = {"Content-Type": "application/json"}
UUID = "00010203-0405-4607-8809-0a0b0c0d0e0f"


def prepared(method, url, auth, body=None, headers=(), modules=()):
    with pinned(*modules):
        return requests.Request(method, url, data=body, headers=dict(headers), auth=auth).prepare()


def akamai(method, url, body=None, headers=()):
    auth = EdgeGridAuth(KEY, SECRET, TOKEN)
    modules = ["akamai.edgegrid.edgegrid"]
    return case_of(prepared(method, url, auth, body, headers, modules), ["Authorization"])


def duo(method, path, values):
    sent = {}

    def caught_request(client, method, uri, body, headers):
        sent.update(method=method, uri=uri, body=body, headers={name.decode(): text.decode() for name, text in headers.items()})

    with pinned("email.utils"), mock.patch.object(duo_software.Client, "_make_request", caught_request):
        duo_software.Client(KEY, SECRET, "api-demo.duosecurity.com").api_call(method, path, values)
    expected = Expected({name: sent["headers"][name] for name in ("Date", "Authorization")})
    given = {"Content-Type": sent["headers"]["Content-type"]} if "Content-type" in sent["headers"] else {}
    url = "https://api-demo.duosecurity.com" + sent["uri"].rstrip("?")
    return Case(method, url, lambda signed: expected, sent["body"] and sent["body"].encode(), given)


def veracode(method, url, body=None, headers=()):
    auth = veracode_software.RequestsAuthPluginVeracodeHMAC(KEY_HEX, HEX_SECRET * 2)
    modules = ["veracode_api_signing.utils", "veracode_api_signing.veracode_hmac_auth"]
    return case_of(prepared(method, url, auth, body, headers, modules), ["Authorization"])


KEY_HEX = "0123456789abcdef0123456789abcdef"


def pusher(method, path, values):
    from pusher.http import Request

    client = types.SimpleNamespace(key=KEY, secret=SECRET, scheme="https", host="api-eu.pusher.com", port=443)
    with pinned("pusher.http"):
        request = Request(client, method, path, values)
    names = ["auth_key", "auth_timestamp", "auth_version", "body_md5", "auth_signature"]
    expected = Expected(query={name: request.query_params[name] for name in names})
    query = urllib.parse.urlencode({name: text for name, text in request.query_params.items() if name not in names})
    given = JSON if method == "POST" else {}
    return Case(
        method,
        f"https://api-eu.pusher.com{path}" + (f"?{query}" if query else ""),
        lambda signed: expected,
        request.body or None,
        given,
    )


def logic_monitor(path, body):
    from logicmonitor_data_sdk.api_client import ApiClient

    client = types.SimpleNamespace(
        configuration=types.SimpleNamespace(
            auth_settings=lambda: {"LMv1": {"value": SECRET, "id": KEY, "in": "header", "key": "Authorization"}}
        )
    )
    headers = {}
    with pinned("logicmonitor_data_sdk.api_client"):
        ApiClient.update_params_for_auth(client, headers, [], ["LMv1"], path, "POST", body)
    url = f"https://demo.logicmonitor.com/rest{path}?create=true"
    return Case("POST", url, lambda signed: Expected(headers), json.dumps(body).encode(), JSON)


def tuya(method, path, values=None, token=None):
    from tuya_connector import TuyaOpenAPI

    client = TuyaOpenAPI("https://openapi.tuyaeu.com", KEY, SECRET)
    if token:
        client.token_info = types.SimpleNamespace(access_token=token, expire_time=10**15, uid="")
    with pinned("tuya_connector.openapi"):
        request = caught(lambda: getattr(client, method.lower())(path, values))
    names = ["client_id", "sign", "sign_method", "t"] + (["access_token"] if token else [])
    return case_of(request, names)


def paypay(method, path, data=None):
    import paypayopa

    client = paypayopa.Client(auth=(KEY, SECRET), production_mode=False)
    client.set_assume_merchant("demo")
    with pinned("paypayopa.client"):
        call = getattr(client, method.lower())
        request = caught(lambda: call(path, {}, api_id="x") if method == "GET" else call(path, data, api_id="x"))
    return case_of(request, ["Authorization"])


def transloadit(method, path, values):
    sys.modules["transloadit"].__version__ = "1"
    from transloadit.request import Request

    owner = types.SimpleNamespace(auth_key=KEY, auth_secret=SECRET, duration=300, service="https://api2.transloadit.com")
    with pinned("transloadit.request"):
        request = caught(lambda: getattr(Request(owner), method.lower())(path, values))
    return case_of(request, items=["signature"])


def uploadcare(method, target, body=b"", headers=()):
    from pyuploadcare.api.auth import UploadcareAuth

    request = types.SimpleNamespace(
        method=method, headers=dict(headers), read=lambda: body, url=types.SimpleNamespace(raw_path=target.encode())
    )
    with pinned("pyuploadcare.api.auth"):
        next(UploadcareAuth(KEY, SECRET, "0.7").auth_flow(request))
    expected = Expected({name: request.headers[name] for name in ("Date", "Authorization")})
    given = {name: request.headers[name] for name in ("Content-Type", "Accept")}
    return Case(method, f"https://api.uploadcare.com{target}", lambda signed: expected, body or None, given)


def threat_connect(method, url, body=None, headers=()):
    from tcex.requests_tc.auth.hmac_auth import HmacAuth

    auth = HmacAuth(KEY, types.SimpleNamespace(value=SECRET))
    return case_of(prepared(method, url, auth, body, headers, ["tcex.requests_tc.auth.hmac_auth"]), ["Authorization", "Timestamp"])


def woocommerce(method, endpoint, data=None):
    import woocommerce.oauth
    from woocommerce import API

    def expect(signed):
        with pinned("woocommerce.oauth", "woocommerce.api"):
            with mock.patch.object(woocommerce.oauth.OAuth, "generate_nonce", lambda *arguments: signed.item("oauth_nonce") or "1"):
                api = API("http://shop.example.com", KEY, SECRET, version="wc/v3")
                request = caught(lambda: api._API__request(method, endpoint, data))
        case = case_of(request, items=names)
        case.credential = case.expect(signed)
        return case

    names = ["oauth_consumer_key", "oauth_timestamp", "oauth_nonce", "oauth_signature_method", "oauth_signature"]
    case = expect(types.SimpleNamespace(item=lambda name: "1"))
    case.expect = lambda signed: expect(signed).credential
    return case


def rapyd(method, path, values=None):
    import rapyd_sdk.hooks.hook as software

    def expect(signed):
        salt = lower(signed).get("salt", "")
        with pinned("rapyd_sdk.hooks.hook"), mock.patch.object(software, "generate_salt", lambda length=12: salt):
            headers = software.create_headers(KEY, SECRET, method.lower(), url, values)[1]
        headers["signature"] = headers["signature"].decode()
        return Expected(headers)

    url = f"https://sandboxapi.rapyd.net{path}"
    body = software.pre_call(KEY, SECRET, method.lower(), path, values)[0]
    return Case(method, url, expect, body or None, JSON)


def payeezy(values):
    generate = importlib.import_module("payeezy.__generate_hmac")
    make = importlib.import_module("payeezy.__make_headers")
    payload = json.dumps(values, ensure_ascii=False)

    def expect(signed):
        nonce = int(lower(signed).get("nonce", "1"))
        with pinned("payeezy.__generate_hmac"), mock.patch.object(generate.os, "urandom", lambda length: nonce.to_bytes(16, "big")):
            headers = make.make_headers(KEY, TOKEN, *generate.generate_hmac(KEY, SECRET, TOKEN, payload))
        return Expected({name: text for name, text in headers.items() if name.lower() != "content-type"})

    return Case("POST", "https://api-cert.payeezy.com/v1/transactions", expect, payload.encode(), JSON)


def coupang(method, path, query="", body=None):
    with mock.patch("configparser.ConfigParser.__getitem__", lambda parser, name: {"SECRETKEY": SECRET, "ACCESSKEY": KEY}):
        import coupang.common as software
    with pinned("coupang.common"), mock.patch.dict("os.environ"):
        value = software.auth(SECRET, KEY, method, path, query)
    url = f"https://api-gateway.coupang.com{path}" + (f"?{query}" if query else "")
    return Case(method, url, lambda signed: Expected({"Authorization": value}), body, JSON if body else {})


def solis(path, values):
    from soliscloud_api.client import SoliscloudAPI

    with pinned("soliscloud_api.client"):
        headers = SoliscloudAPI._prepare_header(KEY, SECRET.encode(), values, path)
    given = {"Content-Type": headers.pop("Content-Type")}
    body = json.dumps(values, separators=(",", ":")).encode()
    return Case("POST", f"https://www.soliscloud.com:13333{path}", lambda signed: Expected(headers), body, given)


def podcast_index(method, target):
    from podcastindex.podcastindex import PodcastIndex

    client = PodcastIndex({"api_key": KEY, "api_secret": SECRET})
    with pinned("podcastindex.podcastindex"):
        headers = client._create_headers()
    expected = Expected({name: headers[name] for name in ("X-Auth-Date", "X-Auth-Key", "Authorization")})
    return Case(method, f"https://api.podcastindex.org/api/1.0{target}", lambda signed: expected)


def apollo(target):
    from apollo_config.client import ApolloClient

    client = types.SimpleNamespace(access_key_secret=SECRET, app_id=KEY)
    with pinned("apollo_config.client"):
        headers = ApolloClient._auth_headers(client, target)
    return Case("GET", f"https://config.example.com{target}", lambda signed: Expected(headers))


def solapi(method, path, body=None):
    from solapi.lib import authenticator as software

    def expect(signed):
        salt = signed.headers.get("Authorization", "").partition("salt=")[2].partition(",")[0]
        with pinned("solapi.lib.authenticator"), mock.patch.object(software.Authenticator, "unique_id", staticmethod(lambda: salt)):
            return Expected({"Authorization": software.Authenticator(KEY, SECRET).get_auth_info()})

    return Case(method, f"https://api.solapi.com{path}", expect, body, JSON if body else {})


def lexicon(name, options, action, url, data=None, query=None, headers=(), fix=None):
    """A provider of dns-lexicon. `fix` is (attribute of `random`, function of the signed request)."""
    module = importlib.import_module(f"lexicon._private.providers.{name}")
    provider = types.SimpleNamespace(api_endpoint=ENDPOINTS[name], _get_provider_option=options.get)
    if name == "aurora":
        provider._generate_auth_header = lambda *arguments: module.Provider._generate_auth_header(provider, *arguments)

    def request(choices):
        with pinned(module.__name__, "email.utils"), mock.patch("random.choice", lambda letters: next(choices)):
            sent = caught(lambda: module.Provider._request(provider, action, url, data, query))
        return case_of(sent, headers)

    case = request(iter("0" * 16))
    if fix:
        case.expect = lambda signed: request(iter(fix(signed))).expect(signed)
    return case


ENDPOINTS = {
    "aurora": "https://api.auroradns.eu",
    "dnsmadeeasy": "https://api.dnsmadeeasy.com/V2.0",
    "constellix": "https://api.dns.constellix.com/v1",
    "nfsn": "https://api.nearlyfreespeech.net",
}


def domain_tools(path, **values):
    from domaintools.api import API

    client = types.SimpleNamespace(
        username=KEY, key=SECRET, https=True, header_authentication=False, always_sign_api_key=True, key_sign_hash="sha256"
    )
    items = {"api_username": KEY}
    with pinned("domaintools.api"):
        API.handle_api_key(client, False, path, items)
    query = urllib.parse.urlencode(values)
    url = f"https://api.domaintools.com{path}" + (f"?{query}" if query else "")
    return Case("GET", url, lambda signed: Expected(query=items))


def imgix(path, **values):
    from imgix.urlhelper import UrlHelper

    helper = UrlHelper("demo.imgix.net", path, sign_key=PLAIN_SECRET, include_library_param=False, params=values)
    return case_of(types.SimpleNamespace(method="GET", url=str(helper), headers={}, body=None), items=["s"])


def shopee(method, path, values):
    from pyshopee2 import Client

    client = Client(2001, 4711, SECRET, "https://example.com", access_token=KEY)
    with pinned("pyshopee2.client"):
        request = client._build_request(path, method, values)
    request = requests.Request(method, request.url, json=getattr(request, "json", None) or None).prepare()
    return case_of(request, items=["partner_id", "timestamp", "access_token", "shop_id", "sign"])


def lazada(endpoint, **values):
    # It creates a folder for its logs.
    with mock.patch("os.makedirs"), mock.patch("logging.FileHandler"):
        from lazop_sdk import base as software

    request = software.LazopRequest(endpoint, "GET")
    for name, value in values.items():
        request.add_api_param(name, value)
    with pinned("lazop_sdk.base"), mock.patch("logging.Logger.error"):
        client = software.LazopClient("https://api.lazada.sg/rest", KEY, SECRET)
        return case_of(
            caught(lambda: client.execute(request, TOKEN)), items=["app_key", "sign_method", "timestamp", "access_token", "sign"]
        )


def worldline(method, target, body=None, headers=()):
    from onlinepayments.sdk.authentication.v1hmac_authenticator import V1HmacAuthenticator
    from onlinepayments.sdk.communication.request_header import RequestHeader

    at = "Tue, 14 Nov 2023 22:13:20 GMT"
    settings = types.SimpleNamespace(
        api_key_id=KEY,
        secret_api_key=SECRET,
        authorization_type="v1HMAC",
        connect_timeout=1,
        socket_timeout=1,
        proxy_configuration=None,
    )
    url = f"https://payment.preprod.direct.worldline-solutions.com{target}"
    sent = [RequestHeader(name, text) for name, text in {**dict(headers), "Date": at}.items()]
    value = V1HmacAuthenticator(settings).get_authorization(method, urllib.parse.urlparse(url), sent)
    return Case(method, url, lambda signed: Expected({"Date": at, "Authorization": value}), body, dict(headers))


def switchbot(method, path, body=None):
    from switchbot_api import SwitchBotAPI

    def expect(signed):
        nonce = lower(signed).get("nonce", "")
        with pinned("switchbot_api"), mock.patch("uuid.uuid4", lambda: nonce):
            headers = SwitchBotAPI.make_headers(None, TOKEN, SECRET)
        return Expected({name: str(headers[name]) for name in ("Authorization", "t", "sign", "nonce")})

    return Case(method, f"https://api.switch-bot.com/v1.1{path}", expect, body, JSON if body else {})


def kingsoft(method, key="", query="", body=None, headers=()):
    from ks3 import auth as software

    sent = dict(headers)
    with pinned("ks3.auth", "email.utils"):
        software.add_auth_header(KEY, SECRET, sent, method, "demo", key, query)
    expected = Expected({name: sent[name] for name in ("Date", "Authorization")})
    url = f"https://ks3-cn-beijing.ksyuncs.com/demo/{urllib.parse.quote(key)}" + (f"?{query}" if query else "")
    return Case(method, url, lambda signed: expected, body, dict(headers))


def telesign(method, path, json_fields=None, **values):
    from telesign.rest import RestClient

    client = RestClient(KEY, SECRET_BASE64)

    def request(nonce):
        with pinned("telesign.rest"), mock.patch("uuid.uuid4", lambda: nonce), mock.patch.object(client, "_ensure_session"):
            sent = caught(lambda: getattr(client, method.lower())(path, json_fields=json_fields, **values))
        if not sent.headers["Content-Type"]:
            del sent.headers["Content-Type"]
        return case_of(sent, ["Date", "x-ts-auth-method", "x-ts-nonce", "Authorization"])

    case = request("1")
    case.expect = lambda signed: request(lower(signed).get("x-ts-nonce", "")).expect(signed)
    return case


def yubicloud(**values):
    from yubico_client import Yubico

    query = Yubico("4711", SECRET_BASE64).generate_query_string(
        "cccccccccccbcjdifctrndncchkftchjlnbhvhtugdljibej", "a" * 25, **values
    )
    request = types.SimpleNamespace(method="GET", url=f"https://api.yubico.com/wsapi/2.0/verify?{query}", headers={}, body=None)
    return case_of(request, items=["h"])


def naver_cloud(method, target, body=None):
    from httpx_ncloud import NcloudClient

    at = str(MILLISECONDS)
    value = NcloudClient.create_signature(types.SimpleNamespace(secret_key=SECRET, access_key=KEY), method, target, at)
    headers = {"x-ncp-iam-access-key": KEY, "x-ncp-apigw-timestamp": at, "x-ncp-apigw-signature-v2": value.decode()}
    return Case(method, f"https://ncloud.apigw.ntruss.com{target}", lambda signed: Expected(headers), body)


def tencent_cos(method, key, values, body=None, headers=(), token=None):
    from qcloud_cos.cos_auth import CosS3Auth

    settings = types.SimpleNamespace(
        _secret_id=KEY, _secret_key=SECRET, _credential_inst=None, _anonymous=False, _sign_params=True, _sign_host=True
    )
    url = f"https://demo-1250000000.cos.ap-guangzhou.myqcloud.com/{urllib.parse.quote(key)}"
    own = {"x-cos-security-token": token} if token else {}
    with pinned("qcloud_cos.cos_auth"):
        request = requests.Request(
            method, url, params=values, data=body, headers={**dict(headers), **own}, auth=CosS3Auth(settings, key, dict(values))
        ).prepare()
    case = case_of(request, ["Authorization", *own])
    case.headers.update(headers)
    return case


def line_pay(method, path, query="", body=""):
    from linepay import LinePayApi

    def expect(signed):
        with mock.patch("uuid.uuid4", lambda: lower(signed).get("x-line-authorization-nonce", "")):
            client = LinePayApi(KEY, SECRET)
            headers = client.sign(client.headers, path, query or body)
        names = ("X-LINE-ChannelId", "X-LINE-Authorization-Nonce", "X-LINE-Authorization")
        return Expected({name: headers[name] for name in names})

    url = f"https://api-pay.line.me{path}" + (f"?{query}" if query else "")
    return Case(method, url, expect, body.encode() or None, JSON)


def swift_temp_url(method, path, query="", body=None):
    from swiftclient.utils import generate_temp_url

    with pinned("swiftclient.utils"):
        found = generate_temp_url(path, 300, SECRET, method)
    items = dict(urllib.parse.parse_qsl(found.partition("?")[2]))
    url = f"https://swift.example.com{urllib.parse.quote(path)}" + (f"?{query}" if query else "")
    return Case(method, url, lambda signed: Expected(query=items), body)


def google_maps(path, **values):
    from googlemaps import Client

    client = Client(client_id="gme-demo", client_secret=base64.urlsafe_b64encode(base64.b64decode(SECRET_BASE64)).decode())
    url = "https://maps.googleapis.com" + client._generate_auth_url(path, values, True)
    return case_of(types.SimpleNamespace(method="GET", url=url, headers={}, body=None), items=["signature"])


def rows():
    odd = urllib.parse.urlencode(ODD, quote_via=urllib.parse.quote)
    # The library doesn't encode a slash, but the servers do.
    odd_form = urllib.parse.urlencode({"name": "a b+c", "text": "ü=1&2"})
    account = {"api-key": KEY}
    secrets = {"secret": SECRET}
    host = "https://akab-demo.luna.akamaiapis.net"
    body = '{"a":"ü + 1"}'.encode()
    nfsn_salt = lambda signed: lower(signed)["x-nfsn-authentication"].split(";")[2]
    nfsn = lambda *arguments: lexicon(
        "nfsn", {"auth_username": KEY, "auth_token": SECRET}, *arguments, headers=["X-NFSN-Authentication"], fix=nfsn_salt
    )
    dns_account = {"auth_username": KEY, "auth_token": PLAIN_SECRET}
    easy = lambda *arguments: lexicon(
        "dnsmadeeasy", dns_account, *arguments, headers=["x-dnsme-apiKey", "x-dnsme-requestDate", "x-dnsme-hmac"]
    )
    constellix = lambda *arguments: lexicon(
        "constellix", dns_account, *arguments, headers=["x-cnsdns-apiKey", "x-cnsdns-requestDate", "x-cnsdns-hmac"]
    )
    aurora_account = {"auth_api_key": KEY, "auth_secret_key": SECRET}
    aurora = lambda *arguments: lexicon("aurora", aurora_account, *arguments, headers=["X-AuroraDNS-Date", "Authorization"])
    return [
        Row(
            "Akamai EdgeGrid",
            "akamai",
            "https://techdocs.akamai.com/developer/docs/edgegrid",
            "edgegrid-python",
            [
                akamai("GET", f"{host}/diagnostic-tools/v2/ghost-locations/available?{odd}"),
                akamai("GET", f"{host}/a%2Fb/c%20d;e=f"),
                akamai("POST", f"{host}/ccu/v3/invalidate/url", body, JSON),
                akamai("POST", f"{host}/ccu/v3/invalidate/url", b"x" * 140000),
                akamai("PUT", f"{host}/papi/v1/a", body, JSON),
            ],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "Duo, signature version 5",
            "duo",
            "https://duo.com/docs/adminapi#authentication",
            "duo_client",
            [
                duo("GET", "/admin/v1/users", {"username": "a b+c", "limit": "2", "text": "ü=1&2/~*"}),
                duo("GET", "/admin/v1/users", {}),
                duo("POST", "/admin/v1/users", {"username": "ü + 1", "alias": "a/b"}),
                duo("DELETE", "/admin/v1/users/DU1", {}),
            ],
            secrets,
            account,
        ),
        Row(
            "Veracode",
            "veracode",
            "https://docs.veracode.com/r/c_hmac_signing_example",
            "veracode-api-signing",
            [
                veracode("GET", f"https://api.veracode.com/appsec/v1/applications?{odd}"),
                veracode("GET", "https://api.veracode.com/appsec/v1/a%2Fb%20c"),
                veracode("POST", "https://api.veracode.eu/appsec/v1/applications", body, JSON),
            ],
            {"secret": HEX_SECRET * 2},
            {"api-key": KEY_HEX},
        ),
        Row(
            "Pusher Channels",
            "pusher",
            "https://pusher.com/docs/channels/library_auth_reference/rest-api/#authentication",
            "pusher",
            [
                pusher("GET", "/apps/1/channels", {"filter_by_prefix": "presence-a b", "info": "user_count"}),
                pusher("GET", "/apps/1/channels/a=b,c", {}),
                pusher("POST", "/apps/1/events", {"name": "ü", "channel": "a", "data": "a + b"}),
            ],
            secrets,
            account,
        ),
        Row(
            "LogicMonitor, LMv1",
            "logicmonitor",
            "https://www.logicmonitor.com/support/rest-api-authentication",
            "logicmonitor_data_sdk",
            [
                logic_monitor("/metric/ingest", {"resource": "a + b"}),
                logic_monitor("/log/ingest", [{"message": "ü=1&2"}]),
                logic_monitor("/resource_property/a%2Fb", {}),
            ],
            secrets,
            account,
        ),
        Row(
            "Tuya",
            "tuya",
            "https://developer.tuya.com/en/docs/iot/new-singnature?id=Kbw0q34cs2e5g",
            "tuya-connector-python",
            [
                tuya("GET", "/v1.0/devices", {"b": "2 c+d", "a": "ü=1&2"}, TOKEN),
                tuya("POST", "/v1.0/devices/a/commands", {"commands": [{"code": "a + b", "value": True}]}, TOKEN),
                tuya("DELETE", "/v1.0/devices/a", {}, TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "PayPay",
            "paypay",
            "https://www.paypay.ne.jp/opa/doc/v1.0/webcashier#tag/Api-Authentication",
            "paypayopa",
            [
                paypay("GET", "/v2/codes/payments/a%2Fb"),
                paypay("POST", "/v2/codes", {"orderDescription": "ü + 1"}),
                paypay("DELETE", "/v2/codes/1"),
            ],
            secrets,
            account,
        ),
        Row(
            "Transloadit: GET",
            "transloadit",
            "https://transloadit.com/docs/api/authentication/",
            "pytransloadit",
            [
                transloadit("GET", "/templates", None),
                transloadit("GET", "/templates/a%2Fb", {"a": "b c+d"}),
                transloadit("GET", "/assemblies", {"text": "ü=1&2", "e": "f/g"}),
            ],
            secrets,
        ),
        Row(
            "Uploadcare",
            "uploadcare",
            "https://uploadcare.com/docs/api/rest/authentication/",
            "pyuploadcare",
            [
                uploadcare("GET", f"/files/?{odd}"),
                uploadcare("PUT", "/files/storage/", b'["a + b"]', JSON),
                uploadcare("DELETE", "/files/a%2Fb/storage/"),
                uploadcare("POST", "/webhooks/", odd.encode(), {"Content-Type": "application/x-www-form-urlencoded"}),
            ],
            secrets,
            account,
        ),
        Row(
            "ThreatConnect",
            "threatconnect",
            "https://docs.threatconnect.com/en/latest/rest_api/quick_start.html",
            "tcex",
            [
                threat_connect("GET", f"https://app.threatconnect.com/api/v3/indicators?{odd}"),
                threat_connect("GET", "https://app.threatconnect.com/api/v3/a%2Fb%20c"),
                threat_connect("POST", "https://app.threatconnect.com/api/v3/indicators", body, JSON),
            ],
            secrets,
            account,
        ),
        Row(
            "WooCommerce over HTTP",
            "woocommerce",
            "https://woocommerce.github.io/woocommerce-rest-api-docs/#authentication-over-http",
            "WooCommerce",
            [
                woocommerce("GET", f"products?{odd_form}"),
                woocommerce("POST", "products", {"name": "ü + 1"}),
                woocommerce("DELETE", "products/1?force=true"),
            ],
            secrets,
            account,
        ),
        Row(
            "Rapyd",
            "rapyd",
            "https://docs.rapyd.net/en/request-signatures.html",
            "rapyd_sdk",
            [
                rapyd("GET", f"/v1/payments?{odd}"),
                rapyd("POST", "/v1/payments", {"amount": 1, "description": "ü + 1"}),
                rapyd("DELETE", "/v1/payments/a%2Fb"),
            ],
            secrets,
            account,
        ),
        Row(
            "Payeezy",
            "payeezy",
            "https://developer.payeezy.com/faq/process-generating-hmac-and-make-api-call",
            "payeezy",
            [payeezy({"amount": "1"}), payeezy({"name": "ü + 1", "text": "a=b&c"}), payeezy({"a": {"b": [1, "c/d"]}})],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "Coupang",
            "coupang",
            "https://developers.coupangcorp.com/hc/en-us/articles/360033461914",
            "coupang",
            [
                coupang("GET", "/v2/providers/openapi/apis/api/v4/vendors/A1/ordersheets", odd),
                coupang("PUT", "/v2/providers/a%2Fb"),
                coupang("POST", "/v2/providers/seller_api/apis/api/v1", "", body),
            ],
            secrets,
            account,
        ),
        Row(
            "SolisCloud",
            "soliscloud",
            "https://solis-service.solisinverters.com/en/support/solutions/articles/44002212561",
            "soliscloud_api",
            [
                solis("/v1/api/userStationList", {"pageNo": 1}),
                solis("/v1/api/stationDetail", {"id": "ü + 1"}),
                solis("/v1/api/a%2Fb", {"text": "a=b&c"}),
            ],
            secrets,
            account,
        ),
        Row(
            "Podcast Index",
            "podcast-index",
            "https://podcastindex-org.github.io/docs-api/#auth",
            "python-podcastindex",
            [podcast_index("GET", f"/search/byterm?{odd}"), podcast_index("GET", "/stats/current"), podcast_index("GET", "/a%2Fb")],
            secrets,
            account,
        ),
        Row(
            "Apollo configuration service",
            "apollo-config",
            "https://www.apolloconfig.com/#/en/client/other-language-client-user-guide",
            "apollo-config-client",
            [
                apollo("/configs/demo/default/application?ip=10.0.0.1"),
                apollo(f"/notifications/v2?{odd}"),
                apollo("/configfiles/json/a%2Fb"),
            ],
            secrets,
            account,
        ),
        Row(
            "imgix: private images",
            "imgix",
            "https://docs.imgix.com/en-US/getting-started/setup/securing-assets",
            "imgix",
            [imgix("/a.png"), imgix("/a/b c/ü.png", w="100", txt="a b+c"), imgix("/a.png", **{"txt": "ü=1&2", "mark": "d/e"})],
            {"secret": PLAIN_SECRET},
        ),
        Row(
            "Shopee Open Platform",
            "shopee",
            "https://open.shopee.com/developer-guide/16",
            "pyshopee",
            [
                shopee("GET", "product/get_item_list", {"offset": "0", "item_status": "NORMAL"}),
                shopee("GET", "order/get_order_list", {"text": "a%20b%2Bc%3D%26"}),
                shopee("POST", "product/update_item", {"item_name": "ü + 1"}),
            ],
            # The library doesn't encode the token.
            {"secret": SECRET, "token": KEY},
            {"api-key": "4711", "shop-id": "2001"},
        ),
        Row(
            "Lazada Open Platform: GET",
            "lazada",
            "https://open.lazada.com/apps/doc/doc?nodeId=10450&docId=108068",
            "lazop-sdk",
            [
                lazada("/orders/get", created_after="2018-02-10T16:00:00+08:00"),
                lazada("/products/get", **ODD),
                lazada("/seller/get"),
            ],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "Worldline, v1HMAC",
            "worldline",
            "https://docs.direct.worldline-solutions.com/en/integration/api-developer-guide/authentication",
            "onlinepayments-sdk-python3",
            [
                worldline("GET", f"/v2/demo/services/testconnection?{odd}"),
                worldline(
                    "POST", "/v2/demo/payments", body, {**JSON, "X-GCS-Idempotence-Key": "4711", "X-GCS-ClientMetaInfo": "a+b="}
                ),
                worldline("DELETE", "/v2/demo/tokens/a%2Fb"),
            ],
            secrets,
            account,
        ),
        Row(
            "SwitchBot",
            "switchbot",
            "https://github.com/OpenWonderLabs/SwitchBotAPI#authentication",
            "switchbot-api",
            [switchbot("GET", "/devices"), switchbot("POST", "/devices/a/commands", body), switchbot("GET", f"/a%2Fb?{odd}")],
            {"secret": SECRET, "token": TOKEN},
        ),
        Row(
            "Kingsoft Cloud KS3",
            "ksyun-ks3",
            "https://docs.ksyun.com/documents/39944",
            "ks3sdk",
            [
                kingsoft("GET", "a b/ü.txt", "versionId=b&x=y"),
                kingsoft("GET", "", "acl&prefix=a"),
                kingsoft("PUT", "a", "", b"text", {"Content-Type": "text/plain", "x-kss-acl": "private", "x-kss-meta-a": "b"}),
                kingsoft("POST", "a", "uploadId=b&partNumber=2"),
            ],
            secrets,
            account,
        ),
        Row(
            "Telesign",
            "telesign",
            "https://developer.telesign.com/enterprise/docs/authentication",
            "telesign",
            [
                telesign("GET", "/v1/messaging/a%2Fb"),
                telesign("POST", "/v1/messaging", message="ü=1&2 +", phone_number="4912"),
                telesign("POST", "/v1/messaging", {"message": "ü + 1"}),
            ],
            {"secret": SECRET_BASE64},
            account,
        ),
        Row(
            "YubiCloud",
            "yubicloud",
            "https://developers.yubico.com/OTP/Specifications/OTP_validation_protocol.html",
            "yubico-client",
            [yubicloud(), yubicloud(timestamp=True), yubicloud(sl="secure", timeout=9)],
            {"secret": SECRET_BASE64},
        ),
        Row(
            "NAVER Cloud Platform",
            "naver-cloud",
            "https://api.ncloud-docs.com/docs/en/common-ncpapi",
            "httpx-ncloud",
            [
                naver_cloud("GET", f"/vserver/v2/getRegionList?{odd}"),
                naver_cloud("POST", "/sms/v2/a%2Fb", body),
                naver_cloud("DELETE", "/a"),
            ],
            secrets,
            account,
        ),
        Row(
            "Tencent Cloud COS",
            "tencent-cos",
            "https://cloud.tencent.com/document/product/436/7778",
            "cos-python-sdk-v5",
            [
                tencent_cos("GET", "", {"prefix": "a/b c", "max-keys": "2", "acl": ""}),
                tencent_cos("GET", "a b/ü+c.txt", {"response-content-type": "text/plain; charset=utf-8"}),
                tencent_cos("PUT", "a", {}, b"text", {"Content-Type": "text/plain"}),
                tencent_cos("PUT", "a", {"uploadId": "b+c=partNumber=1", "partNumber": "1", "x": "versionId=2"}, b"text"),
                tencent_cos("PUT", "a", {}, b"text", {"x-cos-acl": "private", "x-cos-meta-b": "c: d=%3D;e+f", "Cache-Control": "no-store"}),
            ],
            secrets,
            account,
        ),
        Row(
            "Tencent Cloud COS, temporary credentials",
            "tencent-cos",
            "https://cloud.tencent.com/document/product/436/7778",
            "cos-python-sdk-v5",
            [
                tencent_cos("GET", "", {"prefix": "a/b c"}, token=TOKEN),
                tencent_cos("GET", "a b/ü+c.txt", {}, token=TOKEN),
                tencent_cos("PUT", "a", {}, b"text", {"Content-Type": "text/plain", "x-ci-a": "b"}, TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "LINE Pay",
            "line-pay",
            "https://developers-pay.line.me/online/api-signature",
            "line-pay",
            [
                line_pay("GET", "/v3/payments", odd),
                line_pay("POST", "/v3/payments/request", "", '{"productName": "ü + 1"}'),
                line_pay("POST", "/v3/payments/a%2Fb/confirm", "", '{"amount": 1, "currency": "JPY"}'),
            ],
            secrets,
            account,
        ),
        Row(
            "OpenStack Swift: temporary URLs",
            "swift-temp-url",
            "https://docs.openstack.org/swift/latest/api/temporary_url_middleware.html",
            "python-swiftclient",
            [
                swift_temp_url("GET", "/v1/AUTH_demo/photos/a b/ü+c.png"),
                swift_temp_url("PUT", "/v1/AUTH_demo/photos/a", "", b"text"),
                swift_temp_url("GET", "/v1/AUTH_demo/photos/a", odd),
            ],
            secrets,
        ),
        Row(
            "Google Maps: signed URLs",
            "google-maps",
            "https://developers.google.com/maps/documentation/maps-static/digital-signature",
            "googlemaps",
            [
                google_maps("/maps/api/staticmap", center="a b+c", size="10x10"),
                google_maps("/maps/api/geocode/json", address="ü=1&2/3"),
                google_maps("/maps/api/streetview", location="1,2", size="10x10", key="demo"),
            ],
            {"secret": SECRET_BASE64},
        ),
        Row(
            "Solapi",
            "solapi",
            "https://developers.solapi.com/references/authentication/api-key",
            "solapi",
            [solapi("GET", f"/messages/v4/list?{odd}"), solapi("POST", "/messages/v4/send", body), solapi("GET", "/a%2Fb")],
            secrets,
            account,
        ),
        Row(
            "Aurora DNS",
            "aurora-dns",
            "https://www.pcextreme.com/aurora/dns",
            "dns-lexicon",
            [aurora("GET", "/zones"), aurora("POST", "/zones/1/records", {"content": "ü + 1"}), aurora("DELETE", "/zones/a%2Fb")],
            secrets,
            account,
        ),
        Row(
            "DNS Made Easy",
            "dns-made-easy",
            "https://api-docs.dnsmadeeasy.com/",
            "dns-lexicon",
            [
                easy("GET", "/dns/managed/name", None, ODD),
                easy("POST", "/dns/managed/1/records", {"a": "ü + 1"}),
                easy("DELETE", "/dns/a%2Fb"),
            ],
            {"secret": PLAIN_SECRET},
            account,
        ),
        Row(
            "Constellix",
            "constellix",
            "https://api-docs.constellix.com/",
            "dns-lexicon",
            [
                constellix("GET", "/domains", None, ODD),
                constellix("POST", "/domains", {"a": "ü + 1"}),
                constellix("DELETE", "/domains/a%2Fb"),
            ],
            {"secret": PLAIN_SECRET},
            account,
        ),
        Row(
            "NearlyFreeSpeech.NET",
            "nearlyfreespeech",
            "https://members.nearlyfreespeech.net/wiki/API/Introduction",
            "dns-lexicon",
            [
                nfsn("GET", "/account/A1-B2/balance"),
                nfsn("POST", "/dns/example.com/listRRs", {"name": "a b+c", "data": "ü=1&2"}),
                nfsn("POST", "/dns/a%2Fb/addRR", {"type": "A"}),
            ],
            secrets,
            account,
        ),
        Row(
            "DomainTools",
            "domaintools",
            "https://docs.domaintools.com/api/authentication/",
            "domaintools_api",
            [
                domain_tools("/v1/account"),
                domain_tools("/v1/iris-investigate/", domain="a b+c"),
                domain_tools("/v1/a%2Fb/whois", text="ü=1&2"),
            ],
            secrets,
            account,
        ),
    ]
