import Glibc
import NevodHost
import NevodHostSecretService
import NevodTestSupport
import Testing

@Suite(.blocking, .serialized) struct SecretServiceStorageTests {
    private let session: KeyringSession
    private let child: Child

    init() throws {
        session = try KeyringSession()
        try session.startBus()
        try session.startKeyring()
        child = try session.child()
    }

    private func lookUp(_ key: String) throws -> String {
        try session.output(["secret-tool", "lookup", "application", "example", "key", key])
    }

    @Test func `A value is in the keyring, visible to other programs, until it is removed`() throws {
        #expect(child("available") == "true")
        #expect(child("get token") == "-")
        let long = String(repeating: "00ff", count: SecretServiceStorage.maximumSize / 2)
        for value in ["616263", "=", "00", "ff00ff0a00", "c3a9", long, "01"] {
            #expect(child("set token \(value)") == "ok")
            #expect(child("get token") == value)
            let seen = try session.python(
                """
                [item] = secretstorage.search_items(bus, {'application': 'example', 'key': 'token'})
                text = item.get_secret().decode()
                assert text.startswith('base64:') and item.get_label() == 'example: token', (text, item.get_label())
                print(base64.b64decode(text[7:], validate=True).hex() or '=')
                """)
            #expect(seen == value)
            #expect(try lookUp("token").hasPrefix("base64:"))
        }
        #expect(child("set ключ 02") == "ok")
        #expect(try lookUp("ключ") == "base64:Ag==")
        #expect(child("set token \(long)00").hasPrefix("tooLarge: token: the value has 65537 bytes, more than 65536"))
        #expect(child("get token") == "01")
        #expect(child("set token -") == "ok" && child("set token -") == "ok")
        #expect(child("get token") == "-")
        #expect(throws: KeyringSession.Failed.self) { try lookUp("token") }
        #expect(child("get ключ") == "02")
    }

    @Test func `A value survives a restart of the service, and the client finds the new one`() throws {
        #expect(child("set token 0102") == "ok")
        session.killKeyring()
        #expect(child("get token").hasPrefix("unavailable: the Secret Service: is not on the session bus"))
        #expect(child("set token 03").hasPrefix("unavailable: the Secret Service: is not on the session bus"))
        #expect(child("available") == "false")
        try session.startKeyring()
        #expect(child("get token") == "0102")
        #expect(child("set token 03") == "ok")
        session.killKeyring()
        try session.startKeyring()
        // The connection to the old service recovers.
        #expect(child("set token 04") == "ok")
        #expect(child("get token") == "04")
    }

    @Test func `A service that stops during a call is an error, without waiting for the limit`() throws {
        #expect(child("set token 01") == "ok")
        session.signalKeyring(SIGSTOP)
        child.ask("get token")
        session.killKeyring()
        #expect(child.result().hasPrefix("unavailable: the Secret Service: "))
    }

    @Test func `Concurrent calls to a silent service all fail at one limit`() throws {
        #expect(child("set token 01") == "ok")
        #expect(child("limit 1") == "ok")
        session.signalKeyring(SIGSTOP)
        let start = ContinuousClock.now
        #expect(child("get token").hasPrefix("unavailable: the Secret Service: has not responded within 1.0 seconds"))
        #expect(child("many 20").hasPrefix("unavailable: the Secret Service: has not responded within 1.0 seconds"))
        #expect(ContinuousClock.now - start < .seconds(18))
        session.signalKeyring(SIGCONT)
        #expect(child("limit 10") == "ok")
        #expect(child("get token") == "01")
    }

    @Test func `A locked keyring is an error, without a prompt`() throws {
        #expect(child("set token 01") == "ok")
        let key = child("key \(String(repeating: "0a", count: 16)) new")
        try session.python("secretstorage.get_default_collection(bus).lock()")
        for command in [
            "get token", "get other", "set token 02", "set other 02", "set token -", "replace token 01 02", "replace other - 02",
            "key \(String(repeating: "0a", count: 16)) old", "key \(String(repeating: "0b", count: 16)) new",
        ] {
            let start = ContinuousClock.now
            #expect(child(command).hasPrefix("unavailable: the Secret Service: the keyring is locked; unlock it"), "\(command)")
            #expect(ContinuousClock.now - start < .seconds(9))
        }
        #expect(child("available") == "false")
        session.killKeyring()
        try session.startKeyring()
        #expect(child("get token") == "01")
        #expect(child("key \(String(repeating: "0a", count: 16)) old") == key)
    }

    @Test func `Without a default keyring, whether there is a value is unknown`() throws {
        #expect(child("set token 01") == "ok")
        try session.python("secretstorage.get_default_collection(bus).delete()")
        for command in [
            "get token", "get other", "set token -", "replace token - 02", "key \(String(repeating: "0a", count: 16)) old",
        ] {
            #expect(
                child(command).hasPrefix("unavailable: the Secret Service: there is no default keyring; create one"), "\(command)"
            )
        }
        #expect(child("available") == "false")
    }

    @Test func `One of several processes that replace the same value succeeds`() throws {
        #expect(child("replace token - 01") == "true")
        #expect(child("replace token - 02") == "false")
        #expect(child("replace token 02 03") == "false")
        #expect(child("replace token 01 =") == "true")
        #expect(child("replace token = -") == "true")
        #expect(child("get token") == "-")
        let children = [child, try session.child(), try session.child(), try session.child()]
        for child in children { child.ask("count token 15") }
        for child in children { #expect(child.result() == "ok") }
        #expect(child("get token") == "3c")
    }

    @Test func `Twenty concurrent writes are all stored`() throws {
        #expect(child("many 20") == "ok")
        let found = try session.python(
            "print(len(list(secretstorage.search_items(bus, {'application': 'example'}))))")
        #expect(found == "20")
    }

    @Test func `An item of another program is not read as a value`() throws {
        try session.python(
            """
            collection = secretstorage.get_default_collection(bus)
            collection.create_item('x', {'xdg:schema': 'dev.nevod.Value', 'application': 'example', 'key': 'token'}, b'a token')
            """)
        #expect(child("get token").hasPrefix("damaged: token: the keyring's item was not written by this store"))
    }

    @Test func `The process survives the end of the bus`() throws {
        #expect(child("set token 01") == "ok")
        session.stopBus()
        #expect(child("turn") == "true")
        #expect(child("get token").hasPrefix("unavailable: "))
        #expect(child("turn") == "true")
    }
}
