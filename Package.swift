// swift-tools-version: 6.2
import PackageDescription

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// The shipped plugins are Embedded Swift, without a runtime: `swift build -c release --traits Embedded` (scripts/build-plugins). The
// sources are the same, and without the trait they are ordinary Swift, as for the tests.
let embedded: BuildSettingCondition = .when(traits: ["Embedded"])
// A section for each function lets the linker drop those that a plugin doesn't use, and merge equal ones.
// (Not `.enableExperimentalFeature`: SwiftPM 6.3 passes that to the linker of a dynamic library with or without the trait, and the
// library of ordinary Swift then lacks the registration of its types.)
let embeddedFeature = ["-enable-experimental-feature", "Embedded"]
let embeddedRuntime: [Target.Dependency] = [.target(name: "CEmbeddedRuntime", condition: .when(traits: ["Embedded"]))]
let embeddedSwift: [SwiftSetting] = [.unsafeFlags(embeddedFeature + ["-Xfrontend", "-function-sections"], embedded)]
// Relative to the toolchain's folder of ordinary libraries, where the linker looks; lld alone takes such a name.
let embeddedLinkage: [LinkerSetting] = ["libswift_Concurrency.a", "libswiftUnicodeDataTables.a"].map {
    .linkedLibrary(":../embedded/x86_64-unknown-linux-gnu/\($0)", embedded)
}

// An ordinary plugin carries its own Swift runtime. NEVOD_SHARED_RUNTIME=1 turns that off: a sanitizer needs one runtime in the process.
// Each plugin shows one symbol, so that it loads into any host, written in any language, with any Swift runtime or none.
let sharedRuntime = Context.environment["NEVOD_SHARED_RUNTIME"] == "1"
let pluginLinkage: [LinkerSetting] = [
    .unsafeFlags(
        (sharedRuntime ? [] : ["-static-stdlib"])
            + ["-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/NevodPluginLinkage/exports.map"]),
    .unsafeFlags(
        embeddedFeature + [
            "-no-static-stdlib", "-use-ld=lld", "-Xlinker", "--icf=all", "-Xlinker", "--gc-sections", "-Xlinker",
            "--no-undefined",
        ],
        embedded),
]

let threadSanitizer = Context.environment["NEVOD_THREAD_SANITIZER"] == "1"
let addressSanitizer = Context.environment["NEVOD_ADDRESS_SANITIZER"] == "1"
let anyImports: [SwiftSetting] =
    (threadSanitizer ? [.define("NEVOD_THREAD_SANITIZER")] : [])
    + (addressSanitizer ? [.define("NEVOD_ADDRESS_SANITIZER")] : []) + [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableExperimentalFeature("Lifetimes"),
    ]
let strict = anyImports + [.enableUpcomingFeature("MemberImportVisibility")]

// scripts/fuzz builds `nevod-fuzz` alone. libFuzzer has the program's `main`, so the command line is a library then, with another
// entry point.
let fuzzing = Context.environment["NEVOD_FUZZ"] == "1"
let commandLineDependencies: [Target.Dependency] = [
    "CLinux", "COpenSSL", "CTemplates", "NevodHost", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodPluginChecks",
    "NevodPluginKit", "NevodPluginTesting", "NevodSupport",
]
let fuzzed: [Target.Dependency] = [
    "CCurl", "CSQLite", "CookieAuth", "HMACAuth", "NevodHost", "NevodHostPostgreSQL", "NevodJWT", "NevodPluginChecks",
    "NevodPluginCrypto", "NevodPluginKit", "NevodPluginTesting", "NevodStorage", "NevodSupport", "OAuth2Auth", "nevod-host",
]
// Each plugin has the exported function; none is called.
let severalPlugins: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"])]
// Without MemberImportVisibility: glibc's types, such as `timespec`, have no module of their own, and count as members of the first C
// module that includes them. Which one is first depends on how the compiler groups the files.
let commandLine: [Target] =
    fuzzing
    ? [
        .target(
            name: "nevod-host", dependencies: commandLineDependencies, exclude: ["Linkage"],
            swiftSettings: anyImports + [
                .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "nevod_host_main"])
            ]),
        .executableTarget(
            name: "nevod-fuzz", dependencies: fuzzed, path: "Tests/Fuzz", exclude: ["Corpus", "Dictionaries", "Tests"],
            swiftSettings: strict, linkerSettings: severalPlugins),
    ]
    : [
        .executableTarget(
            name: "nevod-host", dependencies: commandLineDependencies, exclude: ["Linkage"], swiftSettings: anyImports,
            // The folder has libstdc++.so, a script that names the static library; of the linkers, lld reads it.
            linkerSettings: [
                .unsafeFlags(
                    ["-use-ld=lld", "-L", "\(Context.packageDirectory)/Sources/nevod-host/Linkage"],
                    .when(platforms: [.linux], configuration: .release))
            ]),
        // The same rules without libFuzzer. They have no target of their own: a release build would compile it.
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["NevodTestSupport"], path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Program"], swiftSettings: strict, linkerSettings: severalPlugins),
    ]

