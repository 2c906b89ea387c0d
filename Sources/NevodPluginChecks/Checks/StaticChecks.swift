internal import CLinux
internal import Glibc
internal import NevodHost

// Reads only the file. No code of the library runs.

extension CheckCatalogue {
    static let staticChecks: [Check] = [
        Check("static.format", "The file is a shared library for this machine", scope: .file) { context in
            do throws(ELFFile.Problem) {
                _ = try ELFFile(path: context.path)
                return .pass
            } catch {
                return .fail(
                    Finding(
                        expected: "A 64-bit ELF shared library for this processor.",
                        happened: "The file is not such a library: \(error.text).",
                        fix: "Link with -shared, for the processor of the host."))
            }
        },
        Check("static.permissions", "Only root and this user can change the file", scope: .file) { context in
            guard let (place, problem) = PathTrust.problem(of: context.path) else { return .pass }
            return .fail(
                Finding(
                    expected: "Neither the file nor a folder above it can be changed by another user.",
                    happened: "\(place) \(problem).", fix: "Remove the permissions: chmod go-w \(place)."))
        },
        Check("static.entry-point", "The library exports the function nevod_plugin_v1", scope: .file) { context in
            guard let symbols = ELFTables(try context.file()).symbols() else {
                return .skip("the file has no section headers, which locate the symbols")
            }
            let found = symbols.first { $0.name == "nevod_plugin_v1" && $0.isDefined && $0.binding != 0 }
            if let found, found.type == 2 { return .pass }
            let other = symbols.first { $0.isDefined && $0.name.hasPrefix("nevod_plugin_v") }
            let happened =
                found != nil
                ? "nevod_plugin_v1 is exported, but is not a function."
                : other.map { "Only \($0.name) is exported." } ?? "No symbol of that name is exported."
            return .fail(
                Finding(
                    expected: "nevod_plugin_v1 is exported, as a function with C linkage.", happened: happened,
                    fix: "Declare it with NEVOD_EXPORT of nevod_plugin.h, in C++ within extern \"C\"."))
        },
        Check("static.exports", "The library exports nothing but nevod_plugin_v1", scope: .file) { context in
            guard let symbols = ELFTables(try context.file()).symbols() else {
                return .skip("the file has no section headers, which locate the symbols")
            }
            // Symbols made by linkers, which are harmless.
            let made: Set<String> = ["_init", "_fini", "__bss_start", "_edata", "_end", "__end__", "_bss_end__", "__bss_start__"]
            let others = symbols.filter {
                $0.isDefined && $0.binding != 0 && !$0.name.hasPrefix("nevod_plugin_v") && !made.contains($0.name)
            }
            guard !others.isEmpty else { return .pass }
            return .warn(
                Finding(
                    expected:
                        "One exported symbol, so that the plugin's symbols can't clash with those in other libraries of the process.",
                    happened: "It also exports \(list(others.map(\.name))).",
                    fix: "Build with -fvisibility=hidden, or link with a version script."))
        },
        Check("static.libraries", "Each library that it needs is installed", scope: .file) { context in
            let loading = try loading(context)
            let folder = String(context.path.prefix(upTo: context.path.lastIndex(of: "/") ?? context.path.startIndex))
            let searched = (loading.runPaths + loading.searchPaths).flatMap { $0.split(separator: ":").map(String.init) }
                .map { replacing($0, ["${ORIGIN}", "$ORIGIN"], by: folder) }
            let cache = LoaderCache()
            let missing = loading.needed.filter { name in
                name.contains("/")
                    ? access(replacing(name, ["${ORIGIN}", "$ORIGIN"], by: folder), F_OK) != 0 : !cache.has(name, in: searched)
            }
            guard missing.isEmpty else {
                return .fail(
                    Finding(
                        expected: "The loader finds each library that the plugin needs.",
                        happened: "It doesn't find \(list(missing)).",
                        fix: "Install them, or link them statically."))
            }
            return .noted(loading.needed.isEmpty ? "it needs none" : "it needs \(list(loading.needed, most: 12))")
        },
        Check("static.network-libraries", "It needs no library that speaks to a network", scope: .file) { context in
            let speakers = [
                "libcurl", "libssl.", "libssh", "libneon", "libsoup", "libgnutls", "libFoundationNetworking", "libresolv",
                "libnghttp2",
            ]
            let found = try loading(context).needed.filter { name in speakers.contains { name.hasPrefix($0) } }
            guard !found.isEmpty else { return .pass }
            return .fail(
                Finding(
                    expected: "The host does all network I/O.", happened: "The plugin needs \(list(found)).",
                    fix: "Send requests by the actions of a flow. If it is only for cryptography, use libcrypto."))
        },
        Check("static.run-path", "It looks for libraries only in the system's folders", scope: .file) { context in
            let loading = try loading(context)
            let entries = (loading.runPaths + loading.searchPaths).flatMap {
                $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            }
            guard !entries.isEmpty else { return .pass }
            let expected = "No RPATH or RUNPATH, or only entries that no other user can exploit."
            let fix = "Link without -rpath, or only with $ORIGIN if libraries are installed next to the plugin."
            if let relative = entries.first(where: {
                !$0.hasPrefix("/") && !$0.hasPrefix("$ORIGIN") && !$0.hasPrefix("${ORIGIN}")
            }) {
                let text =
                    relative.isEmpty
                    ? "an empty entry, the working directory" : "\"\(relative)\", relative to the working directory"
                return .fail(Finding(expected: expected, happened: "It has \(text).", fix: fix))
            }
            if let unsafe = entries.first(where: { $0.hasPrefix("/") && PathTrust.problem(along: $0, isSearched: true) != nil }),
                let (place, problem) = PathTrust.problem(along: unsafe, isSearched: true)
            {
                return .fail(Finding(expected: expected, happened: "It has \"\(unsafe)\", and \(place) \(problem).", fix: fix))
            }
            return .warn(Finding(expected: expected, happened: "It has \(list(entries.map { "\"\($0)\"" })).", fix: fix))
        },
        Check("static.executable-stack", "It needs no executable stack", scope: .file) { context in
            guard try loading(context).hasExecutableStack else { return .pass }
            return .fail(
                Finding(
                    expected: "A PT_GNU_STACK header without the right to execute.",
                    happened: "Loading it would make the stack of each thread executable.",
                    fix: "Link with -z noexecstack, and look for assembler files without a .note.GNU-stack section."))
        },
        Check("static.text-relocations", "Its code is position-independent", scope: .file) { context in
            let tables = ELFTables(try context.file())
            guard tables.value(22) != nil || (tables.value(30) ?? 0) & 4 != 0 else { return .pass }
            return .fail(
                Finding(
                    expected: "No relocation changes the code.", happened: "The library has text relocations (DT_TEXTREL).",
                    fix: "Compile every part of it with -fPIC."))
        },
        Check("static.writable-code", "None of its memory is both writable and executable", scope: .file) { context in
            let tables = ELFTables(try context.file())
            guard tables.segments.contains(where: { $0.type == 1 && $0.flags & 3 == 3 }) else { return .pass }
            return .fail(
                Finding(
                    expected: "No loaded segment is both writable and executable.", happened: "A segment is both.",
                    fix: "Link without -N (--omagic) and without a linker script that joins .text and .data."))
        },
        Check("static.relro", "Resolved pointers become read-only", scope: .file) { context in
            let tables = ELFTables(try context.file())
            guard tables.segments.contains(where: { $0.type == 0x6474_E552 }) else {
                return .warn(
                    Finding(
                        expected: "A PT_GNU_RELRO segment.", happened: "Pointers to functions stay writable after loading.",
                        fix: "Link with -z relro -z now."))
            }
            let isNow = tables.value(24) != nil || (tables.value(30) ?? 0) & 8 != 0 || (tables.value(0x6FFF_FFFB) ?? 0) & 1 != 0
            return isNow ? .pass : .noted("with -z now, the table of functions would be read-only too")
        },
        Check("static.network-imports", "It calls no function of the network", scope: .file) { context in
            let tables = ELFTables(try context.file())
            let all = tables.imports()
            let linked = tables.hasLibcryptoAlone ? ELFTables.importsOfLibcrypto : []
            let imports = all.filter { !linked.contains($0) }
            let servers = found(
                [
                    "getaddrinfo", "gethostbyname", "gethostbyname2", "gethostbyname_r", "gethostbyname2_r", "res_query",
                    "res_search", "listen", "accept", "accept4", "bindresvport",
                ],
                in: imports)
            let expected = "The host does all network I/O."
            guard servers.isEmpty else {
                return .fail(
                    Finding(
                        expected: expected, happened: "The library imports \(list(servers)).",
                        fix: "Send requests by the actions of a flow, and receive a redirect by its action listen."))
            }
            let sockets = found(
                [
                    "socket", "connect", "bind", "send", "sendto", "sendmsg", "sendmmsg", "recv", "recvfrom", "recvmsg",
                    "recvmmsg",
                ], in: imports)
            guard !sockets.isEmpty else {
                let others = found(linked, in: all)
                return others.isEmpty ? .pass : .noted("\(LinkedRuntime.libcrypto.rawValue) in it imports \(list(others))")
            }
            return .warn(
                Finding(
                    expected: expected, happened: "The library imports \(list(sockets)).",
                    fix:
                        "Send requests by the actions of a flow. A scheme with NEVOD_SCHEME_BLOCKS may use the socket of an agent or "
                        + "a device on this machine."))
        },
        Check("static.process-imports", "It starts and ends no process", scope: .file) { context in
            let tables = ELFTables(try context.file())
            let starters = found(
                [
                    "fork", "vfork", "_Fork", "execl", "execlp", "execle", "execv", "execvp", "execvpe", "execve", "fexecve",
                    "posix_spawn",
                    "posix_spawnp", "system", "popen", "daemon", "forkpty",
                ], in: tables.imports())
            let expected = "A plugin is a guest of the process: it calls neither fork nor exec nor exit."
            if !starters.isEmpty {
                if let runtime = tables.runtime { return .noted("\(runtime.rawValue) in it imports \(list(starters))") }
                return .fail(
                    Finding(
                        expected: expected, happened: "The library imports \(list(starters)).",
                        fix: "Remove the calls. Work that needs another program belongs in an agent that the user starts."))
            }
            let enders = found(["exit", "_exit", "_Exit", "quick_exit"], in: tables.imports())
            guard !enders.isEmpty else { return .pass }
            if let runtime = tables.runtime { return .noted("\(runtime.rawValue) in it imports \(list(enders))") }
            return .warn(
                Finding(
                    expected: expected, happened: "The library imports \(list(enders)).",
                    fix: "Return a status, NEVOD_INTERNAL for a fault of the plugin itself."))
        },
        Check("static.state-imports", "It changes no state of the process", scope: .file) { context in
            let tables = ELFTables(try context.file())
            let changers = found(
                [
                    "sigaction", "signal", "sigprocmask", "pthread_sigmask", "sigaltstack", "setitimer", "alarm", "setlocale",
                    "setenv", "unsetenv",
                    "putenv", "clearenv", "chdir", "fchdir", "umask", "setrlimit", "prlimit", "setuid", "setgid", "seteuid",
                    "chroot", "fesetround",
                    "prctl",
                ], in: tables.imports())
            guard !changers.isEmpty else { return .pass }
            let isLibcryptos = tables.hasLibcryptoAlone && changers.allSatisfy(ELFTables.importsOfLibcrypto.contains)
            if let runtime = tables.runtime ?? (isLibcryptos ? .libcrypto : nil) {
                return .noted("\(runtime.rawValue) in it imports \(list(changers))")
            }
            return .warn(
                Finding(
                    expected: "Signal handlers, locale, environment, working directory, umask and limits are the host's.",
                    happened: "The library imports \(list(changers)).",
                    fix: "Remove the calls, or use the variant for one thread (uselocale)."))
        },
        Check("static.thread-imports", "It starts no thread, or joins it in destroy", scope: .file) { context in
            let starters = found(["pthread_create", "thrd_create"], in: ELFTables(try context.file()).imports())
            return starters.isEmpty ? .pass : .noted("it imports \(list(starters)): join the threads in destroy")
        },
        Check("static.system-version", "It runs with this system's C library", scope: .file) { context in
            let needed = ELFTables(try context.file()).neededVersions().map(\.version).filter { $0.hasPrefix("GLIBC_") }
                .compactMap { text in SystemVersion(text.dropFirst(6)) }
            let own = SystemVersion(Substring(String(cString: nevod_libc_version())))
            guard let newest = needed.max(), let own else { return .pass }
            guard own < newest else { return .noted("it needs glibc \(newest.text) or later") }
            return .fail(
                Finding(
                    expected: "It needs at most glibc \(own.text), which is installed.",
                    happened: "It needs glibc \(newest.text).",
                    fix: "Build it on the oldest system that it must run on."))
        },
        Check("static.thread-storage", "Its thread-local variables need no reserved space", scope: .file) { context in
            let tables = ELFTables(try context.file())
            guard (tables.value(30) ?? 0) & 0x10 != 0 else { return .pass }
            return .warn(
                Finding(
                    expected: "Thread-local variables of a library that is loaded late use the general model.",
                    happened: "The library has DF_STATIC_TLS: the loader refuses it once the reserved space is used up.",
                    fix: "Compile without -ftls-model=initial-exec."))
        },
        Check("static.constructors", "Its constructors do no work", scope: .file) { context in
            let tables = ELFTables(try context.file())
            // The compiler adds one entry.
            let count = (tables.value(27) ?? 0) / 8
            return count > 1 ? .noted("\(count) constructors run when it is loaded; load.quick measures them") : .pass
        },
        Check("static.size", "The file is small", scope: .file) { context in
            let tables = ELFTables(try context.file())
            let size = tables.size
            let hasDebug = tables.has(section: ".debug_info") || tables.has(section: ".symtab")
            let text = "\(size / 1024) KiB\(hasDebug ? ", with symbols that strip removes" : "")"
            guard size > 32 << 20, !hasDebug else { return .noted(text) }
            return .warn(
                Finding(
                    expected: "At most 32 MiB, since each command that uses the plugin maps it.",
                    happened: "The file has \(text).",
                    fix: "Strip it, and link with --gc-sections."))
        },
    ]

    // MARK: Pieces

    private static func loading(_ context: CheckContext) throws -> ELFFile.Loading {
        let file = try context.file()
        do throws(ELFFile.Problem) { return try file.loading() } catch {
            throw CheckStop.fail(
                Finding(
                    expected: "A dynamic section that the loader can read.", happened: "\(error.text).",
                    fix: "Link the library again; a tool that changed it may have damaged it."))
        }
    }

    private static func found(_ names: Set<String>, in imports: [String]) -> [String] {
        imports.filter { names.contains(String($0.prefix { $0 != "@" })) }.sorted()
    }

    static func list(_ names: [String], most: Int = 5) -> String {
        names.count <= most
            ? names.joined(separator: ", ") : "\(names.prefix(most).joined(separator: ", ")) and \(names.count - most) more"
    }

    private static func replacing(_ text: String, _ words: [String], by folder: String) -> String {
        for word in words {
            var pieces: [Substring] = []
            var rest = text[...]
            while let found = rest.utf8.firstIndex(of: UInt8(ascii: "$")), rest.utf8[found...].starts(with: word.utf8) {
                pieces.append(rest[..<found])
                rest = rest[rest.utf8.index(found, offsetBy: word.utf8.count)...]
            }
            if !pieces.isEmpty { return pieces.map { "\($0)\(folder)" }.joined() + rest }
        }
        return text
    }
}

/// A version such as 2.34.
private struct SystemVersion: Comparable {
    let major: Int
    let minor: Int

    var text: String { "\(major).\(minor)" }

    init?(_ text: Substring) {
        let parts = text.split(separator: ".")
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.major = major
        self.minor = minor
    }

    static func < (first: SystemVersion, second: SystemVersion) -> Bool {
        (first.major, first.minor) < (second.major, second.minor)
    }
}
