internal import Foundation

extension TokenAnalyticsSnapshot {
    /// All numbers in the text format that Prometheus reads, version 0.0.4 (`text/plain; version=0.0.4; charset=utf-8`).
    ///
    /// Durations and ages are in seconds. Users are included only if they are counted.
    public var prometheusText: String {
        var text = PrometheusText()
        text.begin("nevod_token_refreshes_total", "counter", "Renewals of tokens by outcome.")
        for (outcome, count) in orderedRefreshes {
            text.sample("nevod_token_refreshes_total", [("outcome", outcome)], "\(count)")
        }
        text.histogram("nevod_token_refresh_duration_seconds", "Duration of renewals.", refreshDurations)
        text.begin("nevod_token_refresh_duration_seconds_max", "gauge", "Duration of the longest renewal.")
        text.sample("nevod_token_refresh_duration_seconds_max", [], "\(refreshDurations.max)")
        text.begin("nevod_token_requests_total", "counter", "Attempts that carried a token, by route and outcome.")
        for (key, count) in orderedRequests {
            text.sample(
                "nevod_token_requests_total", [("route", key.route), ("outcome", key.outcome.rawValue)], "\(count)")
        }
        text.histogram("nevod_token_age_seconds", "Age of tokens when they are used.", tokenAges)
        guard !users.isEmpty else { return text.text }
        text.begin("nevod_token_user_requests_total", "counter", "Attempts that carried a token, by user.")
        for (user, metric) in orderedUsers {
            text.sample("nevod_token_user_requests_total", [("user", user)], "\(metric.requestCount)")
        }
        text.begin("nevod_token_user_last_used_timestamp_seconds", "gauge", "Last use of a token, by user.")
        for (user, metric) in orderedUsers {
            text.sample(
                "nevod_token_user_last_used_timestamp_seconds", [("user", user)], "\(metric.lastUsed.timeIntervalSince1970)")
        }
        return text.text
    }
}

private struct PrometheusText {
    var text = ""

    mutating func begin(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Buckets are cumulative: each counts all values up to its bound.
    mutating func histogram(_ name: String, _ help: String, _ histogram: MetricHistogram) {
        begin(name, "histogram", help)
        var total = 0
        for (bound, count) in zip(histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.buckets) {
            total += count
            sample("\(name)_bucket", [("le", bound)], "\(total)")
        }
        sample("\(name)_sum", [], "\(histogram.sum)")
        sample("\(name)_count", [], "\(histogram.count)")
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