// The runtime of ThreadSanitizer is in the test binary, and the list of what it shows to libraries lacks what Swift calls.
let sanitizerSymbols: [LinkerSetting] = threadSanitizer ? [.unsafeFlags(["-Xlinker", "--export-dynamic"])] : []

// The tests of NevodHost by layer, so that a change builds and runs its own part. A target has some of the folders of
// Tests/NevodHostTests, which mirror those of Sources/NevodHost.
let foldersOfHostTests = [
    "NevodHostValueTests": ["Cookies", "Errors", "HTTP", "Time"],
    "NevodHostTransportTests": ["Caching", "Transport"],
    "NevodHostProviderTests": ["Exchange", "Interceptors", "Logging", "Pagination", "Provider", "Routing"],
    "NevodHostTokenTests": ["OAuth", "Tokens"],
    "NevodHostPluginTests": ["Plugins"],
    "NevodHostCookieAuthTests": ["CookieAuth"],
    "NevodHostSchemeTests": ["Schemes"],
]
let hostTests: [Target] = foldersOfHostTests.sorted { $0.key < $1.key }.map { name, folders in
    .testTarget(
        name: name,
        dependencies: [
            "CCurl", "CPluginCalls", "NevodHost", "NevodHostTestSupport", "NevodStorage", "NevodSupport", "NevodTestSupport",
        ],
        path: "Tests/NevodHostTests",
        exclude: foldersOfHostTests.values.joined().filter { !folders.contains($0) } + ["Probes", "Support", "TestPlugins"],
        sources: folders, swiftSettings: strict, linkerSettings: sanitizerSymbols)
}

