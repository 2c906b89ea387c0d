// swift-tools-version: 6.2
import PackageDescription

// Embedded Swift: a library without a runtime. --disable-default-traits makes it ordinary Swift.
let embedded: [SwiftSetting] = [.unsafeFlags(["-enable-experimental-feature", "Embedded"], .when(traits: ["Embedded"]))]

let package = Package(
    name: "CustomHeader",
    products: [.library(name: "CustomHeader", type: .dynamic, targets: ["CustomHeader", "Linkage"])],
    traits: [.default(enabledTraits: ["Embedded"]), .trait(name: "Embedded")],
    dependencies: [
        .package(
            name: "NevodHost", path: "../..", traits: [.trait(name: "Embedded", condition: .when(traits: ["Embedded"]))])
    ],
    targets: [
        .target(
            name: "CustomHeader", dependencies: [.product(name: "NevodPluginKit", package: "NevodHost")], swiftSettings: embedded),
        .target(
            name: "Linkage", dependencies: [.product(name: "NevodPluginLinkage", package: "NevodHost")], swiftSettings: embedded),
    ]
)
