// Endpoints of one's own
import Foundation
import NevodSessions

struct Trail: Codable {
    let name: String
}

struct NewTrail: Codable {
    let name: String
}

struct PhotoReceipt: Codable {
    let id: String
}

func plainGet(_ client: some APIClienting) async throws {
    let trails = Endpoint<Trail>.get("/trails/first", auth: .bearerToken)
    let trail = try await client.send(trails)
    _ = trail
}

func postWithABody(_ client: some APIClienting) async throws {
    let creation = Endpoint<Trail>.post(
        "/trails",
        body: NewTrail(name: "Blue line"),
        auth: .bearerToken
    )
    let trail = try await client.send(creation)
    _ = trail
}

func multipart(_ client: some APIClienting, photo: Data) async throws {
    let upload = Endpoint<PhotoReceipt>.uploadMultipart(
        "/photos",
        multipart: MultipartFormData(
            fileData: photo,
            fileName: "trail.png",
            mimeType: "image/png"
        ),
        auth: .bearerToken
    )
    let receipt = try await client.send(upload)
    _ = receipt
}
