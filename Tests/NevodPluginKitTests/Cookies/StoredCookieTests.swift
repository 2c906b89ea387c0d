import NevodSupport
import Testing

/// Tests the rules that the host's jar and the cookie scheme share.
struct StoredCookieTests {
    private struct Stored: StoredCookie, Equatable {
        var name = "a"
        var value = ""
        var domain = "h.example"
        var isHostOnly = true
        var path = "/"
        var isSecure = false
        var expiry: Int64?
        var creation = 0

        func replacing(_ old: Stored) -> Stored {
            var cookie = self
            cookie.creation = old.creation
            return cookie
        }
    }

    private func applied(_ store: [Stored], _ cookie: Stored, overTLS: Bool = true) -> (CookieChange<Stored>, [Stored]) {
        var store = store
        return (store.set(cookie, overTLS: overTLS, at: 100), store)
    }

    @Test func `A new value takes the place and the time of creation of the old one`() {
        let old = [Stored(value: "1", creation: 1), Stored(name: "b", creation: 2)]
        let (change, store) = applied(old, Stored(value: "2", isHostOnly: false, creation: 3))
        #expect(change.isStored)
        #expect(store == [Stored(value: "2", isHostOnly: false, creation: 1), old[1]])
        let others = [Stored(name: "A"), Stored(domain: "x.h.example"), Stored(path: "/a")]
        #expect(others.allSatisfy { self.applied(old, $0).1 == old + [$0] })
    }

    @Test func `A cookie that has expired deletes the old one, and is not stored`() {
        for expiry in [Int64.min, 0, 100] {
            let (change, store) = applied([Stored(value: "1")], Stored(value: "2", expiry: expiry))
            guard case .deleted(let removed) = change else {
                Issue.record("\(change)")
                continue
            }
            #expect(removed?.value == "1" && store.isEmpty && !change.isStored)
            #expect(self.applied([], Stored(expiry: expiry)).1.isEmpty)
        }
        #expect(applied([], Stored(expiry: 101)).1.count == 1)
    }

    @Test func `A cookie that arrived without TLS can't hide, replace or delete a secure one`() {
        let secure = [Stored(domain: "h.example", isHostOnly: false, path: "/app", isSecure: true)]
        let hiding = [
            Stored(path: "/app"), Stored(path: "/app/deeper"), Stored(domain: "x.h.example", path: "/app"),
            Stored(domain: "example", path: "/app"), Stored(path: "/app", expiry: 0),
        ]
        for cookie in hiding {
            let (change, store) = applied(secure, cookie, overTLS: false)
            guard case .refused = change else {
                Issue.record("\(cookie)")
                continue
            }
            #expect(store == secure && self.applied(secure, cookie).1 != secure)
        }
        let others = [
            Stored(), Stored(path: "/application"), Stored(name: "b", path: "/app"), Stored(domain: "g", path: "/app"),
        ]
        for cookie in others {
            #expect(applied(secure, cookie, overTLS: false).1 == secure + [cookie])
        }
    }

    @Test func `Beyond a limit, the oldest cookie that isn't secure is removed first`() {
        var store = [Stored(name: "other"), Stored(name: "1", isSecure: true), Stored(name: "2"), Stored(name: "3")]
        let isCounted = { (cookie: Stored) in cookie.name != "other" }
        let removed = [3, 2, 0, 0, 0].map { store.limit(to: $0, where: isCounted)?.name }
        #expect(removed == [nil, "2", "3", "1", nil])
        #expect(store.map(\.name) == ["other"])
    }

    @Test func `Longer paths are sent first, and earlier cookies first among equals`() {
        let store = ["/", "/a/b", "/é", "/a", "/b/a", "/"].enumerated().map { Stored(name: "\($0)", path: $1) }
        #expect(store.inSendingOrder.map(\.name) == ["1", "4", "2", "3", "0", "5"])
    }

    @Test(
        arguments: [
            ("a=b", "www.h.example", "www.h.example", true), ("a=b; Domain=h.example", "h.example", "h.example", false),
            ("a=b; Domain=.H.example", "www.h.example", "h.example", false),
            ("a=b; Domain=127.0.0.1", "127.0.0.1", "127.0.0.1", true),
            ("a=b; Domain=suffix", "suffix", "suffix", true), ("a=b; Domain=suffix", "h.suffix", nil, false),
            ("a=b; Domain=other.example", "h.example", nil, false), ("a=b; Domain=www.h.example", "h.example", nil, false),
            ("a=b; Domain=invalid", "invalid", nil, false),
            ("__Host-a=b; Secure; Path=/; Domain=h.example", "h.example", nil, false),
            ("__Host-a=b; Secure; Path=/", "h.example", "h.example", true),
        ] as [(String, String, String?, Bool)])
    func `A server sets cookies for itself and its own domains`(
        line: String, host: String, domain: String?, isHostOnly: Bool
    ) throws {
        let scope = try #require(SetCookieLine(line)).scope(
            setBy: host, overTLS: true, canonical: { $0 == "invalid" ? nil : $0.lowercased() }, isPublicSuffix: { $0 == "suffix" }
        )
        #expect(scope?.domain == domain)
        #expect(scope?.isHostOnly == (domain == nil ? nil : isHostOnly))
    }

    @Test func `A secure cookie is set over TLS alone`() throws {
        for (line, overTLS, isSet) in [("a=b; Secure", false, false), ("a=b; Secure", true, true), ("a=b", false, true)] {
            let scope = try #require(SetCookieLine(line)).scope(
                setBy: "h.example", overTLS: overTLS, canonical: { $0 }, isPublicSuffix: { _ in false })
            #expect((scope != nil) == isSet)
        }
    }

    @Test func `Cookies replace others of their names in the one line of a request`() {
        let cookies = [(name: "a", value: "1"), (name: "a", value: "\"2\"")]
        #expect(CookieLine.merging(cookies, into: []) == "a=1; a=\"2\"")
        #expect(CookieLine.merging(cookies, into: ["b=x=y;a=0", "A=3;\ta =4 ; flag"]) == "b=x=y; A=3; flag; a=1; a=\"2\"")
    }
}
