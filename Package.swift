// swift-tools-version: 6.2
import PackageDescription

// A plugin carries its own Swift runtime and shows one symbol, so that it loads into any host, written in any language,
// with any Swift runtime or none. NEVOD_SHARED_RUNTIME=1 turns the first half off: a sanitizer needs one runtime in the process.
let sharedRuntime = Context.environment["NEVOD_SHARED_RUNTIME"] == "1"
let pluginLinkage: [LinkerSetting] = [
    .unsafeFlags(
        (sharedRuntime ? [] : ["-static-stdlib"])
            + ["-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/NevodPluginLinkage/exports.map"])
]

let threadSanitizer = Context.environment["NEVOD_THREAD_SANITIZER"] == "1"
let addressSanitizer = Context.environment["NEVOD_ADDRESS_SANITIZER"] == "1"
let strict: [SwiftSetting] =
    (threadSanitizer ? [.define("NEVOD_THREAD_SANITIZER")] : [])
    + (addressSanitizer ? [.define("NEVOD_ADDRESS_SANITIZER")] : []) + [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableExperimentalFeature("Lifetimes"),
    ]

// scripts/fuzz builds `nevod-fuzz` alone. libFuzzer has the program's `main`, so the command line is a library then, with another
// entry point.
let fuzzing = Context.environment["NEVOD_FUZZ"] == "1"
let commandLineDependencies: [Target.Dependency] = [
    "CLinux", "NevodHost", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodSupport",
]
let commandLine: [Target] =
    fuzzing
    ? [
        .target(
            name: "nevod-host", dependencies: commandLineDependencies,
            swiftSettings: strict + [
                .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "nevod_host_main"])
            ]),
        .executableTarget(
            name: "nevod-fuzz",
            dependencies: [
                "CCurl", "CSQLite", "CookieAuth", "HMACAuth", "NevodHost", "NevodHostPostgreSQL", "NevodPluginKit",
                "NevodStorage", "NevodSupport", "nevod-host",
            ],
            path: "Tests/Fuzz", exclude: ["Corpus", "Dictionaries"], swiftSettings: strict,
            // Each plugin has the exported function; none is called.
            linkerSettings: [.linkedLibrary("sqlite3"), .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"])]),
    ] : [.executableTarget(name: "nevod-host", dependencies: commandLineDependencies, swiftSettings: strict)]

// The runtime of ThreadSanitizer is in the test binary, and the list of what it shows to libraries lacks what Swift calls.
let sanitizerSymbols: [LinkerSetting] = threadSanitizer ? [.unsafeFlags(["-Xlinker", "--export-dynamic"])] : []

let package = Package(
    name: "NevodHost",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "NevodHost", targets: ["NevodHost"]),
        .library(name: "NevodHostFoundation", targets: ["NevodHostFoundation"]),
        .library(name: "NevodSessions", targets: ["NevodSessions"]),
        .library(name: "NevodStorage", targets: ["NevodStorage"]),
        .library(name: "NevodHostPostgreSQL", targets: ["NevodHostPostgreSQL"]),
        .library(name: "NevodHostSecretService", targets: ["NevodHostSecretService"]),
        .library(name: "NevodPluginKit", targets: ["NevodPluginKit"]),
        .library(name: "APIKeyAuth", type: .dynamic, targets: ["APIKeyAuth", "NevodPluginLinkage"]),
        .library(name: "CookieAuth", type: .dynamic, targets: ["CookieAuth", "NevodPluginLinkage"]),
        .library(name: "HMACAuth", type: .dynamic, targets: ["HMACAuth", "NevodPluginLinkage"]),
        // Loaded by the tests of flows.
        .library(name: "FlowProbe", type: .dynamic, targets: ["FlowProbe", "NevodPluginLinkage"]),
    ] + (fuzzing ? [] : [.executable(name: "nevod-host", targets: ["nevod-host"])]),
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),

        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        // By their headers alone: each is loaded when it is first used, and a program that doesn't use it needs none.
        .systemLibrary(name: "CPQ"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CFutex"),
        // Types only: libsecret is loaded when it is first used.
        .systemLibrary(name: "CSecretService"),

        .target(name: "NevodPluginABI"),
        .target(name: "CPluginCalls"),
        .target(name: "COpenSSLExit", linkerSettings: [.linkedLibrary("crypto")]),
        // A lock's value stands beside its word, in memory of its own type that does not move.
        .target(
            name: "NevodSupport", dependencies: ["CFutex"],
            swiftSettings: strict + [.enableExperimentalFeature("RawLayout"), .enableExperimentalFeature("BuiltinModule")]),
        .target(name: "NevodPluginKit", dependencies: ["NevodPluginABI", "NevodSupport"], swiftSettings: strict),
        .target(name: "NevodPluginLinkage", exclude: ["exports.map"], linkerSettings: pluginLinkage),
        // Apart, so that a store in a library of its own depends on storage alone, and not on a network.
        .target(
            name: "NevodStorage", dependencies: ["NevodSupport", "CLinux", "COpenSSL", "COpenSSLExit", "CSQLite"],
            swiftSettings: strict),
        .target(
            name: "NevodHost",
            dependencies: [
                "NevodPluginABI", "NevodStorage", "NevodSupport", "CBrotli", "CCurl", "CIDN2", "CLinux", "COpenSSL",
                "CPluginCalls",
                "CPSL", "CZlib", "CZstd",
            ],
            swiftSettings: strict),
        // Apart, since FoundationNetworking makes a static program 60 MB larger and a tenth slower to start.
        .target(name: "NevodHostFoundation", dependencies: ["NevodHost", "NevodSupport"], swiftSettings: strict),
        // What an app's own module of authentication is made of: endpoints with a session, its storage, and its state.
        .target(
            name: "NevodSessions", dependencies: ["NevodHost", "NevodHostFoundation", "NevodStorage", "NevodSupport"],
            swiftSettings: strict),
        // Separate, so that programs without a fleet don't contain it.
        .target(
            name: "NevodHostPostgreSQL", dependencies: ["NevodStorage", "NevodSupport", "CLinux", "CPQ"], swiftSettings: strict),
        .target(
            name: "NevodHostSecretService", dependencies: ["NevodStorage", "NevodSupport", "COpenSSL", "CSecretService"],
            swiftSettings: strict),
        .target(name: "APIKeyAuth", dependencies: ["NevodPluginKit"], path: "Plugins/APIKeyAuth", swiftSettings: strict),
        .target(
            name: "CookieAuth", dependencies: ["NevodPluginKit", "NevodSupport"], path: "Plugins/CookieAuth",
            swiftSettings: strict),
        .target(
            name: "HMACAuth", dependencies: ["NevodPluginKit", "NevodSupport", "COpenSSL"], path: "Plugins/HMACAuth",
            swiftSettings: strict),

        // Shared by the test targets. A release build compiles it, and nothing that is installed links it.
        .target(name: "NevodTestSupport", dependencies: ["NevodHost", "NevodSupport"], swiftSettings: strict),
        .testTarget(
            name: "NevodStorageTests", dependencies: ["NevodHost", "NevodStorage", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict, linkerSettings: sanitizerSymbols),
        .testTarget(
            name: "NevodHostTests",
            dependencies: ["CCurl", "CPluginCalls", "NevodHost", "NevodStorage", "NevodSupport", "NevodTestSupport"],
            exclude: ["Probes", "TestPlugins"], swiftSettings: strict, linkerSettings: sanitizerSymbols),
        .testTarget(
            name: "NevodHostFoundationTests",
            dependencies: ["NevodHost", "NevodHostFoundation", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "NevodSessionsTests",
            dependencies: ["NevodHost", "NevodSessions", "NevodStorage", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NevodHostPostgreSQLTests",
            dependencies: ["NevodHost", "NevodHostPostgreSQL", "NevodSupport", "NevodTestSupport"],
            exclude: ["Support/cutting_proxy.py", "Support/postgresql_server.py"], swiftSettings: strict),
        .testTarget(
            name: "NevodPluginKitTests", dependencies: ["NevodHost", "NevodPluginKit", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HMACAuthTests", dependencies: ["HMACAuth", "NevodHost", "NevodPluginKit", "NevodSupport"],
            swiftSettings: strict),

        .testTarget(
            name: "NevodHostSecretServiceTests",
            dependencies: ["NevodHost", "NevodHostSecretService", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "nevod-hostTests", dependencies: ["nevod-host", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),

        .target(name: "FlowProbe", dependencies: ["NevodPluginKit"], path: "Tests/Helpers/FlowProbe", swiftSettings: strict),

        // Programs that the tests of a store run and kill, and what these programs share.
        .target(
            name: "ChildSupport", dependencies: ["NevodHost"], path: "Tests/Helpers/ChildSupport", swiftSettings: strict),
        .executableTarget(
            name: "storage-child", dependencies: ["ChildSupport", "COpenSSL", "NevodHost", "NevodStorage"],
            path: "Tests/Helpers/StorageChild", swiftSettings: strict),
        // Runs within a session that has a keyring, or has none.
        .executableTarget(
            name: "secret-service-child",
            dependencies: ["ChildSupport", "NevodHost", "NevodHostSecretService", "NevodSupport"],
            path: "Tests/Helpers/SecretServiceChild", swiftSettings: strict),
        .executableTarget(
            name: "postgresql-child", dependencies: ["ChildSupport", "NevodHost", "NevodHostPostgreSQL"],
            path: "Tests/Helpers/PostgreSQLChild", swiftSettings: strict),

        // Measures; replaces malloc to count, so nothing else may link CPeers.
        .target(
            name: "CPeers", dependencies: ["NevodPluginABI"], path: "Benchmarks/CPeers",
            linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("crypto")]),
        .executableTarget(
            name: "nevod-bench", dependencies: ["NevodHost", "NevodHostFoundation", "NevodSupport", "HMACAuth", "CPeers"],
            path: "Benchmarks/NevodBench", swiftSettings: strict),
    ] + commandLine,
    swiftLanguageModes: [.v6]
)
