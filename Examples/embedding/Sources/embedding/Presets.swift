import NevodHost

/// Makes an instance for a service that a preset describes.
func instance(of scheme: Scheme, for service: String, _ given: SchemeSettings) throws -> SchemeInstance {
    let preset = try SchemePreset.named(service, for: scheme)
    // What a form in an app would ask for.
    for placeholder in preset.placeholders { print("\(placeholder.name): \(placeholder.help)") }

    let settings = try preset.settings(given)
    return try scheme.makeInstance(settings: settings)
}
