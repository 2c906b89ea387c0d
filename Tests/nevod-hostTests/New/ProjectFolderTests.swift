import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct ProjectFolderTests {
    private func names(_ folder: TemporaryFolder) throws -> [String] {
        try Shell.run("cd '\(folder.path)' && find . -mindepth 1 | sort").output.split(separator: "\n").map(String.init)
    }

    @Test("All files are there, with their folders")
    func written() throws {
        let folder = try TemporaryFolder()
        try ProjectFolder(path: folder.path + "/new").write([("a", "1"), ("b/c/d", "2"), ("b/e", "")])
        #expect(try names(folder) == ["./new", "./new/a", "./new/b", "./new/b/c", "./new/b/c/d", "./new/b/e"])
        #expect(try Shell.run("cd '\(folder.path)/new' && cat a b/c/d b/e").output == "12")
    }

    @Test("A failure leaves nothing behind: neither the folder nor the temporary one")
    func failed() throws {
        let folder = try TemporaryFolder()
        #expect(throws: OutputError.self) {
            try ProjectFolder(path: folder.path + "/new").write([("b/c", "1"), ("d", "2"), ("b/c/d", "a file is no folder")])
        }
        #expect(try names(folder) == [])
    }

    @Test("A folder that appears in the meantime is kept, even an empty one")
    func present() throws {
        let folder = try TemporaryFolder()
        _ = try Shell.run("mkdir '\(folder.path)/new'")
        #expect(throws: OutputError.self) { try ProjectFolder(path: folder.path + "/new").write([("a", "1")]) }
        #expect(try names(folder) == ["./new"])
    }
}
