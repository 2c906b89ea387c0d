import NevodHost
import Testing

/// Vendors' schemes as settings, compared with the vendors' published secrets, requests and signatures.
struct VendorTests {
    /// "Verifying requests from Slack", https://docs.slack.dev/authentication/verifying-requests-from-slack
    @Test func `A Slack request has the published signature`() throws {
        let body =
            "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
            + "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
            + "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
            + "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
        let signed = try sign(
            HTTPRequest(.post, "https://example.com/slack", body: .bytes(Array(body.utf8))),
            [
                "message": "v0:{timestamp}:{body}", "timestamp-header": "X-Slack-Request-Timestamp",
                "signature-header": "X-Slack-Signature", "signature-value": "v0={signature}",
            ],
            secret: "8f742231b10e8888abcd99yyyzzz85a5", at: 1_531_420_618_000_000_000)
        #expect(signed.headers["X-Slack-Request-Timestamp"] == "1531420618")
        #expect(signed.headers["X-Slack-Signature"] == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")
    }

    /// "Validating webhook deliveries",
    /// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    @Test func `A GitHub delivery has the published signature`() throws {
        let signed = try sign(
            HTTPRequest(.post, "https://example.com/payload", body: .bytes(Array("Hello, World!".utf8))),
            ["message": "{body}", "signature-header": "X-Hub-Signature-256", "signature-value": "sha256={signature}"],
            secret: "It's a Secret to Everybody")
        #expect(
            signed.headers["X-Hub-Signature-256"]
                == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
        #expect(signed.headers.contains("X-Timestamp") == false)
        #expect(signed.headers.contains("X-API-Key") == false)
    }

    /// "SIGNED request example (HMAC)", Binance Spot API, Request Security,
    /// https://developers.binance.com/docs/binance-spot-api-docs/rest-api/request-security
    @Test func `A Binance order has the published signature`() throws {
        let signed = try sign(
            HTTPRequest(
                .post,
                "https://api.binance.com/api/v3/order?symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1"
                    + "&recvWindow=5000"),
            [
                "api-key": "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A", "key-header": "X-MBX-APIKEY",
                "message": "{query}&timestamp={timestamp}{body}", "timestamp": "milliseconds", "timestamp-header": "",
                "timestamp-query": "timestamp", "signature-header": "", "signature-query": "signature",
            ],
            secret: "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j", at: 1_499_827_319_559_000_000)
        #expect(
            signed.target
                == "/api/v3/order?symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000"
                + "&timestamp=1499827319559&signature=c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71")
        #expect(signed.headers["X-MBX-APIKEY"] == "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A")
        #expect(signed.headers.contains("X-Signature") == false)
        #expect(signed.headers.contains("X-Timestamp") == false)
    }

    /// Standard Webhooks (Svix and many others), the reference library's test "sign function works",
    /// https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/webhook.test.ts
    @Test func `A Standard Webhooks message has the signature of the reference library`() throws {
        var request = try HTTPRequest(.post, "https://example.com/", body: .bytes(Array(#"{"test": 2432232314}"#.utf8)))
        try request.setHeader("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
        let signed = try sign(
            request,
            [
                "secret-encoding": "base64", "message": "{header:Webhook-Id}.{timestamp}.{body}", "encoding": "base64",
                "timestamp-header": "webhook-timestamp", "signature-header": "webhook-signature",
                "signature-value": "v1,{signature}",
            ],
            secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", at: 1_614_265_330_000_000_000)
        #expect(signed.headers["webhook-timestamp"] == "1614265330")
        #expect(signed.headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    /// "HMAC authentication", https://learn.microsoft.com/azure/azure-app-configuration/rest-api-authentication-hmac, which
    /// publishes no signature. This one is Python's.
    @Test func `An Azure App Configuration request has Python's signature`() throws {
        let signed = try sign(
            HTTPRequest(.get, "https://example.azconfig.io/kv?api-version=1.0"),
            [
                "api-key": "id", "secret-encoding": "base64", "message": #"{method}\n{target}\n{timestamp};{host};{body-hash}"#,
                "encoding": "base64", "body-hash-encoding": "base64", "empty-body-hash": "hash", "timestamp": "rfc1123",
                "key-header": "", "timestamp-header": "x-ms-date", "body-hash-header": "x-ms-content-sha256",
                "signature-header": "Authorization",
                "signature-value":
                    "HMAC-SHA256 Credential={key}&SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature={signature}",
            ],
            secret: "c2VjcmV0")
        let expected = try Python.evaluate([
            "b64(digest('sha256', b''))", "httpdate()",
            "b64(mac('sha256', b'GET\\n/kv?api-version=1.0\\n' + httpdate().encode() + b';example.azconfig.io;'"
                + " + b64(digest('sha256', b'')).encode(), b'secret'))",
        ])
        #expect(signed.headers["x-ms-content-sha256"] == expected[0])
        #expect(signed.headers["x-ms-date"] == expected[1])
        #expect(
            signed.headers["Authorization"]
                == "HMAC-SHA256 Credential=id&SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=\(expected[2])")
    }
}
