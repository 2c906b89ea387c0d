import Foundation
import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests that processes started by this one don't inherit its connections.
struct CurlSocketsTests {
    /// A connection in the middle of a transfer, with the kernel's number for its socket.
    private struct Connection {
        let inode: Int
        let transfer: Task<TransportError.Code?, Never>
        let closed: Latch
    }

    private func connection(_ session: CurlSession) async throws -> Connection {
        let arrived = Latch()
        let closed = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            arrived.set()
            if connection.waitForEnd() { closed.set() }
        }
        let request = try HTTPRequest(.get, server.url)
        let transfer = Task { () -> TransportError.Code? in
            do throws(TransportError) {
                _ = try await session.send(request, TransferOptions(timeout: nil))
                return nil
            } catch { return error.code }
        }
        await arrived.wait()
        let inode = try #require(try Self.inode(ofConnectionTo: request.origin.port))
        return Connection(inode: inode, transfer: transfer, closed: closed)
    }

    /// proc(5), /proc/net/tcp: the third field is the peer in hexadecimal, the fourth the state, the tenth the socket.
    private static func inode(ofConnectionTo port: UInt16) throws -> Int? {
        let table = String(decoding: try contents(of: "/proc/self/net/tcp"), as: UTF8.self)
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ")
            let isEstablished = fields[3] == "01"
            if isEstablished, fields[2].hasSuffix(":\(hex([UInt8(port >> 8), UInt8(port & 255)]).uppercased())") {
                return Int(fields[9])
            }
        }
        return nil
    }

    @Test func `A program that this one starts does not inherit its connections`() async throws {
        let connection = try await connection(CurlSession())
        let inherited = try Command.output(["ls", "-l", "/proc/self/fd"])
        #expect(!inherited.contains("socket:[\(connection.inode)]"))
        connection.transfer.cancel()
        #expect(await connection.transfer.value == .cancelled)
        await connection.closed.wait()
    }

    /// While another descriptor shares a connection, the kernel keeps watching a closed one, which epoll_ctl can no longer name.
    /// The loop would spin.
    @Test func `A closed connection whose descriptor was duplicated is no longer watched`() async throws {
        let session = CurlSession()
        let connection = try await connection(session)
        let own = try #require(Self.descriptor(of: connection.inode))
        let shared = dup(own)
        defer { close(shared) }
        #expect(Self.isWatched(connection.inode))
        connection.transfer.cancel()
        #expect(await connection.transfer.value == .cancelled)
        #expect(await eventually { !Self.isWatched(connection.inode) })
    }

    /// Searches all descriptors of this process, which runs other tests at the same time.
    private static func descriptor(of inode: Int) -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap(Int32.init).first {
            var info = stat()
            return fstat($0, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK && Int(info.st_ino) == inode
        }
    }

    /// proc(5), /proc/pid/fdinfo: an epoll descriptor has a line for each descriptor that it watches.
    private static func isWatched(_ inode: Int) -> Bool {
        let folder = "/proc/self/fdinfo"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.contains { file in
            let lines = (try? contents(of: "\(folder)/\(file)")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return lines.split(separator: "\n").contains {
                $0.hasPrefix("tfd:") && $0.contains("ino:\(String(inode, radix: 16)) ")
            }
        }
    }
}
