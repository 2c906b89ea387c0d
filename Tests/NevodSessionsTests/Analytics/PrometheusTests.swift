import Foundation
import NevodSessions
import NevodTestSupport
import Testing

struct PrometheusTests {
    /// The output of Prometheus's own parser: each sample as `name{labels} value`, with the labels in JSON.
    private func parsed(_ text: String) async throws -> (types: [String: String], samples: [String: Double]) {
        let folder = try TemporaryFolder()
        let path = try folder.write("metrics", text)
        let output = try await onOwnThread {
            try Command.output(
                ["/usr/bin/python3", "-B", "\(repository)/Tests/NevodHostTests/Probes/prometheus_judge.py", path])
        }
        struct Parsed: Decodable {
            let types: [String: String]
            let samples: [String: Double]
        }
        let parsed = try JSONDecoder().decode(Parsed.self, from: Data(output.utf8))
        return (parsed.types, parsed.samples)
    }

    @Test func `Prometheus's parser reads all numbers`() async throws {
        let analytics = TokenAnalytics(users: .byClaim("sub"))
        for duration in [Duration.milliseconds(3), .milliseconds(700), .seconds(100)] {
            analytics.refreshFinished(TokenRefreshEvent(duration: duration))
        }
        analytics.refreshFinished(TokenRefreshEvent(failure: .serverError, duration: .zero))
        for age in [Duration.seconds(10), .seconds(11)] {
            analytics.requestFinished(TokenRequestEvent(route: "GET /a/{}", outcome: .success, tokenAge: age, user: "ada"))
        }
        let (types, samples) = try await parsed(analytics.snapshot.prometheusText)
        #expect(
            types == [
                "nevod_token_refreshes": "counter", "nevod_token_refresh_duration_seconds": "histogram",
                "nevod_token_refresh_duration_seconds_max": "gauge", "nevod_token_requests": "counter",
                "nevod_token_age_seconds": "histogram", "nevod_token_user_requests": "counter",
                "nevod_token_user_last_used_timestamp_seconds": "gauge",
            ])
        #expect(samples[#"nevod_token_refreshes_total{"outcome": "succeeded"}"#] == 3)
        #expect(samples[#"nevod_token_refreshes_total{"outcome": "server_error"}"#] == 1)
        #expect(samples[#"nevod_token_refreshes_total{"outcome": "network"}"#] == 0)
        let duration = "nevod_token_refresh_duration_seconds"
        #expect(samples[#"\#(duration)_bucket{"le": "0.005"}"#] == 2)
        #expect(samples[#"\#(duration)_bucket{"le": "1.0"}"#] == 3)
        #expect(samples[#"\#(duration)_bucket{"le": "+Inf"}"#] == 4)
        #expect(samples["\(duration)_count{}"] == 4 && samples["\(duration)_max{}"] == 100)
        #expect(abs(try #require(samples["\(duration)_sum{}"]) - 100.703) < 1e-9)
        #expect(samples[#"nevod_token_requests_total{"outcome": "2xx", "route": "GET /a/{}"}"#] == 2)
        #expect(samples[#"nevod_token_age_seconds_bucket{"le": "10.0"}"#] == 1)
        #expect(samples[#"nevod_token_user_requests_total{"user": "ada"}"#] == 2)
    }

    @Test func `Hostile names of routes and users stay within their labels`() async throws {
        let hostile = [
            #"GET /"quoted""#, "GET /line\nnevod_token_refreshes_total 99", #"GET /back\slash\n"#, #"ends in \"#,
            "a\"} 1\n# TYPE x",
            "", "é\u{2028}\u{0}\r\t{,}=",
        ]
        let analytics = TokenAnalytics(users: .byClaim("sub"))
        for name in hostile { analytics.requestFinished(TokenRequestEvent(route: name, outcome: .failed, user: name)) }
        let (types, samples) = try await parsed(analytics.snapshot.prometheusText)
        #expect(types.count == 7)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for name in hostile {
            let json = String(decoding: try encoder.encode(name), as: UTF8.self)
            #expect(samples["nevod_token_requests_total{\"outcome\": \"failed\", \"route\": \(json)}"] == 1, "\(json)")
            #expect(samples["nevod_token_user_requests_total{\"user\": \(json)}"] == 1, "\(json)")
        }
        #expect(samples[#"nevod_token_refreshes_total{"outcome": "succeeded"}"#] == 0)
    }
}
