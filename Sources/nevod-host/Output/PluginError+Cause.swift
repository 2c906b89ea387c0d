import NevodHost

extension PluginError {
    /// Returns the plugin's error that another error was made of; nil if there is none.
    static func cause(of error: any Error) -> PluginError? {
        switch error {
        case let error as PluginError: error
        case NetworkError.plugin(let error): error
        case NetworkError.authenticationFailed(let error), NetworkError.interceptor(_, let error): cause(of: error)
        default: nil
        }
    }
}
