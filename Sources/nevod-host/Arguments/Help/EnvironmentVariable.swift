/// A variable of the environment that the program, or a library that it loads, reads.
struct EnvironmentVariable: Sendable {
    /// One name, or several that mean the same, between commas.
    let names: String
    let meaning: String

    private init(_ names: String, _ meaning: String) {
        self.names = names
        self.meaning = meaning
    }

    static let all = [
        EnvironmentVariable("NEVOD_PLUGIN_PATH", "Absolute folders, separated by colons, in which plugins are looked up first."),
        EnvironmentVariable("NEVOD_PROFILE", "The profile to use without --profile."),
        EnvironmentVariable("NEVOD_HOST_STORE", "The store of sessions, without --store."),
        EnvironmentVariable(
            "NEVOD_HOST_STORE_KEY", "The key of a store that env:NEVOD_HOST_STORE_KEY seals: 64 hexadecimal digits."),
        EnvironmentVariable(
            "HOME, XDG_CONFIG_HOME, XDG_DATA_HOME", "The parent folders of the config file, presets, the store and plugins."),
        EnvironmentVariable("http_proxy", "The proxy for http URLs; the spelling in capitals is ignored, as by curl."),
        EnvironmentVariable("https_proxy, HTTPS_PROXY", "The proxy for https URLs."),
        EnvironmentVariable("all_proxy, ALL_PROXY", "The proxy for URLs without one of the above."),
        EnvironmentVariable(
            "no_proxy, NO_PROXY", "Hosts to connect to directly: names with their subdomains, addresses, or *, between commas."),
        EnvironmentVariable("CURL_CA_BUNDLE, SSL_CERT_FILE", "Certificates (PEM) to trust, without --cacert."),
        EnvironmentVariable("KUBERNETES_EXEC_INFO", "What kubectl asks of nevod-host credential kubectl-exec."),
        EnvironmentVariable("NEVOD_TOKEN", "Not read, but set for the command of nevod-host run: its token, without --env."),
        EnvironmentVariable("VISUAL, EDITOR", "The editor of nevod-host profile edit."),
        EnvironmentVariable("BROWSER", "Commands that open an address, separated by colons; %s stands for the address."),
        EnvironmentVariable("DISPLAY, WAYLAND_DISPLAY", "Whether there is a desktop, on which xdg-open opens addresses."),
        EnvironmentVariable("PATH", "The folders of those commands."),
        EnvironmentVariable("NO_COLOR", "No colours, if it is set and not empty."),
        EnvironmentVariable("CLICOLOR_FORCE", "Colours also in a pipe, if it is set and not 0."),
        EnvironmentVariable("CLICOLOR", "No colours, if it is 0."),
        EnvironmentVariable(
            "NEVOD_PAGER, PAGER", "The program that shows what is longer than the screen, without --no-pager; empty for none."),
        EnvironmentVariable("COLUMNS", "The width of the help at a terminal."),
        EnvironmentVariable("TERM", "No colours with dumb."),
        EnvironmentVariable("TMPDIR", "The folder of temporary files, instead of /tmp."),
        EnvironmentVariable("DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR", "The session bus of the keyring."),
        EnvironmentVariable(
            "PGPASSFILE, PGSERVICEFILE", "The password file, and the service file, of a store on a PostgreSQL server."),
    ]
}
