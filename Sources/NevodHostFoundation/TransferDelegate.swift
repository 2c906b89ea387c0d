internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Forwards each task's events to its transfer, and refuses redirects and challenges, which the host handles itself. It is the
/// delegate of the session, since Linux ignores the delegate of a task.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private struct Entry {
        let transfer: URLTransfer
        /// The delegate that was passed with the request.
        let informed: (any URLSessionTaskDelegate)?
    }

    private let entries = Locked<[Int: Entry]>([:])
    private let pins: PinnedKeys

    init(_ pins: PinnedKeys) {
        self.pins = pins
    }

    /// Registers a transfer until its task has finished.
    ///
    /// - Parameter informed: is told of bytes sent, and of the end; decides nothing.
    func add(_ transfer: URLTransfer, _ task: URLSessionTask, informing informed: (any URLSessionTaskDelegate)?) {
        let id = task.taskIdentifier
        entries.withLock { $0[id] = Entry(transfer: transfer, informed: informed) }
    }

    var isIdle: Bool { entries.withLock { $0.isEmpty } }

    private func entry(of task: URLSessionTask) -> Entry? {
        let id = task.taskIdentifier
        return entries.withLock { $0[id] }
    }

    private func transfer(of task: URLSessionTask) -> URLTransfer? {
        entry(of: task)?.transfer
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        entry(of: task)?.informed?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // The challenge arrives after the whole body of a 401, and the task can continue only with a credential.
            transfer(of: task)?.finish(.success(()))
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let space = challenge.protectionSpace
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            guard pins.allow(serverOf: space) else {
                transfer(of: task)?.finish(.failure(PinnedKeys.mismatch(at: space.host)))
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.performDefaultHandling, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { transfer(of: dataTask)?.receiveHead(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let id = task.taskIdentifier
        guard let entry = entries.withLock({ $0.removeValue(forKey: id) }) else { return }
        let transfer = entry.transfer
        entry.informed?.urlSession(session, task: task, didCompleteWithError: error)
        if let error { return transfer.finish(.failure(TransportError(error))) }
        // For a redirect without a Location, `didReceive response` has not been called.
        if let response = task.response as? HTTPURLResponse { transfer.receiveHead(response) }
        transfer.finish(.success(()))
    }
}
