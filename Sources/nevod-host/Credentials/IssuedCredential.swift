import NevodHost
import NevodSupport

/// A credential as a scheme, or `-u`, wrote it on a request.
struct IssuedCredential: Sendable {
    /// The header lines that were written, in their order.
    let lines: [HTTPHeaders.Element]
    /// The URL as it would be sent, including query items that were added.
    let url: String
    let isInURL: Bool
    /// The expiry; nil if it is unknown.
    let expiresAt: UnixTime?
    /// Names the writer, for errors.
    let writer: String

    /// The forms that other programs know.
    enum Form {
        /// `Authorization: Bearer TOKEN` (RFC 6750 §2.1)
        case bearer(String)
        /// `Authorization: Basic …` (RFC 7617)
        case basic(user: String, password: String)
        /// Another scheme of `Authorization`, and the text after it.
        case authorization(scheme: String, String)
        /// Another header line.
        case field(name: String, value: String)
    }

    /// - Throws: ``UnusableCredentialError`` unless the credential is exactly one line.
    func form() throws -> Form {
        guard !isInURL else {
            throw UnusableCredentialError(
                "\(writer) writes its credential into the URL, which only nevod-host header --format json and --format curl can pass on"
            )
        }
        guard let line = lines.first, lines.count == 1 else {
            throw UnusableCredentialError(
                lines.isEmpty
                    ? "\(writer) adds no credential to requests for \(url)"
                    : "\(writer) writes several lines (\(lines.map(\.name).joined(separator: ", "))), which only nevod-host header can pass on"
            )
        }
        guard line.name.lowercased() == "authorization" else { return .field(name: line.name, value: line.value) }
        let word = line.value.utf8.prefix { $0 != UInt8(ascii: " ") }
        let rest = String(decoding: line.value.utf8[word.endIndex...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        let scheme = String(decoding: word, as: UTF8.self)
        switch scheme.lowercased() {
        case "bearer": return .bearer(rest)
        case "basic":
            guard let bytes = Base64.decoded(rest, .any), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
                let user = String(validating: bytes[..<colon], as: UTF8.self),
                let password = String(validating: bytes[(colon + 1)...], as: UTF8.self)
            else { throw UnusableCredentialError("\(writer) writes Basic credentials that can't be decoded (RFC 7617 §2)") }
            return .basic(user: user, password: password)
        default: return .authorization(scheme: scheme, rest)
        }
    }

    /// Returns the credential for programs that know only Basic authentication: a token is sent as a password.
    ///
    /// - Parameter user: the name to give with a token.
    func userAndPassword(user: String) throws -> (user: String, password: String) {
        switch try form() {
        case .bearer(let token): return (user, token)
        case .basic(let user, let password): return (user, password)
        case .authorization(let scheme, _):
            throw UnusableCredentialError("\(writer) writes Authorization: \(scheme), but a user name and a password are needed")
        case .field(let name, _):
            throw UnusableCredentialError(
                "\(writer) writes the line \(name), but a user name and a password are needed; nevod-host header prints the line")
        }
    }

    /// Returns the token without the name of its scheme.
    func token() throws -> String {
        switch try form() {
        case .bearer(let token), .authorization(_, let token): return token
        case .field(let name, let value):
            guard name.lowercased() != "cookie" else {
                throw UnusableCredentialError("\(writer) writes a cookie, which isn't a token; nevod-host header prints its line")
            }
            return value
        case .basic: throw UnusableCredentialError("\(writer) writes a user name and a password, but a token is needed")
        }
    }

    /// The expiry in the format of RFC 3339, in UTC.
    var expiryText: String? { expiresAt.map(StoredSession.text) }
}

/// Reports a credential that can't be given to another program in the form that the program needs.
struct UnusableCredentialError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
