internal import NevodPluginABI
internal import NevodSupport

/// Finds the secrets of a recording: settings, answers, tokens, credentials of requests and responses, random bytes.
struct RecordedSecrets {
    private(set) var all: [[UInt8]] = []
    private var publicTexts: [[UInt8]] = []
    private let secretSettings: Set<[UInt8]>

    /// - Parameter secretSettings: the names of the settings that the plugin declares secret.
    init(_ calls: [RecordedCall], secretSettings: Set<[UInt8]>) {
        self.secretSettings = secretSettings
        for call in calls {
            if case .create(_, let settings) = call.function {
                publicTexts += settings.filter { !secretSettings.contains($0.name) }.map(\.value)
            }
        }
        for call in calls { find(in: call) }
    }

    private mutating func add(_ secret: [UInt8]) {
        if !secret.isEmpty { all.append(secret) }
    }

    /// Adds a part of something secret, unless it is too short to be secret, or occurs in a setting that everybody may see.
    ///
    /// - Parameter isNamed: whether a name says that it is secret. Without a name, a number may be a time or a length.
    private mutating func addPart(_ part: some Sequence<UInt8>, isNamed: Bool = false) {
        let part = Array(part)
        guard part.count >= 4, isNamed || !Self.isNumber(part), !Self.words.contains(part),
            !publicTexts.contains(where: { Self.contains(part, in: $0) })
        else { return }
        add(part)
    }

    /// Ordinary words that are the values of many members.
    private static let words = Set(["true", "false", "null", "none"].map { Array($0.utf8) })

    private static func isNumber(_ part: [UInt8]) -> Bool { part.count <= 13 && part.allSatisfy(\.isDigit) }

    private static func contains(_ part: [UInt8], in text: [UInt8]) -> Bool {
        guard part.count <= text.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }

    private mutating func find(in call: RecordedCall) {
        switch call.function {
        case .create(_, let settings): for setting in settings where secretSettings.contains(setting.name) { add(setting.value) }
        case .tokenDecode(_, let bytes): find(inToken: bytes)
        case .authorize(let token, let view):
            find(in: token)
            find(in: view)
        case .onResponse(let token, let view, let response):
            find(in: token)
            find(in: view)
            find(in: response)
        case .flowStep(_, let event):
            for answer in event.answers { add(answer.value) }
            if let token = event.token { find(inToken: token.bytes) }
            if let response = event.response { find(in: response) }
            add(event.random)
            find(inURL: event.url)
            find(inForm: event.body[...])
        default: break
        }
        for sink in call.outcome.calls {
            if case .token(let token?) = sink { find(inToken: token.bytes) }
            if case .keep(let token?) = sink { find(inToken: token.bytes) }
        }
    }

    private mutating func find(in token: RecordedCall.Token) {
        if case .stored(let token) = token { find(inToken: token.bytes) }
    }

    private mutating func find(in view: ContractView) {
        add(view.random)
        for header in view.headers { find(in: header) }
        find(inURL: view.target, isNamed: true)
        find(inBody: view.body)
    }

    private mutating func find(in response: ContractResponse) {
        for header in response.headers { find(in: header) }
        find(inURL: response.url, isNamed: true)
        find(inBody: response.body)
    }

    /// Finds named secrets in JSON, in forms, and in lines of names and values.
    private mutating func find(inBody body: [UInt8]) {
        if let json = try? JSONValue(parsing: body.span, size: Recording.largest, depth: Self.depth) {
            return find(inMembers: json, depth: Self.depth)
        }
        for item in body.split(whereSeparator: { !Self.isPartByte($0) }) { find(inForm: item, isNamed: true) }
    }

    private static let depth = 64

