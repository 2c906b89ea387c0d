internal import CPAM
internal import Glibc
internal import NevodSupport

/// Responses for a module, in memory that it frees with free(3). Wiped and freed here if they are not handed over.
struct PAMResponses: ~Copyable {
    private let start: UnsafeMutablePointer<pam_response>
    private let count: Int

    /// - Returns: nil if there is no memory.
    init?(count: Int) {
        guard let memory = calloc(count, MemoryLayout<pam_response>.stride) else { return nil }
        start = memory.bindMemory(to: pam_response.self, capacity: count)
        self.count = count
    }

    deinit {
        for index in 0..<count {
            guard let text = start[index].resp else { continue }
            UnsafeMutableRawBufferPointer(start: text, count: strlen(text)).wipe()
            free(text)
        }
        free(start)
    }

    /// Copies an answer.
    ///
    /// - Returns: false, with nothing copied, if it has a NUL or is too long, or if there is no memory.
    func set(_ answer: Secret, at index: Int) -> Bool {
        answer.withUnsafeBytes { bytes in
            guard bytes.count < Int(PAM_MAX_RESP_SIZE), !bytes.contains(0),
                // Zeroed, and so terminated.
                let memory = calloc(bytes.count + 1, 1)
            else { return false }
            if let source = bytes.baseAddress { memory.copyMemory(from: source, byteCount: bytes.count) }
            start[index].resp = memory.assumingMemoryBound(to: CChar.self)
            return true
        }
    }

    consuming func release() -> UnsafeMutablePointer<pam_response> {
        let start = start
        discard self
        return start
    }
}
