import Foundation
import NevodSessions

/// The logged-in rider's profile, at the server.
struct RiderService: Sendable {
    private let client: any APIClienting

    init(client: some APIClienting) {
        self.client = client
    }

    func fetchMyRider() async throws -> Rider {
        try await client.send(RiderAPI.me())
    }

    func updateMyRider(_ changes: UpdateRiderRequest) async throws -> Rider {
        try await client.send(RiderAPI.update(changes))
    }

    /// Deletes the account. Its session ends with it.
    func deleteMyRider() async throws {
        _ = try await client.send(RiderAPI.delete())
    }

    func uploadAvatar(_ imageData: Data, progress: ProgressHandler? = nil) async throws -> AvatarUploadResponse {
        try await client.send(RiderAPI.uploadAvatar(imageData: imageData), uploadProgress: progress)
    }

    func fetchBaseLocation() async throws -> BaseLocation {
        try await client.send(RiderAPI.baseLocation())
    }

    func updateBaseLocation(_ location: BaseLocation) async throws -> BaseLocation {
        try await client.send(RiderAPI.setBaseLocation(location))
    }

    func fetchAllSports() async throws -> [Sport] {
        try await client.send(SportsAPI.all())
    }

    func fetchMyRiderSports() async throws -> [RiderSport] {
        try await client.send(RiderAPI.sports())
    }

    func saveSport(id: Sport.ID, level: SportLevel) async throws -> RiderSport {
        try await client.send(RiderAPI.setSport(id: id, level: level))
    }

    func removeSport(id: Sport.ID) async throws {
        _ = try await client.send(RiderAPI.removeSport(id: id))
    }
}
