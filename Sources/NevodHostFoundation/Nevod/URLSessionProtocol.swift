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
///         return (Data("{}".utf8), HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil) ?? URLResponse())
///     }
/// }
/// ```
///
/// Its limits are those of Foundation's types: header lines of one name are merged, and a body is collected in memory. Redirects
/// must be returned, not followed: the host follows them.
public protocol URLSessionProtocol: HTTPTransport {
    /// Sends a request, and returns the body and the head of its response.
    ///
    /// - Parameters:
    ///   - request: the request as it is to be sent, with its body in memory.
    ///   - delegate: the one that was passed with the request; see `perform(_:delegate:)`.
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
    /// Sends a request as it is, with the delegate's events. Follows no redirect.
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
