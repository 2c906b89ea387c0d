internal import NevodPluginABI

/// The structs that a host fills for a plugin.
package enum ContractStruct: String, Sendable, CaseIterable {
    case errors, host, view, edits, output, response, token, event, actions
    case publicSuffix = "public_suffix"

    /// The size in the struct's first revision, which every plugin may rely on.
    package var minimum: Int {
        switch self {
        case .errors: Int(NEVOD_ERRORS_MINIMUM)
        case .host: Int(NEVOD_HOST_MINIMUM)
        case .view: Int(NEVOD_VIEW_MINIMUM)
        case .edits: Int(NEVOD_EDITS_MINIMUM)
        case .output: Int(NEVOD_OUTPUT_MINIMUM)
        case .response: Int(NEVOD_RESPONSE_MINIMUM)
        case .token: Int(NEVOD_TOKEN_MINIMUM)
        case .event: Int(NEVOD_EVENT_MINIMUM)
        case .actions: Int(NEVOD_ACTIONS_MINIMUM)
        case .publicSuffix: MemoryLayout<nevod_public_suffix>.size
        }
    }
}
