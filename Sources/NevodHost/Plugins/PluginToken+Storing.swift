internal import NevodSupport

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
