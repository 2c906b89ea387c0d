import NevodSupport

/// The file of `-D`, which gets the heads of all requests of a command, one after another.
enum HeadFile {
    /// The bytes that each file holds so far.
    private static let contents = Locked<[String: [UInt8]]>([:])

    static func append(_ hops: [Hop], to path: String) throws(OutputError) {
        var output = try BodyOutput(path)
        // A file is replaced as a whole. Anything else has what was written to it before.
        let new = HeadLines.bytes(of: hops, isForTerminal: output.isTerminal)
        let all = contents.withLock { contents in
            contents[path, default: []] += new
            return contents[path] ?? new
        }
        try output.write(output.isFile ? all : new)
        try output.finish()
    }
}
