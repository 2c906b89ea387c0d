internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session that sends requests on behalf of a user's session: see `URLSession: HTTPTransport`.
final class DerivedSession: Sendable {
    private weak let original: URLSession?
    private let session: URLSession
    private let delegate: TransferDelegate
    private let pins: PinnedKeys
    /// The header lines that Foundation adds to each request that lacks them.
    private let addedLines: [(name: String, value: String)]

    private static let all = Locked<[ObjectIdentifier: DerivedSession]>([:])

    /// Returns the derived session of `original`, creating it at first use. A `URLSession` can't hold a reference to it, so it
    /// is kept in a table, from which those of deallocated sessions are removed when another one is created.
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
        withExtendedLifetime(outlived) {}  // Deallocates them outside the lock.
        return derived
    }

    /// - Parameter pins: require a platform whose session asks its delegate about a server's certificate.
    init(_ original: URLSession, pins: PinnedKeys = PinnedKeys()) {
        self.original = original
        self.pins = pins
        delegate = TransferDelegate(pins)
        // On Linux, `configuration` is a copy already; elsewhere, the session's own must not be changed.
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
        // Foundation keeps a session and its delegate alive until this call. Transfers under way complete normally.
        session.finishTasksAndInvalidate()
    }

    /// Whether Foundation has finished all tasks.
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
        try pins.check(request.origin)
        var request = request
        prepare(&request)
        let body = try await request.body.collectForUpload()
        let transfer = URLTransfer(options, uploading: body.count)
        let task = session.dataTask(with: try URLRequest(sending: request, body))
        delegate.add(transfer, task, informing: RequestDelegate.current)
        return try await transfer.run(task)
    }
}

extension URLRequest {
    init(sending request: HTTPRequest, _ body: [UInt8]) throws(TransportError) {
        guard let url = URL(targetOf: request) else { throw TransportError(.other, "Foundation can't represent the URL") }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Disables this timeout, which applies between two bytes, in whole seconds. `URLTransfer` has a timer for the whole
        // transfer.
        timeoutInterval = 365 * 24 * 3600
        httpShouldHandleCookies = false
        httpMethod = request.method.rawValue
        var fields = request.headers.mergedFields
        // Foundation sets these itself, from the body.
        fields["content-length"] = nil
        fields["transfer-encoding"] = nil
        // Only this setter preserves the case of names.
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
    /// - Throws: `.requestBody` for more than 64 MiB, or if the reader fails or delivers another length than announced.
    func collectForUpload() async throws(TransportError) -> [UInt8] {
        switch self {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(let stream):
            let maxBytes = 64 << 20
            let tooLong = TransportError(
                .requestBody, "URLSession takes 64 MiB of a stream at most; CurlSession sends any length")
            guard stream.length ?? 0 <= maxBytes else { throw tooLong }
            var bytes: [UInt8] = []
            do {
                let reader = try stream.makeReader()
                while case let piece = try await reader.read(upTo: 64 << 10), !piece.isEmpty {
                    bytes += piece
                    guard bytes.count <= maxBytes else { throw tooLong }
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
