internal import Glibc
internal import NevodPluginABI
internal import NevodPluginTesting

// Checks the process after each function was called at least once.

extension CheckCatalogue {
    static let processChecks: [Check] = [
        unchanged(
            "process.threads", "No thread is left after destroy", fix: "Join in destroy each thread that the instance started.",
            mayInitialize: true, isGos: true
        ) { before, after in
            let count = after.threads.subtracting(before.threads).count
            return count == 0 ? nil : "\(count) threads are running after destroy"
        }.caused(by: "authorize.kept-sinks"),
        unchanged(
            "process.descriptors", "No descriptor is left open after destroy", fix: "Close it in destroy.", mayInitialize: true
        ) { before, after in
            after.descriptors.first { before.descriptors[$0.key] == nil }.map {
                "Descriptor \($0.key) is open after destroy: \($0.value)"
            }
                ?? before.descriptors.first { after.descriptors[$0.key] != $0.value }.map {
                    "Descriptor \($0.key), \($0.value), was closed or replaced"
                }
        }.caused(by: "authorize.kept-sinks"),
        unchanged(
            "process.signals", "Signal handlers and the signal mask stay the host's", fix: "Leave signals alone.", isGos: true
        ) { before, after in
            if let number = before.signals.keys.sorted().first(where: { before.signals[$0] != after.signals[$0] }) {
                return "The action of signal \(number) has changed"
            }
            return before.mask == after.mask ? nil : "The signal mask of the thread has changed"
        },
        unchanged("process.environment", "Environment and locale stay the host's", fix: "Don't call setenv or setlocale.") {
            before, after in
            let name = { (entry: String) in String(entry.prefix { $0 != "=" }) }
            if let changed = Set(before.environment).symmetricDifference(after.environment).map(name).min() {
                return "The variable \(changed) has changed"
            }
            return before.locale == after.locale ? nil : "The locale is \(after.locale)"
        },
        unchanged(
            "process.working-directory", "Working directory, umask, limits and rounding stay the host's",
            fix: "Don't change what belongs to the process."
        ) { before, after in
            if before.workingFolder != after.workingFolder { return "The working directory is \(after.workingFolder)" }
            if before.fileMask != after.fileMask { return "The umask is \(String(after.fileMask, radix: 8))" }
            if before.limits != after.limits { return "A limit has changed (getrlimit)" }
            return before.rounding == after.rounding ? nil : "The rounding mode of numbers has changed (fegetround)"
        },
        Check(
            "process.silent", "Nothing is written to standard output or standard error", scope: .scheme, causes: ["load.silent"]
        ) { context in
            let output = try CapturedOutput()
            defer { _ = output.finish() }
            do { try useAll(Subject(context)) } catch let stop as CheckStop {
                _ = output.finish()
                throw stop
            }
            fflush(nil)
            let text = output.finish()
            guard !text.isEmpty else { return .pass }
            // Shows only the first words, because the rest may be secret.
            return .fail(
                "Standard output belongs to the response's body, and standard error to the host",
                "The plugin wrote \(text.count) bytes, which begin with \"\(Shown.text(Array(text.prefix(16))))\"",
                "Use log of nevod_host")
        },
    ]

    private static func unchanged(
        _ id: String, _ title: String, fix: String, mayInitialize: Bool = false, isGos: Bool = false,
        _ compare: @escaping @Sendable (ProcessState, ProcessState) -> String?
    ) -> Check {
        Check(
            id, title, scope: .scheme,
            causes: [id.replacing(prefix: "process", by: "load")] + (others[id] ?? [])
        ) { context in
            // The first use may open something that stays open, as a cryptography library does.
            if mayInitialize { try useAll(Subject(context)) }
            let before = ProcessState.current
            try useAll(Subject(context))
            guard let difference = compare(before, ProcessState.current) else { return .pass }
            return try changed(Finding(expected: "\(title).", happened: "\(difference).", fix: fix), isGos: isGos, context)
        }
    }

    /// The checks of loading that look for the same changes, in addition to the one with the same name.
    private static let others = [
        "process.environment": ["load.locale"], "process.working-directory": ["load.limits", "load.rounding"],
    ]

    /// Calls each function, and destroys the instance.
    private static func useAll(_ subject: Subject) throws {
        let view = try subject.view()
        do {
            let token = subject.credential()
            _ = subject.authorize(token, view)
            if subject.instance.seesResponses {
                _ = subject.respond(token, view, PlausibleServer.challenge())
            }
            if let issued = subject.issued {
                for kind in [NEVOD_FLOW_REFRESH, NEVOD_FLOW_LOGOUT] {
                    _ = FlowDriver(subject, Int(kind), PlausibleServer(subject.serverStyle()), token: issued).finished()
                }
            }
        }
        subject.instance.destroy()
    }
}

extension String {
    fileprivate func replacing(prefix: String, by other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
