// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CustomHeader",
    products: [.library(name: "CustomHeader", type: .dynamic, targets: ["CustomHeader"])],
    dependencies: [.package(name: "NevodHost", path: "../..")],
    targets: [
        .target(
            name: "CustomHeader",
            dependencies: [.product(name: "NevodPluginKit", package: "NevodHost")],
            // With its own Swift runtime and one exported symbol, the library loads into any host.
            linkerSettings: [
                .unsafeFlags(["-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map"])
            ])
    ]
)
