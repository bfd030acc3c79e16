"""A client of the registry's API: `Client`, `AsyncClient`, and what the commands use.

The web processes never import it: they make no outbound request.
"""

from registry.client.api_call import NO_RETRIES, RetryRule
from registry.client.async_client import AsyncClient
from registry.client.commands_client import (
    OWN_REPORT,
    REPORT,
    RegistryClient,
    SignedFile,
)
from registry.client.failures import (
    AnswerInvalid,
    CallFailed,
    NotAdmitted,
    NotListed,
    ProblemAnswered,
    ProofFailed,
    RegistryBusy,
    RegistryUnreachable,
    TooManyCalls,
)
from registry.client.identified import ApiKeyAuth, SigningAuth
from registry.client.promise_file import PromiseLine, keep_promise
from registry.client.results import (
    Json,
    ProvenInclusion,
    RankedResult,
    RecordReceipt,
    RegistrationState,
    SearchPage,
    ShortSite,
    WholeSite,
)
from registry.client.site_document import (
    PUBLIC_NETWORK,
    DevelopmentNetwork,
    DocumentUnreachable,
    DownloadedDocument,
    fetch_document,
)
from registry.client.sync_client import Client

__all__ = [
    "NO_RETRIES",
    "OWN_REPORT",
    "PUBLIC_NETWORK",
    "REPORT",
    "AnswerInvalid",
    "ApiKeyAuth",
    "AsyncClient",
    "CallFailed",
    "Client",
    "DevelopmentNetwork",
    "DocumentUnreachable",
    "DownloadedDocument",
    "Json",
    "NotAdmitted",
    "NotListed",
    "ProblemAnswered",
    "PromiseLine",
    "ProofFailed",
    "ProvenInclusion",
    "RankedResult",
    "RecordReceipt",
    "RegistrationState",
    "RegistryBusy",
    "RegistryClient",
    "RegistryUnreachable",
    "RetryRule",
    "SearchPage",
    "ShortSite",
    "SignedFile",
    "SigningAuth",
    "TooManyCalls",
    "WholeSite",
    "fetch_document",
    "keep_promise",
]
