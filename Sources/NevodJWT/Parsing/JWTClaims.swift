public import NevodSupport

/// The claims of a token (RFC 7519 §4), read by the type that the caller expects. A claim of another type reads as nil, like a
/// missing one.
///
/// ```swift
/// let name = claims[string: "name"]
/// let roles = claims[strings: "roles"] ?? []
/// ```
///
/// Names are compared byte by byte. No name occurs twice. Printing shows only their number, since claims are about a person.
public struct JWTClaims: Sendable {
    private let json: [UInt8]
    private let index: JSONIndex

    /// Reads claims that don't come from a token, such as the response of an introspection (RFC 7662 §2.2).
    ///
    /// - Parameter json: an object in UTF-8, of at most 64 KiB, nested at most 32 deep.
    /// - Throws: ``JWTError/Code-swift.enum/malformed`` or ``JWTError/Code-swift.enum/tooLarge``.
    public init(json: [UInt8]) throws(JWTError) {
        guard json.count <= CompactJWS.sizeLimit else {
            throw JWTError(.tooLarge, "the claims have more than \(CompactJWS.sizeLimit) bytes")
        }
        do { index = try JSONIndex(json.span) } catch { throw JWTError(.malformed, "the claims are not a JSON object: \(error)") }
        self.json = json
    }

    /// The names of all claims, in their order.
    public var names: [String] { index.members.map { index.string($0.name, in: json.span) } }

    /// A string.
    public subscript(string name: String) -> String? {
        guard let member = member(name), member.kind == .string else { return nil }
        return index.string(member.contents, in: json.span)
    }

    /// A whole number that fits in an `Int`, even if it is written as `3600.0`.
    public subscript(int name: String) -> Int? {
        guard let member = member(name), member.kind == .number else { return nil }
        let text = index.string(member.value, in: json.span)
        if let integer = Int(text) { return integer }
        // A number beyond 2^53 may already have been rounded.
        guard let number = Double(text), abs(number) < 0x1p53 else { return nil }
        return Int(exactly: number)
    }

    /// `true` or `false`.
    public subscript(boolean name: String) -> Bool? {
        switch member(name)?.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// A number, rounded to the nearest `Double`.
    public subscript(double name: String) -> Double? {
        member(name).flatMap(number)
    }

    /// An array that contains only strings. A single string is read as an array of one, as in `aud` (RFC 7519 §4.1.3).
    public subscript(strings name: String) -> [String]? {
        member(name).flatMap(strings)?.map { index.string($0, in: json.span) }
    }

    /// A time, in seconds since 1970 (RFC 7519 §2, "NumericDate"), whole or with a fraction.
    ///
    /// Nil for a time before 1970 or later than 2^53 seconds.
    public subscript(time name: String) -> Double? {
        member(name).flatMap(time)
    }

    /// Any value, such as an object that an issuer defines.
    public subscript(name: String) -> JSONValue? {
        guard let member = member(name) else { return nil }
        return try? JSONValue(parsing: json.span.extracting(member.value))
    }

    /// Whether there is a claim of this name, of any type.
    public func contains(_ name: String) -> Bool { member(name) != nil }

    func member(_ name: String) -> JSONIndex.Member? { index.member(name, in: json.span) }

    private func number(_ member: JSONIndex.Member) -> Double? {
        guard member.kind == .number else { return nil }
        return Double(index.string(member.value, in: json.span))
    }

    func time(_ member: JSONIndex.Member) -> Double? {
        guard let seconds = wholeSeconds(member) ?? number(member), (0...0x1p53).contains(seconds) else { return nil }
        return seconds
    }

    /// Reads a number of at most 15 digits, as most times are.
    private func wholeSeconds(_ member: JSONIndex.Member) -> Double? {
        guard member.kind == .number, member.value.count <= 15 else { return nil }
        let digits = json.span.extracting(member.value)
        var number: Int64 = 0
        for index in digits.indices {
            guard digits[index].isDigit else { return nil }
            number = number * 10 + Int64(digits[index] & 0x0F)
        }
        return Double(number)
    }

    /// The contents of an array's strings, or of a single string.
    func strings(_ member: JSONIndex.Member) -> [Range<Int>]? {
        if member.kind == .string { return [member.contents] }
        guard member.kind == .array else { return nil }
        let start = member.value.lowerBound
        var scanner = JSONScanner(json.span.extracting(member.value), hasEscapes: true)
        guard let elements = try? scanner.elements(depth: 32) else { return nil }
        var strings: [Range<Int>] = []
        for element in elements {
            guard json[start + element.lowerBound] == UInt8(ascii: "\"") else { return nil }
            strings.append(start + element.lowerBound + 1..<start + element.upperBound - 1)
        }
        return strings
    }

    /// Whether a string equals another one, byte by byte.
    func equals(_ range: Range<Int>, _ other: String) -> Bool {
        var other = other
        return other.withUTF8 { index.equals(range, $0, in: json.span) }
    }
}

extension JWTClaims {
    /// `iss`: the party that issued the token.
    public var issuer: String? { self[string: "iss"] }
    /// `sub`: the person or thing that the token is about. Unique only within the issuer.
    public var subject: String? { self[string: "sub"] }
    /// `aud`: the parties that the token is for. Empty if the claim is missing, or is neither a string nor an array of strings.
    public var audience: [String] { self[strings: "aud"] ?? [] }
    /// `exp`: from this time on, the token isn't valid. In seconds since 1970.
    public var expiresAt: Double? { self[time: "exp"] }
    /// `nbf`: before this time, the token isn't valid yet. In seconds since 1970.
    public var notBefore: Double? { self[time: "nbf"] }
    /// `iat`: when the token was issued. In seconds since 1970.
    public var issuedAt: Double? { self[time: "iat"] }
    /// `jti`: the token's own identifier.
    public var id: String? { self[string: "jti"] }
}

extension JWTClaims: Hashable {
    /// Compares the JSON texts byte by byte.
    public static func == (left: JWTClaims, right: JWTClaims) -> Bool { left.json == right.json }
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

extension JWTClaims: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of claims. Even their names aren't shown, because an issuer may have put anything in them.
    public var description: String { "JWTClaims(\(index.members.count))" }
    public var debugDescription: String { description }
}

#if !hasFeature(Embedded)
    extension JWTClaims: CustomReflectable {
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
