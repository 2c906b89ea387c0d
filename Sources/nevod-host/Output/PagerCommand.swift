import Glibc
import NevodHost

/// The program that shows what is longer than the terminal.
struct PagerCommand: Equatable {
    let words: [String]

    /// Returns the first that is set of `NEVOD_PAGER` and `PAGER`, else `less`; nil if it is empty or `cat`, for none.
    ///
    /// - Parameter variable: returns a variable of the environment.
    init?(_ variable: (String) -> String?) {
        let text = variable("NEVOD_PAGER") ?? variable("PAGER") ?? "less"
        let plain = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !plain.isEmpty, plain != ["cat"] else { return nil }
        // POSIX has a shell read PAGER, which is needed only for quotes and the like.
        words = text.utf8.contains(where: Array("'\"\\$`|&;<>()*?[]#~={}!".utf8).contains) ? ["sh", "-c", text] : plain
    }

    /// The variables that a pager needs. Others may hold secrets, since `env:VARIABLE` is where settings are read from.
    static func environment(_ all: [String]) -> [String] {
        let kept = all.filter { entry in
            let name = entry.prefix { $0 != "=" }
            return names.contains(String(name)) || prefixes.contains { name.hasPrefix($0) }
        }
        // As git has it: colours, no clearing of the screen, and an end at once if it all fits.
        let defaults = ["LESS=FRX", "LV=-c"].filter { given in
            !kept.contains { $0.hasPrefix(given.prefix { $0 != "=" } + "=") }
        }
        return kept + defaults
    }

    private static let names: Set<String> = [
        "PATH", "HOME", "TERM", "TERMINFO", "TERMINFO_DIRS", "TERMCAP", "COLORTERM", "LANG", "LANGUAGE", "SHELL", "USER",
        "LOGNAME",
        "TMPDIR", "LINES", "COLUMNS", "LESS", "LESSCHARSET", "LESSKEY", "LESSKEYIN", "LESSHISTFILE", "LESSSECURE", "MORE", "LV",
        "MOST_INITFILE",
    ]
    private static let prefixes = ["LC_", "LESS_TERMCAP_"]
}
