"""Problem types of discovery documents."""

from registry.errors import ProblemType

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
    "This is not a discovery format that the registry reads.",
    "Publish a WAB, AWP, AWAS, ABP or WebMCP document; see the format's own pages.",
)
FORMAT_LOOKALIKE = ProblemType(
    "format_lookalike",
    "The document resembles a discovery format but has another structure.",
    "Give the named member the structure that the format requires.",
)
NOT_DISCOVERY = ProblemType(
    "not_discovery",
    "The document is not a discovery document.",
    "Serve the document that lists the site's actions at this address.",
)
PAGE_ENCODING = ProblemType(
    "page_encoding",
    "The page is in an encoding that browsers do not decode.",
    "Save and serve the page as UTF-8, and declare it: <meta charset=utf-8>.",
)
PAGE_WITHOUT_TOOLS = ProblemType(
    "page_without_tools",
    "The page declares no tool and no action.",
    "Serve a discovery document beside it, such as /agent-bridge.json, which "
    "`fair-registry lint --new` makes; or give a form toolname and tooldescription.",
)
