#if canImport(Glibc)
    internal import Glibc

    /// Checks that the loader would map only files that nobody but root and this user can change: a plugin may name folders to
    /// search for libraries (DT_RPATH, DT_RUNPATH), and libraries by path. Their constructors run before any check of their code.
    ///
    /// The rules are those of glibc's loader (ld.so(8)). The system's own folders, and those of LD_LIBRARY_PATH, are root's and the
    /// user's matter. Between this check and the loading, root and this user can still change the files.
    struct LibraryTrust: ~Copyable {
        private let plugin: String
        /// As the loader writes them: the folder of a link, not of its target, is the $ORIGIN.
        private var paths: [String]

        private static let mostLibraries = 256

        /// - Parameter plugin: the canonical path of a plugin that is trusted itself.
        static func check(_ plugin: String) throws(PluginError) {
            var trust = LibraryTrust(plugin: plugin, paths: [plugin])
            var index = 0
            while index < trust.paths.count {
                try trust.examine(trust.paths[index])
                index += 1
            }
        }

        private mutating func examine(_ path: String) throws(PluginError) {
            let loading: ELFFile.Loading
            do throws(ELFFile.Problem) { loading = try ELFFile(path: path).loading() } catch {
                // The loader refuses the plugin itself, and skips or refuses the file of another library.
                guard path == plugin else { return }
                throw PluginError(plugin, file: error)
            }
            if loading.hasExecutableStack { throw PluginError(plugin, .executableStack(library: path)) }
            let folders = try folders(loading.searchPaths, of: path)
            for name in loading.needed {
                guard name.contains("/") else {
                    for folder in folders { try add("\(folder)/\(name)", mustBeThere: false) }
                    continue
                }
                guard let library = Self.expanded(name, of: path), library.hasPrefix("/") else {
                    let problem = "its place depends on the working directory or the loader"
                    throw PluginError(plugin, .unsafeLibrary(name, problem: problem))
                }
                try add(library, mustBeThere: true)
            }
        }

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

        private mutating func add(_ library: String, mustBeThere: Bool) throws(PluginError) {
            var info = stat()
            guard mustBeThere || lstat(library, &info) == 0, !paths.contains(library) else { return }
            if let (culprit, problem) = PathTrust.problem(along: library, isSearched: false) {
                throw PluginError(plugin, .unsafeLibrary(library, problem: "\(culprit) \(problem)"))
            }
            guard paths.count < Self.mostLibraries else {
                throw PluginError(plugin, .unsafeLibrary(library, problem: "there are more than \(Self.mostLibraries) to check"))
            }
            paths.append(library)
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
