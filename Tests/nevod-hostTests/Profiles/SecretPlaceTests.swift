import Testing

@testable import nevod_host

@Suite struct SecretPlaceTests {
    @Test(arguments: SecretPlace.allCases, [1, 2])
    func `A source of profile add is recognized by its profile`(place: SecretPlace, number: Int) {
        #expect(SecretPlace(of: place.source("my work", "key", number: number), in: "my work") == place)
    }

    @Test(
        arguments: [
            "keyring:theirs", "keyring:work", "keyring:worker/key", "keyring:other/key", "keyring:", "file:work.key",
            "file:secrets/work/key", "file:/etc/secrets/work.key", "env:WORK", "command:pass show work", "-", "",
        ])
    func `A source that profile add doesn't write belongs to the user`(source: String) {
        #expect(SecretPlace(of: source, in: "work") == nil)
    }
}
