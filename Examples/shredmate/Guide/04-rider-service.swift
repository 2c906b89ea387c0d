// RiderService
import Foundation

func workWithTheProfile(_ riders: RiderService, photo: Data) async throws {
    let me = try await riders.fetchMyRider()

    let changed = try await riders.updateMyRider(
        UpdateRiderRequest(type: .mentor, description: "Teaches beginners")
    )

    let picture = try await riders.uploadAvatar(photo)

    let all = try await riders.fetchAllSports()
    let mine = try await riders.fetchMyRiderSports()
    _ = (me, changed, picture, all, mine)
}
