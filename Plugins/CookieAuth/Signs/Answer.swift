internal import NevodPluginKit
internal import NevodSupport

/// A server's response as signs see it: its page or JSON, parsed, and its changes to the session's cookies.
final class Answer {
    let status: Int
    let url: PageURL
    let headers: [(name: String, value: String)]
    let body: Secret
    let type: MediaType
    /// The body as a page; nil for another type, or for a page that wasn't read.
    let page: HTMLPage?
    /// The body as JSON; nil for another type, or for invalid JSON.
    let json: JSONValue?
    /// The reason why a body labelled JSON isn't valid JSON; nil if there is no such problem.
    let jsonProblem: String?
    /// The names of the cookies that the response sets to new values, and of the cookies that it deletes.
    let newCookies: [String]
    let deletedCookies: [String]

    /// - Parameter names: the names for which a page is read; nil to read every page.
    init(
        status: Int, url: PageURL, headers: [(name: String, value: String)], body: Secret, newCookies: [String],
        deletedCookies: [String], names: PageNames? = nil
    ) {
        (self.status, self.url, self.headers, self.body) = (status, url, headers, body)
        (self.newCookies, self.deletedCookies) = (newCookies, deletedCookies)
        type = MediaType.of(headers)
        page = type == .html && names?.mayBe(in: body) != false ? HTMLPage(body) : nil
        (json, jsonProblem) = type == .json && !body.isEmpty ? Self.json(body) : (nil, nil)
    }
}

extension Answer {
    static let redirects = [301, 302, 303, 307, 308]

    private static func json(_ body: Secret) -> (JSONValue?, String?) {
        do throws(JSONError) {
            return (
                try body.withUnsafeBytes { bytes throws(JSONError) in try JSONValue(response: Span(_unsafeBytes: bytes)) }, nil
            )
        } catch {
            return (nil, "\(error)")
        }
    }

    /// The target of a redirect; nil if the response isn't a redirect, or has no valid address.
    var location: PageURL? {
        guard Self.redirects.contains(status) else { return nil }
        return header("Location").flatMap { url.resolving($0) }
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Whether the response is a page with a form that has these fields. An empty name counts as no field.
    func hasForm(with names: [String]) -> Bool {
        guard let page else { return false }
        return page.forms.contains { form in
            names.allSatisfy { name in name.isEmpty || form.fields.contains { $0.name.equals(name) } }
        }
    }
}

/// The types of a response's body that are read.
enum MediaType: Equatable {
    case html, json, other

    static func of(_ headers: [(name: String, value: String)]) -> MediaType {
        let name = essence(of: headers)
        if name.hasSuffix("html") || name.hasSuffix("html+xml") || name.hasSuffix("xhtml+xml") { return .html }
        return name.hasSuffix("json") ? .json : .other
    }

    /// The type without its parameters, in lower case; empty if there is none.
    static func essence(of headers: [(name: String, value: String)]) -> String {
        guard let line = headers.first(where: { $0.name.equalsIgnoringCase("Content-Type") }) else { return "" }
        return String(Substring(line.value.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 })).lowercasedASCII
    }
}

extension String {
    /// Whether both have the same bytes.
    func equals(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// The names of the fields and `meta` elements for which a session's pages are read.
///
/// Most pages have none of these names, and searching the bytes is much cheaper than parsing a page.
struct PageNames: Sendable {
    /// The longest run of ASCII letters and digits in each name, in lower case, because pages may write other characters as
    /// character references.
    private let runs: [[UInt8]]

    init(_ names: [String]) {
        runs = names.map { name in
            let runs = name.utf8.split { !$0.isAlphanumeric }
            let longest = runs.reduce(name.utf8[name.startIndex..<name.startIndex]) { $1.count > $0.count ? $1 : $0 }
            return longest.map { $0.lowercased }
        }
    }

    /// Whether a page may have one of the names. True if a name has no letters and no digits.
    func mayBe(in page: Secret) -> Bool {
        page.withUnsafeBytes { bytes in
            let bytes = bytes.lazy.map { $0.lowercased }
            return runs.contains { bytes.firstRange(ofBytes: $0) != nil }
        }
    }
}
