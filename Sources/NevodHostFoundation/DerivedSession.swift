internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The session that works for another one: see `URLSession: HTTPTransport`.
final class DerivedSession: Sendable {
    private weak let original: URLSession?
    private let session: URLSession
    private let delegate = TransferDelegate()
    /// What Foundation adds to every request that doesn't have it.
    private let addedLines: [(name: String, value: String)]

    private static let all = Locked<[ObjectIdentifier: DerivedSession]>([:])

    /// A session can't carry anything of ours, so the derived one is kept beside it, and looked after when the next comes.
    static func of(_ original: URLSession) -> DerivedSession {
        let id = ObjectIdentifier(original)
        let (derived, outlived) = all.withLock { all in
            if let known = all[id], known.original === original { return (known, [DerivedSession]()) }
            let outlived = all.values.filter { $0.original == nil }
            all = all.filter { $0.value.original != nil }
            let derived = DerivedSession(original)
            all[id] = derived
            return (derived, outlived)
        }
        withExtendedLifetime(outlived) {}  // They end outside the lock.
        return derived
    }

    private init(_ original: URLSession) {
        self.original = original
        // A copy already on Linux; elsewhere, too, the session's own is not to be changed.
        let configuration = original.configuration.copy() as? URLSessionConfiguration ?? original.configuration
        let configured = (configuration.httpAdditionalHeaders ?? [:]).compactMap { name, value in
            (name as? String).map { (name: $0, value: "\(value)") }
        }
        var lines = [
            (name: "Accept", value: "*/*"), ("Accept-Encoding", "identity"), ("Connection", "keep-alive"),
            ("User-Agent", "NevodHost"),
        ]
        if let language = Locale.current.language.languageCode?.identifier { lines.append(("Accept-Language", language)) }
        addedLines = configured.sorted { $0.name < $1.name } + lines
        configuration.httpAdditionalHeaders = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        // Foundation keeps a session and its delegate until it is told. What is under way ends as it would have.
        session.finishTasksAndInvalidate()
    }

    /// Whether Foundation has ended all that was begun.
    var isIdle: Bool { delegate.isIdle }

    func prepare(_ request: inout HTTPRequest) {
        request.materialize()
        for line in addedLines where !request.headers.contains(line.name) {
            request.headers.add(line.name, line.value, by: .host)
        }
        if request.method == .post, request.body.length != 0, !request.headers.contains("Content-Type") {
            request.headers.add("Content-Type", "application/x-www-form-urlencoded", by: .host)
        }
    }

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        var request = request
        prepare(&request)
        let body = try await request.body.collectForUpload()
        let transfer = URLTransfer(options, uploading: body.count)
        let task = session.dataTask(with: try URLRequest(sending: request, body))
        delegate.add(transfer, task)
        return try await transfer.run(task)
    }
}

extension URLRequest {
    fileprivate init(sending request: HTTPRequest, _ body: [UInt8]) throws(TransportError) {
        guard let url = URL(targetOf: request) else { throw TransportError(.other, "Foundation can't represent the URL") }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Between two bytes, in whole seconds: none. The whole transfer has its own.
        timeoutInterval = 365 * 24 * 3600
        httpShouldHandleCookies = false
        httpMethod = request.method.rawValue
        var fields = request.headers.mergedFields
        // The transport's own, by the body.
        fields["content-length"] = nil
        fields["transfer-encoding"] = nil
        // Names stay as they are only this way.
        allHTTPHeaderFields = Dictionary(fields.values.map { ($0.name, $0.value) }) { first, _ in first }
        if !body.isEmpty {
            guard request.method != .get else {
                throw TransportError(.requestBody, "URLSession sends no body with GET; CurlSession does")
            }
            httpBody = Data(body)
        }
    }
}

extension HTTPBody {
    /// - Throws: `.requestBody` for more than 64 MiB, and for a reader that fails or doesn't keep its word.
    fileprivate func collectForUpload() async throws(TransportError) -> [UInt8] {
        switch self {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(let stream):
            let most = 64 << 20
            let tooLong = TransportError(
                .requestBody, "URLSession takes 64 MiB of a stream at most; CurlSession sends any length")
            guard stream.length ?? 0 <= most else { throw tooLong }
            var bytes: [UInt8] = []
            do {
                let reader = try stream.makeReader()
                while case let piece = try await reader.read(upTo: 64 << 10), !piece.isEmpty {
                    bytes += piece
                    guard bytes.count <= most else { throw tooLong }
                    if let length = stream.length, bytes.count > length { break }
                    try Task.checkCancellation()
                }
            } catch let error as TransportError {
                throw error
            } catch is CancellationError {
                throw TransportError(.cancelled)
            } catch {
                throw TransportError(.requestBody, "\(error)")
            }
            if let length = stream.length, bytes.count != length {
                let delivered = bytes.count < length ? "only \(bytes.count)" : "more than the announced"
                throw TransportError(.requestBody, "its reader delivered \(delivered) of \(length) bytes")
            }
            return bytes
        }
    }
}
