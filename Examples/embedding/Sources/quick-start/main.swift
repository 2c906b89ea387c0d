// The requests of Docs/quick-start.md. Usage: quick-start URL, where servers/quick_start.py listens.
import Foundation
import NevodHost
import NevodHostFoundation

guard CommandLine.arguments.count == 2, let baseURL = URL(string: CommandLine.arguments[1]) else {
    print("usage: quick-start URL")
    exit(2)
}
let folder = FileManager.default.temporaryDirectory.appending(path: "quick-start-\(getpid())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let photo = folder.appending(path: "photo.jpg").path
try Data(repeating: 0xFF, count: 100_000).write(to: URL(filePath: photo))
let reportPath = folder.appending(path: "report.csv").path

let config = NetworkConfig(
    environments: [
        Service.api: SimpleEnvironment(baseURL: baseURL.appending(path: "v1")),
        Service.cdn: SimpleEnvironment(baseURL: baseURL),
    ],
    timeout: 30)
let provider = NetworkProvider(config: config)

let me = try await provider.perform(SimpleGetRoute<User, Service>(endpoint: "/users/me", domain: .api))
print(me.name)

let found = try await provider.perform(SearchUsers(text: "Ada & Bob"))
print(found.map(\.name))

let created = try await provider.perform(
    SimplePostRoute<User, Service>(endpoint: "/users", domain: .api, parameters: ["name": "Eve"]))
print(created.id)

let changed = try await provider.perform(
    EncodablePutRoute<User, User, Service>(endpoint: "/users/7", domain: .api, body: User(id: 7, name: "Eva")))
print(changed.name)

let logo = try await provider.perform(SimpleGetRoute<Data, Service>(endpoint: "/logo.png", domain: .cdn))
print(logo.count)

_ = try await provider.perform(SimpleDeleteRoute<EmptyResponse, Service>(endpoint: "/users/7", domain: .api))

let sent = try await provider.perform(
    MultipartRoute<[String: Int], Service>(
        endpoint: "/photos", domain: .api,
        parts: [
            FormDataPart(name: "title", value: "Summer"),
            FormDataPart(name: "photo", path: photo, mimeType: "image/jpeg"),
        ]))
print(sent["photo"] ?? 0)

let report = SimpleGetRoute<EmptyResponse, Service>(endpoint: "/report.csv", domain: .cdn)
try await provider.download(report, to: reportPath) { progress in
    if progress.fraction == 1 { print("\(progress.completed) bytes") }
}

do {
    _ = try await provider.perform(SimpleGetRoute<User, Service>(endpoint: "/users/99", domain: .api))
} catch let error as NetworkError {
    switch error {
    case .unauthorized: print("log in")
    case .clientError(404, _, _): print(try error.decode(Problem.self).message)
    case .timeout, .noConnection: print("try again later")
    default: print(error)
    }
}

let users = Paginator<User, StandardPageResponse<User>, Service>.standard(
    provider: provider, endpoint: "/users", domain: .api, style: .pageNumber(pageSize: 2))
for try await user in users.items {
    print(user.id, terminator: " ")
}
print()

let quick = NetworkProvider.quick(baseURL: baseURL.appending(path: "v1"), timeout: 30)
let user: User = try await quick.get("/users/me")
let eve: User = try await quick.post("/users", body: ["name": "Eve"])
let fields: [String: Int] = try await quick.upload("/photos", path: photo)
print(user.name, eve.name, fields)

try FileManager.default.removeItem(at: folder)
