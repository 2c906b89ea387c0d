import Foundation
import NevodSessions
import Testing

@testable import shredmate

/// Tokens that the server rejects: renewed once for all requests, or not at all.
@MainActor
struct RenewalTests {
    @Test func `100 requests with an expired token share one refresh`() async throws {
        let fixture = try await Fixture.loggedIn()
        let riders = fixture.module.riderService
        try await fixture.backend.expireTokens()
        try await fixture.backend.gather(100)

        let results = await Fixture.atOnce(100) { try await riders.fetchAllSports() }
        #expect(try results.map { try $0.get().count } == Array(repeating: 4, count: 100))

        let seen = try await fixture.backend.seen()
        #expect(seen.refreshes == 1 && seen.reuses == 0)
        let rejected = seen.of("GET", "/sports").filter { $0.status == 401 }
        let served = seen.of("GET", "/sports").filter { $0.status == 200 }
        #expect(rejected.count == 100 && Set(rejected.map(\.bearer)).count == 1)
        #expect(served.count == 100 && Set(served.map(\.bearer)).count == 1)
        let verdict = try await TokenJudge.verdict(on: seen)
        #expect(verdict == "100 served, 100 rejected")
        #expect(fixture.invalidations.value == 0)
    }

    @Test func `An upload is sent again in full`() async throws {
        let fixture = try await Fixture.loggedIn()
        try await fixture.backend.expireTokens()
        let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })
        #expect(try await fixture.module.riderService.uploadAvatar(picture).size == picture.count)
        let seen = try await fixture.backend.seen()
        #expect(seen.of("POST", "/riders/me/avatar").map(\.status) == [401, 200])
        #expect(seen.of("POST", "/riders/me/avatar").last?.file?.size == picture.count)
    }

    /// The second session shows that the first one hasn't reported its end twice.
    @Test func `A refused refresh ends the session once, also for 100 requests`() async throws {
        let fixture = try await Fixture.loggedIn()
        let (auth, riders) = (fixture.module.authService, fixture.module.riderService)
        for ended in 1...2 {
            try await auth.login(email: Backend.email, password: Backend.password)
            try await fixture.backend.forget()
            try await fixture.backend.revokeSessions()
            try await fixture.backend.gather(100)

            let results = await Fixture.atOnce(100) { try await riders.fetchAllSports() }
            for result in results { #expect(throws: NetworkError.unauthorized) { try result.get() } }
            #expect(await eventually { fixture.invalidations.value >= ended })
            #expect(fixture.invalidations.value == ended)
            #expect(await fixture.module.tokenStorage.loadTokens() == nil)
            #expect(await fixture.module.tokenStorage.loadUser() == nil)
            #expect(await auth.isAuthenticated() == false)
            #expect(try await fixture.backend.seen().of("POST", "/auth/refresh").count == 1)
        }
    }

    @Test(arguments: [Backend.Mode.unavailable, .closed])
    func `A refresh that fails for now keeps the user logged in`(_ mode: Backend.Mode) async throws {
        let fixture = try await Fixture.loggedIn()
        let (auth, riders) = (fixture.module.authService, fixture.module.riderService)
        try await fixture.backend.expireTokens()
        try await fixture.backend.setRefresh(mode)
        await #expect(throws: NetworkError.authenticationFailed) { try await riders.fetchMyRider() }
        #expect(await auth.isAuthenticated())
        #expect(await fixture.module.tokenStorage.loadUser()?.email == Backend.email)

        try await fixture.backend.setRefresh(.normal)
        #expect(try await riders.fetchMyRider().name == "Ada")
        #expect(fixture.invalidations.value == 0)
        let seen = try await fixture.backend.seen()
        #expect(seen.refreshes == 1 && seen.reuses == 0)
    }

    @Test func `A server that is away ends no session`() async throws {
        let fixture = try await Fixture.loggedIn()
        try await fixture.backend.setNetwork(.closed)
        await #expect(throws: NetworkError.noConnection) {
            try await fixture.module.riderService.updateMyRider(UpdateRiderRequest(name: "Eve"))
        }
        try await fixture.backend.setNetwork(.normal)
        #expect(try await fixture.module.riderService.fetchMyRider().name == "Ada")
        #expect(fixture.invalidations.value == 0)
    }
}
