import Glibc

/// The source of the kit for a package in Swift.
enum KitSource: Equatable {
    /// An installed copy, or a checkout: an absolute path.
    case folder(String)
    /// A tag such as 0.2.0 or v0.2.0, without its `v`.
    case version(url: String, String)
    /// A commit, in 40 hexadecimal digits.
    case revision(url: String, String)

    /// - Parameter text: the value of `--kit`: a folder, or `URL#TAG`, or `URL#REVISION`.
    init(_ text: String) throws(UsageError) {
        guard !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            throw UsageError("--kit has a control character")
        }
        if text.contains("#") || text.contains("://") {
            self = try Self.repository(text)
        } else {
            self = .folder(try Self.folder(text))
        }
    }

    /// The copy that was installed with this program, or the checkout that it was built in; nil if there is neither.
    static func besideProgram() -> KitSource? {
        guard let program = absolutePath("/proc/self/exe") else { return nil }
        var folder = parent(program)
        if let installed = absolutePath(parent(folder) + "/share/nevod/kit"), isKit(installed) { return .folder(installed) }
        while folder != "/" {
            if isKit(folder) { return .folder(folder) }
            folder = parent(folder)
        }
        return nil
    }

    /// The arguments of `.package(…)` for this source.
    var dependency: String {
        switch self {
        case .folder(let path): "name: \"NevodHost\", path: \(Self.literal(path))"
        case .version(let url, let version): "url: \(Self.literal(url)), exact: \(Self.literal(version))"
        case .revision(let url, let revision): "url: \(Self.literal(url)), revision: \(Self.literal(revision))"
        }
    }

    /// The name by which products of the package are found: for a URL, its last component.
    var package: String {
        switch self {
        case .folder: "NevodHost"
        case .version(let url, _), .revision(let url, _):
            String(Self.withoutEnd(url.split { "/:".contains($0) }.last.map(String.init) ?? url))
        }
    }

    /// Returns a text as a Swift string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func repository(_ text: String) throws(UsageError) -> KitSource {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let what = "--kit \(text): write URL#TAG with a tag such as 0.2.0, or URL#REVISION with all 40 digits of a commit"
        guard parts.count == 2, !parts[0].isEmpty else { throw UsageError(what) }
        let (url, end) = (parts[0], parts[1])
        if end.utf8.count == 40, end.allSatisfy(\.isHexDigit) { return .revision(url: url, end.lowercased()) }
        let version = end.hasPrefix("v") ? String(end.dropFirst()) : end
        guard isVersion(version) else { throw UsageError(what) }
        return .version(url: url, version)
    }

    /// Whether a text is a version of SemVer 2.0.0 as far as SwiftPM needs it: three numbers, and possibly more after a hyphen.
    private static func isVersion(_ text: String) -> Bool {
        let numbers = text.prefix { $0 != "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let rest = text.drop { $0 != "-" }
        return numbers.count == 3
            && numbers.allSatisfy { (1...9).contains($0.count) && $0.allSatisfy { ("0"..."9").contains($0) } }
            && rest.dropFirst().allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) } && rest != "-"
    }

    private static func folder(_ text: String) throws(UsageError) -> String {
        guard let path = absolutePath(text) else {
            throw UsageError("--kit \(text): \(String(cString: strerror(errno)))")
        }
        guard isKit(path) else {
            throw UsageError(
                "there is no kit in \(path); --kit takes PREFIX/share/nevod/kit of an installation, a checkout, or URL#TAG")
        }
        return path
    }

    private static func isKit(_ folder: String) -> Bool {
        access("\(folder)/Package.swift", R_OK) == 0 && access("\(folder)/Sources/NevodPluginKit", R_OK | X_OK) == 0
    }

    private static func absolutePath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func parent(_ path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    private static func withoutEnd(_ name: String) -> Substring {
        name.hasSuffix(".git") ? name.dropLast(4) : name[...]
    }
}
