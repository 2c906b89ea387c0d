"""The verdict of html5lib: reads a JSON list of pages, whose characters are bytes, from a file, and prints what a browser finds
in each."""

import json
import sys

import html5lib
from html5lib.treebuilders import base, etree
from xml.etree import ElementTree

# HTML §4.10.5: if the attribute is missing or invalid, the default is text.
INPUT_TYPES = (
    "hidden text search tel url email password date month week time datetime-local number range color checkbox radio file submit "
    "image reset button").split()
Builder = etree.getETreeModule(ElementTree).TreeBuilder


class Forms(Builder):
    """Records each control's form, which isn't always an element around it."""

    def __init__(self, *arguments):
        self.owners = {}
        super().__init__(*arguments)

    def createElement(self, token):
        return self.noted(super().createElement(token))

    def insertElementNormal(self, token):
        return self.noted(super().insertElementNormal(token))

    def noted(self, element):
        self.owners[element._element] = self.formPointer
        return element


# html5lib knows only the rules for select of before 2025. Since then it contains ordinary elements (HTML §13.2.6.4.7), and end tags
# of elements within it don't close elements around it (HTML §13.2.4.2).
for scope in (None, "button", "list"):
    elements, inverted = base.listElementsMap[scope]
    base.listElementsMap[scope] = (elements | {(html5lib.constants.namespaces["html"], "select")}, inverted)


def with_select(body):
    """A phase like html5lib's InBodyPhase, with the rules for select since 2025."""

    class Body(body):
        def closed(self):
            """Whether a select was open, and is no longer."""
            if not self.tree.elementInScope("select"):
                return False
            while self.tree.openElements.pop().name != "select":
                pass
            return True

        def processStartTag(self, token):
            name = token["name"]
            if name == "input":
                self.closed()
            elif name == "select":
                if not self.closed():
                    self.tree.reconstructActiveFormattingElements()
                    self.tree.insertElement(token)
                return None
            elif name in ("hr", "option", "optgroup") and self.tree.elementInScope("select"):
                self.tree.generateImpliedEndTags("optgroup" if name == "option" else None)
                if name != "hr":
                    self.tree.reconstructActiveFormattingElements()
                    self.tree.insertElement(token)
                    return None
            return super().processStartTag(token)

        def processEndTag(self, token):
            if token["name"] != "select":
                return super().processEndTag(token)
            self.closed()
            return None

    return Body


def text(element):
    """The text of an element without its comments."""
    return (element.text or "") + "".join((text(each) if isinstance(each.tag, str) else "") + (each.tail or "") for each in element)


def option_text(element):
    """The text of an option, without its scripts (HTML §4.10.10)."""
    parts = ((option_text(each) if isinstance(each.tag, str) and each.tag != "script" else "") + (each.tail or "") for each in element)
    return (element.text or "") + "".join(parts)


def around(element, parents):
    """The elements around an element, the innermost first."""
    while (element := parents.get(element)) is not None:
        yield element


def collapsed(value):
    return " ".join(part for part in value.replace("\r", " ").replace("\n", " ").replace("\t", " ").replace("\f", " ").split(" ") if part)


def disabled(element, parents):
    if "disabled" in element.attrib:
        return True
    child, parent = element, parents.get(element)
    while parent is not None:
        if parent.tag == "fieldset" and "disabled" in parent.attrib:
            legends = [each for each in parent if each.tag == "legend"]
            if not (legends and legends[0] is child):
                return True
        if parent.tag == "datalist":
            return True
        child, parent = parent, parents.get(parent)
    return False


def fields(element, parents):
    name = element.get("name", "")
    off = disabled(element, parents)
    kind = element.get("type", "").lower()
    if element.tag == "input":
        kind = kind if kind in INPUT_TYPES else "text"
        value = element.get("value", "on" if kind in ("checkbox", "radio") else "")
        if kind in ("text", "search", "tel", "password", "email", "url"):
            value = value.replace("\n", "").replace("\r", "")
        if kind in ("email", "url"):
            value = value.strip(" \t\n\f\r")
        return [[name, value, kind, "checked" in element.attrib, off]]
    if element.tag == "button":
        return [[name, element.get("value", ""), kind if kind in ("reset", "button") else "submit", False, off]]
    if element.tag == "textarea":
        return [[name, text(element), "textarea", False, off]]
    options = []
    for option in element.iter("option"):
        outer = list(around(option, parents))
        within = outer[:outer.index(element)]
        if any(each.tag in ("option", "datalist") for each in within):
            continue
        group = next((each for each in within if each.tag == "optgroup"), option)
        value = option.get("value", collapsed(option_text(option)))
        no = "disabled" in option.attrib or "disabled" in group.attrib
        options.append((value, "selected" in option.attrib, no))
    chosen = [option for option in options if option[1]]
    if "multiple" not in element.attrib:
        chosen = chosen[-1:] or [option for option in options if not option[2]][:1]
    if not chosen:
        return [[name, "", "select", False, off]]
    return [[name, value, "select", True, off or no] for value, _, no in chosen]


def verdict(page):
    parser = html5lib.HTMLParser(tree=Forms, namespaceHTMLElements=False)
    body = with_select(type(parser.phases["inBody"]))(parser, parser.tree)
    parser.phases.update({"inBody": body, "inSelect": body, "inSelectInTable": body})
    root = parser.parse(page.encode("latin-1"), transport_encoding="utf-8")
    parents = {child: parent for parent in root.iter() for child in parent}
    forms = list(root.iter("form"))
    outside = []
    inside = {form: [] for form in forms}
    for element in root.iter():
        if element.tag not in ("input", "button", "select", "textarea"):
            continue
        owner = parser.tree.owners[element]
        # HTML §4.10.18.3: without the parser's form, the nearest form around the control.
        owner = owner._element if owner else next((each for each in around(element, parents) if each.tag == "form"), None)
        if "form" in element.attrib:
            named = [form for form in forms if element.get("form") and form.get("id") == element.get("form")]
            owner = named[0] if named else None
        (inside[owner] if owner is not None else outside).extend(fields(element, parents))
    title = root.find(".//title")
    return {
        "forms": [
            {"action": form.get("action", "").strip(" \t\n\f\r"), "id": form.get("id", ""), "fields": inside[form]}
            for form in forms
        ],
        "outside": outside,
        "metas": [[meta.get("name"), meta.get("content", "")] for meta in root.iter("meta") if "name" in meta.attrib],
        "title": collapsed(text(title)) if title is not None else "",
    }


with open(sys.argv[1], encoding="utf-8") as file:
    json.dump([verdict(page) for page in json.load(file)], sys.stdout)
