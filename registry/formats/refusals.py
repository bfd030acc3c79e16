"""Why a discovery document is refused."""

from registry.errors import ProblemType

JSON_TOO_LARGE = ProblemType(
    "json_too_large",
    "The document is too large.",
    "Serve a smaller document; leave out what agents do not need.",
)
JSON_TOO_DEEP = ProblemType(
    "json_too_deep",
    "The document is nested too deeply.",
    "Flatten it: 8 levels for a manifest, 16 more inside a JSON Schema.",
)
JSON_ENCODING = ProblemType(
    "json_encoding",
    "The document is not UTF-8.",
    "Save and serve the document as UTF-8.",
)
JSON_SYNTAX = ProblemType(
    "json_syntax",
    "The document is not JSON.",
    "Serve one JSON value: no comments, no trailing commas, double quotes only.",
)
JSON_DUPLICATE_KEY = ProblemType(
    "json_duplicate_key",
    "A member is named twice in one object.",
    "Keep one of the two; parsers disagree about which of them counts.",
)
JSON_NUMBER = ProblemType(
    "json_number",
    "A number is not exactly representable.",
    "Use finite numbers between -(2^53-1) and 2^53-1; send longer ones as strings.",
)
JSON_CHARACTER = ProblemType(
    "json_character",
    "A string holds a character that text cannot hold.",
    "Remove NUL characters and unpaired surrogates.",
)
PAGE_NOT_DOCUMENT = ProblemType(
    "page_not_document",
    "An HTML page stands where a JSON document is expected.",
    "Serve the document itself there, or answer 404.",
)
NOT_AN_OBJECT = ProblemType(
    "document_not_an_object",
    "The document is not a JSON object.",
    "Serve the discovery document as one JSON object.",
)
FORMAT_UNKNOWN = ProblemType(
    "format_unknown",
    "This is none of the discovery formats the registry reads.",
    "Publish a WAB, AWP, AWAS, ABP or WebMCP document; see the format's own pages.",
)
FORMAT_LOOKALIKE = ProblemType(
    "format_lookalike",
    "The document resembles a discovery format but has another structure.",
    "Give the named member the shape that the format asks for.",
)
NOT_DISCOVERY = ProblemType(
    "not_discovery",
    "The document is not a discovery document.",
    "Serve the document that lists the site's actions at this address.",
)
PAGE_WITHOUT_TOOLS = ProblemType(
    "page_without_tools",
    "The page declares no WebMCP tool.",
    "Give a form both toolname and tooldescription.",
)
