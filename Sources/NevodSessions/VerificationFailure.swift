/// An error because of which new tokens could not be verified, apart from what is wrong with the tokens themselves.
protocol VerificationFailure: Error {}
