"""The clouds' own libraries, except Amazon's and Microsoft's."""

import datetime
import hashlib
import inspect
import textwrap
import types
import urllib.parse

from vendors import (
    KEY,
    MILLISECONDS,
    ODD,
    PLAIN_SECRET,
    SECONDS,
    SECRET,
    TOKEN,
    Case,
    Expected,
    Moment,
    Row,
    absent,
    case_of,
    caught,
    lower,
    pinned,
)

absent("crcmod", "pyasn1.codec.der", "pyasn1.type", "pyasn1.codec.native")

import ovh
import requests
from baidubce.auth import bce_v1_signer
from baidubce.auth.bce_credentials import BceCredentials
from cs import CloudStack
from exoscale_auth import ExoscaleV2Auth
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer
from qiniu.auth import QiniuMacAuth, QiniuMacRequestsAuth
from tencentcloud.common import abstract_client, credential
from tencentcloud.common.http.request import RequestInternal
from tencentcloud.common.profile.client_profile import ClientProfile
from ucloud.core.auth import Credential
from volcengine.auth.SignerV4 import SignerV4
from volcengine.base.Request import Request
from volcengine.Credentials import Credentials

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PATH = "/a b/ü+c"
SENT_PATH = urllib.parse.quote(PATH)


class TencentClient(abstract_client.AbstractClient):
    """The library signs two headers. The documentation also signs the action, which must not change on the way. The server
    accepts any list."""

    added = {"x-tc-action": "describeinstances", "x-tc-region": "ap-guangzhou", "x-tc-version": "2017-03-12"}
    for name in ("_build_req_with_tc3_signature", "_get_tc3_signature"):
        source = textwrap.dedent(inspect.getsource(getattr(abstract_client.AbstractClient, name)))
        exec(source.replace("content-type;host", ";".join(["content-type;host", *added])), vars(abstract_client), locals())

    def _get_endpoint(self, options=None):
        # It writes the host after the other header.
        return "cvm.tencentcloudapi.com" + "".join(f"\n{name}:{value}" for name, value in self.added.items())


def tencent(method, params, token=None):
    profile = ClientProfile()
    profile.httpProfile.reqMethod = method
    client = TencentClient(credential.Credential(KEY, SECRET, token), "ap-guangzhou", profile)
    client._service, client._apiVersion = "cvm", "2017-03-12"
    request = RequestInternal("cvm.tencentcloudapi.com", method, "/")
    with pinned("tencentcloud.common.abstract_client"):
        client._build_req_inter("DescribeInstances", params, request)
    names = ["X-TC-Timestamp", "Authorization"] + (["X-TC-Token"] if token else [])
    expected = Expected({name: request.header[name] for name in names})
    given = {name: request.header[name] for name in ("Content-Type", "X-TC-Action", "X-TC-Version", "X-TC-Region")}
    url, body = "https://cvm.tencentcloudapi.com/", request.data
    if method == "GET":
        url, body = f"{url}?{body}", None
    return Case(method, url, lambda signed: expected, body and body.encode(), given)


def volcengine(method, path, query, body="", headers=(), token=""):
    request = Request()
    request.set_schema("https")
    request.set_method(method)
    request.set_host("iam.volcengineapi.com")
    request.set_path(path)
    request.set_query(dict(query))
    request.set_headers({"Host": "iam.volcengineapi.com", **dict(headers)})
    request.set_body(body)
    with pinned("volcengine.auth.SignerV4"):
        SignerV4.sign(request, Credentials(KEY, SECRET, "iam", "cn-north-1", token))
    names = ["X-Date", "X-Content-Sha256", "Authorization"] + (["X-Security-Token"] if token else [])
    expected = Expected({name: request.headers[name] for name in names})
    given = {name: request.headers[name] for name in ("Content-Type", *dict(headers)) if name in request.headers}
    url = requests.Request("GET", request.build()).prepare().url
    return Case(method, url, lambda signed: expected, body.encode() or None, given)


def qiniu(method, url, body=None, headers=()):
    auth = QiniuMacRequestsAuth(QiniuMacAuth(KEY, SECRET))
    with pinned("qiniu.auth"):
        request = requests.Request(method, url, data=body, headers=dict(headers), auth=auth).prepare()
    return case_of(request, ["X-Qiniu-Date", "Authorization"])