    private mutating func find(in header: ContractPair) {
        let name = String(decoding: header.name, as: UTF8.self).lowercased()
        switch name {
        case "cookie":
            for cookie in header.value.split(separator: UInt8(ascii: ";")) {
                addPart(cookie.drop { $0 != UInt8(ascii: "=") }.dropFirst(), isNamed: true)
            }
        case "set-cookie":
            addPart(
                header.value.prefix { $0 != UInt8(ascii: ";") }.drop { $0 != UInt8(ascii: "=") }.dropFirst(), isNamed: true)
        case "location", "content-location", "referer": find(inURL: header.value)
        default:
            guard Self.isSecret(name) else { return }
            let parts = header.value.split(separator: UInt8(ascii: " "))
            // The scheme before a credential (RFC 9110 §11.4).
            let hasScheme =
                parts.count > 1
                && (name.hasSuffix("authorization")
                    || Self.schemes.contains(String(decoding: parts[0], as: UTF8.self).lowercased()))
            for part in parts.dropFirst(hasScheme ? 1 : 0) { addPart(part, isNamed: true) }
        }
    }

    private static let schemes: Set<String> = ["basic", "bearer", "digest", "dpop", "negotiate", "token"]

    /// Finds secrets in the query and in the fragment.
    ///
    /// - Parameter isNamed: whether to find only values whose names suggest a secret.
    private mutating func find(inURL url: [UInt8], isNamed: Bool = false) {
        let isSeparator = { (byte: UInt8) in byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
        for form in url.drop(while: { !isSeparator($0) }).split(whereSeparator: isSeparator) {
            find(inForm: form, isNamed: isNamed)
        }
    }

    private mutating func find(inForm text: ArraySlice<UInt8>, isNamed: Bool = false) {
        for item in text.split(separator: UInt8(ascii: "&")) {
            guard let end = item.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let isSecret = Self.isSecret(String(decoding: item[..<end], as: UTF8.self).lowercased())
            if isSecret || !isNamed { addPart(PercentEncoding.decoded(item[(end + 1)...]), isNamed: isSecret) }
        }
    }

    private static let secretWords = [
        "token", "secret", "password", "code", "session", "csrf", "assertion", "key", "ticket", "verifier", "auth",
    ]
    /// The names of challenges, and names that contain the words above by chance.
    private static let harmless: Set<String> = [
        "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "author", "authority",
    ]
    /// Endings of names whose values only describe a token or a login (RFC 6749 §5.1, RFC 8414 §2, RFC 7636 §4.3).
    private static let harmlessEnds = ["_type", "_type_hint", "_endpoint", "_method"]

    /// Whether the name of a header field, a member or a form's item suggests a secret.
    ///
    /// - Parameter name: in lower case.
    private static func isSecret(_ name: String) -> Bool {
        secretWords.contains { name.contains($0) } && !harmless.contains(name) && !harmlessEnds.contains { name.hasSuffix($0) }
    }

    /// Finds the values of members whose names suggest a secret.
    private mutating func find(inMembers json: JSONValue, depth: Int) {
        guard depth > 0 else { return }
        switch json {
        case .object(let members):
            for member in members {
                let name = member.name.lowercased()
                if Self.isSecret(name) {
                    // A token's expiry is not secret.
                    let isNamed = !name.contains("expir")
                    if let text = member.value.string { addPart(text.utf8, isNamed: isNamed) }
                    if isNamed, let number = member.value.integer, number >= 100_000 {
                        addPart(String(number).utf8, isNamed: true)
                    }
                }
                find(inMembers: member.value, depth: depth - 1)
            }
        case .array(let elements): for element in elements { find(inMembers: element, depth: depth - 1) }
        default: break
        }
    }

    /// A token is opaque. Its texts are replaced one by one, so that its structure remains.
    private mutating func find(inToken bytes: [UInt8]) {
        if let json = try? JSONValue(parsing: bytes.span) {
            find(inLeaves: json, depth: 16)
        } else if String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) {
            for part in bytes.split(whereSeparator: { !Self.isPartByte($0) }) { addPart(part) }
        } else {
            add(bytes)
        }
    }

    private mutating func find(inLeaves json: JSONValue, depth: Int) {
        guard depth > 0 else { return }
        switch json {
        case .string(let text): addPart(text.utf8)
        case .object(let members): for member in members { find(inLeaves: member.value, depth: depth - 1) }
        case .array(let elements): for element in elements { find(inLeaves: element, depth: depth - 1) }
        default: break
        }
    }

    private static func isPartByte(_ byte: UInt8) -> Bool {
        byte.isUnreserved || byte >= 0x80 || "+/=%".utf8.contains(byte)
    }
}
