import NevodHost
import NevodSupport

/// The reason that the JSON body of an error gives, for `--fail`, which doesn't print the body.
enum RefusalDetail {
    private static let longestBody = 16 << 10
    /// The longest wait for the body. The response's head has arrived, and a message isn't worth more.
    private static let longestWait = Duration.seconds(1)

    /// Reads a short JSON body and returns its reason; nil without one.
    static func read(_ response: HTTPResponse) async -> String? {
        guard let length = response.headers["Content-Length"].flatMap({ Int($0) }), (1...longestBody).contains(length),
            response.isJSON
        else { return nil }
        let reading = Task { try? await response.body.collect(upTo: longestBody) }
        let timer = Task {
            try await Task.sleep(for: longestWait)
            reading.cancel()
        }
        defer { timer.cancel() }
        return await reading.value.flatMap(reason)
    }

    /// The texts in which servers put a reason: those of RFC 9457 §3.1, of RFC 6749 §5.2, and common ones.
    static func reason(in body: [UInt8]) -> String? {
        guard let document = try? JSONValue(parsing: body.span) else { return nil }
        let places = [
            document["error_description"], document["detail"], document["message"], document["error"]?["message"],
            document["error"], document["title"],
        ]
        return places.lazy.compactMap { $0?.string }.first { !$0.isEmpty }
    }
}

extension HTTPResponse {
    /// `application/json`, and any type that ends in `+json` (RFC 6839 §3.1).
    var isJSON: Bool {
        guard let type = mediaType else { return false }
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// The type of the body without its parameters, in lower case.
    var mediaType: String? {
        headers["Content-Type"].map { String($0.lowercased().prefix { $0 != ";" && $0 != " " }) }
    }
}
