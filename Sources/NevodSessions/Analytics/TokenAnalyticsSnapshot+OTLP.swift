internal import NevodHost
internal import NevodSupport

extension TokenAnalyticsSnapshot {
    /// The body of a request to an OTLP receiver (`ExportMetricsServiceRequest`) as JSON: names in camelCase, 64-bit integers as
    /// strings, enumerations as numbers.
    ///
    /// - Parameter resource: the attributes of the program, such as `service.name`.
    func otlp(resource: [(name: String, value: String)]) -> JSONValue {
        var metrics = [
            sum("nevod.token.refreshes", "{refresh}", orderedRefreshes.map { ([("outcome", $0.outcome)], $0.count) }),
            histogram("nevod.token.refresh.duration", refreshDurations),
            sum(
                "nevod.token.requests", "{request}",
                orderedRequests.map { ([("route", $0.key.route), ("outcome", $0.key.outcome.rawValue)], $0.count) }),
            histogram("nevod.token.age", tokenAges),
        ]
        if !users.isEmpty {
            metrics.append(
                sum("nevod.token.user.requests", "{request}", orderedUsers.map { ([("user", $0.user)], $0.metric.requestCount) }))
        }
        return [
            "resourceMetrics": [
                [
                    "resource": ["attributes": Self.attributes(resource)],
                    "scopeMetrics": [["scope": ["name": "NevodSessions"], "metrics": .array(metrics)]],
                ]
            ]
        ]
    }

    private typealias Labels = [(name: String, value: String)]

    /// AGGREGATION_TEMPORALITY_CUMULATIVE: each point counts from the start, so a lost export loses nothing.
    private static var cumulative: JSONValue { 2 }

    private func sum(_ name: String, _ unit: String, _ points: [(labels: Labels, count: Int)]) -> JSONValue {
        [
            "name": .string(name), "unit": .string(unit),
            "sum": [
                "dataPoints": .array(
                    points.map { point in
                        .object(pointMembers(point.labels) + [JSONValue.Member("asInt", .string("\(point.count)"))])
                    }),
                "aggregationTemporality": Self.cumulative, "isMonotonic": true,
            ],
        ]
    }

    private func histogram(_ name: String, _ histogram: MetricHistogram) -> JSONValue {
        let point = [
            JSONValue.Member("count", .string("\(histogram.count)")), JSONValue.Member("sum", .number(histogram.sum)),
            JSONValue.Member("max", .number(histogram.max)),
            JSONValue.Member("bucketCounts", .array(histogram.buckets.map { .string("\($0)") })),
            JSONValue.Member("explicitBounds", .array(histogram.bounds.map { .number($0) })),
        ]
        return [
            "name": .string(name), "unit": "s",
            "histogram": [
                "dataPoints": [.object(pointMembers([]) + point)], "aggregationTemporality": Self.cumulative,
            ],
        ]
    }

    private func pointMembers(_ labels: Labels) -> [JSONValue.Member] {
        [
            JSONValue.Member("attributes", Self.attributes(labels)),
            JSONValue.Member("startTimeUnixNano", .string("\(max(0, started.nanoseconds))")),
            JSONValue.Member("timeUnixNano", .string("\(max(0, taken.nanoseconds))")),
        ]
    }

    private static func attributes(_ labels: Labels) -> JSONValue {
        .array(labels.map { ["key": .string($0.name), "value": ["stringValue": .string($0.value)]] })
    }
}
