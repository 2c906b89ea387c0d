#if canImport(Glibc)
    internal import Glibc

    /// Checks that only root and this user can change the files that the loader would map. A plugin may name libraries by path,
    /// and folders to search for libraries (DT_RPATH, DT_RUNPATH). The constructors of such libraries run before their code can
    /// be checked.
    ///
    /// Follows the rules of glibc's loader (ld.so(8)). Doesn't check the system's own folders, for which root is responsible, or
    /// the folders of LD_LIBRARY_PATH, for which the user is. Root and this user can still change the files between this check
    /// and the loading.
    struct LibraryTrust: ~Copyable {
        private let plugin: String
        private var libraries: [Library]

        /// A library that the loader would map.
        private struct Library: Hashable {
            /// As the loader writes it: for a link, $ORIGIN is the folder of the link, not of its target.
            let path: String
            /// The folders in the DT_RPATH of the libraries that need this one, directly or not.
            let inherited: [String]
        }

        private static let mostLibraries = 256

        /// - Parameter plugin: the canonical path of a plugin. Its own file has been checked.
        static func check(_ plugin: String) throws(PluginError) {
            var trust = LibraryTrust(plugin: plugin, libraries: [Library(path: plugin, inherited: [])])
            var index = 0
            while index < trust.libraries.count {
                try trust.examine(trust.libraries[index])
                index += 1
            }
        }

        private mutating func examine(_ library: Library) throws(PluginError) {
            let path = library.path
            let loading: ELFFile.Loading
            do throws(ELFFile.Problem) { loading = try ELFFile(path: path).loading() } catch {
                // If the file isn't the plugin's own, the loader skips or refuses it.
                guard path == plugin else { return }
                throw PluginError(plugin, file: error)
            }
            if loading.hasExecutableStack { throw PluginError(plugin, .executableStack(library: path)) }
            let own = try folders(loading.runPaths, of: path)
            // The loader ignores these if there is a DT_RUNPATH. They are checked nevertheless: that costs nothing.
            let lasting = try folders(loading.searchPaths, of: path)
            let inherited = (own.isEmpty ? lasting.filter { !library.inherited.contains($0) } : []) + library.inherited
            for name in loading.needed {
                guard name.contains("/") else {
                    for folder in own.isEmpty ? inherited : own {
                        for place in try places(in: folder, of: path) {
                            try add(Library(path: "\(place)/\(name)", inherited: inherited), mustBeThere: false)
                        }
                    }
                    continue
                }
                guard let needed = Self.expanded(name, of: path), needed.hasPrefix("/") else {
                    let problem = "its place depends on the working directory or the loader"
                    throw PluginError(plugin, .unsafeLibrary(name, problem: problem))
                }
                try add(Library(path: needed, inherited: inherited), mustBeThere: true)
            }
        }

        /// Returns the subfolders with builds for newer processors, which the loader searches first, and then the folder itself.
        private func places(in folder: String, of path: String) throws(PluginError) -> [String] {
            var places: [String] = []
            for name in Self.processorFolders(in: folder) {
                let place = "\(folder)/\(name)"
                var info = stat()
                guard lstat(place, &info) == 0 else { continue }
                if let (culprit, problem) = PathTrust.problem(along: place, isSearched: true) {
                    throw PluginError(
                        plugin, .unsafeSearchPath(entry: place, library: path, problem: "\(culprit) \(problem)"))
                }
                places.append(place)
            }
            return places + [folder]
        }

        /// Returns the names of these subfolders: each subfolder of `glibc-hwcaps`, and all combinations of the older names,
        /// which glibc searches up to 2.36.
        private static func processorFolders(in folder: String) -> [String] {
            var names = legacyFolders
            guard let directory = opendir("\(folder)/glibc-hwcaps") else { return names }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                if name != ".", name != ".." { names.append("glibc-hwcaps/\(name)") }
            }
            return names
        }

        private static let legacyFolders: [String] = {
            #if arch(x86_64)
                let parts = [["tls"], ["haswell", "xeon_phi"], ["avx512_1"], ["x86_64"]]
            #else
                let parts = [["tls"], ["aarch64"], ["atomics"]]
            #endif
            let all = parts.reduce([[]]) { known, part in known + known.flatMap { begun in part.map { begun + [$0] } } }
            return all.filter { !$0.isEmpty }.map { $0.joined(separator: "/") }
        }()

        private func folders(_ lists: [String], of path: String) throws(PluginError) -> [String] {
            var folders: [String] = []
            // The loader ignores an empty list, but takes an empty entry of a list for the working directory.
            for entry in lists.flatMap({ $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false) }) {
                let problem: String
                if let folder = Self.expanded(String(entry), of: path) {
                    if !folder.hasPrefix("/") {
                        problem = "it is relative to the working directory"
                    } else if let (culprit, its) = PathTrust.problem(along: folder, isSearched: true) {
                        problem = "\(culprit) \(its)"
                    } else {
                        folders.append(folder)
                        continue
                    }
                } else {
                    problem = "only the loader knows what $LIB and $PLATFORM stand for"
                }
                throw PluginError(plugin, .unsafeSearchPath(entry: String(entry), library: path, problem: problem))
            }
            return folders
        }

        private mutating func add(_ library: Library, mustBeThere: Bool) throws(PluginError) {
            let path = library.path
            var info = stat()
            guard mustBeThere || lstat(path, &info) == 0, !libraries.contains(library) else { return }
            if let (culprit, problem) = PathTrust.problem(along: path, isSearched: false) {
                throw PluginError(plugin, .unsafeLibrary(path, problem: "\(culprit) \(problem)"))
            }
            guard libraries.count < Self.mostLibraries else {
                throw PluginError(plugin, .unsafeLibrary(path, problem: "there are more than \(Self.mostLibraries) to check"))
            }
            libraries.append(library)
        }

        /// Returns nil if the text has a word that only the loader can replace.
        private static func expanded(_ text: String, of library: String) -> String? {
            var expanded = ""
            var rest = text[...]
            while let dollar = rest.utf8.firstIndex(of: UInt8(ascii: "$")) {
                let words = ["${ORIGIN}", "$ORIGIN"]
                guard let word = words.first(where: { rest.utf8[dollar...].starts(with: $0.utf8) }) else { return nil }
                expanded += rest[..<dollar] + parent(of: library)
                rest = rest[rest.utf8.index(dollar, offsetBy: word.utf8.count)...]
            }
            return expanded + rest
        }
    }
#endif
