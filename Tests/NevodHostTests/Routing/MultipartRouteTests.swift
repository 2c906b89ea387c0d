import Foundation
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct MultipartRouteTests {
    private struct Part: Decodable, Equatable {
        let name: String
        let filename: String?
        let type: String?
        let content: String
    }

    /// Parses a form with Python's standard library.
    private func parts(_ request: ScriptedServer.Request) throws -> [Part] {
        let script = """
            import email, email.policy, json, sys
            head = b"Content-Type: " + sys.argv[1].encode() + b"\\r\\n\\r\\n"
            form = email.message_from_bytes(head + open(sys.argv[2], "rb").read(), policy=email.policy.HTTP.clone(utf8=True))
            assert form.is_multipart() and not form.defects
            print(json.dumps([{
                "name": part.get_param("name", header="Content-Disposition"), "filename": part.get_filename(),
                "type": part["Content-Type"], "content": part.get_payload(decode=True).hex()} for part in form.iter_parts()]))
            """
        let folder = try TemporaryFolder()
        let output = try Command.python(script, [request["Content-Type"] ?? "", folder.write("body", request.body)]).joined()
        return try JSONDecoder().decode([Part].self, from: Data(output.utf8))
    }

    private let server: ScriptedServer
    private let provider: NetworkProvider

    init() throws {
        server = try ScriptedServer()
        provider = .test(server)
    }

    @Test func `A form has its fields, bytes and files`() async throws {
        let folder = try TemporaryFolder()
        let large = [UInt8]((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var builder = MultipartFormDataBuilder()
        builder.addTextField(name: "title", value: "Sommer & co")
        builder.addImage(name: "photos", filename: "1.jpg", data: [0xFF, 0xD8], type: .jpeg)
        builder.addFile(name: "meta", filename: "i.json", data: Array("{}".utf8), mimeType: "application/json")
        builder.addFile(name: "photos", path: try folder.write("large.bin", large))
        builder.addPart(FormDataPart(name: "raw", data: [1, 2, 3]))
        let route = MultipartRoute<EmptyResponse, Service>(
            endpoint: "/albums", domain: .api, method: .put, queryParameters: ["n": "1"], formData: builder)
        _ = try await provider.perform(route)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT" && request.target == "/albums?n=1")
        #expect(
            try parts(request) == [
                Part(name: "title", filename: nil, type: nil, content: hex("Sommer & co".utf8)),
                Part(name: "photos", filename: "1.jpg", type: "image/jpeg", content: "ffd8"),
                Part(name: "meta", filename: "i.json", type: "application/json", content: "7b7d"),
                Part(name: "photos", filename: "large.bin", type: "application/octet-stream", content: hex(large)),
                Part(name: "raw", filename: nil, type: "application/octet-stream", content: "010203"),
            ])
    }

    @Test func `The short forms build the same parts`() async throws {
        let folder = try TemporaryFolder()
        typealias Upload = MultipartRoute<EmptyResponse, Service>
        let fields = ["z": "1", "a": "2"]
        let routes = [
            Upload.uploadFile(
                endpoint: "/u", domain: .api, filename: "d.pdf", fileData: [1], mimeType: "application/pdf",
                additionalFields: fields),
            Upload.uploadFile(
                endpoint: "/u", domain: .api, path: try folder.write("x.txt", [2]), filename: "y.txt", mimeType: "text/plain",
                additionalFields: fields),
            Upload.uploadImage(
                endpoint: "/u", domain: .api, filename: "a.png", imageData: [3], imageType: .png, additionalFields: fields),
        ]
        for route in routes { _ = try await provider.perform(route) }
        let before = [
            Part(name: "a", filename: nil, type: nil, content: "32"), Part(name: "z", filename: nil, type: nil, content: "31"),
        ]
        #expect(
            try server.requests.map { try parts($0) } == [
                before + [Part(name: "file", filename: "d.pdf", type: "application/pdf", content: "01")],
                before + [Part(name: "file", filename: "y.txt", type: "text/plain", content: "02")],
                before + [Part(name: "image", filename: "a.png", type: "image/png", content: "03")],
            ])
    }

    @Test func `A missing file is named, and nothing is sent`() async throws {
        let route = MultipartRoute<EmptyResponse, Service>.uploadFile(endpoint: "/u", domain: .api, path: "/nowhere/x")
        let error = await #expect(throws: NetworkError.self) { try await provider.perform(route) }
        if case .invalidRequest(let reason) = error {
            #expect(reason.problem == "/nowhere/x: No such file or directory")
        } else {
            Issue.record("\(String(describing: error))")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `Progress reports how much of a file has been sent`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("large.bin", [UInt8](repeating: 7, count: 500_000))
        let seen = Collected<TransferProgress>()
        _ = try await provider.perform(
            MultipartRoute<EmptyResponse, Service>.uploadFile(endpoint: "/u", domain: .api, path: path),
            uploadProgress: { seen.append($0) })
        let sent = Int64(try #require(server.requests.first).body.count)
        #expect(sent > 500_000 && seen.values.count > 2)
        #expect(seen.values.allSatisfy { $0.total == sent })
        #expect(seen.values.map(\.completed) == seen.values.map(\.completed).sorted())
        #expect(seen.values.last?.completed == sent && seen.values.last?.fraction == 1)
    }
}
