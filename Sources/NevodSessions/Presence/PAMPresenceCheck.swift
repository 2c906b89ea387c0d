internal import CPAM
internal import Foundation
internal import NevodStorage
public import NevodSupport

/// A presence check through PAM, on Linux: by the account's password, a fingerprint, or whatever else the service is set up with.
///
/// ```swift
/// let check = PAMPresenceCheck(service: "login") { prompt in
///     switch prompt.style {
///     case .hidden, .visible: try await readAnswer(to: prompt.text, isHidden: prompt.style == .hidden)
///     case .information, .error: nil
///     }
/// }
/// ```
///
/// The service's modules authenticate the person, and then check whether the account may be used (`pam_authenticate` and
/// `pam_acct_mgmt`). No credentials are set and no session is opened. Empty passwords are refused. libpam is loaded at the first
/// check.
///
/// Modules block, so each check has its own thread. A check that is cancelled or times out returns at once; its thread ends when
/// the module returns.
public final class PAMPresenceCheck: PresenceCheck {
    /// Asks the person and returns the answer. Return nil for information and errors; nil for a question cancels the check. The
    /// closure's task is cancelled when the check is given up.
    public typealias Prompt = @Sendable (PAMPrompt) async throws -> Secret?

    private let service: String
    private let user: String?
    private let folder: String?
    private let timeout: Duration
    private let library: String
    private let prompt: Prompt
    private let lock = AsyncLock()
    private let threads = Locked(0)

    /// The most threads at once. A check that was given up keeps its thread while a module blocks.
    static let maxThreads = 4

    /// - Parameters:
    ///   - service: the PAM service: the name of a file in `/etc/pam.d`, such as one that the app installs.
    ///   - user: the account's name; nil for the user that runs the process.
    ///   - folder: the folder of the service's file, instead of the system's.
    ///   - timeout: the limit for a check, including the time that the person takes.
    ///   - prompt: asks the person.
    public convenience init(
        service: String, user: String? = nil, folder: String? = nil, timeout: Duration = .seconds(120),
        prompt: @escaping Prompt
    ) {
        self.init(
            service: service, user: user, folder: folder, timeout: timeout, library: "libpam.so.0", prompt: prompt)
    }

    init(
        service: String, user: String?, folder: String?, timeout: Duration, library: String, prompt: @escaping Prompt
    ) {
        self.service = service
        self.user = user
        self.folder = folder
        self.timeout = timeout
        self.library = library
        self.prompt = prompt
    }

    /// The number of threads that haven't ended.
    var threadCount: Int { threads.withLock { $0 } }

    /// Runs the service's modules. Concurrent calls of one instance run one after another.
    public func confirm(reason: String) async throws(PresenceError) {
        let run = PAMRun(try target(), reason: reason)
        do {
            try await lock.withLock { try await self.complete(run) }
        } catch let error as PresenceError {
            throw error
        } catch is DeadlineExceededError {
            throw PresenceError(
                .timedOut, run.target.name, problem: "took more than \(timeout)",
                remedy: "try again, or give the check a longer timeout")
        } catch {
            throw PresenceError(.cancelled, run.target.name, problem: "was cancelled")
        }
    }

    private func complete(_ run: PAMRun) async throws {
        try startThread(of: run)
        let asking = Task { [prompt] in
            for await message in run.messages { run.answer(await Self.answer(to: message, prompt)) }
        }
        defer {
            run.giveUp()
            asking.cancel()
        }
        // A longer timeout counts as none: adding it could overflow the clock's instant.
        let deadline = timeout < .seconds(Int32.max) ? ContinuousClock.now + timeout : nil
        try await run.outcome.value(until: deadline)
    }

    private static func answer(to message: PAMPrompt, _ prompt: Prompt) async -> PAMRun.Answer {
        do {
            return .given(try await prompt(message))
        } catch let error as PresenceError {
            return .failed(error)
        } catch is CancellationError {
            return .given(nil)
        } catch {
            // Leaves out the error's text, which may contain what the person typed.
            return .failed(
                PresenceError(
                    .unavailable, "PAM", problem: "could not ask the person: its prompt threw \(type(of: error))",
                    remedy: "let the prompt reach the person, in a terminal or a window"))
        }
    }

    private func startThread(of run: PAMRun) throws(PresenceError) {
        guard
            threads.withLock({ count in
                guard count < Self.maxThreads else { return false }
                count += 1
                return true
            })
        else {
            throw PresenceError(
                .unavailable, run.target.name,
                problem: "is stuck: \(Self.maxThreads) earlier checks haven't returned from its modules",
                remedy: "find the blocking module in the service's file")
        }
        let isStarted = SystemThread.start {
            run.authenticate(self.library)
            self.threads.withLock { $0 -= 1 }
        }
        guard isStarted else {
            threads.withLock { $0 -= 1 }
            throw PresenceError(
                .unavailable, run.target.name, problem: "can't be used: the system has no thread left",
                remedy: "raise the limit on threads (ulimit -u, or pids.max of the cgroup)")
        }
    }

    private func target() throws(PresenceError) -> PAMTarget {
        let name = "PAM service \(TerminalText.safe(service))"
        func invalid(_ problem: String, _ remedy: String) -> PresenceError {
            PresenceError(.unavailable, name, problem: problem, remedy: remedy)
        }
        // A C string would end at a NUL, and libpam would drop the folders of a path.
        guard !service.isEmpty, !service.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else {
            throw invalid("has a name that is not a file name", "give the name of a file in /etc/pam.d")
        }
        let user = user ?? NSUserName()
        guard !user.isEmpty, !user.utf8.contains(0) else {
            throw invalid("has no user name", "give the name of an account")
        }
        guard folder?.utf8.contains(0) != true else { throw invalid("has a NUL in its folder", "give a path") }
        return PAMTarget(name: name, service: service, user: user, folder: folder)
    }
}

/// A message of a PAM module for the person.
public struct PAMPrompt: Sendable, Hashable {
    /// The expected reaction of the person.
    public enum Style: Sendable, Hashable {
        /// A secret, which must not be shown while it is typed.
        case hidden
        /// An answer that may be shown while it is typed.
        case visible
        /// Nothing: the text is information.
        case information
        /// Nothing: the text is an error.
        case error
    }

    /// The expected reaction of the person.
    public let style: Style
    /// The module's text, such as `Password: `, without characters that are unsafe in a terminal.
    public let text: String
    /// The purpose of the check, as given to ``Presence``.
    public let reason: String

    /// Creates a prompt, for tests of a ``PAMPresenceCheck/Prompt``.
    public init(_ style: Style, text: String, reason: String) {
        self.style = style
        self.text = text
        self.reason = reason
    }
}
