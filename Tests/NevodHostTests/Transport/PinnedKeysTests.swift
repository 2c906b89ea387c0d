import NevodHost
import Testing

@testable import NevodHost

struct PinnedKeysTests {
    private let one = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    private let two = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private func failure(_ pins: [String: [String]]) -> TransportError? {
        do throws(TransportError) {
            _ = try PinnedKeys(pins)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Hosts

    @Test(arguments: [
        (
            "api.example.com", ["api.example.com", "api.example.com."],
            ["example.com", "x.api.example.com", "api.example.co", "xapi.example.com"]
        ),
        ("API.Example.com.", ["api.example.com"], ["example.com"]),
        (
            "*.example.com", ["a.example.com", "a.b.example.com", "a.example.com."],
            ["example.com", "example.com.", "xexample.com", ".example.com"]
        ),
        ("bücher.example", ["xn--bcher-kva.example"], ["bucher.example"]),
        ("*.bücher.example", ["a.xn--bcher-kva.example"], ["xn--bcher-kva.example"]),
        ("0x7f.1", ["127.0.0.1"], ["127.0.0.2"]), ("[::1]", ["::1"], ["::2"]), ("0:0::1", ["::1"], ["127.0.0.1"]),
    ])
    func `Pins are for a host, or for all below it`(host: String, same: [String], other: [String]) throws {
        let pins = try PinnedKeys([host: [one]])
        for host in same { #expect(pins.text(for: host) == one, "\(host)") }
        for host in other { #expect(pins.text(for: host) == nil, "\(host)") }
    }

    @Test(arguments: ["https://API.example.com./x", "https://api.EXAMPLE.com:8443", "https://user@api.example.com/"])
    func `Every spelling of a host in a URL is the pinned host`(url: String) throws {
        let pins = try PinnedKeys(["api.example.com": [one]])
        // A URL with a user may be rejected instead.
        guard let request = try? HTTPRequest(.get, url) else { return }
        #expect(pins.text(for: request.origin.host) == one)
    }

    @Test func `The exact name comes first, then the longest pattern`() throws {
        let three = "sha256//AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let pins = try PinnedKeys(["*.example.com": [one], "*.b.example.com": [two], "a.b.example.com": [three]])
        #expect(pins.text(for: "x.example.com") == one)
        #expect(pins.text(for: "x.b.example.com") == two)
        #expect(pins.text(for: "b.example.com") == one)
        #expect(pins.text(for: "a.b.example.com") == three)
        #expect(pins.text(for: "x.a.b.example.com") == two)
    }

    @Test func `A host without pins may have any key, a pinned one only its own`() throws {
        let pins = try PinnedKeys(["a.example": [two]])
        #expect(pins.allow([1], of: "b.example") && !pins.allow([1], of: "a.example") && !pins.allow([], of: "a.example"))
        #expect(pins.allow([UInt8](repeating: 0, count: 32), of: "a.example"))
        #expect(PinnedKeys().isEmpty && !pins.isEmpty)
    }

    @Test func `Equal pins are equal`() throws {
        let pins = ["*.a.example": [one], "*.b.example": [two], "*.example": [one, two], "c.example": [one]]
        for _ in 0..<20 { #expect(try PinnedKeys(pins) == PinnedKeys(pins)) }
        #expect(try PinnedKeys(pins) != PinnedKeys(["c.example": [one]]))
    }

    // MARK: Mistakes

    @Test(arguments: [
        "", "sha256//", "sha256//???", "sha1//AAAA", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        // Without padding, in the other alphabet, with leftover bits, with a second pin, with spaces.
        "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "sha256//47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=",
        "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=;sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        " sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256//AAAA", "/etc/ssl/key.pem", "sha256//\u{1B}[2J",
    ])
    func `A malformed pin is named with its host`(pin: String) throws {
        let error = try #require(failure(["api.example.com": [one, pin]]))
        #expect(error.code == .tlsConfiguration && error.message.contains("of api.example.com is malformed"))
        #expect(!error.message.contains("\u{1B}"))
    }

    @Test(arguments: [
        "", "*", "*.", "*..", ".", "..", ".example.com", "https://example.com", "example.com:443", "example.com/x", "a b", "a\0b",
        "*.127.0.0.1", "*.::1", "[::1", "*.*.example.com", "a.*.example.com", "user@example.com", "*.[::1]",
    ])
    func `A host that no URL can have is named`(host: String) throws {
        let error = try #require(failure([host: [one]]))
        #expect(error.code == .tlsConfiguration && error.message.hasPrefix("'\(host)' is not a host"), "\(error)")
    }

    @Test func `A host without pins, or given twice, is named`() throws {
        #expect(failure(["api.example.com": []])?.message.hasPrefix("the host api.example.com has an empty list") == true)
        #expect(
            failure(["a.example": [one], "A.example": [two]])?.message.hasPrefix("the host a.example has pins twice") == true)
        #expect(failure(["*.a.example": [one], "a.example": [two]]) == nil)
    }
}
