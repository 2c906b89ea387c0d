"""Microsoft Azure's own libraries."""

import types
import urllib.parse

from vendors import KEY, ODD, PLAIN_SECRET, SECRET_BASE64, Case, Expected, Moment, Row, pinned, without_init


without_init("azure.iot", "azure.iot.hub", "azure.servicebus", "azure.servicebus._pyamqp")


import azure.appconfiguration._azure_appconfiguration_requests as configuration
import azure.communication.email._shared.policy as communication
import azure.data.tables._authentication as tables
from azure.core.credentials import AzureKeyCredential, AzureNamedKeyCredential
from azure.core.pipeline import PipelineContext, PipelineRequest
from azure.core.pipeline.transport import HttpRequest
from azure.eventgrid._legacy._helpers import generate_sas
from azure.iot.hub.sastoken import SasToken
from azure.servicebus._pyamqp.utils import generate_sas_token
from azure.storage.blob._shared.authentication import SharedKeyCredentialPolicy
from azure.storage.blob._shared.policies import StorageHeadersPolicy


def request_of(method, url, body=None, headers=()):
    request = HttpRequest(method, url, headers=dict(headers))
    if body is not None:
        request.set_bytes_body(body)
    return PipelineRequest(request, PipelineContext(types.SimpleNamespace()))


def http_date():
    return "Tue, 14 Nov 2023 22:13:20 GMT"


def configuration_case(method, target, body=None, headers=()):
    host = "demo.azconfig.io"
    request = request_of(method, f"https://{host}{target}", None, headers)
    request.http_request.data = body
    policy = configuration.AppConfigRequestsCredentialsPolicy(AzureKeyCredential(SECRET_BASE64), f"https://{host}", KEY)
    # The documentation requires the format of RFC 1123. The library writes another.
    own, configuration.get_current_utc_time = configuration.get_current_utc_time, http_date
    try:
        sent = policy._signed_request(request).http_request.headers
    finally:
        configuration.get_current_utc_time = own
    expected = Expected({name: sent[name] for name in ("x-ms-date", "x-ms-content-sha256", "Authorization")})
    return Case(method, f"https://{host}{target}", lambda signed: expected, body.encode() if body else None, dict(headers))


def communication_case(method, target, body=None, headers=()):
    host = "demo.communication.azure.com"
    request = request_of(method, f"https://{host}{target}", None, headers)
    request.http_request.data = body
    policy = communication.HMACCredentialsPolicy(f"https://{host}", SECRET_BASE64)
    with pinned("azure.communication.email._shared.policy", "azure.communication.email._shared.utils"):
        policy.on_request(request)
    sent = request.http_request.headers
    expected = Expected({name: sent[name] for name in ("x-ms-date", "x-ms-content-sha256", "Authorization")})
    return Case(method, f"https://{host}{target}", lambda signed: expected, body.encode() if body else None, dict(headers))


def tables_case(method, target, body=None, headers=()):
    url = f"https://demoaccount.table.core.windows.net{target}"
    request = request_of(method, url, body, {**dict(headers), "x-ms-date": http_date()})
    tables.SharedKeyCredentialPolicy(AzureNamedKeyCredential("demoaccount", SECRET_BASE64)).on_request(request)
    sent = request.http_request.headers
    expected = Expected({name: sent[name] for name in ("x-ms-date", "Authorization")})
    return Case(method, url, lambda signed: expected, body, dict(headers))


def storage_case(method, target, body=None, headers=()):
    url = f"https://demoaccount.blob.core.windows.net{target}"
    request = request_of(method, url, body, headers)
    with pinned("azure.storage.blob._shared.policies"):
        StorageHeadersPolicy().on_request(request)
    # The library's own id for its logs.
    del request.http_request.headers["x-ms-client-request-id"]
    SharedKeyCredentialPolicy("demoaccount", SECRET_BASE64).on_request(request)
    sent = request.http_request.headers
    expected = Expected({name: sent[name] for name in ("x-ms-date", "Authorization")})
    return Case(method, url, lambda signed: expected, body, dict(headers))


def event_grid_case(target, body=b"[]"):
    url = f"https://demo.westeurope-1.eventgrid.azure.net{target}"
    # One hour later than the fixed time, as in the recipe.
    expires = Moment(2023, 11, 14, 23, 13, 20)
    endpoint, _, version = url.partition("?apiVersion=")
    expected = Expected({"aeg-sas-token": generate_sas(endpoint, SECRET_BASE64, expires, api_version=version)})
    return Case("POST", url, lambda signed: expected, body, {"Content-Type": "application/json"})


def service_bus_case(method, target, body=None):
    url = f"https://demo.servicebus.windows.net{target}"
    with pinned("azure.servicebus._pyamqp.utils"):
        value = generate_sas_token(url.partition("?")[0], "RootManageSharedAccessKey", PLAIN_SECRET)
    return Case(method, url, lambda signed: Expected({"Authorization": value}), body)


