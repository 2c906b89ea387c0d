// Not built on Linux, which has no such framework; this file has never been tested.
#if canImport(LocalAuthentication)
    internal import Foundation
    internal import LocalAuthentication

    /// A presence check by Face ID, Touch ID or the device's passcode.
    ///
    /// An app that uses Face ID must explain why in its `NSFaceIDUsageDescription`.
    public struct LocalAuthenticationCheck: PresenceCheck {
        private let policy: LAPolicy

        /// - Parameter biometricsOnly: whether to refuse the device's passcode as a substitute.
        public init(biometricsOnly: Bool = false) {
            policy = biometricsOnly ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication
        }

        public func confirm(reason: String) async throws(PresenceError) {
            let context = LAContext()
            do {
                // Cancelling the task closes the system's dialog.
                let isConfirmed = try await withTaskCancellationHandler {
                    try await context.evaluatePolicy(policy, localizedReason: reason)
                } onCancel: {
                    context.invalidate()
                }
                guard isConfirmed else { throw LAError(.authenticationFailed) }
            } catch {
                throw Self.error(error)
            }
        }

        private static func error(_ error: any Error) -> PresenceError {
            let code = (error as? LAError)?.code
            let (kind, remedy): (PresenceError.Code, String?) =
                switch code {
                case .authenticationFailed: (.refused, "try again")
                case .biometryLockout: (.refused, "unlock the device with its passcode")
                case .userCancel, .appCancel, .systemCancel, .userFallback: (.cancelled, nil)
                case .passcodeNotSet: (.unavailable, "set a passcode for the device")
                case .biometryNotEnrolled: (.unavailable, "enrol a face or a finger in the device's settings")
                case .biometryNotAvailable: (.unavailable, "allow the app to use biometrics, or let it take the passcode too")
                default: (.unavailable, nil)
                }
            return PresenceError(
                kind, "LocalAuthentication", problem: "failed: \(error.localizedDescription)", remedy: remedy,
                systemCode: code.map { Int32(clamping: $0.rawValue) })
        }
    }
#endif
