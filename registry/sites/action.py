"""An action: a named capability of a site, in the words all formats share."""

from typing import Literal

import msgspec

Sensitivity = Literal["read", "write", "destructive", "irreversible"]
"""Effect of an action on the world, as declared; undeclared is None, never a guess."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An input of an action.

    type: a JSON Schema type name, or "unknown". required: None where undeclared.
    """

    name: str
    type: str = "unknown"
    required: bool | None = None
    description: str = ""
    enum: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A way to call an action.

    format: the discovery format that declares it, e.g. "wab".
    transport: "http", "form", "navigate", "window.abp", "mcp", "a2a", … as declared.
    method: an HTTP method or a WAB trigger. target: the absolute URL, or the name of the
    script interface. operation: what the action is called there, where one target serves
    several, e.g. the name of an MCP tool.
    off_origin: the target lies on another origin than the crawled one.
    """

    format: str
    transport: str
    method: str = ""
    target: str = ""
    operation: str = ""
    off_origin: bool = False


class Action(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A named capability; None means undeclared, never false.

    confirmation: whether a person confirms each call, or submits the form, before it
    takes effect.
    """

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    auth_required: bool | None = None
    sensitivity: Sensitivity | None = None
    confirmation: bool | None = None
    experimental: bool = False
    deprecated: bool = False
    calls: tuple[Call, ...] = ()
