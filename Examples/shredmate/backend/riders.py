"""The riders of the backend: profiles, avatars, locations, sports."""

import email.parser
import email.policy
import hashlib

from sessions import Refused

SPORTS = {
    "mtb": "Mountain biking",
    "snowboard": "Snowboarding",
    "surf": "Surfing",
    "bmx/street": "BMX street",  # an id that is a single path segment only when percent-encoded
}
TYPES = ("rider", "mentor")
LEVELS = ("beginner", "intermediate", "expert")
MAX_AVATAR = 4 << 20


def sport(key):
    return {"id": key, "name": SPORTS[key]}


class Riders:
    """Not thread-safe: the server has one lock for all of its data."""

    def __init__(self):
        self.riders = {}  # by the user's id

    def add(self, user, name):
        self.riders[user] = {
            "id": f"rider-{user}", "name": name, "type": "rider", "description": None, "avatarUrl": None, "location": None,
            "sports": {}}

    def remove(self, user):
        del self.riders[user]

    def profile(self, user):
        return {name: self.riders[user][name] for name in ("id", "name", "type", "description", "avatarUrl")}

    def update(self, user, changes):
        """Changes the given fields, and leaves the rest."""
        if unknown := changes.keys() - {"name", "type", "description"}:
            raise Refused(422, f"a rider has no {', '.join(sorted(unknown))}")
        if changes.get("type", "rider") not in TYPES:
            raise Refused(422, f"a rider's type is one of {', '.join(TYPES)}")
        self.riders[user].update(changes)
        return self.profile(user)

    def upload_avatar(self, user, content_type, body):
        """Returns the response, and for the log what arrived."""
        part = file_part(content_type, body)
        content = part.get_content()
        if part.get_content_maintype() != "image" or not 0 < len(content) <= MAX_AVATAR:
            raise Refused(422, f"an avatar is an image of at most {MAX_AVATAR} bytes")
        digest = hashlib.sha256(content).hexdigest()
        self.riders[user]["avatarUrl"] = f"/avatars/{digest[:16]}"
        arrived = {"name": part.get_filename(), "type": part.get_content_type(), "size": len(content), "sha256": digest}
        return {"avatarUrl": self.riders[user]["avatarUrl"], "size": len(content)}, arrived

    def location(self, user):
        if self.riders[user]["location"] is None:
            raise Refused(404, "this rider has no base location yet")
        return self.riders[user]["location"]

    def set_location(self, user, location):
        try:
            latitude, longitude = float(location["latitude"]), float(location["longitude"])
            name = str(location["name"])
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(422, "a location has a latitude, a longitude and a name") from error
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
            raise Refused(422, "a latitude is from -90 to 90, a longitude from -180 to 180")
        self.riders[user]["location"] = {"latitude": latitude, "longitude": longitude, "name": name}
        return self.riders[user]["location"]

    def sports(self, user):
        return [{"sport": sport(key), "level": level} for key, level in sorted(self.riders[user]["sports"].items())]

    def set_sport(self, user, key, level):
        if key not in SPORTS:
            raise Refused(404, "there is no such sport")
        if level not in LEVELS:
            raise Refused(422, f"a level is one of {', '.join(LEVELS)}")
        self.riders[user]["sports"][key] = level
        return {"sport": sport(key), "level": level}

    def remove_sport(self, user, key):
        if self.riders[user]["sports"].pop(key, None) is None:
            raise Refused(404, "this rider has no such sport")


def file_part(content_type, body):
    """Returns a form's one file, read with Python's e-mail parser."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1")
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    if message.get_content_type() != "multipart/form-data" or message.defects or not message.is_multipart():
        raise Refused(422, "an avatar comes as multipart/form-data")
    files = [part for part in message.iter_parts() if part.get_filename()]
    if len(files) != 1 or files[0].get_param("name", header="content-disposition") != "file":
        raise Refused(422, 'the form has one file, in its field "file"')
    return files[0]
