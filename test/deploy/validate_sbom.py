"""Prints what is wrong with an SBOM in CycloneDX 1.6, of the file that is named."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if problem is not None:
    sys.exit(f"{problem}")
