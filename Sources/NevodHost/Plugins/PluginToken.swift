internal import NevodPluginABI
internal import NevodSupport

/// A plugin's scheme as a token: a request is authorised by the code in the library.
///
/// A scheme whose settings are its credential, HMAC for one, has a token of no bytes. Others have one that their login issued,
/// which the host stores and never looks into.
public struct PluginToken: TokenModel, Redacted {
    /// A scheme sees the request as it will be sent.
    public static let phase = TokenPhase.signature

    let issued: IssuedToken
    let purpose: TokenPurpose
    private let instance: SchemeInstance?
    /// Whether that instance may use it.
    private let isOwn: Bool
    private let live: Live

    /// Made when it is first needed, and then kept by all copies.
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

    /// For use by nobody yet: ``SchemeInstance/token(_:)`` binds it.
    init(stored issued: IssuedToken, _ purpose: TokenPurpose) {
        self.issued = issued
        self.purpose = purpose
        instance = nil
        isOwn = false
        live = Live()
    }

    /// As the scheme says.
    public var expiresAt: UnixTime? { issued.expiresAt }

    /// Whom it belongs to, in the scheme's words; may be empty.
    public var account: String { issued.account }

    public func authorize(_ request: inout HTTPRequest) throws {
        let instance = try bound()
        try instance.authorize(&request, attempt: 1, token: liveToken(of: instance), account: account)
    }

    public func authorize(_ exchange: inout Exchange) async throws {
        let instance = try bound()
        var digests: StreamDigests?
        if case .stream(let stream) = exchange.request.body, stream.isReplayable, !instance.needs.digests.isEmpty {
            digests = try await StreamDigests(of: stream, instance.needs.digests)
        }
        let token = try liveToken(of: instance)
        let use = try instance.authorize(
            &exchange.request, attempt: exchange.attempt, token: token, account: account, streamDigests: digests)
        guard instance.needs.anyResponse else { return }
        exchange.bindings.attach(SchemeUse(state: use, token: token, account: account), of: ObjectIdentifier(instance))
    }

    private func bound() throws -> SchemeInstance {
        guard let instance else { throw UnboundTokenError() }
        guard isOwn else { throw instance.foreign(self) }
        return instance
    }

    /// Nil for a scheme that decodes none.
    func liveToken(of instance: SchemeInstance) throws(PluginError) -> LiveToken? {
        guard instance.scheme.table.pointee.token_decode != nil, !issued.bytes.isEmpty else { return nil }
        // Copies may be bound to several instances, and what one has made is nothing to another.
        if let known = live.token.withLock({ $0 }), known.instance === instance { return known }
        let made = try LiveToken(issued, of: instance)
        live.token.withLock { $0 = made }
        return made
    }

    func bound(to instance: SchemeInstance) -> PluginToken {
        PluginToken(self, boundTo: instance)
    }
}

/// What a token was issued for: at another place it is worth nothing, and not to be shown.
package struct TokenPurpose: Sendable, Hashable {
    /// By the name that it gives itself.
    package let plugin: String
    package let scheme: String
    /// To which the flows may send that obtain and renew it, in the order of their text.
    package let origins: [String]
}

extension SchemeInstance {
    func foreign(_ token: PluginToken) -> PluginError {
        let origins = token.purpose.origins.joined(separator: ", ")
        return PluginError(
            scheme.plugin,
            .failed(
                scheme: scheme.id, function: "the use of the stored token", status: Int32(NEVOD_BAD_TOKEN), subject: "",
                message:
                    "it was issued for \(token.purpose.scheme) of \(token.purpose.plugin)\(origins.isEmpty ? "" : " at \(origins)")",
                detail: nil))
    }
}

/// A stored token was used before anyone said which scheme's it is.
public struct UnboundTokenError: Error, CustomStringConvertible {
    public var description: String {
        "a token that was read from storage belongs to no scheme yet; pass it to SchemeInstance.token(_:)"
    }
}

extension SchemeInstance {
    /// The token of a scheme whose settings are its credential.
    public var token: PluginToken {
        PluginToken(IssuedToken(bytes: Secret(copying: [] as [UInt8]), expiresAt: nil, account: ""), of: self)
    }

    /// A stored token, for use with this scheme.
    public func token(_ stored: PluginToken) -> PluginToken { stored.bound(to: self) }
}

@available(*, deprecated, renamed: "UnboundTokenError")
public typealias UnboundToken = UnboundTokenError
