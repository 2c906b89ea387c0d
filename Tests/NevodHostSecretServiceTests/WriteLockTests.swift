import Foundation
import NevodHost
import NevodTestSupport
import Testing

@testable import NevodHostSecretService

@Suite(.blocking) struct WriteLockTests {
    private let session: KeyringSession

    init() throws {
        session = try KeyringSession()
    }

    /// With different locks, a desktop process and a cron job would renew the same token at the same time.
    @Test func `All processes of a user use the same lock file, in any environment`() throws {
        session.set("NEVOD_CHILD_LOCK", nil)
        var places = [try session.child()("place")]
        session.set("XDG_RUNTIME_DIR", nil)
        places.append(try session.child()("place"))
        session.set("HOME", "/nonexistent")
        places.append(try session.child()("place"))
        session.set("HOME", nil)
        places.append(try session.child()("place"))
        #expect(Set(places) == [try WriteLock.defaultPath()])
    }

    @Test func `It is in the folder that the system made for the user, else in the home`() throws {
        let folders = "\(session.folder)/run"
        let user = geteuid()
        let homes = try session.output(
            ["/usr/bin/python3", "-c", "import pwd; print(pwd.getpwuid(\(user)).pw_dir, pwd.getpwuid(65534).pw_dir)"])
        let home = homes.split(separator: " ").map(String.init)
        #expect(try WriteLock.defaultPath(in: folders) == "\(home[0])/.nevod-secret-service")
        mkdir("\(folders)/\(user)", 0o700)
        #expect(try WriteLock.defaultPath(in: folders) == "\(folders)/\(user)/nevod-secret-service")
        // Another user's folder is not used.
        mkdir("\(folders)/65534", 0o700)
        #expect(try WriteLock.defaultPath(of: 65534, in: folders) == "\(home[1])/.nevod-secret-service")
        let error = #expect(throws: StorageError.self) { try WriteLock.defaultPath(of: 4_000_000_000, in: folders) }
        #expect(error?.code == .unavailable)
    }
}
