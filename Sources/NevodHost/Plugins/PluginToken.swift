internal import NevodSupport

/// A plugin's scheme as a token: a request is authorised by the code in the library.
///
/// A scheme whose settings are its credential, HMAC for one, has a token of no bytes.
public struct PluginToken: TokenModel {
    /// A scheme sees the request as it will be sent.
    public static let phase = TokenPhase.signature

    private let bytes: Secret
    private let instance: SchemeInstance?

    init(bytes: Secret, instance: SchemeInstance?) {
        self.bytes = bytes
        self.instance = instance
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try bound().authorize(&request, attempt: 1)
    }

    public func authorize(_ exchange: inout Exchange) async throws {
        let instance = try bound()
        var digests: StreamDigests?
        if case .stream(let stream) = exchange.request.body, stream.isReplayable, !instance.needs.digests.isEmpty {
            digests = try await StreamDigests(of: stream, instance.needs.digests)
        }
        try instance.authorize(&exchange.request, attempt: exchange.attempt, streamDigests: digests)
    }

    public func encode() throws -> [UInt8] {
        bytes.withUnsafeBytes { Array($0) }
    }

    /// The token alone: ``SchemeInstance/token(_:)`` binds it to the scheme that can use it.
    public static func decode(from data: [UInt8]) throws -> PluginToken {
        PluginToken(bytes: Secret(copying: data), instance: nil)
    }

    private func bound() throws(UnboundToken) -> SchemeInstance {
        guard let instance else { throw UnboundToken() }
        return instance
    }

    func bound(to instance: SchemeInstance) -> PluginToken {
        PluginToken(bytes: bytes, instance: instance)
    }
}

/// A stored token was used before anyone said which scheme's it is.
public struct UnboundToken: Error, CustomStringConvertible {
    public var description: String {
        "a token that was read from storage belongs to no scheme yet; pass it to SchemeInstance.token(_:)"
    }
}

extension SchemeInstance {
    /// The token of a scheme whose settings are its credential.
    public var token: PluginToken { PluginToken(bytes: Secret(copying: []), instance: self) }

    /// A stored token, for use with this scheme.
    public func token(_ stored: PluginToken) -> PluginToken { stored.bound(to: self) }
}
