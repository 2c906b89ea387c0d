"""Libraries that receive webhooks, which nevod-host sends to test a receiver."""

import logging
import types
import urllib.parse

from vendors import ODD, PLAIN_SECRET, SECRET, Case, Expected, Row, absent, lower, pinned, without_init

without_init("Adyen", "messagebird", "paddle_billing", "paddle_billing.Notifications", "plivo", "twilio")
without_init(
    "linebot", "linebot.v3", "viberbot", "viberbot.api", "razorpay", "razorpay.utility", "sinch", "sinch.domains", "slack_sdk"
)
without_init(
    "sinch.domains.authentication", "sinch.domains.authentication.sinch_events", "sinch.core", "sinch.core.internal", "stripe"
)
without_init("sinch.domains.authentication.sinch_events.v1", "sinch.core.internal.sinch_events")
absent("pydantic", "uritemplate")

URL = "https://example.com/hook?" + urllib.parse.urlencode(ODD)
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SECRET_HEX = bytes(range(200, 232)).hex()
BODIES = ['{"a":"ü + 1"}', '{"type": "x", "data": {"b": [1, 2.0]}}', "a=b&c=%2F d"]


def cases(expect):
    """`expect` gets a body and the sent headers, with names in lower case."""
    return [
        Case("POST", URL, lambda signed, body=body: Expected(expect(body, lower(signed))), body.encode(), JSON) for body in BODIES
    ]


def if_valid(names, valid):
    """For software that only verifies: the lines that nevod-host sent, if the software accepts them."""

    def expect(body, headers):
        try:
            with pinned():
                taken = valid(body, *(headers.get(name.lower(), "") for name in names))
        except Exception as error:
            return {name: repr(error) for name in names}
        return {name: headers.get(name.lower(), "") if taken is not False else "what the software takes" for name in names}

    return expect


def github(body, signature):
    from gidgethub.sansio import validate_event

    validate_event(body.encode(), signature=signature, secret=SECRET)


def slack(body, headers):
    from slack_sdk.signature import Clock, SignatureVerifier

    with pinned("slack_sdk.signature"):
        at = str(int(Clock().now()))
        return {
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": SignatureVerifier(SECRET).generate_signature(timestamp=at, body=body),
        }


def stripe(body, headers):
    absent("stripe._event", "stripe._util", "stripe._error", "stripe._api_requestor")
    from stripe._webhook import WebhookSignature

    with pinned("stripe._webhook"):
        return {"Stripe-Signature": WebhookSignature.generate_signature_header(body, SECRET)}


def paddle(body, signature):
    from paddle_billing.Notifications.PaddleSignature import PaddleSignature

    # It logs each verification to standard error.
    logging.disable(logging.INFO)
    try:
        return PaddleSignature().verify(signature, body, types.SimpleNamespace(secret_key=SECRET))
    finally:
        logging.disable(logging.NOTSET)


def line(body, signature):
    absent("linebot.v3.webhooks", "linebot.v3.models.events")
    from linebot.v3.webhook import SignatureValidator

    return SignatureValidator(SECRET).validate(body, signature)


def viber(body, signature):
    absent("viberbot.api.viber_requests", "viberbot.api.api_request_sender", "viberbot.api.message_sender")
    from viberbot.api.api import Api

    api = types.SimpleNamespace(_bot_configuration=types.SimpleNamespace(auth_token=PLAIN_SECRET))
    api._calculate_message_signature = lambda message: Api._calculate_message_signature(api, message)
    return Api.verify_signature(api, body.encode(), signature)


def razorpay(body, signature):
    from razorpay.utility.utility import Utility

    return Utility().verify_webhook_signature(body, signature, SECRET)


def sinch(body, *values):
    from sinch.domains.authentication.sinch_events.v1 import authentication_validation as software

    names = ["X-Sinch-Webhook-Signature", "X-Sinch-Webhook-Signature-Nonce", "X-Sinch-Webhook-Signature-Timestamp"]
    return software.validate_sinch_event_signature_with_nonce(SECRET, dict(zip(names, values)), body)


def twilio(values, algorithm):
    from twilio.request_validator import RequestValidator

    url = "https://example.com/hook?" + urllib.parse.urlencode(ODD)
    signature = RequestValidator(SECRET).compute_signature(url, values, algorithm)
    body = urllib.parse.urlencode(values).encode() or None
    return Case(
        "POST" if values else "GET", url, lambda signed: Expected({"X-Twilio-Signature": signature}), body, FORM if values else {}
    )


