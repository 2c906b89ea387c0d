internal import CPAM
internal import Dispatch
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// One check: the thread that runs PAM's modules, and the task that asks the person and waits for the outcome.
final class PAMRun: Sendable {
    enum Answer {
        /// Nil if the person gave no answer.
        case given(Secret?)
        case failed(PresenceError)
    }

    private struct State {
        var isGivenUp = false
        var answer: Answer?
        /// The number of messages in the whole check.
        var messages = 0
        /// Why the conversation failed. Kept here, because modules replace the cause with codes of their own.
        var failure: PresenceError?
    }

    let target: PAMTarget
    /// Resumed by the thread, unless the task has given up.
    let outcome = Waiter<Void>()
    /// The module's messages. Each waits for ``answer(_:)``.
    let messages: AsyncStream<PAMPrompt>
    private let reason: String
    private let sending: AsyncStream<PAMPrompt>.Continuation
    private let state = Locked(State())
    private let answered = DispatchSemaphore(value: 0)

    /// The most messages in one check; a module that sends more is in a loop.
    static let maxMessages = 256

    init(_ target: PAMTarget, reason: String) {
        self.target = target
        self.reason = reason
        (messages, sending) = AsyncStream.makeStream()
    }

    // MARK: The task

    func answer(_ answer: Answer) {
        state.withLock { $0.answer = answer }
        answered.signal()
    }

    /// Ends the conversation: a module that asks, now or later, gets no answer.
    func giveUp() {
        state.withLock { $0.isGivenUp = true }
        sending.finish()
        answered.signal()
    }

    // MARK: The thread

    func authenticate(_ library: String) {
        // A module such as pam_exec may write to a program that has exited. The write must fail, and not end this process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        outcome.resume(with: Result { try run(library) })
    }

    private func run(_ library: String) throws {
        let pam: nevod_pam
        do throws(StorageError) {
            pam = try SystemLibrary(library, package: "libpam0g", version: "1.4").load(nevod_pam(), nevod_pam_find)
        } catch {
            throw PresenceError(
                .unavailable, target.name, problem: "can't be used: \(error.subject) \(error.problem)", remedy: error.remedy)
        }
        var conversation = pam_conv(
            conv: { count, messages, responses, context in
                guard let context else { return Int32(PAM_CONV_ERR) }
                return Unmanaged<PAMRun>.fromOpaque(context).takeUnretainedValue().converse(count, messages, responses)
            }, appdata_ptr: Unmanaged.passUnretained(self).toOpaque())
        var handle: OpaquePointer?
        let (code, text) = withUnsafePointer(to: &conversation) { conversation in
            var code =
                if let folder = target.folder {
                    pam.pam_start_confdir(target.service, target.user, conversation, folder, &handle)
                } else {
                    pam.pam_start(target.service, target.user, conversation, &handle)
                }
            for step in [pam.pam_authenticate, pam.pam_acct_mgmt] where code == PAM_SUCCESS && !isGivenUp {
                code = step?(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK)) ?? Int32(PAM_ABORT)
            }
            let text = pam.pam_strerror(handle, code).map { String(cString: $0) } ?? "code \(code)"
            if let handle { _ = pam.pam_end(handle, code) }
            return (code, text)
        }
        if let failure = state.withLock(\.failure) { throw failure }
        // A check that was given up between two steps has not succeeded.
        guard !isGivenUp else { throw CancellationError() }
        guard code == PAM_SUCCESS else { throw target.error(code, text) }
    }

    private var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    /// Called by a module, which frees the responses.
    private func converse(
        _ count: Int32, _ messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
        _ responses: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?
    ) -> Int32 {
        guard let messages, let responses, (1...Int32(PAM_MAX_NUM_MSG)).contains(count),
            let made = PAMResponses(count: Int(count))
        else { return Int32(PAM_CONV_ERR) }
        for index in 0..<Int(count) {
            guard let message = messages[index]?.pointee, answer(message, to: made, at: index) else { return Int32(PAM_CONV_ERR) }
        }
        responses.pointee = made.release()
        return Int32(PAM_SUCCESS)
    }

    /// - Returns: false if the conversation has failed.
    private func answer(_ message: pam_message, to responses: borrowing PAMResponses, at index: Int) -> Bool {
        let style: PAMPrompt.Style
        switch message.msg_style {
        case Int32(PAM_PROMPT_ECHO_OFF): style = .hidden
        case Int32(PAM_PROMPT_ECHO_ON): style = .visible
        case Int32(PAM_TEXT_INFO): style = .information
        case Int32(PAM_ERROR_MSG): style = .error
        default:
            return fail(
                .unavailable, "asks for something other than a text", "name another service, or another module in its file")
        }
        let isTooMuch = state.withLock { state in
            state.messages += 1
            return state.messages > Self.maxMessages
        }
        guard !isTooMuch else {
            return fail(.unavailable, "sends more than \(Self.maxMessages) messages", "find the module that repeats itself")
        }
        guard let answer = ask(PAMPrompt(style, text: Self.text(of: message), reason: reason)) else { return false }
        guard style == .hidden || style == .visible else { return true }
        switch answer {
        case .failed(let error):
            return fail(PresenceError(error.code, target.name, problem: error.problem, remedy: error.remedy))
        case .given(nil): return fail(.cancelled, "was cancelled by the person", nil)
        case .given(let secret?):
            guard responses.set(secret, at: index) else {
                return fail(
                    .refused, "accepts at most \(PAM_MAX_RESP_SIZE - 1) bytes without a NUL as an answer",
                    "give another answer")
            }
            return true
        }
    }

    /// Blocks until the task has an answer. Returns nil if the task has given up or an earlier question has failed: after the
    /// person has cancelled, the service's next module must not ask again.
    private func ask(_ prompt: PAMPrompt) -> Answer? {
        guard state.withLock({ !$0.isGivenUp && $0.failure == nil }) else { return nil }
        sending.yield(prompt)
        answered.wait()
        return state.withLock { state in
            defer { state.answer = nil }
            return state.isGivenUp ? nil : state.answer
        }
    }

    /// The message's text, cut at PAM's limit.
    private static func text(of message: pam_message) -> String {
        guard let text = message.msg else { return "" }
        let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, Int(PAM_MAX_MSG_SIZE)))
        return TerminalText.safe(String(decoding: bytes, as: UTF8.self))
    }

    private func fail(_ code: PresenceError.Code, _ problem: String, _ remedy: String?) -> Bool {
        fail(PresenceError(code, target.name, problem: problem, remedy: remedy))
    }

    private func fail(_ error: PresenceError) -> Bool {
        state.withLock { $0.failure = $0.failure ?? error }
        return false
    }
}

