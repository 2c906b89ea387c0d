internal import NevodPluginABI
package import NevodSupport

/// The calls that crossed the contract during a command, as JSON lines: a header, then a line for each call.
package struct Recording: Sendable, Equatable {
    package var header: RecordingHeader
    package var calls: [RecordedCall]

    /// The largest file that is read, and the largest number of calls in it.
    package static let largest = 64 << 20
    package static let mostCalls = 100_000
    private static let depth = 16

    package init(_ header: RecordingHeader, _ calls: [RecordedCall]) {
        self.header = header
        self.calls = calls
    }

    package init(parsing bytes: [UInt8]) throws(RecordingError) {
        guard bytes.count <= Self.largest else {
            throw RecordingError(line: 1, problem: "begins a file that is larger than 64 MiB")
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard bytes.last == UInt8(ascii: "\n") else { throw RecordingError(line: lines.count, problem: "is cut off") }
        guard lines.count <= Self.mostCalls else {
            throw RecordingError(line: Self.mostCalls, problem: "exceeds the limit of \(Self.mostCalls) lines")
        }
        header = try RecordingHeader(Self.json(lines[0], 1))
        calls = []
        for (index, line) in lines.dropFirst().dropLast().enumerated() {
            let number = index + 2
            let json = try Self.json(line, number)
            do throws(RecordingCoder.Problem) { calls.append(try RecordingCoder.call(json)) } catch {
                throw RecordingError(line: number, problem: error.text)
            }
        }
    }

    private static func json(_ line: ArraySlice<UInt8>, _ number: Int) throws(RecordingError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: Array(line).span, size: largest, depth: depth, repeatedNames: .refused)
        } catch {
            throw RecordingError(line: number, problem: "is not JSON: \(error)")
        }
    }

    /// The file's bytes.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for json in [header.json] + calls.map(RecordingCoder.json) {
            json.encoded.withUnsafeBytes { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

/// The first line of a recording. It says what was recorded.
package struct RecordingHeader: Sendable, Equatable {
    /// The treatment of secrets.
    package enum Secrets: String, Sendable, CaseIterable {
        /// Placeholders replace them. The outcomes come from running the plugin with the placeholders.
        case replaced
        /// They are in the file.
        case kept
    }

    /// The version of the file's format.
    package static let version: Int64 = 1

    package var host: String
    package var plugin: String
    package var pluginVersion: String
    /// The name of the library's file.
    package var file: String
    /// The SHA-256 of the library's file, in hexadecimal digits.
    package var sha256: String
    package var draft: Int64
    package var secrets: Secrets

    package init(
        host: String, plugin: String, pluginVersion: String, file: String, sha256: String, draft: Int64 = Int64(NEVOD_ABI_DRAFT),
        secrets: Secrets
    ) {
        self.host = host
        self.plugin = plugin
        self.pluginVersion = pluginVersion
        self.file = file
        self.sha256 = sha256
        self.draft = draft
        self.secrets = secrets
    }

    package var json: JSONValue {
        [
            "nevod_recording": .integer(Self.version), "host": .string(host), "plugin": .string(plugin),
            "plugin_version": .string(pluginVersion), "file": .string(file), "sha256": .string(sha256), "draft": .integer(draft),
            "secrets": .string(secrets.rawValue),
        ]
    }

    package init(_ json: JSONValue) throws(RecordingError) {
        guard let version = json["nevod_recording"]?.integer else {
            throw RecordingError(line: 1, problem: "is not a recording's header")
        }
        guard version == Self.version else {
            throw RecordingError(
                line: 1, problem: "has format version \(version); this program reads version \(Self.version)")
        }
        guard let host = json["host"]?.string, let plugin = json["plugin"]?.string,
            let pluginVersion = json["plugin_version"]?.string,
            let file = json["file"]?.string, let sha256 = json["sha256"]?.string, let draft = json["draft"]?.integer,
            let secrets = json["secrets"]?.string.flatMap(Secrets.init)
        else { throw RecordingError(line: 1, problem: "lacks a part of a recording's header") }
        self.init(
            host: host, plugin: plugin, pluginVersion: pluginVersion, file: file, sha256: sha256, draft: draft, secrets: secrets)
    }
}

/// A call that crossed the contract: the function, its inputs, and what the plugin did.
package struct RecordedCall: Sendable, Equatable {
    /// The token that a call got.
    package enum Token: Sendable, Equatable {
        case none
        case stored(ContractToken)
        /// The number that `token_decode` gave the token.
        case decoded(Int)
    }

    /// The function with its inputs. Instances, tokens, flows and wrappings are numbered in the order in which they were made.
    package enum Function: Sendable, Equatable {
        case create(scheme: [UInt8], settings: [ContractPair])
        case needs
        case tokenDecode(token: Int, bytes: [UInt8])
        case tokenFree(token: Int)
        case authorize(Token, ContractView)
        case onResponse(Token, ContractView, ContractResponse)
        case flowBegin(flow: Int, kind: Int32)
        case flowStep(flow: Int, ContractEvent)
        case flowFree(flow: Int)
        case bodyPiece(wrapping: Int, piece: [UInt8], isLast: Bool)
        case bodyFree(wrapping: Int)
        case destroy

        /// The name in the contract.
        package var name: String {
            switch self {
            case .create: "create"
            case .needs: "needs"
            case .tokenDecode: "token_decode"
            case .tokenFree: "token_free"
            case .authorize: "authorize"
            case .onResponse: "on_response"
            case .flowBegin: "flow_begin"
            case .flowStep: "flow_step"
            case .flowFree: "flow_free"
            case .bodyPiece: "body_piece"
            case .bodyFree: "body_free"
            case .destroy: "destroy"
            }
        }
    }

    /// The number of the instance.
    package var instance: Int
    package var function: Function
    package var outcome: ContractOutcome
    /// The result of `needs`.
    package var needs: ContractNeeds?
}

/// The reason why a recording can't be read.
package struct RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the line, from 1.
    package let line: Int
    package let problem: String

    package var description: String { "line \(line) \(problem)" }
}
