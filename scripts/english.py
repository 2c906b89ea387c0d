#!/usr/bin/env python3
"""Finds turns of phrase that have to be read twice, in comments, string literals and documents.

    python3 scripts/english.py [ROOT] [PATH...]     all that git tracks, or what is below the paths

Reads comments and string literals of Swift, C and C++, comments and docstrings of Python, comments of scripts, and the prose of
Markdown. Code in a document isn't read. Each turn below has a plainer form, which its message names. Comments may be 132 columns wide.
"""

import pathlib
import re
import subprocess
import sys

WIDTH = 132

# Each was found in one sentence of thirty of this project, and in none of projects that read well.
TURNS = [
    (r"\b(those|that) of\b", "repeat the noun, or use a possessive"),
    (r"\bof which\b", "make a second sentence"),
    (r"\balso (of|if|for|by|in|after|at|to|one|those|an|a|with|that|on|when)\b", "write \"even\", or put \"also\" before the verb"),
    (r"\bbehind (it|each|the|a|an|them|its)\b(?! (?:\w+ )?(?:proxy|gateway|balancer|firewall)\b)", "write \"after\" for an order"),
    (r"\bstands? (in|before|behind|beside|at|between|under|anywhere|as|first|alone|by itself)\b", "write \"is\""),
    (r"(?<![Tt]here )(?<!it )\b(is|are|was|were) none\b", "write \"is not a …\""),
    (r"^(Who|Whose|Whom)\b", "begin with the subject: \"Returns …\", \"Callers …\""),
]
TURNS = [(re.compile(pattern), advice) for pattern, advice in TURNS]
SENTENCE = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`])")

SOURCES = (".swift", ".c", ".h", ".cpp")
SCRIPTS = (".py", ".sh")

# What others wrote, the check itself, and history. The contract's header changes with the contract alone.
NOT_READ = re.compile(
    r"(^|/)(LICENSE|CHANGELOG\.md)|^Sources/NevodPluginABI/|^scripts/english\.py$|^Tests/Documentation/test_english\.py$"
    r"|^Tests/.*/(fixtures|Corpus)/")

TOKENS = re.compile(
    r'(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*)'
    r'|(?P<raw>(?P<hashes>#+)"(?:""(?P<long>.*?)""|(?P<short>[^\n]*?))"(?P=hashes))'
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|"(?:\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\\.|[^"\\\n])*")', re.S)
PYTHON = re.compile(r'(?P<text>"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|(?P<line>#[^\n]*)', re.S)
MARK = re.compile(r"^\s*(?:///?|/\*+|\*/|\*(?= |$)|#)[ \t]?|\s*\*/\s*$")
FENCE = re.compile(r"^( *)(```+|~~~+).*?^ *\2`*~* *$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
HTML = re.compile(r"<!--.*?-->", re.S)


def paragraphs(lines):
    """(number of the first line, text) of runs of lines that aren't empty. A line that begins a list or a row begins a paragraph."""
    start, words = 0, []
    for number, line in [*lines, (0, "")]:
        begins = re.match(r"\s*(?:[-*+|]|\d+\.|#+)\s", line)
        if words and (not line.strip() or begins):
            yield start, " ".join(words)
            words = []
        if line.strip():
            if not words:
                start = number
            words.append(re.sub(r"^\s*(?:[-*+|#>]+|\d+\.)\s+", "", line).strip())


def code_paragraphs(text, pattern):
    """Paragraphs of the comments and literals of a source; comments of lines that follow each other are read as one."""
    pending, last = [], 0
    for match in pattern.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        if match.lastgroup == "line":
            alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
            if pending and (number != last + 1 or not alone):
                yield from paragraphs(pending)
                pending = []
            pending.append((number, MARK.sub("", match[0])))
            last = number
            continue
        yield from paragraphs(pending)
        pending = []
        content = match[0] if match.lastgroup == "block" else match[0].strip('#"\'').replace("\\n", "\n")
        lines = [MARK.sub("", line) if match.lastgroup == "block" else line for line in content.split("\n")]
        yield from paragraphs([(number + offset, line) for offset, line in enumerate(lines)])
    yield from paragraphs(pending)


def script_paragraphs(text):
    return paragraphs([(number, MARK.sub("", line) if re.match(r"\s*#(?!!)", line) else "")
                       for number, line in enumerate(text.split("\n"), 1)])


def document_paragraphs(text):
    for pattern in (FENCE, HTML):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = CODE.sub(lambda match: "`x`" + "\n" * match[0].count("\n"), text)
    return paragraphs(list(enumerate(text.split("\n"), 1)))


def faults(path, text):
    """(line, what) of each turn, and of each comment that is too wide."""
    if path.suffix in SOURCES:
        found = code_paragraphs(text, TOKENS)
    elif path.suffix == ".py":
        found = code_paragraphs(text, PYTHON)
    elif path.suffix == ".md":
        found = document_paragraphs(text)
    else:
        found = script_paragraphs(text)
    for number, paragraph in found:
        for sentence in SENTENCE.split(paragraph):
            for pattern, advice in TURNS:
                if match := pattern.search(sentence):
                    yield number, f"\"{match[0]}\": {advice}: {sentence.strip()[:160]}"
    if path.suffix in SOURCES:
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > WIDTH and re.match(r"\s*(//|\*|/\*)", line):
                yield number, f"a comment of {len(line)} columns; the limit is {WIDTH}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *arguments[1:]],
                            cwd=root, capture_output=True, text=True, check=True)
    failed = 0
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        path = root / name
        if NOT_READ.search(name) or path.is_symlink() or not path.is_file():
            continue
        is_script = not path.suffix and name.startswith(("scripts/", ".ci/"))
        if path.suffix not in SOURCES + SCRIPTS + (".md",) and not is_script:
            continue
        for number, what in faults(path, path.read_text(errors="replace")):
            print(f"{name}:{number}: {what}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
