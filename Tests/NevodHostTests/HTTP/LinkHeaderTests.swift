import Testing

@testable import NevodHost

struct LinkHeaderTests {
    @Test(
        arguments: [
            (["<http://h/2>; rel=\"next\""], "http://h/2"),
            (["<http://h/2>; rel=next"], "http://h/2"),
            (["<http://h/2>;REL=NEXT"], "http://h/2"),
            (["<?page=2> ; title=\"a, <b>; rel=x\" ; rel = \"prev next\""], "?page=2"),
            (["</1>; rel=prev, </3>; rel=next, </9>; rel=last"], "/3"),
            (["</1>; rel=prev", "</3>; rel=next"], "/3"),
            (["<a,b;c>; rel=next"], "a,b;c"),
            (["<>; rel=next"], ""),
            (["</a>; title=\"\\\"; rel=next\"; rel=prev, </b>; rel=next"], "/b"),
            (["</a>; rel=prev; rel=next"], nil),
            (["</a>; rel=next; anchor=\"/other\""], nil),
            (["</a>; rel=nextish"], nil),
            (["</a>; title=next"], nil),
            (["</a>"], nil),
            (["/a; rel=next"], nil),
            (["</a; rel=next"], nil),
            ([""], nil),
            ([], nil),
        ] as [([String], String?)])
    func `The target of rel=next is found`(lines: [String], target: String?) {
        var headers = HTTPHeaders()
        for line in lines { headers.add("Link", line, by: .host) }
        #expect(LinkHeader.next(in: headers) == target)
    }
}