/// The service and the user of a check through PAM.
struct PAMTarget: Sendable {
    /// The name in errors.
    let name: String
    let service: String
    let user: String
    /// The folder of the service's file; nil for the system's.
    let folder: String?

    /// Where Linux-PAM looks for the files of services.
    private static let folders = ["/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d"]

    /// Whether the service has a file. Without one, PAM uses the service `other`, which refuses on most systems.
    private var hasFile: Bool {
        let name = service.lowercased()
        if let folder { return access("\(folder)/\(name)", F_OK) == 0 }
        // Linux-PAM reads /etc/pam.conf only if none of these folders exists.
        guard Self.folders.contains(where: { access($0, F_OK) == 0 }) else { return access("/etc/pam.conf", F_OK) == 0 }
        return Self.folders.contains { access("\($0)/\(name)", F_OK) == 0 }
    }

    /// The error for a code other than success.
    ///
    /// - Parameter text: libpam's text for the code.
    func error(_ code: Int32, _ text: String) -> PresenceError {
        func error(_ kind: PresenceError.Code, _ problem: String, _ remedy: String?) -> PresenceError {
            PresenceError(kind, name, problem: problem, remedy: remedy, systemCode: code)
        }
        if !hasFile {
            return error(
                .unavailable, "isn't set up: it has no file in \(folder ?? "/etc/pam.d")",
                "create the file, or name another service")
        }
        switch code {
        case Int32(PAM_AUTH_ERR), Int32(PAM_PERM_DENIED): return error(.refused, "refused \(user): \(text)", "try again")
        case Int32(PAM_MAXTRIES): return error(.refused, "refused \(user): \(text)", "wait before trying again")
        case Int32(PAM_ACCT_EXPIRED):
            return error(.refused, "refused \(user): the account has expired", "ask the system's administrator to extend it")
        case Int32(PAM_NEW_AUTHTOK_REQD), Int32(PAM_AUTHTOK_EXPIRED):
            return error(.refused, "refused \(user): the password has expired", "change it with: passwd")
        case Int32(PAM_USER_UNKNOWN): return error(.unavailable, "doesn't know the user \(user)", "give the name of an account")
        default:
            return error(
                .unavailable, "failed: \(text)",
                "check the service's file; its modules must be installed and reachable")
        }
    }
}

/// Responses for a module, in memory that the module frees with free(3). Wiped and freed on deinit, unless they were handed over.
struct PAMResponses: ~Copyable {
    private let start: UnsafeMutablePointer<pam_response>
    private let count: Int

    /// - Returns: nil if no memory is left.
    init?(count: Int) {
        guard let memory = calloc(count, MemoryLayout<pam_response>.stride) else { return nil }
        start = memory.bindMemory(to: pam_response.self, capacity: count)
        self.count = count
    }

    deinit {
        for index in 0..<count {
            guard let text = start[index].resp else { continue }
            UnsafeMutableRawBufferPointer(start: text, count: strlen(text)).wipe()
            free(text)
        }
        free(start)
    }

    /// Copies an answer.
    ///
    /// - Returns: false, with nothing copied, if the answer has a NUL or is too long, or if no memory is left.
    func set(_ answer: Secret, at index: Int) -> Bool {
        answer.withUnsafeBytes { bytes in
            guard bytes.count < Int(PAM_MAX_RESP_SIZE), !bytes.contains(0),
                // calloc has zeroed the memory, so the answer ends with a NUL.
                let memory = calloc(bytes.count + 1, 1)
            else { return false }
            if let source = bytes.baseAddress { memory.copyMemory(from: source, byteCount: bytes.count) }
            start[index].resp = memory.assumingMemoryBound(to: CChar.self)
            return true
        }
    }

    consuming func release() -> UnsafeMutablePointer<pam_response> {
        let start = start
        discard self
        return start
    }
}