def iot_hub_case(method, target, body=None):
    with pinned("azure.iot.hub.sastoken"):
        value = str(SasToken("demo.azure-devices.net", SECRET_BASE64, "service"))
    return Case(method, f"https://demo.azure-devices.net{target}", lambda signed: Expected({"Authorization": value}), body)


def rows():
    json = {"Content-Type": "application/json"}
    odd = urllib.parse.urlencode(ODD, quote_via=urllib.parse.quote)
    secrets = {"secret": SECRET_BASE64}
    learn = "https://learn.microsoft.com/en-us"
    return [
        Row(
            "Azure App Configuration",
            "azure-app-configuration",
            f"{learn}/azure/azure-app-configuration/rest-api-authentication-hmac",
            "azure-appconfiguration",
            [
                configuration_case("GET", "/kv?api-version=1.0"),
                configuration_case("GET", f"/kv/a%2Fb%20c?{odd}&api-version=1.0"),
                configuration_case("PUT", "/kv/a%2Fb?label=x%2Cy&api-version=1.0", '{"value":"ü + 1"}', json),
                configuration_case("DELETE", "/locks/a?api-version=1.0"),
            ],
            secrets,
            {"api-key": KEY},
        ),
        Row(
            "Azure Communication Services",
            "azure-communication",
            f"{learn}/rest/api/communication/authentication",
            "azure-communication-email",
            [
                communication_case("GET", "/emails/operations/1?api-version=2023-03-31"),
                communication_case("POST", "/emails:send?api-version=2023-03-31", '{"subject":"ü + 1"}', json),
                communication_case("GET", f"/phoneNumbers/%2B4912?{odd}"),
            ],
            secrets,
        ),
        Row(
            "Azure Table Storage, Shared Key",
            "azure-tables",
            f"{learn}/rest/api/storageservices/authorize-with-shared-key",
            "azure-data-tables",
            [
                tables_case("GET", "/Tables?%24top=2"),
                tables_case("GET", f"/demo(PartitionKey='a%20b',RowKey='c')?{odd}"),
                tables_case("PUT", "/?restype=service&comp=properties", b"<a/>", {"Content-Type": "application/xml"}),
                tables_case("POST", "/demo", '{"a":"ü"}'.encode(), {**json, "Content-MD5": "rL0Y20zC+Fzt72VPzMSk2A=="}),
            ],
            secrets,
            {"api-key": "demoaccount"},
        ),
        Row(
            "Azure Storage, Shared Key",
            "azure-storage",
            f"{learn}/rest/api/storageservices/authorize-with-shared-key",
            "azure-storage-blob",
            [
                storage_case("GET", "/demo?restype=container&comp=list&prefix=a%20b%2Fc", None, {"x-ms-version": "2025-01-05"}),
                storage_case(
                    "PUT",
                    "/demo/a%20b/%C3%BC%2B1.txt",
                    b"text",
                    {
                        "Content-Type": "text/plain",
                        "x-ms-blob-type": "BlockBlob",
                        "x-ms-meta-name": "a b",
                        "x-ms-version": "2025-01-05",
                    },
                ),
                storage_case(
                    "GET", "/demo/a", None, {"x-ms-range": "bytes=0-9", "If-Match": '"0x1"', "x-ms-version": "2025-01-05"}
                ),
                storage_case("DELETE", f"/demo/a?snapshot=2023-11-14T22%3A13%3A20Z&{odd}", None, {"x-ms-version": "2025-01-05"}),
            ],
            secrets,
            {"api-key": "demoaccount"},
        ),
        Row(
            "Azure Event Grid",
            "azure-event-grid",
            f"{learn}/azure/event-grid/authenticate-with-access-keys-shared-access-signatures",
            "azure-eventgrid",
            [
                event_grid_case("/api/events?apiVersion=2018-01-01"),
                event_grid_case("/api/events?apiVersion=2020-06-01"),
                event_grid_case("/api/a%20b/events?apiVersion=2018-01-01", '[{"a":"ü"}]'.encode()),
            ],
            secrets,
        ),
        Row(
            "Azure Service Bus, Event Hubs: shared access signature",
            "azure-service-bus",
            f"{learn}/rest/api/eventhub/generate-sas-token",
            "azure-servicebus",
            [
                service_bus_case("POST", "/queue/messages", b"text"),
                service_bus_case("DELETE", f"/queue/messages/head?timeout=60&{odd}"),
                service_bus_case("GET", "/a%2Fb/c%20d"),
            ],
            {"secret": PLAIN_SECRET},
            {"api-key": "RootManageSharedAccessKey"},
        ),
        Row(
            "Azure IoT Hub: shared access signature",
            "azure-iot-hub",
            f"{learn}/azure/iot-hub/authenticate-authorize-sas",
            "azure-iot-hub",
            [
                iot_hub_case("GET", "/devices?api-version=2021-04-12"),
                iot_hub_case("POST", "/devices/query?api-version=2021-04-12", b"{}"),
                iot_hub_case("DELETE", f"/devices/a%2Fb?{odd}"),
            ],
            secrets,
            {"api-key": "service"},
        ),
    ]
