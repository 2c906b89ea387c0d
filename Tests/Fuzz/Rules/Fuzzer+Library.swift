import Glibc

@testable import NevodHost
@testable import NevodPluginChecks

extension Fuzzer {
    /// A plugin's file before it is loaded.
    static let library = Fuzzer("library") { input in
        guard file >= 0, ftruncate(file, 0) == 0,
            pwrite(file, input.bytes.baseAddress, input.bytes.count, 0) == input.bytes.count,
            let library = try? ELFFile(path: "/proc/self/fd/\(file)")
        else { return }
        let names = library.exportedSymbols(withPrefix: "nevod_plugin_v") ?? []
        expect(names.allSatisfy { $0.hasPrefix("nevod_plugin_v") }, "a found name has the prefix")
        if let copy = try? ELFFile(path: "/proc/self/fd/\(file)") {
            let tables = ELFTables(copy)
            expect(tables.imports().count <= input.bytes.count / 24, "each symbol has its bytes")
            expect(tables.neededVersions().count <= 100_000, "versions are bounded")
            expect(tables.segments.count <= input.bytes.count / 56, "each segment has its bytes")
        }
        guard let loading = try? library.loading() else { return }
        expect((loading.needed + loading.runPaths + loading.searchPaths).allSatisfy { !$0.utf8.contains(0) }, "a name has no NUL")
    }

    /// A file without a name, which disappears with the process.
    private static let file: CInt = {
        let path = Folder.path + "/library"
        defer { unlink(path) }
        return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }()
}
