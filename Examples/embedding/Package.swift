// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        .executableTarget(
            name: "quick-start",
            dependencies: [
                .product(name: "NevodHost", package: "NevodHost"),
                .product(name: "NevodHostFoundation", package: "NevodHost"),
            ]),
        .executableTarget(name: "embedding", dependencies: [.product(name: "NevodHost", package: "NevodHost")]),
        .executableTarget(name: "plugin-session", dependencies: [.product(name: "NevodHost", package: "NevodHost")]),
        .executableTarget(
            name: "storage",
            dependencies: [
                .product(name: "NevodHost", package: "NevodHost"),
                .product(name: "NevodHostPostgreSQL", package: "NevodHost"),
                .product(name: "NevodHostSecretService", package: "NevodHost"),
            ]),
        .executableTarget(
            name: "sign-in", dependencies: [.product(name: "NevodHostFoundation", package: "NevodHost")]),
        .executableTarget(
            name: "sessions", dependencies: [.product(name: "NevodSessions", package: "NevodHost")]),
        .testTarget(
            name: "sessionsTests",
            dependencies: ["sessions", .product(name: "NevodSessions", package: "NevodHost")]),
        .target(name: "patterns", dependencies: [.product(name: "NevodSessions", package: "NevodHost")]),
        .testTarget(
            name: "patternsTests",
            dependencies: ["patterns", .product(name: "NevodSessions", package: "NevodHost")]),
        .executableTarget(
            name: "services",
            dependencies: ["CCrypto", .product(name: "NevodHostFoundation", package: "NevodHost")]),
        .testTarget(
            name: "servicesTests",
            dependencies: ["services", .product(name: "NevodHostFoundation", package: "NevodHost")]),
        .testTarget(
            name: "pluginTests",
            dependencies: [
                .product(name: "NevodPluginKit", package: "NevodHost"), .product(name: "NevodPluginTesting", package: "NevodHost"),
            ]),

        // For HMAC: Linux has no CryptoKit.
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    ]
)
