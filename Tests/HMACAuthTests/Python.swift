import Foundation

/// Independent values from Python's hmac, hashlib, base64 and email.utils.
enum Python {
    struct Failed: Error {
        let status: Int32
    }

    private static let program = #"""
        import base64, datetime, email.utils, hashlib, hmac, json, re, sys, urllib.parse
        TIME = 1_700_000_000_123_456_789
        BODY = b"Hello"
        def digest(name, data): return hashlib.new(name, data).digest()
        def mac(name, message, key=b"s3cret"): return hmac.new(key, message, name).digest()
        def quote(data, safe=""): return urllib.parse.quote_from_bytes(data, safe=safe).encode()
        def b64url(data): return base64.urlsafe_b64encode(data).decode().rstrip("=")
        def b64(data): return base64.b64encode(data).decode()
        def utc(format, unix=TIME // 10**9): return datetime.datetime.fromtimestamp(unix, datetime.timezone.utc).strftime(format)
        def httpdate(unix=TIME // 10**9): return email.utils.formatdate(unix, usegmt=True)
        json.dump([eval(expression) for expression in json.load(sys.stdin)], sys.stdout)
        """#

    /// Evaluates all expressions in one process.
    static func evaluate(_ expressions: [String]) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(expressions))
        try input.fileHandleForWriting.close()
        let values = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        return try JSONDecoder().decode([String].self, from: values)
    }
}
