import CTemplates
import NevodSupport

/// The files of a new project.
struct NewProject {
    let name: ProjectName
    let language: ProjectLanguage
    let hasFlow: Bool
    /// Nil for languages without a kit.
    let kit: KitSource?

    /// The files, sorted by path. Paths are relative to the project's folder.
    func files() -> [(path: String, content: String)] {
        var count = 0
        guard let table = nevod_template_files(&count) else { return [] }
        let set = language.rawValue + (hasFlow ? "-flow" : "")
        return UnsafeBufferPointer(start: table, count: count).filter { String(cString: $0.set) == set }.map { file in
            let text = String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
            return (filled(String(cString: file.path)), filled(text))
        }.sorted { $0.path < $1.path }
    }

    /// Fills in a template. Templates are valid projects named `acme-keys`, with the kit two folders above.
    private func filled(_ text: String) -> String {
        var text = text
        text.replace("acme-keys", with: name.text)
        text.replace("AcmeKeysAuth", with: name.type)
        text.replace("acme_keys", with: name.identifier)
        // Replaced last, since the kit's path or URL may contain one of these names.
        if let kit {
            text.replace(#"name: "NevodHost", path: "../..""#, with: kit.dependency)
            text.replace(#"package: "NevodHost""#, with: "package: \(KitSource.literal(kit.package))")
        }
        return text
    }
}

/// The name of a new project, and the id of its scheme. It has the form of a setting's name in the contract.
struct ProjectName: Equatable {
    /// `acme-keys`
    let text: String

    /// - Throws: `UsageError` if no scheme can have the name as its id.
    init(_ text: String) throws(UsageError) {
        let bytes = Array(text.utf8)
        let isWellFormed = bytes.isContractName && bytes.last != UInt8(ascii: "-") && !text.contains("--")
        guard isWellFormed else {
            throw UsageError(
                "a scheme can't be called \"\(text)\": a name has lower-case letters, digits and single hyphens, and begins with a letter, "
                    + "such as acme-keys")
        }
        guard bytes.count <= Self.limit else {
            throw UsageError("a name of \(bytes.count) letters is too long: a scheme's has at most \(Self.limit)")
        }
        self.text = text
    }

    /// `acme_keys`
    var identifier: String { text.replacing("-", with: "_") }

    /// `AcmeKeysAuth`, the name of the type, the module and the library. The suffix is the same as in NevodHost's own plugins. It
    /// avoids conflicts with names of the kit and the standard library.
    var type: String {
        let words = text.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return (words.last == "Auth" && words.count > 1 ? words : words + ["Auth"]).joined()
    }

    /// NEVOD_LIMIT_NAME
    private static let limit = 64
}

/// The languages of `nevod-host new`.
enum ProjectLanguage: String, CaseIterable, Sendable {
    case swift, c, cpp, rust, go

    /// Whether projects depend on the kit. Projects in other languages have copies of the contract's files.
    var hasKit: Bool { self == .swift }
}
