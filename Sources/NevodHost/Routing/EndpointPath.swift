internal import NevodSupport

/// The path of an ``Endpoint``, below the service's base URL, and optionally a query.
///
/// A literal is sent unchanged. In an interpolated value, all but unreserved characters (RFC 3986 §2.3) are percent-encoded, so
/// that a user's text stays within its path segment or query value:
///
/// ```swift
/// let path: EndpointPath = "/riders/me/sports/\(id)"
/// ```
///
/// A request with an empty interpolated value fails before it is sent, since `/sports/` and `/sports/7` name different resources.
/// So does a request with a segment `.` or `..`.
public struct EndpointPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The path as it is sent.
    public let text: String
    /// The path without its query, and with `{}` for each interpolated value, such as `/riders/me/sports/{}`. It is the same for
    /// all requests to an endpoint, and holds none of their values. Nil for a path from ``init(encoded:)``, which may hold values
    /// anywhere.
    public let template: String?
    /// Whether no interpolated value is empty.
    let isComplete: Bool

    private init(text: String, template: String?, isComplete: Bool) {
        self.text = text
        self.template = template.map { $0.utf8.contains(UInt8(ascii: "?")) ? String($0.prefix { $0 != "?" }) : $0 }
        self.isComplete = isComplete
    }

    /// Creates a path from text that is percent-encoded already, such as one from a configuration file.
    public init(encoded text: String) {
        self.init(text: text, template: nil, isComplete: true)
    }

    public init(stringLiteral value: String) {
        self.init(text: value, template: value, isComplete: true)
    }

    public init(stringInterpolation: StringInterpolation) {
        self.init(
            text: stringInterpolation.text, template: stringInterpolation.template, isComplete: stringInterpolation.isComplete)
    }

    /// Whether both paths are sent as the same text. Templates are not compared.
    public static func == (left: EndpointPath, right: EndpointPath) -> Bool {
        left.text == right.text && left.isComplete == right.isComplete
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
        hasher.combine(isComplete)
    }

    /// Collects the parts of an interpolated path.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var template = ""
        fileprivate var isComplete = true

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        public mutating func appendLiteral(_ literal: String) {
            text += literal
            template += literal
        }

        /// Appends the value's description, percent-encoded.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let encoded = PercentEncoding.queryItem(value.description.utf8)
            if encoded.isEmpty { isComplete = false }
            text += String(decoding: encoded, as: UTF8.self)
            template += "{}"
        }

        /// Appends another path unchanged, such as a common prefix.
        public mutating func appendInterpolation(_ path: EndpointPath) {
            if !path.isComplete { isComplete = false }
            text += path.text
            template += path.template ?? "{}"
        }
    }
}
