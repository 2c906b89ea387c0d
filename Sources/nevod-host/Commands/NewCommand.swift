import Glibc
import NevodHost

/// `new`: creates a project for a new scheme, with tests and a build.
struct NewCommand {
    let arguments: Arguments

    func run() throws {
        guard let operand = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("new needs one name: nevod-host new NAME --language \(Self.languages)")
        }
        let path = operand.count > 1 && operand.hasSuffix("/") ? String(operand.dropLast()) : operand
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        let name = try ProjectName(String(path[start...]))
        let language = try language()
        let project = NewProject(name: name, language: language, hasFlow: arguments.has(.flow), kit: try kit(for: language))
        try checkPlace(path, parent: String(path[..<start]))
        try ProjectFolder(path: path).write(project.files())
        try output("\(path) is ready; its README.md says how to build and test it")
    }

    private static let languages = ProjectLanguage.allCases.map(\.rawValue).joined(separator: "|")

    private func language() throws -> ProjectLanguage {
        guard let word = arguments.value(.language) else { throw UsageError("new needs --language \(Self.languages)") }
        guard let language = ProjectLanguage(rawValue: word) else {
            let hint = Suggestions.hint(for: word, among: ProjectLanguage.allCases.map(\.rawValue))
            throw UsageError("there is no template for \"\(word)\"; --language takes \(Self.languages)\(hint)")
        }
        return language
    }

    private func kit(for language: ProjectLanguage) throws -> KitSource? {
        guard language.hasKit else {
            guard !arguments.has(.kit) else {
                throw UsageError(
                    "--kit belongs to --language swift: the files that \(language.rawValue) needs are copied into the folder")
            }
            return nil
        }
        if let text = arguments.value(.kit) { return try KitSource(text) }
        guard let kit = KitSource.besideProgram() else {
            throw UsageError(
                "a scheme in Swift needs the kit, but none is installed with this program; give --kit URL#TAG, or --kit with the path of "
                    + "a checkout or of PREFIX/share/nevod/kit")
        }
        return kit
    }

    private func checkPlace(_ path: String, parent: String) throws {
        var info = stat()
        guard lstat(path, &info) != 0 else { throw OutputError(path, EEXIST) }
        guard errno == ENOENT else { throw OutputError(path, errno) }
        guard stat(parent.isEmpty ? "." : parent, &info) == 0 else { throw OutputError(path, errno) }
    }
}
