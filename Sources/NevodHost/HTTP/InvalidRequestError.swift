/// A request that can't be sent as it stands.
public struct InvalidRequestError: Error, Sendable, Hashable {
    /// Which part of the request is to blame.
    public enum Part: Sendable, Hashable {
        /// As it was given, so it may hold a secret of the caller's own.
        case url(String)
        /// As it was given.
        case method(String)
        /// By name; the value, which may be a secret, is left out.
        case header(String)
        /// Its length is unknown where it must not be, or it can't be read.
        case body
    }

    /// What a program can act on.
    public let part: Part
    /// What is wrong, to be read behind the part's name.
    public let problem: String

    package init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }
}

extension InvalidRequestError: CustomStringConvertible {
    public var description: String {
        switch part {
        case .url(let url): "the URL \"\(url)\" can't be used: \(problem)"
        case .method(let method): "the method \"\(method)\" can't be used: \(problem)"
        case .header(let name): "the header \"\(name)\" can't be used: \(problem)"
        case .body: "the body can't be sent: \(problem)"
        }
    }
}

@available(*, deprecated, renamed: "InvalidRequestError")
public typealias InvalidRequest = InvalidRequestError
