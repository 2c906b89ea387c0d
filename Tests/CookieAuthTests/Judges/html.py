"""The verdict of html5lib: reads a JSON list of pages, whose characters are bytes, from a file, and prints what a browser finds
in each."""

import json
import sys

import html5lib
from html5lib.treebuilders import etree
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


def text(element):
    """The text of an element without its comments."""
    return (element.text or "") + "".join((text(each) if isinstance(each.tag, str) else "") + (each.tail or "") for each in element)


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
        group = parents[option]
        value = option.get("value", collapsed(text(option)))
        no = "disabled" in option.attrib or group.tag == "optgroup" and "disabled" in group.attrib
        options.append((value, "selected" in option.attrib, no))
    chosen = [option for option in options if option[1]]
    if "multiple" not in element.attrib:
        chosen = chosen[-1:] or [option for option in options if not option[2]][:1]
    if not chosen:
        return [[name, "", "select", False, off]]
    return [[name, value, "select", True, off or no] for value, _, no in chosen]


def verdict(page):
    parser = html5lib.HTMLParser(tree=Forms, namespaceHTMLElements=False)
    root = parser.parse(page.encode("latin-1"), transport_encoding="utf-8")
    parents = {child: parent for parent in root.iter() for child in parent}
    forms = list(root.iter("form"))
    outside = []
    inside = {form: [] for form in forms}
    for element in root.iter():
        if element.tag not in ("input", "button", "select", "textarea"):
            continue
        owner = parser.tree.owners[element]
        owner = owner and owner._element
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