let package = Package(
    name: "NevodHost",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "NevodHost", targets: ["NevodHost"]),
        .library(name: "NevodHostFoundation", targets: ["NevodHostFoundation"]),
        .library(name: "NevodSessions", targets: ["NevodSessions"]),
        .library(name: "NevodJWT", targets: ["NevodJWT"]),
        .library(name: "NevodStorage", targets: ["NevodStorage"]),
        .library(name: "NevodHostPostgreSQL", targets: ["NevodHostPostgreSQL"]),
        .library(name: "NevodHostSecretService", targets: ["NevodHostSecretService"]),
        .library(name: "NevodPluginKit", targets: ["NevodPluginKit"]),
        .library(name: "NevodPluginCrypto", targets: ["NevodPluginCrypto"]),
        .library(name: "NevodPluginTesting", targets: ["NevodPluginTesting"]),
        .library(name: "NevodPluginLinkage", targets: ["NevodPluginLinkage"]),
        .library(name: "APIKeyAuth", type: .dynamic, targets: ["APIKeyAuth", "NevodPluginLinkage"]),
        .library(name: "CookieAuth", type: .dynamic, targets: ["CookieAuth", "NevodPluginLinkage"]),
        .library(name: "HMACAuth", type: .dynamic, targets: ["HMACAuth", "NevodPluginLinkage"]),
        .library(name: "OAuth2Auth", type: .dynamic, targets: ["OAuth2Auth", "NevodPluginLinkage"]),
        // Loaded by the tests of flows.
        .library(name: "FlowProbe", type: .dynamic, targets: ["FlowProbe", "NevodPluginLinkage"]),
    ] + (fuzzing ? [] : [.executable(name: "nevod-host", targets: ["nevod-host"])]),
    traits: [
        .trait(name: "Embedded", description: "Plugins in Embedded Swift, which need no Swift runtime. The host isn't built so.")
    ],
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
        // Types only: libpam is loaded when a presence is first checked.
        .systemLibrary(name: "CPAM"),

        .target(name: "NevodPluginABI"),
        .target(name: "CPluginCalls"),
        // The files of `nevod-host new`, in the program.
        .target(name: "CTemplates"),
        .target(name: "COpenSSLExit", linkerSettings: [.linkedLibrary("crypto")]),
        // A lock's value stands beside its word, in memory of its own type that does not move.
        .target(
            name: "NevodSupport", dependencies: ["CFutex"] + embeddedRuntime,
            swiftSettings: strict + embeddedSwift + [
                .enableExperimentalFeature("RawLayout"), .enableExperimentalFeature("BuiltinModule"),
            ]),
        .target(name: "CPluginRuntime"),
        // The file of a token, for plugins: Embedded Swift has no module of the C library.
        .target(name: "CTokenFile"),
        .target(
            name: "CEmbeddedRuntime", cSettings: [.unsafeFlags(["-ffunction-sections"])], linkerSettings: embeddedLinkage),
        .target(
            name: "NevodPluginKit", dependencies: ["CPluginRuntime", "NevodPluginABI", "NevodSupport"] + embeddedRuntime,
            swiftSettings: strict + embeddedSwift),
        // Keys and hashes of libcrypto, for tokens and for plugins.
        .target(name: "NevodCrypto", dependencies: ["NevodSupport", "COpenSSL"], swiftSettings: strict + embeddedSwift),
        // Apart, so that only plugins that use it need libcrypto.
        .target(
            name: "NevodPluginCrypto", dependencies: ["NevodCrypto", "NevodPluginKit", "NevodSupport", "COpenSSL"],
            swiftSettings: strict + embeddedSwift),
        // A host without a network, for the tests of a scheme in any language.
        .target(
            name: "NevodPluginTesting", dependencies: ["COpenSSL", "NevodPluginABI", "NevodSupport"], swiftSettings: strict),
        .target(
            name: "NevodPluginChecks",
            dependencies: ["CLinux", "NevodHost", "NevodPluginABI", "NevodPluginTesting", "NevodSupport"], swiftSettings: strict),
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
        // Apart, so that a service that only verifies tokens, or a plugin, needs neither a network nor Foundation.
        .target(
            name: "NevodJWT", dependencies: ["NevodCrypto", "NevodSupport", "COpenSSL"] + embeddedRuntime,
            swiftSettings: strict + embeddedSwift),
        // Apart, since FoundationNetworking makes a static program 60 MB larger and a tenth slower to start.
        .target(name: "NevodHostFoundation", dependencies: ["NevodHost", "NevodSupport"], swiftSettings: strict),
        // What an app's own module of authentication is made of: endpoints with a session, its storage, and its state.
        .target(
            name: "NevodSessions",
            dependencies: ["CPAM", "NevodHost", "NevodHostFoundation", "NevodJWT", "NevodStorage", "NevodSupport"],
            swiftSettings: strict),
        // Separate, so that programs without a fleet don't contain it.
        .target(
            name: "NevodHostPostgreSQL", dependencies: ["NevodStorage", "NevodSupport", "CLinux", "CPQ"], swiftSettings: strict),
        .target(
            name: "NevodHostSecretService", dependencies: ["NevodStorage", "NevodSupport", "COpenSSL", "CSecretService"],
            swiftSettings: strict),
        .target(
            name: "APIKeyAuth", dependencies: ["NevodPluginKit", "NevodSupport"], path: "Plugins/APIKeyAuth",
            swiftSettings: strict + embeddedSwift),
        .target(
            name: "CookieAuth", dependencies: ["NevodPluginCrypto", "NevodPluginKit", "NevodSupport"], path: "Plugins/CookieAuth",
            swiftSettings: strict + embeddedSwift),
        .target(
            name: "HMACAuth", dependencies: ["NevodPluginCrypto", "NevodPluginKit", "NevodSupport"], path: "Plugins/HMACAuth",
            swiftSettings: strict + embeddedSwift),
        .target(
            name: "OAuth2Auth",
            dependencies: ["CTokenFile", "NevodJWT", "NevodPluginCrypto", "NevodPluginKit", "NevodSupport"],
            path: "Plugins/OAuth2Auth", swiftSettings: strict + embeddedSwift),

        // Shared by the test targets. A test target without tests: no release build compiles it.
        .testTarget(
            name: "NevodTestSupport", dependencies: ["NevodHost", "NevodSupport"], path: "Sources/NevodTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "NevodStorageTests", dependencies: ["NevodHost", "NevodStorage", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict, linkerSettings: sanitizerSymbols),
        .testTarget(
            name: "NevodHostTestSupport", dependencies: ["CCurl", "NevodHost", "NevodSupport", "NevodTestSupport"],
            path: "Tests/NevodHostTests/Support", swiftSettings: strict),
        .testTarget(
            name: "NevodHostFoundationTests",
            dependencies: ["NevodHost", "NevodHostFoundation", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "NevodSessionsTests",
            dependencies: ["NevodHost", "NevodJWT", "NevodSessions", "NevodStorage", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NevodJWTTests", dependencies: ["NevodHost", "NevodJWT", "NevodSupport", "NevodTestSupport"],
            exclude: ["Judges"], swiftSettings: strict),
        .testTarget(
            name: "NevodHostPostgreSQLTests",
            dependencies: ["NevodHost", "NevodHostPostgreSQL", "NevodSupport", "NevodTestSupport"],
            exclude: ["Support/cutting_proxy.py", "Support/postgresql_server.py"], swiftSettings: strict),
        .testTarget(
            name: "NevodPluginKitTests", dependencies: ["NevodHost", "NevodPluginKit", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NevodPluginCryptoTests",
            dependencies: ["NevodPluginCrypto", "NevodPluginKit", "NevodSupport", "NevodTestSupport"],
            exclude: ["Judges"], swiftSettings: strict),
        // The examples of Docs/kit.md.
        .testTarget(
            name: "KitExamples", dependencies: ["NevodPluginCrypto", "NevodPluginKit"], path: "Examples/kit",
            swiftSettings: strict),
        .testTarget(
            name: "NevodPluginTestingTests", dependencies: ["NevodPluginTesting", "NevodSupport", "NevodTestSupport"],
            exclude: ["TestPlugins"],
            swiftSettings: strict),
        .testTarget(
            name: "NevodPluginChecksTests", dependencies: ["NevodHost", "NevodPluginChecks", "NevodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HMACAuthTests", dependencies: ["HMACAuth", "NevodHost", "NevodPluginKit", "NevodSupport", "NevodTestSupport"],
            swiftSettings: strict),
        // Each plugin has the exported function, of which the tests call the one of HMACAuth alone.
        .testTarget(
            name: "CookieAuthTests",
            dependencies: [
                "CookieAuth", "NevodPluginCrypto", "NevodPluginKit", "NevodPluginTesting", "NevodSupport", "NevodTestSupport",
            ],
            exclude: ["Judges", "Pages"], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"])]),
        .testTarget(
            name: "OAuth2AuthTests",
            dependencies: [
                "NevodJWT", "NevodPluginCrypto", "NevodPluginKit", "NevodPluginTesting", "NevodSupport", "NevodTestSupport",
                "OAuth2Auth",
            ],
            swiftSettings: strict, linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"])]),

        .testTarget(
            name: "NevodHostSecretServiceTests",
            dependencies: ["NevodHost", "NevodHostSecretService", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "nevod-hostTests", dependencies: ["nevod-host", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),

        .target(
            name: "FlowProbe", dependencies: ["NevodPluginKit", "NevodSupport"], path: "Tests/Helpers/FlowProbe",
            swiftSettings: strict + embeddedSwift),

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
            name: "nevod-bench",
            dependencies: ["NevodHost", "NevodHostFoundation", "NevodJWT", "NevodSupport", "HMACAuth", "CPeers"],
            path: "Benchmarks/NevodBench", swiftSettings: strict),
    ] + hostTests + commandLine,
    swiftLanguageModes: [.v6]
)

// An installed copy of the kit has this manifest and a part of the sources.
let isMissing = { (target: Target) in
    access("\(Context.packageDirectory)/\(target.path ?? "\(target.isTest ? "Tests" : "Sources")/\(target.name)")", F_OK) != 0
}
// ThreadSanitizer is for code that threads share: the command line, what a plugin computes, and values have nothing to show it, and
// take as long to build.
let singleThreaded: Set<String> = [
    "CookieAuthTests", "FuzzTests", "KitExamples", "NevodHostCookieAuthTests", "NevodHostValueTests", "NevodPluginChecks",
    "NevodPluginChecksTests", "NevodPluginKitTests", "OAuth2AuthTests", "nevod-bench", "nevod-host", "nevod-hostTests",
]
// A sanitizer has nothing to find in a program that measures.
let measuring: Set<String> = ["nevod-bench"]
let isAll = Context.environment["NEVOD_SANITIZE_ALL"] == "1"
let unsanitized = threadSanitizer && !isAll ? singleThreaded : threadSanitizer || addressSanitizer ? measuring : []
// `make build` leaves out the programs of tests, and the one library that neither the command nor a plugin uses.
let unshipped: Set<String> = ["ChildSupport", "NevodSessions", "postgresql-child", "secret-service-child", "storage-child"]
let isShipped = Context.environment["NEVOD_SHIPPED"] == "1"
// The targets of tests that scripts/unit-tests was asked for, each with the support that it imports.
let supports: Set<String> = ["NevodHostTestSupport", "NevodTestSupport"]
let chosenTests = Set((Context.environment["NEVOD_TESTS"] ?? "").split(separator: " ").map(String.init))
let unchosenTests = package.targets.filter { target in
    target.isTest && (isShipped || !chosenTests.isEmpty && !chosenTests.union(supports).contains(target.name))
}
let left = unsanitized.union(unchosenTests.map(\.name)).union(isShipped ? unshipped : [])
let missing = left.union(package.targets.filter(isMissing).map(\.name))
package.targets.removeAll { missing.contains($0.name) }
package.products.removeAll { product in
    (product as? Product.Library)?.targets.contains(where: missing.contains) == true
        || (product as? Product.Executable)?.targets.contains(where: missing.contains) == true
}
