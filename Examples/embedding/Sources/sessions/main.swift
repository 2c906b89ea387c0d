// A user logs in, works, and is logged out by the server. Usage: sessions URL FOLDER, where servers/sessions.py listens; the
// session is stored below the folder.
import Foundation
import NevodSessions

guard CommandLine.arguments.count == 3 else {
    print("usage: sessions URL FOLDER")
    exit(2)
}
let (url, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])
try await useSession(
    at: url, keptIn: try FileStorage(directory: "\(folder)/sessions"), sealedBy: KeyFile(path: "\(folder)/key/store.key"))
