internal import CLinux
internal import Glibc
internal import NevodProcesses

/// Runs checks, each in a separate process, several at once.
package struct CheckRunner {
    package struct Options: Sendable {
        /// The canonical path of the plugin's file.
        package var path: String
        /// The seconds that each check may take.
        package var timeout: Int
        package var seed: UInt64
        /// The seconds of `--fuzz`; 0 without it.
        package var fuzzSeconds: Int
        /// Whether a fuzzing check without seconds runs the seed's single case.
        package var repeatsFuzzedCase: Bool

        package init(path: String, timeout: Int = 10, seed: UInt64, fuzzSeconds: Int = 0, repeatsFuzzedCase: Bool = false) {
            self.path = path
            self.timeout = timeout
            self.seed = seed
            self.fuzzSeconds = fuzzSeconds
            self.repeatsFuzzedCase = repeatsFuzzedCase
        }
    }

    /// The report from the child that loaded the plugin.
    package enum Description: Sendable {
        case schemes([DescribedScheme])
        /// The host doesn't use the plugin, for this reason.
        case unusable(String)
        /// It crashed, hung or ended the process in this part. The same would happen in each check.
        case died(String, DeadlyPart)
    }

    package enum DeadlyPart: Sendable {
        case constructors, entryPoint, tables

        /// Whether a check reports that the plugin died here. Other checks that load the plugin are left out.
        func isReported(by check: Check) -> Bool {
            switch self {
            case .constructors: check.id == "load.resolves"
            case .entryPoint: check.id == "load.resolves" || check.id == "load.same-table"
            case .tables: check.category == "load" || check.id == "description.table"
            }
        }
    }

    /// A child process can't be started, so nothing can be said about the plugin.
    package struct Unable: Error, CustomStringConvertible {
        package let description: String
    }

    private let options: Options

    package init(_ options: Options) {
        self.options = options
    }

    /// Loads the plugin in a child process.
    package func describe() throws(Unable) -> Description {
        var description = Description.unusable("")
        try runChildren([(job(CheckJob.describe, scheme: "", []), options.timeout)]) { _, ended in
            switch ended.ending {
            case .reply(.schemes(let schemes)): description = .schemes(schemes)
            case .reply(.refused(let reason)): description = .unusable(reason)
            case .reply(.result), .reply(.text), .silent, .stuck:
                description =
                    switch ended.function {
                    case .constructors: .died(ended.summary, .constructors)
                    case .entryPoint: .died(ended.summary, .entryPoint)
                    case .tables: .died(ended.summary, .tables)
                    default: .unusable(ended.summary)
                    }
            }
        }
        return description
    }

    /// The result of `inspect` for a plugin.
    package enum Inspection: Sendable {
        case text(String)
        /// The host doesn't use the plugin, for this reason.
        case refused(String)
        /// The plugin crashed, hung or ended the process.
        case died(String)
    }

    /// Loads the plugin in a child process, and returns its output.
    package func inspect(asJSON: Bool) throws(Unable) -> Inspection {
        var inspection = Inspection.refused("")
        let word = asJSON ? CheckJob.inspectJSON : CheckJob.inspectText
        try runChildren([(job(word, scheme: "", []), options.timeout)]) { _, ended in
            switch ended.ending {
            case .reply(.text(let text)): inspection = .text(text)
            case .reply(.refused(let reason)): inspection = .refused(reason)
            case .reply, .silent, .stuck: inspection = .died(ended.report ?? "\(options.path): \(ended.summary)")
            }
        }
        return inspection
    }

    /// Runs checks on the file, the library and each of the schemes.
    ///
    /// - Parameters:
    ///   - checks: in the order of the report.
    ///   - description: from ``describe()``.
    ///   - settings: for the schemes.
    ///   - schemeIDs: the schemes to check; nil for all.
    ///   - report: called once for each outcome, in the order of the checks, as soon as all earlier outcomes are known.
    package func run(
        _ checks: [Check], _ description: Description, settings: [GivenSetting], schemeIDs: [String]? = nil,
        report: (Outcome) -> Void
    ) throws(Unable) {
        var outcomes: [Outcome?] = []
        var jobs: [(job: CheckJob, seconds: Int)] = []
        var places: [(index: Int, check: Check, scheme: String?)] = []
        var known: [DescribedScheme] = []
        var reason = ""
        var deadly: DeadlyPart?
        switch description {
        case .schemes(let schemes): known = schemes.filter { schemeIDs?.contains($0.id) ?? true }
        case .unusable(let why): reason = why
        case .died(let why, let part): (reason, deadly) = (why, part)
        }
        for check in checks {
            if check.id == CheckCatalogue.accepted.id {
                outcomes.append(nil)
                continue
            }
            switch check.scope {
            case .plugin where deadly.map { !$0.isReported(by: check) } ?? false:
                outcomes.append(Outcome(check, nil, .skipped, note: "the plugin can't be loaded: \(reason)"))
            case .file, .plugin:
                places.append((outcomes.count, check, nil))
                jobs.append((job(check.id, scheme: "", []), options.timeout * check.patience))
                outcomes.append(nil)
            case .fuzz where options.fuzzSeconds == 0 && !options.repeatsFuzzedCase: break
            case .scheme, .fuzz:
                if !reason.isEmpty {
                    outcomes.append(Outcome(check, nil, .skipped, note: "the host doesn't use the plugin: \(reason)"))
                }
                for scheme in known {
                    let own = settings.filter { given in scheme.settings.contains { $0.name == given.name } }
                    places.append((outcomes.count, check, scheme.id))
                    jobs.append(
                        (
                            job(check.id, scheme: scheme.id, own),
                            options.timeout * check.patience + (check.scope == .fuzz ? options.fuzzSeconds : 0)
                        ))
                    outcomes.append(nil)
                }
            }
        }
        let acceptance = checks.contains { $0.id == CheckCatalogue.accepted.id }
        let acceptanceIndex =
            acceptance
            ? outcomes.indices.first { index in outcomes[index] == nil && !places.contains { $0.index == index } } : nil
        var reported = 0
        /// The outcomes of the checks whose failure makes this one fail too; nil for each outcome that isn't known yet.
        func causes(of outcome: Outcome) -> [Outcome?] {
            var found = outcomes.compactMap { $0 }.filter { other in
                outcome.check.causes.contains(other.check.id) && (other.scheme == nil || other.scheme == outcome.scheme)
            }.map { Optional($0) }
            let isPending = places.contains { place in
                outcomes[place.index] == nil && outcome.check.causes.contains(place.check.id)
                    && (place.scheme == nil || place.scheme == outcome.scheme)
            }
            if isPending { found.append(nil) }
            return found
        }
        func reportKnown() {
            while reported < outcomes.count, var outcome = outcomes[reported] {
                if outcome.finding != nil {
                    let causes = causes(of: outcome)
                    if let cause = causes.compactMap({ $0 }).first(where: { $0.kind.isFailure }) {
                        outcome = Outcome(
                            outcome.check, outcome.scheme, .skipped, note: "not judged while \(cause.check.id) fails")
                    } else if causes.contains(where: { $0 == nil }) {
                        return
                    }
                }
                report(outcome)
                reported += 1
            }
        }
        reportKnown()
        var left = places.count
        func settleAcceptance() {
            guard left == 0, let acceptanceIndex else { return }
            let explained = outcomes.contains { $0?.kind.isFailure == true }
            outcomes[acceptanceIndex] = CheckCatalogue.acceptance(refusal: reason, isExplained: explained)
        }
        settleAcceptance()
        reportKnown()
        /// Whether a check would only fail again, perhaps after its full timeout. Such a check isn't started.
        func isPointless(_ index: Int) -> Bool {
            let place = places[index]
            let cause = place.check.causes.first { cause in
                outcomes.contains { outcome in
                    outcome?.check.id == cause && outcome?.kind.isFailure == true
                        && (outcome?.scheme == nil || outcome?.scheme == place.scheme)
                }
            }
            guard let cause else { return false }
            outcomes[place.index] = Outcome(place.check, place.scheme, .skipped, note: "not judged while \(cause) fails")
            left -= 1
            settleAcceptance()
            reportKnown()
            return true
        }
        try runChildren(jobs, isPointless: isPointless) { index, ended in
            let place = places[index]
            outcomes[place.index] = outcome(of: place.check, place.scheme, ended, seconds: jobs[index].seconds)
            left -= 1
            settleAcceptance()
            reportKnown()
        }
    }

    private func job(_ check: String, scheme: String, _ settings: [GivenSetting]) -> CheckJob {
        CheckJob(
            check: check, path: options.path, scheme: scheme, settings: settings, seed: options.seed,
            fuzzSeconds: UInt32(clamping: options.fuzzSeconds))
    }

    // MARK: Results

    private func outcome(of check: Check, _ scheme: String?, _ ended: Ended, seconds: Int) -> Outcome {
        let rule = "\(check.title)."
        switch ended.ending {
        case .reply(.result(let result)): return Outcome(check, scheme, result, nanoseconds: ended.nanoseconds)
        case .reply(.refused(let reason)): return Outcome(check, scheme, .skipped, note: reason, nanoseconds: ended.nanoseconds)
        case .reply(.schemes), .reply(.text), .silent:
            let finding = Finding(
                expected: rule, happened: "\(ended.summary)\(ended.lastWords)",
                fix:
                    "Run \"nevod-host check\" with --only '^\(check.id)$' --seed \(ended.seed ?? options.seed) under a debugger, or build the plugin "
                    + "with -fsanitize=address.")
            return Outcome(check, scheme, .crashed, finding: finding, nanoseconds: ended.nanoseconds)
        case .stuck:
            let finding = Finding(
                expected: rule, happened: "After \(seconds) s, \(ended.stuckPlace)\(ended.lastWords)",
                fix: "Let the function return in bounded time, or allow more time with --timeout SECONDS."
                    + (ended.seed.map { " To repeat the case: --only '^\(check.id)$' --seed \($0)" } ?? ""))
            return Outcome(check, scheme, .timedOut, finding: finding, nanoseconds: ended.nanoseconds)
        }
    }

    // MARK: Children

    /// The result of a child process.
    private struct Ended {
        enum Ending {
            case reply(ChildReply)
            /// The child sent no message.
            case silent(Subprocess.Ending)
            case stuck
        }

        let ending: Ending
        let function: ContractFunction?
        /// The seed of the last random case.
        let seed: UInt64?
        let output: [UInt8]
        let nanoseconds: Int64

        private var place: String { function.map { " in \($0.name)" } ?? " outside the checked functions" }

        var summary: String {
            switch ending {
            case .reply: "The child process sent the wrong message."
            case .silent(.signal(let number)): "The plugin crashed\(place) (\(Self.name(ofSignal: number)))."
            case .silent(.exit(let status)): "The plugin ended the process\(place), with the status \(status)."
            case .stuck: "\(stuckPlace.prefix(1).uppercased())\(stuckPlace.dropFirst())"
            }
        }

        var stuckPlace: String {
            function.map { "the plugin had not returned from \($0.name)." }
                ?? "the check had not finished, outside the plugin's functions."
        }

        /// The crash report's line, without the program's name.
        var report: String? {
            let mark = "nevod-host: "
            let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
            return lines.last { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
        }

        /// The process's last line of output, which often names the reason.
        var lastWords: String {
            let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
            return lines.last.map { " Its last line was: \($0.prefix(300))" } ?? ""
        }

        private static func name(ofSignal number: Int32) -> String {
            let names: [Int32: String] = [
                SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGTRAP: "SIGTRAP", SIGSYS: "SIGSYS",
                SIGABRT: "SIGABRT", SIGPIPE: "SIGPIPE", SIGKILL: "SIGKILL", SIGTERM: "SIGTERM", SIGALRM: "SIGALRM",
                SIGXCPU: "SIGXCPU",
            ]
            return names[number] ?? "signal \(number)"
        }
    }

    private func runChildren(
        _ jobs: [(job: CheckJob, seconds: Int)], isPointless: (Int) -> Bool = { _ in false }, _ finished: (Int, Ended) -> Void
    ) throws(Unable) {
        var running: [(index: Int, child: ChildProcess, deadline: Int64, isLate: Bool)] = []
        defer { for entry in running { entry.child.kill() } }
        let most = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        var next = 0
        while next < jobs.count || !running.isEmpty {
            while next < jobs.count, running.count < most {
                if isPointless(next) {
                    next += 1
                    continue
                }
                do throws(ChildProcess.SpawnError) {
                    let child = try ChildProcess(jobs[next].job)
                    running.append((next, child, child.started + Int64(jobs[next].seconds) * 1_000_000_000, false))
                } catch { throw Unable(description: error.description) }
                next += 1
            }
            if running.isEmpty { continue }
            Self.wait(for: running.map(\.child))
            for position in running.indices.reversed() {
                running[position].child.readPipes()
                let entry = running[position]
                if let ending = entry.child.reap() {
                    running.remove(at: position)
                    finished(entry.index, Self.ended(entry.child, ending, isLate: entry.isLate))
                } else if !entry.isLate, nevod_monotonic_nanoseconds() > entry.deadline {
                    running[position].isLate = true
                    entry.child.kill()
                }
            }
        }
    }

    /// Waits until a pipe can be read, but only briefly, because a child may be closing its pipes or have closed them.
    private static func wait(for children: [ChildProcess]) {
        var polled: [pollfd] = []
        var isClosing = false
        for child in children {
            if child.replyPipe < 0 || child.outputPipe < 0 { isClosing = true }
            for pipe in [child.replyPipe, child.outputPipe] where pipe >= 0 {
                polled.append(pollfd(fd: pipe, events: Int16(POLLIN), revents: 0))
            }
        }
        poll(&polled, nfds_t(polled.count), isClosing ? 1 : 50)
    }

    private static func ended(_ child: ChildProcess, _ ending: Subprocess.Ending, isLate: Bool) -> Ended {
        let duration = nevod_monotonic_nanoseconds() - child.started
        let reply: ChildReply? =
            if case .exit(0) = ending { try? ChildReply(decoding: child.reply) } else { nil }
        let how: Ended.Ending = if let reply { .reply(reply) } else if isLate { .stuck } else { .silent(ending) }
        return Ended(
            ending: how, function: child.page.current, seed: child.page.seed, output: child.output, nanoseconds: duration)
    }
}
