extension Flag {
    /// The flags for the store of sessions.
    static let sessions: [Flag] = [
        Flag(
            .store, "store", value: .file("PATH"), in: storing, .locatesLogin,
            help:
                "Keep sessions in this file, or at postgresql://USER@HOST/DATABASE, instead of $NEVOD_HOST_STORE or ~/.local/share/nevod-host/sessions.db"
        ),
        Flag(
            .storeKey, "store-key", value: .text("SOURCE"), in: storing, .locatesLogin,
            help:
                "The key of the store: secret-service, file:PATH, passphrase (--answer store-passphrase=SOURCE) or env:VARIABLE; without it, a new store is sealed by the keyring or a key file"
        ),
        Flag(
            .noStore, "no-store", in: requests.union(lending),
            help: "Log in for this command only and store nothing"),
        Flag(
            .newKey, "key", value: .text("SOURCE"), in: [.store], storeWords: ["rekey"],
            help:
                "The new key of the store: secret-service, file:PATH, env:VARIABLE or passphrase (--answer passphrase=SOURCE)"
        ),
        Flag(
            .replace, "replace", in: [.store], storeWords: ["import"],
            help: "Replace existing sessions by imported ones"),
    ]
}
