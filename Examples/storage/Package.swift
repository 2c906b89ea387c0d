// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "storage",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        .executableTarget(name: "storage", dependencies: [.product(name: "NevodHost", package: "NevodHost")])
    ]
)
