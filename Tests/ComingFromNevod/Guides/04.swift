// Adding New Authentication Types: 2. Cookie-based Session
import Foundation
import NevodHostFoundation

private func use() async throws {
    guard let url = URL(string: "https://shop.example") else { return }
    let cookies = HTTPCookieStorage.shared.cookies(for: url) ?? []
    let token = CookieToken(sessionCookies: cookies)
    print(token)
}
