// swift-tools-version: 6.2
import PackageDescription

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// The shipped plugins are built in Embedded Swift, without a runtime: `swift build -c release --traits Embedded`
// (scripts/build-plugins). Without the trait, as in the tests, the same sources are built as ordinary Swift.
let embedded: BuildSettingCondition = .when(traits: ["Embedded"])
// A section for each function lets the linker drop the unused ones and merge equal ones. (Not `.enableExperimentalFeature`: SwiftPM
// 6.3 passes it to the linker of a dynamic library even without the trait, and then a library of ordinary Swift doesn't register
// its types.)
let embeddedFeature = ["-enable-experimental-feature", "Embedded"]
let embeddedRuntime: [Target.Dependency] = [.target(name: "CEmbeddedRuntime", condition: .when(traits: ["Embedded"]))]
let embeddedSwift: [SwiftSetting] = [.unsafeFlags(embeddedFeature + ["-Xfrontend", "-function-sections"], embedded)]
// For modules whose speed no request depends on. In HMACAuth and the kit, -Osize would cost a sixth of a signature's instructions.
let smallSwift = embeddedSwift + [.unsafeFlags(["-Osize"], embedded)]
// Relative to the toolchain's folder of ordinary libraries, where the linker looks. Only lld accepts such a name.
let embeddedLinkage: [LinkerSetting] = ["libswift_Concurrency.a", "libswiftUnicodeDataTables.a"].map {
    .linkedLibrary(":../embedded/x86_64-unknown-linux-gnu/\($0)", embedded)
}

// An ordinary plugin carries its own Swift runtime. NEVOD_SHARED_RUNTIME=1 turns that off, because a sanitizer needs a single
// runtime in the process. Each plugin exports one symbol, so it loads into any host, in any language, with any Swift runtime or
// none.
let sharedRuntime = Context.environment["NEVOD_SHARED_RUNTIME"] == "1"
let pluginLinkage: [LinkerSetting] = [
    .unsafeFlags(
        (sharedRuntime ? [] : ["-static-stdlib"])
            + ["-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/C/NevodPluginLinkage/exports.map"]),
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

// scripts/fuzz builds `nevod-fuzz` alone. libFuzzer has the program's `main`, so the command line becomes a library with another
// entry point.
let fuzzing = Context.environment["NEVOD_FUZZ"] == "1"
let commandLineDependencies: [Target.Dependency] = [
    "CLinux", "COpenSSL", "CTemplates", "NevodHost", "NevodHostPostgreSQL", "NevodHostSecretService", "NevodPluginChecks",
    "NevodPluginKit", "NevodPluginTesting", "NevodProcesses", "NevodSupport",
]
let fuzzed: [Target.Dependency] = [
    "CCurl", "CSQLite", "CookieAuth", "HMACAuth", "NevodHost", "NevodHostPostgreSQL", "NevodJWT", "NevodOAuth",
    "NevodPluginChecks", "NevodPluginCrypto", "NevodPluginKit", "NevodPluginTesting", "NevodStorage", "NevodSupport",
    "OAuth2Auth", "nevod-host",
]
// Each plugin defines the exported function; nothing calls it.
let severalPlugins: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "muldefs"])]
// Without MemberImportVisibility: glibc's types, such as `timespec`, have no module of their own and count as members of the first
// C module that includes them. Which module comes first depends on how the compiler groups the files.
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
            // The folder has libstdc++.so, a linker script that names the static library. Only lld reads it.
            linkerSettings: [
                .unsafeFlags(
                    ["-use-ld=lld", "-L", "\(Context.packageDirectory)/Sources/nevod-host/Linkage"],
                    .when(platforms: [.linux], configuration: .release))
            ]),
        // The same rules without libFuzzer. They have no target of their own, because a release build would compile it.
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["NevodTestSupport"], path: "Tests/Fuzz",
            exclude: ["Corpus", "Dictionaries", "Program"], swiftSettings: strict, linkerSettings: severalPlugins),
    ]

// ThreadSanitizer's runtime is in the test binary, whose list of exported symbols lacks some that Swift calls.
let sanitizerSymbols: [LinkerSetting] = threadSanitizer ? [.unsafeFlags(["-Xlinker", "--export-dynamic"])] : []

