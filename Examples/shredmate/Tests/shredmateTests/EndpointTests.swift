import Foundation
import NevodSessions
import Testing

@testable import shredmate

/// The whole table of the API, with an HTTP request for each row.
@MainActor
struct EndpointTests {
    /// Method, path, and whether the request has a bearer.
    private static let table = [
        "POST /auth/login", "POST /auth/register", "POST /auth/refresh", "POST /auth/logout ✓", "GET /auth/me ✓",
        "GET /riders/me ✓", "PATCH /riders/me ✓", "DELETE /riders/me ✓", "POST /riders/me/avatar ✓",
        "GET /riders/me/base-location ✓", "PUT /riders/me/base-location ✓", "GET /riders/me/sports ✓",
        "POST /riders/me/sports/bmx%2Fstreet ✓", "DELETE /riders/me/sports/bmx%2Fstreet ✓", "GET /sports ✓",
    ]

    @Test func `Each endpoint of the table`() async throws {
        let fixture = try Fixture()
        let (auth, riders) = (fixture.module.authService, fixture.module.riderService)

        let registered = try await auth.register(email: "eve@example.com", password: "open sesame", name: "Eve")
        #expect(registered.user.name == "Eve")
        let me = try await auth.fetchUser()
        #expect(me == registered.user)

        var rider = try await riders.fetchMyRider()
        #expect(rider.type == .rider && rider.description == nil && rider.avatarUrl == nil)
        rider = try await riders.updateMyRider(UpdateRiderRequest(type: .mentor, description: "Expert"))
        #expect(rider.type == .mentor && rider.description == "Expert" && rider.name == "Eve")
        rider = try await riders.updateMyRider(UpdateRiderRequest(name: "Eva"))
        #expect(rider.type == .mentor && rider.description == "Expert" && rider.name == "Eva")

        let picture = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let receipt = try await riders.uploadAvatar(picture)
        #expect(receipt.size == picture.count)
        #expect(try await riders.fetchMyRider().avatarUrl == receipt.avatarUrl)

        await #expect(throws: NetworkError.clientError(404)) { try await riders.fetchBaseLocation() }
        let home = BaseLocation(latitude: 47.37, longitude: 8.54, name: "Zürich")
        #expect(try await riders.updateBaseLocation(home) == home)
        #expect(try await riders.fetchBaseLocation() == home)

        let sports = try await riders.fetchAllSports()
        let street = try #require(sports.first { $0.id == "bmx/street" })
        #expect(try await riders.saveSport(id: street.id, level: .beginner) == RiderSport(sport: street, level: .beginner))
        #expect(try await riders.saveSport(id: street.id, level: .expert).level == .expert)
        #expect(try await riders.fetchMyRiderSports() == [RiderSport(sport: street, level: .expert)])
        try await riders.removeSport(id: street.id)
        #expect(try await riders.fetchMyRiderSports().isEmpty)

        try await fixture.backend.expireTokens()
        #expect(try await auth.fetchUser() == me)
        try await auth.logout()
        #expect(await auth.isAuthenticated() == false)

        try await auth.login(email: "eve@example.com", password: "open sesame")
        try await riders.deleteMyRider()
        await #expect(throws: NetworkError.self) { try await auth.login(email: "eve@example.com", password: "open sesame") }

        let seen = try await fixture.backend.seen()
        let rows = Set(seen.requests.map { "\($0.method) \($0.path.dropFirst("/api/v1".count))\($0.bearer == nil ? "" : " ✓")" })
        #expect(rows == Set(Self.table))
        #expect(seen.requests.compactMap(\.file?.size) == [picture.count])
        #expect(seen.refreshes == 1 && seen.reuses == 0 && seen.logins == 2)
        let expired = seen.requests.filter { $0.status == 401 && $0.bearer != nil }
        #expect(expired.map(\.path) == ["/api/v1/auth/me"])
        #expect(try await TokenJudge.verdict(on: seen) == "\(seen.requests.count - 6) served, 1 rejected")
    }

    /// Decoded dates and JSON match the backend's.
    @Test func `A user's date`() async throws {
        let fixture = try await Fixture.loggedIn()
        let user = try await fixture.module.authService.fetchUser()
        #expect(abs(user.createdAt.timeIntervalSinceNow) < 3600)
    }

    /// The judge can reject a token.
    @Test func `The judge of tokens finds what is wrong`() async throws {
        let fixture = try await Fixture.loggedIn()
        _ = try await fixture.module.authService.fetchUser()
        let seen = try await fixture.backend.seen()
        #expect(try await TokenJudge.verdict(on: seen) == "1 served, 0 rejected")

        func verdict(_ change: (inout Backend.Seen.Request) -> Void) async throws -> String {
            var changed = seen
            change(&changed.requests[0])
            return try await TokenJudge.verdict(on: changed)
        }
        #expect(try await verdict { $0.clock += 3600 }.contains("an expired token"))
        #expect(try await verdict { $0.bearer? += "x" }.contains("no valid token"))
        #expect(try await verdict { $0.bearer = nil }.contains("without a bearer"))
        #expect(try await verdict { $0.path = "/api/v1/auth/login" }.contains("needs none"))
    }
}
