"""Schemas of AWAS documents, as far as JSON Schema can express the rules.

1.0 is the published specification with its section "Validation"; 1.1 is the schema of
the reference repository, which names most members otherwise. A catalogue's pointer
manifests for MCP and A2A agents are specified under "Manifest Requirements".
"""

import json
from importlib.resources import files

from registry.formats.reading.conformance import Specification

_SCHEMAS = json.loads(files(__package__).joinpath("awas_schema.json").read_text())
VERSION_1_0 = Specification(_SCHEMAS["1.0"])
VERSION_1_1 = Specification(_SCHEMAS["1.1"])
MCP_MANIFEST = Specification(_SCHEMAS["mcp"])
A2A_MANIFEST = Specification(_SCHEMAS["a2a"])
