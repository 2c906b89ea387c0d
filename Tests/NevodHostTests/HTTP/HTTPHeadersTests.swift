import Testing

@testable import NevodHost

struct HTTPHeadersTests {
    private func lines(_ headers: HTTPHeaders) -> [String] {
        headers.map { "\($0.name): \($0.value)" }
    }

    private func made(_ fields: (String, String)...) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.add(name, value, by: .caller) }
        return headers
    }

    @Test func `Lines keep their order, their spelling and their repetitions`() {
        let headers = made(("b", "1"), ("A", "2"), ("B", "3"), ("x-Y", ""))
        #expect(lines(headers) == ["b: 1", "A: 2", "B: 3", "x-Y: "])
        #expect(headers.count == 4)
        #expect(!headers.isEmpty)
        #expect(HTTPHeaders().isEmpty)
    }

    @Test func `Names compare without regard to case, values don't`() {
        let headers = made(("Content-Type", "a"), ("CONTENT-TYPE", "B"))
        #expect(headers["content-type"] == "a")
        #expect(headers.values(of: "cONTENT-tYPE") == ["a", "B"])
        #expect(headers.contains("CONTENT-type"))
        #expect(!headers.contains("Content-Typ"))
        #expect(!headers.contains("Content-Type2"))
        #expect(headers["Content_Type"] == nil)
        // Lower-casing by setting a bit would treat these as equal.
        #expect(made(("A^", "1"))["A~"] == nil)
    }

    @Test func `set replaces the first line in place and removes the others`() {
        var headers = made(("A", "1"), ("B", "2"), ("a", "3"), ("C", "4"), ("A", "5"))
        headers.set("a", "longer", by: .host)
        #expect(lines(headers) == ["a: longer", "B: 2", "C: 4"])
        headers.set("D", "new", by: .host)
        #expect(lines(headers) == ["a: longer", "B: 2", "C: 4", "D: new"])
    }

    @Test func `A value of equal length is replaced in place`() {
        var headers = made(("A", "111"), ("B", "222"), ("A", "333"))
        let size = headers.storage.count
        headers.set("a", "444", by: .scheme("s"))
        #expect(headers.storage.count == size)
        #expect(lines(headers) == ["a: 444", "B: 222"])
        #expect(headers.map(\.provenance) == [.scheme("s"), .caller])
    }

    @Test func `An empty value is kept as a line`() {
        var headers = made(("A", ""), ("B", "x"))
        #expect(headers["A"] == "")
        headers.set("A", "", by: .host)
        headers.set("B", "", by: .host)
        #expect(lines(headers) == ["A: ", "B: "])
        headers.set("A", "y", by: .host)
        #expect(lines(headers) == ["A: y", "B: "])
    }

    @Test func `remove takes every line of a name, and no others`() {
        var headers = made(("A", "1"), ("AB", "2"), ("a", "3"))
        headers.remove("A")
        #expect(lines(headers) == ["AB: 2"])
        headers.remove("missing")
        #expect(lines(headers) == ["AB: 2"])
    }

    @Test func `Every line has its provenance`() {
        var headers = made(("A", "1"))
        headers.add("B", "2", by: .token("T"))
        headers.add("C", "3", by: .scheme("s"))
        headers.addFirst("Host", "h", by: .host)
        #expect(headers.map(\.provenance) == [.host, .caller, .token("T"), .scheme("s")])
        #expect(lines(headers).first == "Host: h")
        headers.removeAll { $0.writesCredentials }
        #expect(lines(headers) == ["Host: h", "A: 1"])
    }

    @Test func `A copy doesn't change with the original`() {
        var headers = made(("A", "111"))
        let copy = headers
        headers.set("A", "222", by: .host)
        #expect(copy["A"] == "111")
        #expect(headers["A"] == "222")
    }

    @Test func `A folded line is joined with one space`() {
        var headers = made(("A", "1"))
        Array("more".utf8).withUnsafeBufferPointer { headers.continueLast($0) }
        #expect(lines(headers) == ["A: 1 more"])
    }
}
