import Foundation
import NevodSessions

/// The endpoints of the logged-in rider.
enum RiderAPI {
    static func me() -> Endpoint<Rider> {
        .get("/riders/me", auth: .bearerToken)
    }

    static func update(_ changes: UpdateRiderRequest) -> Endpoint<Rider> {
        .patch("/riders/me", body: changes, auth: .bearerToken)
    }

    /// Deletes the account.
    static func delete() -> Endpoint<EmptyResponse> {
        .delete("/riders/me", auth: .bearerToken)
    }

    static func uploadAvatar(
        imageData: Data, fileName: String = "avatar.jpg", mimeType: String = "image/jpeg"
    ) -> Endpoint<AvatarUploadResponse> {
        .uploadMultipart(
            "/riders/me/avatar",
            multipart: MultipartFormData(fileData: imageData, fileName: fileName, mimeType: mimeType),
            auth: .bearerToken)
    }

    static func baseLocation() -> Endpoint<BaseLocation> {
        .get("/riders/me/base-location", auth: .bearerToken)
    }

    static func setBaseLocation(_ location: BaseLocation) -> Endpoint<BaseLocation> {
        .put("/riders/me/base-location", body: location, auth: .bearerToken)
    }

    static func sports() -> Endpoint<[RiderSport]> {
        .get("/riders/me/sports", auth: .bearerToken)
    }

    /// Adds a sport, or changes its level. An id with a slash stays one path segment.
    static func setSport(id: Sport.ID, level: SportLevel) -> Endpoint<RiderSport> {
        .post("/riders/me/sports/\(id)", body: SportRequest(level: level), auth: .bearerToken)
    }

    static func removeSport(id: Sport.ID) -> Endpoint<EmptyResponse> {
        .delete("/riders/me/sports/\(id)", auth: .bearerToken)
    }
}
