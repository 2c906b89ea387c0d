import NevodHost
import NevodSupport
import Testing

/// Times and nonces.
struct RecipeTimeTests {
    /// The calendar's edge cases, with fractions that begin with zeros.
    private static let times: [Int64] = [
        0, 1, 999_999_999, 86_399_000_000_000, 951_782_400_001_002_003, 951_868_799_999_999_999, 1_709_164_800_000_000_000,
        someTime, 1_735_689_599_050_000_000, 4_102_444_800_000_000_001,
    ]

    @Test func `Each format of a time`() throws {
        var cases: [Evaluation] = []
        for time in Self.times {
            let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000)
            let utc = { (format: String) in "utc('\(format)', \(seconds)).encode()" }
            let fraction = "b'%09d' % \(nanoseconds)"
            for (format, expected) in [
                ("seconds", "b'\(seconds)'"), ("milliseconds", "b'\(time / 1_000_000)'"), ("microseconds", "b'\(time / 1000)'"),
                ("nanoseconds", "b'\(time)'"), ("decimal:1", "b'\(seconds).' + (\(fraction))[:1]"),
                ("decimal:3", "b'\(seconds).' + (\(fraction))[:3]"), ("decimal:9", "b'\(seconds).' + \(fraction)"),
                ("rfc1123", "httpdate(\(seconds)).encode()"), ("rfc3339", utc("%Y-%m-%dT%H:%M:%SZ")),
                ("rfc3339-milliseconds", utc("%Y-%m-%dT%H:%M:%S.") + " + (\(fraction))[:3] + b'Z'"),
                ("basic", utc("%Y%m%dT%H%M%SZ")), ("date", utc("%Y-%m-%d")), ("basic-date", utc("%Y%m%d")),
                ("format:%Y-%m-%dT%H:%M:%S+0000", utc("%Y-%m-%dT%H:%M:%S+0000")),
                (#"format:%a, %d %b %y\: %%%H\|%M"#, utc("%a, %d %b %y: %%%H|%M")),
                ("format:%e/%m", utc("%-d/%m")), ("format:%S.%L", utc("%S.") + " + (\(fraction))[:3]"),
                ("format:%f", "(\(fraction))[:6]"), ("format:", "b''"), ("format:now", "b'now'"),
            ] { cases.append(Evaluation("{time|\(format)}", expected, at: time)) }
        }
        try Evaluation.check(cases)
    }

    @Test func `Times before and behind now`() throws {
        try Evaluation.check([
            Evaluation("{time+60|seconds}", "b'1700000060'"), Evaluation("{time-5|seconds}", "b'1699999995'"),
            Evaluation("{time-60|milliseconds}", "b'1699999940123'"), Evaluation("{time+0|seconds}", "b'1700000000'"),
            Evaluation("{time+86400|date}", "b'2023-11-15'"), Evaluation("{time+999999999|seconds}", "b'2699999999'"),
            Evaluation("{time-1|seconds}", "b'-1'", at: 0), Evaluation("{time-1|rfc3339}", "b'1969-12-31T23:59:59Z'", at: 0),
            Evaluation("{time|seconds|sha256}", "digest('sha256', b'1700000000')"),
            // One request has one time.
            Evaluation("{time|seconds}{time|seconds}", "b'17000000001700000000'"),
        ])
    }

    private func nonces(_ format: String, count: Int = 200) throws -> [String] {
        let token = try makeToken([
            "recipe": """
            accept unsigned-nonce
            let value = {nonce\(format)}
            header X-Value = {value|hex}
            header X-Again = {nonce\(format)|hex}
            header X-Sign = {target|hmac:sha256:secret|hex}
            """
        ])
        return try (0..<count).map { _ in
            var request = try HTTPRequest(.get, "https://example.com/")
            try token.authorize(&request)
            #expect(request.headers["X-Value"] == request.headers["X-Again"], "a request has one nonce")
            return try #require(request.headers["X-Value"])
        }
    }

    @Test func `Each format of a nonce`() throws {
        for (format, pattern) in [
            ("", "[0-9a-f]{32}"), ("|hex:1", "[0-9a-f]"), ("|hex:64", "[0-9a-f]{64}"), ("|digits:1", "[1-9]"),
            ("|digits:32", "[1-9][0-9]{31}"), ("|alphanumeric:32", "[0-9A-Za-z]{32}"), ("|lowercase:10", "[a-z]{10}"),
            ("|uuid", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"), ("|upper", "[0-9A-F]{32}"),
            ("|hex:9|upper", "[0-9A-F]{9}"), ("|bytes:1|hex", "[0-9a-f]{2}"), ("|bytes:32|hex", "[0-9a-f]{64}"),
            ("|bytes:16|base64", "[^=]{22}=="),
        ] {
            let values = try nonces(format)
            let expression = try Regex(pattern)
            for value in values {
                let text = try String(decoding: #require(Hexadecimal.bytes(value)), as: UTF8.self)
                #expect(try expression.wholeMatch(in: text) != nil, "\(format): \(text)")
            }
            #expect(Set(values).count > 8 || ["|hex:1", "|digits:1"].contains(format), "\(format)")
            #expect(Set(values).count > 4)
        }
    }

    @Test func `A fixed nonce is the same for each format`() throws {
        try Evaluation.check([
            Evaluation("{nonce}", "b'abc'", settings: ["nonce": "abc"]),
            Evaluation("{nonce|uuid}", "b'abc'", settings: ["nonce": "abc"]),
            Evaluation("{nonce|bytes:2|upper}", "b'ABC'", settings: ["nonce": "abc"]),
        ])
    }
}
