import Foundation
import Glibc
import NevodTestSupport
import Testing

@testable import NevodStorage

struct AtomicFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/f"
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func file(mode: UInt32 = 0o600) throws -> AtomicFile {
        try AtomicFile.randomlyNamed("\(path).part.", for: path, mode: mode)
    }

    private func mode(_ path: String) -> mode_t? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
    }

    @Test(arguments: [false, true])
    func `The target is the old file or the whole new one`(isDurable: Bool) throws {
        try folder.write("f", Array("old".utf8), mode: 0o644)
        let file = try file()
        try file.write([1, 2])
        try file.write([])
        try file.write([3])
        #expect(try contents(of: path) == Array("old".utf8))
        #expect(try contents(of: file.temporaryPath) == [1, 2, 3])
        try file.commit(isDurable: isDurable)
        #expect(try contents(of: path) == [1, 2, 3])
        #expect(mode(path) == 0o600)
        #expect(try files == ["f"])
    }

    @Test func `An existing target can stay`() throws {
        for content: [UInt8] in [[1], [2]] {
            let file = try file()
            try file.write(content)
            try file.commit(.unlessPresent, isDurable: true)
        }
        #expect(try contents(of: path) == [1])
        #expect(try files == ["f"])
    }

    @Test func `An existing target can make the commit fail`() throws {
        for isDangling in [false, true] {
            if isDangling { #expect(symlink("nothing", path) == 0) } else { try folder.write("f", [9]) }
            let file = try file()
            try file.write([1])
            #expect(throws: AtomicFileError(.place, EEXIST)) { try file.commit(.exclusively) }
            file.discard()
            #expect(try files == ["f"])
            unlink(path)
        }
        let file = try file()
        try file.write([1])
        try file.commit(.exclusively)
        file.discard()
        #expect(try contents(of: path) == [1])
        #expect(try files == ["f"])
    }

    @Test func `Without a commit nothing is left`() throws {
        do {
            let file = try file()
            try file.write([1])
            #expect(try files.count == 1)
        }
        #expect(try files.isEmpty)
        let file = try file()
        file.discard()
        #expect(try files.isEmpty)
        #expect(throws: AtomicFileError(.write, EBADF)) { try file.write([1]) }
        #expect(throws: AtomicFileError(.write, EBADF)) { try file.commit() }
    }

    @Test func `A link at the target is replaced, and the file it points to stays`() throws {
        try folder.write("other", [9])
        for isDangling in [false, true] {
            unlink(path)
            #expect(symlink(isDangling ? "nothing" : "other", path) == 0)
            let file = try file()
            try file.write([1])
            try file.commit()
            #expect(try contents(of: path) == [1])
            #expect(mode(path) == 0o600)
        }
        #expect(try contents(of: "\(folder.path)/other") == [9])
        #expect(try files == ["f", "other"])
    }

    @Test func `Nothing at the temporary name is followed or overwritten, nor removed`() throws {
        try folder.write("other", [9])
        #expect(symlink("other", "\(path).new") == 0)
        #expect(throws: AtomicFileError(.create, EEXIST)) { try AtomicFile(path, as: "\(path).new") }
        #expect(try contents(of: "\(folder.path)/other") == [9])
        #expect(try files == ["f.new", "other"])
    }

    @Test func `Failures say what failed, with errno`() throws {
        #expect(throws: AtomicFileError(.create, ENOENT)) {
            try AtomicFile("\(folder.path)/none/f", as: "\(folder.path)/none/f.new")
        }
        let file = try file()
        #expect(mkdir(path, 0o700) == 0)
        #expect(throws: AtomicFileError(.place, EISDIR)) { try file.commit() }
        file.discard()
        #expect(try files == ["f"])
    }

    @Test func `The mode can be that of another file`() throws {
        let file = try file()
        file.setMode(0o640)
        try file.commit()
        #expect(mode(path) == 0o640)
    }

    @Test func `Names are relative to a folder that is open`() throws {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        let file = try AtomicFile("f", as: ".new", in: descriptor)
        try file.write([1])
        #expect(try files == [".new"])
        try file.commit(isDurable: true)
        #expect(try contents(of: path) == [1])
        #expect(try files == ["f"])
    }
}
