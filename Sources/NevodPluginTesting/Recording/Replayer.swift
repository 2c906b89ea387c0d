package import NevodPluginABI
internal import NevodSupport

/// Runs recorded calls with a plugin, one after another. A mistake in a recording, such as a flow that doesn't exist, is an error
/// and not a crash.
package final class Replayer {
    /// The reason why a recorded call can't be run.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    private let schemes: [(id: [UInt8], table: UnsafePointer<nevod_scheme>)]
    private var instances: [Int: ContractInstance] = [:]
    private var tokens: [Int: DecodedToken] = [:]
    private var flows: [Int: ContractFlow] = [:]
    private var wrappings: [Int: (instance: Int, pointer: UInt)] = [:]

    package init(_ plugin: UnsafePointer<nevod_plugin>) {
        schemes = ContractHost.schemes(of: plugin).map { scheme in
            var reader = TableReader()
            return (reader.bytes(scheme.pointee.id, "a scheme's id"), scheme)
        }
    }

    deinit {
        // Freed before their instances.
        flows = [:]
        tokens = [:]
    }

    /// Runs a call with its recorded inputs. The plugin's own calls get the recorded results.
    ///
    /// - Returns: the outcome, with wrappings under their recorded numbers, and the result of `needs`.
    package func run(_ call: RecordedCall) throws(Problem) -> (ContractOutcome, needs: ContractNeeds?) {
        if case .create(let id, let settings) = call.function { return (try create(id, settings, call), nil) }
        let instance = try found(instances[call.instance], "the instance \(call.instance)")
        instance.host.replaceResults(Self.results(of: call.outcome))
        defer { instance.host.replaceResults(nil) }
        let nothing = ContractOutcome(result: 0, sinks: [], faults: [])
        switch call.function {
        case .create: return (nothing, nil)
        case .needs:
            let (needs, faults) = instance.needs()
            return (ContractOutcome(result: 0, sinks: [], faults: faults), needs)
        case .tokenDecode(let number, let bytes):
            let (token, outcome) = instance.decode(bytes)
            tokens[number] = token
            return (outcome, nil)
        case .tokenFree(let number): tokens[number] = nil
        case .authorize(let token, let view):
            return (numbered(instance.authorize(try argument(token, instance), view), as: call), nil)
        case .onResponse(let token, let view, let response):
            return (instance.respond(try argument(token, instance), view, to: response), nil)
        case .flowBegin(let number, let kind):
            let (flow, outcome) = instance.begin(Int(kind))
            flows[number] = flow
            return (outcome, nil)
        case .flowStep(let number, let event): return (try found(flows[number], "the flow \(number)").step(event), nil)
        case .flowFree(let number): flows[number] = nil
        case .bodyPiece(let number, let piece, let isLast):
            let wrapping = try wrapping(number, of: call.instance)
            return (instance.bodyPiece(wrapping, piece, isLast: isLast), nil)
        case .bodyFree(let number):
            instance.freeBody(try wrapping(number, of: call.instance))
            wrappings[number] = nil
        case .destroy: instances[call.instance] = nil
        }
        return (nothing, nil)
    }

    private func create(_ id: [UInt8], _ settings: [ContractPair], _ call: RecordedCall) throws(Problem) -> ContractOutcome {
        let name = String(decoding: id, as: UTF8.self)
        guard let scheme = schemes.first(where: { $0.id == id })?.table else {
            throw Problem(description: "the plugin has no scheme \"\(name)\"")
        }
        let host = ContractHost(scheme)
        host.replaceResults(Self.results(of: call.outcome))
        defer { host.replaceResults(nil) }
        let (instance, outcome) = host.create(settings)
        instances[call.instance] = instance
        return outcome
    }

    private func found<Value>(_ value: Value?, _ what: String) throws(Problem) -> Value {
        guard let value else { throw Problem(description: "\(what) doesn't exist") }
        return value
    }

    private func argument(
        _ token: RecordedCall.Token, _ instance: ContractInstance
    ) throws(Problem) -> ContractInstance.TokenArgument {
        switch token {
        case .none: return .none
        case .stored(let token):
            // The plugin would mistake the struct for its own object.
            guard !instance.decodesTokens else {
                throw Problem(description: "the plugin decodes tokens now, but did not when it was recorded")
            }
            return .stored(token)
        case .decoded(let number):
            let token = try found(tokens[number], "the token \(number)")
            guard token.instance === instance else {
                throw Problem(description: "the token \(number) belongs to another instance")
            }
            return .decoded(token)
        }
    }

    private func wrapping(_ number: Int, of instance: Int) throws(Problem) -> UInt {
        let found = try found(wrappings[number], "the wrapping \(number)")
        guard found.instance == instance else { throw Problem(description: "the wrapping \(number) belongs to another instance") }
        return found.pointer
    }

    /// The recorded results for the plugin's calls: the same call's result, or the result of the same function at the same place.
    private static func results(of outcome: ContractOutcome) -> ContractHost.SinkResult {
        { call, index in
            if outcome.sinks.indices.contains(index), outcome.sinks[index].call.function == call.function {
                return outcome.sinks[index].result
            }
            return outcome.sinks.first { $0.call == call }?.result
        }
    }

    /// Gives the wrappings of an outcome the numbers that they had when they were recorded, because a pointer differs in each
    /// run.
    private func numbered(_ outcome: ContractOutcome, as call: RecordedCall) -> ContractOutcome {
        let recorded = call.outcome
        let sinks = outcome.sinks.enumerated().map { index, sink in
            guard case .wrapBody(let length, let pointer) = sink.call else { return sink }
            var number: UInt = 0
            if recorded.sinks.indices.contains(index), case .wrapBody(_, let known) = recorded.sinks[index].call {
                number = known
            }
            wrappings[Int(clamping: number)] = (call.instance, pointer)
            return SinkRecord(.wrapBody(length: length, wrapping: number), result: sink.result)
        }
        return ContractOutcome(result: outcome.result, sinks: sinks, faults: outcome.faults)
    }
}
