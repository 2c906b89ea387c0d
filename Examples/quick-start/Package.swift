// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "quick-start",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        .executableTarget(
            name: "quick-start",
            dependencies: [
                .product(name: "NevodHost", package: "NevodHost"),
                .product(name: "NevodHostFoundation", package: "NevodHost"),
            ])
    ]
)
