internal import Glibc
internal import NevodStorage

/// Checks that the user's session has a bus. Without one, GLib would start a bus for this process alone, without a keyring.
enum SessionBus {
    static func check() throws(StorageError) {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }) {
            guard address.isEmpty || address.split(separator: ";").contains(where: { $0.hasPrefix("autolaunch:") }) else {
                return
            }
            throw missing("DBUS_SESSION_BUS_ADDRESS names none")
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
