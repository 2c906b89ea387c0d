#!/usr/bin/env python3
"""Writes the contract as it might be in a later minor version: a field is appended to every struct that may grow.

    python3 Tests/Growth/grown_header.py FOLDER

Writes nevod_plugin.h and layout.c to FOLDER/include and FOLDER. Versions, minimum sizes and all of today's fields stay unchanged,
and layout.c still asserts that. Code built with this header looks like tomorrow's hosts and plugins to today's.
"""

import pathlib
import re
import sys

ABI = pathlib.Path(__file__).resolve().parents[2] / "Sources/NevodPluginABI"
FROZEN = ("nevod_bytes", "nevod_pair")

STRUCT = re.compile(r"^(?:typedef )?struct (nevod_\w+) \{\n(.*?)^\}(?: \1)?;\n", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"(?P<type>[^()]*?)\(\*(?P<function>\w+)\)\((?P<parameters>.*)\)|(?P<plain>.*?)(?P<name>\w+)", re.DOTALL)

# The fields that are appended, in turn. None is zero, so a reader that skips NEVOD_HAS finds a value.
SHAPES = (
    ("uint64_t grown_{0};", "made.grown_{0} = 0x6e65766f64u;"),
    ("void *grown_{0};", 'made.grown_{0} = (void *)"grown";'),
    ("int32_t (*grown_{0})(void *host, nevod_bytes text);", "made.grown_{0} = nevod_grown_function;"),
    ("nevod_bytes grown_{0};", 'made.grown_{0} = (nevod_bytes)NEVOD_BYTES("grown");'),
    ("uint32_t grown_{0};\n    uint32_t grown_{0}_reserved;", "made.grown_{0} = 1; made.grown_{0}_reserved = 0;"),
)

# The function in a field that today's code can't know, and so must never call.
PRELUDE = """
#include <stdlib.h>
static inline int32_t nevod_grown_function(void *host, nevod_bytes text) { (void)host, (void)text; abort(); }
"""


class GrownHeaderError(Exception):
    pass


def fields(body):
    """Returns the fields of a struct: the name, and the declaration as a parameter."""
    text = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    for declaration in filter(None, (" ".join(piece.split()) for piece in text.split(";"))):
        match = FIELD.fullmatch(declaration)
        if not match:
            raise GrownHeaderError(f"not understood: {declaration}")
        yield match["function"] or match["name"], declaration


def initializer(name, parameters, value):
    """A Swift initializer with the parameters of today's struct. Swift's own has one for each field, so today's sources would not
    compile with a longer struct."""
    labels = "".join(f"{field}:" for field, _ in parameters)
    assignments = " ".join(f"made.{field} = {field};" for field, _ in parameters)
    return (
        f"#ifdef __swift__\nstatic inline {name} {name}_of_today({', '.join(declaration for _, declaration in parameters)})\n"
        f'    __attribute__((swift_name("{name}.init({labels})")));\n'
        f"static inline {name} {name}_of_today({', '.join(declaration for _, declaration in parameters)})\n"
        f"{{ {name} made = {{0}}; {assignments} {value} return made; }}\n#endif\n")


def grown_header(header):
    grown = []

    def grow(match):
        name, body = match[1], match[2]
        if name in FROZEN:
            return match[0]
        parameters = list(fields(body))
        if parameters[0][1] != "uint32_t struct_size":
            raise GrownHeaderError(f"{name} doesn't begin with its size")
        number = len(grown)
        declaration, value = (text.format(number) for text in SHAPES[number % len(SHAPES)])
        grown.append(name)
        whole = match[0]
        end = whole.rindex("}")
        return f"{whole[:end]}    {declaration}\n{whole[end:]}" + initializer(name, parameters, value)

    result = STRUCT.sub(grow, header)
    minima = set(re.findall(r"define NEVOD_(\w+)_MINIMUM", header))
    missed = minima - {name.removeprefix("nevod_").upper() for name in grown}
    if missed or not minima:
        raise GrownHeaderError(f"structs that were not found: {', '.join(sorted(missed)) or 'all'}")
    place = result.index("/* Statuses, by")
    return result[:place] + PRELUDE.lstrip() + "\n" + result[place:]


def grown_layout(layout):
    """Leaves out the sizes of grown structs. Their minimum sizes and all field offsets are still asserted."""
    return re.sub(rf"^SIZE\((?!{'|'.join(FROZEN)}).*\n", "", layout, flags=re.MULTILINE)


def write_if_changed(path, text):
    """An unchanged file keeps its time, so that nothing is recompiled."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write(folder):
    write_if_changed(folder / "include/nevod_plugin.h", grown_header((ABI / "include/nevod_plugin.h").read_text()))
    write_if_changed(folder / "layout.c", grown_layout((ABI / "layout.c").read_text()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
