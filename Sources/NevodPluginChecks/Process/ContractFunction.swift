/// The parts of a plugin that run during a check, by their place in the shared page.
enum ContractFunction: Int, CaseIterable {
    case constructors, entryPoint, tables
    case create, needs, tokenDecode, authorize, onResponse, flowBegin, flowStep, bodyPiece
    case bodyFree, flowFree, tokenFree, destroy, getExtension, destructors

    var name: String {
        switch self {
        case .constructors: "its constructors"
        case .entryPoint: "nevod_plugin_v1"
        case .tables: "its tables"
        case .create: "create"
        case .needs: "needs"
        case .tokenDecode: "token_decode"
        case .authorize: "authorize"
        case .onResponse: "on_response"
        case .flowBegin: "flow_begin"
        case .flowStep: "flow_step"
        case .bodyPiece: "body_piece"
        case .bodyFree: "body_free"
        case .flowFree: "flow_free"
        case .tokenFree: "token_free"
        case .destroy: "destroy"
        case .getExtension: "get_extension"
        case .destructors: "its destructors"
        }
    }

    init?(named name: String) {
        guard let found = Self.byName[name] else { return nil }
        self = found
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}
