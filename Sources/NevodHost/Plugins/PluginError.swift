public import NevodSupport

/// Why a plugin can't be used, or could not do what was asked. Names the file, the part that is to blame, and the way out.
public struct PluginError: Error, Sendable {
    public enum Reason: Sendable {
        // Finding
        case notFound(searched: [String])
        case unsafePermissions(path: String, problem: String)
        // Loading
        case unreadable(String)
        case notALibrary(String)
        case unresolvedSymbol(String)
        case missingLibrary(String)
        case loaderRefused(String)
        case noEntryPoint
        case otherVersion(offered: String, served: String)
        // Negotiating
        case nullPlugin
        case tooShort(structure: String, size: Int, needed: Int)
        case nullFunction(scheme: String, function: String)
        case malformed(field: String, problem: String)
        case unknownScheme(String, offered: [String])
        case schemeNotChosen(offered: [String])
        /// The contract has it, this host doesn't serve it.
        case unsupported(scheme: String, what: String)
        // Settings
        case unknownSetting(scheme: String, name: String, valid: [String])
        case missingSetting(scheme: String, name: String, help: String, valid: [String])
        case badSetting(scheme: String, name: String, problem: String)
        // Working
        case failed(scheme: String, function: String, status: Int32, subject: String, message: String, detail: Secret?)
        case refusedEdit(scheme: String, what: String, problem: String)
    }

    /// The library's path, or its name when none was found.
    public let plugin: String
    public let reason: Reason

    init(_ plugin: String, _ reason: Reason) {
        self.plugin = plugin
        self.reason = reason
    }
}

extension PluginError: CustomStringConvertible {
    public var description: String { "\(plugin): \(explanation)" }

    private var explanation: String {
        switch reason {
        case .notFound(let searched):
            "no such plugin; looked for \(searched.joined(separator: ", ")). Give its path, or add its folder to NEVOD_PLUGIN_PATH"
        case .unsafePermissions(let path, let problem):
            "not loaded, because \(path) \(problem), so others could replace the code; see chmod and chown"
        case .unreadable(let problem):
            "can't be read: \(problem)"
        case .notALibrary(let problem):
            "not a shared library for this machine: \(problem). Build it with -shared, for the processor that runs the host"
        case .unresolvedSymbol(let symbol):
            "needs the symbol \(symbol), which no library provides; link the library that has it into the plugin"
        case .missingLibrary(let library):
            "needs the library \(library), which is not installed"
        case .loaderRefused(let message):
            "the dynamic loader refused it: \(message)"
        case .noEntryPoint:
            "exports no nevod_plugin_v1, so it is no plugin; export that function with default visibility"
        case .otherVersion(let offered, let served):
            "speaks \(offered) of the plugin contract, this host \(served); rebuild one of them with the other's nevod_plugin.h"
        case .nullPlugin:
            "nevod_plugin_v1 returned NULL; it must return a table that is never freed"
        case .tooShort(let structure, let size, let needed):
            "\(structure) has struct_size \(size), but \(needed) bytes are needed; set it to sizeof"
        case .nullFunction(let scheme, let function):
            "the scheme \"\(scheme)\" has no \(function), which the contract demands"
        case .malformed(let field, let problem):
            "\(field) \(problem)"
        case .unknownScheme(let id, let offered):
            "has no scheme \"\(id)\"; it offers \(offered.joined(separator: ", "))"
        case .schemeNotChosen(let offered):
            "offers several schemes; choose one of \(offered.joined(separator: ", "))"
        case .unsupported(let scheme, let what):
            "the scheme \"\(scheme)\" asks for \(what), which this host doesn't serve; use a newer host"
        case .unknownSetting(let scheme, let name, let valid):
            "the scheme \"\(scheme)\" has no setting \"\(name)\"; \(Self.list(valid))"
        case .missingSetting(let scheme, let name, let help, let valid):
            "the scheme \"\(scheme)\" needs the setting \"\(name)\"\(help.isEmpty ? "" : " (\(help))"); \(Self.list(valid))"
        case .badSetting(let scheme, let name, let problem):
            "the setting \"\(name)\" of the scheme \"\(scheme)\" \(problem)"
        case .failed(let scheme, let function, let status, let subject, let message, _):
            "the scheme \"\(scheme)\" failed in \(function): "
                + (subject.isEmpty ? "" : "\(subject) ") + (message.isEmpty ? "no reason given" : message)
                + " (\(PluginStatus.name(status)))"
        case .refusedEdit(let scheme, let what, let problem):
            "the scheme \"\(scheme)\" tried to write \(what): \(problem)"
        }
    }

    private static func list(_ valid: [String]) -> String {
        valid.isEmpty ? "it has none" : "its settings are \(valid.joined(separator: ", "))"
    }
}
