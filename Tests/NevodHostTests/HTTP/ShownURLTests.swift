import Testing

@testable import NevodHost

struct ShownURLTests {
    @Test(arguments: [
        ("http://bob:HUNTER2@h/", "http://[redacted]@h/"), ("http://HUNTER2@h/", "http://[redacted]@h/"),
        ("http://bob:HUNTER2", "http://bob:[redacted]"), ("http://bob:HUNTER2/p?x", "http://bob:[redacted]"),
        ("bob:HUNTER2@h", "[redacted]@h"), ("http://bob:HUN/TER2@h", "http://[redacted]@h"),
        ("http://bob:12HUNTER2", "http://bob:[redacted]"),
        ("http://[::1]:HUNTER2/", "http://[::1]:[redacted]"), ("bob:HUNTER2", "bob:[redacted]"),
    ])
    func `A password is redacted, wherever the URL is broken`(url: String, shown: String) {
        #expect(ShownURL.text(url) == shown)
        let error = #expect(throws: InvalidRequestError.self) { try HTTPRequest(.get, url) }
        #expect(error?.description.contains("HUNTER2") == false, "\(String(describing: error))")
    }

    @Test(arguments: [
        "http://h:99999/", "http://h/a:b", "http://[::1]:80/", "http://[::1", "ftp://h/x", "", "http:///a", "http://h?a:b",
        "http://h:80:",
    ])
    func `Another URL is shown as it is`(url: String) {
        #expect(ShownURL.text(url) == url)
    }
}
