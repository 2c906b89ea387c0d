import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct PaginatorTests {
    private struct Item: Decodable, Sendable, Equatable {
        let id: Int
    }

    private typealias Numbered = Paginator<Item, StandardPageResponse<Item>, Service>
    private typealias Cursored = Paginator<Item, CursorPageResponse<Item>, Service>
    private typealias Linked = Paginator<Item, [Item], Service>

    private static func items(_ ids: some Sequence<Int>) -> String { "[\(ids.map { "{\"id\":\($0)}" }.joined(separator: ","))]" }

    private static func parameter(_ name: String, of request: ScriptedServer.Request) -> String? {
        request.query.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// Five items, two on each page.
    private func numbered() throws -> (ScriptedServer, Numbered) {
        let server = try ScriptedServer { request in
            let page = Self.parameter("page", of: request).flatMap(Int.init) ?? 0
            let ids = (page * 2 - 1)..<min(page * 2 + 1, 6)
            return .json(#"{"items":\#(Self.items(ids)),"has_more":\#(page < 3),"total":5}"#)
        }
        let paginator = Numbered.standard(
            provider: .test(server), endpoint: "/items", domain: .api, style: .pageNumber(pageSize: 2),
            additionalQuery: ["sort": "id"])
        return (server, paginator)
    }

    private func linked(_ server: ScriptedServer, mostPages: Int = 9) -> Linked {
        Linked(
            provider: .test(server), endpoint: "/items", domain: .api, style: .linkHeader(limitKey: "n", pageSize: 1),
            parser: .init(extractItems: { $0 }, hasMore: { _ in false }), headers: ["X-Mine": "1"], mostPages: mostPages)
    }

    private func ids<S: AsyncSequence>(_ sequence: S) async throws -> [Int] where S.Element == Item {
        var ids: [Int] = []
        for try await item in sequence { ids.append(item.id) }
        return ids
    }

    @Test func `loadNext loads one page after another`() async throws {
        let (server, paginator) = try numbered()
        #expect(try await paginator.loadNext().map(\.id) == [1, 2])
        #expect(await paginator.totalCount == 5)
        #expect(try await paginator.loadAll().map(\.id) == [3, 4, 5])
        #expect(await !paginator.hasMore)
        #expect(try await paginator.loadNext().isEmpty)
        #expect(await paginator.allItems.map(\.id) == [1, 2, 3, 4, 5])
        await paginator.reset()
        #expect(await paginator.allItems.isEmpty)
        #expect(try await paginator.loadNext().map(\.id) == [1, 2])
        #expect(server.requests.map(\.target) == [1, 2, 3, 1].map { "/items?limit=2&page=\($0)&sort=id" })
    }

    @Test func `Sequences of pages and items each start at the first page`() async throws {
        let (server, paginator) = try numbered()
        #expect(try await ids(paginator.items) == [1, 2, 3, 4, 5])
        var pages: [[Int]] = []
        for try await page in paginator.pages { pages.append(page.map(\.id)) }
        #expect(pages == [[1, 2], [3, 4], [5]])
        // A page is fetched when it is needed.
        for try await _ in paginator.items { break }
        #expect(server.requests.count == 7)
        #expect(await paginator.allItems.isEmpty)
    }

    @Test func `Concurrent callers get a page each`() async throws {
        let (server, paginator) = try numbered()
        let loaded = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<10 { group.addTask { try await paginator.loadNext().map(\.id) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(loaded.sorted() == [1, 2, 3, 4, 5])
        #expect(server.requests.count == 3)
    }

    @Test func `A page that was in flight during a reset is dropped`() async throws {
        let (asked, isReset) = (Latch(), Latch())
        let server = try ScriptedServer { request in
            asked.set()
            isReset.waitOnThread()
            return .json(#"{"items":\#(Self.items([1])),"next_cursor":"b","has_more":true}"#)
        }
        let paginator = Cursored.cursor(provider: .test(server), endpoint: "/items", domain: .api)
        let early = Task { try await paginator.loadNext() }
        await asked.wait()
        await paginator.reset()
        isReset.set()
        #expect(try await early.value.map(\.id) == [1])
        #expect(await paginator.allItems.isEmpty)
        try await paginator.loadNext()
        #expect(server.requests.map(\.target) == ["/items?limit=20", "/items?limit=20"])
    }

    @Test func `A page that failed is requested again`() async throws {
        let isBroken = Collected<Void>()
        let server = try ScriptedServer { request in
            guard Self.parameter("cursor", of: request) == "b" else {
                return .json(#"{"items":\#(Self.items([1])),"next_cursor":"b","has_more":true}"#)
            }
            isBroken.append(())
            if isBroken.values.count == 1 { return .init(status: 500) }
            return .json(#"{"items":\#(Self.items([2])),"has_more":false}"#)
        }
        let paginator = Cursored.cursor(provider: .test(server), endpoint: "/items", domain: .api)
        try await paginator.loadNext()
        let error = await #expect(throws: NetworkError.self) { try await paginator.loadNext() }
        #expect(error == .serverError(500))
        #expect(await paginator.hasMore)
        #expect(try await paginator.loadAll().map(\.id) == [2])
        #expect(server.requests.map(\.target) == ["/items?limit=20", "/items?cursor=b&limit=20", "/items?cursor=b&limit=20"])
    }

    @Test func `A repeated cursor ends the list with an error`() async throws {
        let server = try ScriptedServer { _ in .json(#"{"items":\#(Self.items([1])),"next_cursor":"a b&c","has_more":true}"#) }
        let paginator = Cursored.cursor(provider: .test(server), endpoint: "/items", domain: .api, pageSize: nil)
        let error = await #expect(throws: PaginationError.self) { try await paginator.loadAll() }
        #expect(error?.problem == .repeats)
        #expect(await paginator.allItems.map(\.id) == [1, 1])
        #expect(await !paginator.hasMore)
        #expect(server.requests.map(\.target) == ["/items", "/items?cursor=a%20b%26c"])
        let again = await #expect(throws: PaginationError.self) { try await ids(paginator.items) }
        #expect(again?.problem == .repeats)
    }

    @Test func `Links are followed on their origin`() async throws {
        let server = try ScriptedServer { request in
            switch request.target {
            case "/items?n=1": .json(Self.items([1]), headers: [#"Link: </items?p=2%2F>; rel="next", </>; rel=first"#])
            case "/items?p=2%2F": .json(Self.items([2]), headers: [#"Link: <?p=3>; rel=next"#])
            default: .json(Self.items([3]))
            }
        }
        #expect(try await ids(linked(server).items) == [1, 2, 3])
        #expect(server.requests.map(\.target) == ["/items?n=1", "/items?p=2%2F", "/items?p=3"])
        #expect(server.requests.allSatisfy { $0["X-Mine"] == "1" })
    }

    @Test func `A link to another origin is not followed`() async throws {
        let other = try ScriptedServer { _ in .json("[]") }
        let link = other.url
        let server = try ScriptedServer { _ in .json(Self.items([1]), headers: ["Link: <\(link)/items>; rel=next"]) }
        let paginator = linked(server)
        #expect(try await paginator.loadNext().map(\.id) == [1])
        let error = await #expect(throws: PaginationError.self) { try await paginator.loadNext() }
        #expect(try error?.problem == .otherOrigin(HTTPRequest(.get, link).origin))
        #expect(await !paginator.hasMore)
        #expect(other.requests.isEmpty && server.requests.count == 1)
    }

    @Test func `A link that forms a circle, or is malformed, is an error`() async throws {
        let round = try ScriptedServer { _ in .json(Self.items([1]), headers: ["Link: <?p=1>; rel=next"]) }
        let repeats = await #expect(throws: PaginationError.self) { try await ids(linked(round).items) }
        #expect(repeats?.problem == .repeats && round.requests.count == 2)
        let nowhere = try ScriptedServer { _ in .json(Self.items([1]), headers: ["Link: <ftp://h/>; rel=next"]) }
        let unusable = await #expect(throws: PaginationError.self) { try await ids(linked(nowhere).items) }
        if case .unusableLink = unusable?.problem {} else { Issue.record("\(String(describing: unusable))") }
    }

    @Test func `A list of arrays ends with a page that isn't full`() async throws {
        let server = try ScriptedServer { request in
            .json(Self.items(Self.parameter("page", of: request) == "1" ? 1...3 : 4...5))
        }
        let paginator = Linked.simple(provider: .test(server), endpoint: "/items", domain: .api, pageSize: 3)
        #expect(try await ids(paginator.items) == [1, 2, 3, 4, 5])
        #expect(server.requests.map(\.target) == ["/items?limit=3&page=1", "/items?limit=3&page=2"])
    }
}
