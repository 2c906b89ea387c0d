internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The delegate of the request that the current task sends. It passes through the provider without being known to it: only a
/// session of Foundation's can call it.
enum RequestDelegate {
    @TaskLocal static var current: (any URLSessionTaskDelegate)?
}
