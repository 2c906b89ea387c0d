import NevodPluginKit
import NevodSupport

@testable import CookieAuth

extension Fuzzer {
    /// A sign as a person would write it, and a response: a number for the status and the type, a header line, and the body.
    ///
    /// The work is the product of both lengths. One of them is a setting's.
    static let cookieSign = Fuzzer("cookie-sign", isLinear: false) { input in
        var input = input
        let number = Int(input.byte())
        let parts = input.array.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let (text, line, body) = (parts[0], parts.count > 1 ? parts[1] : "", parts.count > 2 ? parts[2] : "")
        guard let sign = try? Sign(text, of: "success", namesMember: number % 2 == 1),
            let url = PageURL("https://h.example/login?a=b")
        else { return }
        expect(!sign.conditions.isEmpty, "a sign has a condition")
        let answer = Answer(
            status: statuses[number % statuses.count], url: url,
            headers: [("Content-Type", types[number / 2 % types.count]), ("Location", line), ("X-Line", line)],
            body: Secret(body),
            newCookies: [line], deletedCookies: [line, "sid"])
        let holds = sign.holds(in: answer)
        expect(sign.holds(in: answer) == holds, "a sign has no memory")
        if sign.conditions.count == 1, sign.conditions.allSatisfy({ !$0.isNegated }),
            let negated = try? Sign("!\(text)", of: "success", namesMember: number % 2 == 1)
        {
            expect(
                negated.conditions.count != 1 || negated.holds(in: answer) != holds, "a negated sign holds in all other answers")
        }
        guard let words = ServerWords.words(of: answer, hiding: [Secret(line)]) else { return }
        expect(words.utf8.count <= 210 && !words.isEmpty, "the server's words are bounded")
        expect(
            line.isEmpty || Array(words.utf8).firstRange(ofBytes: Array(line.utf8)) == nil, "the server's words hide the password"
        )
        expect(
            words.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }, "words control no terminal"
        )
    }

    private static let statuses = [200, 302, 303, 401, 403, 419, 422, 500]
    private static let types = ["application/json", "text/html; charset=utf-8", "text/plain"]

    /// The type of a request's body, the name of a field to add to it, and the body.
    static let formBody = Fuzzer("form-body") { input in
        let parts = input.array.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, let form = FormBody(contentType: String(decoding: parts[0], as: UTF8.self))
        else {
            return
        }
        let (name, body) = (String(decoding: parts[1], as: UTF8.self), Array(parts[2]))
        guard let whole = form.adding(name, "a&b=\"c\"", to: body) else { return }
        expect(whole.count > body.count && whole.suffix(body.count).elementsEqual(body), "a body stays as the caller wrote it")
        expect(form.adding(name, "other", to: whole) == nil, "a field is added once")
        if case .multipart(let boundary) = form {
            expect(whole.starts(with: Array("--\(boundary)\r\n".utf8)), "a part begins with the boundary")
        }
    }
}
