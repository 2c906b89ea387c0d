import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests parameters and bodies of a scheme in Swift, loaded by the host through the contract.
struct RequestParametersTests {
    /// Puts the body between two brackets, and turns a `!` into a failure.
    private struct Bracketed: BodyWrapper {
        private var hasBegun = false

        mutating func wrap(_ piece: Span<UInt8>, isLast: Bool, into output: BodyOutput) throws(SchemeError) {
            for index in piece.indices where piece[index] == UInt8(ascii: "!") { throw .unavailable("no shouting") }
            if !hasBegun { output.write([UInt8(ascii: "[")]) }
            hasBegun = true
            output.write(piece)
            if isLast { output.write([UInt8(ascii: "]")]) }
        }
    }

    private struct Scoped: AuthScheme {
        static let id = "scoped"
        static let title = "Scoped"
        static let parameters = [
            ParameterDeclaration("scope", isRepeatable: true, help: "What the request may do"),
            ParameterDeclaration("acr", .choice, choices: ["low", "high"], default: "low", help: ""),
            ParameterDeclaration("body", help: ""),
        ]

        var needs: Needs { [.body, .bodyReplacement] }

        func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
            var all: [String] = []
            request.forEachParameter { all.append("\(Self.string($0))=\(Self.string($1))") }
            edits.setHeader("X-All", all.joined(separator: "|"))
            if let acr = request.parameter("acr") { edits.setHeader("X-Acr", acr) }
            edits.setHeader("X-Age", request.parameter("age") == nil ? "none" : "one")
            guard let body = request.parameter("body") else { return }
            switch Self.string(body) {
            case "wrap": edits.wrapBody(length: UInt64(request.body.count + 2), with: Bracketed())
            default: edits.replaceBody(body)
            }
        }

        private static func string(_ bytes: Span<UInt8>) -> String {
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    private struct Login: FlowScheme {
        static let id = "login"
        static let title = "Login"
        static let isInteractive = false
        static let parameters = [ParameterDeclaration("scope", isRepeatable: true, help: "")]

        func login(_ flow: AuthFlow) async throws(SchemeError) -> NevodPluginKit.IssuedToken {
            NevodPluginKit.IssuedToken(
                Secret("\(flow.parameters("scope")) \(flow.parameter("scope") ?? "-") \(flow.parameter("acr") ?? "-")"))
        }

        func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) { edits.setHeader("X-Token", token) }
    }

    private static let export = PluginExport(Scoped.self, Login.self, name: "Test", version: "1", vendor: "")

    private func send(_ parameters: SchemeParameters, _ body: String) async throws -> (HTTPRequest?, body: String) {
        let seen = Collected<HTTPRequest>()
        let received = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                received.append(String(decoding: request.body, as: UTF8.self))
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let instance = try Plugin(builtIn: Self.export.table).scheme("scoped").makeInstance()
        let provider = NetworkProvider(session: CurlSession(), interceptor: TokenInterceptor(instance.token)) { seen.append($0) }
        _ = try await provider.send(
            HTTPRequest(.put, server.url, body: .bytes(Array(body.utf8))), RequestOptions(schemeParameters: parameters))
        return (seen.values.first, received.values.first ?? "")
    }

    @Test func `Parameters are declared as in the table`() throws {
        let parameters = try Plugin(builtIn: Self.export.table).scheme("scoped").parameters
        #expect(parameters.map(\.name) == ["scope", "acr", "body"])
        #expect(parameters.map(\.kind) == [.text, .choice, .text])
        #expect(parameters.map(\.isRepeatable) == [true, false, false])
        #expect(parameters[1].choices == ["low", "high"])
        #expect(parameters[1].defaultValue == "low")
        #expect(parameters[0].help == "What the request may do")
    }

    @Test func `A scheme reads its parameters from the request`() async throws {
        let (request, _) = try await send(["acr": "high", "scope": "a", "scope": "b"], "x")
        #expect(request?.headers["X-All"] == "scope=a|scope=b|acr=high")
        #expect(request?.headers["X-Acr"] == "high")
        #expect(request?.headers["X-Age"] == "none")
        #expect(try await send([:], "x").0?.headers["X-All"] == "acr=low")
    }

    @Test func `A flow reads the parameters of the request that needs its token`() async throws {
        let instance = try Plugin(builtIn: Self.export.table).scheme("login").makeInstance()
        let session = SchemeSession(instance, storage: InMemoryStorage())
        for (parameters, token) in [([:], "[] - -"), (["scope": "a", "scope": "b"], "[\"a\", \"b\"] b -")]
            as [(SchemeParameters, String)]
        {
            try await session.login(parameters: parameters)
            #expect(try await session.tokenStorage(for: parameters).load()?.issued.bytes == Secret(token))
        }
    }

    @Test func `A scheme replaces or wraps the body`() async throws {
        #expect(try await send(["body": "other"], "plain").body == "other")
        #expect(try await send(["body": "wrap"], "plain").body == "[plain]")
        let error = await #expect(throws: NetworkError.self) { try await send(["body": "wrap"], "plain!") }
        let description = error.map { "\($0)" } ?? ""
        #expect(description.contains("the scheme \"scoped\" ") && description.contains(": no shouting"), "\(description)")
    }
}
