import Testing

@testable import nevod_host

@Suite struct OperationsTests {
    private func operations(_ line: String) throws -> [Arguments] {
        try Arguments(line.split(separator: " ").map { Array($0.utf8) }).operations
    }

    @Test("The n-th output belongs to the n-th URL of its group")
    func outputs() throws {
        let operations = try operations("-o 1 http://a -O http://b/x http://c --next -o 4 http://d")
        #expect(operations.map(\.operands) == [["http://a"], ["http://b/x"], ["http://c"], ["http://d"]])
        #expect(operations.map { $0.value(.output) } == ["1", nil, nil, "4"])
        #expect(operations.map { $0.has(.remoteName) } == [false, true, false, false])
    }

    @Test("A flag holds for its group, and a global one for all")
    func groups() throws {
        let operations = try operations("http://a -G http://b --next http://c -v")
        #expect(operations.map { $0.has(.get) } == [true, true, false])
        #expect(operations.map { $0.has(.verbose) } == [true, true, true])
    }

    @Test(
        "Words after a URL are items or URLs",
        arguments: [
            ("a=b", 1), ("a:b", 1), ("a@b", 1), ("a;", 1), ("a:=1", 1), ("a==b", 1), ("a[b]=c", 1), ("[]:=1", 1), ("X:8080", 1),
            ("b", 2), ("b/c=d", 2), ("?a=b", 2), ("/a=b", 2), ("#a=b", 2), ("b.c:80", 2), ("localhost:80/a=b", 2),
            ("b.c:80x", 1), ("[::1]:80", 2), ("http://b?c=d", 2), ("x+y://b", 2),
        ])
    func words(word: String, count: Int) throws {
        #expect(try operations("http://a \(word)").count == count)
    }

    @Test("A word in capitals in front of a URL is its method", arguments: [("PUT http://a", "PUT"), ("http://a GET", nil)])
    func methods(line: String, method: String?) throws {
        #expect(try operations(line).first?.value(.method) == method)
    }

    @Test(
        "Items as HTTPie reads them",
        arguments: [
            ("a=b", "=", "b"), ("a:=b", ":=", "b"), ("a==b", "==", "b"), ("a=@b", "=@", "b"), ("a:=@b", ":=@", "b"),
            ("a@b", "@", "b"),
        ])
    func kinds(word: String, separator: String, value: String) throws {
        let item = try #require(try RequestItem(word))
        #expect(item.kind.rawValue == separator && item.name == "a" && item.value == value)
    }
}
