internal import NevodPluginABI
public import NevodSupport

/// Why a plugin can't be used, or failed. Names the file, the cause and the way out.
public struct PluginError: Error, Sendable {
    /// The kinds of failure, in the order of a plugin's lifecycle. The associated texts appear in ``description``.
    public enum Reason: Sendable {
        // Finding
        /// No file has that name; `searched` contains each path that was tried.
        case notFound(searched: [String])
        /// Several plugins have that short name; `found` contains the path of each.
        case ambiguousName(found: [String])
        /// A user other than this one and root could replace the file or a folder above it; `path` is the file or folder at fault.
        case unsafePermissions(path: String, problem: String)
        // Loading
        /// The file can't be opened or read, with the system's message.
        case unreadable(String)
        /// The file is not an ELF shared library for this processor, for the given reason.
        case notALibrary(String)
        /// The plugin, or a library that it loads, looks for libraries in a folder where others could put one: `entry`, from its
        /// RPATH or RUNPATH.
        case unsafeSearchPath(entry: String, library: String, problem: String)
        /// Others could replace a library that the plugin loads. The text is its path, or its name as the plugin spells it.
        case unsafeLibrary(String, problem: String)
        /// The plugin, or a library that it loads, would make the stacks of the process executable.
        case executableStack(library: String)
        /// The plugin needs a symbol of that name, which no library provides.
        case unresolvedSymbol(String)
        /// A library that the plugin needs isn't installed.
        case missingLibrary(String)
        /// Any other failure of dlopen(3), with its message.
        case loaderRefused(String)
        /// The library exports no function `nevod_plugin_v1`.
        case noEntryPoint
        /// The plugin was built for a version, or draft, of `nevod_plugin.h` that this host doesn't support.
        case otherVersion(offered: String, served: String)
        /// The plugin needs `version` of the contract, or a later one. This host serves an older minor version.
        case needsNewerHost(version: String, served: String)
        // Negotiating
        /// `nevod_plugin_v1` returned NULL.
        case nullPlugin
        /// A structure's `struct_size` is `size`, less than the `needed` bytes of the contract.
        case tooShort(structure: String, size: Int, needed: Int)
        /// A scheme lacks a function that the contract requires.
        case nullFunction(scheme: String, function: String)
        /// A text or number in the plugin's table violates the contract.
        case malformed(field: String, problem: String)
        /// No scheme of the plugin has the requested id.
        case unknownScheme(String, offered: [String])
        /// The plugin has several schemes, and the caller chose none.
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
        // Parameters of a request
        /// The request has a parameter that none of its schemes declares.
        case unknownParameter(schemes: [String], name: String, valid: [String])
        /// The request lacks a required parameter; `help` is the scheme's own line about it.
        case missingParameter(scheme: String, name: String, help: String, valid: [String])
        /// A value is not valid for its parameter.
        case badParameter(scheme: String, name: String, problem: String)
        // Working
        /// A function of the scheme returned a status other than NEVOD_OK (see ``PluginStatus``). `subject` names the setting
        /// or field at fault; `detail` is sensitive and never part of ``description``.
        case failed(scheme: String, function: String, status: Int32, subject: String, message: String, detail: Secret?)
        /// A function of the scheme had not returned by the request's deadline, or a step of a flow had not returned within 60 s.
        /// Nothing was sent after the call, and anything that the function does later is dropped.
        case unreturned(scheme: String, function: String)
        /// The scheme made an edit that the contract forbids, such as a framing field, a control character, or too many bytes. The
        /// request is not sent.
        case refusedEdit(scheme: String, what: String, problem: String)
        /// The scheme's `on_response` refused the response: it can't be trusted. `subject` names the field at fault; `detail` is
        /// sensitive and never part of ``description``.
        case refusedResponse(scheme: String, subject: String, message: String, detail: Secret?)
        /// A flow broke the contract, or exceeded its limit of steps, bytes or time.
        case flowFault(scheme: String, flow: String, problem: String)
        /// A flow's questions got no answer, or the flow needs something else that nobody provides, such as a `browser`.
        case unanswered(scheme: String, questions: [String])
        /// The scheme has no flow of this kind, such as a `login`.
        case noFlow(scheme: String, flow: String)
    }

    /// The library's path, or the requested name if no file was found.
    public let plugin: String
    /// The reason, for a program to act on; ``description`` is its text for people.
    public let reason: Reason
    /// The call that a ``Reason/failed(scheme:function:status:subject:message:detail:)`` is about; nil if `function` is its name
    /// in the contract.
    private let failedCall: FailedCall?

    package init(_ plugin: String, _ reason: Reason) {
        self.plugin = plugin
        self.reason = reason
        failedCall = nil
    }

    /// Makes a ``Reason/failed(scheme:function:status:subject:message:detail:)``.
    init(
        _ plugin: String, failed call: FailedCall, of scheme: String, status: Int32, subject: String = "", message: String,
        detail: Secret? = nil
    ) {
        self.plugin = plugin
        reason = .failed(
            scheme: scheme, function: call.name, status: status, subject: subject, message: message, detail: detail)
        failedCall = call
    }

