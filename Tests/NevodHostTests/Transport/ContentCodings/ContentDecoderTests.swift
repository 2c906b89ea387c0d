import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests the decoder of bodies without a network, with bodies coded by Python.
struct ContentDecoderTests {
    private let server: ProbeServer
    private let limit = DecompressionLimit()

    private static let names = ["zlib": "deflate", "raw": "deflate", "members": "gzip", "frames": "zstd"]

    init() async throws {
        server = try await ProbeServer.start("coding")
    }

    private func coded(_ query: String) async throws -> [UInt8] {
        let response = try await CurlSession().send(HTTPRequest(.get, "\(server.url)/raw?\(query)"), TransferOptions())
        return try await response.body.collect()
    }

    private func decoder(_ codings: String) throws -> ContentDecoder {
        let names = codings.split(separator: ",").map { Self.names[String($0)] ?? String($0) }
        return try #require(try ContentDecoder([names.joined(separator: ",")], limit: limit))
    }

    /// Decodes bytes that arrive in pieces of these sizes, into buffers of these sizes.
    private func decoded(
        _ bytes: [UInt8], by decoder: ContentDecoder, pieces: (Int) -> Int, room: (Int) -> Int
    ) throws(ContentCodingError) -> [UInt8] {
        var (rest, result, round) = (bytes[...], [UInt8](), 0)
        repeat {
            let piece = Array(rest.prefix(pieces(round)))
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBufferPointer { decoder.receive($0) }
            while true {
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room(round), alignment: 1)
                defer { buffer.deallocate() }
                round += 1
                let count = try decoder.read(into: buffer)
                result += buffer[..<count]
                if count == 0 { break }
            }
            #expect(!decoder.hasInput)
        } while !rest.isEmpty
        try decoder.finish(isDelimited: true)
        return result
    }

    @Test(arguments: ContentCodingTests.all + ["gzip,br", "zstd,raw,gzip"])
    func `Pieces and room of any size give the same bytes`(codings: String) async throws {
        let bytes = try await coded("codings=\(codings)&size=20000")
        let expected = ContentCodingTests.pattern(20_000)
        #expect(try decoded(bytes, by: decoder(codings), pieces: { _ in 1 }, room: { _ in 65536 }) == expected)
        #expect(try decoded(bytes, by: decoder(codings), pieces: { _ in 1 << 20 }, room: { _ in 1 }) == expected)
        var random = SeededRandom(seed: 7)
        for _ in 0..<20 {
            let sizes = (0..<64).map { _ in Int.random(in: 1...700, using: &random) }
            let result = try decoded(
                bytes, by: decoder(codings), pieces: { sizes[$0 % 64] }, room: { sizes[($0 * 7 + 3) % 64] })
            #expect(result == expected)
        }
    }

    @Test(arguments: ContentCodingTests.all)
    func `No beginning of a coded body is complete, except where a member ends`(coding: String) async throws {
        let bytes = try await coded("codings=\(coding)&size=300&kind=random")
        var complete = 0
        for count in 1..<bytes.count {
            let decoder = try decoder(coding)
            do throws(ContentCodingError) {
                _ = try decoded(Array(bytes[..<count]), by: decoder, pieces: { _ in 64 }, room: { _ in 4096 })
                complete += 1
            } catch {
                guard case .truncated = error else { return #expect(Bool(false), "\(count): \(error)") }
            }
        }
        // Two of three members end before the last one. So do the frames to skip.
        #expect(complete == ["members": 2, "frames": 4][coding] ?? 0)
    }

    /// Damage is detected or changes the bytes. It never stops the process, and never exceeds the limit.
    @Test(arguments: ContentCodingTests.all + ["gzip,gzip", "br,zstd"])
    func `Ten thousand damaged bodies do no harm`(codings: String) async throws {
        let bytes = try await coded("codings=\(codings)&size=3000")
        var random = SeededRandom(seed: 11)
        var failures = 0
        for _ in 0..<10_000 {
            var damaged = bytes
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let index = Int.random(in: 0..<damaged.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: damaged[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
                case 1: damaged[index] = UInt8.random(in: 0...255, using: &random)
                case 2: damaged.removeSubrange(index..<min(index + 5, damaged.count - 1))
                default: damaged.insert(contentsOf: damaged[index...].prefix(9), at: index)
                }
            }
            let decoder = try decoder(codings)
            do throws(ContentCodingError) {
                let result = try decoded(damaged, by: decoder, pieces: { _ in 100 }, room: { _ in 16384 })
                #expect(result.count <= limit.most(for: damaged.count))
            } catch {
                failures += 1
            }
        }
        #expect(failures > 5000)
    }

    /// 10,000 empty members, 200,000 bytes, decode to nothing.
    @Test func `A coding that yields nothing is limited too`() async throws {
        let bytes = try await coded("codings=empties,gzip")
        for (allowance, isAllowed) in [(100_000, false), (200_000, true)] {
            let limit = DecompressionLimit(ratio: 0, allowance: allowance)
            let decoder = try #require(try ContentDecoder(["gzip, gzip"], limit: limit))
            do throws(ContentCodingError) {
                let result = try decoded(bytes, by: decoder, pieces: { _ in 1 << 20 }, room: { _ in 4096 })
                #expect(isAllowed && result.isEmpty)
            } catch {
                #expect(!isAllowed && error == .tooLarge(limit: allowance))
            }
        }
    }

    @Test func `A limit never overflows`() {
        #expect(DecompressionLimit(ratio: 10, allowance: 5).most(for: 3) == 35)
        #expect(DecompressionLimit(ratio: .max, allowance: 5).most(for: 3) == .max)
        #expect(DecompressionLimit(ratio: 1, allowance: .max).most(for: 3) == .max)
        #expect(DecompressionLimit(ratio: -1, allowance: -1).most(for: 3) == 0)
    }
}
