// swift-tools-version: 6.2
import PackageDescription

// Embedded Swift: a library without a runtime. --disable-default-traits makes it ordinary Swift, which the tests need.
let embedded: [SwiftSetting] = [
    .unsafeFlags(["-enable-experimental-feature", "Embedded"], .when(traits: ["Embedded"]))
]

let package = Package(
    name: "acme-keys",
    platforms: [.macOS(.v15)],
    products: [.library(name: "AcmeKeysAuth", type: .dynamic, targets: ["AcmeKeysAuth", "Linkage"])],
    traits: [.default(enabledTraits: ["Embedded"]), .trait(name: "Embedded")],
    dependencies: [
        .package(
            name: "NevodHost", path: "../..", traits: [.trait(name: "Embedded", condition: .when(traits: ["Embedded"]))])
    ],
    targets: [
        .target(
            name: "AcmeKeysAuth", dependencies: [.product(name: "NevodPluginKit", package: "NevodHost")],
            swiftSettings: embedded),
        .target(
            name: "Linkage", dependencies: [.product(name: "NevodPluginLinkage", package: "NevodHost")], swiftSettings: embedded),
        .testTarget(
            name: "AcmeKeysAuthTests",
            dependencies: ["AcmeKeysAuth", .product(name: "NevodPluginTesting", package: "NevodHost")]),
    ]
)