    /// Whether the scheme's login was refused, perhaps because an answer or a setting is wrong.
    package var isRefusedLogin: Bool {
        guard case .failed(_, _, PluginStatus.denied.rawValue, _, _, _) = reason, case .flowStep("login")? = failedCall else {
            return false
        }
        return true
    }

    /// Returns the sensitive detail that the plugin reported with its failure, such as a server's own words or a user's name; nil
    /// if there is none. At most 4 KiB of the plugin's text.
    ///
    /// The detail isn't part of ``description``. Never log it; show it only if asked to, and only to the person that the request is
    /// for. Bytes that are not UTF-8 are replaced, and control characters are escaped (`\u{a}`).
    public func revealDetail() -> String? {
        let detail: Secret
        switch reason {
        case .failed(_, _, _, _, _, let found?), .refusedResponse(_, _, _, let found?): detail = found
        default: return nil
        }
        return detail.withUnsafeBytes { TerminalText.safe(String(decoding: $0, as: UTF8.self)) }
    }
}

extension PluginError: CustomStringConvertible {
    public var description: String { "\(plugin): \(explanation)" }

    /// The description without the plugin's path.
    package var explanation: String {
        switch reason {
        case .notFound where plugin.utf8.contains(UInt8(ascii: "/")):
            "no such plugin: the file doesn't exist; check the path, or give only the name of a plugin that is installed"
        case .notFound(let searched):
            "no such plugin in \(Self.folders(of: searched)); give its path, or add its folder to NEVOD_PLUGIN_PATH"
        case .ambiguousName(let found):
            "several plugins have this short name: \(found.joined(separator: " and ")). Give the name of the file, or its path"
        case .unsafePermissions(let path, let problem):
            "not loaded: other users could replace the code, because \(path) \(problem); fix it with chmod or chown"
        case .unreadable(let problem):
            "can't be read: \(problem)"
        case .notALibrary(let problem):
            "not a shared library for this machine: \(problem). Build it with -shared for this machine's processor"
        case .unsafeSearchPath(let entry, let library, let problem):
            "not loaded: \(library == plugin ? "it" : library) looks for libraries in \"\(entry)\", where others could put one, because "
                + "\(problem); link it with -rpath '$ORIGIN', or with a folder that only root or you can write"
        case .unsafeLibrary(let library, let problem):
            "not loaded: it needs the library \(library), which others could replace, because \(problem); fix it with chmod or "
                + "chown, or link it by name and -rpath '$ORIGIN'"
        case .executableStack(let library):
            "not loaded: \(library == plugin ? "it" : library) would make every stack of the process executable; link it with "
                + "-z noexecstack"
        case .unresolvedSymbol(let symbol):
            "needs the symbol \(symbol), which no library provides; link the library that has it into the plugin"
        case .missingLibrary(let library):
            "needs the library \(library), which is not installed"
        case .loaderRefused(let message):
            "the dynamic loader refused it: \(message)"
        case .noEntryPoint:
            "not a plugin: it doesn't export nevod_plugin_v1; export that function with default visibility"
        case .otherVersion(let offered, let served):
            "was built for \(offered) of the plugin contract, but this host serves \(served); rebuild one of them with the other's "
                + "nevod_plugin.h"
        case .needsNewerHost(let version, let served):
            "needs \(version) of the plugin contract, but this host serves \(served); use a newer host"
        case .nullPlugin:
            "nevod_plugin_v1 returned NULL; it must return a table that is never freed"
        case .tooShort(let structure, let size, let needed):
            "\(structure) has struct_size \(size), but at least \(needed) is required; set it to sizeof"
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
        case .unknownParameter(let schemes, let name, let valid):
            (schemes.count == 1
                ? "the scheme \"\(schemes[0])\" has no" : "none of the schemes \(schemes.joined(separator: ", ")) has a")
                + " parameter \"\(name)\"; "
                + (schemes.count == 1 ? Self.list(valid, "parameters") : "they take \(valid.joined(separator: ", "))")
                + "; leave it out"
        case .missingParameter(let scheme, let name, let help, let valid):
            "the scheme \"\(scheme)\" needs the parameter \"\(name)\"\(help.isEmpty ? "" : " (\(help))") with each request; "
                + "attach it; \(Self.list(valid, "parameters"))"
        case .badParameter(let scheme, let name, let problem):
            "the parameter \"\(name)\" of the scheme \"\(scheme)\" \(problem)"
        case .failed(let scheme, let function, let status, let subject, let message, _):
            Self.failure(
                of: scheme, failedCall ?? .function(function), status,
                (subject.isEmpty ? "" : "\(subject) ") + (message.isEmpty ? "no reason given" : message))
        case .unreturned(let scheme, let function):
            function.hasPrefix("flow_")
                ? "the scheme \"\(scheme)\" had not returned from \(function) in time, so its login or renewal failed; try again, or "
                    + "report it to the plugin's author"
                : "the scheme \"\(scheme)\" had not returned from \(function) when the request's deadline passed; give the request a longer "
                    + "timeout, or report it to the plugin's author"
        case .refusedResponse(let scheme, let subject, let message, _):
            "the scheme \"\(scheme)\" refused the response: "
                + (subject.isEmpty ? "" : "\(subject) ") + (message.isEmpty ? "no reason given" : message)
        case .flowFault(let scheme, let flow, let problem):
            "the \(flow) flow of the scheme \"\(scheme)\" was stopped: \(problem)"
        case .unanswered(let scheme, let questions):
            "the scheme \"\(scheme)\" asks for \(questions.joined(separator: ", ")), but got no answer"
        case .noFlow(let scheme, let flow):
            "the scheme \"\(scheme)\" has no \(flow)"
        case .refusedEdit(let scheme, let what, let problem):
            "the scheme \"\(scheme)\" tried to write \(what): \(problem)"
        }
    }

