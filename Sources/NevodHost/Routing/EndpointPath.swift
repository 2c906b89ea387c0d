internal import NevodSupport

/// The path of an ``Endpoint``, below the service's base URL, and optionally a query.
///
/// A literal is sent unchanged. An interpolated value is percent-encoded, all but unreserved characters (RFC 3986 §2.3), so that
/// text from a user stays within its segment of the path, or its value in the query:
///
/// ```swift
/// let path: EndpointPath = "/riders/me/sports/\(id)"
/// ```
///
/// A request with an empty interpolated value fails before it is sent, since `/sports/` names another resource than `/sports/7`.
/// So does one with a segment `.` or `..`.
public struct EndpointPath: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The path as it is sent.
    public let text: String
    /// Whether each interpolated value has a character at least.
    let isComplete: Bool

    private init(text: String, isComplete: Bool) {
        self.text = text
        self.isComplete = isComplete
    }

    /// Creates a path from text that is percent-encoded already, such as one from a configuration file.
    public init(encoded text: String) {
        self.init(text: text, isComplete: true)
    }

    public init(stringLiteral value: String) {
        self.init(encoded: value)
    }

    public init(stringInterpolation: StringInterpolation) {
        self.init(text: stringInterpolation.text, isComplete: stringInterpolation.isComplete)
    }

    /// Collects the parts of an interpolated path.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var isComplete = true

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        public mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Appends the value's description, percent-encoded.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let encoded = PercentEncoding.queryItem(value.description.utf8)
            if encoded.isEmpty { isComplete = false }
            text += String(decoding: encoded, as: UTF8.self)
        }

        /// Appends another path unchanged, such as a common beginning.
        public mutating func appendInterpolation(_ path: EndpointPath) {
            if !path.isComplete { isComplete = false }
            text += path.text
        }
    }
}
