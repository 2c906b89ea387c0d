import NevodHost
import Testing

/// Headers, query items and cookies.
struct RecipeOutputTests {
    private static let sign = "header X-Sign = {target|hmac:sha256:secret|hex}"

    @Test func `A header replaces the caller's lines`() throws {
        var request = try HTTPRequest(.get, "https://h.example/")
        try request.addHeader("x-a", "1")
        try request.addHeader("X-A", "2")
        let signed = try HMACAuthTests.sign(request, recipe: "header X-A = 3\nheader X-Empty =\nheader X-Text = ü\n\(Self.sign)")
        #expect(signed.headers.values(of: "X-A") == ["3"])
        #expect(signed.headers["X-Empty"] == "" && signed.headers["X-Text"] == "ü")
    }

    @Test func `Query items are encoded and appended in their order`() throws {
        let recipe = "query b = a b/ü~&=+\nquery a[] = \nquery x-sign = {target|hmac:sha256:secret|base64}"
        let expected = try Python.evaluate(["quote(base64.b64encode(mac('sha256', b'/?z=%20'))).decode()"])
        let signed = try HMACAuthTests.sign(HTTPRequest(.get, "https://h.example/?z=%20"), recipe: recipe)
        #expect(signed.target == "/?z=%20&b=a%20b%2F%C3%BC~%26%3D%2B&a%5B%5D=&x-sign=\(expected[0])")
        let bare = try HMACAuthTests.sign(HTTPRequest(.get, "https://h.example/"), recipe: "query a = 1\n\(Self.sign)")
        #expect(bare.target == "/?a=1")
    }

    @Test func `Cookies join the caller's`() throws {
        var request = try HTTPRequest(.get, "https://h.example/")
        try request.setHeader("Cookie", "a=1; b=2")
        let signed = try HMACAuthTests.sign(request, recipe: "cookie b = 3\ncookie c = {method|lower}\n\(Self.sign)")
        #expect(signed.headers["Cookie"] == "a=1; b=3; c=get")
    }

    /// A value may be sent twice under names of different kinds, even in the header for a proxy's credential.
    @Test func `One name may be a header's, an item's and a cookie's`() throws {
        let recipe = "let v = {target|hmac:sha256:secret|hex}\nheader sign = {v}\nquery sign = {v}\ncookie sign = {v}"
        let signed = try HMACAuthTests.sign(HTTPRequest(.get, "https://h.example/"), recipe: recipe)
        let value = try #require(signed.headers["sign"])
        #expect(signed.target == "/?sign=\(value)" && signed.headers["Cookie"] == "sign=\(value)")
    }

    @Test func `A request that is authorized again carries each header and cookie once, for the new time`() throws {
        let recipe = """
            let message = {target} {time|seconds}
            header X-T = {time|seconds}
            cookie sign = {message|hmac:sha256:secret|hex}
            """
        let original = try HTTPRequest(.get, "https://h.example/?a=1")
        let once = try HMACAuthTests.sign(original, recipe: recipe, at: 5_000_000_000)
        let again = try HMACAuthTests.sign(HMACAuthTests.sign(original, recipe: recipe), recipe: recipe, at: 5_000_000_000)
        #expect(again.headers["Cookie"] == once.headers["Cookie"] && again.headers.values(of: "X-T") == ["5"])
    }
}