def baidu(method, path, query, body=None, headers=(), token=None):
    host = "bcc.bj.baidubce.com"
    at = bce_v1_signer.utils.get_canonical_time(SECONDS)
    sent = {b"host": host.encode(), b"x-bce-date": at, **{name.encode(): text.encode() for name, text in dict(headers).items()}}
    if body:
        sent[b"Content-Length"] = len(body)
    if token:
        sent[b"x-bce-security-token"] = token.encode()
    value = bce_v1_signer.sign(
        BceCredentials(KEY, SECRET),
        method.encode(),
        bce_v1_signer.utils.normalize_string(path, False),
        sent,
        {name.encode(): text.encode() for name, text in query.items()},
        SECONDS,
    )
    own = {"x-bce-security-token": token} if token else {}
    expected = Expected({"Authorization": value.decode(), "x-bce-date": at.decode(), **own})
    url = f"https://{host}{urllib.parse.quote(path)}" + ("?" + urllib.parse.urlencode(query) if query else "")
    return Case(method, url, lambda signed: expected, body, dict(headers))


def huawei(method, path, query, body=None, headers=()):
    host = "ecs.eu-west-101.myhuaweicloud.eu"
    request = SdkRequest(method, "https", host, path, "", list(query), dict(headers), body)
    with pinned("huaweicloudsdkcore.signer.signer"):
        Signer(types.SimpleNamespace(ak=KEY, sk=SECRET)).sign(request)
    expected = Expected({name: request.header_params[name] for name in ("X-Sdk-Date", "Authorization")})
    return Case(method, request.url, lambda signed: expected, body and body.encode(), dict(headers))


def of_ovh(method, path, data=None):
    client = ovh.Client(endpoint="ovh-eu", application_key=KEY, application_secret=PLAIN_SECRET, consumer_key=TOKEN)
    client._time_delta = 0
    with pinned("ovh.client"):
        request = caught(lambda: client.raw_call(method, path, data))
    return case_of(request, ["X-Ovh-Consumer", "X-Ovh-Timestamp", "X-Ovh-Signature", "X-Ovh-Application"])


def cloudstack(command, **values):
    client = CloudStack("https://cloud.example.com/client/api", KEY, SECRET)
    with pinned("cs.client"):
        request = caught(lambda: getattr(client, command)(**values))
    return case_of(request, items=("apiKey", "expires", "signatureVersion", "signature"))


def exoscale(method, path, body=None, headers=()):
    with pinned("exoscale_auth"):
        request = requests.Request(
            method, f"https://api-ch-gva-2.exoscale.com{path}", data=body, headers=dict(headers), auth=ExoscaleV2Auth(KEY, SECRET)
        )
        return case_of(request.prepare(), ["Authorization"])


def ucloud(**values):
    items = {"Action": "DescribeUHostInstance", **values}
    signature = Credential(KEY, SECRET).verify_ac(dict(items))
    expected = Expected(query={"PublicKey": KEY, "Signature": signature})
    return Case("GET", "https://api.ucloud.cn/?" + urllib.parse.urlencode(items), lambda signed: expected)


def alibaba(method, path, query, body=None, headers=(), token=None):
    from alibabacloud_openapi_util.client import Client

    host = "ecs.eu-central-1.aliyuncs.com"
    given = {**dict(headers), "x-acs-action": "DescribeInstances", "x-acs-version": "2014-05-26"}

    def expect(signed):
        content = hashlib.sha256(body or b"").hexdigest()
        own = {
            "x-acs-content-sha256": content,
            "x-acs-date": AT,
            "x-acs-signature-nonce": lower(signed).get("x-acs-signature-nonce", ""),
        }
        if token:
            own["x-acs-security-token"] = token
        sent = types.SimpleNamespace(
            method=method,
            pathname=path,
            query=query,
            headers={**{name.lower(): text for name, text in given.items()}, "host": host, **own},
        )
        value = Client.get_authorization(sent, "ACS3-HMAC-SHA256", content, KEY, SECRET)
        return Expected({**own, "Authorization": value})

    url = f"https://{host}{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
    return Case(method, url, expect, body, given)


