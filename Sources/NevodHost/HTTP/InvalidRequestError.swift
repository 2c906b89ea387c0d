/// A request that can't be sent because part of it is invalid.
public struct InvalidRequestError: Error, Sendable, Hashable {
    /// The invalid part of a request.
    public enum Part: Sendable, Hashable {
        /// The URL as given. It may contain a secret.
        case url(String)
        /// The method as given.
        case method(String)
        /// The header with this name. The value, which may be a secret, is left out.
        case header(String)
        /// The scheme parameter with this name.
        case parameter(String)
        /// The body can't be read, or its length isn't known but must be.
        case body
    }

    /// The invalid part.
    public let part: Part
    /// The problem with ``part``.
    public let problem: String

    package init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }
}

extension InvalidRequestError: CustomStringConvertible {
    public var description: String {
        switch part {
        case .url(let url): "the URL \"\(ShownURL.text(url))\" can't be used: \(problem)"
        case .method(let method): "the method \"\(method)\" can't be used: \(problem)"
        case .header(let name): "the header \"\(name)\" can't be used: \(problem)"
        case .parameter(let name): "the scheme parameter \"\(name)\" can't be used: \(problem)"
        case .body: "the body can't be sent: \(problem)"
        }
    }
}

/// The previous name of ``InvalidRequestError``.
@available(*, deprecated, renamed: "InvalidRequestError")
public typealias InvalidRequest = InvalidRequestError
