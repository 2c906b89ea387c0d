/// The name of a new project: also the id of its scheme, which has the form of a setting's name in the contract.
struct ProjectName: Equatable {
    /// `acme-keys`
    let text: String

    /// - Throws: `UsageError` if no scheme can have the name as its id.
    init(_ text: String) throws(UsageError) {
        let bytes = Array(text.utf8)
        let isWellFormed =
            bytes.allSatisfy { Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "-") }
            && bytes.first.map(Self.isLetter) == true && bytes.last != UInt8(ascii: "-") && !text.contains("--")
        guard isWellFormed else {
            throw UsageError(
                "a scheme can't be called \"\(text)\": a name has small letters, digits and single hyphens, and begins with a letter, "
                    + "such as acme-keys")
        }
        guard bytes.count <= Self.limit else {
            throw UsageError("a name of \(bytes.count) letters is too long: a scheme's has at most \(Self.limit)")
        }
        self.text = text
    }

    /// `acme_keys`
    var identifier: String { text.replacing("-", with: "_") }

    /// `AcmeKeysAuth`, the name of the type, the module and the library. The end is that of the project's own plugins, and keeps the
    /// name apart from those of the kit and of the standard library.
    var type: String {
        let words = text.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return (words.last == "Auth" && words.count > 1 ? words : words + ["Auth"]).joined()
    }

    /// NEVOD_LIMIT_NAME
    private static let limit = 64

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
