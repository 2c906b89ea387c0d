import Testing

@testable import nevod_host

@Suite struct ProfileFlagTests {
    @Test(
        "A source's path is relative to the config file's folder; nothing else is changed",
        arguments: [
            (Flag.Name.set, "a=file:b", "a=file:/c/b"), (.set, "a=file:/b", "a=file:/b"), (.set, "a=file:~/b", "a=file:~/b"),
            (.set, "a=file:-", "a=file:-"), (.set, "a=b/file:c", "a=b/file:c"), (.set, "file:b", "file:b"),
            (.set, "a=text:file:b", "a=text:file:b"), (.set, "a=env:B", "a=env:B"), (.set, "a=keyring:b/c", "a=keyring:b/c"),
            (.answer, "a=file:b", "a=file:/c/b"), (.user, "file:b", "file:/c/b"), (.user, "env:B", "env:B"),
            (.storeKey, "file:k", "file:/c/k"),
            (.set, "a=command:./p 'x y' $z", "a=command:/c/./p 'x y' '$z'"), (.set, "a=command:p x/y", "a=command:p x/y"),
            (.set, "a=command:/p/q x", "a=command:/p/q x"), (.set, "a=command:'p", "a=command:'p"), (.header, "file:b", "file:b"),
            (.output, "b", "b"), (.data, "~/b", "~/b"), (.caFile, "b", "b"),
        ])
    func resolved(name: Flag.Name, value: String, expected: String) {
        #expect(ProfileFlag(name, value, line: 1).resolved(in: "/c") == expected)
    }

    @Test("Settings and parameters are told apart by their names, and headers by theirs in any case")
    func keys() {
        let key = { (name: Flag.Name, value: String) in ProfileFlag(name, value, line: 1).key }
        #expect(
            key(.set, "a=b=c") == key(.set, "a=") && key(.set, "a=b") != key(.set, "A=b")
                && key(.set, "a=b") != key(.param, "a=b"))
        #expect(key(.header, "X-A: 1") == key(.header, "x-a;") && key(.header, "X-A:") != key(.header, "X-B:"))
        #expect(key(.header, "@lines") == nil && key(.data, "a=b") == nil && key(.set, "a") == nil)
    }
}
