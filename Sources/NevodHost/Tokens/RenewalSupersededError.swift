/// A login or logout replaced the token during its renewal, and takes precedence.
struct RenewalSupersededError: Error {}
