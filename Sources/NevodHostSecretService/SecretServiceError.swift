internal import CSecretService
internal import NevodStorage

/// Why a call failed.
enum SecretServiceError: Error {
    /// The service or the connection to it has failed; a retry may succeed.
    case service(StorageError)
    /// Retrying can't change the outcome.
    case final(StorageError)

    var error: StorageError {
        switch self {
        case .service(let error), .final(let error): error
        }
    }

    private static let name = "the Secret Service"

    static let locked = SecretServiceError.final(
        StorageError(
            .unavailable, name, problem: "the keyring is locked",
            remedy: "unlock it in the desktop, or with: gnome-keyring-daemon --unlock"))

    static let noCollection = SecretServiceError.final(
        StorageError(
            .unavailable, name, problem: "there is no default keyring",
            remedy: "create one in the desktop, or with: gnome-keyring-daemon --unlock"))

    static let withoutSecret = SecretServiceError.service(
        StorageError(.unavailable, name, problem: "did not return the secret of an item"))

    static func timeout(_ limit: Duration) -> StorageError {
        StorageError(
            .unavailable, name, problem: "has not responded within \(limit)",
            remedy: "check whether it shows a prompt, or has stopped")
    }

    /// - Parameter error: Freed by this.
    init(_ error: UnsafeMutablePointer<nevod_gerror>?, _ library: SecretLibrary) {
        guard let error else {
            self = .service(StorageError(.unavailable, Self.name, problem: "has failed without a reason"))
            return
        }
        defer { library.call.g_error_free(error) }
        let (domain, code) = (error.pointee.domain, Int(error.pointee.code))
        let missing = [NEVOD_DBUS_SERVICE_UNKNOWN, NEVOD_DBUS_NAME_HAS_NO_OWNER]
        if domain == library.call.secret_error_get_quark(), code == Int(NEVOD_ERROR_IS_LOCKED) {
            self = .locked
        } else if domain == library.call.g_dbus_error_quark(), missing.contains(code) {
            self = .service(
                StorageError(
                    .unavailable, Self.name, problem: "is not on the session bus",
                    remedy: "start one, as with gnome-keyring-daemon --start --components=secrets, or use another store",
                    systemCode: error.pointee.code))
        } else {
            let message = error.pointee.message.map { String(cString: $0) } ?? "no reason is given"
            self = .service(
                StorageError(.unavailable, Self.name, problem: message, systemCode: error.pointee.code))
        }
    }
}
