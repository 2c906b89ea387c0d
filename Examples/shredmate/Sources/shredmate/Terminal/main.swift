// A session with the backend, in a terminal. `shredmate help` lists the commands.
import Foundation

let address = ProcessInfo.processInfo.environment["SHREDMATE_URL"] ?? "http://127.0.0.1:8080/api/v1"
guard let baseURL = URL(string: address), baseURL.host() != nil else {
    FileHandle.standardError.write(Data("shredmate: SHREDMATE_URL is not a URL\n".utf8))
    exit(2)
}
exit(await Program(module: AuthModule(baseURL: baseURL)).run(Array(CommandLine.arguments.dropFirst())))
