internal import NevodPluginABI
package import NevodSupport

/// The first line of a recording: what was recorded.
package struct RecordingHeader: Sendable, Equatable {
    /// The treatment of secrets.
    package enum Secrets: String, Sendable, CaseIterable {
        /// Placeholders stand for them, and the outcomes are those of the plugin with the placeholders.
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
            throw RecordingError(line: 1, problem: "is no recording's header")
        }
        guard version == Self.version else {
            throw RecordingError(
                line: 1, problem: "is of version \(version) of the format; this program reads version \(Self.version)")
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
