import Foundation
import NevodSessions

func greeting(for tokens: AuthTokens) -> String {
    let name = tokens[string: "name"] ?? "stranger"
    let roles = tokens[strings: "roles"] ?? []
    return roles.contains("admin") ? "\(name), administrator" : name
}

func hoursLeft(of tokens: AuthTokens, at now: Date = Date()) -> Double? {
    guard !tokens.isExpired(leeway: .seconds(60), at: now), let expiry = tokens[date: "exp"] else { return nil }
    return expiry.timeIntervalSince(now) / 3600
}
