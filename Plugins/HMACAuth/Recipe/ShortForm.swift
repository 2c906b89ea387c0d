internal import NevodPluginKit
internal import NevodSupport

/// The value of `{body-hash}` without a body.
enum EmptyBodyHash: String, CaseIterable, SettingValue {
    case nothing
    /// The hash of zero bytes.
    case hash
}

/// The encoding of a signature or a hash in the short form.
enum ByteEncoding: String, CaseIterable, SettingValue {
    case hex
    case upperCaseHex = "HEX"
    /// RFC 4648 §4, padded.
    case base64
    /// RFC 4648 §5, unpadded, as in JOSE (RFC 7515 §2).
    case base64url
}

/// The hash functions of the short form. A recipe has more.
enum SignatureHash: String, CaseIterable, SettingValue {
    case sha256, sha384, sha512
}

/// The format of the time in the short form, in UTC.
enum TimestampFormat: String, CaseIterable, SettingValue {
    /// Since 1970.
    case seconds, milliseconds
    /// An HTTP-date (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    case rfc1123
    /// `1994-11-06T08:49:37Z`
    case rfc3339
    /// `1994-11-06T08:49:37.123Z`
    case rfc3339Milliseconds = "rfc3339-milliseconds"
}

/// Turns the settings `message`, `encoding` and so on into a recipe. They are its short form.
struct ShortForm {
    static let defaultMessage = "{method}\\n{path}\\n{timestamp}\\n{body-hash}"

    private let settings: HMACAuth
    private var reader: RecipeReader

    /// - Parameter accepted: the lines `accept …` of the setting `recipe`.
    static func recipe(
        _ settings: HMACAuth, _ accepted: RecipeReader
    ) throws(SchemeError) -> Recipe {
        var form = ShortForm(settings: settings, reader: accepted)
        form.reader.isShortForm = true
        try form.build()
        return form.reader.recipe
    }

    private mutating func build() throws(SchemeError) {
        try check()
        let timestamp = settings.timestamp
        try define("api-key", "timestamp", "{time|\(timestamp.rawValue)}")
        let (hash, encoding) = ((settings.bodyHash ?? settings.algorithm).rawValue, settings.bodyHashEncoding.rawValue)
        if settings.emptyBodyHash == .hash {
            try define("body-hash", "body-hash", "{body|\(hash)|\(encoding)}")
        } else {
            try statements("when body\nlet body-hash = {body|\(hash)|\(encoding)}\notherwise\nlet body-hash =\nend")
        }
        let (message, value) = (settings.message, settings.signatureValue)
        try define("message", "message", message)
        try statements("let signature = {message|hmac:\(settings.algorithm.rawValue):secret|\(settings.encoding.rawValue)}")
        let uses = { (name: String) in Self.uses(message, name) || Self.uses(value, name) }
        guard Self.uses(value, "signature") else { throw .badSetting("signature-value", "must contain {signature}") }
        if !settings.apiKey.isEmpty { try send(.header, settings.keyHeader, "{key}", "key-header") }
        if uses("timestamp") { try send(.header, settings.timestampHeader, "{timestamp}", "timestamp-header") }
        if uses("nonce") { try send(.header, settings.nonceHeader, "{nonce}", "nonce-header") }
        try send(.header, settings.bodyHashHeader, "{body-hash}", "body-hash-header")
        try send(.header, settings.signatureHeader, value, "signature-value")
        if uses("timestamp") { try send(.query, settings.timestampQuery, "{timestamp}", "timestamp-query") }
        // Sends the signature last, after everything that it signs.
        try send(.query, settings.signatureQuery, value, "signature-value")
    }

    /// Whether a template uses a value. Ignores faults of the template, which the reader reports better.
    private static func uses(_ template: String, _ name: String) -> Bool {
        let (template, name) = (Array(template.utf8), Array("{\(name)".utf8))
        return template.indices.contains { start in
            template[start...].starts(with: name)
                && (template[start...].dropFirst(name.count).first.map { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "|") }
                    ?? false)
        }
    }

    private func check() throws(SchemeError) {
        guard !settings.signatureHeader.isEmpty || !settings.signatureQuery.isEmpty else {
            throw .badSetting("signature-header", "must not be empty without signature-query: the signature would not be sent")
        }
        if settings.apiKey.isEmpty {
            if Self.uses(settings.message, "key") { throw .badSetting("api-key", "must not be empty: message uses {key}") }
            if Self.uses(settings.signatureValue, "key") {
                throw .badSetting("api-key", "must not be empty: signature-value uses {key}")
            }
        }
        let headers = [
            ("key-header", settings.keyHeader), ("timestamp-header", settings.timestampHeader),
            ("nonce-header", settings.nonceHeader), ("body-hash-header", settings.bodyHashHeader),
            ("signature-header", settings.signatureHeader),
        ]
        for (setting, name) in headers where !name.utf8.allSatisfy({ $0.isTokenByte }) {
            throw .badSetting(setting, "must be a header's name (RFC 9110 §5.6.2)")
        }
    }

    /// Refuses a setting of the short form together with a recipe, because the setting would have no effect.
    static func refuse(_ settings: HMACAuth) throws(SchemeError) {
        let given = [
            ("message", !settings.message.utf8.elementsEqual(defaultMessage.utf8)), ("algorithm", settings.algorithm != .sha256),
            ("encoding", settings.encoding != .hex), ("timestamp", settings.timestamp != .seconds),
            ("body-hash", settings.bodyHash != nil), ("body-hash-encoding", settings.bodyHashEncoding != .hex),
            ("empty-body-hash", settings.emptyBodyHash != .nothing),
            ("key-header", !settings.keyHeader.utf8.elementsEqual("X-API-Key".utf8)),
            ("timestamp-header", !settings.timestampHeader.utf8.elementsEqual("X-Timestamp".utf8)),
            ("nonce-header", !settings.nonceHeader.utf8.elementsEqual("X-Nonce".utf8)),
            ("body-hash-header", !settings.bodyHashHeader.isEmpty),
            ("signature-header", !settings.signatureHeader.utf8.elementsEqual("X-Signature".utf8)),
            ("signature-value", !settings.signatureValue.utf8.elementsEqual("{signature}".utf8)),
            ("timestamp-query", !settings.timestampQuery.isEmpty), ("signature-query", !settings.signatureQuery.isEmpty),
        ]
        for (name, isGiven) in given where isGiven {
            throw .badSetting(name, "has no effect together with a recipe; leave it out, or change the recipe")
        }
    }

    // MARK: Statements whose faults are reported for a setting

    private mutating func define(_ setting: String, _ name: String, _ template: String) throws(SchemeError) {
        do throws(RecipeError) { try reader.define(name, template) } catch { throw Self.error(error, setting) }
    }

    private mutating func send(
        _ output: Recipe.Output, _ name: String, _ template: String, _ setting: String
    ) throws(SchemeError) {
        guard !name.isEmpty else { return }
        do throws(RecipeError) { try reader.send(output, name, template) } catch { throw Self.error(error, setting) }
    }

    private mutating func statements(_ text: String) throws(SchemeError) {
        do throws(RecipeError) { try reader.read(Array(text.utf8)) } catch { throw Self.error(error, "message") }
    }

    private static func error(_ error: RecipeError, _ setting: String) -> SchemeError {
        .badSetting(setting, "has \(error.problem)")
    }
}
