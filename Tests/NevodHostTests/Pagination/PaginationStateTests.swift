import Testing

@testable import NevodHost

struct PaginationStateTests {
    private func query(_ state: inout PaginationState) throws -> [String: String]? {
        guard case .parameters(let parameters)? = try state.next() else { return nil }
        return parameters
    }

    @Test func `An offset advances by the page size, until there are no more pages`() throws {
        var state = PaginationState(.offset(pageSize: 20), mostPages: 9)
        #expect(try query(&state) == ["offset": "0", "limit": "20"])
        // The next page stays the same until it is received.
        #expect(try query(&state) == ["offset": "0", "limit": "20"])
        state.receive(.init(hasMore: true))
        #expect(try query(&state) == ["offset": "20", "limit": "20"])
        state.receive(.init(hasMore: false))
        #expect(try !state.hasMore && state.next() == nil)
    }

    @Test func `A page number advances by one`() throws {
        var state = PaginationState(.pageNumber(pageSize: 5), mostPages: 9)
        #expect(try query(&state) == ["page": "1", "limit": "5"])
        state.receive(.init(hasMore: true))
        #expect(try query(&state) == ["page": "2", "limit": "5"])
    }

    @Test func `A cursor is the one of the last page, and ends with none`() throws {
        var state = PaginationState(.cursor(cursorKey: "after", limitKey: "n", pageSize: 3), mostPages: 9)
        #expect(try query(&state) == ["n": "3"])
        state.receive(.init(hasMore: true, cursor: "x"))
        #expect(try query(&state) == ["after": "x", "n": "3"])
        state.receive(.init(hasMore: false, cursor: "y"))
        #expect(try state.next() == nil)
    }

    @Test func `A link is the one of the last page, and ends with none`() throws {
        var state = PaginationState(.linkHeader(limitKey: "per_page", pageSize: 2), mostPages: 9)
        #expect(try state.next() == .parameters(["per_page": "2"]))
        state.receive(.init(hasMore: false, link: "http://h/2"))
        #expect(try state.next() == .link("http://h/2"))
        state.receive(.init(hasMore: true))
        #expect(try state.next() == nil)
    }

    @Test(
        arguments: [
            (
                PaginationStyle.cursor(), [PaginationState.Page(hasMore: true, cursor: "a"), .init(hasMore: true, cursor: "a")],
                .repeats
            ),
            (
                .cursor(),
                [.init(hasMore: true, cursor: "a"), .init(hasMore: true, cursor: "b"), .init(hasMore: true, cursor: "a")],
                .repeats
            ),
            (.cursor(), [.init(hasMore: true)], .noCursor), (.cursor(), [.init(hasMore: true, cursor: "")], .noCursor),
            (.linkHeader(), [.init(link: "l"), .init(link: "l")], .repeats),
            (.pageNumber(pageSize: 1), Array(repeating: .init(hasMore: true), count: 4), .tooManyPages(4)),
            (.linkHeader(), (0..<4).map { .init(link: "\($0)") }, .tooManyPages(4)),
        ] as [(PaginationStyle, [PaginationState.Page], PaginationError.Problem)])
    func `A list that never ends is stopped`(
        style: PaginationStyle, pages: [PaginationState.Page], problem: PaginationError.Problem
    ) throws {
        var state = PaginationState(style, mostPages: 4)
        for page in pages {
            #expect(try state.next() != nil)
            state.receive(page)
        }
        // The last page was valid; fetching the next one throws, and then the list ends.
        #expect(state.hasMore)
        let error = #expect(throws: PaginationError.self) { try state.next() }
        #expect(error?.problem == problem)
        #expect(try !state.hasMore && state.next() == nil)
    }
}
