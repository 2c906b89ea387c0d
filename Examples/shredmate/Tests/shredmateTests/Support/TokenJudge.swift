import Foundation

/// Authlib's judgement of the tokens that the backend has seen: see judge_tokens.py. The backend makes its tokens with PyJWT.
enum TokenJudge {
    /// Returns its one line, "N served, N rejected", or the fault that it found.
    static func verdict(on seen: Backend.Seen) async throws -> String {
        let process = Process()
        // Debian's own Python, which has Authlib.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", Backend.folder.appending(path: "Tests/Judges/judge_tokens.py").path]
        process.environment = ["SHREDMATE_KEY": Backend.key]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
        try process.run()
        let requests: Data = try JSONEncoder().encode(seen)
        try input.fileHandleForWriting.write(contentsOf: requests)
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
