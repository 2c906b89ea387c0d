internal import NevodPluginABI

/// A request from which views are made, as a host would make them for an instance's needs.
package struct ContractRequest: Sendable {
    package enum Body: Sendable, Equatable {
        case none
        case bytes([UInt8])
        /// - Parameters:
        ///   - length: nil if it isn't known in advance.
        ///   - contents: the bytes for digests; nil if the stream can be read only once.
        case stream(length: UInt64?, contents: [UInt8]?)
    }

    package var method: String
    package var scheme: String
    /// Of the URL.
    package var authority: String
    /// The Host line: the caller's, or the URL's authority.
    package var host: String
    /// The request target in the origin form.
    package var target: String
    /// Without `Host`, which a view has in addition.
    package var headers: [ContractPair]
    package var body: Body
    package var isForProxy = false

    /// Returns nil unless the URL is absolute, with `http` or `https`. A default port is left out, and so is a fragment.
    package init?(_ method: String, _ url: String, headers: [ContractPair] = [], body: Body = .none) {
        let text = url.prefix { $0 != "#" }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end].lowercased()
        let defaultPort = scheme == "http" ? ":80" : ":443"
        if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.utf8.count) }
        guard !authority.isEmpty else { return nil }
        self.authority = authority
        let path = rest[end...]
        target = path.isEmpty ? "/" : path.hasPrefix("?") ? "/\(path)" : String(path)
        self.method = method
        let own = headers.first { Self.isHost($0) }.map { String(decoding: $0.value, as: UTF8.self) }
        host = own ?? authority
        self.headers = headers.filter { !Self.isHost($0) }
        self.body = body
    }

    private static func isHost(_ line: ContractPair) -> Bool { String(decoding: line.name, as: UTF8.self).lowercased() == "host" }

    package var url: String { "\(scheme)://\(authority)\(target)" }

    /// Returns what an instance with these needs sees of the request.
    ///
    /// - Parameters:
    ///   - unixTime: in nanoseconds since 1970.
    ///   - random: 32 bytes; shown if it is needed.
    ///   - state: shown if it is needed.
    package func view(
        for needs: ContractNeeds, at unixTime: Int64, random: [UInt8], state: [UInt8] = [], useCount: UInt64 = 0,
        attempt: UInt32 = 1, parameters: [ContractPair] = []
    ) -> ContractView {
        var view = ContractView()
        view.method = Array(method.utf8)
        view.scheme = Array(scheme.utf8)
        view.authority = Array((isForProxy ? authority : host).utf8)
        view.target = Array(target.utf8)
        if isForProxy { showProxy(&view) } else { showOrigin(&view, needs) }
        view.attempt = attempt
        view.unixTime = unixTime
        if needs.has(NEVOD_NEED_RANDOM) { view.random = random }
        if needs.has(NEVOD_NEED_USE_COUNT) { view.useCount = useCount }
        if needs.has(NEVOD_NEED_STATE) { view.state = state }
        view.parameters = parameters
        return view
    }

    private func showOrigin(_ view: inout ContractView, _ needs: ContractNeeds) {
        if needs.has(NEVOD_NEED_HEADERS) { view.headers = [ContractPair("Host", host)] + headers }
        switch body {
        case .none: break
        case .bytes(let bytes):
            view.bodyKind = Int32(bytes.isEmpty ? NEVOD_BODY_NONE : NEVOD_BODY_BYTES)
            view.bodyLength = UInt64(bytes.count)
            if needs.has(NEVOD_NEED_BODY) { view.body = bytes }
            if !bytes.isEmpty { view.digests = Self.digests(needs.digests, of: bytes) }
        case .stream(let length, let contents):
            view.bodyKind = Int32(length == 0 ? NEVOD_BODY_NONE : NEVOD_BODY_STREAM)
            view.bodyLength = length ?? .max
            if length != 0, let contents { view.digests = Self.digests(needs.digests, of: contents) }
        }
    }

    /// RFC 9112 §3.2: the absolute form, or a request for a tunnel.
    private func showProxy(_ view: inout ContractView) {
        view.targetKind = Int32(NEVOD_TARGET_PROXY)
        guard scheme == "https" else {
            view.target = Array(url.utf8)
            return
        }
        let name = authority.last == "]" || !authority.contains(":") ? "\(authority):443" : authority
        view.method = Array("CONNECT".utf8)
        view.authority = Array(name.utf8)
        view.target = Array(name.utf8)
    }

    /// The digests of a body, in the order of `names`.
    package static func digests(_ names: [[UInt8]], of body: [UInt8]) -> [ContractPair] {
        names.compactMap { name in BodyDigests.digest(name, of: body).map { ContractPair(name, $0) } }
    }
}
