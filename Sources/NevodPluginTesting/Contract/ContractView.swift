internal import NevodPluginABI

/// A `nevod_view`, field by field. Nothing is checked, so a test may use values that no host would.
package struct ContractView: Sendable, Equatable {
    /// `NEVOD_TARGET_…`.
    package var targetKind: Int32 = 0
    package var method: [UInt8] = Array("GET".utf8)
    package var scheme: [UInt8] = Array("https".utf8)
    package var authority: [UInt8] = []
    package var target: [UInt8] = Array("/".utf8)
    package var headers: [ContractPair] = []
    /// `NEVOD_BODY_…`.
    package var bodyKind: Int32 = 0
    package var bodyLength: UInt64 = 0
    package var body: [UInt8] = []
    package var digests: [ContractPair] = []
    package var attempt: UInt32 = 1
    /// Nanoseconds since 1970.
    package var unixTime: Int64 = 0
    package var random: [UInt8] = []
    package var useCount: UInt64 = 0
    package var state: [UInt8] = []
    package var parameters: [ContractPair] = []
    package var reserved: UInt32 = 0

    package init() {}

    func table(_ arena: InputArena) -> UnsafePointer<nevod_view> {
        arena.table(
            nevod_view(
                struct_size: 0, target_kind: targetKind, method: arena.bytes(method), scheme: arena.bytes(scheme),
                authority: arena.bytes(authority), target: arena.bytes(target), headers: arena.pairs(headers),
                header_count: UInt32(clamping: headers.count), body_kind: bodyKind, body_length: bodyLength,
                body: arena.bytes(body), digests: arena.pairs(digests), digest_count: UInt32(clamping: digests.count),
                attempt: attempt, unix_time_ns: unixTime, random: arena.bytes(random), use_count: useCount,
                state: arena.bytes(state), parameters: arena.pairs(parameters),
                parameter_count: UInt32(clamping: parameters.count), reserved: reserved), .view)
    }
}

/// A `nevod_response`, field by field.
package struct ContractResponse: Sendable, Equatable {
    package var status: Int32
    /// `NEVOD_TARGET_…`.
    package var targetKind: Int32 = 0
    package var headers: [ContractPair]
    package var body: [UInt8]
    package var url: [UInt8]
    package var digests: [ContractPair] = []
    /// `NEVOD_RESPONSE_…`.
    package var flags: UInt32 = 0

    package init(_ status: Int32, headers: [ContractPair] = [], body: [UInt8] = [], url: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    func table(_ arena: InputArena) -> UnsafePointer<nevod_response> {
        arena.table(
            nevod_response(
                struct_size: 0, status: status, target_kind: targetKind, header_count: UInt32(clamping: headers.count),
                headers: arena.pairs(headers), body: arena.bytes(body), url: arena.bytes(url), digests: arena.pairs(digests),
                digest_count: UInt32(clamping: digests.count), flags: flags), .response)
    }
}

/// A `nevod_token`, as a flow issues it or as a host passes it on.
package struct ContractToken: Sendable, Equatable {
    package var bytes: [UInt8]
    /// Nanoseconds since 1970; 0 if unknown.
    package var expiresAt: Int64
    package var account: [UInt8]
    package var reserved: UInt32 = 0

    package init(_ bytes: [UInt8], expiresAt: Int64 = 0, account: [UInt8] = []) {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }

    func table(_ arena: InputArena) -> UnsafePointer<nevod_token> {
        arena.table(
            nevod_token(
                struct_size: 0, reserved: reserved, bytes: arena.bytes(bytes), expires_at_unix_ns: expiresAt,
                account: arena.bytes(account)), .token)
    }
}

/// A `nevod_pair`: a header line, a setting, a digest, an answer or a parameter.
package struct ContractPair: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]

    package init(_ name: [UInt8], _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String) { self.init(Array(name.utf8), Array(value.utf8)) }
    package init(_ name: String, _ value: [UInt8]) { self.init(Array(name.utf8), value) }
}
