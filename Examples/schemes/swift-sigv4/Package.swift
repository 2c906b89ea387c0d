// swift-tools-version: 6.2
import PackageDescription

// Embedded Swift: a library without a runtime. --disable-default-traits makes it ordinary Swift, which the tests need.
let embedded: [SwiftSetting] = [
    .unsafeFlags(["-enable-experimental-feature", "Embedded"], .when(traits: ["Embedded"]))
]

let package = Package(
    name: "swift-sigv4",
    platforms: [.macOS(.v15)],
    products: [.library(name: "SigV4Auth", type: .dynamic, targets: ["SigV4Auth", "Linkage"])],
    traits: [.default(enabledTraits: ["Embedded"]), .trait(name: "Embedded")],
    dependencies: [
        .package(
            name: "NevodHost", path: "../../..", traits: [.trait(name: "Embedded", condition: .when(traits: ["Embedded"]))])
    ],
    targets: [
        .target(
            name: "SigV4Auth", dependencies: [.product(name: "NevodPluginCrypto", package: "NevodHost")], swiftSettings: embedded),
        .target(
            name: "Linkage", dependencies: [.product(name: "NevodPluginLinkage", package: "NevodHost")], swiftSettings: embedded),
        .testTarget(
            name: "SigV4AuthTests",
            dependencies: ["SigV4Auth", .product(name: "NevodPluginTesting", package: "NevodHost")]),
    ]
)
