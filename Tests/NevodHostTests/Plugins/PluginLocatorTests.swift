import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

struct PluginLocatorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func searched(_ name: String, _ locator: PluginLocator) throws -> [String] {
        let error = try #require(throws: PluginError.self) { try locator.find(name) }
        guard case .notFound(let searched) = error.reason else { return [] }
        // A path isn't searched in folders.
        #expect("\(error)".contains(name.contains("/") ? "check the path" : "NEVOD_PLUGIN_PATH"))
        return searched
    }

    @Test func `A bare name is looked up in the folders' order`() throws {
        let (a, b) = (folder.makeFolder("a"), folder.makeFolder("b"))
        let locator = PluginLocator(folders: [a, b])
        let second = try folder.write("b/libX.so", [1])
        #expect(try locator.find("X") == second)
        let unprefixed = try folder.write("a/X.so", [1])
        #expect(try locator.find("X") == unprefixed)
        let first = try folder.write("a/libX.so", [1])
        #expect(try locator.find("X") == first)
        #expect(try locator.find("libX.so") == first)
        #expect(try locator.find("X.so") == unprefixed)
    }

    @Test func `The error for a missing plugin names every path that was tried`() throws {
        #expect(try searched("X", PluginLocator(folders: ["/a", "/b"])) == ["/a/libX.so", "/a/X.so", "/b/libX.so", "/b/X.so"])
        #expect(try searched("X.so", PluginLocator(folders: ["/a"])) == ["/a/X.so"])
        #expect(try searched("./X", PluginLocator(folders: ["/a"])) == ["./X"])
        #expect(try searched("X", PluginLocator(folders: [])).isEmpty)
    }

    @Test(arguments: ["hmac", "HMAC", "Hmac", "hmacauth", "HmacAuth", "libhmacauth.so", "libhmac.so"])
    func `A short name is what stands between lib and Auth, in any case`(name: String) throws {
        let locator = PluginLocator(folders: [folder.path, "\(folder.path)/nowhere"])
        let file = try folder.write("libHMACAuth.so", [1])
        try folder.write("libAPIKeyAuth.so", [1])
        #expect(try locator.find(name) == file)
        #expect(locator.shortNames == ["apikey", "hmac"])
    }

    @Test func `An exact name in any folder goes before a short one`() throws {
        let locator = PluginLocator(folders: [folder.makeFolder("a"), folder.makeFolder("b")])
        try folder.write("a/libAcmeAuth.so", [1])
        let exact = try folder.write("b/libacme.so", [1])
        #expect(try locator.find("acme") == exact)
    }

    @Test func `Files of one name are one plugin, and two names that are alike are an error that names both`() throws {
        let locator = PluginLocator(folders: [folder.makeFolder("a"), folder.makeFolder("b")])
        let first = try folder.write("a/libAcmeAuth.so", [1])
        try folder.write("b/libAcmeAuth.so", [1])
        #expect(try locator.find("acme") == first)
        let other = try folder.write("b/libACMEAuth.so", [1])
        let error = try #require(throws: PluginError.self) { try locator.find("acme") }
        guard case .ambiguousName(let found) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(found == [first, other])
        #expect(try locator.find("libACMEAuth.so") == other)
    }

    @Test func `A short name finds nothing but libraries, and never a path`() throws {
        let locator = PluginLocator(folders: [folder.path])
        for name in [".so", "lib.so", "Auth.so", "notes.txt", "libHMACAuth.so.bak"] { try folder.write(name, [1]) }
        #expect(try searched("hmac", locator).count == 2)
        #expect(try searched("./HMAC", locator) == ["./HMAC"])
    }

    @Test func `A symbolic link is resolved to its file`() throws {
        let file = try folder.write("real.so", [1])
        symlink(file, "\(folder.path)/libX.so")
        #expect(try PluginLocator(folders: [folder.path]).find("X") == file)
        #expect(try PluginLocator(folders: []).find("\(folder.path)/libX.so") == file)
    }

    /// The environment and the working directory belong to the whole process, so this runs in another one.
    @Test func `The working directory is used for a path, and never for a bare name`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = try TemporaryFolder()
            let file = try folder.write("libX.so", [1])
            _ = folder.makeFolder("relative")
            try folder.write("relative/libX.so", [1])
            chdir(folder.path)
            for path in ["", ".", "relative", ":", "./relative:"] {
                setenv("NEVOD_PLUGIN_PATH", path, 1)
                let error = #expect(throws: PluginError.self) { try PluginLocator.standard.find("X") }
                guard case .notFound? = error?.reason else {
                    Issue.record("\(path): \(String(describing: error))")
                    return
                }
            }
            let error = #expect(throws: PluginError.self) { try PluginLocator(folders: []).find("libX.so") }
            guard case .notFound? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try PluginLocator(folders: []).find("./libX.so") == file)
        }
        #expect(result != nil)
    }

    @Test func `The standard folders are searched in their order`() async {
        await #expect(processExitsWith: .success) {
            setenv("NEVOD_PLUGIN_PATH", "/one:relative::/two:.", 1)
            setenv("XDG_DATA_HOME", "/data", 1)
            setenv("HOME", "/home/x", 1)
            let executable = try #require(canonicalPath("/proc/self/exe"))
            let own = parent(of: executable)
            #expect(
                PluginLocator.standard.folders == [
                    "/one", "/two", "/data/nevod/plugins", "/usr/local/lib/nevod/plugins", "/usr/lib/nevod/plugins", own,
                    "\(parent(of: own))/lib/nevod/plugins",
                ])
        }
        await #expect(processExitsWith: .success) {
            unsetenv("NEVOD_PLUGIN_PATH")
            setenv("XDG_DATA_HOME", "relative", 1)
            setenv("HOME", "/home/x", 1)
            #expect(PluginLocator.standard.folders.first == "/home/x/.local/share/nevod/plugins")
        }
        await #expect(processExitsWith: .success) {
            for name in ["NEVOD_PLUGIN_PATH", "XDG_DATA_HOME", "HOME"] { unsetenv(name) }
            #expect(PluginLocator.standard.folders.first == "/usr/local/lib/nevod/plugins")
        }
    }

    @Test(arguments: [("/a/b", "/a"), ("/a", "/"), ("/", "/")])
    func `Parent folders are resolved`(path: String, expected: String) {
        #expect(parent(of: path) == expected)
    }
}