def alibaba_rpc(method="GET", form=None, **values):
    from alibabacloud_openapi_util.client import Client

    items = {"Action": "DescribeInstances", "Version": "2014-05-26", "Format": "JSON", **values}

    def expect(signed):
        own = {
            "AccessKeyId": KEY,
            "SignatureMethod": "HMAC-SHA1",
            "SignatureNonce": signed.item("SignatureNonce"),
            "SignatureVersion": "1.0",
            "Timestamp": AT,
        }
        return Expected(query={**own, "Signature": Client.get_rpcsignature({**items, **(form or {}), **own}, method, SECRET)})

    url = "https://ecs.aliyuncs.com/?" + urllib.parse.urlencode(items)
    return Case(method, url, expect, urllib.parse.urlencode(form).encode() if form else None, FORM if form else {})


def alibaba_oss(version, method, key, query="", body=None, headers=(), token=None):
    from alibabacloud_oss_v2.credentials import StaticCredentialsProvider
    from alibabacloud_oss_v2.signer import SignerV1, SignerV4
    from alibabacloud_oss_v2.types import HttpRequest, SigningContext

    url = f"https://demo.oss-eu-central-1.aliyuncs.com/{urllib.parse.quote(key)}" + (f"?{query}" if query else "")
    request = HttpRequest(method, url, headers=dict(headers))
    context = SigningContext(
        product="oss",
        region="eu-central-1",
        bucket="demo",
        key=key,
        request=request,
        credentials=StaticCredentialsProvider(KEY, SECRET, token).get_credentials(),
        signing_time=Moment.now(datetime.timezone.utc),
    )
    (SignerV4 if version == 4 else SignerV1)().sign(context)
    names = ["x-oss-date", "x-oss-content-sha256", "Authorization"] if version == 4 else ["Date", "Authorization"]
    names += ["x-oss-security-token"] if token else []
    expected = Expected({name: request.headers[name] for name in names})
    return Case(method, url, lambda signed: expected, body, dict(headers))


def alibaba_gateway(method, path, query=(), headers=(), **content):
    from aliyun_api_gateway.models import ApiGatewayRequest
    from aliyun_api_gateway.signing import sign_request

    def sign(nonce):
        return sign_request(
            request=ApiGatewayRequest(method=method, path=path, query=query, headers=dict(headers), **content),
            base_url="https://demo.apigateway.eu-central-1.aliyuncs.com",
            app_key=KEY,
            app_secret=SECRET,
            signature_method="HmacSHA256",
            timestamp=str(MILLISECONDS),
            nonce=nonce,
        )

    def expect(signed):
        sent = sign(lower(signed).get("x-ca-nonce", "")).headers
        own = {name for name in sent if name.lower().startswith("x-ca-") and name not in dict(headers)}
        return Expected({name: text for name, text in sent.items() if name in own or name == "Content-MD5"})

    first = sign("1")
    given = {name: text for name, text in first.headers.items() if name in ("Accept", "Content-Type", "Date", "X-Ca-Stage")}
    return Case(method, first.url, expect, first.body, given)


AT = "2023-11-14T22:13:20Z"


