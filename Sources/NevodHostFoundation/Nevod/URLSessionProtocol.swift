public import Foundation
public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A transport written against Foundation's types, such as a test double:
///
/// ```swift
/// struct ScriptedSession: URLSessionProtocol {
///     func requestData(
///         for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
///     ) async throws -> (Data, URLResponse) {
///         let url = request.url ?? URL(fileURLWithPath: "/")
///         let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
///         return (Data("{}".utf8), head ?? URLResponse())
///     }
/// }
/// ```
///
/// It has the limits of Foundation's types: header lines of one name are merged, and a body is collected in memory. It must
/// return redirects instead of following them: the host follows them.
public protocol URLSessionProtocol: HTTPTransport {
    /// Sends a request, and returns the body and the head of its response.
    ///
    /// - Parameters:
    ///   - request: the request to send, with its body in memory.
    ///   - delegate: the delegate that was passed with the request; see `perform(_:delegate:)`.
    func requestData(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse)
}

extension URLSessionProtocol {
    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        var request = request
        prepare(&request)
        let shaped = try URLRequest(sending: request, try await request.body.collectForUpload())
        let (body, response) = try await received(shaped)
        guard let response = response as? HTTPURLResponse else {
            throw TransportError(.malformedResponse, "the session returned no HTTPURLResponse")
        }
        guard (100...599).contains(response.statusCode) else {
            throw TransportError(.malformedResponse, "the status is \(response.statusCode), not a number from 100 to 599")
        }
        if case .collected(let limit) = options.delivery, body.count > limit {
            throw TransportError(.bodyTooLarge(limit: limit))
        }
        return HTTPResponse(response).withBody(.bytes(Array(body)))
    }

    private func received(_ request: URLRequest) async throws(TransportError) -> (Data, URLResponse) {
        do {
            return try await requestData(for: request, delegate: RequestDelegate.current)
        } catch let error as TransportError {
            throw error
        } catch is CancellationError {
            throw TransportError(.cancelled)
        } catch {
            throw TransportError(error)
        }
    }
}

extension URLSession: URLSessionProtocol {
    /// Sends a request unchanged, and tells the delegate of its events. Doesn't follow redirects.
    public func requestData(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let native = try HTTPRequest(request)
        let response = try await RequestDelegate.$current.withValue(delegate) {
            try await send(native, TransferOptions(timeout: .seconds(request.timeoutInterval)))
        }
        guard let head = URLRequest.response(response, to: native) else { throw URLError(.badServerResponse) }
        return (Data(try await response.body.collect()), head)
    }
}

/// Foundation's session, under the name that Nevod gives it.
public typealias URLSessionType = URLSession

extension NetworkProvider {
    /// Sends a route's request, and returns its decoded response.
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - delegate: if the transport is a `URLSession`, it is told of sent bytes (`didSendBodyData`) and of the end of each
    ///     attempt (`didCompleteWithError`). It decides nothing: the host handles redirects and challenges. Other transports
    ///     don't call it.
    /// - Throws: always a `NetworkError`.
    public func perform<R: Route>(
        _ route: R, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> R.Response where R.Response: Sendable {
        try await RequestDelegate.$current.withValue(delegate) { try await perform(route) }
    }

    /// Like `perform(_:delegate:)`, but returns the error as a value.
    public func request<R: Route>(
        _ route: R, delegate: (any URLSessionTaskDelegate)?
    ) async -> Result<R.Response, NetworkError> where R.Response: Sendable {
        await RequestDelegate.$current.withValue(delegate) { await request(route) }
    }
}

/// The delegate of the request that the current task sends. The provider doesn't know of it: only a session of Foundation's can
/// call it.
enum RequestDelegate {
    @TaskLocal static var current: (any URLSessionTaskDelegate)?
}
