@testable import NevodHost

extension Fuzzer {
    private static let headLimit = 64 << 10

    /// The head of a response.
    static let headers = Fuzzer("headers") { input in
        guard let first = head(input.bytes) else { return }
        let headers = first.headers
        // A line takes 3 bytes in addition to its name and value.
        expect(headers.storage.count <= input.bytes.count * 4 + 64, "headers need no more memory than what was received")
        for line in headers { expect(!line.value.utf8.contains { $0 == 0x0A || $0 == 0x0D }, "a value has no line break") }

        var written = Array("HTTP/1.1 \(first.status) \(first.reason)\r\n".utf8)
        for line in headers.lines {
            written += headers.storage[line.name] + [UInt8(ascii: ":")] + headers.storage[line.value] + [0x0D, 0x0A]
        }
        written += [0x0D, 0x0A]
        guard let again = written.withUnsafeBytes({ head($0) }) else { return expect(false, "a written head is read again") }
        expect(again.status == first.status, "a status is read as it was written")
        expect(again.headers.elementsEqual(headers), "header lines are read as they were written")
        read(first)
    }

    /// Reads the fields that decide about retries, the cache and the clock.
    private static func read(_ response: HTTPResponse) {
        guard let request = try? HTTPRequest(.get, "https://app.example.com/") else { return }
        let now = UnixTime(seconds: 1_800_000_000)
        if let wait = response.retryAfter(now: now) { expect(wait >= .zero, "a wait isn't negative") }
        let stored = StoredResponse(response, body: [], requestedAt: now, receivedAt: now)
        expect(stored.lifetime() >= .zero && stored.initialAge >= .zero, "ages aren't negative")
        let later = now + .seconds(1 << 31)
        if CachePolicy(request).mayServe(stored, at: later) { expect(stored.isFresh(at: later), "a stale response isn't served") }
        _ = stored.response(at: later)
        _ = StoredHeaders.updated(stored.headers, by: response.headers)
        expect(
            VaryKey(of: response.headers, for: request, .ofProcess)?.matches(request, .ofProcess) ?? true,
            "a request matches its own response")
        ServerClocks(.system).learn(from: response, to: request.origin, sentAt: 0, nil)
    }

    private static func head(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse? {
        var head = ResponseHead(limit: headLimit)
        var rest = bytes.bindMemory(to: UInt8.self)[...]
        while !rest.isEmpty, !head.isComplete {
            let line = rest[..<(rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex)]
            guard (try? head.receive(UnsafeBufferPointer(rebasing: line))) != nil else { return nil }
            rest = rest[line.endIndex...]
        }
        return head.isComplete ? head.response(.bytes([])) : nil
    }

    /// The head of a browser's request at a redirect URI.
    /// A stored response in a cache's file, after unsealing.
    static let cachedResponse = Fuzzer("cached-response") { input in
        guard let head = StoredHead(input.array) else { return }
        let again = StoredHead(head.encoded)
        expect(again?.encoded == head.encoded, "a head is read as it was written")
        let stored = head.response([])
        expect(stored.lifetime() >= .zero && stored.initialAge >= .zero, "ages aren't negative")
        expect(stored.age(at: stored.receivedAt) == stored.initialAge, "the age counts from the arrival")
    }

    static let redirect = Fuzzer("redirect") { input in
        var input = input
        let uri = RedirectURI(path: "/callback", isFormPost: input.byte() & 1 == 1)
        let limit = 4096
        guard let head = try? RedirectHead(input.bytes, uri, authorities: ["127.0.0.1:8080"], largestBody: limit) else { return }
        expect(head.target == uri.path || head.target.hasPrefix("\(uri.path)?"), "the target has the redirect URI's path")
        expect((0...limit).contains(head.bodyLength), "a body is within its limit")
    }
}
