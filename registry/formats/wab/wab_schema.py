"""Schema of a discovery document by WAB 1.0, Appendix A."""

from registry.formats.reading.conformance import load_schemas

APPENDIX_A = load_schemas(__package__, "wab_schema.json")["1.0"]
_CAPABILITIES = APPENDIX_A["properties"]["capabilities"]["properties"]
_COMMAND = _CAPABILITIES["commands"]["items"]["properties"]

STANDARD_PERMISSIONS = tuple(_CAPABILITIES["permissions"]["properties"])
PARAMETER_TYPES = tuple(_COMMAND["params"]["items"]["properties"]["type"]["enum"])
TRIGGERS = tuple(_COMMAND["trigger"]["enum"])
