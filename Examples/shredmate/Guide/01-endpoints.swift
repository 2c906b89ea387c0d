// Endpoint-based API
import Foundation
import NevodSessions

func endpointsAreTyped(photo: Data) {
    let login: Endpoint<AuthResponse> = AuthAPI.login(email: "eve@example.com", password: "open sesame")
    let account: Endpoint<User> = AuthAPI.me()
    let profile: Endpoint<Rider> = RiderAPI.me()
    let avatar: Endpoint<AvatarUploadResponse> = RiderAPI.uploadAvatar(imageData: photo)
    let list: Endpoint<[Sport]> = SportsAPI.all()
    _ = (login, account, profile, avatar, list)
}
