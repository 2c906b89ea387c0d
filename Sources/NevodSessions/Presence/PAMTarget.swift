internal import CPAM
internal import Glibc

/// The service and the user of a check through PAM.
struct PAMTarget: Sendable {
    /// The name in errors.
    let name: String
    let service: String
    let user: String
    /// The folder of the service's file; nil for the system's.
    let folder: String?

    /// Where Linux-PAM looks for the files of services.
    private static let folders = ["/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d"]

    /// Whether a file sets up the service. Without one, PAM takes the service `other`, which refuses on most systems.
    private var hasFile: Bool {
        let name = service.lowercased()
        if let folder { return access("\(folder)/\(name)", F_OK) == 0 }
        // Linux-PAM reads /etc/pam.conf only where there is no such folder.
        guard Self.folders.contains(where: { access($0, F_OK) == 0 }) else { return access("/etc/pam.conf", F_OK) == 0 }
        return Self.folders.contains { access("\($0)/\(name)", F_OK) == 0 }
    }

    /// The error for a code other than success.
    ///
    /// - Parameter text: libpam's text for the code.
    func error(_ code: Int32, _ text: String) -> PresenceError {
        func error(_ kind: PresenceError.Code, _ problem: String, _ remedy: String?) -> PresenceError {
            PresenceError(kind, name, problem: problem, remedy: remedy, systemCode: code)
        }
        if !hasFile {
            return error(
                .unavailable, "isn't set up: it has no file in \(folder ?? "/etc/pam.d")",
                "create the file, or name another service")
        }
        switch code {
        case Int32(PAM_AUTH_ERR), Int32(PAM_PERM_DENIED): return error(.refused, "refused \(user): \(text)", "try again")
        case Int32(PAM_MAXTRIES): return error(.refused, "refused \(user): \(text)", "wait before trying again")
        case Int32(PAM_ACCT_EXPIRED):
            return error(.refused, "refused \(user): the account has expired", "ask the system's administrator to prolong it")
        case Int32(PAM_NEW_AUTHTOK_REQD), Int32(PAM_AUTHTOK_EXPIRED):
            return error(.refused, "refused \(user): the password has expired", "change it, with: passwd")
        case Int32(PAM_USER_UNKNOWN): return error(.unavailable, "doesn't know the user \(user)", "give the name of an account")
        default:
            return error(
                .unavailable, "failed: \(text)",
                "check the service's file, and that the modules in it are installed and reachable")
        }
    }
}
