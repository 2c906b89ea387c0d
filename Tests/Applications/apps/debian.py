"""The versions of Debian's packages."""

import re
import subprocess


def package_version(package):
    """Returns the version of an installed package as its authors call it, without Debian's own numbers."""
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.sub(r"^\d+:|[+-].*$", "", printed)
