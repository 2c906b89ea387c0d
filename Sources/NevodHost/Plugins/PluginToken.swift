internal import NevodPluginABI
internal import NevodSupport

/// A token that authorizes requests with the code of a plugin's scheme.
///
/// If a scheme's settings are its credential, as for HMAC, its token has no bytes. Other schemes issue a token at login, which
/// the host stores; its bytes are opaque to the host.
public struct PluginToken: TokenModel, Redacted {
    /// Applied last, so that a scheme sees the request as it will be sent.
    public static let phase = TokenPhase.signature

    let issued: IssuedToken
    let purpose: TokenPurpose
    private let instance: SchemeInstance?
    /// Whether the token was issued for `instance`.
    private let isOwn: Bool
    private let live: Live

    /// The decoded token, made on first use and shared by all copies.
    private final class Live: Sendable {
        let token = Locked<LiveToken?>(nil)
    }

    init(_ issued: IssuedToken, of instance: SchemeInstance) {
        self.issued = issued
        self.instance = instance
        isOwn = true
        purpose = instance.purpose
        live = Live()
    }

    private init(_ token: PluginToken, boundTo instance: SchemeInstance) {
        issued = token.issued
        purpose = token.purpose
        live = token.live
        self.instance = instance
        isOwn = token.purpose == instance.purpose
    }

    /// Makes a token that can't be used until ``SchemeInstance/token(_:)`` binds it.
    init(stored issued: IssuedToken, _ purpose: TokenPurpose) {
        self.issued = issued
        self.purpose = purpose
        instance = nil
        isOwn = false
        live = Live()
    }

    /// The scheme's id, by which a route requires this credential; nil for a token that isn't bound to a scheme.
    var requirement: AuthRequirement? { instance.map(\.requirement) }
    /// Whether the scheme's credential is for the proxy.
    var isForProxy: Bool { instance?.target == .proxy }

    /// The expiry, as the scheme gave it; nil if unknown.
    public var expiresAt: UnixTime? { issued.expiresAt }

    /// The account it belongs to, as the scheme named it; may be empty.
    public var account: String { issued.account }

    /// Calls the scheme on this thread, even if it may block. (The asynchronous method, which takes an exchange, lets other work
    /// go on meanwhile.)
    public func authorize(_ request: inout HTTPRequest) throws {
        let instance = try bound()
        let parameters = instance.scheme.parameters.isEmpty ? nil : try instance.parameterSet(of: [:])
        // The scheme must see every line that is sent: a signature without the Host line would be wrong.
        if !request.headers.isLine(0, named: "Host") { request.materialize() }
        try instance.authorize(
            &request, attempt: 1, token: liveToken(of: instance), account: account, parameters: parameters)
    }

    public func authorize(_ exchange: inout Exchange) async throws {
        let instance = try bound()
        var digests: StreamDigests?
        if case .stream(let stream) = exchange.request.body, stream.isReplayable, !instance.needs.digests.isEmpty {
            digests = try await StreamDigests(of: stream, instance.needs.digests)
        }
        let token = try await liveToken(of: instance, exchange.deadline, exchange.work)
        let parameters = try instance.parameterSet(of: exchange.schemeParameters)
        if instance.target == .origin { exchange.bindings.signing.record(instance.clocks, at: exchange.request.origin) }
        let use = try await instance.authorize(
            &exchange, token: token, account: account, parameters: parameters, streamDigests: digests)
        guard instance.needs.anyResponse else { return }
        exchange.bindings.attach(
            SchemeUse(
                state: use, token: token, account: account, parameters: parameters,
                // A body that the scheme replaced has other digests.
                streamDigests: instance.needs.replacesBody ? nil : digests),
            of: ObjectIdentifier(instance))
    }

    private func bound() throws -> SchemeInstance {
        guard let instance else { throw UnboundTokenError() }
        guard isOwn else { throw instance.foreign(self) }
        return instance
    }

    /// Returns nil for the token of a scheme whose settings are its credential.
    func liveToken(of instance: SchemeInstance) throws(PluginError) -> LiveToken? {
        guard !issued.bytes.isEmpty else { return nil }
        if let known = known(to: instance) { return known }
        return remember(try LiveToken(issued, of: instance))
    }

    /// The same, decoding on a worker's thread if the scheme may block.
    private func liveToken(
        of instance: SchemeInstance, _ deadline: ContinuousClock.Instant?, _ work: RequestWork?
    ) async throws -> LiveToken? {
        guard !issued.bytes.isEmpty, instance.scheme.table.pointee.token_decode != nil else { return try liveToken(of: instance) }
        if let known = known(to: instance) { return known }
        return remember(
            try await instance.recording("token_decode", in: work) {
                guard instance.mayBlock else { return try LiveToken(issued, of: instance) }
                return try await instance.onWorker("token_decode", until: deadline) { [issued] () throws(PluginError) in
                    try LiveToken(issued, of: instance)
                }
            })
    }

    /// Copies may be bound to several instances, and an instance can use only tokens that it decoded itself.
    private func known(to instance: SchemeInstance) -> LiveToken? {
        live.token.withLock { $0 }.flatMap { $0.instance === instance ? $0 : nil }
    }

    private func remember(_ made: LiveToken) -> LiveToken {
        live.token.withLock { $0 = made }
        return made
    }

