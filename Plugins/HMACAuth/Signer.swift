internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The checked settings in the form that requests use, computed once.
final class Signer: Sendable {
    let needs: Needs
    /// Whether nothing but Proxy-Authorization is sent, so that the credential may be one for a proxy.
    let fitsProxies: Bool

    private let key: HMACKey
    private let apiKey: [UInt8]
    private let message: Template<MessagePlaceholder>
    private let value: Template<ValuePlaceholder>
    private let encoding: ByteEncoding
    private let bodyHash: BodyHash?
    private let timestamp: TimestampFormat?
    private let usesBody: Bool
    private let usesNonce: Bool
    private let sent: SentNames
    private let capacity: Int

    /// The names under which parts are sent; empty for parts that aren't sent.
    private struct SentNames {
        let key, timestamp, nonce, bodyHash, signature, timestampQuery, signatureQuery: [UInt8]
    }

    convenience init(_ settings: HMACAuth) throws(SchemeError) {
        let key = try HMACKey(settings.secretEncoding.decode(settings.secret), settings.algorithm.function)
        let message = try Template<MessagePlaceholder>("message", settings.message)
        let value = try Template<ValuePlaceholder>("signature-value", settings.signatureValue)
        let usesBodyHash = message.contains(.bodyHash) || value.contains(.bodyHash) || !settings.bodyHashHeader.isEmpty
        let bodyHash = usesBodyHash ? try BodyHash(settings) : nil
        try Self.check(settings, message, value)
        self.init(settings, key, message, value, bodyHash)
    }

    // Throws nothing: Embedded Swift does not free an object whose initialiser throws.
    private init(
        _ settings: HMACAuth, _ key: HMACKey, _ message: Template<MessagePlaceholder>, _ value: Template<ValuePlaceholder>,
        _ bodyHash: BodyHash?
    ) {
        self.key = key
        self.message = message
        self.value = value
        self.bodyHash = bodyHash
        apiKey = Array(settings.apiKey.utf8)
        encoding = settings.encoding

        let usesTimestamp = message.contains(.timestamp) || value.contains(.timestamp)
        usesNonce = message.contains(.nonce) || value.contains(.nonce)
        usesBody = message.contains(.body)
        timestamp = usesTimestamp ? settings.timestamp : nil
        let name = { (text: String, isSent: Bool) in isSent ? Array(text.utf8) : [] }
        sent = SentNames(
            key: name(settings.keyHeader, !settings.apiKey.isEmpty),
            timestamp: name(settings.timestampHeader, usesTimestamp),
            nonce: name(settings.nonceHeader, usesNonce),
            bodyHash: name(settings.bodyHashHeader, true),
            signature: name(settings.signatureHeader, true),
            timestampQuery: name(settings.timestampQuery, usesTimestamp),
            signatureQuery: name(settings.signatureQuery, true))

        let others = [sent.key, sent.timestamp, sent.nonce, sent.bodyHash, sent.timestampQuery, sent.signatureQuery]
        fitsProxies =
            "proxy-authorization".utf8.elementsEqual(sent.signature.map { $0.asciiLowercased })
            && others.allSatisfy { $0.isEmpty }

        var needs: Needs = []
        if let bodyHash { needs.insert(bodyHash.algorithm.need) }
        if usesBody { needs.insert(.body) }
        if usesNonce { needs.insert(.random) }
        if message.contains(where: { $0.isHeader }) { needs.insert(.headers) }
        self.needs = needs

        let texts = [
            TimeFormat.capacity, Self.nonceCount, bodyHash.map { $0.encoding.count(of: $0.algorithm.function.size) } ?? 0,
            encoding.count(of: key.function.size), apiKey.count,
        ]
        // Each text once by itself, and in the value as often as its placeholder occurs.
        capacity = texts.reduce(0, +) + value.bytes.count + value.placeholderCount * (texts.max() ?? 0)
    }

    private static func check(
        _ settings: HMACAuth, _ message: Template<MessagePlaceholder>, _ value: Template<ValuePlaceholder>
    ) throws(SchemeError) {
        guard value.contains(.signature) else { throw .badSetting("signature-value", "must contain {signature}") }
        guard !settings.signatureHeader.isEmpty || !settings.signatureQuery.isEmpty else {
            throw .badSetting("signature-header", "must not be empty without signature-query: the signature would not be sent")
        }
        if settings.apiKey.isEmpty {
            if message.contains(.key) { throw .badSetting("api-key", "must not be empty: {key} stands in message") }
            if value.contains(.key) { throw .badSetting("api-key", "must not be empty: {key} stands in signature-value") }
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

    private static let nonceCount = 32

    /// The ranges of one request's texts in the memory of ``sign(_:_:)``.
    struct Texts {
        var timestamp = 0..<0
        var nonce = 0..<0
        var bodyHash = 0..<0
        var signature = 0..<0
        var value = 0..<0
    }

    func sign(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        if usesBody, request.hasStreamedBody {
            throw .unsupported("{body} can't be signed for a body that is a stream; send it from memory, or sign {body-hash}")
        }
        try withByteWriter(capacity: capacity) { text throws(SchemeError) in
            var texts = Texts()
            if let timestamp {
                text.append(time: request.unixNanoseconds, as: timestamp.format)
                texts.timestamp = 0..<text.count
            }
            if usesNonce {
                let start = text.count
                text.append(hex: request.random.extracting(first: Self.nonceCount / 2))
                texts.nonce = start..<text.count
            }
            if let bodyHash {
                let start = text.count
                try bodyHash.append(of: request, to: &text)
                texts.bodyHash = start..<text.count
            }
            let code = try key.code { input in
                message.feed(to: &input, request, text.bytes, texts, apiKey)
            }
            let start = text.count
            text.append(code.bytes, encoding)
            texts.signature = start..<text.count
            value.append(to: &text, texts, apiKey)
            texts.value = texts.signature.upperBound..<text.count
            send(text.bytes, texts, edits)
        }
    }

    private func send(_ text: Span<UInt8>, _ texts: Texts, _ edits: Edits) {
        if !sent.key.isEmpty {
            let apiKey = apiKey
            edits.setHeader(sent.key, apiKey.span)
        }
        if !sent.timestamp.isEmpty { edits.setHeader(sent.timestamp, text.extracting(texts.timestamp)) }
        if !sent.nonce.isEmpty { edits.setHeader(sent.nonce, text.extracting(texts.nonce)) }
        if !sent.bodyHash.isEmpty { edits.setHeader(sent.bodyHash, text.extracting(texts.bodyHash)) }
        if !sent.signature.isEmpty { edits.setHeader(sent.signature, text.extracting(texts.value)) }
        // The signature comes last, after everything that it signs.
        if !sent.timestampQuery.isEmpty { edits.addQueryItem(sent.timestampQuery, text.extracting(texts.timestamp)) }
        if !sent.signatureQuery.isEmpty { edits.addQueryItem(sent.signatureQuery, text.extracting(texts.value)) }
    }
}
