/// Why a file could not be written and put in its place.
package struct AtomicFileError: Error, Sendable, Hashable {
    /// The step that failed.
    package enum Step: Sendable {
        case create
        case write
        case synchronise
        case place
        case synchroniseFolder
    }

    package let step: Step
    /// `errno`.
    package let code: Int32

    init(_ step: Step, _ code: Int32) {
        self.step = step
        self.code = code
    }
}

extension StorageError {
    /// - Parameters:
    ///   - target: the file's final path.
    ///   - temporary: its path until then.
    ///   - folder: the path of the folder of both.
    init(_ error: AtomicFileError, target: String, temporary: String, folder: String) {
        switch error.step {
        case .create: self.init(folder, "no file can be made in it", errno: error.code)
        case .write: self.init(temporary, "can't be written", errno: error.code)
        case .synchronise: self.init(temporary, "can't be written to its device", errno: error.code)
        case .place: self.init(target, "can't be put in place", errno: error.code)
        case .synchroniseFolder: self.init(folder, "can't be written to its device", errno: error.code)
        }
    }
}
