import NevodPluginABI
import Testing

@testable import NevodHost

/// Tests the services that `nevod_host` offers to plugins.
struct HostServicesTests {
    private func finds(_ name: String) throws -> Bool {
        let services = HostServices(of: .of(library: "built in"), log: { _, _ in })
        let find = try #require(services.table.pointee.get_extension)
        var name = name
        return name.withUTF8 {
            find(services.table.pointee.host, nevod_bytes(data: $0.baseAddress, count: UInt64($0.count))) != nil
        }
    }

    @Test func `An extension is found by its name and revision only`() throws {
        #expect(try finds("nevod.public-suffix/1"))
        for name in ["", "nevod.public-suffix/2", "nevod.public-suffix", "nevod.public-suffix/1 ", "nevod.tls-identity/1"] {
            #expect(try !finds(name), "\(name)")
        }
    }
}
