/// The form of a setting's value (`nevod_setting.kind`). The host checks it before a scheme gets it.
public enum SettingKind: Int32, Sendable {
    /// Any bytes without NUL.
    case text = 1
    /// A decimal number of 64 bits; `true` or `false`; one of ``SettingValue/choices``; an absolute `http` or `https` URL.
    case integer, boolean, choice, url
}