def rows():
    odd = {**ODD, "marks": "~*'()"}
    return [
        Row(
            "Tencent Cloud, TC3-HMAC-SHA256",
            "tencent-cloud",
            "https://cloud.tencent.com/document/api/213/30654",
            "tencentcloud-sdk-python-common",
            [
                tencent("POST", {"Limit": 1, "Filters": [{"Name": "a b+c", "Values": ["ü=1&2"]}]}),
                tencent("GET", {"Limit": 1, "InstanceIds": ["a b+c", "ü=1&2"]}),
                tencent("POST", {}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Tencent Cloud, temporary credentials",
            "tencent-cloud",
            "https://cloud.tencent.com/document/api/213/30654",
            "tencentcloud-sdk-python-common, with a token",
            [tencent("POST", {"Limit": 1}, TOKEN), tencent("GET", {"Name": "a b+c"}, TOKEN), tencent("POST", {}, TOKEN)],
            {"secret": SECRET, "token": TOKEN},
            {"api-key": KEY},
        ),
        Row(
            "Volcengine",
            "volcengine",
            "https://www.volcengine.com/docs/6369/67269",
            "volcengine",
            [
                volcengine("GET", "/", {"Action": "ListUsers", "Version": "2018-01-01"}),
                volcengine("GET", PATH, odd),
                volcengine("POST", "/", {"Action": "CreateUser", "Version": "2018-01-01"}, '{"a":"ü +"}', JSON),
                volcengine("POST", "/", {"Action": "CreateUser"}, urllib.parse.urlencode(odd)),
                volcengine("GET", "/", {"Action": "ListUsers"}, "", {"X-Account-Id": "1 2", "X-Region": "cn", "X-Trace": "a: b"}),
            ],
            {"secret": SECRET},
            {"api-key": KEY, "region": "cn-north-1", "service": "iam"},
        ),
        Row(
            "Volcengine, temporary credentials",
            "volcengine",
            "https://www.volcengine.com/docs/6369/67269",
            "volcengine, with a token",
            [
                volcengine("GET", "/", {"Action": "ListUsers", "Version": "2018-01-01"}, token=TOKEN),
                volcengine("POST", "/", {"Action": "CreateUser", **odd}, '{"a":"ü +"}', JSON, token=TOKEN),
                volcengine("DELETE", PATH, {}, token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            {"api-key": KEY, "region": "cn-north-1", "service": "iam"},
        ),
        Row(
            "Qiniu",
            "qiniu",
            "https://developer.qiniu.com/kodo/1201/access-token",
            "qiniu",
            [
                qiniu("GET", "https://uc.qbox.me/v2/query?ak=a&bucket=b%20c%2Bd"),
                qiniu("POST", "https://rs.qbox.me/batch", odd),
                qiniu("POST", "https://api.qiniu.com/v1/a%2Fb?x=y%3Dz", '{"a":"ü"}'.encode(), JSON),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Baidu Cloud",
            "baidu-cloud",
            "https://cloud.baidu.com/doc/Reference/s/njwvz1yfu",
            "bce-python-sdk",
            [
                baidu("GET", "/v2/instance", {}),
                baidu("GET", PATH, {**odd, "empty": ""}),
                baidu("POST", "/v2/instance", {"clientToken": "a/b"}, '{"a":"ü"}'.encode(), JSON),
                baidu("PUT", "/demo/a", {}, b"text", {"x-bce-acl": "public-read", "Content-MD5": "a+b/c==", "x-bce-acl-b": "d: e=%3D;ü"}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Baidu Cloud, temporary credentials",
            "baidu-cloud",
            "https://cloud.baidu.com/doc/Reference/s/njwvz1yfu",
            "bce-python-sdk, with a token",
            [
                baidu("GET", "/v2/instance", {}, token=TOKEN),
                baidu("GET", PATH, odd, token=TOKEN),
                baidu("POST", "/v2/instance", {}, '{"a":"ü"}'.encode(), JSON, token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            {"api-key": KEY},
        ),
        Row(
            "Huawei Cloud",
            "huawei-cloud",
            "https://support.huaweicloud.com/intl/en-us/devg-apisign/api-sign-algorithm.html",
            "huaweicloudsdkcore",
            [
                huawei("GET", "/v1/demo/servers", [("limit", 2)]),
                huawei("GET", SENT_PATH, list(odd.items()) + [("empty", "")]),
                huawei("POST", "/v1/demo/servers/", [], '{"a":"ü"}', {**JSON, "X-Project-Id": "4711"}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "OVHcloud",
            "ovh",
            "https://help.ovhcloud.com/csm/en-api-getting-started-ovhcloud-api",
            "ovh",
            [
                of_ovh("GET", "/me"),
                of_ovh("GET", "/domain/zone/demo/record?" + urllib.parse.urlencode(odd)),
                of_ovh("POST", "/domain/a%2Fb", {"a": "ü +"}),
                of_ovh("DELETE", "/me/api/credential/1"),
            ],
            {"secret": PLAIN_SECRET, "token": TOKEN},
            {"api-key": KEY},
        ),
        Row(
            "Apache CloudStack",
            "cloudstack",
            "https://docs.cloudstack.apache.org/en/latest/developersguide/dev.html",
            "cs",
            [
                cloudstack("listVirtualMachines"),
                cloudstack("listZones", name="Zone A+B", keyword="ü=1&2"),
                cloudstack("deployVirtualMachine", displayname="a/b*", id="4711"),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Exoscale",
            "exoscale",
            "https://openapi-v2.exoscale.com/topic/topic-api-request-signature",
            "requests-exoscale-auth",
            [
                exoscale("GET", "/v2/zone"),
                exoscale("GET", f"/v2/a%2Fb/event?{urllib.parse.urlencode(odd)}"),
                exoscale("POST", "/v2/ssh-key", '{"a":"ü + 1"}'.encode(), JSON),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "UCloud",
            "ucloud",
            "https://docs.ucloud.cn/api/summary/signature",
            "ucloud-sdk-python3",
            [ucloud(), ucloud(Name="a b+c", Tag="ü=1&2", Path="d/e"), ucloud(Limit="2", Region="cn-bj2")],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Alibaba Cloud, ACS3-HMAC-SHA256",
            "alibaba-cloud",
            "https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature",
            "alibabacloud-openapi-util",
            [
                alibaba("GET", "/", {**odd, "RegionId": "eu-central-1", "empty": ""}),
                alibaba("POST", "/", {}, '{"a":"ü + 1"}'.encode(), JSON),
                alibaba("DELETE", "/clusters/a%2Fb", {}, None, {"x-acs-client": "a b"}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Alibaba Cloud, temporary credentials",
            "alibaba-cloud",
            "https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature",
            "alibabacloud-openapi-util, with a token",
            [
                alibaba("GET", "/", odd, token=TOKEN),
                alibaba("POST", "/", {}, '{"a":"ü + 1"}'.encode(), JSON, TOKEN),
                alibaba("PUT", "/clusters/a", {"a": "b"}, token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            {"api-key": KEY},
        ),
        Row(
            "Alibaba Cloud, RPC signature 1.0",
            "alibaba-cloud-rpc",
            "https://www.alibabacloud.com/help/en/sdk/product-overview/rpc-mechanism",
            "alibabacloud-openapi-util",
            [
                alibaba_rpc(),
                alibaba_rpc(Name="a b+c", Text="ü=1&2", Marks="~*'()", Path="d/e"),
                alibaba_rpc("POST", RegionId="eu-central-1"),
                alibaba_rpc("POST", {"Name": "a b+c", "Text": "ü=1&2", "Marks": "~*'()"}, Path="d/e"),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "Alibaba Cloud OSS, V4",
            "alibaba-oss",
            "https://www.alibabacloud.com/help/en/oss/developer-reference/recommend-to-use-signature-version-4",
            "alibabacloud-oss-v2",
            [
                alibaba_oss(4, "GET", "", "acl&prefix=a%2Fb%20c"),
                alibaba_oss(4, "GET", "a b/ü+c"),
                alibaba_oss(
                    4, "PUT", "a", "", b"text", {"Content-Type": "text/plain", "x-oss-object-acl": "private", "x-oss-meta-a": "b"}
                ),
            ],
            {"secret": SECRET},
            {"api-key": KEY, "region": "eu-central-1"},
        ),
        Row(
            "Alibaba Cloud OSS, V4, temporary credentials",
            "alibaba-oss",
            "https://www.alibabacloud.com/help/en/oss/developer-reference/recommend-to-use-signature-version-4",
            "alibabacloud-oss-v2, with a token",
            [
                alibaba_oss(4, "GET", "a/b", token=TOKEN),
                alibaba_oss(4, "PUT", "a", "", b"text", {"Content-Type": "text/plain"}, token=TOKEN),
                alibaba_oss(4, "DELETE", "a", "versionId=b%3D", token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            {"api-key": KEY, "region": "eu-central-1"},
        ),
        Row(
            "Alibaba Cloud API Gateway",
            "alibaba-api-gateway",
            "https://www.alibabacloud.com/help/en/api-gateway/traditional-api-gateway/user-guide/use-digest-authentication-to-call-an-api",
            "aliyun-api-gateway-python",
            [
                alibaba_gateway("GET", "/a/b", tuple(odd.items()), {"Accept": "application/json"}),
                alibaba_gateway("POST", "/a", (("x", "y"),), form=tuple(odd.items())),
                alibaba_gateway("POST", "/a/b", json_body={"a": "ü + 1"}),
                alibaba_gateway("DELETE", "/a"),
                alibaba_gateway("GET", "/a", (), {"X-Ca-Stage": "PRE"}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
    ]
