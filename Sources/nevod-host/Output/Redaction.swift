import NevodHost
import NevodSupport

/// Redacts everything that the process writes for people. Hides the credentials of the requests sent so far, of header files and
/// of proxies' URLs, even where a server repeats them.
///
/// Prepared on first use, since most commands print nothing.
final class Redaction: Sendable {
    static let shared = Redaction()

    private struct State {
        var requests: [HTTPRequest] = []
        var secrets: [[UInt8]] = proxySecrets
        var redactor: TraceRedactor?
    }

    private let state = Locked<State?>(nil)

    /// The number of requests to keep: the first and the newest.
    private static let mostRequests = 32

    /// Remembers a request as it is sent.
    func learn(_ request: HTTPRequest) {
        update { state in
            if state.redactor != nil { state.redactor?.learn(request) } else { state.requests.append(request) }
            if state.requests.count > Self.mostRequests { state.requests.remove(at: 1) }
        }
    }

    /// Remembers a secret that no request marks as one.
    func learn(secret: some Sequence<UInt8>) {
        let secret = Array(secret)
        update { state in
            if state.redactor != nil { state.redactor?.learn(secret) } else { state.secrets.append(secret) }
        }
    }

    /// Returns the redacted lines of a learnt request.
    func head(of request: HTTPRequest) -> [String] { withRedactor { $0.head(of: request) } }

    func head(of response: HTTPResponse) -> [String] { withRedactor { $0.head(of: response) } }

    /// Redacts text from a server or a plugin.
    func text(_ text: String) -> String { withRedactor { $0.text(text) } }

    /// Redacts text of this program, which may name a secret and explain how to pass it.
    func message(_ message: String) -> String { withRedactor { $0.message(message) } }

    /// Redacts this process's secrets in a value that a program reads.
    func value(_ value: String) -> String { withRedactor { $0.value(value) } }

    /// Redacts this process's secrets in an absolute URL.
    func url(_ url: String) -> String { withRedactor { $0.url(url) } }

    private func update<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            var known = state ?? State()
            state = nil
            defer { state = known }
            return body(&known)
        }
    }

    private func withRedactor<Result>(_ body: (inout TraceRedactor) -> Result) -> Result {
        update { state in
            var redactor = state.redactor ?? TraceRedactor()
            if state.redactor == nil {
                for secret in state.secrets { redactor.learn(secret) }
                for request in state.requests { redactor.learn(request) }
                (state.requests, state.secrets) = ([], [])
            }
            state.redactor = nil
            defer { state.redactor = redactor }
            return body(&redactor)
        }
    }

    /// The names and passwords in proxies' URLs: libcurl repeats them in its errors.
    private static var proxySecrets: [[UInt8]] {
        ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].compactMap(environment).flatMap {
            secrets(inProxy: $0)
        }
    }

    /// Returns `user:password` and the password of a proxy's URL, as written and decoded. The URL's scheme may be missing.
    static func secrets(inProxy url: String) -> [[UInt8]] {
        var rest = Array(url.utf8)
        if let mark = rest.indices.first(where: { rest[$0...].starts(with: "://".utf8) }) { rest.removeFirst(mark + 3) }
        guard let at = rest.lastIndex(of: UInt8(ascii: "@")) else { return [] }
        let userInfo = Array(rest[..<at])
        let password = Array(userInfo.drop { $0 != UInt8(ascii: ":") }.dropFirst())
        return [userInfo, password, PercentEncoding.decoded(password, plusIsSpace: false)].filter { !$0.isEmpty }
    }
}