// The tests of NevodHost by layer, so that a change builds and runs its own part. Each target takes some folders of
// Tests/NevodHostTests, which mirror the folders of Sources/NevodHost.
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
        .systemLibrary(
            name: "CCurl", path: "Sources/System/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CBrotli", path: "Sources/System/CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZstd", path: "Sources/System/CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/System/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),

        .systemLibrary(name: "CIDN2", path: "Sources/System/CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        // Headers only: each library is loaded at its first use, so a program that doesn't use it doesn't need it.
        .systemLibrary(name: "CPQ", path: "Sources/System/CPQ"),
        .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite"),
        .systemLibrary(name: "CPSL", path: "Sources/System/CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
        .systemLibrary(name: "CFutex", path: "Sources/System/CFutex"),
        // Types only: libsecret is loaded at its first use.
        .systemLibrary(name: "CSecretService", path: "Sources/System/CSecretService"),
        // Types only: libpam is loaded when a presence is first checked.
        .systemLibrary(name: "CPAM", path: "Sources/System/CPAM"),

        .target(name: "NevodPluginABI"),
        .target(name: "CPluginCalls", path: "Sources/C/CPluginCalls"),
        // The files of `nevod-host new`, embedded in the program.
        .target(name: "CTemplates", path: "Sources/C/CTemplates"),
        .target(name: "COpenSSLExit", path: "Sources/C/COpenSSLExit", linkerSettings: [.linkedLibrary("crypto")]),
        // RawLayout: a lock keeps its value beside its futex word, in memory that doesn't move.
        .target(
            name: "NevodSupport", dependencies: ["CFutex"] + embeddedRuntime,
            swiftSettings: strict + smallSwift + [
                .enableExperimentalFeature("RawLayout"), .enableExperimentalFeature("BuiltinModule"),
            ]),
        .target(name: "CPluginRuntime", path: "Sources/C/CPluginRuntime"),
        // Reads token files for plugins: Embedded Swift has no module for the C library.
        .target(name: "CTokenFile", path: "Sources/C/CTokenFile"),
        .target(
            name: "CEmbeddedRuntime", path: "Sources/C/CEmbeddedRuntime", cSettings: [.unsafeFlags(["-ffunction-sections"])],
            linkerSettings: embeddedLinkage),
        .target(
            name: "NevodPluginKit", dependencies: ["CPluginRuntime", "NevodPluginABI", "NevodSupport"] + embeddedRuntime,
            swiftSettings: strict + embeddedSwift),
        // libcrypto's keys and hashes, for tokens and for plugins.
        .target(name: "NevodCrypto", dependencies: ["NevodSupport", "COpenSSL"], swiftSettings: strict + smallSwift),
        // Separate, so that only plugins that use it need libcrypto.
        .target(
            name: "NevodPluginCrypto", dependencies: ["NevodCrypto", "NevodPluginKit", "NevodSupport", "COpenSSL"],
            swiftSettings: strict + smallSwift),
        // OAuth's decisions, for the host, for sessions and for the plugin; no network.
        .target(name: "NevodOAuth", dependencies: ["NevodSupport", "COpenSSL"], swiftSettings: strict + smallSwift),
        // A host without a network, for the tests of a scheme in any language.
        .target(
            name: "NevodPluginTesting", dependencies: ["COpenSSL", "NevodPluginABI", "NevodSupport"], swiftSettings: strict),
        .target(
            name: "NevodPluginChecks",
            dependencies: ["CLinux", "NevodHost", "NevodPluginABI", "NevodPluginTesting", "NevodProcesses", "NevodSupport"],
            swiftSettings: strict),
        // Child programs, for the command line, the checks and the tests.
        .target(name: "NevodProcesses", dependencies: ["CLinux", "NevodSupport"], swiftSettings: strict),
        .target(
            name: "NevodPluginLinkage", path: "Sources/C/NevodPluginLinkage", exclude: ["exports.map"],
            linkerSettings: pluginLinkage),
        // Separate, so that a store in a library of its own depends on storage alone, and not on networking.
        .target(
            name: "NevodStorage", dependencies: ["NevodSupport", "CLinux", "COpenSSL", "COpenSSLExit", "CSQLite"],
            swiftSettings: strict),
        .target(
            name: "NevodHost",
            dependencies: [
                "NevodOAuth", "NevodPluginABI", "NevodStorage", "NevodSupport", "CBrotli", "CCurl", "CIDN2", "CLinux", "COpenSSL",
                "CPluginCalls",
                "CPSL", "CZlib", "CZstd",
            ],
            swiftSettings: strict),
        // Separate, so that a plugin, or a service that only verifies tokens, needs neither networking nor Foundation.
        .target(
            name: "NevodJWT", dependencies: ["NevodCrypto", "NevodSupport", "COpenSSL"] + embeddedRuntime,
            swiftSettings: strict + smallSwift),
        // Separate, because FoundationNetworking makes a static program 60 MB larger and a tenth slower to start.
        .target(name: "NevodHostFoundation", dependencies: ["NevodHost", "NevodSupport"], swiftSettings: strict),
        // What an app's own module of authentication is made of: endpoints with a session, its storage, and its state.
        .target(
            name: "NevodSessions",
            dependencies: [
                "CPAM", "NevodHost", "NevodHostFoundation", "NevodJWT", "NevodOAuth", "NevodStorage", "NevodSupport",
            ],
            swiftSettings: strict),
        // Separate, so that programs without a fleet don't contain it.
        .target(
            name: "NevodHostPostgreSQL", dependencies: ["NevodStorage", "NevodSupport", "CLinux", "CPQ"], swiftSettings: strict),
        .target(
            name: "NevodHostSecretService", dependencies: ["NevodStorage", "NevodSupport", "CSecretService"],
            swiftSettings: strict),
        .target(
            name: "APIKeyAuth", dependencies: ["NevodPluginKit", "NevodSupport"], path: "Plugins/APIKeyAuth",
            swiftSettings: strict + embeddedSwift),
        .target(
            name: "CookieAuth", dependencies: ["NevodPluginCrypto", "NevodPluginKit", "NevodSupport"], path: "Plugins/CookieAuth",
            swiftSettings: strict + smallSwift),
        .target(
            name: "HMACAuth", dependencies: ["NevodPluginCrypto", "NevodPluginKit", "NevodSupport"], path: "Plugins/HMACAuth",
            swiftSettings: strict + embeddedSwift),
        .target(
            name: "OAuth2Auth",
            dependencies: ["CTokenFile", "NevodJWT", "NevodOAuth", "NevodPluginCrypto", "NevodPluginKit", "NevodSupport"],
            path: "Plugins/OAuth2Auth", swiftSettings: strict + smallSwift),

        // Shared by the test targets. It is a test target without tests, so that no release build compiles it.
        .testTarget(
            name: "NevodTestSupport", dependencies: ["NevodHost", "NevodProcesses", "NevodSupport"],
            path: "Sources/NevodTestSupport", swiftSettings: strict),
        .testTarget(name: "NevodProcessesTests", dependencies: ["NevodProcesses"], swiftSettings: strict),
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
            name: "NevodOAuthTests", dependencies: ["NevodOAuth", "NevodSupport", "NevodTestSupport"], swiftSettings: strict),
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
        // Every plugin defines the exported function, but the tests call only HMACAuth's.
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
                "NevodJWT", "NevodOAuth", "NevodPluginCrypto", "NevodPluginKit", "NevodPluginTesting", "NevodSupport",
                "NevodTestSupport", "OAuth2Auth",
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

        // Programs that the storage tests run and kill, and the code that these programs share.
        .target(
            name: "ChildSupport", dependencies: ["NevodHost"], path: "Tests/Helpers/ChildSupport", swiftSettings: strict),
        .executableTarget(
            name: "storage-child", dependencies: ["ChildSupport", "COpenSSL", "NevodHost", "NevodStorage"],
            path: "Tests/Helpers/StorageChild", swiftSettings: strict),
        // Runs in a desktop session with or without a keyring.
        .executableTarget(
            name: "secret-service-child",
            dependencies: ["ChildSupport", "NevodHost", "NevodHostSecretService", "NevodSupport"],
            path: "Tests/Helpers/SecretServiceChild", swiftSettings: strict),
        .executableTarget(
            name: "postgresql-child", dependencies: ["ChildSupport", "NevodHost", "NevodHostPostgreSQL"],
            path: "Tests/Helpers/PostgreSQLChild", swiftSettings: strict),

        // For measurements. CPeers replaces malloc in order to count, so nothing else may link it.
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

// An installed copy of the kit has this manifest and only some of the sources.
let isMissing = { (target: Target) in
    access("\(Context.packageDirectory)/\(target.path ?? "\(target.isTest ? "Tests" : "Sources")/\(target.name)")", F_OK) != 0
}
// ThreadSanitizer is for code that threads share. It would find nothing in the command line, in plugins' computations, or in
// values, which take as long to build.
let singleThreaded: Set<String> = [
    "CookieAuthTests", "FuzzTests", "KitExamples", "NevodHostCookieAuthTests", "NevodHostValueTests", "NevodOAuthTests",
    "NevodPluginChecks", "NevodPluginChecksTests", "NevodPluginKitTests", "OAuth2AuthTests", "nevod-bench", "nevod-host",
    "nevod-hostTests",
]
// A sanitizer has nothing to find in a benchmark.
let measuring: Set<String> = ["nevod-bench"]
let isAll = Context.environment["NEVOD_SANITIZE_ALL"] == "1"
let unsanitized = threadSanitizer && !isAll ? singleThreaded : threadSanitizer || addressSanitizer ? measuring : []
// `make build` leaves out the tests' programs, and the one library that neither the command nor a plugin uses.
let unshipped: Set<String> = ["ChildSupport", "NevodSessions", "postgresql-child", "secret-service-child", "storage-child"]
let isShipped = Context.environment["NEVOD_SHIPPED"] == "1"
// The test targets that scripts/unit-tests was asked for, with the support targets that they import.
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
