"""The words in which the cast is written: actions by what they do, inputs by need."""

from registry.sites.action import Action, Parameter, Sensitivity


def reads(
    name: str, description: str, *parameters: Parameter, auth: bool | None = None
) -> Action:
    return _action(name, description, parameters, auth, "read")


def changes(
    name: str, description: str, *parameters: Parameter, auth: bool | None = None
) -> Action:
    return _action(name, description, parameters, auth, "write")


def cancels(
    name: str, description: str, *parameters: Parameter, auth: bool | None = None
) -> Action:
    return _action(name, description, parameters, auth, "destructive")


def pays(
    name: str, description: str, *parameters: Parameter, auth: bool | None = None
) -> Action:
    return _action(name, description, parameters, auth, "irreversible")


def _action(
    name: str,
    description: str,
    parameters: tuple[Parameter, ...],
    auth: bool | None,
    sensitivity: Sensitivity,
) -> Action:
    return Action(
        name=name,
        description=description,
        parameters=parameters,
        auth_required=auth,
        sensitivity=sensitivity,
    )


def needs(
    name: str, description: str = "", of: str = "string", enum: tuple[str, ...] = ()
) -> Parameter:
    """of: a JSON Schema type name."""
    return Parameter(
        name=name, type=of, required=True, description=description, enum=enum
    )


def takes(
    name: str, description: str = "", of: str = "string", enum: tuple[str, ...] = ()
) -> Parameter:
    """of: a JSON Schema type name."""
    return Parameter(
        name=name, type=of, required=False, description=description, enum=enum
    )


QUERY = needs("query", "What to look for, in plain words")
DATE = needs("date", "The day, as YYYY-MM-DD")
TIME = needs("time", "The time of day, as HH:MM")
CHECK_IN = needs("check_in", "First night, as YYYY-MM-DD")
CHECK_OUT = needs("check_out", "Day of departure, as YYYY-MM-DD")
GUESTS = needs("guests", "How many people", "integer")
NAME = needs("name", "Full name of the customer")
PHONE = needs("phone", "Telephone number with country code")
EMAIL = needs("email", "Where the confirmation goes")
ADDRESS = needs("address", "Street, number and district")
NOTE = takes("note", "Anything the shop should know")
REFERENCE = needs("reference", "The reference from the confirmation")
