import NevodSupport

@testable import NevodPluginCrypto
@testable import NevodPluginKit

extension Fuzzer {
    /// Lines of a structured field, read as each of the three kinds.
    static let structuredField = Fuzzer("structured-field") { input in
        let lines = input.lines
        if let item = StructuredItem(parsing: lines) {
            let text = item.text
            expect(text != nil, "an item that was read is written")
            expect(text.flatMap { StructuredItem(parsing: [$0]) } == item, "an item is read as it was written")
        }
        if let list = StructuredList(parsing: lines) {
            let text = list.text
            expect(text.flatMap { StructuredList(parsing: [$0]) } == list, "a list is read as it was written")
        }
        if let dictionary = StructuredDictionary(parsing: lines) {
            let text = dictionary.text
            expect(text.flatMap { StructuredDictionary(parsing: [$0]) } == dictionary, "a dictionary is read as it was written")
            expect(Set(dictionary.entries.map(\.key)).count == dictionary.entries.count, "keys are distinct")
        }
    }

    /// A time in each format.
    static let time = Fuzzer("time") { input in
        for format in TimeFormat.allCases {
            guard let time = format.unixNanoseconds(input.text) else { continue }
            let written = format.text(unixNanoseconds: time)
            expect(written.utf8.count <= TimeFormat.capacity, "a time fits in its capacity")
            expect(format.unixNanoseconds(written).map { format.text(unixNanoseconds: $0) } == written, "\(written) is a time")
            for other in TimeFormat.allCases {
                expect(other.text(unixNanoseconds: time).utf8.count <= TimeFormat.capacity, "a time fits in each format")
            }
        }
    }

    /// A query and a path, in each encoding, and a Cookie line.
    static let canonical = Fuzzer("canonical") { input in
        let bytes = input.array
        for emptyValues in [EmptyQueryValues.asSent, .withSign, .withoutSign, .omitted] {
            for set in PercentEncodingSet.allCases + [nil] {
                let once = canonical(bytes, set, emptyValues)
                expect(canonical(once, set, emptyValues) == once, "a canonical query stays as it is")
            }
        }
        var path: [UInt8] = []
        path.append(normalizedPath: bytes.span, as: .whatwgPath)
        var again: [UInt8] = []
        again.append(normalizedPath: path.span, as: .whatwgPath)
        expect(again == path, "a normalized path stays as it is")
        for set in PercentEncodingSet.allCases {
            var encoded: [UInt8] = []
            encoded.append(percentEncoded: bytes.span, as: set)
            expect(encoded.count <= PercentEncodingSet.capacity(for: bytes.count), "encoded text fits in its capacity")
            guard set == .rfc3986 || set == .rfc3986Path || set == .javaScriptComponent else { continue }
            var decoded: [UInt8] = []
            decoded.append(percentDecoded: encoded.span)
            expect(decoded == bytes, "encoded text is decoded")
        }
        let cookies = CookiePair.parse(input.text)
        let line = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
        expect(CookiePair.parse(line) == cookies, "cookies are read as they were written")
    }

    private static func canonical(_ query: [UInt8], _ set: PercentEncodingSet?, _ emptyValues: EmptyQueryValues) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(canonicalQuery: query.span, as: set, emptyValues: emptyValues)
        return bytes
    }

    /// A key in PEM, and one in JSON.
    static let key = Fuzzer("key") { input in
        let message: [UInt8] = [1, 2, 3]
        if let key = try? PrivateKey(pem: Secret(copying: input.bytes), setting: "key") {
            expect((try? PublicKey(jwk: key.publicKey.jwk)) != nil, "the JSON of a key is a key")
        }
        if let key = try? PublicKey(pem: input.text, setting: "key") {
            _ = key.isSignature(input.array.span, of: message.span, .ecdsa(.sha256))
        }
        guard let json = try? JSONValue(parsing: input.array.span) else { return }
        _ = try? PublicKey(jwk: json)
        _ = try? PrivateKey(jwk: json)
    }
}
