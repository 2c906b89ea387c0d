internal import CSecretService
internal import Glibc
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
            self = .service(StorageError(.unavailable, Self.name, problem: "failed without giving a reason"))
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

extension ServiceSession {
    /// Whether a value could be stored now, without a prompt.
    func isOpen(_ cancellable: ServiceObject) throws(SecretServiceError) -> Bool {
        guard let collection = try defaultCollection(cancellable) else { return false }
        return library.call.secret_collection_get_locked(collection.pointer) == 0
    }

    /// Throws if a search may have missed an item: if there is no default keyring, for example before the desktop has opened one,
    /// or if it is locked, because a service may hide the items of a locked keyring.
    func checkHidden(_ cancellable: ServiceObject) throws(SecretServiceError) {
        guard let collection = try defaultCollection(cancellable) else { throw .noCollection }
        guard library.call.secret_collection_get_locked(collection.pointer) == 0 else { throw .locked }
    }

    func isLocked(_ item: ServiceObject) -> Bool {
        library.call.secret_item_get_locked(item.pointer) != 0
    }
}

/// Checks that the user's session has a bus. Without one, GLib would start a bus that only this process uses and that has no
/// keyring.
enum SessionBus {
    static func check() throws(StorageError) {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }) {
            guard address.isEmpty || address.split(separator: ";").contains(where: { $0.hasPrefix("autolaunch:") }) else {
                return
            }
            throw missing("DBUS_SESSION_BUS_ADDRESS names no bus")
        }
        guard let folder = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }) else {
            throw missing("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
        }
        var info = stat()
        guard stat("\(folder)/bus", &info) == 0, info.st_mode & S_IFMT == S_IFSOCK, info.st_uid == geteuid() else {
            throw missing("DBUS_SESSION_BUS_ADDRESS is not set, and \(folder)/bus is not a socket of this user")
        }
    }

    private static func missing(_ reason: String) -> StorageError {
        StorageError(
            .unavailable, "the Secret Service", problem: "there is no session bus: \(reason)",
            remedy: "run it in a desktop session, or under dbus-run-session, or use another store")
    }
}
