import NevodSessions

/// The endpoints of the list of sports.
enum SportsAPI {
    static func all() -> Endpoint<[Sport]> {
        .get("/sports", auth: .bearerToken)
    }
}
