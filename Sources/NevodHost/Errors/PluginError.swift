public import NevodSupport

/// Why a plugin can't be used, or failed. Names the file, the cause and the way out.
public struct PluginError: Error, Sendable {
    /// What went wrong, in the order of a plugin's life; the associated texts complete ``description``.
    public enum Reason: Sendable {
        // Finding
        /// No file has that name; `searched` contains each path that was tried.
        case notFound(searched: [String])
        /// A user other than this one and root could replace the file or a folder above it; `path` is the one to blame.
        case unsafePermissions(path: String, problem: String)
        // Loading
        /// The file can't be opened or read, in the system's words.
        case unreadable(String)
        /// The file is not an ELF shared library for this processor, for the given reason.
        case notALibrary(String)
        /// It needs a symbol of that name, which no library provides.
        case unresolvedSymbol(String)
        /// It needs another library, by that name, which isn't installed.
        case missingLibrary(String)
        /// Any other failure of dlopen(3), with its message.
        case loaderRefused(String)
        /// It exports no function `nevod_plugin_v1`.
        case noEntryPoint
        /// It was built for another version, or draft, of `nevod_plugin.h` than this host serves.
        case otherVersion(offered: String, served: String)
        // Negotiating
        /// `nevod_plugin_v1` returned NULL.
        case nullPlugin
        /// A structure's `struct_size` is `size`, less than the `needed` bytes of the contract.
        case tooShort(structure: String, size: Int, needed: Int)
        /// A scheme lacks a function that the contract requires.
        case nullFunction(scheme: String, function: String)
        /// A text or number of the plugin's table breaks the contract's rules for it.
        case malformed(field: String, problem: String)
        /// No scheme of the plugin has the requested id.
        case unknownScheme(String, offered: [String])
        /// The plugin has several schemes, and the caller named none.
        case schemeNotChosen(offered: [String])
        /// The scheme needs a part of the contract that this host doesn't support.
        case unsupported(scheme: String, what: String)
        // Settings
        /// A setting was given that the scheme doesn't declare; `valid` lists the declared ones.
        case unknownSetting(scheme: String, name: String, valid: [String])
        /// A required setting was not given; `help` is the scheme's own line about it.
        case missingSetting(scheme: String, name: String, help: String, valid: [String])
        /// A value is not valid for its setting. The value of a secret is not shown.
        case badSetting(scheme: String, name: String, problem: String)
        // Working
        /// A function of the scheme returned a status other than NEVOD_OK (see ``PluginStatus``). `subject` names the setting
        /// or field to blame; `detail` is sensitive and never part of ``description``.
        case failed(scheme: String, function: String, status: Int32, subject: String, message: String, detail: Secret?)
        /// The scheme made an edit that the contract forbids: a framing field, a control character, too many bytes. The request
        /// is not sent.
        case refusedEdit(scheme: String, what: String, problem: String)
        /// A flow broke the contract, or exceeded its limit of steps, bytes or time.
        case flowFault(scheme: String, flow: String, problem: String)
        /// A flow asked questions, and got no answer.
        case unanswered(scheme: String, questions: [String])
    }

    /// The library's path, or the requested name if no file was found.
    public let plugin: String
    /// The reason, for a program to act on; ``description`` is its text for people.
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
            "was built for \(offered) of the plugin contract, but this host serves \(served); rebuild one of them with the other's "
                + "nevod_plugin.h"
        case .nullPlugin:
            "nevod_plugin_v1 returned NULL; it must return a table that is never freed"
        case .tooShort(let structure, let size, let needed):
            "\(structure) has struct_size \(size), but \(needed) bytes are needed; set it to sizeof"
        case .nullFunction(let scheme, let function):
            "the scheme \"\(scheme)\" has no \(function), which the contract requires"
        case .malformed(let field, let problem):
            "\(field) \(problem)"
        case .unknownScheme(let id, let offered):
            "has no scheme \"\(id)\"; it offers \(offered.joined(separator: ", "))"
        case .schemeNotChosen(let offered):
            "offers several schemes; choose one of \(offered.joined(separator: ", "))"
        case .unsupported(let scheme, let what):
            "the scheme \"\(scheme)\" needs \(what), which this host doesn't support; use a newer host"
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
        case .flowFault(let scheme, let flow, let problem):
            "the \(flow) flow of the scheme \"\(scheme)\" was stopped: \(problem)"
        case .unanswered(let scheme, let questions):
            "the scheme \"\(scheme)\" asks for \(questions.joined(separator: ", ")), but got no answer"
        case .refusedEdit(let scheme, let what, let problem):
            "the scheme \"\(scheme)\" tried to write \(what): \(problem)"
        }
    }

    private static func list(_ valid: [String]) -> String {
        valid.isEmpty ? "it has none" : "its settings are \(valid.joined(separator: ", "))"
    }
}
