import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the contract's limits at their edges, with the numbers from the header itself.
struct LimitTests {
    /// The constants of the header, by name without `NEVOD_LIMIT_`.
    private let limits: [String: Int]

    init() throws {
        let header = String(
            decoding: try contents(of: "\(repository)/Sources/NevodPluginABI/include/nevod_plugin.h"), as: UTF8.self)
        let pairs = header.split(separator: "\n").compactMap { line -> (String, Int)? in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 2, words[0] == "#define", words[1].hasPrefix("NEVOD_LIMIT_"), let value = Int(words[2]) else {
                return nil
            }
            return (String(words[1].dropFirst("NEVOD_LIMIT_".count)), value)
        }
        limits = Dictionary(uniqueKeysWithValues: pairs)
        #expect(limits.count >= 30)
    }

    @Test(arguments: [
        ("SCHEMES", "SCHEMES", "nevod_plugin.scheme_count is 65, more than 64"), ("SETTINGS", "SETTINGS", "has 257 entries"),
        ("NAME", "NAME", "be at most 64 bytes long"), ("TEXT", "TEXT", "has 4097 bytes, more than 4096"),
    ])
    func `A table at the limit loads, one beyond it doesn't`(limit: String, macro: String, problem: String) throws {
        let most = try #require(limits[limit])
        #expect(try TestPlugin.limits(["\(macro)=\(most)"]).schemes.count == (limit == "SCHEMES" ? most : 1))
        let error = try #require(throws: PluginError.self) { try TestPlugin.limits(["\(macro)=\(most + 1)"]) }
        #expect("\(error)".contains(problem))
    }

    @Test func `An instance may need as many digests as the limit says`() throws {
        let most = try #require(limits["DIGESTS"])
        #expect(try TestPlugin.limits(["DIGESTS=\(most)"]).scheme().makeInstance().needs.digests == [.sha256])
        let error = try #require(throws: PluginError.self) {
            try TestPlugin.limits(["DIGESTS=\(most + 1)"]).scheme().makeInstance()
        }
        #expect("\(error)".contains("needs.digest_count is 17, more than 16"))
    }

    @Test func `Longer messages and details are cut`() throws {
        let (message, detail) = (try #require(limits["MESSAGE"]), try #require(limits["DETAIL"]))
        for excess in [0, 1] {
            let lines = Collected<String>()
            let scheme = try TestPlugin.limits(["MESSAGE=\(message + excess)", "DETAIL=\(detail + excess)"]).scheme()
            let error = try #require(throws: PluginError.self) { try scheme.makeInstance { _, line in lines.append(line) } }
            guard case .failed(_, "create", _, let subject, let text, let secret) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect([subject.utf8.count, text.utf8.count, secret?.count] == [message, message, detail])
            #expect(lines.values.map(\.utf8.count) == [message])
        }
    }

    @Test(arguments: ["TOKEN", "STATE", "ACCOUNT"])
    func `A flow's token, state and account may be as long as the limit says`(limit: String) async throws {
        let most = try #require(limits[limit])
        for (size, isAccepted) in [(most, true), (most + 1, false)] {
            let instance = try TestPlugin.limits(["\(limit)=\(size)"]).scheme().makeInstance()
            let session = SchemeSession(instance, storage: InMemoryStorage())
            if isAccepted {
                try await session.login()
                #expect(try await session.tokenStorage.load() != nil)
            } else {
                let error = await #expect(throws: PluginError.self) { try await session.login() }
                #expect(error.map { "\($0)" }?.contains("\(size) bytes, more than \(most)") == true)
            }
        }
    }

    @Test func `A request may have as many parameters as the limit says`() throws {
        let most = try #require(limits["PARAMETERS"])
        let instance = try TestPlugin.parameters.get().scheme("session").makeInstance(settings: ["url": "http://h/"])
        var parameters: SchemeParameters = [:]
        for number in 1...most { parameters.add("scope", "\(number)") }
        // The missing parameter's default.
        #expect(try instance.parameterSet(of: parameters)?.values.count == most + 1)
        parameters.add("scope", "x")
        let error = try #require(throws: PluginError.self) { try instance.parameterSet(of: parameters) }
        #expect("\(error)".contains("the parameter \"scope\" of the scheme \"session\" exceeds the limit of a request"))
        let longest = String(repeating: "x", count: 8192 - "scope".utf8.count)
        #expect(try instance.parameterSet(of: ["scope": longest])?.values.first?.value == longest)
        #expect(throws: PluginError.self) { try instance.parameterSet(of: ["scope": longest + "x"]) }
    }

    @Test func `A replaced body may be as long as the limit says`() throws {
        let most = try #require(limits["BODY"])
        for (size, isAccepted) in [(most, true), (most + 1, false)] {
            let instance = try TestPlugin.body.get().scheme("body").makeInstance(
                settings: ["mode": "size", "size": .text("\(size)")])
            var request = try HTTPRequest(.put, "http://h/")
            if isAccepted {
                try instance.authorize(&request, attempt: 1)
                #expect(request.headers["Content-Length"] == "\(most)")
            } else {
                let error = try #require(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) }
                #expect("\(error)".contains("tried to write the body: it has \(size) bytes, more than \(most)"))
            }
        }
    }

    @Test(arguments: [("EDIT_NAME", 256), ("EDIT_VALUE", 65536), ("EDITS", 262144)])
    func `The limits of edits are those that the other tests try`(limit: String, tried: Int) {
        #expect(limits[limit] == tried)
    }
}
