/// A request that can't be sent as it stands.
public struct InvalidRequest: Error, Sendable, Hashable {
    public enum Part: Sendable, Hashable {
        case url(String)
        case method(String)
        case header(String)
        case body
    }

    public let part: Part
    public let problem: String

    package init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }
}

extension InvalidRequest: CustomStringConvertible {
    public var description: String {
        switch part {
        case .url(let url): "the URL \"\(url)\" can't be used: \(problem)"
        case .method(let method): "the method \"\(method)\" can't be used: \(problem)"
        case .header(let name): "the header \"\(name)\" can't be used: \(problem)"
        case .body: "the body can't be sent: \(problem)"
        }
    }
}
