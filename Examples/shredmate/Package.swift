// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shredmate",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        // One module, like an app: its own TokenStorage and AuthState take precedence over the library's.
        .executableTarget(name: "shredmate", dependencies: [.product(name: "NevodSessions", package: "NevodHost")]),
        .testTarget(
            name: "shredmateTests",
            dependencies: ["shredmate", .product(name: "NevodSessions", package: "NevodHost")]),
    ],
    swiftLanguageModes: [.v6]
)