    /// Describes a status of the contract to a person: the subject, what it can't do, the reason, and the way out.
    private static func failure(of scheme: String, _ call: FailedCall, _ status: Int32, _ reason: String) -> String {
        let scheme = "the scheme \"\(scheme)\""
        let subject = call.flow.map { "the \($0) of \(scheme)" } ?? scheme
        let can = call.flow == nil ? "can't \(call.action)" : "can't be done"
        return switch PluginStatus(rawValue: status) {
        case .badSettings: "\(subject) needs corrected settings: \(reason)"
        case .badToken: "\(subject) \(can), since the stored session is no longer valid: \(reason); log in again"
        case .denied: call.flow == nil ? "\(subject) refused to \(call.action): \(reason)" : "\(subject) was refused: \(reason)"
        // A logout can't be retried, because no session is left.
        case .unavailable: "\(subject) \(can) now: \(reason)" + (call.flow == "logout" ? "" : "; try again later")
        case .unsupported: "\(subject) \(can), which it doesn't support: \(reason)"
        case .ok, .internal, nil:
            "\(subject) failed because of a fault in the plugin: \(reason); report it to the plugin's author, with the function "
                + "\(call.function)"
                + (PluginStatus(rawValue: status) == nil ? ", which returned the unknown status \(status)" : "")
        }
    }

    /// Returns the folders of paths, in their order.
    private static func folders(of paths: [String]) -> String {
        var folders: [String] = []
        for path in paths {
            let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders.joined(separator: ", ")
    }

    private static func list(_ valid: [String], _ what: String = "settings") -> String {
        valid.isEmpty ? "it has none" : "its \(what) are \(valid.joined(separator: ", "))"
    }
}

/// A failed call of a scheme's function.
enum FailedCall: Sendable {
    /// A function outside a flow, by its name in the contract.
    case function(String)
    /// `flow_begin` for a flow of this kind, such as `login`.
    case flowBegin(String)
    /// `flow_step` of a flow of this kind.
    case flowStep(String)
    /// The host's own check of a stored token.
    case tokenCheck

    /// The call's name as `function` of ``PluginError/Reason/failed(scheme:function:status:subject:message:detail:)``.
    var name: String {
        switch self {
        case .function(let name): name
        case .flowBegin(let flow): "flow_begin of \(flow)"
        case .flowStep(let flow): "the \(flow) flow"
        case .tokenCheck: "the check of the stored token"
        }
    }

    /// The function's name as the plugin's author knows it.
    fileprivate var function: String {
        switch self {
        case .function, .tokenCheck: name
        case .flowBegin: "flow_begin"
        case .flowStep: "flow_step"
        }
    }

    /// The kind of the flow; nil outside a flow.
    fileprivate var flow: String? {
        switch self {
        case .flowBegin(let flow), .flowStep(let flow): flow
        case .function, .tokenCheck: nil
        }
    }

    /// The purpose of the call, in words for a user.
    fileprivate var action: String {
        switch self {
        case .function("create"): "begin"
        case .function("authorize"): "authorize the request"
        case .function("body_piece"): "change the request's body"
        case .function("token_decode"), .tokenCheck: "read the stored session"
        case .function, .flowBegin, .flowStep: "run \(function)"
        }
    }
}

/// The status that a plugin's function returned. An unknown status counts as ``internal``.
public enum PluginStatus: Int32, Sendable {
    /// The call succeeded (NEVOD_OK).
    case ok = 0
    /// The user must change a setting (NEVOD_BAD_SETTINGS).
    case badSettings = 1
    /// The stored token is invalid; a login is needed (NEVOD_BAD_TOKEN).
    case badToken = 2
    /// The server refused permanently (NEVOD_DENIED).
    case denied = 3
    /// The failure is temporary (NEVOD_UNAVAILABLE).
    case unavailable = 4
    /// The scheme can't do this (NEVOD_UNSUPPORTED).
    case unsupported = 5
    /// A fault in the plugin itself (NEVOD_INTERNAL).
    case `internal` = 6
}
