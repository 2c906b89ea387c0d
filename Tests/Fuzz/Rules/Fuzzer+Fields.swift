import CCurl
import NevodSupport

@testable import NevodHost
@testable import NevodPluginKit

extension Fuzzer {
    /// Lines of WWW-Authenticate.
    static let challenge = Fuzzer("challenge") { input in
        for challenge in Challenge.parse(input.lines) {
            expect(!challenge.scheme.isEmpty, "a challenge has a scheme")
            expect(challenge.token68 == nil || challenge.parameters.isEmpty, "a challenge has a token68 or parameters")
            expect(Challenge.parse([text(of: challenge)]) == [challenge], "a challenge is read as it was written")
        }
    }

    private static func text(of challenge: Challenge) -> String {
        let parameters = challenge.parameters.map { parameter in
            let escaped = parameter.value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return "\(parameter.name)=\"\(escaped)\""
        }
        return [challenge.scheme, challenge.token68 ?? parameters.joined(separator: ", ")].joined(separator: " ")
    }

    /// Lines of Link.
    static let link = Fuzzer("link") { input in
        var headers = HTTPHeaders()
        for line in input.lines { headers.add("Link", line, by: .host) }
        guard let target = LinkHeader.next(in: headers) else { return }
        var alone = HTTPHeaders()
        alone.add("Link", "<\(target)>; rel=\"next\"", by: .host)
        expect(LinkHeader.next(in: alone) == target, "a link is read as it was written")
        if let request = try? HTTPRequest(.get, "https://app.example.com/a?b") {
            _ = try? HTTPRequest(.get, request.resolving(target))
        }
    }

    /// A date of a field, or of a cookie.
    static let date = Fuzzer("date") { input in
        let text = input.text
        if let time = HTTPDate.parse(text) {
            let written = HTTPDate.text(time)
            expect(HTTPDate.parse(written)?.seconds == time.seconds, "\(written) is read as it was written")
            expect(curl_getdate(written, nil) == time.seconds, "libcurl reads the same time in \(written)")
        }
        if let seconds = CookieDate.unixSeconds(text) {
            let written = HTTPDate.text(UnixTime(seconds: seconds))
            expect(
                CookieDate.unixSeconds(written) == UnixTime(seconds: seconds).seconds, "\(written) is read as a cookie's, too")
        }
    }
}
