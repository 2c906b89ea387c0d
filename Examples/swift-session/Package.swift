// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Session",
    products: [.library(name: "Session", type: .dynamic, targets: ["Session"])],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        .target(
            name: "Session",
            dependencies: [.product(name: "NevodPluginKit", package: "NevodHost")],
            // With its own Swift runtime and one exported symbol, the library loads into any host.
            linkerSettings: [
                .unsafeFlags(["-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map"])
            ])
    ]
)