def plivo(values):
    from plivo.utils.signature_v3 import construct_post_url, get_signature_v3

    def expect(signed):
        nonce = lower(signed).get("x-plivo-signature-v3-nonce", "")
        address = construct_post_url("https://example.com/hook?a=b&c=d", dict(values)).decode()
        return Expected(
            {
                "X-Plivo-Signature-V3": get_signature_v3(SECRET.encode(), address, nonce).decode(),
                "X-Plivo-Signature-V3-Nonce": nonce,
            }
        )

    return Case("POST", "https://example.com/hook?a=b&c=d", expect, urllib.parse.urlencode(values).encode(), FORM)


def adyen(body, signature):
    from Adyen.util import is_valid_hmac_payload

    return is_valid_hmac_payload(signature, SECRET_HEX, body.encode())


def message_bird(body, signature):
    from messagebird.request_validator import RequestValidator

    with pinned("jwt.api_jwt"):
        RequestValidator(SECRET_HEX).validate_signature(signature, URL, body.encode())


def pusher(body, headers):
    without_init("pusher")
    from pusher.signature import sign

    return {"X-Pusher-Key": "demo-key-1", "X-Pusher-Signature": sign(SECRET, body)}


def rows():
    secret = {"secret": SECRET}
    webhook = lambda title, preset, source, judge, found, secrets=secret, settings={}: Row(
        title, preset, source, judge, found, secrets, settings
    )
    sinch_names = ["X-Sinch-Webhook-Signature", "X-Sinch-Webhook-Signature-Nonce", "X-Sinch-Webhook-Signature-Timestamp"]
    forms = [{"From": "+4912", "Body": "ü=1&2 +"}, {"b": "2", "a": "", "B": "3"}, {}]
    return [
        webhook(
            "GitHub webhooks",
            "github-webhook",
            "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
            "gidgethub",
            cases(if_valid(["X-Hub-Signature-256"], github)),
        ),
        webhook(
            "Slack requests",
            "slack",
            "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
            "slack_sdk",
            cases(slack),
        ),
        webhook("Stripe webhooks", "stripe-webhook", "https://docs.stripe.com/webhooks/signature", "stripe", cases(stripe)),
        webhook(
            "Paddle webhooks",
            "paddle-webhook",
            "https://developer.paddle.com/webhooks/signature-verification",
            "paddle-python-sdk",
            cases(if_valid(["Paddle-Signature"], paddle)),
        ),
        webhook(
            "LINE webhooks",
            "line-webhook",
            "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
            "line-bot-sdk",
            cases(if_valid(["x-line-signature"], line)),
        ),
        webhook(
            "Viber webhooks",
            "viber-webhook",
            "https://developers.viber.com/docs/api/rest-bot-api/#callbacks",
            "viberbot",
            cases(if_valid(["X-Viber-Content-Signature"], viber)),
            {"secret": PLAIN_SECRET},
        ),
        webhook(
            "Razorpay webhooks",
            "razorpay-webhook",
            "https://razorpay.com/docs/webhooks/validate-test/",
            "razorpay",
            cases(if_valid(["X-Razorpay-Signature"], razorpay)),
        ),
        webhook(
            "Sinch webhooks",
            "sinch-webhook",
            "https://developers.sinch.com/docs/conversation/callbacks/#validating-callbacks",
            "sinch",
            cases(if_valid(sinch_names, sinch)),
        ),
        webhook(
            "Pusher webhooks",
            "pusher-webhook",
            "https://pusher.com/docs/channels/server_api/webhooks/#authentication",
            "pusher",
            cases(pusher),
            secret,
            {"api-key": "demo-key-1"},
        ),
        webhook(
            "Adyen webhooks with the signature in a header",
            "adyen-webhook",
            "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures/",
            "adyen",
            cases(if_valid(["HmacSignature"], adyen)),
            {"secret": SECRET_HEX},
        ),
        webhook(
            "MessageBird webhooks",
            "messagebird-webhook",
            "https://developers.messagebird.com/api/#verifying-http-requests",
            "messagebird",
            cases(if_valid(["MessageBird-Signature-JWT"], message_bird)),
            {"secret": SECRET_HEX},
        ),
        webhook(
            "Twilio requests",
            "twilio-webhook",
            "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
            "twilio",
            [twilio(values, None) for values in forms],
        ),
        webhook(
            "Plivo requests",
            "plivo-webhook",
            "https://www.plivo.com/docs/concepts/signature-validation/",
            "plivo",
            [plivo(values) for values in forms[:2] + [{"z": "a/b", "c": "d"}]],
        ),
    ]
