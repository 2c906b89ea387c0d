import NevodSessions

struct User: Codable, Sendable {
    let name: String
}

struct Sport: Codable, Sendable {
    let name: String
}

struct AuthResponse: Codable, Sendable {
    let accessToken: String
    let refreshToken: String
    let user: User
}

struct Avatar: Codable, Sendable {
    let bytes: Int
}

enum AuthAPI {
    private struct Credentials: Encodable {
        let email: String
        let password: String
        var name: String?
    }

    static func login(email: String, password: String) -> Endpoint<AuthResponse> {
        .post("/auth/login", body: Credentials(email: email, password: password))
    }

    static func register(email: String, password: String, name: String) -> Endpoint<AuthResponse> {
        .post("/auth/register", body: Credentials(email: email, password: password, name: name))
    }

    static func logout() -> Endpoint<EmptyResponse> { .post("/auth/logout", auth: .bearerToken) }

    static func me() -> Endpoint<User> { .get("/auth/me", auth: .bearerToken) }
}

enum SportsAPI {
    static func all() -> Endpoint<[Sport]> { .get("/sports", auth: .bearerToken) }

    static func remove(_ name: String) -> Endpoint<EmptyResponse> { .delete("/sports/\(name)", auth: .bearerToken) }

    static func upload(_ image: [UInt8]) -> Endpoint<Avatar> {
        .uploadMultipart(
            "/avatar", multipart: MultipartFormData(fileData: image, fileName: "photo.jpg", mimeType: "image/jpeg"),
            auth: .bearerToken)
    }
}
