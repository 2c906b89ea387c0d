import NevodHost
import Testing

/// The filters of items, `a=1&b=2`.
struct RecipeItemTests {
    private static let odd = "b=2&a=3&b=1&&a&a-b=0&a=&=x&%61=%33&c=a+b%zz"

    @Test func `Orders`() throws {
        try Evaluation.check([
            .filter("sort", of: "b=2&a=3&b=1&&a&a-b=0", "b'&a&a=3&a-b=0&b=1&b=2'"), .filter("sort", of: "", "b''"),
            .filter("sort", of: "a=b=c&a=b", "b'a=b&a=b=c'"), .filter("sort", of: "%61=1&a=2&B=3", "b'%61=1&B=3&a=2'"),
            .filter("sort:decoded", of: "b=1&%61=2&a=1&a=%30", "b'a=%30&a=1&%61=2&b=1'"),
            .filter("sort:decoded", of: "a+b=1&a%20b=0&a%2Bb=2", "b'a%20b=0&a+b=1&a%2Bb=2'"),
            .filter("sort:names", of: "b=2&a=3&b=1&a=2&c", "b'a=3&a=2&b=2&b=1&c'"),
            .filter("sort:names", of: "b=1&%61=2", "b'%61=2&b=1'"),
            .filter("sort:decoded", of: "a&a=&=&", "b'=&&a&a='"), .filter("sort:names", of: "", "b''"),
        ])
    }

    @Test func `Encodings of items`() throws {
        try Evaluation.check([
            .filter("reencode:rfc3986", of: "a=x+y&b=%7e%2f&c&d=&ü=*&e=%zz", "b'a=x%20y&b=~%2F&c&d=&%C3%BC=%2A&e=%25zz'"),
            .filter("reencode:form", of: "a=x%20y&b=~*", "b'a=x+y&b=%7E*'"),
            .filter("reencode:form-lower", of: "a=%2F", "b'a=%2f'"),
            .filter("reencode:path", of: "a=%2F", "b'a=/'"), .filter("reencode:javascript", of: "a=(x y)", "b'a=(x%20y)'"),
            .filter("reencode:rfc3986", of: "a=%26%3D&b=1=2", "b'a=%26%3D&b=1%3D2'"),
            .filter("reencode:rfc3986", of: "&", "b'&'"),
            .filter("reencode:rfc3986", of: "", "b''"),
        ])
    }

    @Test func `Some of the items`() throws {
        try Evaluation.check([
            .filter("without:sign", of: "a=1&sign=x&b=2&%73ign=y&sign&Sign=z", "b'a=1&b=2&Sign=z'"),
            .filter("without:a:b", of: "a=1&b=2&c=3", "b'c=3'"), .filter("without:a", of: "a=1", "b''"),
            .filter("without:a", of: "", "b''"),
            .filter(#"without:a\:b:c d"#, of: "a%3Ab=1&c+d=2&e=3", "b'e=3'"),
            .filter("only:b:a", of: "a=1&b=2&c=3&b=4", "b'a=1&b=2&b=4'"),
            .filter("only:x", of: "a=1", "b''"), .filter("with-values", of: "a=1&b=&c&=d&&e=0", "b'a=1&=d&e=0'"),
            .filter("add-equals", of: "a&b=&c=1&", "b'a=&b=&c=1&='"), .filter("add-equals", of: "", "b''"),
        ])
    }

    @Test func `Other texts between items`() throws {
        try Evaluation.check([
            .filter("sort|join::", of: "b=2&a=1", "b'a1b2'"), .filter("join:=:;", of: "a=1&b", "b'a=1;b'"),
            .filter(#"join:\::\n"#, of: "a=1&b=%32&", "b'a:1\\nb:%32\\n'"), .filter("join:=:&", of: Self.odd, "b'\(Self.odd)'"),
            .filter("join-decoded:=:&", of: "a=x+y&b=%26", "b'a=x y&b=&'"),
            .filter(#"join-decoded:\::\n"#, of: "a=x+y&b", "b'a:x y\\nb'"),
            .filter("values:,", of: "a=1&b=&c&d=%34", "b'1,,,%34'"), .filter("values-decoded:,", of: "a=x+y&d=%34", "b'x y,4'"),
            .filter("values:", of: "a=1&b=2", "b'12'"), .filter("names:;", of: "b=1&%61=2&c", "b'b;%61;c'"),
            .filter("names:;", of: "", "b''"),
            .filter("join-decoded:=:&", of: "a=%00%0A", "b'a=\\0\\n'"),
        ])
    }

    @Test func `Members of a JSON object as items`() throws {
        try Evaluation.check([
            .filter(
                "json-items", of: #"{"b":"x y/ü\n","a":1.0,"c":{"d": [1]},"é":null,"a":true,"":""}"#,
                "b'b=x%20y%2F%C3%BC%0A&a=1.0&c=%7B%22d%22%3A%20%5B1%5D%7D&%C3%A9=null&a=true&='"),
            .filter("json-items", of: "{}", "b''"), .filter("json-items", of: "", "b''"),
            Evaluation("{body|json-items|sort|values-decoded:}", "b'12'", .body(#"{"b":2,"a":"1"}"#)),
            Evaluation("{query|sort}", "b'&a&a=3&a-b=0&b=1&b=2'"),
            Evaluation("{body|sort}", "b'a=1&b=1&b=2'", .body("b=2&a=1&b=1", "application/x-www-form-urlencoded")),
        ])
    }
}