    func bound(to instance: SchemeInstance) -> PluginToken {
        PluginToken(self, boundTo: instance)
    }
}

extension PluginToken: ParameterTaking {
    var parameterDeclaring: (any ParameterDeclaring)? { instance?.scheme }
}

extension SchemeInstance {
    /// The requirement that the scheme's credential meets by default: the scheme's id.
    var requirement: AuthRequirement { AuthRequirement(scheme.id) }

    /// The token of a scheme whose settings are its credential.
    public var token: PluginToken {
        PluginToken(IssuedToken(bytes: Secret(copying: [] as [UInt8]), expiresAt: nil, account: ""), of: self)
    }

    /// Binds a stored token to this scheme.
    public func token(_ stored: PluginToken) -> PluginToken { stored.bound(to: self) }
}

/// A token from storage was used before it was bound to a scheme.
public struct UnboundTokenError: Error, CustomStringConvertible {
    public var description: String {
        "a token from storage must be bound to its scheme before use; pass it to SchemeInstance.token(_:)"
    }
}

@available(*, deprecated, renamed: "UnboundTokenError")
public typealias UnboundToken = UnboundTokenError

/// A token as its scheme decoded it, so that requests need not parse its bytes. For a scheme that doesn't decode tokens, the
/// contract's table of the stored bytes. Immutable.
final class LiveToken: Sendable {
    let instance: SchemeInstance
    /// The token of `authorize` and `on_response`. The contract allows concurrent use from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?
    /// The memory of the table; nil for a decoded token. Written in `init` only, and freed with this object.
    private nonisolated(unsafe) let lent: BorrowedBytes?

    init(_ token: IssuedToken, of instance: SchemeInstance) throws(PluginError) {
        self.instance = instance
        guard let decode = instance.scheme.table.pointee.token_decode else {
            let lent = BorrowedBytes()
            handle = UnsafeMutableRawPointer(mutating: lent.lend(token.table(lent)))
            self.lent = lent
            return
        }
        lent = nil
        var handle: UnsafeMutableRawPointer?
        var errors = ErrorSink()
        let status = token.bytes.withUnsafeBytes { bytes in
            PluginCall.run("token_decode", isTimed: true, instance.services, errors: &errors) {
                decode(instance.handle, nevod_bytes(bytes), &handle, $0.errors)
            }
        }
        guard status == NEVOD_OK else { throw errors.error(status, in: .function("token_decode"), of: instance.scheme) }
        self.handle = handle
    }

    deinit {
        guard lent == nil else { return }
        PluginCall.run("token_free", instance.services) { _ in
            instance.scheme.table.pointee.token_free?(instance.handle, handle)
        }
    }
}

/// The stored form: a version (1 byte, 1); the expiry (8 bytes, nanoseconds since 1970, 0 for none); four texts, each preceded by
/// its length (2 bytes): plugin, scheme, origins separated by spaces, account; then the token. Numbers are big-endian.
extension PluginToken: SecretlyStored {
    private static let version: UInt8 = 1

    public func encode() throws -> [UInt8] {
        encoded().copied(as: [UInt8].self)
    }

    /// Returns a token that no scheme can use until ``SchemeInstance/token(_:)`` binds it to one.
    public static func decode(from data: [UInt8]) throws -> PluginToken {
        try data.withUnsafeBytes { try PluginToken(stored: $0) }
    }

    func encoded() -> Secret {
        let expiry = issued.expiresAt?.nanoseconds ?? 0
        var head = [Self.version] + withUnsafeBytes(of: expiry.bigEndian) { Array($0) }
        for text in [purpose.plugin, purpose.scheme, purpose.origins.joined(separator: " "), issued.account] {
            // In practice no text comes near this limit.
            let bytes = Array(text.utf8.prefix(Int(UInt16.max)))
            head += withUnsafeBytes(of: UInt16(bytes.count).bigEndian) { Array($0) } + bytes
        }
        return Secret(count: head.count + issued.bytes.count) { bytes in
            bytes.copyBytes(from: head)
            issued.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[head.count...]).copyMemory(from: $0) }
        }
    }

    init(stored bytes: UnsafeRawBufferPointer) throws(UnreadableTokenError) {
        guard bytes.count >= 9, bytes[0] == Self.version else { throw UnreadableTokenError(missing: "version") }
        let expiry = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: Int64.self))
        var rest = UnsafeRawBufferPointer(rebasing: bytes[9...])
        let plugin = try Self.text(&rest, "plugin")
        let scheme = try Self.text(&rest, "scheme")
        let origins = try Self.text(&rest, "origins").split(separator: " ").map(String.init)
        let account = try Self.text(&rest, "account")
        self.init(
            stored: IssuedToken(
                bytes: Secret(copying: rest), expiresAt: expiry == 0 ? nil : UnixTime(nanoseconds: expiry), account: account),
            TokenPurpose(plugin: plugin, scheme: scheme, origins: origins))
    }

    private static func text(_ rest: inout UnsafeRawBufferPointer, _ name: String) throws(UnreadableTokenError) -> String {
        guard rest.count >= 2 else { throw UnreadableTokenError(missing: name) }
        let end = 2 + Int(UInt16(bigEndian: rest.loadUnaligned(as: UInt16.self)))
        guard rest.count >= end else { throw UnreadableTokenError(missing: name) }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...]) }
        return String(decoding: rest[2..<end], as: UTF8.self)
    }
}
