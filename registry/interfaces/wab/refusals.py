"""Kinds of refusals that belong to WAB; `wab_codes` has their codes of Appendix B."""

from registry.errors import ProblemType

COMMAND_INVALID = ProblemType(
    "command_invalid",
    "This is not a WAB command",
    'Send one JSON object {"id", "method", "params"} as WAB 1.0 §5.1 describes.',
)
METHOD_UNKNOWN = ProblemType(
    "method_unknown",
    "The bridge has no such method here",
    "Call one of the methods of WAB 1.0 §5.3; wab.subscribe needs the WebSocket.",
)
ACTION_UNKNOWN = ProblemType(
    "action_unknown",
    "The bridge has no such action",
    "Call wab.getActions: it names all there are.",
)
SESSION_INVALID = ProblemType(
    "session_invalid",
    "The session token is not one of this bridge, or not of this agent",
    "Authenticate from where you call, and send the sessionToken that you get.",
)
SESSION_ENDED = ProblemType(
    "session_ended",
    "The session has expired",
    "Authenticate again; the new token may be had before the old one ends.",
)
PERMISSION_MISSING = ProblemType(
    "permission_missing",
    "The session has not the permission that this needs",
    "Authenticate anew, and leave out permissions or name those that you need.",
)
COMMAND_REPEATED = ProblemType(
    "command_repeated",
    "A command with this id was taken in this session already",
    "Give every command an id of its own, such as a UUID; to repeat one, send a new id.",
)
COMMAND_SIGNATURE_WRONG = ProblemType(
    "command_signature_wrong",
    "The signature of the command is missing or does not fit",
    "Sign the canonical JSON of method and params with the signingSecret of the session.",
)
VERSION_UNSUPPORTED = ProblemType(
    "version_unsupported",
    "The bridge does not speak this version of WAB",
    "Send X-WAB-Version: 1.0, or leave it out.",
)
SELECTOR_UNKNOWN = ProblemType(
    "selector_unknown",
    "Nothing stands under this selector",
    "Use one of agent_access.selectors in the discovery document.",
)
SELECTOR_FORBIDDEN = ProblemType(
    "selector_forbidden",
    "This selector is not for agents",
    "Use one of agent_access.selectors in the discovery document.",
)
OTHERS_ACTION = ProblemType(
    "others_action",
    "The registry carries out no action of another site",
    "Call the site itself: getSite tells how each of its actions is called.",
)
