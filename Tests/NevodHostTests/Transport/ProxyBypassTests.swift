import Testing

@testable import NevodHost

struct ProxyBypassTests {
    @Test(arguments: [
        ("127.0.0.0/8", ["127.0.0.1", "127.255.255.255", "127.1", "2130706433", "0x7f.1"], ["128.0.0.1", "126.255.255.255"]),
        ("10.1.128.0/17", ["10.1.128.0", "10.1.255.255"], ["10.1.127.255", "10.2.128.0"]),
        ("10.1.2.3/17", ["10.1.127.255"], ["10.1.128.0"]),
        ("0.0.0.0/0", ["1.2.3.4"], ["::1", "example.com"]),
        ("10.0.0.1/32", ["10.0.0.1"], ["10.0.0.2"]),
        ("fd00::/8", ["fd00::1", "fdff::"], ["fe00::1", "253.0.0.1"]),
        ("2001:db8::/33", ["2001:db8:7fff::"], ["2001:db8:8000::"]),
        ("::ffff:10.0.0.1", ["10.0.0.1", "::ffff:a00:1"], ["10.0.0.2"]),
        ("::1", ["::1", "0:0:0:0:0:0:0:1", "::0:1"], ["::2", "127.0.0.1"]),
        ("[::1]", ["::1"], ["::2"]),
        ("127.1", ["127.0.0.1", "127.1"], ["127.0.0.2"]),
        ("127.0.0.1", ["127.0.0.1", "127.1", "127.0.0.1."], ["127.0.0.11", "27.0.0.1"]),
    ])
    func `An address or a block of addresses`(entry: String, inside: [String], outside: [String]) {
        let bypass = ProxyBypass(entry)
        for host in inside { #expect(bypass.contains(host), "\(host)") }
        for host in outside { #expect(!bypass.contains(host), "\(host)") }
    }

    @Test(arguments: ["example.com", ".example.com", "example.com.", "EXAMPLE.com", "..example.com.."])
    func `A name and its subdomains`(entry: String) {
        let bypass = ProxyBypass(entry)
        for host in ["example.com", "a.example.com", "example.com.", "a.b.example.com."] {
            #expect(bypass.contains(host), "\(host)")
        }
        for host in ["notexample.com", "example.co", "com", "example.com.org"] { #expect(!bypass.contains(host), "\(host)") }
    }

    @Test func `An internationalized name is that of the URL`() throws {
        let bypass = ProxyBypass("b\u{FC}cher.example")
        #expect(bypass.contains(try HTTPURL("http://shop.b\u{FC}cher.example/").origin.host))
        #expect(bypass.contains("xn--bcher-kva.example"))
    }

    @Test(arguments: [",", " ", "\t", "\n", "\r\n", ", \t", ",,"])
    func `Entries stand between commas or white space`(separator: String) {
        let bypass = ProxyBypass(["", "a.test", "10.0.0.0/8", "b.test", ""].joined(separator: separator))
        for host in ["a.test", "10.9.9.9", "b.test"] { #expect(bypass.contains(host), "\(host)") }
        #expect(!bypass.contains("c.test"))
    }

    @Test(arguments: [
        "10/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/99999999999999999999", "/8", ".",
        "..", "a/8",
    ])
    func `An entry that means nothing matches nothing`(entry: String) {
        let bypass = ProxyBypass(entry)
        for host in ["10.0.0.1", "0.0.0.10", "::1", "a", "example.com", "", "."] { #expect(!bypass.contains(host), "\(host)") }
    }

    @Test func `A star means all hosts`() {
        #expect(ProxyBypass("a, *").contains("example.com"))
        #expect(!ProxyBypass("*.test").contains("example.com"))
    }

    @Test func `The environment's proxy is not used for them`() throws {
        let proxies = ProxySettings { ["http_proxy": "http://p:1", "no_proxy": "10.0.0.0/8\tlocalhost."][$0] }
        #expect(proxies.proxy(for: try HTTPURL("http://10.2.3.4/").origin) == nil)
        #expect(proxies.proxy(for: try HTTPURL("http://localhost/").origin) == nil)
        #expect(proxies.proxy(for: try HTTPURL("http://11.2.3.4/").origin) == "http://p:1")
    }
}
